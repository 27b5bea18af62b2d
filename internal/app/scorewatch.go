// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/watch"
	"github.com/callvet/callvet/score/safety"
)

// watch makes ready what is asked for. The suite's tools stand in for those that are named.
func (a *App) watch(ctx context.Context, set *TraceSettings, tell Events) (*watch.Watch, []callvet.Tool, error) {
	tools, err := a.ReadTools(set.Tools, tell)
	if err != nil {
		return nil, nil, err
	}
	var suite *callvet.Suite
	if set.Suite != "" {
		if suite, err = a.wholeSuite(ctx, set.Suite, tell); err != nil {
			return nil, nil, err
		}
		if len(set.Tools) == 0 {
			tools = suite.Tools
		}
	}
	var rules *safety.Rules
	if set.Safety != "" {
		p, err := a.policy(set.Safety)
		if err != nil {
			return nil, nil, err
		}
		rules = &p.Rules
	}
	w, err := watch.Open(tools, rules, suite)
	return w, tools, err
}

// UnfitSuiteError says that a suite has errors, and cannot judge traces. It wraps
// callvet.ErrInvalid.
type UnfitSuiteError struct {
	Suite  string
	Errors int
}

func (e *UnfitSuiteError) Error() string {
	return fmt.Sprintf("read suite %s: %v: %s", e.Suite, callvet.ErrInvalid, plain.Count(e.Errors, "error", "errors"))
}

// Unwrap gives the kind of error.
func (e *UnfitSuiteError) Unwrap() error { return callvet.ErrInvalid }

// wholeSuite reads a suite that is to judge: one with errors is none.
func (a *App) wholeSuite(ctx context.Context, name string, tell Events) (*callvet.Suite, error) {
	s, err := a.OpenSuite(ctx, SuiteRequest{Suite: name}, tell)
	if err != nil {
		return nil, err
	}
	for c := range s.Cases(ctx) {
		s.Suite.Cases = append(s.Suite.Cases, *c)
	}
	problems := s.Problems()
	for i := range problems {
		if p := &problems[i]; p.Code == CodeNotEvaluated { // no money is spent, and what cannot be judged is counted
			p.Warning = true
		}
	}
	tell.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, &UnfitSuiteError{Suite: name, Errors: n}
	}
	return s.Suite, nil
}
