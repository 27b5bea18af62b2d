// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// Quota bounds what one user may hold; 0: DefaultQuota's.
type Quota struct {
	// Jobs that are not over, Suites that are not deleted, Experiments.
	Jobs, Suites, Experiments int64
	// Bytes of suites with all their versions, and of catalogues, as they are stored.
	Bytes int64
}

// DefaultQuota is far above what people need, and far below what fills a disk.
func DefaultQuota() Quota {
	return Quota{Jobs: 1000, Suites: 10_000, Experiments: 5000, Bytes: 4 << 30}
}

// room is the error of a user who holds as many as he may.
func room(what string, held, more, most int64) error {
	if held+more <= most {
		return nil
	}
	return fmt.Errorf("%w: you hold %d %s, of at most %d: delete or end some", callvet.ErrLimited, held, what, most)
}

// RoomForJob refuses another job of a user who has as many as he may.
func (z Quota) RoomForJob(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountActiveJobs(ctx, user)
	if err != nil {
		return err
	}
	return room("jobs that are not over", n, 1, or(z.Jobs, DefaultQuota().Jobs))
}

// RoomForSuite refuses another suite of a user who has as many as he may.
func (z Quota) RoomForSuite(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountSuites(ctx, user)
	if err != nil {
		return err
	}
	return room("suites", n, 1, or(z.Suites, DefaultQuota().Suites))
}

// RoomForExperiment refuses another experiment of a user who has as many as he may.
func (z Quota) RoomForExperiment(ctx context.Context, q *rows.Queries, user string) error {
	n, err := q.CountExperiments(ctx, user)
	if err != nil {
		return err
	}
	return room("experiments", n, 1, or(z.Experiments, DefaultQuota().Experiments))
}

// RoomFor refuses more bytes of a user who would hold too many.
func (z Quota) RoomFor(ctx context.Context, q *rows.Queries, user string, more int) error {
	n, err := q.BytesHeld(ctx, user)
	if err != nil {
		return err
	}
	return room("bytes of suites and catalogues", n, int64(more), or(z.Bytes, DefaultQuota().Bytes))
}

func or(n, usual int64) int64 {
	if n == 0 {
		return usual
	}
	return n
}
