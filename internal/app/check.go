// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"cmp"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/foreign"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// CheckRequest asks which needed calls the attempts of a trace file made.
type CheckRequest struct {
	Traces string `json:"traces"`
	// Rules say when a call answers a needed one: strict (also "") or tau.
	Rules string `json:"rules,omitempty"`
}

// Check compares each attempt of a trace file with the gold of its task. The error wraps
// callvet.ErrInvalid if no attempt has gold.
func (a *App) Check(req CheckRequest, events Events) (*report.Check, error) {
	req.Rules = cmp.Or(req.Rules, "strict")
	rules, ok := map[string]score.TrajectoryRules{"strict": score.Strict, "tau": score.Tau}[req.Rules]
	if !ok {
		return nil, Refused("rules", "{rules} is strict or tau, not %q", req.Rules)
	}
	file, err := a.Config.Files.Open(req.Traces)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	defer file.Close()
	imp, err := foreign.Open(file, foreign.Options{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", req.Traces, err)
	}
	red, err := a.secrets.Redactor(nil)
	if err != nil {
		return nil, err
	}
	c := &report.Check{Format: "callvet.trace_check", Version: 1, Rules: req.Rules, Attempts: []report.Checked{}}
	missed, facts := taskSums{}, taskSums{}
	for at, err := range imp.Attempts() {
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", req.Traces, err)
		}
		if at.Gold == nil {
			c.NoGold++
			continue
		}
		g := goldOf(at.Gold)
		o, err := score.CheckTrajectory(&g, &at.Trace, at.UserCalls, rules)
		if err != nil {
			return nil, fmt.Errorf("check %s of %s: %w", at.Name(), req.Traces, err)
		}
		row := checkRow(&at, &g, &o)
		hideChecked(&row, red)
		missed.add(at.Trace.Target, at.Trace.CaseID, row.Missed, row.Needed)
		facts.add(at.Trace.Target, at.Trace.CaseID, row.Facts-len(row.Untold), row.Facts)
		c.Attempts = append(c.Attempts, row)
	}
	log := imp.Report().Log
	events.Lines(log.Problems(req.Traces), &log)
	if len(c.Attempts) == 0 {
		return nil, fmt.Errorf("check %s: none of its %d attempts says what its task needs (gold): %w", req.Traces,
			c.NoGold, callvet.ErrInvalid)
	}
	c.Missed, c.Told = missed.interval(), facts.interval()
	return c, nil
}

func goldOf(in *trace.TaskGold) score.TrajectoryGold {
	g := score.TrajectoryGold{Facts: in.Facts}
	for _, s := range in.Steps {
		g.Steps = append(g.Steps,
			score.TrajectoryStep{Tool: s.Tool, Args: s.Args, Compare: s.Compare, User: s.By == "user"})
	}
	return g
}

func checkRow(at *trace.Attempt, g *score.TrajectoryGold, o *score.TrajectoryOutcome) report.Checked {
	t := &at.Trace
	row := report.Checked{
		Task: t.CaseID, Attempt: t.Repeat, Target: t.Target, Needed: o.Needed, Missed: o.Missed,
		Extra: len(o.Extra), Facts: len(g.Facts),
	}
	for i, s := range o.Steps {
		if s.Call >= 0 {
			continue
		}
		m := report.Missed{Tool: g.Steps[i].Tool, Args: g.Steps[i].Args, User: g.Steps[i].User}
		if s.Near >= 0 {
			m.Near = &s.Near
		}
		row.Calls = append(row.Calls, m)
	}
	for i, ok := range o.Facts {
		if !ok {
			row.Untold = append(row.Untold, g.Facts[i])
		}
	}
	return row
}

// hideChecked redacts the shown gold, after the comparison.
func hideChecked(r *report.Checked, red *redact.Redactor) {
	red.Begin()
	for i := range r.Calls {
		r.Calls[i].Args = red.JSON(r.Calls[i].Args)
	}
	for i, fact := range r.Untold {
		r.Untold[i] = red.Text(fact)
	}
}

// taskSums adds up by task, because the attempts at a task are correlated.
type taskSums map[[2]string]*[2]int

func (s taskSums) add(target, task string, yes, n int) {
	if n == 0 {
		return
	}
	at := s[[2]string{target, task}]
	if at == nil {
		at = &[2]int{}
		s[[2]string{target, task}] = at
	}
	at[0], at[1] = at[0]+yes, at[1]+n
}

func (s taskSums) interval() stats.Interval {
	var r exact.Rate
	for _, at := range s {
		r.Add(at[0], at[1])
	}
	return r.Interval(0.95, stats.DefaultRho0)
}
