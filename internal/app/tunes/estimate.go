// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"context"
	"errors"
	"slices"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/tune"
)

// SearchEstimate estimates the requests of a search. Worse candidates run fewer cases, so the
// largest number is more than the expected one.
type SearchEstimate struct {
	Format  string      `json:"format"` // callvet.tune_estimate
	Version int         `json:"version"`
	Suite   string      `json:"suite_name"`
	Cases   Cases       `json:"cases"`
	Models  []ModelPlan `json:"models"`
	// Attempts is the largest number of attempts of the search, Questions that of questions to the
	// model that writes prompts, and Confirm that of attempts of the confirmations.
	Attempts  int `json:"attempts_most"`
	Questions int `json:"questions_most"`
	Confirm   int `json:"confirm_attempts"`
	// Calls is their sum.
	Calls int `json:"calls_most"`
	// CostUSD and Seconds are upper bounds, without the questions. They are unknown without an
	// earlier run.
	CostUSD runs.Estimate `json:"cost_usd_most"`
	Seconds runs.Estimate `json:"seconds_most"`
	// Exceeds reports that the limits of the request end the search earlier.
	Exceeds bool `json:"exceeds_limits"`
	// Unkeyed are models without a key.
	Unkeyed []runs.Unkeyed `json:"unkeyed,omitempty"`
}

func (e *SearchEstimate) lacks(s *app.TargetSpec, variable string) {
	one := runs.Unkeyed{Target: s.Target, Variable: variable}
	if !slices.Contains(e.Unkeyed, one) {
		e.Unkeyed = append(e.Unkeyed, one)
	}
}

// ModelPlan is the plan for a model.
type ModelPlan struct {
	Model string   `json:"model"`
	Names []string `json:"names,omitempty"`
	// Combinations counts those of the space, Candidates those that send different requests, with
	// the base, and Tried how many of these the mode tries at most.
	Combinations int          `json:"combinations"`
	Candidates   int          `json:"candidates"`
	Tried        int          `json:"tried"`
	Matrix       *tune.Matrix `json:"matrix,omitempty"`
}

// Preview does what Start does without storing a search. It sends no requests. past are the runs
// for estimates of costs; nil: all.
func Preview(ctx context.Context, a *app.App, req Request, past []string,
	events app.Events,
) (_ *SearchEstimate, err error) {
	out := &SearchEstimate{Format: "callvet.tune_estimate", Version: 1, Models: []ModelPlan{}}
	s, err := open(ctx, a, &req, out.lacks, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.drop(ctx)) }()
	out.Suite, out.Cases = s.Suite, s.Cases
	each := 0 // attempts of a candidate at all training cases
	for _, p := range s.places {
		each += s.plan.Manifest.RepeatsOf(p.at)
	}
	for _, m := range s.models {
		plan := ModelPlan{Model: m.Model, Names: m.Names, Matrix: m.Matrix}
		var rounds int // candidates, each as often as it runs all cases
		if s.Kind == Params {
			plan.Combinations, plan.Candidates = len(m.Matrix.Rows), len(m.specs)
			plan.Tried = tune.Tried(tune.Mode(req.Mode), len(m.specs)-1, req.Trials) + 1
			rounds = plan.Tried
		} else {
			out.Questions += m.evolution.MostQuestions()
			plan.Tried, rounds = m.evolution.MostCandidates()
			plan.Candidates = plan.Tried
		}
		out.Attempts += rounds * each
		out.Confirm += 2 * s.confirmAttempts()
		out.Models = append(out.Models, plan)
	}
	if s.Cases.Few != "" {
		out.Confirm = 0
	}
	out.Calls = out.Attempts + out.Questions + out.Confirm
	run := req.Run
	run.MaxCalls, run.MaxCostUSD = 0, 0
	var of *runs.DryRun
	if past == nil {
		of, err = runs.Preview(ctx, a, run, nil)
	} else {
		of, err = runs.PreviewFrom(ctx, a, run, past, nil)
	}
	if err != nil {
		return nil, err
	}
	scale := float64(out.Attempts+out.Confirm) / float64(max(1, of.Attempts))
	out.CostUSD, out.Seconds = scaled(of.CostUSD, scale), scaled(of.Seconds, scale)
	set := &req.Run.Settings
	out.Exceeds = set.MaxCalls > 0 && out.Calls > set.MaxCalls ||
		set.MaxCostUSD > 0 && out.CostUSD.Value != nil && *out.CostUSD.Value > set.MaxCostUSD ||
		req.MaxSeconds > 0 && out.Seconds.Value != nil && *out.Seconds.Value > req.MaxSeconds
	return out, nil
}

func scaled(e runs.Estimate, by float64) runs.Estimate {
	if e.Value != nil {
		v := *e.Value * by
		e.Value = &v
	}
	return e
}
