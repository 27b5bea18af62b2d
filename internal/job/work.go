// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/sys"
)

// The causes of the end of a handler's context.
var (
	ErrCancelled = errors.New("the job was cancelled")
	ErrTimeout   = errors.New("the job ran out of its time")
	ErrClosing   = errors.New("the server ends")
)

// ErrGaveWay is the error of a handler that stopped because GiveWay returned true.
var ErrGaveWay = errors.New("the job gave way to another one")

// HandBack is how long handlers may take to return when the server ends.
const HandBack = 10 * time.Second

// Run carries out jobs until ctx ends. Then it returns running jobs to the queue: they go on at the
// next start.
func (j *Jobs) Run(ctx context.Context) error {
	if err := j.river.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	j.tidy(ctx)
	j.mu.Lock()
	j.closing = true
	for _, cancel := range j.running {
		cancel(ErrClosing)
	}
	j.mu.Unlock()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), HandBack)
	defer cancel()
	if err := j.river.Stop(late); err != nil { // the next start queues unfinished jobs again
		return fmt.Errorf("end jobs: %w", err)
	}
	return nil
}

// tidy removes old events at intervals, until ctx ends.
func (j *Jobs) tidy(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := j.prune(ctx); err != nil && ctx.Err() == nil {
			j.log.ErrorContext(ctx, "old events stay", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// work carries out a job that has a slot. It returns when the state of the job is stored. An error
// means that the job could not be started, and must be tried again.
func (j *Jobs) work(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !j.register(id, cancel) {
		return nil
	}
	stored := context.WithoutCancel(ctx)
	job, ok, err := j.begin(stored, id)
	if err != nil || !ok {
		j.unregister(id)
		return err
	}
	left := time.Duration(job.Timeout-job.Ran) * time.Millisecond
	limited, stop := context.WithTimeoutCause(ctx, max(left, time.Millisecond), ErrTimeout)
	defer stop()
	r := &Report{jobs: j, ctx: stored, job: jobOf(&job), ran: job.Ran, began: j.cfg.Now(), note: job.Note}
	detail, err := r.follow(limited, j.cfg.Handlers[job.Kind])
	j.unregister(id) // before finish, which may queue it: a worker may then get it again immediately
	j.finish(stored, limited, r, detail, err)
	return nil
}

// register lets Cancel and the end of the server cancel a job.
func (j *Jobs) register(id string, cancel context.CancelCauseFunc) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closing || j.running[id] != nil {
		return false
	}
	j.running[id] = cancel
	return true
}

func (j *Jobs) unregister(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, id)
}

// begin moves a job from the queue to the worker. ok is false if it is no longer queued.
func (j *Jobs) begin(ctx context.Context, id string) (r rows.Job, ok bool, err error) {
	gone := errors.New("the job is not queued")
	err = j.change(ctx, "start job", func(_ *sql.Tx, q *rows.Queries, woken *[]string) (err error) {
		r, err = q.Job(ctx, id)
		if errors.Is(err, sql.ErrNoRows) || err == nil && State(r.State) != Queued {
			return gone
		}
		if err != nil {
			return err
		}
		if err := move(ctx, q, &r, Running, j.cfg.Now()); err != nil {
			return err
		}
		*woken = append(*woken, r.UserID)
		return storeEvents(ctx, q, r.UserID, id, j.cfg.Now(),
			News{EventStarted, map[string]any{"attempt": r.Attempt, "result_ref": r.ResultRef}})
	})
	if errors.Is(err, gone) {
		return r, false, nil
	}
	return r, err == nil, err
}

// maxError bounds the stored text of an error, in bytes.
const maxError = 4_000

// finish stores the result of a job. If the store fails, it retries, because the job is done.
func (j *Jobs) finish(ctx, limited context.Context, r *Report, detail json.RawMessage, did error) {
	cause := context.Cause(limited)
	to, text := Failed, ""
	switch {
	case did == nil:
		to = Done
	case errors.Is(cause, ErrCancelled):
		to = Cancelled
	case errors.Is(cause, ErrClosing):
		to = Queued
	case errors.Is(cause, ErrTimeout):
		text = fmt.Sprintf("%v: %s", ErrTimeout, time.Duration(r.job.TimeoutMS)*time.Millisecond)
	case cause != nil, errors.Is(did, ErrGaveWay):
		to = Queued // otherwise River was stopped
	default:
		text = j.cfg.Hide(did.Error())
	}
	if len(text) > maxError {
		text = text[:maxError]
	}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := j.change(ctx, "end job", func(tx *sql.Tx, q *rows.Queries, woken *[]string) error {
			row, err := q.Job(ctx, r.job.ID)
			if err != nil {
				return err
			}
			r.writeProgress(&row)
			if to != Done && row.Cancel { // requested after the handler stopped, or before it began
				to, text = Cancelled, ""
			}
			if to == Done {
				row.Detail = detail
			}
			row.Error = []byte(text)
			*woken = append(*woken, row.UserID)
			if err := j.end(ctx, q, &row, to); err != nil {
				return err
			}
			return j.grant(ctx, tx, q)
		})
		if err == nil || errors.Is(err, callvet.ErrConflict) || errors.Is(err, sql.ErrNoRows) {
			return
		}
		j.log.ErrorContext(ctx, "the end of a job was not stored", "job", r.job.ID, "error", err)
		j.mu.Lock()
		closing := j.closing
		j.mu.Unlock()
		if closing { // the next start queues it again
			return
		}
		time.Sleep(wait)
	}
}

// Report is for a handler to report the progress of its job. It is safe for concurrent use.
type Report struct {
	jobs  *Jobs
	ctx   context.Context // of the job: news are stored, even at its end
	job   Job
	ran   int64
	began time.Time

	mu          sync.Mutex
	note        []byte
	done, total int64
	eta         time.Duration
	lookedAt    time.Time // when GiveWay last looked
	changed     bool      // since it was stored
	known       bool      // the handler reported progress
}

// Progress reports the progress of the job. It never waits: the latest progress is stored
// periodically.
func (r *Report) Progress(done, total int64, eta time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.total, r.eta, r.changed, r.known = done, total, eta, true, true
}

// Publish stores news of the job together with the handler's note for a later attempt; nil keeps
// the note. Both or neither are stored. The error wraps callvet.ErrConflict if the job no longer
// belongs to this attempt.
func (r *Report) Publish(note []byte, news ...News) error {
	j := r.jobs
	r.mu.Lock()
	if note == nil {
		note = r.note
	}
	r.mu.Unlock()
	if err := j.change(r.ctx, "tell news", func(_ *sql.Tx, q *rows.Queries, woken *[]string) error {
		n, err := q.NoteJob(r.ctx, rows.NoteJobParams{Note: note, ID: r.job.ID, Attempt: r.job.Attempt})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("job %s: %w: it does not run any more", r.job.ID, callvet.ErrConflict)
		}
		*woken = append(*woken, r.job.User)
		return storeEvents(r.ctx, q, r.job.User, r.job.ID, j.cfg.Now(), news...)
	}); err != nil {
		return err
	}
	r.mu.Lock()
	r.note = note
	r.mu.Unlock()
	return nil
}

// Also changes the store and stores news of the job in the same transaction.
func (r *Report) Also(do func(ctx context.Context, q *rows.Queries) error, news ...News) error {
	j := r.jobs
	return j.change(r.ctx, "tell news", func(_ *sql.Tx, q *rows.Queries, woken *[]string) error {
		if err := do(r.ctx, q); err != nil {
			return err
		}
		*woken = append(*woken, r.job.User)
		return storeEvents(r.ctx, q, r.job.User, r.job.ID, j.cfg.Now(), news...)
	})
}

// GiveWay reports whether the handler must stop and return ErrGaveWay: the job has worked for
// Config.Shift, and a different job would be next if both waited. The job is then queued, and
// continues when its turn comes. It is false if that is unknown, and reads the store at most once a
// second.
func (r *Report) GiveWay() bool {
	j := r.jobs
	now := j.cfg.Now()
	r.mu.Lock()
	soon := now.Sub(r.began) < j.cfg.Shift || now.Sub(r.lookedAt) < min(j.cfg.Shift, time.Second)
	if !soon {
		r.lookedAt = now
	}
	r.mu.Unlock()
	if soon {
		return false
	}
	other, tried := false, errors.New("nothing is changed")
	err := j.change(r.ctx, "find the next job", func(_ *sql.Tx, q *rows.Queries, _ *[]string) error {
		row, err := q.Job(r.ctx, r.job.ID)
		if err != nil {
			return err
		}
		if err := errors.Join(move(r.ctx, q, &row, Queued, now), q.FreeSlot(r.ctx, row.ID)); err != nil {
			return err
		}
		next, err := q.NextJob(r.ctx, int64(j.cfg.PerUser))
		if errors.Is(err, sql.ErrNoRows) { // the user's limit may now be lower than the number of running jobs
			return tried
		}
		if err != nil {
			return err
		}
		other = next.ID != row.ID
		return tried
	})
	if !errors.Is(err, tried) && r.ctx.Err() == nil {
		j.log.ErrorContext(r.ctx, "the next job was not found", "job", r.job.ID, "error", err)
	}
	return other
}

// writeProgress writes the progress of the job into its row.
func (r *Report) writeProgress(row *rows.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known {
		row.Done, row.Total, row.Eta = r.done, r.total, r.eta.Milliseconds()
	}
	row.Ran = r.ran + r.jobs.cfg.Now().Sub(r.began).Milliseconds()
}

// follow calls the handler, and stores its progress meanwhile. A panic of the handler is an error.
func (r *Report) follow(ctx context.Context, do Handler) (detail json.RawMessage, err error) {
	j := r.jobs
	if do == nil {
		return nil, fmt.Errorf("no worker here does jobs of kind %q", r.job.Kind)
	}
	over := make(chan struct{})
	var beside sys.Group
	beside.Go(func() {
		tick := time.NewTicker(j.cfg.Every)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				r.store()
			}
		}
	})
	defer beside.Wait()
	defer close(over)
	defer j.caught(ctx, "a job", r.job.ID, &err)
	return do(ctx, r.job, r)
}

// store writes new progress, and an event about it.
func (r *Report) store() {
	j := r.jobs
	r.mu.Lock()
	done, total, eta, changed := r.done, r.total, r.eta, r.changed
	r.changed = false
	r.mu.Unlock()
	if !changed {
		return
	}
	p := rows.JobProgressParams{
		Done: done, Total: total, Eta: eta.Milliseconds(),
		Ran: r.ran + j.cfg.Now().Sub(r.began).Milliseconds(), ID: r.job.ID, Attempt: r.job.Attempt,
	}
	err := j.change(r.ctx, "store progress", func(_ *sql.Tx, q *rows.Queries, woken *[]string) error {
		if n, err := q.JobProgress(r.ctx, p); err != nil || n == 0 {
			return err
		}
		*woken = append(*woken, r.job.User)
		event := map[string]any{"done": done, "total": total, "eta_ms": p.Eta}
		if total > 0 {
			event["progress_pct"] = 100 * done / total
		}
		return storeEvents(r.ctx, q, r.job.User, r.job.ID, j.cfg.Now(), News{EventProgress, event})
	})
	if err != nil {
		j.log.ErrorContext(r.ctx, "progress was not stored", "job", r.job.ID, "error", err)
	}
}
