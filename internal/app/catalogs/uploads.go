// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"

	"github.com/callvet/callvet/internal/app"
)

// Forget drops what is kept of catalogues between requests: indexes in memory and, where there is a
// file of them, the vectors of models. It gives how many indexes and models there were.
func Forget(ctx context.Context, a *app.App) (indexes, models int, err error) {
	if a.Config.Indexes != nil {
		indexes = a.Config.Indexes.Drop()
	}
	if _, err := a.Config.Vectors(); err != nil {
		return indexes, 0, nil //nolint:nilerr // nothing keeps them here
	}
	kept, err := Vectors(ctx, a, VectorsRequest{Drop: true})
	if err != nil {
		return indexes, 0, err
	}
	return indexes, len(kept.Models), nil
}
