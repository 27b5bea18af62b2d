// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// MaxAnswerTools is the largest number of tools, or of agents, in one answer.
const MaxAnswerTools = 10_000

// The names of the same member in answers of services, the documented one first.
func toolKeys() []string {
	return []string{"tools", "results", "hits", "selected_tools", "tool_ids", "matches", "documents", "items"}
}
func nameKeys() []string { return []string{"id", "tool_id", "name", "tool", "tool_name"} }
func scoreKeys() []string {
	return []string{"score", "total_score", "relevance_score", "rerank_score", "similarity"}
}

// ReadDecision reads a service's answer. It is an object with tools (a list of names, or of objects
// with id or name, and score), route, sub_route, agents, abstained and latency_ms, or only the list
// of tools. A layer counts as decided if its member is present, even as null. Other usual names of
// these members are accepted, and an object within result, data, output or decision. The error is a
// *callvet.Fault.
func ReadDecision(v value.Value) (*callvet.Decision, error) {
	d := &callvet.Decision{}
	if v.Kind() == value.Array {
		return d, readTools(d, v)
	}
	for depth := 0; v.Kind() == value.Object && depth < 4; depth++ {
		found, err := readObject(d, v)
		if err != nil || found {
			return d, err
		}
		inner, ok := within(v)
		if !ok {
			break
		}
		if v = inner; v.Kind() == value.Array {
			return d, readTools(d, v)
		}
	}
	return nil,
		malformed(`the answer has no tools, route or agents; expected {"tools": [{"id": …, "score": …}], "route": …}`)
}

func malformed(format string, args ...any) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: fmt.Sprintf(format, args...)}
}

func within(v value.Value) (value.Value, bool) {
	return member(v, "result", "data", "output", "decision")
}

// member is the first present member, null included.
func member(v value.Value, keys ...string) (value.Value, bool) {
	for _, k := range keys {
		if m, ok := v.Get(k); ok {
			return m, true
		}
	}
	return value.Value{}, false
}

func readObject(d *callvet.Decision, v value.Value) (found bool, err error) {
	decided := func(layer string) { d.Layers = append(d.Layers, callvet.LayerTime{Layer: layer}) }
	for _, l := range []struct {
		layer string
		keys  []string
		to    *string
	}{
		{callvet.SelectRoute, []string{"route", "selected_route", "predicted_route"}, &d.Route},
		{
			callvet.SelectSubRoute,
			[]string{"sub_route", "subRoute", "selected_sub_route", "predicted_sub_route"},
			&d.SubRoute,
		},
	} {
		if m, ok := member(v, l.keys...); ok {
			if *l.to, ok = text(m); !ok && m.Kind() != value.Null {
				return true, malformed("%s is no text", l.layer)
			}
			decided(l.layer)
		}
	}
	if m, ok := member(v, "agents", "selected_agents", "agents_used", "agent", "selected_agent"); ok {
		if d.Agents, err = names(m); err != nil {
			return true, err
		}
		decided(callvet.SelectAgents)
	}
	if m, ok := member(v, toolKeys()...); ok {
		if err := readTools(d, m); err != nil {
			return true, err
		}
	}
	if m, ok := v.Get("abstained"); ok && m.Kind() == value.Bool {
		if d.Abstained = m.Bool(); d.Abstained && len(d.Tools) > 0 {
			odd(d, OddAbstained)
		}
	}
	if m, ok := member(v, "latency_ms", "latencies_ms"); ok && m.Kind() == value.Object {
		for i := range d.Layers {
			if t, ok := m.Get(d.Layers[i].Layer); ok && t.Kind() == value.Number {
				d.Layers[i].MS = number(t)
			}
		}
	}
	return len(d.Layers) > 0, nil
}

// Oddities of an answer that are no errors.
const (
	OddAbstained = "it abstains and returns tools all the same: the tools count"
	OddOrder     = "its scores do not descend: the order of the list counts"
	OddScore     = "a score is no finite number: it is kept as 0"
	OddTwice     = "it names a tool twice: it counts once"
)

// odd records an oddity once.
func odd(d *callvet.Decision, what string) {
	if !slices.Contains(d.Odd, what) {
		d.Odd = append(d.Odd, what)
	}
}

// number is 0 unless the value is a finite number.
func number(v value.Value) float64 {
	f, _ := finite(v)
	return f
}

func finite(v value.Value) (f float64, ok bool) {
	if f, ok = v.Float(); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f, true
	}
	return 0, false
}

func text(v value.Value) (string, bool) {
	if v.Kind() != value.String {
		return "", false
	}
	return v.Str(), true
}

// names reads a name or a list of names or of objects that have one.
func names(v value.Value) ([]string, error) {
	switch v.Kind() {
	case value.Null:
		return nil, nil
	case value.String:
		return []string{v.Str()}, nil
	case value.Array:
	default:
		return nil, malformed("agents is no list")
	}
	var out []string
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name, ok := retrieverNameOf(e)
		if !ok || len(out) == MaxAnswerTools {
			return nil, malformed("agents is no list of up to %d names", MaxAnswerTools)
		}
		out = append(out, name)
	}
	return out, nil
}

func retrieverNameOf(v value.Value) (string, bool) {
	if v.Kind() == value.Object {
		m, ok := member(v, nameKeys()...)
		if !ok {
			return "", false
		}
		v = m
	}
	s, ok := text(v)
	return s, ok && s != ""
}

func readTools(d *callvet.Decision, v value.Value) error {
	d.Layers = append(d.Layers, callvet.LayerTime{Layer: callvet.SelectTools})
	if v.Kind() == value.Null {
		return nil
	}
	if v.Kind() != value.Array {
		return malformed("tools is no list")
	}
	last, seen := math.Inf(1), map[string]bool{}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name, ok := retrieverNameOf(e)
		switch {
		case !ok:
			return malformed("tool %d has no id or name", len(d.Tools)+1)
		case len(d.Tools) == MaxAnswerTools:
			return malformed("the answer has more than %d tools", MaxAnswerTools)
		case seen[name]:
			odd(d, OddTwice)
		}
		seen[name] = true
		t := callvet.Ranked{Tool: name}
		if e.Kind() == value.Object {
			if s, ok := member(e, scoreKeys()...); ok && s.Kind() == value.Number {
				if t.Score, ok = finite(s); !ok {
					odd(d, OddScore)
				} else if t.Score > last {
					odd(d, OddOrder)
				} else {
					last = t.Score
				}
			}
			t.Parts = parts(e)
		}
		d.Tools = append(d.Tools, t)
	}
	return nil
}

// maxParts bounds the terms of a score that are kept.
const maxParts = 32

// parts are the numbers of parts, or the members next to the score with names that end in score.
func parts(e value.Value) []callvet.Part {
	from, own := member(e, "parts", "scores", "breakdown")
	if !own || from.Kind() != value.Object {
		from, own = e, false
	}
	var out []callvet.Part
	for m, ok := from.First(); ok && len(out) < maxParts; m, ok = from.Next(m) {
		key := m.Key()
		if m.Kind() != value.Number || !own &&
			(len(key) < 7 || key[len(key)-6:] != "_score" || slices.Contains(scoreKeys(), key)) {
			continue
		}
		out = append(out, callvet.Part{Name: key, Value: number(m)})
	}
	return out
}
