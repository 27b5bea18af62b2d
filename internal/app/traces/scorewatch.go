// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/judge"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/safety"
)

// watchPrograms makes the Watch of a request. The suite's tools are the default of the named ones.
// done ends the programs of the suite.
func watchPrograms(ctx context.Context, a *app.App, set *app.TraceSettings,
	events app.Events,
) (w *measure.Watch, tools []callvet.Tool, done func(), err error) {
	if tools, err = a.ReadTools(set.Tools, events); err != nil {
		return nil, nil, nil, err
	}
	if set.AllowExec && set.Suite == "" {
		return nil, nil, nil, app.Refused("allow_exec", "{allow_exec} is for the scorers of a suite: give {suite}")
	}
	var suite *callvet.Suite
	programs := &judge.ScorerPool{}
	if set.Suite != "" {
		if suite, err = WholeSuite(ctx, a, set, events); err != nil {
			return nil, nil, nil, err
		}
		if programs, err = programsOf(a, suite, set, events); err != nil {
			return nil, nil, nil, err
		}
		if len(set.Tools) == 0 {
			tools = suite.Tools
		}
	}
	var rules *safety.Rules
	if set.Safety != "" {
		p, err := a.Policy(set.Safety)
		if err != nil {
			return nil, nil, nil, err
		}
		rules = &p.Rules
	}
	custom := programs.Custom
	if !set.AllowExec {
		custom = noPrograms
	}
	w, err = measure.OpenWatch(tools, rules, suite, custom)
	return w, tools, func() { _ = programs.Close() }, err // ends processes, which cannot fail
}

// noPrograms returns the error why a scorer that is a program is not evaluated.
func noPrograms(s *callvet.Scorer) (score.Custom, error) {
	if !s.Runs() {
		return nil, errors.New("nothing here is a scorer of that name")
	}
	return nil, errors.New("it runs a program, and it is not allowed")
}

// programsOf makes the pool of a suite's scorers that are programs, if they are permitted as in
// runs, and reports them. Without the permission nothing is refused: the traces exist already, and
// can be judged without the programs. Close the result.
func programsOf(a *app.App, s *callvet.Suite, set *app.TraceSettings, events app.Events) (*judge.ScorerPool, error) {
	req := &app.RunRequest{SuiteRequest: app.SuiteRequest{Suite: set.Suite}, AllowExec: set.AllowExec}
	own, err := a.NewScorersOf(req)
	if err != nil {
		return nil, err
	}
	for i := range s.Cases {
		own.Add(&s.Cases[i])
	}
	if set.AllowExec {
		if err := own.Refusal(req, a.Config.Permit); err != nil {
			return nil, err
		}
		app.ReportCommands("the suite "+set.Suite, own.All(), events)
	} else if commands := own.All(); len(commands) > 0 {
		events.Note("programs",
			"scorers of the suite %s run programs, which is not allowed here, so that they are not evaluated: %s",
			set.Suite, strings.Join(commands, "; "))
	}
	return a.NewPool(set.Suite, nil)
}

// UnfitSuiteError is the error of a suite that cannot judge traces because it has errors. It wraps
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

// WholeSuite reads a suite for judging; a suite with errors is refused.
func WholeSuite(ctx context.Context, a *app.App, set *app.TraceSettings, events app.Events) (*callvet.Suite, error) {
	name := set.Suite
	s, err := a.OpenSuite(ctx,
		app.SuiteRequest{Suite: name, Programs: set.AllowExec && a.Config.Permit.Commands}, events)
	if err != nil {
		return nil, err
	}
	for c := range s.Cases(ctx) {
		s.Suite.Cases = append(s.Suite.Cases, *c)
	}
	problems := s.Problems()
	for i := range problems {
		// no money is spent, and assertions that cannot be judged are counted
		if p := &problems[i]; p.Code == app.CodeNotEvaluated {
			p.Warning = true
		}
	}
	events.Problems(problems)
	if n := app.ErrorsIn(problems); n > 0 {
		return nil, &UnfitSuiteError{Suite: name, Errors: n}
	}
	return s.Suite, nil
}
