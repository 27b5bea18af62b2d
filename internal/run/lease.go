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

// leaseRenewer renews the lease of the run: at regular times, and before a request after a long
// delay, because another process may have taken the run.
type leaseRenewer struct {
	lease Lease // nil: no other process can take the run
	now   func() time.Time
	fail  func(error)

	mu   sync.Mutex
	last time.Time // when the lease was renewed last, by the wall clock that other processes use
}

// wall is the time without the monotonic clock, which stands still while a machine sleeps.
func (k *leaseRenewer) wall() time.Time { return k.now().Round(0) }

// beat renews the lease until over closes.
func (k *leaseRenewer) beat(ctx context.Context, over <-chan struct{}) {
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

// ours reports whether this process still has the lease.
func (k *leaseRenewer) ours(ctx context.Context) bool {
	if k.lease == nil {
		return true
	}
	return k.renew(ctx, k.lease.TTL()*2/3)
}

// renew renews a lease that is older than the age. A failure that is not a conflict may be
// temporary, and counts only when the lease has run out.
func (k *leaseRenewer) renew(ctx context.Context, age time.Duration) bool {
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
