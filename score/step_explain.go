// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/value"
)

// StepExplanation is why a step got its score.
type StepExplanation struct {
	// Call pairs the labeled call with the actual one. It contains the single arguments where
	// there is a label, and the contract violations of the payload as emitted.
	Call callvet.CallMatch
	// Reasons describe each mistake in one sentence; empty without mistakes.
	Reasons []string
	// Plain are the reasons that quote nothing from the call and its label.
	Plain []string
}

// Explain returns the findings of Score in words. It is used only for steps that are shown.
func (s *StepScorer) Explain(in *StepInput) StepExplanation {
	var score callvet.StepScore
	seen, endless := s.unknown, s.endless
	s.Score(in, &score)
	s.unknown, s.endless = seen, endless
	t, p := s.lookup(in.Tool), stepPayload{}
	s.read(in, &p)
	x := StepExplanation{Call: callvet.CallMatch{Got: string(in.Tool), GotArgs: own(p.args)}}
	if t.counted != nil {
		x.Call.As = t.name
		called, _ := callvet.SplitTool(string(in.Tool))
		x.Call.Note = callvet.CountedAs(called, t.name)
	}
	say := func(format string, args ...any) {
		if len(args) == 0 {
			x.Plain = append(x.Plain, format)
		}
		x.Reasons = append(x.Reasons, fmt.Sprintf(format, args...))
	}
	s.explainContract(t, &p, &score, &x, say)
	s.explainLabel(t, in, &p, &score, &x, say)
	explainExecution(in, &score, say)
	if safe, known := score.Get(callvet.StepSafe); known && !safe {
		say("a rule of safety forbids the call")
	}
	return x
}

func own(v value.Value) json.RawMessage {
	if k := v.Kind(); k == value.Invalid {
		return nil
	}
	return append(json.RawMessage(nil), v.Raw()...)
}

func is(score *callvet.StepScore, m callvet.StepMetric) bool {
	yes, _ := score.Get(m)
	return yes
}

// fails reports a measurement that is known and false.
func fails(score *callvet.StepScore, m callvet.StepMetric) bool {
	yes, known := score.Get(m)
	return known && !yes
}

func (s *StepScorer) explainContract(t *contracted, p *stepPayload, score *callvet.StepScore, x *StepExplanation,
	say func(string, ...any),
) {
	switch {
	case fails(score, callvet.StepKnownTool):
		names := make([]string, 0, len(s.shared.catalog.versions))
		for _, list := range s.shared.catalog.versions {
			names = append(names, list[0].name)
		}
		slices.Sort(names)
		if near := callvet.Nearest(t.name, names); near != "" {
			say("tool %s is not in the catalog, the nearest is %s", t.name, near)
		} else {
			say("tool %s is not in the catalog", t.name)
		}
		return
	case t.other:
		say("tool %s is in the catalog, but not in version %s: it was validated against no schema", t.name, t.version)
		return
	case !fails(score, callvet.StepSchemaValid):
		return
	}
	emitted := p.args
	if p.hasRaw {
		emitted = p.raw
	}
	switch k := emitted.Kind(); k {
	case value.Invalid:
		if why := callvet.Unreadable(string(s.text)); p.hasRaw && strings.HasSuffix(why, " twice") {
			say("%s", why)
		} else {
			say("the payload is not JSON: %v", p.err)
		}
	case value.Object:
		x.Call.Violations = t.violations(emitted)
		for _, v := range x.Call.Violations {
			say("arguments break the schema%s: %s", place(v.Path), v.Message)
		}
	default:
		say("the payload is a JSON %s, not an object", k)
	}
	if is(score, callvet.StepRepaired) {
		say("what was made of the payload keeps the contract")
	}
}

func place(path string) string {
	if path == "" {
		return ""
	}
	return " at " + path
}

func (s *StepScorer) explainLabel(t *contracted, in *StepInput, p *stepPayload, score *callvet.StepScore,
	x *StepExplanation, say func(string, ...any),
) {
	switch {
	case fails(score, callvet.StepNeeded):
		x.Call.State = callvet.StateExtra
		say("the call was not needed")
	case fails(score, callvet.StepSelection):
		say("the right tool is %s", in.GoldTool.Str())
	}
	if want := in.GoldTool.Str(); want != "" {
		x.Call.Want = []string{want}
		if name, _ := callvet.SplitTool(want); !fails(score, callvet.StepSelection) {
			if n := callvet.Misnamed(string(in.Tool), name); n != "" {
				say("%s", n)
			}
		}
	}
	if in.GoldArgs.Kind() != value.Object && in.GoldParams.Kind() != value.Object {
		return
	}
	if in.GoldArgs.Kind() == value.Object {
		x.Call.WantArgs = own(in.GoldArgs)
	}
	em, known := score.Get(callvet.StepArgEM)
	if !known {
		return
	}
	if x.Call.State == "" {
		x.Call.State = callvet.StatePartial
		if em && !fails(score, callvet.StepSelection) {
			x.Call.State = callvet.StateMatched
		}
	}
	rules := s.compile(t, in)
	if rules == nil {
		return
	}
	x.Call.Args = rules.Diff(p.args)
	explainArgs(x.Call.Args, say)
	if !em && p.args.Kind() != value.Object {
		say("there are no arguments to compare: the payload is not an object")
	}
}

// explainArgs explains each argument that differs.
func explainArgs(args []callvet.ArgDiff, say func(string, ...any)) {
	for _, d := range args {
		switch {
		case d.Matched, d.Path == "": // the caller has a sentence on all of them
		case d.Actual == nil:
			say("argument %s is missing, expected %s", d.Path, d.Expected)
		case d.Expected == nil:
			say("argument %s is not expected, it is %s", d.Path, d.Actual)
		default:
			say("argument %s is %s, expected %s", d.Path, d.Actual, d.Expected)
		}
	}
}

func explainExecution(in *StepInput, score *callvet.StepScore, say func(string, ...any)) {
	switch {
	case is(score, callvet.StepRejected):
		say("the contract refused the call")
	case is(score, callvet.StepTimeout):
		say("the tool did not answer in time")
	case is(score, callvet.StepRateLimited):
		say("the tool refused because of its rate limit: %s", clip(in.Error.Raw()))
	case fails(score, callvet.StepExecuted):
		say("the call ended with status %s, error %s", in.Status, clip(in.Error.Raw()))
	}
	if fails(score, callvet.StepEqual) {
		say("the result is %s, expected %s", clip(in.Result.Raw()), clip(in.GoldResult.Raw()))
	}
	if fails(score, callvet.StepHolds) {
		say("the post-condition %s does not hold for %s", in.ResultCheck.Str(), clip(in.Result.Raw()))
	}
}

// clip shortens a text for a sentence.
func clip(b []byte) string {
	const most = 200
	if b == nil {
		return "none"
	}
	if len(b) > most {
		return strings.ToValidUTF8(string(b[:most]), "") + "…"
	}
	return string(b)
}

// BadFields are the names of the arguments that break the contract of the call, each once.
func (s *StepScorer) BadFields(in *StepInput) []string {
	p := stepPayload{}
	s.read(in, &p)
	emitted := p.args
	if p.hasRaw {
		emitted = p.raw
	}
	t := s.lookup(in.Tool)
	if emitted.Kind() != value.Object || t.schema == nil {
		return nil
	}
	if names, ok := t.schema.Broken(emitted); ok && !safety.UnknownValue(emitted) && !marked(emitted) {
		return names
	}
	var out []string
	for _, v := range t.violations(emitted) {
		name, _, _ := strings.Cut(strings.TrimPrefix(v.Path, "/"), "/")
		name = contract.Unescape(name)
		if v.Path != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
