// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Combination is one value for each parameter of a space, on top of the settings of the user.
type Combination struct {
	Params     callvet.Params `json:"params,omitzero"`
	ToolChoice string         `json:"tool_choice,omitempty"`
	// Values are the values of Space.Names, in their order; null: not sent.
	Values []json.RawMessage `json:"values"`
}

// Combinations lists all combinations of a model's space; the last parameter changes fastest. over
// are the user's own settings, which stay unless the space sets them. A model without a space has
// none. More than MaxCombinations are an error that wraps callvet.ErrInvalid.
func (s *Space) Combinations(model string, over Combination) ([]Combination, error) {
	dims := s.of(model)
	if len(dims) == 0 {
		return nil, nil
	}
	n := 1
	for _, d := range dims {
		if n *= len(d.values); n > MaxCombinations {
			return nil, &callvet.Hinted{
				Err: fmt.Errorf("the space of %s has more than %d combinations: %w", model, MaxCombinations,
					callvet.ErrInvalid),
				Hint: "list fewer values, or use a larger step",
			}
		}
	}
	all := make([]Combination, n)
	for i := range all {
		c := Combination{Params: over.Params, ToolChoice: over.ToolChoice}
		c.Params.Extra = maps.Clone(over.Params.Extra)
		c.Values = make([]json.RawMessage, len(dims))
		left := i
		for j, d := range slices.Backward(dims) {
			c.Values[j] = d.values[left%len(d.values)]
			left /= len(d.values)
			if err := c.set(d.name, c.Values[j]); err != nil {
				return nil, fmt.Errorf("set %s: %w: %w", d.name, err, callvet.ErrInvalid)
			}
		}
		all[i] = c
	}
	return all, nil
}

// ValuesOf returns the values that settings have for Names, such as those of the base; null: not sent.
func (s *Space) ValuesOf(model string, c Combination) []json.RawMessage {
	values := []json.RawMessage{}
	for _, d := range s.of(model) {
		v := c.Params.Extra[d.name]
		if at := c.field(d.name); at != nil && !reflect.ValueOf(at).Elem().IsZero() {
			v, _ = json.Marshal(at) // the types of Params have no value that cannot be written
		}
		if v == nil {
			v = json.RawMessage("null")
		}
		values = append(values, v)
	}
	return values
}

// field returns a pointer to a known parameter; nil: it is an extra one.
func (c *Combination) field(name string) any {
	switch p := &c.Params; name {
	case "temperature":
		return &p.Temperature
	case "top_p":
		return &p.TopP
	case "max_tokens":
		return &p.MaxTokens
	case "seed":
		return &p.Seed
	case "reasoning_effort":
		return &p.ReasoningEffort
	case "parallel_calls":
		return &p.ParallelCalls
	case "stop":
		return &p.Stop
	case "tool_choice":
		return &c.ToolChoice
	}
	return nil
}

// set sets a parameter; null: it is not sent.
func (c *Combination) set(name string, raw json.RawMessage) error {
	null := string(raw) == "null"
	at := c.field(name)
	switch {
	case at != nil:
		reflect.ValueOf(at).Elem().SetZero() // else the value would be written into the user's settings
		if null {
			return nil
		}
		return json.Unmarshal(raw, at)
	case null:
		delete(c.Params.Extra, name)
		return nil
	case c.Params.Extra == nil:
		c.Params.Extra = map[string]json.RawMessage{}
	}
	c.Params.Extra[name] = raw
	return nil
}

// Resolved is a combination in its sent form: Target has the parameters and the adjustments of
// the provider's table. Refused is the reason why it cannot be sent at all.
type Resolved struct {
	Combination
	Target  callvet.Target
	Refused string
}

// Status is what happens to a combination.
type Status string

// The statuses.
const (
	StatusKept    Status = "kept"
	StatusClamped Status = "clamped" // sent, with a value that differs from the space's
	StatusDropped Status = "dropped" // not sent: refused, or equal to an earlier request
)

// Row is a combination in the matrix.
type Row struct {
	Values []json.RawMessage `json:"values"`
	Status Status            `json:"status"`
	// Candidate is the number of the candidate with this request, from 0, the base; nil: none.
	Candidate *int `json:"candidate,omitempty"`
	// Adjustments are what the provider's table changes or warns about.
	Adjustments []callvet.Adjustment `json:"adjustments,omitempty"`
	// Why is set for dropped combinations.
	Why string `json:"why,omitempty"`
}

// Matrix lists the combinations, and which of them are sent. Rows are in the order of the
// combinations.
type Matrix struct {
	Rows    []Row `json:"rows"`
	Kept    int   `json:"kept"`
	Clamped int   `json:"clamped"`
	Dropped int   `json:"dropped"`
	// Candidates are the positions of the rows that are sent: candidate i of a search is
	// Candidates[i-1].
	Candidates []int `json:"candidates"`
}

// Dedupe finds the combinations that send different requests, so that each request is tried once.
// The first of equal ones is kept. The base is always tried: combinations equal to it are dropped.
func Dedupe(base callvet.Target, all []Resolved) *Matrix {
	m := &Matrix{Rows: make([]Row, len(all)), Candidates: []int{}}
	asked := map[string]int{requestOf(&base): 0}
	for i := range all {
		r := &all[i]
		row := Row{Values: r.Values, Status: StatusKept, Adjustments: changes(&base, &r.Target)}
		key := requestOf(&r.Target)
		same, known := asked[key]
		switch {
		case r.Refused != "":
			row.Status, row.Why = StatusDropped, r.Refused
		case known && same == 0:
			row.Status, row.Why = StatusDropped, "the same request as the base"
		case known:
			row.Status, row.Why = StatusDropped, fmt.Sprintf("the same request as candidate %d", same)
		default:
			m.Candidates = append(m.Candidates, i)
			same, known = len(m.Candidates), true
			asked[key] = same
			if slices.ContainsFunc(row.Adjustments, replaces) {
				row.Status = StatusClamped
			}
		}
		if known && r.Refused == "" {
			row.Candidate = &same
		}
		switch row.Status {
		case StatusKept:
			m.Kept++
		case StatusClamped:
			m.Clamped++
		default:
			m.Dropped++
		}
		m.Rows[i] = row
	}
	return m
}

// Points are the values of all candidates of a search, those of the base first.
func (m *Matrix) Points(base []json.RawMessage) [][]json.RawMessage {
	points := [][]json.RawMessage{base}
	for _, i := range m.Candidates {
		points = append(points, m.Rows[i].Values)
	}
	return points
}

func replaces(a callvet.Adjustment) bool { return a.Action == "drop" || a.Action == "clamp" }

// changes returns the adjustments that a person must know, without new names of parameters and
// warnings about the base.
func changes(base, t *callvet.Target) (list []callvet.Adjustment) {
	for _, a := range t.Adjustments {
		if !a.Default && (replaces(a) || a.Action == "warn" && !slices.Contains(base.Adjustments, a)) {
			list = append(list, a)
		}
	}
	return list
}

// requestOf identifies what a target sends. The name of the target does not count.
func requestOf(t *callvet.Target) string {
	p := t.Params
	p.Extra = make(map[string]json.RawMessage, len(t.Params.Extra))
	for name, raw := range t.Params.Extra {
		p.Extra[name] = value.Canonical(raw)
	}
	key, err := json.Marshal(struct {
		Model, BaseURL, ToolChoice, System string
		Replace                            bool
		Params                             callvet.Params
	}{t.Model, t.BaseURL, t.ToolChoice, t.SystemPrompt, t.ReplaceSystem, p})
	if err != nil { // a number without a JSON form: equal to no other
		return fmt.Sprintf("%+v", t.Params)
	}
	return string(key)
}
