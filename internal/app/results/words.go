// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"strings"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/store"
)

// DescribeRequest changes what people wrote of a run; nil leaves it as it is.
type DescribeRequest struct {
	Run   string    `json:"run"`
	Name  *string   `json:"name,omitempty"`
	Notes *string   `json:"notes,omitempty"`
	Tags  *[]string `json:"run_tags,omitempty"`
}

// Describe changes the name, the notes and the tags of a run, and gives them.
func Describe(ctx context.Context, a *app.App, req DescribeRequest) (store.Words, error) {
	var out store.Words
	db, err := a.Config.Store(ctx)
	if err != nil {
		return out, err
	}
	r, err := Stored(ctx, db, req.Run)
	if err != nil {
		return out, err
	}
	err = db.Describe(ctx, r.ID, func(w *store.Words) error {
		if req.Name != nil {
			w.Name = strings.TrimSpace(*req.Name)
		}
		if req.Notes != nil {
			w.Notes = *req.Notes
		}
		if req.Tags != nil {
			w.Tags = *req.Tags
		}
		if err := app.CheckWords(w); err != nil {
			return err
		}
		out = *w
		return a.SecretKeeper.Spelled(app.WordSettings(w))
	})
	return out, err
}
