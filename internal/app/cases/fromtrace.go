// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/trace"
)

// FromTraceRequest asks to make a case of a task in a trace file, of any form.
type FromTraceRequest struct {
	Traces string `json:"traces"`
	Task   string `json:"task"`
	// Attempt is the number of the attempt at the task, from 0, and Of its target; "": the only
	// one.
	Attempt int    `json:"attempt,omitempty"`
	Of      string `json:"of,omitempty"`
	NewCaseExpectation
	NewCaseSettings
	// Keep are kinds of personal data that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// FromTrace makes a case from a task in a trace file, and adds it like FromFailure: with mocks of
// the tools' results, without secrets and personal data. Its expectations are those of the request,
// else the labels of the trace, else, except for a regression case, the actual calls. The error
// wraps callvet.ErrNotFound if there is no such task; otherwise see FromFailure.
func FromTrace(ctx context.Context, a *app.App, req FromTraceRequest, events app.Events) (*NewCase, error) {
	if err := req.NewCaseExpectation.check(); err != nil {
		return nil, err
	}
	if err := req.NewCaseSettings.check(req.Tier); err != nil {
		return nil, err
	}
	d, err := draftFromTrace(a, &req)
	if err != nil {
		return nil, err
	}
	if err := addExpectation(a, d, &req.NewCaseExpectation, events); err != nil {
		return nil, err
	}
	if !req.given() {
		if err := d.asTraced(); err != nil {
			return nil, err
		}
	}
	return newCase(ctx, a, d, &req.NewCaseSettings, events)
}

// draftFromTrace reads the attempt that a case is made from.
func draftFromTrace(a *app.App, req *FromTraceRequest) (*draft, error) {
	off, err := app.Kinds(req.Keep)
	if err != nil {
		return nil, err
	}
	red, err := a.Secrets().Redactor(off)
	if err != nil {
		return nil, err
	}
	var found *draft
	var targets []string
	others := 0
	err = results.WholeAttempts(a, req.Traces, func(at *trace.Attempt) error {
		switch {
		case at.Trace.CaseID != req.Task:
			return nil
		case at.Trace.Repeat != req.Attempt || req.Of != "" && at.Trace.Target != req.Of:
			others++
			return nil
		}
		targets = append(targets, at.Trace.Target)
		if found == nil {
			own := red.Fork()
			hidden := at.Redacted(own)
			found = attempted(&hidden, req.Tier)
			found.redacted = maps.Clone(own.Counts)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		err := fmt.Errorf("make a case of %s in %s: %w: there is no such attempt", req.Task, req.Traces,
			callvet.ErrNotFound)
		if others > 0 {
			return nil, &callvet.Hinted{
				Err: err,
				Hint: fmt.Sprintf("the task has %s: name one, and its target",
					plain.Count(others, "other attempt", "other attempts")),
			}
		}
		return nil, err
	case len(targets) > 1:
		return nil, app.Wrong("of", "", "several made an attempt at %s: %s", req.Task, strings.Join(targets, ", "))
	case found.attempts[0].Fault != nil:
		return nil, found.byHand("the attempt ended in an error, so the request was not answered")
	}
	return found, nil
}

// attempted makes a draft from a redacted attempt.
func attempted(at *trace.Attempt, tier callvet.Tier) *draft {
	d := &draft{tier: tier, tools: at.Tools, registry: at.Tools, attempts: []callvet.Trace{at.Trace}}
	d.of = &callvet.Case{ID: at.Trace.CaseID, Tags: at.Tags, Fields: map[string]string{}}
	if at.Trace.Target != "" {
		d.models = []string{at.Trace.Target}
	}
	for _, t := range slices.Concat(at.Input, at.Trace.Turns) {
		switch t.Role {
		case callvet.RoleSystem:
			d.system = true
		case callvet.RoleUser:
			d.of.Input = append(d.of.Input, t)
		}
	}
	if len(d.of.Input) == 0 && strings.TrimSpace(at.Goal) != "" {
		d.of.Input = []callvet.Turn{{Role: callvet.RoleUser, Content: at.Goal}}
		d.lose("input", "the trace has no message of the user: the prompt is its goal")
	}
	d.gold(at)
	return d
}

// gold sets the right calls from the labels of the task, or of all its calls.
func (d *draft) gold(at *trace.Attempt) {
	p := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	if at.Gold != nil && at.Gold.Steps != nil {
		for _, s := range at.Gold.Steps {
			if s.By == "user" {
				continue
			}
			name, _ := trace.SplitTool(s.Tool)
			c := callvet.ExpectedCall{Tools: []string{name}}
			if s.Compare == nil {
				c.Args = s.Args
			}
			p.Calls = append(p.Calls, c)
		}
		d.of.Expect.Plans = []callvet.Plan{p}
		return
	}
	calls := at.Trace.Calls()
	for i := range calls {
		g := at.Steps[i].Gold
		switch {
		case g == nil || g.Needed == nil || *g.Needed && g.Tool == "":
			return // the right calls are unknown
		case *g.Needed:
			name, _ := trace.SplitTool(g.Tool)
			p.Calls = append(p.Calls, callvet.ExpectedCall{Tools: []string{name}, Args: g.Args})
		}
	}
	if len(calls) > 0 {
		d.of.Expect.Plans = []callvet.Plan{p}
	}
}

// asTraced completes expectations that the request lacks: with the labels that were read, else with
// the actual calls.
func (d *draft) asTraced() error {
	e := &d.of.Expect
	switch {
	case e.Plans != nil:
	case d.tier == callvet.TierRegression:
		return app.Wrong("expect", "",
			"the trace has no labels: say which tools were right ({expect} TOOL, or {accept} %s where none was)",
			callvet.NoTools)
	default:
		d.asCalled = true
		calls := d.attempts[0].Calls()
		var names []string
		for i := range calls {
			if !slices.Contains(names, calls[i].Tool) {
				names = append(names, calls[i].Tool)
			}
		}
		if len(calls) == 0 {
			if d.attempts[0].Outcome != callvet.OutcomeAbstained {
				return d.byHand("it has no call, and no record that none was made")
			}
			names = []string{callvet.NoTools}
		}
		e.ToolsAcceptable = [][]string{names}
	}
	if something, _ := e.Calls(); d.tier == callvet.TierGolden && !something {
		return app.Wrong("tier", string(d.tier),
			"a golden case names a tool, and no call is right here: make it a labeled one")
	}
	return nil
}
