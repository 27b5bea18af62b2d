// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/store"
)

// TestStates: with any requests in any order, a job makes only the transitions of its state. A
// forbidden transition leaves it unchanged. The table is written here once more, by hand.
func TestStates(t *testing.T) {
	t.Parallel()
	db := open(t)
	j := newJobs(t,
		job.Config{Store: db, Quota: store.Quota{Jobs: 1 << 20}, Handlers: map[string]job.Handler{"work": until}})
	next := map[job.State][]job.State{
		job.Queued:      {job.Running, job.Cancelled},
		job.Running:     {job.Queued, job.Done, job.Failed, job.Cancelled, job.Interrupted},
		job.Interrupted: {job.Queued},
		job.Failed:      {job.Queued},
	}
	rapid.Check(t, func(rt *rapid.T) {
		id := submit(t, j, job.Request{}).ID
		state, attempts := job.Queued, int64(0)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			to := rapid.SampledFrom(job.States()).Draw(rt, "to")
			err := job.Move(t.Context(), db, id, to)
			if may := slices.Contains(next[state], to); may != (err == nil) {
				rt.Fatalf("%s to %s: %v", state, to, err)
			}
			if err != nil && !errors.Is(err, callvet.ErrConflict) {
				rt.Fatalf("%s to %s: %v", state, to, err)
			}
			if err == nil {
				state = to
				if to == job.Running {
					attempts++
				}
			}
			got, gerr := j.Job(t.Context(), id)
			if gerr != nil || got.State != state || got.Attempt != attempts || got.State.Over() == got.Active() {
				rt.Fatalf("after %s: %+v %v, want %s, attempt %d", to, got, gerr, state, attempts)
			}
		}
	})
}
