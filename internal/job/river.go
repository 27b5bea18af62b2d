// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/callvet/callvet/internal/store/rows"
)

const (
	// poll is how often River looks for jobs that were given a slot.
	poll = 100 * time.Millisecond
	// never is longer than any job runs, so that River never counts a running job as stuck. The
	// jobs of a process that died are repaired at the start.
	never = 10 * 365 * 24 * time.Hour
)

// granted are River's arguments of a job that has a slot.
type granted struct {
	Job string `json:"job"`
}

// Kind is the name of this package's jobs in River.
func (granted) Kind() string { return "callvet_job" }

// worker is called by River for each job.
type worker struct {
	river.WorkerDefaults[granted]
	jobs *Jobs
}

// Timeout: a job has its own.
func (*worker) Timeout(*river.Job[granted]) time.Duration { return -1 }

// Work carries out the job. Its outcome is in the table jobs: River repeats a job only if the store
// prevented its start.
func (w *worker) Work(ctx context.Context, r *river.Job[granted]) error {
	return w.jobs.work(ctx, r.Args.Job)
}

// openRiver brings River's tables up to date and makes its client.
func (j *Jobs) openRiver(ctx context.Context) error {
	driver := riversqlite.New(j.cfg.Store.Handle())
	quiet := slog.New(slog.DiscardHandler)
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the tables of the queue: %w", err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{jobs: j})
	river.AddWorker(workers, &partWorker{jobs: j})
	j.river, err = river.NewClient(driver, &river.Config{
		Queues: map[string]river.QueueConfig{
			river.QueueDefault: {MaxWorkers: j.cfg.Workers},
			queueParts:         {MaxWorkers: mostParts},
		},
		Workers: workers, FetchCooldown: poll / 2, FetchPollInterval: poll, JobTimeout: -1, RescueStuckJobsAfter: never,
		CompletedJobRetentionPeriod: time.Hour, MaxAttempts: 1000,
		Logger: slog.New(onlyErrors{j.log.Handler()}),
	})
	return err
}

// onlyErrors drops River's log records below errors.
type onlyErrors struct{ slog.Handler }

// Enabled reports whether a record is kept.
func (h onlyErrors) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && h.Handler.Enabled(ctx, l)
}

// Grant gives free slots to the next jobs after the limit of a user changed.
func (j *Jobs) Grant(ctx context.Context) error {
	return j.change(ctx, "grant slots",
		func(tx *sql.Tx, q *rows.Queries, _ *[]string) error { return j.grant(ctx, tx, q) })
}

// grant gives free slots to the next jobs, and passes them to River in the same transaction.
func (j *Jobs) grant(ctx context.Context, tx *sql.Tx, q *rows.Queries) error {
	j.mu.Lock()
	closing := j.closing
	j.mu.Unlock()
	if closing {
		return nil
	}
	taken, err := q.SlotsTaken(ctx)
	if err != nil {
		return err
	}
	for ; taken < int64(j.cfg.Workers); taken++ {
		next, err := q.NextJob(ctx, int64(j.cfg.PerUser))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		most, err := q.MostJobs(ctx, next.UserID)
		if err != nil {
			return err
		}
		if most <= 0 {
			most = int64(j.cfg.PerUser)
		}
		n, err := q.TakeSlot(ctx, rows.TakeSlotParams{UserID: next.UserID, JobID: next.ID, Most: most})
		if err != nil || n == 0 { // another process has changed it
			return err
		}
		if err := q.TakeTurn(ctx, next.UserID); err != nil {
			return err
		}
		if _, err := j.river.InsertManyTx(ctx, tx,
			[]river.InsertManyParams{{Args: granted{Job: next.ID}}}); err != nil {
			return fmt.Errorf("queue job %s: %w", next.ID, err)
		}
	}
	return nil
}

// recover repairs the state after a process has ended: running jobs become interrupted, and are
// queued again. Slots and River's rows are rebuilt from the jobs; the jobs create their parts
// again.
func (j *Jobs) recover(ctx context.Context) error {
	return j.change(ctx, "resume jobs", func(tx *sql.Tx, q *rows.Queries, woken *[]string) error {
		if err := q.FreeSlots(ctx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM river_job"); err != nil {
			return err
		}
		if err := q.DropParts(ctx); err != nil {
			return err
		}
		unprepared, err := q.JobsIn(ctx, string(Pending))
		if err != nil {
			return err
		}
		for i := range unprepared { // the client of the earlier process got no response
			if _, err := q.DropJob(ctx, unprepared[i].ID); err != nil {
				return err
			}
		}
		cut, err := q.JobsIn(ctx, string(Running))
		if err != nil {
			return err
		}
		for i := range cut {
			*woken = append(*woken, cut[i].UserID)
			if err := j.cutOff(ctx, q, &cut[i]); err != nil {
				return err
			}
		}
		return j.grant(ctx, tx, q)
	})
}

// cutOff sets the state of a job after its process ended.
func (j *Jobs) cutOff(ctx context.Context, q *rows.Queries, r *rows.Job) error {
	if r.Cancel {
		return j.end(ctx, q, r, Cancelled)
	}
	if r.Idle++; r.Done > r.Reached {
		r.Idle, r.Reached = 0, r.Done
	}
	if r.Idle >= MaxIdle {
		r.Finished = ms(j.cfg.Now())
		r.Error = fmt.Appendf(nil, "the server ended %d times while the job ran, and it came no further", r.Idle)
		return j.end(ctx, q, r, Interrupted)
	}
	if err := j.end(ctx, q, r, Interrupted); err != nil {
		return err
	}
	return move(ctx, q, r, Queued, j.cfg.Now())
}
