// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/revision"
	"github.com/callvet/callvet/cmd/callvet/sources"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace/redact"
	"github.com/callvet/callvet/panel"
)

// loaded is a stored run with its suite. The cases stay in the store and are read
// as they are needed: a big suite costs no more memory than a small one.
type loaded struct {
	run   store.Run
	man   *manifest
	suite *callvet.Suite // without cases
	cases *store.CaseReader
	hints hints
}

func openSuite(ctx context.Context, db *store.DB, hash string) (*loaded, error) {
	s, cases, err := db.OpenSuite(ctx, hash)
	if err != nil {
		return nil, err
	}
	return &loaded{suite: s, cases: cases}, nil
}

func (a *app) openRun(ctx context.Context, db *store.DB, ref string) (*loaded, error) {
	hints := a.hints()
	r, err := db.Run(ctx, ref)
	if errors.Is(err, callvet.ErrNotFound) && strings.ContainsAny(ref, "./\\") { // most likely a file was meant
		err = fmt.Errorf("open %s: no such file, and no such run: %w", ref, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, hints.missing(err)
	}
	m, err := readManifest(&r)
	if err != nil {
		return nil, err
	}
	l, err := openSuite(ctx, db, r.SuiteHash)
	if err != nil {
		return nil, err
	}
	l.run, l.man, l.hints = r, m, hints
	return l, nil
}

// all yields every case of the suite until one cannot be read.
func (l *loaded) all(failed *error) iter.Seq[*callvet.Case] {
	return l.some(l.cases.Len(), func(i int) int { return i }, failed)
}

// chosen yields the cases that the run is about until one cannot be read.
func (l *loaded) chosen(failed *error) iter.Seq[*callvet.Case] {
	if l.man.Cases == nil {
		return l.all(failed)
	}
	return l.some(len(l.man.Cases), func(i int) int { return l.man.Cases[i] }, failed)
}

func (l *loaded) some(n int, at func(int) int, failed *error) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		for i := range n {
			c, err := l.cases.Case(at(i))
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

// caseCount is how many cases the run is about.
func (l *loaded) caseCount() int {
	if l.man.Cases == nil {
		return l.cases.Len()
	}
	return len(l.man.Cases)
}

// rank is where a case of the suite stands among those that the run is about; -1
// when it is none of them.
func (l *loaded) rank(ix int) int {
	if l.man.Cases == nil {
		return ix
	}
	if r, ok := slices.BinarySearch(l.man.Cases, ix); ok {
		return r
	}
	return -1
}

// rows streams attempts with their cases.
func (l *loaded) rows(ctx context.Context, db *store.DB, f store.Filter) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		for c, err := range db.Cells(ctx, l.run.ID, f) {
			var of *callvet.Case
			if err == nil {
				of, err = l.cases.Case(c.Case)
			}
			if err != nil {
				yield(report.Row{}, fmt.Errorf("read run %s: %w", l.run.ID, err))
				return
			}
			if !yield(report.Row{Case: of, Cell: c}, nil) {
				return
			}
		}
	}
}

// shown streams attempts with their cases as red lets them be seen.
func (l *loaded) shown(ctx context.Context, db *store.DB, f store.Filter, red *redact.Redactor) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		own := red.Fork()
		for r, err := range l.rows(ctx, db, f) {
			if err == nil {
				c, cell := own.Row(r.Case, r.Cell)
				r = report.Row{Case: &c, Cell: &cell}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// sliceable refuses slice keys that no case of the run has.
func (l *loaded) sliceable(by []string) error {
	var err error
	missing, known := panel.MissingSlices(by, l.suite.Tools, l.chosen(&err))
	if err != nil || len(missing) == 0 {
		return err
	}
	hint := "there are: " + strings.Join(known, ", ")
	if near := callvet.Nearest(missing[0], known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return &callvet.Hinted{Err: fmt.Errorf("--slice %s: %w: no case has it", missing[0], callvet.ErrInvalid), Hint: hint}
}

// accumulator prepares the sums of the run.
func (l *loaded) accumulator(sliceBy []string) (*panel.Accumulator, error) {
	if sliceBy == nil {
		sliceBy = l.man.Slices
	}
	var err error
	acc := panel.New(panel.Config{Targets: l.man.Targets, Tools: l.suite.Tools, Repeats: l.man.Repeats, SliceBy: sliceBy}, l.chosen(&err))
	return acc, err
}

// add gives one attempt to the sums, which know a case by its rank.
func (l *loaded) add(acc *panel.Accumulator, c *callvet.Case, cell *callvet.Cell) {
	if l.man.Cases != nil {
		ranked := *cell
		ranked.Case = l.rank(cell.Case)
		cell = &ranked
	}
	acc.Add(c, cell)
}

// panels sums a stored run up. Attempts come case by case, as in a tally: the
// order decides about the last digit of a sum.
func (l *loaded) panels(ctx context.Context, db *store.DB, sliceBy []string) (*panel.Panels, error) {
	acc, err := l.accumulator(sliceBy)
	if err != nil {
		return nil, err
	}
	for r, err := range l.rows(ctx, db, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		l.add(acc, r.Case, r.Cell)
	}
	return acc.Panels(), nil
}

// view is what reports tell of the run.
func (l *loaded) view(ctx context.Context, db *store.DB, sliceBy []string, red *redact.Redactor) (*report.View, error) {
	p, err := l.panels(ctx, db, sliceBy)
	if err != nil {
		return nil, err
	}
	return l.viewOf(ctx, db, p, red), nil
}

func (l *loaded) viewOf(ctx context.Context, db *store.DB, p *panel.Panels, red *redact.Redactor) *report.View {
	return &report.View{
		ID: l.run.ID, Created: l.run.Created, Status: string(l.run.State()), Spent: l.run.Spent, All: l.hints.text(action{Verb: verbAll, Run: l.run.ID}, l.man),
		Suite: report.SuiteMeta{
			Name: l.suite.Name, Version: l.suite.Version, Description: red.Text(l.suite.Description), Hash: l.run.SuiteHash,
			Cases: l.caseCount(), Tools: len(l.suite.Tools),
		},
		Tools:   l.suite.Tools,
		Targets: l.man.Targets, Panels: p, Manifest: l.man.fields(&l.run), Next: l.next(p),
		Cells: func(verdicts ...callvet.Verdict) iter.Seq2[report.Row, error] {
			return l.shown(ctx, db, store.Filter{Verdicts: verdicts, Exchanges: true}, red)
		},
	}
}

// maxNext bounds the commands that are suggested.
const maxNext = 3

// next are the commands that help most now, at most maxNext.
func (l *loaded) next(p *panel.Panels) []string {
	passes, fails, errs := 0, 0, 0
	for i := range p.Targets {
		passes += p.Targets[i].Overall.Verdicts.Pass
		fails += p.Targets[i].Overall.Verdicts.Fail
		errs += p.Targets[i].Overall.Verdicts.Error
	}
	var out []string
	say := func(v verb, with ...givenFlag) {
		out = append(out, l.hints.text(action{Verb: v, Run: l.run.ID, With: with}, l.man))
	}
	switch {
	case l.run.Status == store.StatusBudget && l.man.Settings != nil:
		out = append(out, l.raised(l.man.Settings.MaxCalls, l.man.Settings.MaxCostUSD, l.run.Spent))
	case l.run.Status != store.StatusDone || errs > 0:
		say(verbResume)
	case fails > 0:
		say(verbShow)
	}
	if l.man.Made {
		if !revision.Made(l.suite) {
			say(verbSweep)
		}
		say(verbReport)
		return out
	}
	if fails > 0 {
		say(verbAgain, flag1("failed-from", l.run.ID))
	}
	if l.man.Repeats == 1 && passes > 0 && fails+errs == 0 {
		say(verbAgain, flag1("repeat", "5"))
	}
	say(verbReport)
	say(verbDiff)
	return out[:min(len(out), maxNext)]
}

// resumed is the command that goes on with the run.
func (l *loaded) resumed(with ...givenFlag) string {
	v := verbResume
	if l.man.Made && !revision.Made(l.suite) {
		v = verbSweep
	}
	return l.hints.text(action{Verb: v, Run: l.run.ID, With: with}, l.man)
}

// openStored opens the store and a run of it; the caller closes the store unless there is
// an error.
func (a *app) openStored(ctx context.Context, ref string) (*store.DB, *loaded, error) {
	db, err := a.openStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := a.openRun(ctx, db, ref)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, l, nil
}

// openView opens the store and what reports tell of a run; the caller closes the
// store unless there is an error. keep are kinds of personal data that may be seen.
func (a *app) openView(ctx context.Context, ref string, sliceBy, keep []string) (*store.DB, *loaded, *report.View, error) {
	db, l, err := a.openStored(ctx, ref)
	if err != nil {
		return nil, nil, nil, err
	}
	var v *report.View
	red, err := a.viewer(l.man, keep)
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	if err = l.sliceable(sliceBy); err == nil {
		v, err = l.view(ctx, db, sliceBy, red)
	}
	if err == nil {
		op, why := a.reopened(ctx, l)
		v.Selection, err = l.section(ctx, db, v.Panels, op, why, red)
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	return db, l, v, nil
}

// reopened gives the catalogs of a stored run, to explain what they gave; nil when
// there are none, and nil with the reason when they cannot be opened as they were.
func (a *app) reopened(ctx context.Context, l *loaded) (op *opener, why string) {
	found, asks, _ := sources.Searches(targetsOf(l.man.Specs))
	switch {
	case !found:
		return nil, ""
	case asks:
		return nil, "the run used models, and a report asks none"
	}
	if why = sources.Changed(targetsOf(l.man.Specs), l.man.Catalogues, l.man.ToolsHash, a.read); why != "" {
		return nil, why
	}
	op, err := a.newOpener(0, "", l.run.ID)
	if err == nil {
		defer op.close()
		_, err = op.openAll(ctx, l.man.Specs)
	}
	if err != nil {
		return nil, err.Error()
	}
	op.stored = true
	return op, ""
}
