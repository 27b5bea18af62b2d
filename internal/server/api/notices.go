// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

const (
	// maxDoubts bounds the warnings of a suite or a file in one response: a suite of thousands of
	// cases may have as many.
	maxDoubts = 20
	// maxDetails bounds the mistakes in one response, and maxHints those in one sentence.
	maxDetails = 50
	maxHints   = 10
)

// Notices collects the notices and problems that an App reports in addition to its results.
type Notices struct {
	notes    []callvet.Notice
	Problems []callvet.Problem // no warnings
	doubts   int
}

// Collect keeps the notes, warnings and problems of an event.
func (h *Notices) Collect(ev app.Event) {
	switch {
	case ev.Note != nil:
		h.notes = append(h.notes, *ev.Note)
	case ev.Warning != nil:
		h.notes = append(h.notes, *ev.Warning)
	}
	for _, p := range ev.Problems {
		if p.Warning {
			if h.doubts++; h.doubts <= maxDoubts {
				h.notes = append(h.notes, callvet.Notice{Code: p.Code, Text: p.Error()})
			}
		} else if len(h.Problems) < maxDetails {
			h.Problems = append(h.Problems, p)
		}
	}
}

// All returns notes and warnings, with the number of omitted ones; never nil.
func (h *Notices) All() []callvet.Notice {
	out := append([]callvet.Notice{}, h.notes...)
	if h.doubts > maxDoubts {
		out = append(out,
			callvet.Notice{
				Code: "more-warnings",
				Text: plain.Count(h.doubts-maxDoubts, "more warning", "more warnings") +
					"; POST /api/lint lists all of a suite",
			})
	}
	return out
}

// Explain adds the problems to the error of a run that was not created.
func (h *Notices) Explain(err error) error {
	if errors.Is(err, callvet.ErrNotFound) { // a provider or a run that the body names, not the object of the path
		err = &callvet.FieldError{Field: "models", Text: strings.ReplaceAll(err.Error(), "{", "")}
	}
	var hints []string
	for _, p := range h.Problems[:min(len(h.Problems), maxHints)] {
		hints = append(hints, p.Error())
	}
	if len(hints) > 0 {
		err = &callvet.Hinted{Err: err, Hint: strings.Join(hints, "; ")}
	}
	return err
}

// Refused converts an App's error about traces: it uses the field names of this API, and adds the
// problems of a suite or of tools.
func (h *Notices) Refused(err error) error {
	var field *callvet.FieldError
	if errors.As(err, &field) && field.Field == "suite" {
		one := *field
		one.Field = "suite_id"
		return &one
	}
	if err == nil || len(h.Problems) == 0 || Status(err) == http.StatusInternalServerError {
		return Unreadable(err)
	}
	var details []error
	for _, p := range h.Problems {
		details = append(details, &huma.ErrorDetail{Location: p.File, Message: p.Message})
	}
	return huma.NewError(Status(err), err.Error(), details...)
}
