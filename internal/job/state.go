// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// State is the state of a job.
type State string

// The states. A pending job is being prepared, a queued one waits for a slot and a worker. An
// interrupted one was running when its process ended: it is queued again, unless that happened too
// often without any progress.
const (
	Pending     State = "pending"
	Queued      State = "queued"
	Running     State = "running"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted"
)

// States are all states.
func States() []State {
	return []State{Pending, Queued, Running, Done, Failed, Cancelled, Interrupted}
}

// After returns the states that s may follow.
func (s State) After() []State {
	switch s {
	case Queued:
		return []State{Pending, Running, Interrupted, Failed}
	case Running:
		return []State{Queued}
	case Done, Failed, Interrupted:
		return []State{Running}
	case Cancelled:
		return []State{Pending, Queued, Running}
	case Pending:
	}
	return nil
}

// Over reports whether the state is final. For an interrupted job see Finished.
func (s State) Over() bool { return s == Done || s == Failed || s == Cancelled }

// Job is a task of a user.
type Job struct {
	ID    string `json:"job_id"`
	User  string `json:"user_id"`
	Kind  string `json:"job_type"`
	State State  `json:"status"`
	// About is the request's member "about".
	About     string `json:"about,omitempty" doc:"what the job is about, such as the name of a suite"`
	Priority  int    `json:"priority"`
	ResultRef string `json:"result_ref,omitempty" doc:"what the job makes: the id of a run"`
	Done      int64  `json:"done"`
	Total     int64  `json:"total" doc:"0: not known"`
	ETA       int64  `json:"eta_ms,omitempty" doc:"0: not known"`
	// Detail is the handler's result: any JSON.
	Detail    json.RawMessage `json:"detail,omitempty"`
	Error     string          `json:"error,omitempty"`
	Attempt   int64           `json:"attempt" doc:"how often it was started"`
	TimeoutMS int64           `json:"timeout_ms" doc:"how long it may run, without the time that it waits"`
	Created   time.Time       `json:"created_at"`
	Queued    time.Time       `json:"queued_at,omitzero"`
	Started   time.Time       `json:"started_at,omitzero" doc:"the last start"`
	Finished  time.Time       `json:"finished_at,omitzero"`
	Cancel    bool            `json:"cancel_requested,omitempty"`
	// Request is the work for the handler, and Note its own record from an earlier attempt.
	Request json.RawMessage `json:"-"`
	Note    []byte          `json:"-"`
	place   int64
}

// Active reports whether the job has not ended.
func (j *Job) Active() bool { return j.Finished.IsZero() }

// ms is a time as it is stored.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func jobOf(r *rows.Job) Job {
	j := Job{
		ID: r.ID, User: r.UserID, Kind: r.Kind, State: State(r.State), Priority: int(r.Priority),
		ResultRef: r.ResultRef, Done: r.Done, Total: r.Total, ETA: r.Eta,
		Error: string(r.Error), Attempt: r.Attempt, TimeoutMS: r.Timeout, Created: at(r.Created), Queued: at(r.Queued),
		Started: at(r.Started), Finished: at(r.Finished),
		Cancel: r.Cancel, Request: r.Request, Note: r.Note, place: r.Place,
	}
	if len(r.Detail) > 0 {
		j.Detail = r.Detail
	}
	var of struct {
		About string `json:"about"`
	}
	if json.Unmarshal(r.Request, &of) == nil { // a request may be any JSON
		j.About = of.About
	}
	return j
}

func jobsOf(list []rows.Job) []Job {
	out := make([]Job, len(list))
	for i := range list {
		out[i] = jobOf(&list[i])
	}
	return out
}

// move changes the state of a job; no other code does. r was read in this transaction and has the
// new values. The error wraps callvet.ErrConflict if the state may not follow.
func move(ctx context.Context, q *rows.Queries, r *rows.Job, to State, now time.Time) error {
	was := r.Attempt
	next := *r
	next.State = string(to)
	for _, b := range []*[]byte{&next.Request, &next.Detail, &next.Error} { // an empty one is read as nil
		if *b == nil {
			*b = []byte{}
		}
	}
	switch {
	case to == Queued:
		if next.Queued == 0 {
			next.Queued = ms(now)
		}
		next.Finished = 0
	case to == Running:
		next.Attempt++
		next.Started = ms(now)
	case to.Over():
		next.Finished, next.Eta = ms(now), 0
	}
	from := [4]string{}
	for i, s := range to.After() {
		from[i] = string(s)
	}
	n, err := q.MoveJob(ctx, rows.MoveJobParams{
		Next: next.State, Attempt: next.Attempt, Queued: next.Queued, Started: next.Started, Finished: next.Finished,
		Done: next.Done, Total: next.Total, Eta: next.Eta, Ran: next.Ran, Idle: next.Idle,
		Reached: next.Reached, ResultRef: next.ResultRef, Request: next.Request, Detail: next.Detail, Error: next.Error,
		ID: next.ID, Was: was,
		From1: from[0], From2: from[1], From3: from[2], From4: from[3],
	})
	if err != nil {
		return err
	}
	if n == 0 || !slices.Contains(to.After(), State(r.State)) {
		return fmt.Errorf("job %s: %w: it is %s and cannot become %s", r.ID, callvet.ErrConflict, r.State, to)
	}
	*r = next
	return nil
}
