// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// Quota bounds the stored data of one user; 0: DefaultQuota's value.
type Quota struct {
	// Jobs that are not over, Suites that are not deleted, Experiments.
	Jobs, Suites, Experiments int64
	// Bytes is the stored size of suites with all their versions, of catalogues, prompts and
	// profiles.
	Bytes int64
	// AttemptBytes is the stored size of attempts of runs.
	AttemptBytes int64
}

// DefaultQuota is far more than people need, and far less than the size of a disk.
func DefaultQuota() Quota {
	return Quota{Jobs: 1000, Suites: 10_000, Experiments: 5000, Bytes: 4 << 30, AttemptBytes: 16 << 30}
}

// Held is a user's share of a bounded resource.
type Held struct {
	What string `json:"what" enum:"jobs,suites,experiments,bytes,attempt_bytes"`
	Held int64  `json:"held"`
	Most int64  `json:"most"`
}

// Of returns the stored amounts of a user with their limits.
func (z Quota) Of(ctx context.Context, q *rows.Queries, user string) ([]Held, error) {
	usual := DefaultQuota()
	var out []Held
	for _, c := range []struct {
		what  string
		most  int64
		count func(context.Context, string) (int64, error)
	}{
		{"jobs", cmp.Or(z.Jobs, usual.Jobs), q.CountActiveJobs},
		{"suites", cmp.Or(z.Suites, usual.Suites), q.CountSuites},
		{"experiments", cmp.Or(z.Experiments, usual.Experiments), q.CountExperiments},
		{"bytes", cmp.Or(z.Bytes, usual.Bytes), q.BytesHeld},
		{"attempt_bytes", cmp.Or(z.AttemptBytes, usual.AttemptBytes), q.AttemptBytesHeld},
	} {
		n, err := c.count(ctx, user)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", c.what, err)
		}
		out = append(out, Held{c.what, n, c.most})
	}
	return out, nil
}

// RoomForAttempts returns an error if a user has reached the limit of stored attempts.
func (z Quota) RoomForAttempts(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.AttemptBytesHeld(ctx, user)
	return room(err, n, 1, cmp.Or(z.AttemptBytes, DefaultQuota().AttemptBytes), "bytes of attempts",
		"delete a run, or ask an admin for more (callvet serve --quota attempt_bytes=N)")
}

// room returns an error if n+more exceeds most; advice explains how to make room. err is the error
// of the count.
func room(err error, n, more, most int64, what, advice string) error {
	if err != nil || n+more <= most {
		return err
	}
	return fmt.Errorf("%w: you hold %d of at most %d %s: %s", callvet.ErrLimited, n, most, what, advice)
}

// RoomForJob returns an error if a user has reached the limit of jobs.
func (z Quota) RoomForJob(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountActiveJobs(ctx, user)
	return room(err, n, 1, cmp.Or(z.Jobs, DefaultQuota().Jobs), "jobs that are not over", "cancel one, or wait")
}

// RoomForSuite returns an error if a user has reached the limit of suites.
func (z Quota) RoomForSuite(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountSuites(ctx, user)
	return room(err, n, 1, cmp.Or(z.Suites, DefaultQuota().Suites), "suites", "delete one")
}

// RoomForExperiment returns an error if a user has reached the limit of experiments.
func (z Quota) RoomForExperiment(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountExperiments(ctx, user)
	return room(err, n, 1, cmp.Or(z.Experiments, DefaultQuota().Experiments), "experiments", "delete one")
}

// RoomFor returns an error if more bytes would exceed the limit of a user. Versions of deleted
// suites count, because runs refer to them.
func (z Quota) RoomFor(ctx context.Context, q *rows.Queries, user string, more int) error {
	n, err := q.BytesHeld(ctx, user)
	return room(err, n, int64(more), cmp.Or(z.Bytes, DefaultQuota().Bytes), "bytes of suites, catalogues, prompts and profiles",
		"delete a catalogue, a prompt or a profile, or ask an admin for more (callvet serve --quota)")
}
