// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/job"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store/rows"
)

// addRerun adds the routes that resume or repeat a run.
func addRerun(s *api.Server) {
	run := map[string]api.Kind{"id": api.KindRun}
	op := api.Operations("runs", "/api/runs/{id}")
	api.Add(s, api.Returning(http.StatusAccepted, op("resume-run", http.MethodPost, "/resume",
		"Ask again for the lost attempts of a run, as a job")),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Objects: run}, api.With(s, resumeRun))
	api.Add(s, api.Returning(http.StatusAccepted, op("rerun-failed", http.MethodPost, "/failed",
		"Run the cases again that did not pass, as a new run")),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Objects: run, Reads: true}, api.With(s, rerunFailed))
}

// resumeRun resumes a run that ended with lost attempts, as the user of the request, with his keys.
func resumeRun(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body *struct {
		MaxCostUSD *float64 `json:"max_cost_usd,omitempty" minimum:"0" doc:"the budget of the whole run from now on; left out: as it was"`
		MaxCalls   *int     `json:"max_calls,omitempty" minimum:"0" doc:"the most requests of the whole run from now on"`
	}
},
) (*submittedOutput, error) {
	a, err := repeatable(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	if a.line.Lost == 0 || a.line.Problem != "" {
		return nil, fmt.Errorf("resume run %s: %w: it lost no attempt that can be asked for again", in.ID,
			callvet.ErrConflict)
	}
	what := evalJob{Suite: a.line.SuiteName, Experiment: a.line.Experiment}
	if in.Body != nil {
		what.Changes = app.Changes{MaxCostUSD: in.Body.MaxCostUSD, MaxCalls: in.Body.MaxCalls}
	}
	got, isNew, err := s.Jobs.Submit(ctx, job.Request{
		User: by.User, Kind: KindToolEval, Key: in.Key,
		Prepare: func(context.Context, string) (p job.Prepared, err error) {
			p.ResultRef, p.Total = in.ID, int64(a.run.Size())
			p.Request, err = json.Marshal(&what)
			p.Also = func(ctx context.Context, q *rows.Queries, id string) error {
				targets, keys := api.Used(a.specs)
				return errors.Join(
					s.Started(ctx, q, by, "run.resume", in.ID, targets, keys),
					q.AdoptRun(ctx, rows.AdoptRunParams{RunID: in.ID, Created: a.entry.Created}),
					q.GiveRunToJob(ctx, rows.GiveRunToJobParams{RunID: in.ID, JobID: id}),
				)
			}
			return p, err
		},
	})
	if err != nil {
		return nil, err
	}
	return submitted(&got, isNew, nil), nil
}

// repeated is a run that is repeated.
type repeated struct {
	entry rows.RunEntry
	line  *EvalRun
	run   *results.Run
	specs []app.TargetSpec // its targets
}

// repeatable returns a run that by may repeat: it has ended, and by wrote the addresses of its
// targets and judges.
func repeatable(ctx context.Context, s *api.Server, by *account.Principal, id string) (*repeated, error) {
	found, err := s.Config.Store.Rows().RunEntry(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	a := &repeated{entry: rows.RunEntry(found)}
	if a.line, err = line(ctx, s, &a.entry); err != nil {
		return nil, err
	}
	on, err := goesOn(ctx, s, a.entry.JobID)
	if err != nil {
		return nil, err
	}
	if on || !ended(a.line.Status) {
		return nil, fmt.Errorf("ask run %s again: %w: it goes on", id, callvet.ErrConflict)
	}
	config, err := runs.Configuration(ctx, s.Config.App, id)
	if err != nil {
		return nil, err
	}
	for i := range config.Targets {
		a.specs = append(a.specs, config.Targets[i].Spec)
	}
	if a.run, err = results.Open(ctx, s.Config.App, id); err != nil {
		return nil, err
	}
	return a, ownTargets(by, a.entry.UserID, slices.Concat(a.specs, runs.JudgeTargets(a.run.Manifest.Judges)), nil)
}

// goesOn reports whether a job waits or runs; "" is no job.
func goesOn(ctx context.Context, s *api.Server, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	j, err := s.Jobs.Job(ctx, id)
	if errors.Is(err, callvet.ErrNotFound) {
		return false, nil
	}
	return err == nil && !j.State.Over(), err
}

// rerunFailed runs the failed cases of a run again, on the current suite. It uses no stored
// answers, because they would fail again.
func rerunFailed(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	api.RunIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body *struct {
		Name string `json:"name,omitempty" doc:"for people; other runs may have it too"`
	}
},
) (*submittedOutput, error) {
	a, err := repeatable(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	kept := a.entry.SuiteID != ""
	if kept {
		_, _, err = s.Library.Now(ctx, a.entry.SuiteID)
		if kept = !api.IsMissing(err); kept && err != nil {
			return nil, err
		}
	}
	if !kept {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("run the failures of %s: %w: its suite is not kept on the server", in.ID,
				callvet.ErrConflict),
			Hint: "callvet run SUITE --failed-from " + in.ID + ", where the suite is",
		}
	}
	was := a.run.Manifest
	ask := &app.RunRequest{NoCache: true, Targets: a.specs, Repeats: was.Repeats, FailedFrom: in.ID, Judges: was.Judges}
	ask.Embedder = was.Embedder
	if in.Body != nil {
		ask.Name = in.Body.Name
	}
	experiment := a.line.Experiment
	if experiment != "" && assets.Linkable(ctx, s, by, experiment, a.entry.SuiteID) != nil {
		experiment = "" // it was deleted, or belongs to another user
	}
	return submitRun(ctx, s, by, &submission{suite: a.entry.SuiteID, experiment: experiment, ask: ask, key: in.Key})
}
