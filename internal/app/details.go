// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"

	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/trace"
)

// details are which attempts of an outline have something, as positions in rising order. To know it, all
// attempts have to be read whole, which takes seconds where there are 100,000; so it is read at most once for an
// outline that is kept.
//
// Details depend on the run and not on who looks at it: pairs are of tools and of names of the matrix, and the
// rest is counted.
type details struct {
	confused  map[trace.Confused][]int32 // by pairs of the confusion matrix
	incidents []int32
	recorded  []int32 // with a call that got something
}

// mostDetails bounds the positions that are kept of a run, of 4 bytes each.
const mostDetails = 8 << 20

func (d *details) add(r *Run, at int32, row *report.Row) {
	for _, p := range r.pairsOf(row) {
		if list := d.confused[p]; len(list) == 0 || list[len(list)-1] != at {
			d.confused[p] = append(list, at)
		}
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
	return n
}

// detailsOf reads the details of the run, or has them from before. The outline is one that is kept.
func (o *outline) detailsOf(ctx context.Context, r *Run) (*details, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	if known := o.details.Load(); known != nil {
		return known, nil
	}
	d := &details{confused: map[trace.Confused][]int32{}}
	if err := o.each(ctx, r, func(at int32, row *report.Row) { d.add(r, at, row) }); err != nil {
		return nil, err
	}
	if d.size() <= mostDetails {
		o.details.Store(d)
	}
	return d, nil
}

// each reads all attempts that the outline has, case by case.
func (o *outline) each(ctx context.Context, r *Run, do func(at int32, row *report.Row)) error {
	for row, err := range r.attempted(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return err
		}
		at, known := o.position(placeOf(row.Cell))
		if known && row.Cell.Target < len(r.Manifest.Targets) { // others came after the outline was made
			do(at, &row)
		}
	}
	return nil
}
