// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
)

// mostMeasured bounds how many earlier runs are read for a correlation.
const mostMeasured = 12

// CorrelationAlike measures, on earlier runs of the suite of r, the correlation of the attempts of
// each target at a task, in each metric. A metric without data has no entry. Source: Statistics
// specification, section 16.1.
func CorrelationAlike(ctx context.Context, a *app.App, r *results.Run, metrics []string) ([]panel.Alike, error) {
	earlier, err := runsAlike(ctx, a, r)
	if err != nil {
		return nil, err
	}
	now, err := r.Manifest.ConfigHashes()
	if err != nil {
		return nil, err
	}
	shown := map[[2]string][]stats.Alike{}
	for _, e := range earlier {
		p, err := e.Panels(ctx, []string{})
		if err != nil {
			if results.Momentary(ctx, err) {
				return nil, err
			}
			continue // a run that cannot be read has no data
		}
		for i := range p.Targets {
			t := &p.Targets[i]
			if !asksAlike(e, t.Name, r, now) {
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
				c, _ := stats.MeasureCorrelation(runs) // with the number of runs, even if they are too few
				out = append(out, panel.Alike{Target: key[0], Metric: name, Correlation: c})
			}
		}
	}
	return out, nil
}

// runsAlike returns the newest finished earlier runs of the suite of r with several attempts at a
// case.
func runsAlike(ctx context.Context, a *app.App, r *results.Run) (out []*results.Run, err error) {
	for s, m := range earlierRuns(ctx, a, r, &err) {
		if _, most := m.RepeatRange(s.Cases); s.State() != store.StatusDone || most < 2 || m.Drill != r.Manifest.Drill {
			continue
		}
		switch e, bad := results.OpenIn(ctx, r.DB, s.ID); {
		case bad == nil:
			out = append(out, e)
		case results.Momentary(ctx, bad):
			return nil, bad
		}
		if len(out) == mostMeasured {
			break
		}
	}
	return out, err
}

// asksAlike reports whether the target of that name of an earlier run has the same configuration as
// the one of r: answers at a different temperature have a different correlation.
func asksAlike(e *results.Run, name string, r *results.Run, now []string) bool {
	of := func(t callvet.Target) bool { return t.Name == name }
	i, k := slices.IndexFunc(r.Manifest.Targets, of), slices.IndexFunc(e.Manifest.Targets, of)
	then, err := e.Manifest.ConfigHashes()
	return err == nil && i >= 0 && k >= 0 && now[i] == then[k]
}

// MeasuredMetrics returns the metrics of gates with a measured correlation.
func MeasuredMetrics(gs []gates.Gate) []string {
	var out []string
	for i := range gs {
		if g := &gs[i]; g.Correlation == gates.CorrelationMeasured && !slices.Contains(out, g.Metric) {
			out = append(out, g.Metric)
		}
	}
	return out
}

// mostEarlier is how many runs of a store are searched for earlier ones of a suite.
const mostEarlier = 1000

// earlierRuns yields the runs of a suite of the same name that were started before r, the newest first,
// each with its manifest.
func earlierRuns(ctx context.Context, a *app.App, r *results.Run, failed *error,
) iter.Seq2[*store.Run, *results.Manifest] {
	return func(yield func(*store.Run, *results.Manifest) bool) {
		db, err := a.Config.Store(ctx)
		if err != nil {
			*failed = err
			return
		}
		list, err := db.Runs(ctx, mostEarlier)
		if err != nil {
			*failed = err
			return
		}
		for i := range list {
			s := &list[i]
			if s.SuiteName != r.Stored.SuiteName || s.ID == r.Stored.ID || !s.Created.Before(r.Stored.Created) {
				continue
			}
			// a run of another version may not be readable
			if m, err := results.ReadManifest(s); err == nil && !yield(s, m) {
				return
			}
		}
	}
}
