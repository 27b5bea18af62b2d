// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs

import (
	"context"
	"errors"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
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
	// Prompts are the prompts that Suggest would send to a model.
	Prompts = catalog.Prompts
	// Unwritten is the error of Suggest when its edits could not be written; it contains them.
	Unwritten = catalog.Unwritten
)

// WhatIfRequest asks what edits of a catalogue would change.
type WhatIfRequest struct {
	catalog.WhatIfRequest
	// Run has the settings of the requests to Models.
	Run app.RunRequest `json:"run,omitzero"`
}

// WhatIf compares the edited catalogue with the present one. If models could not be asked, the
// retriever's result is returned together with the error.
func WhatIf(ctx context.Context, a *app.App, req WhatIfRequest, conclude runs.Conclude,
	events app.Events,
) (*WhatIfResult, error) {
	out, err := app.Catalogued(a, events, func(e *catalog.Env) (*WhatIfResult, error) {
		e.Ask = runs.NewAsker(a, req.Models, &req.Run, conclude, events).Ask
		return catalog.WhatIf(ctx, e, req.WhatIfRequest)
	})
	return out, misread(err, events)
}

// SuggestRequest requests better descriptions from a model.
type SuggestRequest struct {
	catalog.SuggestRequest
	// Run has the settings of the requests to Models.
	Run app.RunRequest `json:"run,omitzero"`
}

// Suggest asks a model for better descriptions of the tools that fail most, and measures them on
// questions that it has not seen. The error is an *Unwritten if they could not be written.
func Suggest(ctx context.Context, a *app.App, req SuggestRequest, conclude runs.Conclude,
	events app.Events,
) (*Suggestions, error) {
	return app.Catalogued(a, events, func(e *catalog.Env) (*Suggestions, error) {
		e.Ask = runs.NewAsker(a, req.Models, &req.Run, conclude, events).Ask
		return catalog.Suggest(ctx, e, req.SuggestRequest)
	})
}

// Propose is Suggest without a file: it returns the text of the edits.
func Propose(ctx context.Context, a *app.App, req SuggestRequest, conclude runs.Conclude,
	events app.Events,
) (out *Suggestions, text []byte, err error) {
	out, err = app.Catalogued(a, events, func(e *catalog.Env) (*Suggestions, error) {
		e.Ask = runs.NewAsker(a, req.Models, &req.Run, conclude, events).Ask
		var s *Suggestions
		s, text, err = catalog.Propose(ctx, e, req.SuggestRequest)
		return s, err
	})
	return out, text, err
}

// ListPrompts returns the prompts that Suggest would send, without sending them.
func ListPrompts(ctx context.Context, a *app.App, req SuggestRequest, events app.Events) (*Prompts, error) {
	return app.Catalogued(a, events,
		func(e *catalog.Env) (*Prompts, error) { return catalog.DryRun(ctx, e, req.SuggestRequest) })
}

// Apply writes a catalogue with the edits that were accepted.
func Apply(ctx context.Context, a *app.App, req ApplyRequest, events app.Events) (*catalog.Applied, error) {
	out, err := app.Catalogued(a, events,
		func(e *catalog.Env) (*catalog.Applied, error) { return catalog.Apply(ctx, e, req) })
	return out, misread(err, events)
}

// Revise returns the catalogue that Apply would write, and writes nothing.
func Revise(a *app.App, req ApplyRequest, events app.Events) (*Revised, error) {
	out, err := app.Catalogued(a, events,
		func(e *catalog.Env) (*Revised, error) { return catalog.ReviseCatalogue(e, req) })
	return out, misread(err, events)
}

// misread reports all mistakes of a file of edits before its error.
func misread(err error, events app.Events) error {
	var m *catalog.Misread
	if errors.As(err, &m) {
		events.Problems(m.Problems)
	}
	return err
}
