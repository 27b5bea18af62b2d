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
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/sources"
	"github.com/callvet/callvet/internal/replay"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
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
