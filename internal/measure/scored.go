// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/value"
)

// made reads the members of a task record about how its attempt was made and how it ended.
func made(t *steps.Task, m value.Value) {
	switch string(m.KeyBytes()) {
	case "fault":
		t.Fault = t.Fault || m.Kind() == value.Object || m.Kind() == value.String
		t.Kind = callvet.FaultKind(text(m, "kind"))
		t.TimedOut = t.Kind == callvet.FaultTimeout
	case "reason":
		t.Why = callvet.Reason(m.Str())
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
	case "corrects":
		t.Corrects = m.Bool()
	case "skipped":
		t.Skipped = m.Bool()
	case "decision":
		t.Decided = m.Kind() == value.Object
	}
}

// maxScorerResults bounds how many results of scorers are kept in memory.
const maxScorerResults = 1 << 10

// scored returns the scorer's result for an attempt; nil if there is none.
func (w *worker) scored(m value.Value) *steps.ScorerResult {
	if m.Kind() != value.Object {
		return nil
	}
	if s := w.scorerResults[string(m.Raw())]; s != nil {
		return s
	}
	if len(w.scorerResults) >= maxScorerResults {
		clear(w.scorerResults)
	}
	s := w.sheet.ScorerResult(scored(m))
	w.scorerResults[string(m.Raw())] = s
	return s
}

// scored reads the scorer's result for an attempt, in the form of trace.Scored.
func scored(m value.Value) *steps.Scored {
	s := &steps.Scored{}
	for e, ok := m.First(); ok; e, ok = m.Next(e) {
		switch string(e.KeyBytes()) {
		case "class":
			s.Class = callvet.ClassOf(e.Str())
		case "scores":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				if f, ok := x.Float(); ok && f >= 0 && f <= 1 {
					s.Scores = append(s.Scores, steps.Score{Name: x.Key(), Value: f})
				}
			}
		case "unknown":
			s.Unknown = append(s.Unknown, texts(e)...)
		case "not_evaluated":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				s.NotEvaluated = append(s.NotEvaluated, [2]string{text(x, "name"), text(x, "reason")})
			}
		case "signs":
			for x, ok := e.First(); ok; x, ok = e.Next(x) {
				shown, _ := x.Get("shown")
				why, _ := x.Get("why")
				sign(s, text(x, "code"), shown.Bool(), texts(why))
			}
		case "routes":
			s.Routes = append(s.Routes, confused(e)...)
		case "tools":
			s.Tools = append(s.Tools, confused(e)...)
		}
	}
	return s
}

func sign(s *steps.Scored, code string, shown bool, why []string) {
	if len(code) != 2 || code[0] != 'T' || code[1] > '0'+steps.ScorerSigns { // the outcome shows the other ones
		return
	}
	s.Signs = append(s.Signs, steps.Sign{Issue: int(code[1]) - '1', Shown: shown, Why: why})
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
