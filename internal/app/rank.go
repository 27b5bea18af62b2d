// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"slices"

	"github.com/callvet/callvet/internal/compare"
	"github.com/callvet/callvet/internal/gatefile"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
)

// Contender is a target of a run.
type Contender struct {
	Run    string `json:"run"`
	Target string `json:"target"`
}

// Ranking is the place of each of some targets by a metric.
type Ranking struct {
	Metric string       `json:"metric"`
	Ranks  []panel.Rank `json:"ranks"`
	// Unread are the runs that cannot be read, each once: their targets may have any place.
	Unread []string `json:"unread,omitempty"`
}

// Rank gives the place of each target by the metric that the suite of the first one's run gates on.
func (a *App) Rank(ctx context.Context, of []Contender) (*Ranking, error) {
	out := &Ranking{Metric: panel.MetricPass}
	ledgers := map[string]*panel.Ledger{}
	list := make([]panel.Contender, len(of))
	for i, c := range of {
		led := ledgers[c.Run]
		if led == nil {
			var err error
			if led, err = a.rankedLedger(ctx, c.Run, out, i == 0); ctx.Err() != nil {
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

// rankedLedger reads what a run is ranked by; the suite of the first run decides the metric.
func (a *App) rankedLedger(ctx context.Context, run string, out *Ranking, first bool) (*panel.Ledger, error) {
	r, err := a.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if first {
		out.Metric = r.gatedOn()
	}
	return r.Ledger(ctx, compare.Config{By: []string{}, Metrics: []string{out.Metric}})
}

// gatedOn is the metric of the first hard gate of the suite on everything that two targets can be
// compared by; the pass rate where there is none.
func (r *Run) gatedOn() string {
	own := r.ownGates()
	if own == nil {
		return panel.MetricPass
	}
	file, problems := gatefile.Read("", own)
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
