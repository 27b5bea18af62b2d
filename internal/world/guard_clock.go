// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"time"
)

// GuardClock is the clock for rates, waits and breakers.
type GuardClock interface {
	Now() time.Time
	// Sleep waits for d, or returns the context's error if that ends first.
	Sleep(ctx context.Context, d time.Duration) error
	// Spent adds the duration of a call that did not really pass.
	Spent(d time.Duration)
}

// RealClock is the time of this machine; live tools need it.
type RealClock struct {
	Time func() time.Time // nil: time.Now
}

// Now returns the time.
func (r RealClock) Now() time.Time {
	if r.Time == nil {
		return time.Now()
	}
	return r.Time()
}

// Sleep waits.
func (RealClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Spent does nothing: the time has passed.
func (RealClock) Spent(time.Duration) {}

// simulated is the clock of an attempt with recorded latencies: it starts at zero, and waits do not
// really pass. The same calls have the same times in every run.
type simulated struct{ at time.Time }

func (t *simulated) Now() time.Time { return t.at }

func (t *simulated) Sleep(ctx context.Context, d time.Duration) error {
	t.at = t.at.Add(d)
	return ctx.Err()
}

func (t *simulated) Spent(d time.Duration) { t.at = t.at.Add(d) }
