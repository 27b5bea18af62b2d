// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// Step copies a step out of its line, so that it may be kept.
func (v *View) Step() Step {
	s := Step{
		TaskID: string(v.TaskID), Attempt: v.Attempt, Target: string(v.Target), TurnID: v.TurnID,
		CallID: string(v.CallID), Status: callvet.Status(v.Status), ArgsRaw: v.ArgsRaw.Str(),
		Args: keep(v.Args), Result: keep(v.Result), Error: keep(v.Error),
		AcceptMS: known(v.AcceptMS), StartMS: known(v.StartMS), QueueMS: known(v.QueueMS), ExecMS: known(v.ExecMS),
		Tags: tags(v.Tags), Fields: fields(v.Fields), Env: callvet.Env(v.Env), Guard: rulings(v.Guard),
		Corrects: v.Corrects,
	}
	s.Tool, s.ToolVersion = SplitTool(string(v.Tool))
	g := Gold{
		Tool: v.GoldTool.Str(), Args: keep(v.GoldArgs), Params: keep(v.GoldParams), Scoring: keep(v.GoldScoring),
		Result: keep(v.GoldResult), ResultCheck: v.ResultCheck.Str(),
	}
	if v.Needed >= 0 {
		yes := v.Needed == 1
		g.Needed = &yes
	}
	if g.Needed != nil || g.Tool != "" || g.Args != nil || g.Params != nil || g.Scoring != nil || g.Result != nil ||
		g.ResultCheck != "" {
		s.Gold = &g
	}
	return s
}

// Task copies a task record out of its line, which the Scanner has compared with the
// form of Task.
func (v *View) Task() Task {
	var t taskLine
	_ = v.form.Read(v.Record, &t, func(doc.Unknown) {}) // Check found nothing wrong
	t.Line = v.Line
	t.Outcome = OutcomeOf(t.Outcome, t.Skipped, t.Pass != nil || t.Reward != nil || t.Fault != nil)
	return t.Task
}

// OutcomeOf returns the outcome of a task record: not_run where the record has no outcome, is skipped,
// and has neither a verdict nor a fault. Otherwise the attempt ran, also where it is marked as skipped.
func OutcomeOf(recorded callvet.Outcome, skipped, ended bool) callvet.Outcome {
	if recorded == "" && skipped && !ended {
		return callvet.OutcomeNotRun
	}
	return recorded
}

// keep copies a value's text; null and absent become nil.
func keep(v value.Value) json.RawMessage {
	if k := v.Kind(); k == value.Invalid || k == value.Null {
		return nil
	}
	return append(json.RawMessage(nil), v.Raw()...)
}

func known(f float64) *float64 {
	if f < 0 {
		return nil
	}
	return &f
}

func tags(v value.Value) []string {
	if v.Len() == 0 {
		return nil
	}
	out := make([]string, 0, v.Len())
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, e.Str())
	}
	return out
}

func rulings(v value.Value) []callvet.Ruling {
	if v.Len() == 0 {
		return nil
	}
	out := make([]callvet.Ruling, 0, v.Len())
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		rule, _ := e.Get("rule")
		action, _ := e.Get("action")
		detail, _ := e.Get("detail")
		out = append(out,
			callvet.Ruling{Rule: rule.Str(), Action: callvet.RulingAction(action.Str()), Detail: detail.Str()})
	}
	return out
}

// fields reads named slices; numbers and booleans count by their text.
func fields(v value.Value) map[string]string {
	if v.Kind() != value.Object || v.Len() == 0 {
		return nil
	}
	out := make(map[string]string, v.Len())
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch e.Kind() {
		case value.String:
			out[e.Key()] = e.Str()
		case value.Number, value.Bool:
			out[e.Key()] = string(e.Raw())
		}
	}
	return out
}
