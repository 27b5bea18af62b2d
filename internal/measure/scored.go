// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/value"
)

// made takes the members of a task record that tell how its attempt was made, and how it ended.
func made(t *steps.Task, m value.Value) {
	switch string(m.KeyBytes()) {
	case "fault":
		t.Fault = t.Fault || m.Kind() == value.Object || m.Kind() == value.String
		t.TimedOut = text(m, "kind") == string(callvet.FaultTimeout)
	case "outcome":
		t.Outcome = callvet.Outcome(m.Str())
		t.Fault = t.Fault || t.Outcome == callvet.OutcomeError
		t.NotRun = t.Outcome == callvet.OutcomeNotRun
	case "format":
		t.Format = callvet.Format(m.Str())
	case "requests":
		if f, ok := m.Float(); ok {
			t.Requests = int64(f)
		}
	case "first_token_ms":
		t.FirstMS = max(0, positive(m))
	case "cached":
		t.Cached = m.Bool()
	case "unbilled":
		t.Unbilled = m.Bool()
	case "floor":
		t.Floor = m.Bool()
	case "repeatable":
		t.Repeatable = m.Bool()
	case "decision":
		t.Decided = m.Kind() == value.Object
	case "scored":
		scored(t, m)
	}
}

// scored reads what a scorer said of an attempt, as trace.Scored has it.
func scored(t *steps.Task, m value.Value) {
	if m.Kind() != value.Object {
		return
	}
	t.Scored = true
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		switch string(e.KeyBytes()) {
		case "class":
			t.Class = callvet.Class(e.Str())
		case "scores":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				if f, ok := x.Float(); ok && f >= 0 && f <= 1 {
					t.Scores = append(t.Scores, steps.Score{Name: x.Key(), Value: f})
				}
			}
		case "unknown":
			t.Unknown = append(t.Unknown, texts(e)...)
		case "not_evaluated":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				t.NotEvaluated = append(t.NotEvaluated, [2]string{text(x, "name"), text(x, "reason")})
			}
		case "signs":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				sign(t, x)
			}
		case "routes":
			t.Routes = append(t.Routes, confused(e)...)
		case "tools":
			t.Tools = append(t.Tools, confused(e)...)
		}
	}
}

func sign(t *steps.Task, m value.Value) {
	code := text(m, "code")
	if len(code) != 2 || code[0] != 'T' {
		return
	}
	shown, _ := m.Get("shown")
	why, _ := m.Get("why")
	t.Signs = append(t.Signs, steps.Sign{Issue: int(code[1]) - '1', Shown: shown.Bool(), Why: texts(why)})
}

func confused(list value.Value) (out [][2]string) {
	for x, ok := list.First(); ok; x, ok = list.Next(x) {
		out = append(out, [2]string{text(x, "expected"), text(x, "called")})
	}
	return out
}

func text(m value.Value, name string) string {
	v, _ := m.Get(name)
	return v.Str()
}

func texts(list value.Value) (out []string) {
	for x, ok := list.First(); ok; x, ok = list.Next(x) {
		out = append(out, x.Str())
	}
	return out
}
