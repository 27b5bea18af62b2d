// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

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
	// mostDoubts is how many warnings of a suite or a file one answer has: a suite of thousands of cases
	// may have as many.
	mostDoubts = 20
	// maxDetails bounds how many mistakes one answer names, and maxHints how many of them in a sentence.
	maxDetails = 50
	maxHints   = 10
)

// heard keeps what an App tells beside its results.
type heard struct {
	notes    []callvet.Notice
	problems []callvet.Problem // no warnings
	doubts   int
}

func (h *heard) hear(ev app.Event) {
	switch {
	case ev.Note != nil:
		h.notes = append(h.notes, *ev.Note)
	case ev.Warning != nil:
		h.notes = append(h.notes, *ev.Warning)
	}
	for _, p := range ev.Problems {
		if p.Warning {
			if h.doubts++; h.doubts <= mostDoubts {
				h.notes = append(h.notes, callvet.Notice{Code: p.Code, Text: p.Error()})
			}
		} else if len(h.problems) < maxDetails {
			h.problems = append(h.problems, p)
		}
	}
}

// all are notes and warnings, with the number of those that were left out; never nil.
func (h *heard) all() []callvet.Notice {
	out := append([]callvet.Notice{}, h.notes...)
	if h.doubts > mostDoubts {
		out = append(out,
			callvet.Notice{
				Code: "more-warnings",
				Text: plain.Count(h.doubts-mostDoubts, "more warning", "more warnings") +
					"; POST /api/lint tells all of a suite",
			})
	}
	return out
}

// explain is the error of a run that was not made, with the problems that it is about.
func (h *heard) explain(err error) error {
	if errors.Is(err, callvet.ErrNotFound) { // a provider or a run that the body names, and not what was asked for
		err = &callvet.FieldError{Field: "models", Text: strings.ReplaceAll(err.Error(), "{", "")}
	}
	var hints []string
	for _, p := range h.problems[:min(len(h.problems), maxHints)] {
		hints = append(hints, p.Error())
	}
	if len(hints) > 0 {
		err = &callvet.Hinted{Err: err, Hint: strings.Join(hints, "; ")}
	}
	return err
}

// refused makes an error of an App about traces one of this API: fields have the names that they have
// here, and what is wrong with a suite or with tools is told.
func (h *heard) refused(err error) error {
	var field *callvet.FieldError
	if errors.As(err, &field) && field.Field == "suite" {
		one := *field
		one.Field = "suite_id"
		return &one
	}
	if err == nil || len(h.problems) == 0 || status(err) == http.StatusInternalServerError {
		return unreadable(err)
	}
	var details []error
	for _, p := range h.problems {
		details = append(details, &huma.ErrorDetail{Location: p.File, Message: p.Message})
	}
	return huma.NewError(status(err), err.Error(), details...)
}
