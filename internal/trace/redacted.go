// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"slices"

	"github.com/callvet/callvet"
)

// Redactor removes secrets and personal data from texts and JSON values; package redact has one.
type Redactor interface {
	// Begin starts an attempt: equal values get equal replacements until the next Begin.
	Begin()
	Trace(t *callvet.Trace) callvet.Trace
	Turns(in []callvet.Turn) []callvet.Turn
	Calls(in []callvet.Call) []callvet.Call
	Words
}

// Words redacts the different kinds of texts.
type Words interface {
	Text(s string) string
	JSON(raw json.RawMessage) json.RawMessage
	// Check is Text of a condition, which can still be read afterwards.
	Check(s string) string
	// Known replaces values that are known to be secret and nothing else.
	Known(s string) string
	// Name is Known, and also replaces texts with the form of a secret.
	Name(s string) string
}

// Redacted is the redacted attempt. Each member is treated by its role in the contract: texts,
// arguments and results lose secrets and personal data. Ids, names, times, numbers and verdicts do
// not change, so that lines still join and figures stay. The attempt itself is not changed.
func (a *Attempt) Redacted(r Redactor) Attempt {
	r.Begin()
	out := *a
	out.Gold = a.Gold.Redacted(r) // first: its replacements are the same in every attempt
	out.Steps = notes(a.Steps, len(a.Trace.Calls()), r)
	out.Goal, out.AsOf = r.Text(a.Goal), r.Known(a.AsOf)
	out.Tags, out.Fields = eachText(a.Tags, r.Text), named(a.Fields, r)
	out.Input = r.Turns(a.Input)
	out.Trace = r.Trace(&a.Trace)
	out.UserCalls = r.Calls(a.UserCalls)
	out.Judged = append([]Judged(nil), a.Judged...)
	for i := range out.Judged {
		j := &out.Judged[i]
		j.Judge, j.Model, j.Reason = r.Name(j.Judge), r.Name(j.Model), r.Text(j.Reason)
	}
	out.Labels = append([]Label(nil), a.Labels...)
	for i := range out.Labels {
		out.Labels[i].By, out.Labels[i].Note = r.Text(a.Labels[i].By), r.Text(a.Labels[i].Note)
	}
	if a.Safety != nil { // empty is not nil: it was checked for incidents
		out.Safety = append([]Incident{}, a.Safety...)
		for i := range out.Safety {
			out.Safety[i].Note = r.Text(a.Safety[i].Note)
		}
	}
	out.Foreign = r.JSON(a.Foreign)
	return out
}

// Redacted is the redacted gold; nil stays nil.
func (g *TaskGold) Redacted(r Redactor) *TaskGold {
	if g == nil {
		return nil
	}
	out := TaskGold{Steps: slices.Clone(g.Steps), Checks: eachText(g.Checks, r.Check), Facts: eachText(g.Facts, r.Text)}
	for i := range out.Steps {
		out.Steps[i].Tool, out.Steps[i].Args = r.Name(g.Steps[i].Tool), r.JSON(g.Steps[i].Args)
	}
	return &out
}

// notes redacts the notes of calls 0 to n-1, in their order: replacements are numbered in order of
// appearance.
func notes(in map[int]StepNote, n int, r Redactor) map[int]StepNote {
	if in == nil {
		return nil
	}
	out := make(map[int]StepNote, len(in))
	for i := range n {
		s, ok := in[i]
		if !ok {
			continue
		}
		if g := s.Gold; g != nil {
			own := *g
			own.Tool, own.Args, own.Params = r.Name(g.Tool), r.JSON(g.Args), r.JSON(g.Params)
			own.Result, own.ResultCheck = r.JSON(g.Result), r.Check(g.ResultCheck)
			s.Gold = &own
		}
		s.Tags, s.Fields = eachText(s.Tags, r.Text), named(s.Fields, r)
		out[i] = s
	}
	return out
}

func eachText(in []string, of func(string) string) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = of(s)
	}
	return out
}

// named redacts the values as members of one object, where their names count too.
func named(in map[string]string, r Redactor) map[string]string {
	if in == nil {
		return nil
	}
	raw, err := json.Marshal(in) // in the order of the names
	if err != nil {
		return in
	}
	redacted := r.JSON(raw)
	if string(redacted) == string(raw) {
		return in
	}
	var out map[string]string
	if json.Unmarshal(redacted, &out) != nil {
		return nil
	}
	return out
}
