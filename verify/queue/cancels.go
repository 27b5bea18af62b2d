// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// soon is the time limit for cancelling a job and closing its requests.
const soon = 2 * time.Second

// hang is a way to keep requests from ending.
type hang struct{ kind, how string }

func hangs() []hang {
	return []hang{{silent, "no answer"}, {halting, "half an answer"}, {busy, "asked to wait a minute"}}
}

// cancels cancels jobs with hanging requests.
func (k *check) cancels(ctx context.Context) error {
	const flying = 8
	suite, err := k.site.keepSuite(ctx, &k.site.admin, 4*flying)
	if err != nil {
		return err
	}
	for _, h := range hangs() {
		var took []time.Duration
		for i := range k.Cancels {
			name := fmt.Sprintf("%s-%d", h.kind, i+1)
			job, err := k.site.submit(ctx, &k.site.admin, suite, name, k.model.url, flying)
			if err != nil {
				return err
			}
			for end := time.Now().Add(patience); !k.hangs(name, h.kind, flying); {
				if time.Now().After(end) {
					return fmt.Errorf("%s: the requests do not hang: %+v", name, k.model.look(name))
				}
				if err := sys.Sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			d, err := k.cancelOne(ctx, name, job.Job)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			took = append(took, d)
			k.Compare("cancels", name, d <= soon, "it took %s", d)
		}
		slices.Sort(took)
		if n := len(took); n > 0 {
			k.Printf(
				"cancelled with %d requests in flight (%s): %d times, median %d ms, at most %d ms until the job is cancelled and no request is open; bound %d ms\n",
				flying, h.how, n, took[n/2].Milliseconds(), took[n-1].Milliseconds(), soon.Milliseconds())
		}
	}
	return nil
}

// hangs reports whether as many requests of a job hang as can.
func (k *check) hangs(name, kind string, flying int) bool {
	a := k.model.look(name)
	if kind == busy { // they wait in the program
		return a.requests > 0 && a.flying == 0
	}
	return a.flying == flying
}

// cancelOne cancels a job and measures the time until it is cancelled and its requests are closed.
func (k *check) cancelOne(ctx context.Context, name, id string) (time.Duration, error) {
	began := time.Now()
	if err := k.site.cancel(ctx, &k.site.admin, id); err != nil {
		return 0, err
	}
	j, err := k.site.await(ctx, &k.site.admin, id)
	if err != nil {
		return 0, err
	}
	if j.Status != "cancelled" {
		return 0, fmt.Errorf("it is %s: %s", j.Status, j.Error)
	}
	if err := k.settle(ctx, name); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
