// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
)

// JobEvents are events of one job.
type JobEvents struct {
	Events []json.RawMessage `json:"events" nullable:"false"`
}

// JobIn names a job in a path.
type JobIn struct {
	ID string `path:"id"`
}

// AddJobs adds the routes that show and cancel jobs.
func (s *Server) AddJobs() {
	type listInput struct {
		PageIn
		Status string `query:"status" enum:"pending,queued,running,done,failed,cancelled,interrupted"`
		Type   string `query:"job_type"`
		User   string `query:"user_id" doc:"for admins: the jobs of a user, or * for all"`
	}
	op := Operations("jobs", "/api/jobs")
	Answer(s, op("list-jobs", http.MethodGet, "", "Jobs, the newest first"), Access{},
		func(ctx context.Context, by *account.Principal, in *listInput) (*Page[job.Job], error) {
			from, err := in.Mark()
			if err != nil {
				return nil, err
			}
			query := job.Query{
				User: by.User, State: job.State(in.Status), Kind: in.Type, Before: from.At,
				Most: in.Limit,
			}
			switch {
			case in.User == "" || in.User == by.User:
			case by.Role != account.Admin:
				return nil, &callvet.FieldError{
					Field: "user_id", Kind: callvet.ErrDenied,
					Text: "{user_id}: the jobs of others are for admins",
				}
			case in.User == "*":
				query.User = ""
			default:
				query.User = in.User
			}
			list, next, err := s.Jobs.List(ctx, query)
			if err != nil {
				return nil, err
			}
			out := &Page[job.Job]{Items: list}
			if next > 0 {
				out.Next = PageMark{At: next}.String()
			}
			return out, nil
		})
	Answer(s, op("get-job", http.MethodGet, "/{id}", "One job"), Access{Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*job.Job, error) {
			j, err := s.Jobs.Job(ctx, in.ID)
			return &j, err
		})
	type eventsInput struct {
		JobIn
		Limit int `query:"limit" minimum:"1" maximum:"1000" default:"300" doc:"how many, the newest"`
	}
	Answer(s, op("list-job-events", http.MethodGet, "/{id}/events", "The newest events of a job, in order"),
		Access{Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *eventsInput) (*JobEvents, error) {
			list, err := s.Jobs.EventsOf(ctx, in.ID, in.Limit)
			out := &JobEvents{Events: texts(list)}
			return out, err
		})
	Answer(s, op("cancel-job", http.MethodPost, "/{id}/cancel", "Cancel a job"),
		Access{Role: account.Member, Scope: account.ScopeRun, Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*job.Job, error) {
			return s.CancelJob(ctx, in.ID)
		})
	Answer(s, Returning(http.StatusAccepted, op("resume-job", http.MethodPost, "/{id}/resume",
		"Queue a job again that failed: it goes on from what it stored")),
		Access{Role: account.Member, Scope: account.ScopeRun, Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*job.Job, error) {
			j, err := s.Jobs.Resume(ctx, in.ID)
			return &j, err
		})
}

// CancelJob cancels a job. A waiting job has ended in the response; for a running one an event
// reports the end.
func (s *Server) CancelJob(ctx context.Context, id string) (*job.Job, error) {
	j, err := s.Jobs.Cancel(ctx, id)
	return &j, err
}

// cancelJobsOf cancels the jobs of a removed user: they would go on with his keys.
func (s *Server) cancelJobsOf(ctx context.Context, user string) error {
	list, err := s.Jobs.Active(ctx, user)
	for i := range list {
		_, cerr := s.Jobs.Cancel(ctx, list[i].ID)
		err = errors.Join(err, cerr)
	}
	return err
}
