// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/replay"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
)

// CallsRequest asks for a page of what happened at the calls of a run.
type CallsRequest struct {
	Run string `json:"run"`
	// After is Next of the page before; "": the first page. Limit is at least 1.
	After string `json:"after,omitempty"`
	Limit int    `json:"limit"`
}

// CallPage is a part of a list about the calls of a run.
type CallPage[T any] struct {
	Items []T `json:"items" nullable:"false"`
	// Next gets the page after this one; "": this is the last one.
	Next string `json:"next_cursor,omitempty"`
}

// CallPlace is the attempt that something belongs to.
type CallPlace struct {
	Case   string `json:"case"`
	Target string `json:"target"`
	Repeat int    `json:"repeat"`
}

// IncidentAt is a breach of safety with its attempt and its call, redacted.
type IncidentAt struct {
	CallPlace
	Rule    string `json:"rule"`
	Note    string `json:"note,omitempty" doc:"what was found, as evidence"`
	Blocked bool   `json:"blocked" doc:"the attempt was stopped and had no effect"`
	// Call is what was called; nil for what was said and not called. Step is its position among the calls of
	// the attempt, from 0.
	Call *callvet.Call `json:"call,omitempty"`
	Step *int          `json:"step,omitempty"`
}

// RecordedCall is what a call of a run got, redacted.
type RecordedCall struct {
	CallPlace
	Step int `json:"step" doc:"its position among the calls of the attempt, from 0"`
	callvet.Call
}

// Incidents lists the breaches of safety of a run, in the order of its cases.
func (a *App) Incidents(ctx context.Context, req CallsRequest) (*CallPage[IncidentAt], error) {
	return paged(ctx, a, &req, func(at CallPlace, row *report.Row) []IncidentAt {
		var out []IncidentAt
		calls := row.Cell.Trace.Calls()
		for _, in := range row.Cell.Result.Incidents {
			one := IncidentAt{CallPlace: at, Rule: in.Rule, Note: in.Note, Blocked: in.Blocked}
			if i := slices.IndexFunc(calls, func(c callvet.Call) bool { return in.CallID != "" && c.ID == in.CallID }); i >= 0 {
				one.Call, one.Step = &calls[i], &i
			}
			out = append(out, one)
		}
		return out
	})
}

// Recordings lists what the calls of a run got, in the order of its cases: what a replay answers with.
// Calls that got nothing are left out.
func (a *App) Recordings(ctx context.Context, req CallsRequest) (*CallPage[RecordedCall], error) {
	return paged(ctx, a, &req, func(at CallPlace, row *report.Row) []RecordedCall {
		var out []RecordedCall
		calls := row.Cell.Trace.Calls()
		for _, i := range recordedOf(&row.Cell.Trace) {
			out = append(out, RecordedCall{at, i, calls[i]})
		}
		return out
	})
}

// recordedOf are the positions of the calls that got something.
func recordedOf(t *callvet.Trace) (at []int) {
	for i, c := range t.Calls() {
		if c.Status != "" || c.Result != nil || c.Error != "" {
			at = append(at, i)
		}
	}
	return at
}

// callCursor is the place behind an entry: how many attempts are before its own, and entries in it.
type callCursor struct {
	Attempts int `json:"a"`
	Entries  int `json:"e"`
}

// paged gives the entries of attempts behind a cursor.
func paged[T any](ctx context.Context, a *App, req *CallsRequest, entries func(CallPlace, *report.Row) []T) (*CallPage[T], error) {
	var from callCursor
	if req.After != "" {
		if err := json.Unmarshal([]byte(req.After), &from); err != nil || from.Attempts < 0 || from.Entries < 0 {
			return nil, &callvet.FieldError{Field: "cursor", Text: "{cursor} is not that of a page"}
		}
	}
	r, err := a.Run(ctx, req.Run)
	if err != nil {
		return nil, err
	}
	red, err := a.viewer(r.Manifest, nil)
	if err != nil {
		return nil, err
	}
	out := &CallPage[T]{Items: []T{}}
	n := -1
	for row, err := range r.shown(ctx, store.Filter{Order: store.ByCase}, red) {
		if err != nil {
			return nil, err
		}
		if n++; n < from.Attempts {
			continue
		}
		list := entries(CallPlace{row.Case.ID, r.Manifest.Targets[row.Cell.Target].Name, row.Cell.Repeat}, &row)
		skip := 0
		if n == from.Attempts {
			skip = min(from.Entries, len(list))
		}
		for i := skip; i < len(list); i++ {
			if len(out.Items) == req.Limit {
				b, err := json.Marshal(callCursor{n, i})
				out.Next = string(b)
				return out, err
			}
			out.Items = append(out.Items, list[i])
		}
	}
	return out, nil
}

// FixtureText is the suite of a run as YAML or JSON (form), with mocks that answer what its calls got,
// redacted; callvet fixtures writes the same to a file.
func (a *App) FixtureText(ctx context.Context, run, form string) ([]byte, error) {
	r, err := a.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	red, err := a.viewer(r.Manifest, nil)
	if err != nil {
		return nil, err
	}
	s := *r.Suite
	s.Description, s.SystemPrompt = red.Text(s.Description), red.Text(s.SystemPrompt)
	at, done := map[string]int{}, map[string]bool{}
	for row, err := range r.shown(ctx, store.Filter{Order: store.ByCase}, red) {
		if err != nil {
			return nil, err
		}
		if r.twin(row.Case) {
			continue
		}
		i, ok := at[row.Case.ID]
		if !ok {
			i = len(s.Cases)
			at[row.Case.ID] = i
			s.Cases = append(s.Cases, *row.Case)
		}
		k := &s.Cases[i]
		mocks := replay.MocksOf(replay.OfTrace(&row.Cell.Trace, replay.Conversation{Case: k.ID, Tools: r.toolsOf(k)}, false))
		if done[k.ID] || len(mocks) == 0 {
			continue
		}
		done[k.ID] = true
		k.Mocks = append(unlike(k.Mocks, mocks), mocks...)
	}
	b, err := suite.Export(&s, form)
	if err != nil {
		return nil, fmt.Errorf("write fixtures: %w", err)
	}
	return bytes.TrimLeft(b, "\n"), nil
}
