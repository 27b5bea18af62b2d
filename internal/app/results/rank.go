// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"slices"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/panel/steps"
)

// Contender is a target of a run.
type Contender struct {
	Run    string `json:"run"`
	Target string `json:"target"`
}

// Ranking has the ranks of targets by a metric.
type Ranking struct {
	Metric string       `json:"metric"`
	Ranks  []panel.Rank `json:"ranks"`
	// Unread are the runs that cannot be read, each once: their targets may have any place.
	Unread []string `json:"unread,omitempty"`
}

// First returns the positions of the targets that may have the first rank. A single target is first
// only if its rank is certain; else the targets that may have the same rank are included.
func (r *Ranking) First() (out []int) {
	limit := 1
	if top := r.upTo(limit); len(top) == 1 {
		limit = r.Ranks[top[0]].Worst
	}
	return r.upTo(limit)
}

// upTo returns the positions of the targets with a best possible rank of at most rank.
func (r *Ranking) upTo(rank int) (out []int) {
	for i := range r.Ranks {
		if r.Ranks[i].Best <= rank {
			out = append(out, i)
		}
	}
	return out
}

// Rank returns the rank of each target by the gated metric of the suite of the first target's run.
// It reads each run once.
func Rank(ctx context.Context, a *app.App, of []Contender) (*Ranking, error) {
	out := &Ranking{Metric: panel.MetricPass}
	ledgers := map[string]*panel.Ledger{}
	list := make([]panel.Contender, len(of))
	for i, c := range of {
		led := ledgers[c.Run]
		if led == nil {
			var err error
			if led, err = rankedLedger(ctx, a, c.Run, out, i == 0); ctx.Err() != nil {
				return nil, err
			} else if err != nil {
				led, out.Unread = panel.NewLedger(c.Run, nil, nil), append(out.Unread, c.Run)
			}
			ledgers[c.Run] = led
		}
		list[i] = panel.Contender{Ledger: led, Target: c.Target}
	}
	out.Ranks = panel.Ranks(list, out.Metric, 0)
	return out, nil
}

// rankedLedger reads the ledger for the ranking of a run; the suite of the first run decides the
// metric.
func rankedLedger(ctx context.Context, a *app.App, run string, out *Ranking, first bool) (*panel.Ledger, error) {
	r, err := Open(ctx, a, run)
	if err != nil {
		return nil, err
	}
	if first {
		out.Metric = r.gatedOn()
	}
	return r.Ledger(ctx, measure.SideConfig{By: []string{}, Metrics: []string{out.Metric}})
}

// ranked sums up the run by slices, as Panels does, with the rank of each target of the run, if it
// has several. The run is read once for both.
func (r *Run) ranked(ctx context.Context, sliceBy []string) (*panel.Panels, error) {
	if len(r.Manifest.Targets) < 2 || r.damage != nil {
		return r.Panels(ctx, sliceBy)
	}
	if sliceBy == nil {
		sliceBy = r.Manifest.Slices
	}
	metric := r.gatedOn()
	side, err := r.side(measure.SideConfig{By: []string{}, Metrics: []string{metric}})
	if err != nil {
		return nil, err
	}
	p, _, err := r.Measure(ctx, steps.Config{SliceBy: sliceBy}, side)
	if err != nil {
		return nil, err
	}
	led := side.Ledger(r.Stored.ID)
	of := make([]panel.Contender, len(p.Targets))
	for i := range p.Targets {
		of[i] = panel.Contender{Ledger: led, Target: p.Targets[i].Name}
	}
	p.RankedBy = metric
	for i, place := range panel.Ranks(of, metric, 0) {
		p.Targets[i].Rank = &place
	}
	return p, nil
}

// gatedOn returns the metric for comparing two targets: that of the suite's first hard gate on
// all tasks with such a metric, or the pass rate without one.
func (r *Run) gatedOn() string {
	own := r.OwnGates()
	if own == nil {
		return panel.MetricPass
	}
	file, problems := suite.ReadGates("", own)
	if len(problems) > 0 {
		return panel.MetricPass
	}
	i := slices.IndexFunc(file.Gates, func(g gates.Gate) bool {
		_, why := panel.PairingOf(g.Metric)
		return g.Severity != gates.Soft && g.Key == "" && g.Target == "" && g.Kind != gates.Ratchet && why == ""
	})
	if i < 0 {
		return panel.MetricPass
	}
	return file.Gates[i].Metric
}
