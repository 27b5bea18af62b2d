// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"time"
)

// Sleep waits for d by the clock of the system. If ctx ends before, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WhenCanceled calls do once when ctx ends, even while its caller is blocked in code without a
// context. stop cancels that, and waits for a call of do that has begun.
func WhenCanceled(ctx context.Context, do func()) (stop func()) {
	over := make(chan struct{})
	var g Group
	g.Go(func() {
		select {
		case <-ctx.Done():
			do()
		case <-over:
		}
	})
	return func() {
		close(over)
		g.Wait()
	}
}
