// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
)

// maxEarlier bounds how many earlier runs are read for a correlation.
const maxEarlier = 12

// alike measures, on the runs of the suite of r that were started before it, how much the attempts of
// each target at a task are alike in each metric. A metric that no run shows has no entry.
// Source: Statistics specification, section 16.1.
func (a *App) alike(ctx context.Context, r *Run, metrics []string) ([]panel.Alike, error) {
	earlier, err := a.earlier(ctx, r)
	if err != nil {
		return nil, err
	}
	shown := map[[2]string][]stats.Alike{}
	for _, e := range earlier {
		p, err := e.Panels(ctx, []string{})
		if err != nil {
			if momentary(ctx, err) {
				return nil, err
			}
			continue // a run that cannot be read shows nothing
		}
		for i := range p.Targets {
			t := &p.Targets[i]
			if !asksAlike(r, e, t.Name) {
				continue
			}
			for _, name := range metrics {
				if m := t.Overall.Metric(name); m != nil {
					if one, ok := m.Alike(); ok {
						key := [2]string{t.Name, m.Name}
						shown[key] = append(shown[key], one)
					}
				}
			}
		}
	}
	var out []panel.Alike
	for i := range r.Manifest.Targets {
		for _, name := range metrics {
			key := [2]string{r.Manifest.Targets[i].Name, name}
			if runs := shown[key]; len(runs) > 0 {
				c, _ := stats.MeasureCorrelation(runs) // with the number of runs, also where they are too few
				out = append(out, panel.Alike{Target: key[0], Metric: name, Correlation: c})
			}
		}
	}
	return out, nil
}

// earlier are the newest runs of the suite of r that were started before it, are done, and have
// several attempts at a case.
func (a *App) earlier(ctx context.Context, r *Run) ([]*Run, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := db.Runs(ctx, 0)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(s store.Run) bool { return s.ID == r.Stored.ID })
	var out []*Run
	for i := at + 1; i < len(list) && len(out) < maxEarlier; i++ {
		s := &list[i]
		if s.SuiteName != r.Stored.SuiteName || s.State() != store.StatusDone {
			continue
		}
		if m, err := readManifest(s); err != nil || m.Repeats < 2 || m.Drill != r.Manifest.Drill {
			continue
		}
		switch e, err := openRun(ctx, db, s.ID); {
		case err == nil:
			out = append(out, e)
		case momentary(ctx, err):
			return nil, err
		}
	}
	return out, nil
}

// asksAlike reports whether both runs ask a target of this name with the same parameters: answers at
// another temperature are alike in another way.
func asksAlike(r, e *Run, name string) bool {
	params := func(r *Run) []byte {
		i := slices.IndexFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Name == name })
		if i < 0 {
			return nil
		}
		b, _ := json.Marshal(r.Manifest.Targets[i].Params)
		return b
	}
	now, then := params(r), params(e)
	return now != nil && bytes.Equal(now, then)
}

// measuredMetrics are the metrics of the gates that ask for a measured correlation.
func measuredMetrics(gs []gates.Gate) []string {
	var out []string
	for i := range gs {
		if g := &gs[i]; g.Correlation == gates.CorrelationMeasured && !slices.Contains(out, g.Metric) {
			out = append(out, g.Metric)
		}
	}
	return out
}
