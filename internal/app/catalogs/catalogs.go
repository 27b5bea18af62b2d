// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/panel"
)

// confusionOf gives the confusion of all targets of a run together; never nil without an error.
func confusionOf(ctx context.Context, a *app.App, ref string) ([]panel.Confused, error) {
	r, err := results.Open(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	p, err := r.Panels(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := []panel.Confused{}
	for i := range p.Targets {
		out = append(out, p.Targets[i].Confusion...)
	}
	return out, nil
}
