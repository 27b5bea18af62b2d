// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/sources"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
)

// start checks the suite, opens the targets and creates the run.
func (a *app) start(ctx context.Context, db *store.DB, path string, f *runFlags, changed func(string) bool) (*evaluation, *opener, error) {
	if path == "" {
		return nil, nil, usagef("which suite? callvet run SUITE -m TARGET")
	}
	if _, err := kinds(f.keepKinds); err != nil {
		return nil, nil, err
	}
	specs, err := a.specs(f, changed)
	if err != nil {
		return nil, nil, err
	}
	if err := a.keeper().Spelled(flagSettings(path, f)); err != nil {
		return nil, nil, err
	}
	if found, asks, others := sources.Searches(targetsOf(specs)); found && !asks && !others && f.repeats > 1 {
		fmt.Fprintf(a.err, "note: a catalogue gives the same every time: each case is asked once, and not %d times\n", f.repeats)
		f.repeats = 1
	}
	read := &suite.Stream{Suite: f.made}
	if f.made == nil {
		var problems []callvet.Problem
		if read, problems, err = a.openSuite(ctx, path, f.suite); err != nil {
			a.tell(problems, false)
			return nil, nil, err
		}
	}
	if f.adjust != nil {
		f.adjust(read.Suite)
	}
	op, err := a.newOpener(f.timeout, f.target.prices, path)
	if err != nil {
		return nil, nil, err
	}
	ts, err := op.openAll(ctx, specs)
	if err != nil {
		return nil, op, err
	}
	if !f.quiet {
		a.tellWithheld(specs)
	}
	hash, err := a.keepSuite(ctx, db, read, path, f)
	if err != nil {
		return nil, op, err
	}
	files, err := sources.Fingerprints(targetsOf(specs), a.read)
	if err != nil {
		return nil, op, errors.Join(err, db.DropSuite(context.WithoutCancel(ctx), hash))
	}
	e, err := a.create(ctx, db, op, hash, &manifest{
		Version: manifestVersion, Callvet: buildVersion(), Path: path, Made: f.made != nil, Specs: specs, ToolsHash: callvet.NewToolset(read.Suite.Tools).Hash, Catalogues: files, Repeats: max(f.repeats, 1),
		Filter: f.filter, Sample: f.sample, Seed: f.seed, FailedFrom: f.failedFrom, Slices: f.slices, Prices: f.target.prices, RealLatency: f.realLatency, NoCache: f.noCache, TargetFile: f.targetFile, Embedder: f.suite.embedder, Keep: f.keepKinds, Settings: f.settings(), Command: f.command, Flags: f.flags,
	}, ts, f)
	if err != nil {
		return nil, op, errors.Join(err, db.DropSuite(context.WithoutCancel(ctx), hash))
	}
	return e, op, nil
}

// keepSuite stores the suite while it is read, case by case, unless lint finds an
// error in it: then nothing is stored.
func (a *app) keepSuite(ctx context.Context, db *store.DB, read *suite.Stream, path string, f *runFlags) (string, error) {
	if f.made != nil {
		return db.PutSuite(ctx, f.made)
	}
	// A secret is refused before anything is written: what is rolled back may be on the disk.
	if err := a.lintVerdict(a.keeper().Suite(read.Suite), path, f); err != nil {
		return "", err
	}
	cases := read.Cases(ctx)
	if f.suite.embedder != "" {
		// Lint asks the embedder, and nobody is to wait for a network with the
		// database locked.
		cases = slices.Values(slices.Collect(cases))
	}
	var refused error
	hash, err := db.PutSuiteFrom(ctx, read.Suite, func(yield func(*callvet.Case, error) bool) {
		for c := range parallel.Ahead(cases) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if refused = a.lintVerdict(a.keeper().Case(c), path, f); refused != nil {
				yield(nil, refused)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if refused = a.lintVerdict(read.Problems(), path, f); refused != nil {
			yield(nil, refused)
		}
	})
	if refused != nil {
		return "", refused
	}
	return hash, err
}

// codeNotEvaluated is that of lint's problems with assertions that nothing here evaluates.
const codeNotEvaluated = "not-evaluated"

// lintVerdict tells what lint found and whether to run all the same.
func (a *app) lintVerdict(problems []callvet.Problem, path string, f *runFlags) error {
	left := 0
	for _, p := range problems {
		if p.Code == codeNotEvaluated {
			left++
		}
	}
	if left > 0 && !f.quiet {
		fmt.Fprintf(a.err, "note: %s assertions that nothing here evaluates: they count as not evaluated, and --require-pass does not accept them\n", plain.Count(left, "case has", "cases have"))
	}
	if errs, warns := a.tell(problems, a.verbose); errs > 0 && !f.noLint {
		return &callvet.Hinted{Err: fmt.Errorf("lint %s: %w: %s", path, callvet.ErrInvalid, plain.Count(errs, "error", "errors")), Hint: "mend them, or --no-lint to run all the same"}
	} else if warns > 0 && !a.verbose && !f.quiet {
		fmt.Fprintf(a.err, "note: lint has %s: %s\n", plain.Count(warns, "warning", "warnings"), f.suite.lint(a.hints(), path))
	}
	return nil
}

// create makes the run of a stored suite.
func (a *app) create(ctx context.Context, db *store.DB, op *opener, hash string, man *manifest, ts []run.Target, f *runFlags) (*evaluation, error) {
	l, err := openSuite(a.process.Hard, db, hash) //nolint:contextcheck // cells in flight need their cases after an interrupt
	if err != nil {
		return nil, err
	}
	l.man, l.hints = man, a.hints()
	if man.Cases, err = a.selectCases(ctx, db, l.cases, f); err != nil {
		return nil, err
	}
	if err := errors.Join(l.sliceable(f.slices), l.choosable(ts)); err != nil {
		return nil, err
	}
	op.coverage(l.all(&err))
	if err != nil {
		return nil, err
	}
	for i := range ts {
		man.Targets = append(man.Targets, ts[i].Target)
		a.tellAdjusted(&ts[i].Target)
	}
	op.tellUnpriced(ts, f.maxCost)
	b, err := json.Marshal(man)
	if err != nil {
		return nil, fmt.Errorf("write manifest: %w", err)
	}
	l.run, err = db.CreateRun(ctx, store.NewRun{Name: f.name, SuiteHash: hash, Manifest: b})
	if taken := (*store.TakenError)(nil); errors.As(err, &taken) {
		err = usageError{&callvet.Hinted{Err: err, Hint: "another name, or " + a.hints().text(action{Verb: verbDelete, Run: taken.Run}, nil) + " first"}}
	}
	if err != nil {
		return nil, err
	}
	return &evaluation{loaded: l, targets: ts}, nil
}

// tellAdjusted tells which parameters that were asked for are sent otherwise or not at all.
// Another name of the same parameter changes nothing.
func (a *app) tellAdjusted(t *callvet.Target) {
	for _, adj := range t.Adjustments {
		if adj.Default {
			continue
		}
		switch adj.Action {
		case "drop":
			fmt.Fprintf(a.err, "note: %s: %s %s is not sent: %s\n", t.Name, adj.Param, adj.From, adj.Reason)
		case "clamp":
			fmt.Fprintf(a.err, "note: %s: %s %s is sent as %s: %s\n", t.Name, adj.Param, adj.From, adj.To, adj.Reason)
		case "warn":
			if adj.From != "" {
				fmt.Fprintf(a.err, "note: %s: %s %s: %s\n", t.Name, adj.Param, adj.From, adj.Reason)
			}
		}
	}
}

// choosable refuses a tool choice of a target that is neither a rule nor a tool.
func (l *loaded) choosable(ts []run.Target) error {
	rules := []string{"auto", "required", "none"}
	for i := range ts {
		choice := ts[i].ToolChoice
		if choice == "" || slices.Contains(rules, choice) {
			continue
		}
		known := slices.Clone(rules)
		add := func(tools []callvet.Tool) {
			for i := range tools {
				known = append(known, tools[i].Name)
			}
		}
		add(l.suite.Tools)
		var err error
		for c := range l.chosen(&err) {
			add(c.Tools)
		}
		if err != nil || slices.Contains(known, choice) {
			return err
		}
		hint := "write auto, required, none or the name of a tool of the suite"
		if near := callvet.Nearest(choice, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &callvet.Hinted{Err: fmt.Errorf("tool choice %q of target %s: %w: the suite has no such tool", choice, ts[i].Name, callvet.ErrInvalid), Hint: hint}
	}
	return nil
}

// selectCases gives the positions of the chosen cases, nil for all.
func (a *app) selectCases(ctx context.Context, db *store.DB, cases run.Source, f *runFlags) ([]int, error) {
	if len(f.filter) == 0 && f.sample == 0 && f.failedFrom == "" {
		return nil, nil
	}
	sel := run.Selection{Filters: f.filter, Sample: f.sample, Seed: uint64(f.seed)}
	if f.failedFrom != "" {
		r, err := db.Run(ctx, f.failedFrom)
		if err != nil {
			return nil, a.hints().missing(err)
		}
		sel.Only = map[string]bool{}
		for c, err := range db.Cells(ctx, r.ID, store.Filter{Verdicts: []callvet.Verdict{callvet.VerdictFail, callvet.VerdictError, callvet.VerdictNotRun}}) {
			if err != nil {
				return nil, err
			}
			sel.Only[c.Trace.CaseID] = true
		}
		if len(sel.Only) == 0 {
			return nil, fmt.Errorf("select cases: %w: nothing failed in run %s", callvet.ErrInvalid, r.ID)
		}
	}
	return run.SelectFrom(cases, sel)
}
