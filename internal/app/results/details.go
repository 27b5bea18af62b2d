// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
)

// details are the attempts of an outline with each kind of observation, as rising positions. All
// attempts must be read in full for that, which takes seconds for 100,000; so it is read at most
// once for a kept outline.
//
// Details depend on the run and not on the viewer: they contain only names of tools, names of the
// matrix, and counts.
type details struct {
	confused  map[trace.Confused][]int32 // by pairs of the confusion matrix
	reasoned  map[string][]int32         // by the reason why they are unparseable or errors
	incidents []int32
	recorded  []int32 // with an answered call
}

// mostDetails bounds the kept positions of a run, of 4 bytes each.
const mostDetails = 8 << 20

func (d *details) add(r *Run, at int32, row *report.Row) {
	for _, p := range r.pairsOf(row) {
		if list := d.confused[p]; len(list) == 0 || list[len(list)-1] != at {
			d.confused[p] = append(list, at)
		}
	}
	for _, why := range reasonOf(row) {
		d.reasoned[why] = append(d.reasoned[why], at)
	}
	if len(row.Cell.Result.Incidents) > 0 {
		d.incidents = append(d.incidents, at)
	}
	if len(recordedOf(&row.Cell.Trace)) > 0 {
		d.recorded = append(d.recorded, at)
	}
}

func (d *details) size() int {
	n := len(d.incidents) + len(d.recorded)
	for _, list := range d.confused {
		n += len(list)
	}
	for _, list := range d.reasoned {
		n += len(list)
	}
	return n
}

// detailsOf returns the details of the run and reads them if they are not kept yet. The outline is
// a kept one.
func (o *outline) detailsOf(ctx context.Context, r *Run) (*details, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	if known := o.details.Load(); known != nil {
		return known, nil
	}
	d := &details{confused: map[trace.Confused][]int32{}, reasoned: map[string][]int32{}}
	if err := o.each(ctx, r, func(at int32, row *report.Row) { d.add(r, at, row) }); err != nil {
		return nil, err
	}
	if d.size() <= mostDetails {
		o.details.Store(d)
	}
	return d, nil
}

// wantedAt reports for each attempt of an outline whether it has a wanted value: of returns the
// values of an attempt, kept the positions of the attempts with a value.
func wantedAt[T comparable](ctx context.Context, o *outline, r *Run, wanted func(T) bool, of func(*report.Row) []T,
	kept func(*details) map[T][]int32,
) ([]bool, error) {
	out := make([]bool, len(o.lines))
	if !o.kept {
		return out, o.each(ctx, r, func(at int32, row *report.Row) {
			out[at] = slices.ContainsFunc(of(row), wanted)
		})
	}
	d, err := o.detailsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	for what, list := range kept(d) {
		if wanted(what) {
			for _, at := range list {
				out[at] = true
			}
		}
	}
	return out, nil
}

// reasonedAt reports for each attempt of an outline whether it is unparseable or an error for one
// of the reasons. It returns nil without reasons.
func (o *outline) reasonedAt(ctx context.Context, r *Run, reasons []string) ([]bool, error) {
	if len(reasons) == 0 {
		return nil, nil
	}
	wanted := func(why string) bool { return slices.Contains(reasons, why) }
	return wantedAt(ctx, o, r, wanted, reasonOf, func(d *details) map[string][]int32 { return d.reasoned })
}

// reasonOf returns why an attempt is unparseable or an error; empty for other attempts.
func reasonOf(row *report.Row) []string {
	t := &row.Cell.Trace
	switch {
	case t.Outcome == callvet.OutcomeError && t.Fault != nil:
		return []string{string(t.Fault.Kind)}
	case t.Outcome == callvet.OutcomeUnparseable && t.Reason != "":
		return []string{string(t.Reason)}
	}
	return nil
}

// each reads all attempts of the outline, case by case.
func (o *outline) each(ctx context.Context, r *Run, do func(at int32, row *report.Row)) error {
	for row, err := range r.attempted(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		at, known := o.position(SpotOf(row.Cell))
		if known && row.Cell.Target < len(r.Manifest.Targets) { // other attempts came after the outline was made
			do(at, &row)
		}
	}
	return nil
}
