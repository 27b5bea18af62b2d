// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"sync"
	"time"
)

// governor admits requests of one provider group. The limit starts at the value that the user
// allowed. It is halved when the provider answers "too many requests" and grows by one for every
// limit's worth of answers, as in TCP. A wait that the provider requests pauses the whole group.
type governor struct {
	now func() time.Time

	mu      sync.Mutex
	limit   float64
	max     float64
	flying  int
	until   time.Time // no request starts before
	lastCut time.Time
	waiting []chan struct{}
}

func newGovernor(concurrency int, now func() time.Time) *governor {
	return &governor{now: now, limit: float64(concurrency), max: float64(concurrency)}
}

// acquire waits for a slot, until ctx ends or stop closes.
func (g *governor) acquire(ctx context.Context, stop <-chan struct{}) error {
	for {
		g.mu.Lock()
		// The clock is read only while a pause is set, because this runs for every request.
		if !g.until.IsZero() {
			wait := g.until.Sub(g.now())
			if wait > 0 {
				g.mu.Unlock()
				if err := sleep(ctx, wait, stop, nil); err != nil {
					return err
				}
				continue
			}
			g.until = time.Time{}
		}
		if g.flying < int(g.limit) {
			g.flying++
			g.mu.Unlock()
			return nil
		}
		turn := make(chan struct{})
		g.waiting = append(g.waiting, turn)
		g.mu.Unlock()
		select {
		case <-turn:
		case <-stop:
			g.abandon(turn)
			return context.Canceled
		case <-ctx.Done():
			g.abandon(turn)
			return ctx.Err()
		}
	}
}

// abandon passes on the slot of a waiter that no longer waits.
func (g *governor) abandon(turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return
		}
	}
	g.wake()
}

// wake wakes as many waiters as there are free slots.
func (g *governor) wake() {
	for free := int(g.limit) - g.flying; free > 0 && len(g.waiting) > 0; free-- {
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}

// release frees the slot after an answer or a fault that is not caused by load.
func (g *governor) release(answered bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flying--
	if answered {
		g.limit = min(g.limit+1/g.limit, g.max)
	}
	g.wake()
}

// limited frees the slot after "too many requests". Requests that were in
// flight together are one event: only one that started after the last cut cuts again.
func (g *governor) limited(started time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flying--
	if !started.Before(g.lastCut) {
		g.limit = max(g.limit/2, 1)
		g.lastCut = g.now()
	}
	g.wake()
}

// pause pauses the group for d, or longer if a longer pause is already set.
func (g *governor) pause(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.now().Add(d); t.After(g.until) {
		g.until = t
	}
}

// sleep waits for d, less when wake closes. It returns an error when ctx ends or
// stop closes first.
func sleep(ctx context.Context, d time.Duration, stop, wake <-chan struct{}) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-wake:
		return nil
	case <-stop:
		return context.Canceled
	case <-ctx.Done():
		return ctx.Err()
	}
}
