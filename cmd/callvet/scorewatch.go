// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/watch"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/score/safety"
)

// watch makes ready what the flags ask for. The suite's tools stand in for --tools.
func (a *app) watch(ctx context.Context, f *scoreFlags) (*watch.Watch, []callvet.Tool, error) {
	tools, err := a.readTools(f.tools)
	if err != nil {
		return nil, nil, err
	}
	var suite *callvet.Suite
	if f.suite != "" {
		if suite, err = a.wholeSuite(ctx, f.suite); err != nil {
			return nil, nil, err
		}
		if len(f.tools) == 0 {
			tools = suite.Tools
		}
	}
	var rules *safety.Rules
	if f.safety != "" {
		b, err := input.File(a.path(f.safety), maxSettings)
		if err != nil {
			return nil, nil, fmt.Errorf("read safety rules: %w", err)
		}
		r, err := safety.ParseRules(f.safety, b)
		if err != nil {
			return nil, nil, err
		}
		rules = &r
	}
	w, err := watch.Open(tools, rules, suite)
	return w, tools, err
}

// wholeSuite reads a suite that is to judge: one with errors is none.
func (a *app) wholeSuite(ctx context.Context, path string) (*callvet.Suite, error) {
	s, problems, err := a.openSuite(ctx, path, suiteFlags{})
	if err != nil {
		a.tell(problems, false)
		return nil, err
	}
	for c := range s.Cases(ctx) {
		s.Suite.Cases = append(s.Suite.Cases, *c)
	}
	problems = s.Problems()
	for i := range problems {
		if p := &problems[i]; p.Code == codeNotEvaluated { // no money is spent, and what cannot be judged is counted
			p.Warning = true
		}
	}
	if errs, _ := a.tell(problems, false); errs > 0 {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("read suite %s: %w: %s", path, callvet.ErrInvalid, plain.Count(errs, "error", "errors")), Hint: new(suiteFlags).lint(a.hints(), path),
		}
	}
	return s.Suite, nil
}
