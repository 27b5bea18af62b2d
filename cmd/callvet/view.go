// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// loaded is a stored run with its suite.
type loaded struct {
	run   store.Run
	man   *manifest
	suite *callvet.Suite
}

func openRun(ctx context.Context, db *store.DB, ref string) (*loaded, error) {
	r, err := db.Run(ctx, ref)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(&r)
	if err != nil {
		return nil, err
	}
	s, err := db.Suite(ctx, r.SuiteHash)
	if err != nil {
		return nil, err
	}
	return &loaded{run: r, man: m, suite: s}, nil
}

// cases yields the cases that the run is about.
func (l *loaded) cases() iter.Seq[*callvet.Case] {
	return func(yield func(*callvet.Case) bool) {
		if l.man.Cases == nil {
			for i := range l.suite.Cases {
				if !yield(&l.suite.Cases[i]) {
					return
				}
			}
			return
		}
		for _, ix := range l.man.Cases {
			if !yield(&l.suite.Cases[ix]) {
				return
			}
		}
	}
}

// caseCount is how many cases the run is about.
func (l *loaded) caseCount() int {
	if l.man.Cases == nil {
		return len(l.suite.Cases)
	}
	return len(l.man.Cases)
}

// rows streams attempts with their cases.
func (l *loaded) rows(ctx context.Context, db *store.DB, f store.Filter) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		for c, err := range db.Cells(ctx, l.run.ID, f) {
			if err == nil && (c.Case < 0 || c.Case >= len(l.suite.Cases)) {
				err = fmt.Errorf("read run %s: %w: case %d of %d", l.run.ID, callvet.ErrInvalid, c.Case, len(l.suite.Cases))
			}
			if err != nil {
				yield(report.Row{}, err)
				return
			}
			if !yield(report.Row{Case: &l.suite.Cases[c.Case], Cell: c}, nil) {
				return
			}
		}
	}
}

// panels sums the run up; the one place where a stored run becomes numbers.
func (l *loaded) panels(ctx context.Context, db *store.DB, sliceBy []string) (*panel.Panels, error) {
	if sliceBy == nil {
		sliceBy = l.man.Slices
	}
	acc := panel.New(panel.Config{Targets: l.man.Targets, Tools: l.suite.Tools, Repeats: l.man.Repeats, SliceBy: sliceBy}, l.cases())
	for r, err := range l.rows(ctx, db, store.Filter{}) {
		if err != nil {
			return nil, err
		}
		acc.Add(r.Case, r.Cell)
	}
	return acc.Panels(), nil
}

// view is what reports tell of the run.
func (l *loaded) view(ctx context.Context, db *store.DB, sliceBy []string) (*report.View, error) {
	p, err := l.panels(ctx, db, sliceBy)
	if err != nil {
		return nil, err
	}
	return &report.View{
		ID: l.run.ID, Created: l.run.Created, Status: string(l.run.Status),
		Suite: report.SuiteMeta{
			Name: l.suite.Name, Version: l.suite.Version, Description: l.suite.Description, Hash: l.run.SuiteHash,
			Cases: l.caseCount(), Tools: len(l.suite.Tools),
		},
		Targets: l.man.Targets, Panels: p, Manifest: l.man.fields(&l.run), Next: l.next(p),
		Cells: func(verdicts ...callvet.Verdict) iter.Seq2[report.Row, error] {
			return l.rows(ctx, db, store.Filter{Verdicts: verdicts, Exchanges: true})
		},
	}, nil
}

// next are the commands that help most now.
func (l *loaded) next(p *panel.Panels) []string {
	fails, errs := 0, 0
	for i := range p.Targets {
		fails += p.Targets[i].Overall.Verdicts.Fail
		errs += p.Targets[i].Overall.Verdicts.Error
	}
	id := l.run.ID
	var out []string
	switch {
	case l.run.Status != store.StatusDone || errs > 0:
		out = append(out, "callvet run --resume "+id)
	case fails > 0:
		out = append(out, "callvet show "+id)
	}
	if fails > 0 {
		out = append(out, fmt.Sprintf("callvet run %s --failed-from %s%s", shellQuote(l.man.Path), id, l.targetArgs()))
	}
	if l.man.Repeats == 1 && fails+errs == 0 {
		out = append(out, fmt.Sprintf("callvet run %s%s --repeat 5", shellQuote(l.man.Path), l.targetArgs()))
	}
	return append(out, "callvet report "+id+" -o report.html", "callvet diff "+id+" OTHER-RUN")[:3]
}

func (l *loaded) targetArgs() string {
	s := ""
	for i := range l.man.Specs {
		s += " -m " + shellQuote(l.man.Specs[i].Target)
	}
	return s
}

// shellQuote quotes a word for a POSIX shell when it needs it.
func shellQuote(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:@=+,~", r)
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
