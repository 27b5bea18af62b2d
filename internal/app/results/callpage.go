// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/world"
)

// CallsRequest requests a page of observations about the calls of a run.
type CallsRequest struct {
	Run string `json:"run"`
	// After is Next of the previous page; "": the first page. Limit is at least 1.
	After string `json:"after,omitempty"`
	Limit int    `json:"limit"`
}

// CallPage is a part of a list about the calls of a run.
type CallPage[T any] struct {
	Items []T `json:"items" nullable:"false"`
	// Next is the cursor of the next page; "": this is the last one.
	Next string `json:"next_cursor,omitempty"`
}

// CallPlace is the attempt that an entry belongs to.
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
	// Call is the call; nil for an incident in a text. Step is its position among the calls of
	// the attempt, from 0.
	Call *callvet.Call `json:"call,omitempty"`
	Step *int          `json:"step,omitempty"`
}

// RecordedCall is a call of a run with its answer, redacted.
type RecordedCall struct {
	CallPlace
	Step int `json:"step" doc:"its position among the calls of the attempt, from 0"`
	callvet.Call
}

// Incidents lists the breaches of safety of a run, in the order of its cases.
func Incidents(ctx context.Context, a *app.App, req CallsRequest) (*CallPage[IncidentAt], error) {
	which := func(d *details) []int32 { return d.incidents }
	return paged(ctx, a, &req, which, func(at CallPlace, row *report.Row) []IncidentAt {
		var out []IncidentAt
		calls := row.Cell.Trace.Calls()
		for _, in := range row.Cell.Result.Incidents {
			one := IncidentAt{CallPlace: at, Rule: in.Rule, Note: in.Note, Blocked: in.Blocked}
			if i := slices.IndexFunc(calls,
				func(c callvet.Call) bool { return in.CallID != "" && c.ID == in.CallID }); i >= 0 {
				one.Call, one.Step = &calls[i], &i
			}
			out = append(out, one)
		}
		return out
	})
}

// Recordings lists the answers to the calls of a run, which a replay uses, in the order of its
// cases. Calls without an answer are left out.
func Recordings(ctx context.Context, a *app.App, req CallsRequest) (*CallPage[RecordedCall], error) {
	which := func(d *details) []int32 { return d.recorded }
	return paged(ctx, a, &req, which, func(at CallPlace, row *report.Row) []RecordedCall {
		var out []RecordedCall
		calls := row.Cell.Trace.Calls()
		for _, i := range recordedOf(&row.Cell.Trace) {
			out = append(out, RecordedCall{at, i, calls[i]})
		}
		return out
	})
}

// recordedOf returns the positions of the calls with an answer.
func recordedOf(t *callvet.Trace) (at []int) {
	for i, c := range t.Calls() {
		if c.Status != "" || c.Result != nil || c.Error != "" {
			at = append(at, i)
		}
	}
	return at
}

// callCursor is the place of an entry: case, target and repeat of its attempt, and how many of its
// entries come before.
type callCursor [4]int32

func (q *CallsRequest) cursor() (at Spot, entries int, err error) {
	var c callCursor
	if q.After != "" {
		err = json.Unmarshal([]byte(q.After), &c)
	}
	if err != nil || slices.Min(c[:]) < 0 {
		return at, 0, &callvet.FieldError{Field: "cursor", Text: "{cursor} is not that of a page"}
	}
	return Spot{c[0], c[1], c[2]}, int(c[3]), nil
}

// paged returns the entries of attempts from a cursor on, only of attempts that which selects.
func paged[T any](ctx context.Context, a *app.App, req *CallsRequest, which func(*details) []int32,
	entries func(CallPlace, *report.Row) []T,
) (*CallPage[T], error) {
	from, before, err := req.cursor()
	if err != nil {
		return nil, err
	}
	r, red, err := OpenRedacted(ctx, a, req.Run, nil)
	if err != nil {
		return nil, err
	}
	out := &CallPage[T]{Items: []T{}}
	for row, err := range callsWith(ctx, a, r, red, from, which) {
		if err != nil {
			return nil, err
		}
		at := SpotOf(row.Cell)
		list := entries(CallPlace{row.Case.ID, r.Manifest.Targets[row.Cell.Target].Name, row.Cell.Repeat}, &row)
		skip := 0
		if at == from {
			skip = min(before, len(list))
		}
		for i := skip; i < len(list); i++ {
			if len(out.Items) == req.Limit {
				b, err := json.Marshal(callCursor{at.Case, at.Target, at.Repeat, int32(i)}) //nolint:gosec // an attempt has fewer calls
				out.Next = string(b)
				return out, err
			}
			out.Items = append(out.Items, list[i])
		}
	}
	return out, nil
}

const (
	// patience is how many attempts are read for a page before the run's details are read.
	patience = 1000
	// atOnce is how many attempts with entries are read at once.
	atOnce = 64
)

// callsWith streams attempts from a place on, redacted by red, in the order of cases. It returns all
// attempts that which selects from the details of the run, and perhaps others. If many attempts
// match, a page is read soon; if few match, the run's details are kept so that a page does not read
// the whole run.
func callsWith(ctx context.Context, a *app.App, r *Run, red *redact.Redactor, from Spot,
	which func(*details) []int32,
) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		o, state, err := cachedOutline(ctx, a, r)
		if err != nil {
			yield(report.Row{}, err)
			return
		}
		if o == nil || o.details.Load() == nil {
			n := 0
			for row, err := range r.Shown(ctx, store.Filter{Order: store.ByCase, From: from.stored()}, red) {
				if n++; err == nil && n > patience && state != "" && r.Size() <= mostOutlined {
					from, n = SpotOf(row.Cell), -1
					break
				}
				if !yield(row, err) {
					return
				}
			}
			if n >= 0 {
				return
			}
		}
		if o, err = outlineOf(ctx, a, r); err != nil {
			yield(report.Row{}, err)
			return
		}
		d, err := o.detailsOf(ctx, r)
		if err != nil {
			yield(report.Row{}, err)
			return
		}
		list := which(d)
		first, _ := slices.BinarySearchFunc(list, from,
			func(i int32, from Spot) int { return o.lines[i].at.compare(from) })
		for some := range slices.Chunk(list[first:], atOnce) {
			for row, err := range r.Shown(ctx, store.Filter{At: o.placesOf(some)}, red) {
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

// FixtureText returns the suite of a run as YAML or JSON (form), with mocks that repeat the answers
// to its calls, redacted; callvet fixtures writes the same to a file.
func FixtureText(ctx context.Context, a *app.App, run, form string) ([]byte, error) {
	r, red, err := OpenRedacted(ctx, a, run, nil)
	if err != nil {
		return nil, err
	}
	s := *r.Suite
	s.Description, s.SystemPrompt = red.Text(s.Description), red.Text(s.SystemPrompt)
	at, done := map[string]int{}, map[string]bool{}
	for row, err := range r.Shown(ctx, store.Filter{Order: store.ByCase}, red) {
		if err != nil {
			return nil, err
		}
		if r.IsTwin(row.Case) {
			continue
		}
		i, ok := at[row.Case.ID]
		if !ok {
			i = len(s.Cases)
			at[row.Case.ID] = i
			s.Cases = append(s.Cases, *row.Case)
		}
		k := &s.Cases[i]
		mocks := world.MocksOf(world.OfTrace(&row.Cell.Trace,
			world.Conversation{Case: k.ID, Tools: r.ToolsOf(k)}, false))
		if done[k.ID] || len(mocks) == 0 {
			continue
		}
		done[k.ID] = true
		k.Mocks = append(OtherMocks(k.Mocks, mocks), mocks...)
	}
	b, err := suite.Export(&s, form)
	if err != nil {
		return nil, fmt.Errorf("write fixtures: %w", err)
	}
	return bytes.TrimLeft(b, "\n"), nil
}

// IsTwin reports whether a case is a calm twin of drills: its attack is disabled, and the next
// drill makes it again.
func (r *Run) IsTwin(c *callvet.Case) bool {
	return r.Manifest.Drill && c.Fields[FieldTwin] != "no"
}

// OtherMocks returns the mocks of tools that have no mock in made.
func OtherMocks(mocks, made []callvet.Mock) []callvet.Mock {
	return slices.DeleteFunc(slices.Clone(mocks), func(m callvet.Mock) bool {
		return slices.ContainsFunc(made, func(n callvet.Mock) bool { return strings.EqualFold(m.Tool, n.Tool) })
	})
}
