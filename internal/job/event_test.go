// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job_test

import (
	"testing"
	"time"

	"github.com/callvet/callvet/internal/job"
)

// TestOldEventsAreRemoved: events are kept for a week, and of a user the newest 50,000; the numbers go on.
func TestOldEventsAreRemoved(t *testing.T) {
	t.Parallel()
	db := open(t)
	begin := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	now := begin
	j := newJobs(t, job.Config{Store: db, Now: func() time.Time { return now }})
	tell := func(user string, n int) {
		t.Helper()
		if err := job.AddEvents(t.Context(), db, user, now, n); err != nil {
			t.Fatal(err)
		}
	}
	prune := func(user string, first, last int64) {
		t.Helper()
		if err := j.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		gotFirst, gotLast, err := j.Range(t.Context(), user)
		if err != nil || gotFirst != first || gotLast != last {
			t.Errorf("%s at %s: events %d to %d are kept, want %d to %d: %v", user, now.Sub(begin), gotFirst, gotLast,
				first, last, err)
		}
		list, err := j.Events(t.Context(), user, 0, 1)
		if err != nil || len(list) != int(min(1, last-first+1)) || len(list) > 0 && list[0].Seq != first {
			t.Errorf("%s at %s: the list begins with %v: %v", user, now.Sub(begin), list, err)
		}
	}
	tell("ana", 5_000) // more than are removed at once
	now = begin.Add(24 * time.Hour)
	tell("ana", 3)
	now = begin.Add(7*24*time.Hour - time.Second)
	prune("ana", 1, 5_003)
	now = begin.Add(7*24*time.Hour + time.Second)
	prune("ana", 5_001, 5_003)
	now = begin.Add(9 * 24 * time.Hour)
	prune("ana", 5_004, 5_003)
	tell("ana", 1)
	prune("ana", 5_004, 5_004)

	tell("bo", 50_000)
	prune("bo", 1, 50_000)
	tell("bo", 4_321)
	prune("bo", 4_322, 54_321)
	prune("ana", 5_004, 5_004) // those of others stay
}
