// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/panel"
)

// confusionOf returns the confusion of all targets of a run together; never nil without an error.
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

// Forget drops the data of catalogues that is kept between requests: indexes in memory and, if
// there is a file of them, the vectors of models. It returns how many indexes and models there
// were.
func Forget(ctx context.Context, a *app.App) (indexes, models int, err error) {
	if a.Config.Indexes != nil {
		indexes = a.Config.Indexes.Drop()
	}
	if _, err := a.Config.Vectors(); err != nil {
		return indexes, 0, nil //nolint:nilerr // there is no file of vectors here
	}
	kept, err := Vectors(ctx, a, VectorsRequest{Drop: true})
	if err != nil {
		return indexes, 0, err
	}
	return indexes, len(kept.Models), nil
}
