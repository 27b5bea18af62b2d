// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/stats"
)

// Experiment is a named sequence of runs of a suite.
type Experiment struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	SuiteID     string    `json:"suite_id"`
	State       string    `json:"state" enum:"active,archived"`
	Baseline    string    `json:"baseline_eval_id" doc:"empty: none is pinned"`
	BaseTarget  string    `json:"baseline_target,omitempty" doc:"target of the baseline for targets that have no namesake there"`
	Shared      bool      `json:"shared"`
	User        string    `json:"user_id"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

// ExperimentDetails is an experiment with its results.
type ExperimentDetails struct {
	Experiment
	BaselineLine
	Runs  int         `json:"runs"`
	Best  *BestConfig `json:"best_config" doc:"the configuration with the highest lower bound of those that may be the best; null until a run has a score"`
	Among *BestAmong  `json:"best_among,omitempty" doc:"all configurations that may be the best, if there are several: best_config is one of them"`
}

// BaselineLine is the result of a baseline.
type BaselineLine struct {
	BaselineScore    *float64        `json:"baseline_score" doc:"avg_score of the baseline; null without one"`
	BaselineInterval *stats.Interval `json:"baseline_interval" doc:"baseline_score with its interval and n"`
}

// baselineLine is the line of a run; empty for nil.
func baselineLine(run *EvalRun) (out BaselineLine) {
	if run != nil {
		out = BaselineLine{run.AvgScore, run.AvgInterval}
	}
	return out
}

// ExperimentIn names an experiment in a path.
type ExperimentIn struct {
	ID string `path:"id" maxLength:"100"`
}

// AddExperiments adds the routes of experiments.
func AddExperiments(s *api.Server) {
	one := map[string]api.Kind{"id": api.KindExperiment}
	op := api.Operations("experiments", "/api/experiments")
	api.Answer(s, op("list-experiments", http.MethodGet, "", "List experiments"), api.Access{}, api.With(s, experiments))
	api.Answer(s, api.Returning(http.StatusCreated, op("create-experiment", http.MethodPost, "", "Create an experiment")),
		api.Access{Role: account.Member}, api.With(s, createExperiment))
	api.Answer(s, op("get-experiment", http.MethodGet, "/{id}", "Get an experiment with its best configuration"),
		api.Access{Objects: one}, api.With(s, experimentDetails))
	api.Answer(s, op("update-experiment", http.MethodPut, "/{id}", "Update an experiment"),
		api.Access{Objects: one}, api.With(s, updateExperiment))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-experiment", http.MethodDelete, "/{id}",
		"Delete an experiment; its runs stay")),
		api.Access{Objects: one}, func(ctx context.Context, by *account.Principal, in *ExperimentIn) (*struct{}, error) {
			return nil, s.Config.Store.Change(ctx, "delete experiment", func(q *rows.Queries) error {
				_, err := q.DeleteExperiment(ctx,
					rows.DeleteExperimentParams{ID: in.ID, Deleted: s.Config.Now().UnixMilli()})
				return errors.Join(err, s.Deletes(ctx, by, api.KindExperiment, in.ID).Do(q))
			})
		})
	api.Answer(s, op("pin-baseline", http.MethodPut, "/{id}/baseline", "Pin a run as the baseline"),
		api.Access{Objects: one}, api.With(s, pinBaseline))
	api.Answer(s, op("get-timeline", http.MethodGet, "/{id}/timeline",
		"Runs in the order of time, with differences from the baseline"),
		api.Access{Objects: one}, api.With(s, timeline))
	api.Add(s, api.Returning(http.StatusAccepted, op("run-best", http.MethodPost, "/{id}/run-best",
		"Run the best configuration anew, as a job: no stored answer is used")),
		api.Access{Role: account.Member, Scope: account.ScopeRun, Objects: one}, api.With(s, runBest))
}

func experimentView(e *rows.Experiment) Experiment {
	return Experiment{
		ID: e.ID, Name: e.Name, Description: string(e.Description), SuiteID: e.SuiteID, State: e.State,
		Baseline: e.Baseline, BaseTarget: e.BaselineTarget, Shared: e.Shared, User: e.UserID,
		Created: assets.Milli(e.Created), Updated: assets.Milli(e.Updated),
	}
}

func experiments(ctx context.Context, s *api.Server, by *account.Principal,
	in *api.PageIn,
) (*api.Page[Experiment], error) {
	m, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().Experiments(ctx,
		rows.ExperimentsParams{
			UserID: by.User, Everything: by.Role == account.Admin, Before: m.At, BeforeID: m.ID,
			AtMost: int64(in.Limit) + 1,
		})
	if err != nil {
		return nil, fmt.Errorf("list experiments: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(e *rows.Experiment) api.PageMark { return api.PageMark{At: e.Created, ID: e.ID} },
		func(e *rows.Experiment) (*Experiment, error) {
			one := experimentView(e)
			if one.Baseline != "" && s.May(ctx, by, api.KindRun, one.Baseline, false) != nil {
				one.Baseline, one.BaseTarget = "", ""
			}
			return &one, nil
		})
}

// ExperimentFields are the fields of an experiment that a user sets.
type ExperimentFields struct {
	Name        string `json:"name" minLength:"1" maxLength:"256"`
	Description string `json:"description,omitempty" maxLength:"5000"`
	Shared      bool   `json:"shared,omitempty" doc:"every user of the server may read it"`
}

func createExperiment(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Body struct {
		ExperimentFields
		SuiteID  string `json:"suite_id" minLength:"1" maxLength:"100"`
		Baseline string `json:"baseline_eval_id,omitempty" maxLength:"100" doc:"a run of the suite"`
	}
},
) (*ExperimentDetails, error) {
	if err := s.May(ctx, by, api.KindSuite, in.Body.SuiteID, false); err != nil {
		return nil, err
	}
	if in.Body.Baseline != "" {
		if err := baselineFits(ctx, s, by, in.Body.Baseline, in.Body.SuiteID, ""); err != nil {
			return nil, err
		}
	}
	id, err := store.NewID(nil, "exp")
	if err != nil {
		return nil, err
	}
	err = s.Config.Store.Change(ctx, "create experiment", func(q *rows.Queries) error {
		if err := s.Config.Quota.RoomForExperiment(ctx, q, by.User); err != nil {
			return err
		}
		return q.AddExperiment(ctx, rows.AddExperimentParams{
			ID: id, UserID: by.User, Name: in.Body.Name, Description: []byte(in.Body.Description),
			SuiteID: in.Body.SuiteID, Baseline: in.Body.Baseline,
			State: "active", Shared: in.Body.Shared, Created: s.Config.Now().UnixMilli(),
		})
	})
	if err == nil {
		err = s.SharesNew(ctx, by, api.KindExperiment, id, in.Body.Shared)
	}
	if err != nil {
		return nil, err
	}
	return experimentDetails(ctx, s, by, &ExperimentIn{ID: id})
}

func updateExperiment(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	ExperimentIn
	Body struct {
		ExperimentFields
		State string `json:"state,omitempty" enum:"active,archived" default:"active"`
	}
},
) (*ExperimentDetails, error) {
	err := s.Config.Store.Change(ctx, "update experiment", func(q *rows.Queries) error {
		_, err := q.ChangeExperiment(ctx, rows.ChangeExperimentParams{
			ID: in.ID, Name: in.Body.Name, Description: []byte(in.Body.Description), State: in.Body.State,
			Shared: in.Body.Shared, Updated: s.Config.Now().UnixMilli(),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return experimentDetails(ctx, s, by, &in.ExperimentIn)
}

func pinBaseline(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	ExperimentIn
	Body struct {
		Run    string `json:"eval_id" maxLength:"100" doc:"empty: no baseline any more"`
		Target string `json:"target,omitempty" maxLength:"500" doc:"with which targets are compared that have no namesake in the run"`
	}
},
) (*ExperimentDetails, error) {
	e, err := s.Config.Store.Rows().Experiment(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	if in.Body.Run != "" {
		if err := baselineFits(ctx, s, by, in.Body.Run, e.SuiteID, in.Body.Target); err != nil {
			return nil, err
		}
	}
	err = s.Config.Store.Change(ctx, "pin baseline", func(q *rows.Queries) error {
		_, err := q.PinBaseline(ctx,
			rows.PinBaselineParams{
				ID: in.ID, Baseline: in.Body.Run, BaselineTarget: in.Body.Target,
				Updated: s.Config.Now().UnixMilli(),
			})
		return err
	})
	if err != nil {
		return nil, err
	}
	return experimentDetails(ctx, s, by, &in.ExperimentIn)
}

// baselineFits refuses a baseline that by may not read, or of another suite.
func baselineFits(ctx context.Context, s *api.Server, by *account.Principal, run, suite, target string) error {
	if err := s.May(ctx, by, api.KindRun, run, false); err != nil {
		return err
	}
	e, err := s.Config.Store.Rows().RunEntry(ctx, run)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if e.SuiteID != suite {
		return &callvet.FieldError{Field: "eval_id", Text: fmt.Sprintf("{eval_id} %s is a run of another suite", run)}
	}
	if target == "" {
		return nil
	}
	c, err := runs.Configuration(ctx, s.Config.App, run)
	if err != nil {
		return err
	}
	for i := range c.Targets {
		if c.Targets[i].Name == target {
			return nil
		}
	}
	return &callvet.FieldError{Field: "target", Text: fmt.Sprintf("{target} %s: the run has no such target", target)}
}

func experimentDetails(ctx context.Context, s *api.Server, by *account.Principal,
	in *ExperimentIn,
) (*ExperimentDetails, error) {
	e, err := readExperiment(ctx, s, by, in.ID)
	if err != nil {
		return nil, err
	}
	runs, err := runsOf(ctx, s, by, &e)
	if err != nil {
		return nil, err
	}
	out := ExperimentDetails{Experiment: experimentView(&e), Runs: len(runs)}
	if e.Baseline != "" {
		base, err := lineOf(ctx, s, e.Baseline)
		if err != nil {
			return nil, err
		}
		out.BaselineLine = baselineLine(base)
	}
	best, err := bestOf(ctx, s, runs)
	if err != nil {
		return nil, err
	}
	out.Best, out.Among = best.verdict()
	return &out, nil
}

// readExperiment returns an experiment. It drops a baseline that its owner or by may not read, such as
// a run that is no longer shared.
func readExperiment(ctx context.Context, s *api.Server, by *account.Principal, id string) (rows.Experiment, error) {
	e, err := s.Config.Store.Rows().Experiment(ctx, id)
	if err != nil {
		return e, fmt.Errorf("read experiment: %w", err)
	}
	if e.Baseline == "" || s.Config.Accounts == nil {
		return e, nil
	}
	owner, err := s.Principal(ctx, e.UserID)
	if errors.Is(err, callvet.ErrNotFound) { // the owner was removed: his objects remain
		owner, err = &account.Principal{User: e.UserID, Role: account.Member}, nil
	}
	if err == nil {
		err = errors.Join(s.May(ctx, owner, api.KindRun, e.Baseline, false),
			s.May(ctx, by, api.KindRun, e.Baseline, false))
	}
	if errors.Is(err, callvet.ErrNotFound) {
		e.Baseline, e.BaselineTarget, err = "", "", nil
	}
	return e, err
}

// lineOf returns a run as in the list of runs; nil if it was deleted.
func lineOf(ctx context.Context, s *api.Server, run string) (*EvalRun, error) {
	e, err := s.Config.Store.Rows().RunEntry(ctx, run)
	if api.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	line, err := line(ctx, s, (*rows.RunEntry)(&e))
	if api.IsMissing(err) {
		return nil, nil
	}
	return line, err
}

// trial is a run of an experiment with its request.
type trial struct {
	line   *EvalRun
	config *runs.RunConfiguration
}

// runsOf returns the runs of an experiment that by may read, the oldest first: a shared experiment
// does not share its runs.
func runsOf(ctx context.Context, s *api.Server, by *account.Principal, e *rows.Experiment) ([]trial, error) {
	list, err := s.Config.Store.Rows().RunsOfExperiment(ctx, e.ID)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	list = slices.DeleteFunc(list,
		func(r rows.RunEntry) bool { return !by.MayRead(account.Owned{User: r.UserID, Shared: r.Shared}) })
	return trials(ctx, s, list)
}

// trials returns the runs of a list that still exist, in its order.
func trials(ctx context.Context, s *api.Server, list []rows.RunEntry) ([]trial, error) {
	var out []trial
	for i := range list {
		line, err := line(ctx, s, &list[i])
		if api.IsMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		config, err := runs.Configuration(ctx, s.Config.App, line.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, trial{line, config})
	}
	return out, nil
}

// result is the score of a configuration in a run.
type result struct {
	plan.ExperimentResult
	spec    app.TargetSpec
	pass    *stats.Interval // nil: none
	created time.Time
}

// scoresOf returns the scores of runs that are over, in their order.
func scoresOf(runs []trial) []result {
	var out []result
	for _, r := range runs {
		for i := range r.line.Targets {
			t := &r.line.Targets[i]
			if t.Score == nil || i >= len(r.config.Targets) || r.line.Status != "done" {
				continue
			}
			c := &r.config.Targets[i]
			one := result{spec: c.Spec, created: r.line.Created, ExperimentResult: plan.ExperimentResult{
				Run: r.line.ID, Target: t.Name, Config: c.Hash, Suite: r.config.SuiteHash, Score: t.Score.Interval,
				Fresh: r.config.Fresh, Whole: r.config.Whole && r.line.LeftOut == 0, Floor: c.Floor,
			}}
			if t.Pass != nil {
				one.pass = &t.Pass.Interval
			}
			out = append(out, one)
		}
	}
	return out
}
