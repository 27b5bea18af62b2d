// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/sys"
)

const (
	// queueParts is River's queue of parts: a part needs no slot, because its job has one.
	queueParts = "parts"
	// mostParts is how many parts of all jobs a process runs at once. Most of them wait for
	// answers.
	mostParts = 256
	// beats is how often a worker reports that it is alive within Config.PartLost.
	beats = 15
)

// PartHandler carries out a part of a job of its kind, and returns a result for the job. ctx ends
// when the part must be aborted, and yield closes when it should finish soon.
type PartHandler func(ctx context.Context, j Job, task json.RawMessage, yield <-chan struct{}) (json.RawMessage, error)

// part are River's arguments of a part.
type part struct {
	Part string `json:"part"`
}

// Kind is the name of parts in River.
func (part) Kind() string { return "callvet_part" }

// partWorker is called by River for each part.
type partWorker struct {
	river.WorkerDefaults[part]
	jobs *Jobs
}

// Timeout: a part has the timeout of its job.
func (*partWorker) Timeout(*river.Job[part]) time.Duration { return -1 }

// Work carries out a part.
func (w *partWorker) Work(ctx context.Context, r *river.Job[part]) error {
	return w.jobs.workPart(ctx, r.Args.Part)
}

// Part lets a worker carry out a part of the job, in this process or another one with the same
// store, and waits for its result. When ctx ends the worker is asked to abort the part, and when
// yield closes to finish it; Part waits for that in either case. The error has the text of the
// worker's error.
func (r *Report) Part(ctx context.Context, task json.RawMessage, yield <-chan struct{}) (json.RawMessage, error) {
	j := r.jobs
	id, err := store.NewID(j.cfg.Rand, "part")
	if err != nil {
		return nil, err
	}
	if err := j.cfg.Store.ChangeTx(ctx, "queue part", func(tx *sql.Tx, q *rows.Queries) error {
		if err := q.AddPart(ctx,
			rows.AddPartParams{ID: id, JobID: r.job.ID, Task: task, Result: []byte{}, Error: []byte{}}); err != nil {
			return err
		}
		_, err := j.river.InsertManyTx(ctx, tx,
			[]river.InsertManyParams{{Args: part{Part: id}, InsertOpts: &river.InsertOpts{Queue: queueParts}}})
		return err
	}); err != nil {
		return nil, err
	}
	defer func() {
		if err := j.cfg.Store.Change(r.ctx, "remove part",
			func(q *rows.Queries) error { return q.DropPart(r.ctx, id) }); err != nil {
			j.log.ErrorContext(r.ctx, "a part of a job that is over stays", "job", r.job.ID, "error", err)
		}
	}()
	return r.awaitPart(id, ctx.Done(), yield)
}

// awaitPart waits until a part is over. When off closes it requests that the worker aborts the
// part, and when yield closes that it finishes the part.
func (r *Report) awaitPart(id string, off, yield <-chan struct{}) (json.RawMessage, error) {
	j := r.jobs
	tick := time.NewTicker(poll)
	defer tick.Stop()
	asked := rows.AskPartParams{ID: id}
	beat, unseen := int64(0), 0 // polls, not time: a stopped process does not poll
	for {
		p, err := j.cfg.Store.Rows().Part(r.ctx, id)
		unseen++
		switch {
		case err != nil && !errors.Is(err, sql.ErrNoRows) && unseen < int(j.cfg.PartLost/poll): // the error may be temporary
			<-tick.C
			continue
		case err != nil:
			return nil, fmt.Errorf("read part: %w", err)
		case State(p.State) == Done && len(p.Error) > 0:
			return p.Result, errors.New(string(p.Error))
		case State(p.State) == Done:
			return p.Result, nil
		case State(p.State) == Queued && closed(off): // a worker that takes it later finds nothing
			return nil, context.Canceled
		case p.Beat != beat || State(p.State) == Queued:
			beat, unseen = p.Beat, 0
		case unseen > int(j.cfg.PartLost/poll):
			return nil, fmt.Errorf("the worker of a part of the job shows nothing for %s: %w", j.cfg.PartLost,
				callvet.ErrUnavailable)
		}
		ask := asked
		ask.Cancel = closed(off)
		ask.Yield = closed(yield)
		if ask != asked {
			// otherwise it is repeated
			if err := j.cfg.Store.Change(r.ctx, "end part",
				func(q *rows.Queries) error { return q.AskPart(r.ctx, ask) }); err == nil {
				asked = ask
			}
		}
		<-tick.C
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// workPart carries out a part that no worker has. An error means that it could not begin, and must
// be tried again.
func (j *Jobs) workPart(ctx context.Context, id string) error {
	stored := context.WithoutCancel(ctx)
	var p rows.Part
	var of rows.Job
	gone := errors.New("the part is not queued")
	err := j.cfg.Store.Change(stored, "start part", func(q *rows.Queries) error {
		n, err := q.TakePart(stored, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return gone
		}
		if p, err = q.Part(stored, id); err != nil {
			return err
		}
		of, err = q.Job(stored, p.JobID)
		return err
	})
	if errors.Is(err, gone) {
		return nil
	}
	if err != nil {
		return err
	}
	result, did := j.followPart(ctx, &p, jobOf(&of))
	end := rows.EndPartParams{ID: id, Result: result}
	if result == nil {
		end.Result = []byte{}
	}
	end.Error = []byte{}
	if did != nil {
		end.Error = []byte(j.cfg.Hide(did.Error()))
		if len(end.Error) > maxError {
			end.Error = end.Error[:maxError]
		}
	}
	for range 3 { // after that the job counts the part as lost
		err = j.cfg.Store.Change(stored, "end part", func(q *rows.Queries) error {
			_, err := q.EndPart(stored, end)
			return err
		})
		if err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	j.log.ErrorContext(ctx, "the end of a part of a job was not stored", "job", of.ID, "error", err)
	return nil
}

// followPart calls the handler of a part, reports meanwhile that the worker is alive, and ends the
// handler on request. A panic of the handler is an error.
func (j *Jobs) followPart(ctx context.Context, p *rows.Part, of Job) (result json.RawMessage, err error) {
	do := j.cfg.Parts[of.Kind]
	if do == nil {
		return nil, fmt.Errorf("no worker here does parts of jobs of kind %q", of.Kind)
	}
	ctx, cancel := context.WithCancel(ctx)
	yield, over := make(chan struct{}), make(chan struct{})
	var beside sys.Group
	beside.Go(func() { j.heedPart(context.WithoutCancel(ctx), p.ID, over, yield, cancel) })
	defer beside.Wait()
	defer close(over)
	defer cancel()
	defer j.caught(ctx, "a part of a job", of.ID, &err)
	return do(ctx, of, p.Task, yield)
}

// heedPart records that a part's worker is alive, and obeys the job's requests to abort or finish,
// until over closes.
func (j *Jobs) heedPart(ctx context.Context, id string, over <-chan struct{}, yield chan<- struct{}, cancel func()) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	yielded, shown := false, j.cfg.Now()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		p, err := j.cfg.Store.Rows().Part(ctx, id)
		switch {
		case errors.Is(err, sql.ErrNoRows): // the job no longer waits
			cancel()
			return
		case err != nil:
			continue
		}
		if p.Cancel {
			cancel()
		}
		if p.Yield && !yielded {
			yielded = true
			close(yield)
		}
		if now := j.cfg.Now(); now.Sub(shown) >= j.cfg.PartLost/beats {
			shown = now
			if err := j.cfg.Store.Change(ctx, "show worker", func(q *rows.Queries) error {
				_, err := q.BeatPart(ctx, id)
				return err
			}); err != nil {
				j.log.ErrorContext(ctx, "a worker could not show that it is there", "error", err)
			}
		}
	}
}
