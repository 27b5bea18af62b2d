// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
)

type jobOutput struct{ Body job.Job }

// JobEvents are events of one job.
type JobEvents struct {
	Events []json.RawMessage `json:"events" nullable:"false"`
}

// JobIn names a job in a path.
type JobIn struct {
	ID string `path:"id"`
}

// handlers are the job handlers by kind.
func (s *Server) handlers() map[string]job.Handler {
	return map[string]job.Handler{KindToolEval: s.toolEval, KindJudge: s.judge}
}

// openJobs opens the queue.
func (s *Server) openJobs() (err error) {
	s.jobs, err = job.New(context.Background(), job.Config{
		Store: s.cfg.Store, Handlers: s.handlers(), Parts: map[string]job.PartHandler{KindToolEval: s.toolEvalShard},
		Workers: s.cfg.Workers, PerUser: s.cfg.JobsPerUser, Shift: s.cfg.JobShift,
		Quota: s.cfg.Quota, Hide: s.cfg.App.Secrets().Hide, Log: s.cfg.Log, Now: s.cfg.Now, ReadOnly: s.cfg.ReadOnly,
	})
	return err
}

// RunJobs does the jobs of users until ctx ends. Serve calls it.
func (s *Server) RunJobs(ctx context.Context) error { return s.jobs.Run(ctx) }

// addJobs adds the routes that show and cancel jobs.
func (s *Server) addJobs() {
	type listInput struct {
		PageIn
		Status string `query:"status" enum:"pending,queued,running,done,failed,cancelled,interrupted"`
		Type   string `query:"job_type"`
		User   string `query:"user_id" doc:"for admins: the jobs of a user, or * for all"`
	}
	add(s, huma.Operation{
		OperationID: "list-jobs", Method: http.MethodGet, Path: "/api/jobs", Summary: "Jobs, the newest first",
		Tags: []string{"jobs"},
	}, Access{},
		func(ctx context.Context, by *account.Principal, in *listInput) (*struct{ Body Page[job.Job] }, error) {
			from, err := in.mark()
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
			list, next, err := s.jobs.List(ctx, query)
			if err != nil {
				return nil, err
			}
			out := &struct{ Body Page[job.Job] }{Page[job.Job]{Items: list}}
			if next > 0 {
				out.Body.Next = pageMark{At: next}.String()
			}
			return out, nil
		})
	add(s, huma.Operation{
		OperationID: "get-job", Method: http.MethodGet, Path: "/api/jobs/{id}", Summary: "One job",
		Tags: []string{"jobs"},
	}, Access{Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*jobOutput, error) {
			j, err := s.jobs.Job(ctx, in.ID)
			return &jobOutput{j}, err
		})
	type eventsInput struct {
		JobIn
		Limit int `query:"limit" minimum:"1" maximum:"1000" default:"300" doc:"how many, the newest"`
	}
	add(s, huma.Operation{
		OperationID: "list-job-events", Method: http.MethodGet, Path: "/api/jobs/{id}/events",
		Summary: "The newest events of a job, in order", Tags: []string{"jobs"},
	}, Access{Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *eventsInput) (*struct{ Body JobEvents }, error) {
			list, err := s.jobs.EventsOf(ctx, in.ID, in.Limit)
			out := &struct{ Body JobEvents }{JobEvents{Events: texts(list)}}
			return out, err
		})
	add(s, huma.Operation{
		OperationID: "cancel-job", Method: http.MethodPost, Path: "/api/jobs/{id}/cancel", Summary: "Cancel a job",
		Tags: []string{"jobs"},
	}, Access{Role: account.Member, Scope: account.ScopeRun, Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*jobOutput, error) {
			return s.cancelJob(ctx, in.ID)
		})
	add(s, huma.Operation{
		OperationID: "resume-job", Method: http.MethodPost, Path: "/api/jobs/{id}/resume",
		Summary: "Queue a job again that failed: it goes on from what it stored", Tags: []string{"jobs"},
		DefaultStatus: http.StatusAccepted,
	}, Access{Role: account.Member, Scope: account.ScopeRun, Objects: map[string]Kind{"id": KindJob}},
		func(ctx context.Context, _ *account.Principal, in *JobIn) (*jobOutput, error) {
			j, err := s.jobs.Resume(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return &jobOutput{j}, nil
		})
}

// cancelJob cancels a job. A waiting job has ended in the response; for a running one an event
// reports the end.
func (s *Server) cancelJob(ctx context.Context, id string) (*jobOutput, error) {
	j, err := s.jobs.Cancel(ctx, id)
	if err != nil {
		return nil, err
	}
	return &jobOutput{j}, nil
}

// cancelJobsOf cancels the jobs of a removed user: they would go on with his keys.
func (s *Server) cancelJobsOf(ctx context.Context, user string) error {
	list, err := s.jobs.Active(ctx, user)
	for i := range list {
		_, cerr := s.jobs.Cancel(ctx, list[i].ID)
		err = errors.Join(err, cerr)
	}
	return err
}
