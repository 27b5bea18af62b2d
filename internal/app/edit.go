// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"

	"github.com/callvet/callvet/internal/catalog"
)

type (
	// ApplyRequest asks for a catalogue with edits in it.
	ApplyRequest = catalog.ApplyRequest
	// WhatIfResult is what edits change.
	WhatIfResult = catalog.WhatIfResult
	// Suggestions are better descriptions, with what they change.
	Suggestions = catalog.Suggestions
	// Revised is the text of a catalogue with edits in it.
	Revised = catalog.Revised
	// Prompts are what Suggest would ask a model.
	Prompts = catalog.Prompts
	// Unwritten is the error of Suggest when its edits could not be written; it has them.
	Unwritten = catalog.Unwritten
)

// WhatIfRequest asks what edits of a catalogue would change.
type WhatIfRequest struct {
	catalog.WhatIfRequest
	// Run says how Models are asked.
	Run RunRequest `json:"run,omitzero"`
}

// WhatIf compares the edited catalogue with the present one. If models could not be asked, the
// retriever's result is returned together with the error.
func (a *App) WhatIf(ctx context.Context, req WhatIfRequest, conclude Conclude, events Events) (*WhatIfResult, error) {
	out, err := catalogued(a, events, func(e *catalog.Env) (*WhatIfResult, error) {
		e.Ask = a.asker(req.Models, &req.Run, conclude, events).ask
		return catalog.WhatIf(ctx, e, req.WhatIfRequest)
	})
	return out, misread(err, events)
}

// SuggestRequest asks a model for better descriptions.
type SuggestRequest struct {
	catalog.SuggestRequest
	// Run says how Models are asked.
	Run RunRequest `json:"run,omitzero"`
}

// Suggest asks a model for better descriptions of the tools that fail most, and measures them on
// questions that it has not seen. The error is an *Unwritten where they could not be written.
func (a *App) Suggest(ctx context.Context, req SuggestRequest, conclude Conclude, events Events) (*Suggestions, error) {
	return catalogued(a, events, func(e *catalog.Env) (*Suggestions, error) {
		e.Ask = a.asker(req.Models, &req.Run, conclude, events).ask
		return catalog.Suggest(ctx, e, req.SuggestRequest)
	})
}

// Propose is Suggest that gives the text of the edits and writes no file.
func (a *App) Propose(ctx context.Context, req SuggestRequest, conclude Conclude,
	events Events,
) (out *Suggestions, text []byte, err error) {
	out, err = catalogued(a, events, func(e *catalog.Env) (*Suggestions, error) {
		e.Ask = a.asker(req.Models, &req.Run, conclude, events).ask
		var s *Suggestions
		s, text, err = catalog.Propose(ctx, e, req.SuggestRequest)
		return s, err
	})
	return out, text, err
}

// Prompts is what Suggest would ask a model, which is not asked.
func (a *App) Prompts(ctx context.Context, req SuggestRequest, events Events) (*Prompts, error) {
	return catalogued(a, events,
		func(e *catalog.Env) (*Prompts, error) { return catalog.DryRun(ctx, e, req.SuggestRequest) })
}

// Apply writes a catalogue with the edits that were accepted.
func (a *App) Apply(ctx context.Context, req ApplyRequest, events Events) (*catalog.Applied, error) {
	out, err := catalogued(a, events,
		func(e *catalog.Env) (*catalog.Applied, error) { return catalog.Apply(ctx, e, req) })
	return out, misread(err, events)
}

// Revise gives the catalogue that Apply writes, and writes nothing.
func (a *App) Revise(req ApplyRequest, events Events) (*Revised, error) {
	out, err := catalogued(a, events, func(e *catalog.Env) (*Revised, error) { return catalog.ReviseCatalogue(e, req) })
	return out, misread(err, events)
}

// misread reports all mistakes of a file of edits before its error.
func misread(err error, events Events) error {
	var m *catalog.Misread
	if errors.As(err, &m) {
		events.problems(m.Problems)
	}
	return err
}
