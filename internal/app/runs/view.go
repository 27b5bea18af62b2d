// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
)

// View sums up a stored run. It sends no requests.
func View(ctx context.Context, a *app.App, req results.ViewRequest, events app.Events) (*results.RunView, error) {
	if req.Baseline != (app.Side{}) {
		if err := req.Baseline.CheckOne("baseline"); err != nil {
			return nil, err
		}
	}
	r, err := results.OpenToShow(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	if err := r.Sliceable(req.Slices); err != nil {
		return nil, err
	}
	red, err := results.RedactorOf(a, r.Manifest, req.Keep)
	if err != nil {
		return nil, err
	}
	op, why := results.ReopenCatalogues(ctx, a, r, events)
	v, err := r.View(ctx, req.Slices, red, op, why)
	if err == nil && req.Baseline != (app.Side{}) {
		v.View.Diff, err = traces.Against(ctx, a, r, req.Baseline, req.Slices, events)
	}
	return v, err
}
