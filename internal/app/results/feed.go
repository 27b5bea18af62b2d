// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
)

// Feed reads the attempts of a run in the order of their commits, redacted for viewers.
type Feed struct {
	*Run
	red *redact.Redactor
}

// Place is the position of an attempt in a run.
type Place struct {
	Case   int `json:"case"`
	Target int `json:"target"`
	Repeat int `json:"repeat"`
}

// NewFeed opens the feed of a run, which is read until ctx ends.
func NewFeed(ctx context.Context, a *app.App, ref string) (*Feed, error) {
	r, red, err := OpenRedacted(ctx, a, ref, nil)
	if err != nil {
		return nil, err
	}
	return &Feed{Run: r, red: red.Fork()}, nil
}

// Next returns at most most attempts after the position last of an earlier call; 0: from the first.
// There may be none yet.
func (f *Feed) Next(ctx context.Context, after int64, most int) (list []report.Row, last int64, err error) {
	cells, last, err := f.DB.CellsAfter(ctx, f.Stored.ID, after, most)
	if err != nil {
		return nil, after, err
	}
	list, err = f.rows(ctx, cells)
	return list, last, err
}

func (f *Feed) rows(ctx context.Context, cells []*callvet.Cell) ([]report.Row, error) {
	list := make([]report.Row, 0, len(cells))
	for _, c := range cells {
		if !f.placed(c) {
			continue
		}
		of, err := f.caseOf(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", f.Stored.ID, err)
		}
		asks := of.Identity()
		shown, cell := f.red.Row(of, c)
		list = append(list, report.Row{Case: &shown, Cell: &cell, Asks: asks})
	}
	return list, nil
}

// Unjudged returns the places of the attempts that ended in an error or did not run: a resumed
// session runs them again, unless it keeps errors.
func (f *Feed) Unjudged(ctx context.Context) ([]Place, error) {
	var out []Place
	for c, err := range f.DB.DoneCells(ctx, f.Stored.ID) {
		if err != nil {
			return nil, err
		}
		if c.Result.Verdict == callvet.VerdictError || c.Result.Verdict == callvet.VerdictNotRun {
			out = append(out, Place{c.Case, c.Target, c.Repeat})
		}
	}
	return out, nil
}

// At returns the attempts at places, in their order; missing attempts are left out.
func (f *Feed) At(ctx context.Context, places []Place) ([]report.Row, error) {
	var found []*callvet.Cell
	for _, p := range places {
		of, err := f.CaseLines.Case(p.Case)
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", f.Stored.ID, err)
		}
		for c, err := range f.DB.Cells(ctx, f.Stored.ID, store.Filter{CaseID: of.ID, Target: &p.Target}) {
			if err != nil {
				return nil, err
			}
			if c.Case == p.Case && c.Repeat == p.Repeat {
				found = append(found, c)
			}
		}
	}
	return f.rows(ctx, slices.Clip(found))
}
