// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
)

// Run is a stored run with its suite. The cases stay in the store and are read
// as they are needed: a big suite costs no more memory than a small one.
type Run struct {
	Stored    store.Run
	Manifest  *Manifest
	Suite     *callvet.Suite // without cases
	CaseLines *store.CaseReader
	Without   map[string]bool // cases that are left out of sums and comparisons
	// Among are the only attempts of sums and comparisons, in the order of the suite; nil: all that were
	// planned.
	Among    []store.Place
	DB       *store.DB
	opinions opinions
	damage   *damagedError // nil if its manifest and its suite could be read
}

// NoRunError is the error of a missing run. It wraps callvet.ErrNotFound.
type NoRunError struct {
	Ref string
	Err error
}

func (e *NoRunError) Error() string { return e.Err.Error() }

// Unwrap returns the store's error.
func (e *NoRunError) Unwrap() error { return e.Err }

// Stored finds a run by id, name or place, such as last.
func Stored(ctx context.Context, db *store.DB, ref string) (store.Run, error) {
	if id, ok := suite.EvalRunOf(ref); ok {
		ref = id
	}
	r, err := db.Run(ctx, ref)
	if !errors.Is(err, callvet.ErrNotFound) {
		return r, err
	}
	if strings.ContainsAny(ref, "./\\") { // probably a file was meant
		err = fmt.Errorf("open %s: no such file, and no such run: %w", ref, callvet.ErrNotFound)
	}
	return r, &NoRunError{Ref: ref, Err: err}
}

// Open opens a stored run: by its id or the beginning of it, its name, or last, last~1, …
// Cases are read until ctx ends. The error is a *NoRunError for a missing run.
func Open(ctx context.Context, a *app.App, ref string) (*Run, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	return OpenIn(ctx, db, ref)
}

// OpenIn opens the run of a store that ref names; see Open.
func OpenIn(ctx context.Context, db *store.DB, ref string) (*Run, error) {
	s, err := Stored(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(&s)
	if err != nil {
		return nil, err
	}
	r, err := OpenSuite(ctx, db, s.SuiteHash)
	if err != nil {
		if !Momentary(ctx, err) {
			err = &damagedError{s.ID, "suite", err}
		}
		return nil, err
	}
	if slices.ContainsFunc(m.Cases, r.beyond) {
		return nil, &damagedError{s.ID, "manifest", errors.New("it has a case that the suite does not have")}
	}
	r.Stored, r.Manifest = s, m
	return r, nil
}

// OpenSuite opens a stored suite, for a run that does not exist yet.
func OpenSuite(ctx context.Context, db *store.DB, hash string) (*Run, error) {
	s, cases, err := db.OpenSuite(ctx, hash)
	if err != nil {
		return nil, err
	}
	return &Run{Suite: s, CaseLines: cases, DB: db}, nil
}

// AllCases yields every case of the suite until one cannot be read.
func (r *Run) AllCases(failed *error) iter.Seq[*callvet.Case] {
	return r.some(r.CaseLines.Len(), func(i int) int { return i }, failed)
}

// Chosen yields the cases of the run until one cannot be read.
func (r *Run) Chosen(failed *error) iter.Seq[*callvet.Case] {
	if r.Manifest.Cases == nil {
		return r.AllCases(failed)
	}
	return r.some(len(r.Manifest.Cases), func(i int) int { return r.Manifest.Cases[i] }, failed)
}

func (r *Run) some(n int, at func(int) int, failed *error) iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		for i := range n {
			c, err := r.CaseLines.Case(at(i))
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

// Cases returns the number of cases of the run.
func (r *Run) Cases() int {
	if r.Manifest.Cases == nil {
		return r.CaseLines.Len()
	}
	return len(r.Manifest.Cases)
}

// Rows streams attempts with their cases and the verdicts of judges.
func (r *Run) Rows(ctx context.Context, f store.Filter) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		opinions, err := r.ReadOpinions(ctx)
		if err != nil {
			yield(report.Row{}, err)
			return
		}
		for row, err := range r.attempted(ctx, f) {
			if err == nil {
				opinions.addTo(r.Manifest.Targets, row.Case, row.Cell)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// attempted streams attempts with callvet's own scores only.
func (r *Run) attempted(ctx context.Context, f store.Filter) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		for c, err := range r.DB.Cells(ctx, r.Stored.ID, f) {
			if err == nil && !r.placed(c) {
				continue
			}
			var of *callvet.Case
			if err == nil {
				of, err = r.caseOf(ctx, c)
			}
			if err != nil {
				yield(report.Row{}, fmt.Errorf("read run %s: %w", r.Stored.ID, err))
				return
			}
			c.Result.Rules = cmp.Or(c.Result.Rules, r.Manifest.RulesVersion())
			if !yield(report.Row{Case: of, Cell: c}, nil) {
				return
			}
		}
	}
}

// caseOf returns the case of a cell. If it cannot be read, the cell is lost, and a case with only
// the id replaces it, so that the other attempts of the run remain readable.
func (r *Run) caseOf(ctx context.Context, c *callvet.Cell) (*callvet.Case, error) {
	of, err := r.CaseLines.Case(c.Case)
	if err == nil || Momentary(ctx, err) {
		return of, err
	}
	id := cmp.Or(c.Trace.CaseID, "case "+strconv.Itoa(c.Case+1))
	c.Lost(id, err)
	return &callvet.Case{ID: id}, nil
}

// beyond reports whether a position is outside the suite.
func (r *Run) beyond(at int) bool { return at < 0 || at >= r.CaseLines.Len() }

// placed reports whether the run has the case and the target of a cell. Others are counted as
// misplaced.
func (r *Run) placed(c *callvet.Cell) bool {
	return c.Target >= 0 && c.Target < len(r.Manifest.Targets) && !r.beyond(c.Case)
}

// Shown streams attempts with their cases, redacted by red.
func (r *Run) Shown(ctx context.Context, f store.Filter, red *redact.Redactor) iter.Seq2[report.Row, error] {
	return seen(r.Rows(ctx, f), red)
}

// seen redacts rows by red.
func seen(rows iter.Seq2[report.Row, error], red *redact.Redactor) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		own := red.Fork()
		var of *callvet.Case
		asks := ""
		for row, err := range rows {
			if err == nil {
				c, cell := own.Row(row.Case, row.Cell)
				if row.Case != of {
					of, asks = row.Case, row.Case.Identity()
				}
				row = report.Row{Case: &c, Cell: &cell, Asks: asks}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// verdicts streams the results of the attempts, case by case, without texts, so that nothing needs
// redaction.
func (r *Run) verdicts(ctx context.Context) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		for c, err := range r.DB.DoneCells(ctx, r.Stored.ID) {
			if err == nil && !r.placed(c) {
				continue
			}
			var of *callvet.Case
			if err == nil {
				of, err = r.caseOf(ctx, c)
			}
			if err != nil {
				yield(report.Row{}, fmt.Errorf("read run %s: %w", r.Stored.ID, err))
				return
			}
			if !yield(report.Row{Case: &callvet.Case{ID: of.ID}, Cell: c}, nil) {
				return
			}
		}
	}
}

// Unambiguous returns an error for slice keys that do not distinguish the expected tool from the
// called one.
func Unambiguous(field string, by []string) error {
	for _, key := range by {
		if callvet.AmbiguousSlice(key) {
			return &callvet.FieldError{
				Field: field, Text: fmt.Sprintf("{%s} %s: the key is ambiguous", field, key),
				Fix: fmt.Sprintf("{%s} %s for all cases that expect a tool, {%s} %s for its calls", field,
					callvet.SliceExpectedTool, field, callvet.SliceCalledTool),
			}
		}
	}
	return nil
}

// Sliceable returns an error for slice keys that no case of the run has.
func (r *Run) Sliceable(by []string) error {
	if err := Unambiguous("slices", by); err != nil {
		return err
	}
	var err error
	missing, known := panel.MissingSlices(by, r.Suite.Tools, r.Chosen(&err))
	if err != nil || len(missing) == 0 {
		return err
	}
	hint := "there are: " + strings.Join(known, ", ")
	if near := callvet.Nearest(missing[0], known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return &callvet.Hinted{Err: app.Wrong("slices", missing[0], "no case has it"), Hint: hint}
}

// Size returns how many attempts the run has when it is done.
func (r *Run) Size() int { return r.Manifest.Attempts(r.Cases()) * len(r.Manifest.Targets) }

// Resume is the action that resumes the run with different settings.
func (r *Run) Resume(with ...app.Setting) app.Action {
	verb := app.VerbResume
	if r.Manifest.Made && r.Manifest.Judging == nil && !catalog.MadeByCallvet(r.Suite) {
		verb = app.VerbSweep
	}
	return app.Action{Verb: verb, Run: r.Stored.ID, With: with}
}

// Raise is the action that resumes a run that has spent its budget, with twice the limit that it
// reached.
func (r *Run) Raise() app.Action {
	s, spent := r.Manifest.Settings, r.Stored.Spent
	switch {
	case s == nil:
	case s.MaxCalls > 0 && spent.Requests >= s.MaxCalls:
		return r.Resume(app.One("max_calls", strconv.Itoa(2*s.MaxCalls)))
	case s.MaxCostUSD > 0:
		most := max(s.MaxCostUSD, spent.USD+spent.AssumedUSD)
		return r.Resume(app.One("max_cost_usd", strconv.FormatFloat(2*most, 'g', 6, 64)))
	}
	return r.Resume()
}

// Again is the action that runs the lost attempts again, with a larger budget if the run has spent
// its own.
func (r *Run) Again() app.Action {
	if r.Stored.Status == store.StatusBudget {
		return r.Raise()
	}
	return r.Resume()
}

// maxNext bounds the actions that are suggested.
const maxNext = 3

// Next returns the most useful next actions, at most maxNext.
func (r *Run) Next(p *panel.Panels) []app.Action {
	passes, fails, errs := 0, 0, 0
	models := slices.ContainsFunc(p.Targets, func(t panel.TargetPanel) bool { return !t.Floor })
	for i := range p.Targets {
		v := &p.Targets[i].Overall.Verdicts
		if errs += v.Error; !models || !p.Targets[i].Floor { // a floor next to models is expected to fail
			passes, fails = passes+v.Pass, fails+v.Fail
		}
	}
	var out []app.Action
	add := func(v app.Verb, with ...app.Setting) {
		out = append(out, app.Action{Verb: v, Run: r.Stored.ID, With: with})
	}
	switch {
	case r.Stored.Status == store.StatusBudget && r.Manifest.Settings != nil:
		out = append(out, r.Raise())
	case r.Stored.Status != store.StatusDone || errs > 0:
		add(app.VerbResume)
	case fails > 0:
		add(app.VerbShow)
	}
	if r.Manifest.Drill || r.Manifest.Replay != nil { // its suite is not a file
		add(app.VerbReport)
		add(app.VerbDiff)
		return out
	}
	if r.Manifest.Made {
		if r.Manifest.Judging == nil && !catalog.MadeByCallvet(r.Suite) {
			add(app.VerbSweep)
		}
		add(app.VerbReport)
		return out
	}
	if fails > 0 {
		add(app.VerbAgain, app.One("failed_from", r.Stored.ID))
	}
	if passes > 0 && fails+errs == 0 && p.Repeats < 2 {
		add(app.VerbAgain, app.One("repeats", "5"))
	}
	add(app.VerbReport)
	add(app.VerbDiff)
	return out[:min(len(out), maxNext)]
}
