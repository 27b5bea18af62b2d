// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"time"
)

// GuardClock is the time that rates, waits and breakers go by.
type GuardClock interface {
	Now() time.Time
	// Sleep waits for d, or gives the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
	// Spent tells how long a call took that was not really waited for.
	Spent(d time.Duration)
}

// RealClock is the time of this machine; tools that are really called need it.
type RealClock struct {
	Time func() time.Time // nil: time.Now
}

// Now gives the time.
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

// told is the time of an attempt whose tools only say how long they take: it starts at
// zero, waits take no time, and the same calls have the same times in every run.
type told struct{ at time.Time }

func (t *told) Now() time.Time { return t.at }

func (t *told) Sleep(ctx context.Context, d time.Duration) error {
	t.at = t.at.Add(d)
	return ctx.Err()
}

func (t *told) Spent(d time.Duration) { t.at = t.at.Add(d) }
