// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/cmd/callvet/sources"
	"github.com/callvet/callvet/internal/parallel"
	"github.com/callvet/callvet/internal/replay"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// evaluation is a run about to start, new or resumed.
type evaluation struct {
	*loaded
	targets []run.Target
	done    iter.Seq2[*callvet.Cell, error]
	tally   *tally // nil for a resumed run
}

// evaluate is `callvet run`.
func (a *app) evaluate(ctx context.Context, path string, f runFlags, changed func(string) bool) (err error) {
	for _, o := range f.outputs { // a wrong extension is told before any money is spent
		if _, err := report.ByPath(o); err != nil {
			return err
		}
	}
	f.retriesGiven = changed("retries")
	defer a.tuneMemory()()
	db, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if f.resume != "" {
		return a.resume(ctx, db, path, &f, changed)
	}
	e, op, err := a.start(ctx, db, path, &f, changed)
	if err != nil {
		if op != nil {
			op.close()
		}
		return err
	}
	return a.session(ctx, db, e, op, &f)
}

// session carries a run out as far as this process gets, and tells what came out. It
// closes op. The error is a *store.HeldError when another process has the run.
func (a *app) session(ctx context.Context, db *store.DB, e *evaluation, op *opener, f *runFlags) error {
	defer op.close()
	a.process.OnInterrupt("interrupted; what was received is stored; go on with: " + e.resumed())
	c, err := a.claim()
	if err != nil {
		return err
	}
	lease, err := db.Acquire(ctx, e.run.ID, c)
	if err != nil {
		return err
	}
	if e.run, err = db.Run(ctx, e.run.ID); err != nil { // with what it has spent by now
		return err
	}
	if changed, err := e.man.rewritten(f); err != nil {
		return err
	} else if changed != nil {
		if err := lease.Rewrite(ctx, changed); err != nil {
			return err
		}
	}
	if e.done == nil {
		if e.tally, err = e.newTally(f.slices); err != nil {
			return err
		}
	}
	sum, runErr := a.carryOut(ctx, db, lease, e, f)
	// What was asked to end early is still told: the context may be gone by now.
	if runErr != nil && !errors.Is(runErr, callvet.ErrBudget) {
		return runErr
	}
	a.process.OnInterrupt(e.interruption(sum))
	v, err := a.outcome(a.process.Hard, db, e, op, f) //nolint:contextcheck // it outlives the first interrupt
	if err != nil {
		return err
	}
	return a.conclude(a.process.Hard, v, e.loaded, f, sum, runErr) //nolint:contextcheck // it outlives the first interrupt
}

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
	if err := a.secretVerdict(a.keeper().Suite(read.Suite), path, f); err != nil {
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
			if refused = a.secretVerdict(a.keeper().Case(c), path, f); refused != nil {
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

// secretVerdict refuses a suite that holds a secret, unless it is to run all the same.
func (a *app) secretVerdict(problems []callvet.Problem, path string, f *runFlags) error {
	if len(problems) == 0 || f.noLint {
		return nil
	}
	return a.lintVerdict(problems, path, f)
}

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

// takeUp opens a stored run to go on with it: with the suite it ran, the targets
// it asked, and every cell that is durable.
func (a *app) takeUp(ctx context.Context, db *store.DB, path string, f *runFlags, changed func(string) bool) (*evaluation, *opener, error) {
	l, err := a.openRun(a.process.Hard, db, f.resume) //nolint:contextcheck // cells in flight need their cases after an interrupt
	if err != nil {
		return nil, nil, err
	}
	c, err := a.claim()
	if err != nil {
		return nil, nil, err
	}
	if o := l.run.Owner; o != nil && !c.Gone(*o) { // before anything is opened
		return nil, nil, &store.HeldError{Run: l.run.ID, Owner: *o}
	}
	if len(f.targets) > 0 && !slices.Equal(f.targets, targetsOf(l.man.Specs)) {
		return nil, nil, usagef("--resume %s: the run asks other targets (%s); a resumed run cannot change them", f.resume, strings.Join(targetsOf(l.man.Specs), ", "))
	}
	if path != "" {
		read, _, err := a.openSuite(ctx, path, f.suite)
		if err != nil {
			return nil, nil, err
		}
		if h, err := store.SuiteHashFrom(read.Suite, withoutErrors(read.Cases(ctx))); err != nil || h != l.run.SuiteHash {
			fmt.Fprintf(a.err, "note: %s has changed since; going on with the suite that run %s started with\n", path, l.run.ID)
		}
	}
	if why := sources.Changed(targetsOf(l.man.Specs), l.man.Catalogues, l.man.ToolsHash, a.read); why != "" && l.man.Catalogues != nil {
		return nil, nil, &callvet.Hinted{Err: fmt.Errorf("resume run %s: %w: %s", l.run.ID, callvet.ErrConflict, why), Hint: "start a new run"}
	}
	f.keep(l.man.Settings, changed)
	op, err := a.newOpener(f.timeout, l.man.Prices, l.run.ID)
	if err != nil {
		return nil, nil, err
	}
	a.tellCommands("run "+l.run.ID, unnamedCommands(f.targets, l.man.Specs))
	ts, err := op.openAll(ctx, l.man.Specs)
	if err != nil {
		return nil, op, err
	}
	if op.coverage(l.all(&err)); err != nil {
		return nil, op, err
	}
	if len(ts) != len(l.man.Targets) {
		return nil, op, fmt.Errorf("resume run %s: %w: its targets opened as %d and now as %d", l.run.ID, callvet.ErrConflict, len(l.man.Targets), len(ts))
	}
	op.tellUnpriced(ts, f.maxCost)
	f.noCache, f.realLatency = l.man.NoCache, l.man.RealLatency
	return &evaluation{loaded: l, targets: ts, done: db.DoneCells(ctx, l.run.ID)}, op, nil
}

// withoutErrors yields cases as those who can fail do.
func withoutErrors(cases iter.Seq[*callvet.Case]) iter.Seq2[*callvet.Case, error] {
	return func(yield func(*callvet.Case, error) bool) {
		for c := range cases {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// keepCompiled is how many compiled cases a run keeps: those in flight, and those
// between the fastest provider and the slowest where they are that close.
const keepCompiled = 512

// grace is how long requests in flight may take after an interrupt: long enough
// for local targets, and a person does not take it for a hang. The others are
// asked again when the run is resumed.
const grace = 150 * time.Millisecond

// carryOut runs the cells and records how the run ended.
func (a *app) carryOut(ctx context.Context, db *store.DB, lease *store.Lease, e *evaluation, f *runFlags) (run.Summary, error) {
	sum, err := a.cells(ctx, db, lease, e, f)
	totals, jerr := json.Marshal(sum)
	if jerr != nil {
		return sum, errors.Join(err, jerr)
	}
	ctx = context.WithoutCancel(ctx)
	if sum.Unbooked != (callvet.Spent{}) {
		err = errors.Join(err, lease.Book(ctx, sum.Unbooked))
	}
	if errors.Is(err, callvet.ErrConflict) { // the run is another process's now
		if held := (*store.HeldError)(nil); errors.As(err, &held) {
			err = held
		}
		return sum, &lostError{err}
	}
	return sum, errors.Join(err, lease.Finish(ctx, store.Status(sum.Status), totals))
}

// lostError says that the run was taken over while this process carried it out. It
// hides the *store.HeldError: this process does not follow.
type lostError struct{ error }

func (e *lostError) Error() string {
	return "this process was held up for too long and lost the run: " + e.error.Error()
}

// Unwrap gives ErrConflict.
func (e *lostError) Unwrap() error { return callvet.ErrConflict }

// cells runs the cells.
func (a *app) cells(ctx context.Context, db *store.DB, lease *store.Lease, e *evaluation, f *runFlags) (run.Summary, error) {
	scoring, err := a.scoring(ctx, e.man.Embedder)
	if err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	scoring.Keep = keepCompiled
	scorer, _ := score.Open(e.suite, scoring)
	hide, err := a.hiding(e.loaded)
	if err != nil {
		return run.Summary{Status: run.StatusFailed}, err
	}
	progress := report.Progress{W: a.err, TTY: a.errTTY, Width: a.width, Now: a.now}
	if f.quiet {
		progress.W, progress.TTY = io.Discard, false
	}
	cfg := run.Config{
		Suite: e.suite, Source: e.cases, Targets: e.targets, Scorer: scorer, Contract: scorer, Goal: scorer, Idle: scorer.Idle,
		Worlds: func(c *callvet.Case) callvet.World {
			return replay.Mocks(e.suite, c, replay.Options{RealLatency: f.realLatency})
		},
		Cases: e.man.Cases, Repeats: e.man.Repeats, Interleave: f.interleave, Limits: limits(e, f), Timeout: f.timeout, Retry: f.retry(),
		Budget: run.Budget{MaxCostUSD: f.maxCost, MaxCalls: f.maxCalls}, RunID: e.run.ID, Journal: lease, Lease: lease, Spent: e.run.Spent, Done: e.done, KeepErrors: f.keepErrors,
		Grace: grace, Abort: a.process.Hard.Done(), Now: a.now, Seed: uint64(e.man.Seed), Redact: hide.cell,
		Observe: func(ev run.Event) {
			e.tally.take(ev)
			progress.Update(report.Tick{Done: ev.Done, Total: ev.Total, Failed: ev.Fail, Errors: ev.Error, CostUSD: ev.CostUSD, CostUnknown: !ev.CostKnown, ETA: ev.ETA})
		},
	}
	if !f.noCache {
		cfg.Cache = db
	}
	sum, err := run.Run(ctx, cfg)
	progress.Finish()
	for i, why := range sum.Stopped { // a fault's words, as they came
		sum.Stopped[i] = hide.text(why)
	}
	if !f.quiet {
		a.tellHidden(hide, e.man.Made)
	}
	return sum, err
}

// retry is what --retries says: of every failure where it was given.
func (f *runFlags) retry() run.Retry {
	r := run.Retry{Attempts: f.retries + 1}
	if f.retriesGiven {
		r.RateLimited = r.Attempts
	}
	return r
}

// limits are the command line's for every provider, and a targets file's for its own.
func limits(e *evaluation, f *runFlags) map[string]run.Limits {
	m := map[string]run.Limits{"": {Concurrency: f.concurrency, PerSecond: f.rate}}
	for i := range e.man.Specs {
		s := &e.man.Specs[i]
		if (s.Concurrency == 0 && s.Rate == 0) || i >= len(e.targets) || len(e.man.Specs) != len(e.targets) {
			continue
		}
		l := m[""]
		if s.Concurrency > 0 {
			l.Concurrency = s.Concurrency
		}
		if s.Rate > 0 {
			l.PerSecond = s.Rate
		}
		m[e.targets[i].Provider] = l
	}
	return m
}

// outcome is what reports tell of a run that this process has ended.
func (a *app) outcome(ctx context.Context, db *store.DB, e *evaluation, op *opener, f *runFlags) (v *report.View, err error) {
	if e.run, err = db.Run(ctx, e.run.ID); err != nil {
		return nil, err
	}
	p := e.tally.panels()
	if p == nil {
		if p, err = e.panels(ctx, db, f.slices); err != nil {
			return nil, err
		}
	}
	red, err := a.viewer(e.man, nil)
	if err != nil {
		return nil, err
	}
	op.tellLearned(red)
	v = e.viewOf(ctx, db, p, red)
	if v.Selection, err = e.section(ctx, db, p, op, "", red); err != nil {
		return nil, err
	}
	v.Models = op.used()
	return v, a.heapProfile(ctx)
}

// conclude tells what came out of a run and decides the exit code; runErr is why it
// ended early.
func (a *app) conclude(ctx context.Context, v *report.View, e *loaded, f *runFlags, sum run.Summary, runErr error) error {
	for _, o := range f.outputs {
		if err := a.writeReport(ctx, v, o); err != nil {
			return err
		}
	}
	if err := a.show(v, f); err != nil {
		return err
	}
	if !f.quiet {
		selector.TellUse(a.err, v.Models)
	}
	for _, s := range sum.Stopped {
		fmt.Fprintf(a.err, "gave up on %s\n", s)
	}
	if n := sum.Spent.Assumed; n > 0 && f.maxCost > 0 {
		fmt.Fprintf(a.err, "note: %s told no usage that can be true: for --max-cost they were taken to cost %s at most, a token for each byte sent and received\n",
			plain.Count(n, "request", "requests"), plain.Dollars(sum.Spent.AssumedUSD))
	}
	switch {
	case sum.Status == run.StatusInterrupted:
		a.process.TellInterrupt() // also where it was another process that was interrupted
		a.exitStatus = exitInterrupted
	case runErr != nil && !errors.Is(runErr, callvet.ErrBudget):
		return runErr
	case runErr != nil:
		return &callvet.Hinted{Err: runErr, Hint: e.afterBudget(f, sum, runErr)}
	case sum.Pass+sum.Fail == 0:
		return fmt.Errorf("nothing was judged: %s ended in an error, %s did not run", plain.Count(sum.Error, "cell", "cells"), plain.Thousands(sum.NotRun))
	default:
		a.exitStatus = a.verdict(v, f, sum)
	}
	return nil
}

// interruption is what is told where the telling of a run is interrupted.
func (l *loaded) interruption(sum run.Summary) string {
	if sum.Status == run.StatusDone {
		return "interrupted; the run is done and stored; see: " + l.hints.text(action{Verb: verbShow, Run: l.run.ID}, l.man)
	}
	return fmt.Sprintf("interrupted: %d of %d cells are done and stored; go on with: %s", sum.Done, sum.Total, l.resumed())
}

// afterBudget is what helps when a budget is exhausted: the run with twice the limit
// that was reached, or what the error itself says.
func (l *loaded) afterBudget(f *runFlags, sum run.Summary, err error) string {
	var h *callvet.Hinted
	switch {
	case errors.As(err, &h):
		return h.Hint + "; then " + l.resumed()
	case f.maxCalls > 0 || f.maxCost > 0:
		return l.raised(f.maxCalls, f.maxCost, sum.Spent)
	}
	return l.resumed() + " with a larger budget"
}

// raised is the command that goes on with a run that has spent its budget: with twice the
// limit that it reached.
func (l *loaded) raised(maxCalls int, maxCost float64, spent callvet.Spent) string {
	switch {
	case maxCalls > 0 && spent.Requests >= maxCalls:
		return l.resumed(flag1("max-calls", strconv.Itoa(2*maxCalls)))
	case maxCost > 0:
		most := max(maxCost, spent.USD+spent.AssumedUSD)
		return l.resumed(flag1("max-cost", strconv.FormatFloat(2*most, 'g', 6, 64)))
	}
	return l.resumed()
}

// show prints the run on standard output.
func (a *app) show(v *report.View, f *runFlags) error {
	switch {
	case f.quiet && !a.jsonOut:
		return nil
	case f.told != nil:
		return f.told(v)
	case a.jsonOut:
		return report.JSON(a.out, v)
	}
	return report.Terminal(a.out, v, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY), MaxFailures: f.maxFailures})
}

// verdict judges the run by --require-pass and --fail-under, for each target.
func (a *app) verdict(v *report.View, f *runFlags, sum run.Summary) int {
	code := exitOK
	if f.requirePass {
		if sum.Pass != sum.Total {
			fmt.Fprintf(a.err, "required: every attempt passes; %d of %d did\n", sum.Pass, sum.Total)
			return exitGateFailed
		}
		if n := passedInPart(v.Panels); n > 0 {
			fmt.Fprintf(a.err, "required: every attempt passes; %d of %d did, %d of them with assertions that were not evaluated\n", sum.Pass, sum.Total, n)
			return exitGateFailed
		}
	}
	if f.failUnder <= 0 {
		return code
	}
	for i := range v.Panels.Targets {
		t := &v.Panels.Targets[i]
		m := t.Overall.Metric(panel.MetricPass)
		if t.Floor || m == nil || !m.Interval.Defined() {
			continue
		}
		switch iv := m.Interval; {
		case iv.Upper < f.failUnder:
			fmt.Fprintf(a.err, "failed: %s passes %.1f %% (%.1f to %.1f), under %.1f %%\n", t.Name, 100*iv.Point, 100*iv.Lower, 100*iv.Upper, 100*f.failUnder)
			code = exitGateFailed
		case iv.Lower < f.failUnder:
			fmt.Fprintf(a.err, "inconclusive: %s passes %.1f %% (%.1f to %.1f); %d cases cannot tell whether that is %.1f %% or more\n", t.Name, 100*iv.Point, 100*iv.Lower, 100*iv.Upper, t.Overall.Cases, 100*f.failUnder)
			if code == exitOK {
				code = exitInconclusive
			}
		}
	}
	return code
}

// codeNotEvaluated is that of lint's problems with assertions that nothing here evaluates.
const codeNotEvaluated = "not-evaluated"

// passedInPart counts attempts that passed with assertions that were not evaluated.
func passedInPart(p *panel.Panels) (n int) {
	for i := range p.Targets {
		n += p.Targets[i].Overall.NotEvaluated.Passed
	}
	return n
}

// writeReport writes one report file, whole or not at all; "-" is standard output as text.
func (a *app) writeReport(ctx context.Context, v *report.View, path string) error {
	face, err := report.ByPath(path)
	if err != nil {
		return err
	}
	return a.write(ctx, path, func(w io.Writer) error { return face(w, v) })
}
