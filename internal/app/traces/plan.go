// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"fmt"
	"math"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// PlanRequest asks how many tasks, attempts and labels a gate needs.
type PlanRequest = plan.Ask

// UsualPlan returns a request for a plan with default values.
func UsualPlan() PlanRequest { return plan.Usual() }

// Plan computes how many tasks, attempts and labels a gate needs before it can decide. It reads the
// pilot of the request if it has data about the metric.
func Plan(ctx context.Context, a *app.App, req PlanRequest, events app.Events) (p *plan.Plan, err error) {
	if req.Gates != "" {
		file, err := results.GateFile(a, req.Gates, nil)
		if err != nil {
			return nil, err
		}
		req.File = file.Gates
		return plan.Make(req)
	}
	if req.From != "" && plan.FromPilot(req.Metric) {
		if req.Pilot, err = pilotOf(ctx, a, req.From, req.Metric, events); err != nil {
			return nil, err
		}
	}
	if req.Measured {
		if req.Before, err = measuredBefore(ctx, a, req.From, req.Metric); err != nil {
			return nil, err
		}
	}
	return plan.Make(req)
}

// pilotOf reads the figures of a metric from a run or a trace file. Intervals are clustered by
// task, so the standard error gives the variance between tasks. Its ratio to the error of
// independent attempts gives the correlation of the attempts at a task.
func pilotOf(ctx context.Context, a *app.App, ref, metric string, events app.Events) (*plan.Pilot, error) {
	p, err := pilotPanels(ctx, a, ref, events)
	if err != nil {
		return nil, err
	}
	if n := len(p.Targets); n != 1 {
		return nil, app.Wrong("from", ref, "a pilot has one target, and this has %d", n)
	}
	m := p.Targets[0].Overall.Metric(panel.MetricName(metric))
	if m == nil || m.Interval.Clusters < 2 || !(m.Interval.SE >= 0) {
		return nil, fmt.Errorf("plan from %s: fewer than two of its tasks have %s: %w", ref, metric, callvet.ErrInvalid)
	}
	iv := m.Interval
	out := &plan.Pilot{File: ref, Mean: iv.Point, SD: iv.SE * math.Sqrt(float64(iv.Clusters)), Tasks: iv.Clusters}
	alike, ok := iv.AlikeAttempts(m.Seen())
	if ok && m.Unit == panel.UnitRate {
		out.Correlation = &alike.Correlation
	}
	return out, nil
}

// measuredBefore returns the correlation between attempts in earlier runs of the suite of a run,
// for a metric of its target.
func measuredBefore(ctx context.Context, a *app.App, ref, metric string) (*stats.Correlation, error) {
	if ref == "" || a.Side(ref).Traces != "" {
		return nil, app.Wrong("measured", "", "{from} a stored run names the suite that the correlation is measured on")
	}
	r, err := results.Open(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	list, err := CorrelationAlike(ctx, a, r, []string{panel.MetricName(metric)})
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return &stats.Correlation{}, nil
	}
	return &list[0].Correlation, nil
}

// pilotPanels returns the panels of a run or of a trace file.
func pilotPanels(ctx context.Context, a *app.App, ref string, events app.Events) (*panel.Panels, error) {
	if side := a.Side(ref); side.Traces != "" {
		s, err := Score(ctx, a, ScoreRequest{Traces: []string{ref}, Slices: []string{}}, events)
		if err != nil {
			return nil, err
		}
		return s.View.Panels, nil
	}
	r, err := results.Open(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	return r.Panels(ctx, []string{})
}
