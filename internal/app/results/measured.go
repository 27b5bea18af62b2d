// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// Attempts yields the attempts of the run as traces, case by case, with the verdicts of judges.
func (r *Run) Attempts(ctx context.Context) iter.Seq2[trace.Attempt, error] {
	return r.traced(ctx, func(*trace.Attempt, *callvet.Case) {})
}

// Identified yields the attempts with the questions of their cases.
func (r *Run) Identified(ctx context.Context) iter.Seq2[trace.Attempt, error] {
	asks, of := "", (*callvet.Case)(nil)
	return r.traced(ctx, func(at *trace.Attempt, c *callvet.Case) {
		if c != of {
			of, asks = c, c.Identity()
		}
		at.Asks = asks
	})
}

// traced calls do with each attempt before it yields it.
func (r *Run) traced(ctx context.Context, do func(*trace.Attempt, *callvet.Case)) iter.Seq2[trace.Attempt, error] {
	var of *callvet.Case
	all := func() iter.Seq2[report.Row, error] {
		if r.Among != nil {
			return r.among(ctx)
		}
		return r.Planned(r.Rows(ctx, store.Filter{Order: store.ByCase}), store.ByCase)
	}
	rows := func(yield func(measure.Row, error) bool) {
		for row, err := range all() {
			if err == nil && r.Without[row.Case.ID] {
				continue
			}
			of = row.Case
			if !yield(measure.Row{Case: row.Case, Cell: row.Cell}, err) {
				return
			}
		}
	}
	return func(yield func(trace.Attempt, error) bool) {
		opinions, err := r.ReadOpinions(ctx)
		if err != nil {
			yield(trace.Attempt{}, err)
			return
		}
		for at, err := range measure.Cells(rows, r.Manifest.Targets, &r.Suite.Defaults.Scoring) {
			if err == nil {
				opinions.judged(&at)
				do(&at, of)
			}
			if !yield(at, err) {
				return
			}
		}
	}
}

// How a run is summed up: few tasks are open at once, since its attempts come task by task, and one worker sums them
// while the next ones are read, which takes longer.
const (
	openTasks = 1 << 10
	runJobs   = 1
)

// Equipped yields the chosen cases with their own tools, perhaps also others, until one cannot be
// read.
func (r *Run) Equipped(ctx context.Context, failed *error) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		for i := range r.Cases() {
			at := i
			if r.Manifest.Cases != nil {
				at = r.Manifest.Cases[i]
			}
			may, err := r.CaseLines.Equipped(at)
			if err == nil && !may {
				continue
			}
			var c *callvet.Case
			if err == nil {
				c, err = r.CaseLines.Case(at)
			}
			if err != nil && !Momentary(ctx, err) { // its attempts are lost, and are reported as lost
				continue
			}
			if err != nil {
				*failed = err
				return
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Measure sums up the run. side, unless nil, collects the data for a comparison.
func (r *Run) Measure(ctx context.Context, cfg steps.Config, side *measure.Side) (*panel.Panels, *trace.Log, error) {
	var err error
	tools := measure.Catalogue(r.Suite.Tools, r.Equipped(ctx, &err))
	if err != nil {
		return nil, nil, err
	}
	w, err := measure.OpenWatch(tools, r.Manifest.rules(), nil, nil)
	if err != nil {
		return nil, nil, err
	}
	for i := range r.Manifest.Targets {
		cfg.Targets = append(cfg.Targets, r.Manifest.Targets[i].Name)
	}
	cfg.Window = openTasks
	attempts, byRules := r.Attempts(ctx), map[int]int{}
	if side != nil {
		attempts = r.Identified(ctx)
	}
	var used resultUse
	var between betweenTargets
	attempts = whileRead(tallyRules(attempts, byRules), used.attempt, between.attempt)
	add := Summing{
		Scoring: callvet.Scoring{ToolNames: r.Suite.Defaults.Scoring.ToolNames}, Watch: w, Tools: tools, Steps: cfg,
		Side: side, attempts: side != nil, Jobs: runJobs,
	}
	// lint has reported problems of tools
	res, _, _, err := add.Sum(ctx, []measure.Source{{Name: "run " + r.Stored.ID, Attempts: attempts}})
	if err != nil {
		return nil, nil, fmt.Errorf("sum up run %s: %w", r.Stored.ID, err)
	}
	lost, err := r.misplaced(ctx)
	if err != nil {
		return nil, nil, err
	}
	res.Sheet.Lose(res.Log.Bad + lost.Records())
	p := res.Sheet.Panels()
	p.Lost = lost
	steps.AddIncidents(p)
	used.fill(p)
	between.fill(p)
	p.Warnings = append(append(p.Warnings, r.Descriptive()...), w.Warnings()...)
	if note := rulesNote(byRules); note != "" {
		p.Warnings = append(p.Warnings, note)
	}
	least, most := r.Manifest.RepeatRange(r.Cases())
	p.Repeat(most)
	p.Uneven = least < most
	return p, &res.Log, r.judgedParts(ctx, p)
}

// tallyRules counts attempts by the version of the rules of their verdicts as they are read.
func tallyRules(list iter.Seq2[trace.Attempt, error], byRules map[int]int) iter.Seq2[trace.Attempt, error] {
	return func(yield func(trace.Attempt, error) bool) {
		for at, err := range list {
			if at.Scored != nil {
				byRules[at.Scored.Rules]++
			}
			if !yield(at, err) {
				return
			}
		}
	}
}

// Panels sums up the run by slices; nil means the slices of the run's settings.
func (r *Run) Panels(ctx context.Context, sliceBy []string) (*panel.Panels, error) {
	if sliceBy == nil {
		sliceBy = r.Manifest.Slices
	}
	p, _, err := r.Measure(ctx, steps.Config{SliceBy: sliceBy}, nil)
	return p, err
}

// GatePanels sums up the run by slices of every size, because gates name slices. A confidence of 0
// is the default.
func (r *Run) GatePanels(ctx context.Context, sliceBy []string, confidence float64,
	calibrations []steps.Calibrated,
) (*panel.Panels, error) {
	p, _, err := r.Measure(ctx,
		steps.Config{
			SliceBy: sliceBy, MinTagTasks: 1, MaxValues: 1 << 16, Calibrations: calibrations, Confidence: confidence,
		}, nil)
	return p, err
}

// side returns a side of a comparison for the run, without attempts yet.
func (r *Run) side(cfg measure.SideConfig) (*measure.Side, error) {
	cfg.Metrics = append(slices.Clip(cfg.Metrics), r.selecting(cfg.Metrics)...)
	side, err := measure.NewSide(r.Stored.ID, cfg)
	if err != nil {
		return nil, err
	}
	for i := range r.Manifest.Targets {
		side.Targets(r.Manifest.Targets[i].Name)
	}
	return side, nil
}

// Ledger collects the run's data for a comparison with another run or a trace file.
func (r *Run) Ledger(ctx context.Context, cfg measure.SideConfig) (*panel.Ledger, error) {
	side, err := r.side(cfg)
	if err != nil {
		return nil, err
	}
	if side.NeedsSteps() {
		if _, _, err := r.Measure(ctx, steps.Config{SliceBy: []string{}}, side); err != nil {
			return nil, err
		}
	} else {
		for at, err := range r.Identified(ctx) {
			if err != nil {
				return nil, err
			}
			t := at.Task()
			side.Record(&t)
		}
	}
	led := side.Ledger(r.Stored.ID)
	if r.Among != nil { // a part of the run, which is not compared
		return led, nil
	}
	led.Name = r.Stored.Name
	lost, err := r.misplaced(ctx)
	if err != nil {
		return nil, err
	}
	led.Lose(lost)
	if len(r.Manifest.Specs) == len(r.Manifest.Targets) {
		led.Files(r.Manifest.Catalogues)
	}
	prompts, settings := make([]string, len(r.Manifest.Targets)), make([]panel.Settings, len(r.Manifest.Targets))
	for i := range r.Manifest.Targets {
		prompts[i] = run.System(r.Suite.SystemPrompt, &r.Manifest.Targets[i], "")
		if settings[i], err = ParametersOf(&r.Manifest.Targets[i]); err != nil {
			return nil, err
		}
	}
	led.Prompts(prompts)
	led.Settings(settings)
	led.Tools(r.Manifest.ToolsHash)
	led.Fixed(r.fixed())
	led.Rules(r.Manifest.RulesVersion())
	return led, nil
}

// ParametersOf returns the parameters that a target is asked with.
func ParametersOf(t *callvet.Target) (panel.Settings, error) {
	b, err := json.Marshal(t.Params)
	if err != nil {
		return nil, fmt.Errorf("write parameters of %s: %w", t.Name, err)
	}
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &params); err != nil {
		return nil, fmt.Errorf("read parameters of %s: %w", t.Name, err)
	}
	out := panel.Settings{}
	for name, v := range params {
		out[name] = string(v)
	}
	if t.ToolChoice != "" {
		out["tool_choice"] = t.ToolChoice
	}
	return out, nil
}

// fixed reports, by position, the targets that always return the same answer.
func (r *Run) fixed() []bool {
	out := make([]bool, len(r.Manifest.Targets))
	for i := range r.Manifest.Targets {
		t := &r.Manifest.Targets[i]
		out[i] = GivesFacts(t)
	}
	return out
}

// selecting returns the metrics for comparing decisions in addition to the pass rate; none without
// decisions, or if other metrics are requested.
func (r *Run) selecting(asked []string) []string {
	if len(asked) > 0 || !slices.ContainsFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Selects }) {
		return nil
	}
	set, _ := score.SelectionSettingsOf(r.Suite.Defaults.Scoring.Selection) // its mistakes were reported before the run
	out := []string{score.Composite, score.Precision1, score.MRR}
	for _, name := range []string{score.NDCGAt, score.RecallAt} {
		for _, k := range set.K {
			if k > 1 { // at 1 it is nearly precision@1
				out = append(out, fmt.Sprint(name, k))
			}
		}
	}
	return append(out, panel.MetricLatencyMean, panel.MetricCost, panel.MetricTokens)
}
