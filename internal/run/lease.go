// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/callvet/callvet"
)

// leaseRenewer renews the lease of the run: by the clock, and before a request after a long delay,
// because another process may have taken the run.
type keeper struct {
	lease Lease // nil: no other process can take the run
	now   func() time.Time
	fail  func(error)

	mu   sync.Mutex
	last time.Time // when the lease was renewed last, by the wall clock: others go by that
}

// wall is the time without the monotonic clock, which stands still while a machine sleeps.
func (k *keeper) wall() time.Time { return k.now().Round(0) }

// beat renews the lease until over closes.
func (k *keeper) beat(ctx context.Context, over <-chan struct{}) {
	if k.lease == nil {
		return
	}
	t := time.NewTicker(k.lease.TTL() / 3)
	defer t.Stop()
	for {
		select {
		case <-over:
			return
		case <-ctx.Done():
			return
		case <-t.C:
			k.renew(ctx, 0)
		}
	}
}

// ours reports whether the run is still this process's to carry on with.
func (k *keeper) ours(ctx context.Context) bool {
	if k.lease == nil {
		return true
	}
	return k.renew(ctx, k.lease.TTL()*2/3)
}

// renew renews a lease that is older than the age. A failure that is no conflict may
// pass, and counts only once the lease has run out.
func (k *keeper) renew(ctx context.Context, age time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	begun := k.wall()
	held := begun.Sub(k.last)
	if 0 <= held && held < age {
		return true
	}
	err := k.lease.Renew(ctx)
	switch {
	case err == nil:
		k.last = begun
		return true
	case errors.Is(err, callvet.ErrConflict):
	case held < k.lease.TTL():
		return true
	default:
		err = fmt.Errorf("renew lease: %w", err)
	}
	k.fail(err)
	return false
}
