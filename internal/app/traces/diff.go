// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/panel/steps"
)

// DiffRequest asks what changed between two runs or trace files, case by case.
type DiffRequest struct {
	Base      app.Side `json:"base"`
	Candidate app.Side `json:"candidate"`
	// Slices are slice keys to compare too: tag, tier or names of fields.
	Slices []string `json:"slices,omitempty"`
	// Judge is the judge with the verdicts that count in trace files; "": the source's own checks.
	Judge string `json:"judge,omitempty"`
	// Metrics are compared in addition to the pass rate: overall, or any metric with a paired test.
	Metrics []string `json:"metrics,omitempty"`
	// Target is the base's target for targets of the candidate without one of the same name; "":
	// they are not compared.
	Target string `json:"target,omitempty"`
	// BaseTarget is the only target of the base that counts: every target of the candidate is
	// compared with it, or only CandidateTarget. Without a candidate the other targets of the base
	// are compared with it.
	BaseTarget      string `json:"base_target,omitempty"`
	CandidateTarget string `json:"candidate_target,omitempty"`
	// Pairs are the targets to compare, if they are not named above.
	Pairs []panel.Pair `json:"-"`
	// FailOn is worse or newly-failing: the comparison fails if it shows that; "": never.
	FailOn string `json:"fail_on,omitempty"`
	// Unpaired compares all cases of both sides without pairing, as if they had none in common.
	Unpaired bool `json:"unpaired,omitempty"`
	// Population is the population of the differences: tasks (also ""), or suite.
	Population panel.Population `json:"population,omitempty"`
	// Unchanged bounds the listed unchanged cases of each pair of targets.
	Unchanged int `json:"unchanged,omitempty"`
}

// The values of FailOn.
const (
	failOnWorse = "worse"
	failOnNewly = "newly-failing"
)

// Diff compares two runs or trace files, or targets of one. Attempts of trace files are paired by
// task, and their targets by name if none are given.
func Diff(ctx context.Context, a *app.App, req DiffRequest, events app.Events) (*panel.Comparison, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	cfg := measure.SideConfig{Judge: req.Judge, By: req.Slices, Metrics: req.Metrics, Results: true}
	base, err := ledger(ctx, a, req.Base, cfg, &ScoreRequest{Slices: []string{}}, events)
	if err != nil {
		return nil, err
	}
	cand := base
	if req.Candidate != req.Base {
		if cand, err = ledger(ctx, a, req.Candidate, cfg, &ScoreRequest{Slices: []string{}}, events); err != nil {
			return nil, err
		}
	}
	pairs, err := req.pairs(base, cand)
	if err != nil {
		return nil, err
	}
	out := panel.DiffWith(base, cand,
		panel.DiffConfig{
			Pairs: pairs, Unchanged: req.Unchanged, Population: req.Population,
			Unpaired: req.Unpaired || panel.Disjoint(base, cand),
		})
	if out.Unpaired && req.Population == panel.ThisSuite {
		return nil, app.Wrong("population", string(req.Population),
			"the sides have no case in common, so that they are not of one suite")
	}
	out.Failed = req.FailOn == failOnWorse && out.Worse() || req.FailOn == failOnNewly && out.NewlyFailing() > 0
	if req.FailOn != "" && !out.Failed {
		out.Undecided = out.WhyUndecided(req.FailOn == failOnNewly)
	}
	if req.BaseTarget+req.CandidateTarget != "" { // nothing else was requested
		out.UnpairedBaseline, out.UnpairedCandidate = nil, nil
	}
	return out, results.ReportScorersOf(ctx, a, req.Base, req.Candidate, events)
}

// check returns an error for sides that cannot be compared. If targets of the base are compared, it
// makes the base the candidate, too.
func (r *DiffRequest) check() error {
	if err := r.Base.CheckOne("base"); err != nil {
		return err
	}
	if r.Candidate == (app.Side{}) && r.BaseTarget != "" {
		r.Candidate = r.Base
	}
	if r.Candidate == (app.Side{}) {
		return app.Refused("candidate",
			"{candidate}: name a run or a trace file, or with {base_target} a target of the base that its others are compared with")
	}
	if err := r.Candidate.CheckOne("candidate"); err != nil {
		return err
	}
	if r.FailOn != "" && r.FailOn != failOnWorse && r.FailOn != failOnNewly {
		return app.Wrong("fail_on", r.FailOn, "expected %s or %s", failOnWorse, failOnNewly)
	}
	switch r.Population {
	case "suite":
		r.Population = panel.ThisSuite
	case "tasks":
		r.Population = panel.TasksLikeThese
	}
	if p := r.Population; p != "" && !slices.Contains(panel.Populations(), string(p)) {
		return app.Wrong("population", string(p), "expected suite or tasks")
	}
	if r.Unpaired && r.Population == panel.ThisSuite {
		return app.Refused("unpaired", "{unpaired} compares cases of two suites, and {population} %s those of one",
			r.Population)
	}
	if r.Target != "" && r.BaseTarget != "" {
		return app.Refused("target",
			"{target} is for targets without a namesake, and {base_target} for all: name one of both")
	}
	for _, m := range r.Metrics {
		if _, why := panel.PairingOf(m); why != "" {
			return app.Wrong("metrics", m, "%s", why)
		}
	}
	return results.Unambiguous("slices", r.Slices)
}

// pairs returns the targets that are compared; nil: targets with the same name.
func (r *DiffRequest) pairs(base, cand *panel.Ledger) ([]panel.Pair, error) {
	if r.Target+r.BaseTarget+r.CandidateTarget == "" {
		return r.Pairs, nil
	}
	has, names := base.Targets(), cand.Targets()
	for _, n := range []struct {
		field, name, side string
		has               []string
	}{
		{"target", r.Target, "base", has},
		{"base_target", r.BaseTarget, "base", has},
		{"candidate_target", r.CandidateTarget, "candidate", names},
	} {
		if n.name != "" && !slices.Contains(n.has, n.name) {
			return nil, app.Wrong(n.field, n.name, "the %s has no such target; it has %s", n.side,
				strings.Join(n.has, ", "))
		}
	}
	one := base.Run == cand.Run // its targets are compared, but none with itself
	if one && r.BaseTarget != "" && r.BaseTarget == r.CandidateTarget {
		return nil, app.Wrong("candidate_target", r.CandidateTarget,
			"it is the same target of the same run on both sides: name another one")
	}
	if r.CandidateTarget != "" {
		names = []string{r.CandidateTarget}
	}
	pairs := []panel.Pair{}
	for _, name := range names {
		with := r.with(has, name)
		if with == "" || one && with == name && r.BaseTarget+r.CandidateTarget != "" {
			continue
		}
		pairs = append(pairs, panel.Pair{Baseline: with, Candidate: name})
	}
	switch {
	case len(pairs) > 0 || r.BaseTarget+r.CandidateTarget == "":
		return pairs, nil
	case r.BaseTarget != "":
		return nil, app.Wrong("base_target", r.BaseTarget, "there is no other target to compare it with")
	}
	return nil, app.Refused("base_target", "{base_target}: name the target of the base that %s is compared with, of %s",
		r.CandidateTarget, strings.Join(has, ", "))
}

// with returns the base's target for the comparison with a target of the candidate; "": none.
func (r *DiffRequest) with(has []string, name string) string {
	switch {
	case r.BaseTarget != "":
		return r.BaseTarget
	case slices.Contains(has, name):
		return name
	case r.Target != "":
		return r.Target
	case len(has) == 1:
		return has[0]
	}
	return ""
}

// Against compares a run with a baseline by slices.
func Against(ctx context.Context, a *app.App, r *results.Run, baseline app.Side, slices []string,
	events app.Events,
) (*panel.Comparison, error) {
	s, err := sidesOf(ctx, a, r, baseline, measure.SideConfig{By: slices}, events)
	if err != nil {
		return nil, err
	}
	return comparedFor(nil, s.base, s.cand, panel.DiffConfig{}), nil
}

// sides are the ledgers of a run and of its baseline, with the baseline's name.
type sides struct {
	base, cand *panel.Ledger // base is nil without a baseline
	name       string
}

// sidesOf reads a run, and its baseline if there is one.
func sidesOf(ctx context.Context, a *app.App, r *results.Run, baseline app.Side, cfg measure.SideConfig,
	events app.Events,
) (s sides, err error) {
	cfg.Without = r.Without
	switch s.name = baseline.Traces; {
	case s.name != "":
		s.base, err = ledger(ctx, a, baseline, cfg, &ScoreRequest{Slices: cfg.By}, events)
	case baseline.Run != "":
		var b *results.Run
		if b, err = results.Open(ctx, a, baseline.Run); err != nil {
			break
		}
		b.Without = r.Without
		if s.base, err = b.Ledger(ctx, cfg); err == nil {
			s.base.Warn(b.Descriptive())
			s.name = "run " + b.Stored.ID
			results.ReportScorers(b.Manifest, r.Manifest, events)
		}
	}
	if err == nil {
		s.cand, err = r.Ledger(ctx, cfg)
	}
	return s, err
}

// comparedFor compares two sides for gates: for tasks like these, and for this suite if a gate is
// about it.
func comparedFor(gs []gates.Gate, base, cand *panel.Ledger, cfg panel.DiffConfig) *panel.Comparison {
	out := panel.DiffWith(base, cand, cfg)
	if slices.ContainsFunc(gs,
		func(g gates.Gate) bool { return g.Kind == gates.Regression && g.Population == panel.ThisSuite }) {
		cfg.Population, cfg.Unpaired = panel.ThisSuite, false
		out.Suite = panel.DiffWith(base, cand, cfg)
	}
	return out
}

// ledger reads one side of a comparison. how has the settings for reading a trace file.
func ledger(ctx context.Context, a *app.App, s app.Side, cfg measure.SideConfig, how *ScoreRequest,
	events app.Events,
) (*panel.Ledger, error) {
	if s.Traces != "" {
		return traceLedger(ctx, a, s.Traces, cfg, how, events)
	}
	if err := app.RefuseForRuns(s.Run, app.One("judge", cfg.Judge)); err != nil {
		return nil, err
	}
	r, err := results.Open(ctx, a, s.Run)
	if err != nil {
		return nil, err
	}
	if err := r.Sliceable(cfg.By); err != nil {
		return nil, err
	}
	led, err := r.Ledger(ctx, cfg)
	if err == nil {
		led.Warn(r.Descriptive())
	}
	return led, err
}

// traceLedger reads the data of a trace file for a comparison by task; how has the settings for
// scoring its steps, if they are needed. The target of an attempt without one is the file's name.
// The error wraps callvet.ErrInvalid if the file has nothing to compare.
func traceLedger(ctx context.Context, a *app.App, name string, cfg measure.SideConfig, how *ScoreRequest,
	events app.Events,
) (*panel.Ledger, error) {
	if a.IsStream(name) { // results are in the steps, which need a second reading
		cfg.Results = false
	}
	side, err := measure.NewSide(filepath.Base(name), cfg)
	if err != nil {
		return nil, err
	}
	if a.IsStream(name) {
		if side.NeedsSteps() || how.Suite != "" || how.Safety != "" {
			return nil, app.Refused("traces",
				"%s can be read once only, and what is compared needs two readings: write it to a file", name)
		}
		log, err := a.EachTask(name, side.Record)
		if err != nil {
			return nil, err
		}
		for _, c := range side.Contradictions() {
			of := ""
			if c.Of > 0 {
				of = fmt.Sprintf(" in line %d", c.Of)
			}
			log.Reject(c.Line, results.Contradiction("attempt", of, "number attempts"))
		}
		events.Lines(log.Problems(name), log)
		return sideLedger(name, side,
			results.LostRecords(log, func(line int64) (string, int64) { return name, line }), events)
	}
	req := *how
	req.Traces = []string{name}
	s, err := sumFiles(ctx, a, reading{ScoreRequest: &req, side: side, without: cfg.Without}, events)
	if err != nil {
		return nil, err
	}
	events.Lines(s.Problems(), &s.Log)
	return sideLedger(name, side, s.Lost(), events)
}

// sideLedger returns the ledger of a file that was read, with its lost records.
func sideLedger(name string, side *measure.Side, lost *panel.Lost, events app.Events) (*panel.Ledger, error) {
	corrected, copies := side.Twice()
	if corrected > 0 {
		events.Note("attempt-twice", "%s: %s corrected by a later one", name,
			plain.Count(corrected, "task record is", "task records are"))
	}
	if copies > 0 {
		events.Note("attempt-twice", "%s: %s of earlier ones, and count once", name,
			plain.Count(copies, "task record is a copy", "task records are copies"))
	}
	if err := side.Nothing(name); err != nil {
		return nil, err
	}
	led := side.Ledger(name)
	led.Lose(lost)
	for _, key := range side.Many() {
		events.Note("many-values", "%s: %q has more than %d values and is no slice", name, key, steps.MaxSliceValues)
	}
	return led, nil
}
