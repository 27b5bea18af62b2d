// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
)

// RunChanges are how the pass rates of a run changed.
type RunChanges struct {
	Run      string      `json:"eval_id"`
	Items    []RunChange `json:"items" nullable:"false"`
	Warnings []string    `json:"warnings,omitempty" doc:"other differences from the other runs: suite, tasks, prompts, tools, parameters, rules"`
}

// RunChange is how the pass rate of one target changed.
type RunChange struct {
	Target     string    `json:"target"`
	Floor      bool      `json:"floor,omitempty" doc:"a target that chooses without a model"`
	Base       string    `json:"base_eval_id,omitempty" doc:"the run with which it is compared; absent if there is none"`
	BaseName   string    `json:"base_name,omitempty" doc:"the name that its owner gave it"`
	BaseAt     time.Time `json:"base_timestamp,omitzero"`
	BaseTarget string    `json:"base_target,omitempty"`
	Baseline   bool      `json:"baseline,omitempty" doc:"that run is the baseline of the experiment; otherwise it is the newest one before of the same suite and model"`
	Claim
}

// compare adds the comparison with a run to the changes of its targets.
func (c *RunChanges) compare(with *panel.Comparison, now, base *EvalRun, baseline bool, claims *family) {
	for i := range with.Targets {
		of := &with.Targets[i]
		at := slices.IndexFunc(c.Items, func(t RunChange) bool { return t.Target == of.Candidate })
		if at < 0 {
			continue
		}
		t := &c.Items[at]
		t.Base, t.BaseName, t.BaseAt, t.BaseTarget, t.Baseline = base.ID, base.Name, base.Created, of.Baseline, baseline
		claims.add(&t.Claim, &of.Overall)
	}
	for _, w := range differs(with, now, base) {
		if !slices.Contains(c.Warnings, w) {
			c.Warnings = append(c.Warnings, w)
		}
	}
}

// runChange compares a run with the baseline of its experiment. Without a baseline it compares each
// target with the newest earlier run of the same suite and model. A run that is not over has no
// change yet.
func runChange(ctx context.Context, s *api.Server, by *account.Principal, in *api.RunIn) (*RunChanges, error) {
	e, err := s.Config.Store.Rows().RunEntry(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	now, err := line(ctx, s, (*rows.RunEntry)(&e))
	if err != nil {
		return nil, err
	}
	out := &RunChanges{Run: now.ID, Items: []RunChange{}}
	if now.Finished.IsZero() {
		return out, nil
	}
	for i := range now.Targets {
		out.Items = append(out.Items, RunChange{Target: now.Targets[i].Name, Floor: now.Targets[i].Floor})
	}
	var claims family
	done, err := changeOfBaseline(ctx, s, by, now, out, &claims)
	if err == nil && !done {
		err = changeOfPrevious(ctx, s, by, now, out, &claims)
	}
	claims.settle()
	return out, err
}

// changeOfBaseline compares a run with the baseline of its experiment; done is false if there is none.
func changeOfBaseline(ctx context.Context, s *api.Server, by *account.Principal, now *EvalRun, out *RunChanges,
	claims *family,
) (done bool, err error) {
	if now.Experiment == "" || s.May(ctx, by, api.KindExperiment, now.Experiment, false) != nil {
		return false, nil // the reader of a run may not be allowed to read its experiment
	}
	e, err := readExperiment(ctx, s, by, now.Experiment)
	if err != nil || e.Baseline == "" || e.Baseline == now.ID {
		return false, err
	}
	base, err := lineOf(ctx, s, e.Baseline)
	if err != nil || base == nil {
		return false, err
	}
	with, err := comparedWithBaseline(ctx, s, &e, now.ID)
	if err != nil {
		return false, err
	}
	out.compare(with, now, base, true, claims)
	return true, nil
}

// changeOfPrevious compares each target of a run with the newest earlier run of the same model.
func changeOfPrevious(ctx context.Context, s *api.Server, by *account.Principal, now *EvalRun, out *RunChanges,
	claims *family,
) error {
	config, err := runs.Configuration(ctx, s.Config.App, now.ID)
	if err != nil {
		return err
	}
	open := slices.Clone(config.Targets)
	q := rows.RunEntriesOfParams{
		UserID: by.User, Everything: by.Role == account.Admin, SuiteID: now.SuiteID,
		Before: math.MaxInt64, AtMost: maxRanked,
	}
	if q.SuiteID == "" {
		q.SuiteName = now.SuiteName
	}
	for earlier, tried := false, 0; ; {
		list, err := s.Config.Store.Rows().RunEntriesOf(ctx, q)
		if err != nil {
			return fmt.Errorf("list runs: %w", err)
		}
		for i := range list {
			if list[i].RunID == now.ID {
				earlier = true
				continue
			}
			if !earlier {
				continue
			}
			if tried++; tried > maxRanked {
				return nil
			}
			if open, err = changeSince(ctx, s, now, &list[i], open, out, claims); err != nil || len(open) == 0 {
				return err
			}
		}
		if len(list) < maxRanked {
			return nil
		}
		q.Before = list[len(list)-1].Num
	}
}

// changeSince compares the targets in open with those of an earlier run of the same models. It
// returns the targets without a counterpart.
func changeSince(ctx context.Context, s *api.Server, now *EvalRun, earlier *rows.RunEntriesOfRow,
	open []runs.Configured,
	out *RunChanges, claims *family,
) ([]runs.Configured, error) {
	was, err := runs.Configuration(ctx, s.Config.App, earlier.RunID)
	if err != nil {
		if api.IsMissing(err) { // it was deleted meanwhile
			err = nil
		}
		return open, err
	}
	pairs := sameModels(was.Targets, open)
	if len(pairs) == 0 {
		return open, nil
	}
	base, err := line(ctx, s, runEntryOf(earlier))
	if err != nil || base.Status != "done" || base.Problem != "" {
		return open, err // an earlier run may be readable
	}
	with, err := compared(ctx, s, now.ID, traces.DiffRequest{Base: app.Side{Run: base.ID}, Pairs: pairs})
	if err != nil {
		return open, err
	}
	out.compare(with, now, base, false, claims)
	return slices.DeleteFunc(open, func(c runs.Configured) bool {
		return slices.ContainsFunc(pairs, func(p panel.Pair) bool { return p.Candidate == c.Name })
	}), nil
}

// sameModels pairs the targets of two runs that ask the same model: first those with the same
// configuration, then those with the same name, then the rest in order.
func sameModels(was, now []runs.Configured) (pairs []panel.Pair) {
	took := make([]bool, len(was))
	paired := make([]bool, len(now))
	for _, alike := range []func(a, b *runs.Configured) bool{
		func(a, b *runs.Configured) bool { return a.Hash == b.Hash },
		func(a, b *runs.Configured) bool { return a.Name == b.Name },
		func(*runs.Configured, *runs.Configured) bool { return true },
	} {
		for i := range now {
			for k := range was {
				a, b := &was[k], &now[i]
				if paired[i] || took[k] || a.Spec.Target != b.Spec.Target || a.Spec.BaseURL != b.Spec.BaseURL ||
					!alike(a, b) {
					continue
				}
				took[k], paired[i] = true, true
				pairs = append(pairs, panel.Pair{Baseline: a.Name, Candidate: b.Name})
			}
		}
	}
	return pairs
}
