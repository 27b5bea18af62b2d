// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/stats"
)

// BestConfig is a configuration that is, or may be, the best of an experiment.
type BestConfig struct {
	Run       string          `json:"eval_id" doc:"the run that its score is of"`
	Target    string          `json:"target"`
	Config    app.TargetSpec  `json:"config"`
	Hash      string          `json:"config_hash"`
	Suite     string          `json:"suite_hash" doc:"the suite that the score is of"`
	Score     stats.Interval  `json:"score"`
	Pass      *stats.Interval `json:"pass_rate" doc:"of the same run; null where nothing is judged"`
	Confirmed bool            `json:"confirmed" doc:"the score is of a fresh run that was made after the configuration had been chosen"`
	Rank      int             `json:"rank" doc:"1 and the number of configurations that are significantly better: paired by case, after Holm over all pairs"`
	Worst     int             `json:"worst_rank" doc:"the number of configurations less those that are significantly worse"`
	Of        int             `json:"of" doc:"how many configurations were compared"`
	Metric    string          `json:"metric" doc:"by which they are ranked: that of the first hard gate of the suite, else pass_rate"`
	Note      string          `json:"note"`
}

// BestAmong are several configurations that may be the best.
type BestAmong struct {
	Items []BestConfig `json:"items"`
	Note  string       `json:"note"`
}

// best is the list of configurations that may be the best of an experiment, the highest lower bound
// first; empty if no run has a score.
type best []BestConfig

// verdict returns the configuration with the highest lower bound, or all candidates if several may
// be the best.
func (b best) verdict() (*BestConfig, *BestAmong) {
	switch len(b) {
	case 0:
		return nil, nil
	case 1:
		return &b[0], nil
	}
	const note = "%d of %d configurations may be the best by %s, and none of them is significantly better than the others"
	return &b[0], &BestAmong{Items: b, Note: fmt.Sprintf(note, len(b), b[0].Of, b[0].Metric)}
}

// bestOf ranks the configurations of an experiment by the metric that its suite gates on.
func bestOf(ctx context.Context, s *api.Server, runs []trial) (best, error) {
	var of []plan.ExperimentResult
	specs := map[string]app.TargetSpec{}
	for _, r := range scoresOf(runs) {
		specs[r.Config] = r.spec
		of = append(of, r.ExperimentResult)
	}
	list := plan.ExperimentCandidates(of)
	if len(list) == 0 {
		return nil, nil
	}
	contenders := make([]results.Contender, len(list))
	for i := range list {
		contenders[i] = results.Contender{Run: list[i].Run, Target: list[i].Target}
	}
	ranking, err := ranks(ctx, s, contenders)
	if err != nil {
		return nil, err
	}
	var out best
	for _, i := range ranking.First() {
		c, r := &list[i], ranking.Ranks[i]
		out = append(out, BestConfig{
			Run: c.Run, Target: c.Target, Config: specs[c.Config], Hash: c.Config, Suite: c.Suite, Score: c.Score,
			Pass: passRateOf(runs, c), Confirmed: c.Confirmed,
			Rank: r.Best, Worst: r.Worst, Of: len(list), Metric: ranking.Metric, Note: noteOf(c, len(list)),
		})
	}
	slices.SortStableFunc(out, func(a, b BestConfig) int {
		return cmp.Or(cmp.Compare(b.Score.Lower, a.Score.Lower), cmp.Compare(b.Score.Point, a.Score.Point))
	})
	return out, nil
}

// passRateOf is the pass rate of a candidate in the run of its score.
func passRateOf(runs []trial, c *plan.ExperimentCandidate) *stats.Interval {
	for i := range runs {
		if runs[i].line.ID != c.Run {
			continue
		}
		for k := range runs[i].line.Targets {
			if t := &runs[i].line.Targets[k]; t.Name == c.Target && t.Pass != nil {
				return &t.Pass.Interval
			}
		}
	}
	return nil
}

// noteOf qualifies the figures of a candidate for the number of configurations that are compared.
func noteOf(c *plan.ExperimentCandidate, of int) string {
	switch {
	case c.Confirmed:
		return "a fresh run confirmed it"
	case of == 1:
		return "the only configuration so far; not confirmed by a fresh run"
	}
	return "not confirmed by a fresh run: what was chosen as the best of several looks better than it is"
}

// runBest runs the best configuration of an experiment once more, on the current suite. It uses no
// stored answers, so that the run can confirm the choice.
func runBest(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	ExperimentIn
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body *struct {
		Repeats    int     `json:"repeats,omitempty" minimum:"0" maximum:"100" doc:"0: as many as the run that was the best"`
		MaxCostUSD float64 `json:"max_cost_usd,omitempty" minimum:"0"`
		Name       string  `json:"name,omitempty" doc:"finds the run later"`
	}
},
) (*submittedOutput, error) {
	e, err := s.Config.Store.Rows().Experiment(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	trials, err := runsOf(ctx, s, by, &e)
	if err != nil {
		return nil, err
	}
	chosen, err := bestOf(ctx, s, trials)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		return nil,
			&callvet.Hinted{Err: fmt.Errorf(
				"run the best configuration: %w: no run of the experiment has a score of all cases yet",
				callvet.ErrConflict), Hint: `POST /api/tool-eval with "experiment_id"`}
	}
	ask := &app.RunRequest{NoCache: true, Targets: []app.TargetSpec{chosen[0].Config}}
	for _, r := range trials {
		if r.line.ID == chosen[0].Run {
			ask.Repeats = r.config.Repeats
		}
	}
	if in.Body != nil {
		ask.Name, ask.Settings.MaxCostUSD = in.Body.Name, in.Body.MaxCostUSD
		ask.Repeats = cmp.Or(in.Body.Repeats, ask.Repeats)
	}
	wrote, err := s.Owner(ctx, api.KindRun, chosen[0].Run)
	if err != nil {
		return nil, fmt.Errorf("look up run: %w", err)
	}
	if err := ownTargets(by, wrote.User, ask.Targets, nil); err != nil {
		return nil, err
	}
	out, err := submitRun(ctx, s, by, &submission{suite: e.SuiteID, experiment: e.ID, ask: ask, key: in.Key})
	if err != nil {
		return nil, err
	}
	now, err := runs.Configuration(ctx, s.Config.App, out.Body.ResultRef)
	if err != nil {
		return nil, err
	}
	if now.SuiteHash != chosen[0].Suite {
		out.Body.Warnings = append(out.Body.Warnings,
			callvet.Notice{
				Code: "suite-changed",
				Text: "the suite has changed since the best configuration was chosen: this run cannot confirm it, and begins anew on the suite as it is",
			})
	}
	return out, nil
}
