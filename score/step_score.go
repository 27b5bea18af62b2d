// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"bytes"
	"math"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// stepPayload is the payload of a call: as emitted, and as parsed or repaired.
type stepPayload struct {
	args    value.Value // Invalid: not recorded, or not readable
	raw     value.Value // Invalid: not recorded, or not JSON
	hasRaw  bool        // a payload was recorded
	emitted bool        // args or a payload were recorded
	err     error       // why raw is not JSON
}

// marks are a set of measurements: one bit each for known, and above them one bit each for true.
// They are collected in a register.
type marks uint32

func mark(m callvet.StepMetric, yes bool) marks {
	b := marks(0)
	if yes {
		b = 1
	}
	return 1<<m | b<<(16+m)
}

// Score fills out with the results that follow from the step; others stay unknown.
func (s *StepScorer) Score(in *StepInput, out *callvet.StepScore) {
	t := s.lookup(in.Tool)
	if s.last = t; t.other {
		s.unknown++
	}
	// The contract is checked on the payload as it was emitted, before any repair.
	args, held, emitted := s.emitted(in)
	m := t.always
	if t.schema != nil && emitted {
		m |= s.contract(t, args, held)
	}
	switch {
	case !emitted || in.GoldArgs.Kind() != value.Object && in.GoldParams.Kind() != value.Object || in.Needed == 0:
		out.Matched, out.Expected, out.Emitted, out.Union = 0, 0, 0, 0
	case s.shared.slow || in.GoldParams.Kind() == value.Object || in.GoldScoring.Kind() == value.Object:
		m |= s.byRules(t, args, in, out)
	default:
		m |= s.arguments(t, args, in.GoldArgs, out)
	}
	m |= s.choice(t, in) | s.execution(in)
	if s.shared.rules != nil {
		m |= s.safe(t, args)
	}
	out.Known, out.True = uint16(m), uint16(m>>16)
}

// contract checks the arguments as emitted against the tool's schema. Where it is too much work,
// or where arguments were redacted, the result is unknown.
func (s *StepScorer) contract(t *contracted, args, held value.Value) marks {
	valid, known := t.schema.DecideObject(held)
	switch {
	case valid:
		return mark(callvet.StepSchemaValid, true) | mark(callvet.StepRepaired, false)
	case !known:
		s.endless++
		return 0
	case t.unknowable(held):
		return 0
	}
	m := mark(callvet.StepSchemaValid, false)
	if held == args {
		return m | mark(callvet.StepRepaired, false)
	}
	if valid, known = t.schema.DecideObject(args); known {
		m |= mark(callvet.StepRepaired, valid)
	}
	return m
}

// choice compares the called tool with the label.
func (s *StepScorer) choice(t *contracted, in *StepInput) marks {
	switch {
	case in.Needed == 0: // whatever tool the label names
		return mark(callvet.StepNeeded, false) | mark(callvet.StepSelection, false)
	case in.GoldTool.Kind() == value.String && len(in.GoldTool.Raw()) > 2:
		return mark(callvet.StepNeeded, true) | mark(callvet.StepSelection, s.right(t, in))
	case in.Needed == 1: // the label names no tool
		return mark(callvet.StepNeeded, true)
	}
	return 0
}

// Time adds the execution time of the last call to its score, in milliseconds; below 0: unknown. A
// timeout is longer than any budget.
func (s *StepScorer) Time(ms float64, out *callvet.StepScore) {
	tool := s.last.tool
	if tool == nil || tool.LatencyBudgetMS == nil && tool.LatencyP50MS == nil {
		return
	}
	if _, executed := out.Get(callvet.StepExecuted); !executed {
		return
	}
	late, _ := out.Get(callvet.StepTimeout)
	if ms < 0 && !late {
		return
	}
	if b := tool.LatencyBudgetMS; b != nil {
		out.Set(callvet.StepInBudget, !late && ms <= *b)
	}
	if b := tool.LatencyP50MS; b != nil {
		out.Set(callvet.StepInP50, !late && ms <= *b)
	}
}

// emitted returns the arguments, the payload for the contract check, and whether either was
// recorded.
func (s *StepScorer) emitted(in *StepInput) (args, held value.Value, emitted bool) {
	var p stepPayload
	s.read(in, &p)
	held = p.args
	if p.hasRaw {
		held = p.raw
	}
	return p.args, held, p.emitted
}

// read reads the payload. The text as emitted is only parsed where it differs from args.
func (s *StepScorer) read(in *StepInput, p *stepPayload) {
	if k := in.Args.Kind(); k != value.Invalid && k != value.Null {
		p.args, p.emitted = in.Args, true
	}
	if in.ArgsRaw.Kind() != value.String || len(in.ArgsRaw.Raw()) == 2 {
		return
	}
	inside := in.ArgsRaw.Raw()
	inside = inside[1 : len(inside)-1]
	if p.args.Kind() != value.Invalid && spells(inside, p.args.Raw()) {
		p.raw, p.hasRaw = p.args, true
		return
	}
	s.text = value.Unescape(s.text[:0], inside)
	if callvet.Elided(s.text) {
		return
	}
	p.hasRaw, p.emitted = true, true
	if p.err = s.payload.Parse(s.text); p.err == nil {
		p.raw = s.payload.Root()
	}
	if p.args.Kind() == value.Invalid {
		p.args = p.raw
	}
}

// Args are the arguments that the last call was scored by, where they differ from the labeled
// ones: the recorded arguments, or the payload where only the payload was recorded. Valid until
// the next call.
func (s *StepScorer) Args() value.Value { return s.args }

// Unlike are the labeled arguments of the last call that Args does not contain with the same
// bytes. Valid where Args is.
func (s *StepScorer) Unlike(labeled value.Value) []match.Pair {
	if !s.paired {
		s.scratch.Pair(labeled, s.args)
	}
	return s.scratch.Unlike
}

// spells reports whether the inside of a JSON string decodes to text, without decoding it; false
// also where it has escapes other than \" and \\.
func spells(inside, text []byte) bool {
	n := 0
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c == '\\' {
			if i++; i == len(inside) || inside[i] != '"' && inside[i] != '\\' {
				return false
			}
			c = inside[i]
		}
		if n == len(text) || text[n] != c {
			return false
		}
		n++
	}
	return n == len(text)
}

// arguments compares the call's arguments with the labeled ones, exactly.
func (s *StepScorer) arguments(t *contracted, got, want value.Value, out *callvet.StepScore) marks {
	s.args, s.paired, s.rules = got, false, nil
	if got.Kind() != value.Object {
		return unlabeled(got, stepClamp(want.Len()), out)
	}
	if bytes.Equal(got.Raw(), want.Raw()) {
		n := stepClamp(want.Len())
		out.Matched, out.Expected, out.Emitted, out.Union = n, n, n, n
		return mark(callvet.StepArgEM, true)
	}
	s.paired = true
	tally := t.exact.Tally(&s.scratch, want, got)
	return setTally(&tally, tally.Exact(), out)
}

// unlabeled is the tally of a payload that is no object, against n labeled arguments.
func unlabeled(got value.Value, n uint16, out *callvet.StepScore) marks {
	out.Matched, out.Expected, out.Emitted, out.Union = 0, n, 0, n
	if got.Kind() != value.Invalid {
		out.Emitted, out.Union = 1, stepClamp(int(n)+1)
	}
	return mark(callvet.StepArgEM, false)
}

// byRules compares the call's arguments with the labeled ones by the settings and the matchers of
// the label.
func (s *StepScorer) byRules(t *contracted, got value.Value, in *StepInput, out *callvet.StepScore) marks {
	s.args, s.paired, s.rules = got, false, s.compile(t, in)
	if s.rules == nil {
		out.Matched, out.Expected, out.Emitted, out.Union = 0, 0, 0, 0
		return 0
	}
	if got.Kind() != value.Object {
		tally := s.rules.Tally(value.Value{})
		return unlabeled(got, stepClamp(tally.Expected), out)
	}
	tally := s.rules.Tally(got)
	tally.Hits = float64(tally.Matched) + tally.Hits - tally.Soft // soft matches count as matches
	return setTally(&tally, s.rules.Pass(&tally), out)
}

func setTally(t *match.Tally, right bool, out *callvet.StepScore) marks {
	out.Matched, out.Expected, out.Emitted, out.Union = stepClamp(int(t.Hits)), stepClamp(t.Gold), stepClamp(t.Emitted),
		stepClamp(t.Union)
	return mark(callvet.StepArgEM, right)
}

func stepClamp(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }

// right reports whether the call used the labeled tool (a non-empty string): by name, and by
// version where the label has one.
func (s *StepScorer) right(t *contracted, in *StepInput) bool {
	raw := in.GoldTool.Raw()
	if bytes.Equal(raw[1:len(raw)-1], in.Tool) {
		return true
	}
	name, version := callvet.SplitTool(in.GoldTool.Str())
	name = s.shared.catalog.naming.Of(name)
	if s.shared.catalog.key(name) != s.shared.catalog.key(t.name) {
		return false
	}
	return version == "" || compareVersions(version, t.version) == 0
}

// execution returns the marks of the call's execution, and whether its result is the labeled one.
func (s *StepScorer) execution(in *StepInput) marks {
	m, ran := marks(allEnds|1<<callvet.StepExecuted<<16), true
	if string(in.Status) != string(callvet.StatusOK) || in.Error.Kind() > value.Null {
		m, ran = s.ended(in)
	}
	if !ran && (len(in.Status) > 0 || in.Result.Kind() <= value.Null) {
		return m
	}
	if in.GoldResult.Kind() > value.Null {
		m |= mark(callvet.StepEqual, value.Equal(in.GoldResult, in.Result))
	}
	if in.ResultCheck.Kind() == value.String {
		if c := s.checks.find(in.ResultCheck); c != nil {
			m |= mark(callvet.StepHolds, c.Holds(in.Result))
		}
	}
	return m
}

// allEnds are the measurements that are known once a call was executed.
const allEnds = 1<<callvet.StepRejected | 1<<callvet.StepExecuted | 1<<callvet.StepTimeout | 1<<callvet.StepRateLimited

// ended returns the marks of the status; ran is whether the call was executed.
func (s *StepScorer) ended(in *StepInput) (m marks, ran bool) {
	ok, timeout := false, false
	switch string(in.Status) {
	case string(callvet.StatusOK):
		ok = true
	case string(callvet.StatusTimeout):
		timeout = true
	case string(callvet.StatusRejected):
		return mark(callvet.StepRejected, true), false
	case "":
		return 0, false
	}
	failed := isError(in.Error)
	limited := failed && match.NamesRateLimit(in.Error) || !ok && match.NamesRateLimit(in.Result)
	return allEnds | mark(callvet.StepExecuted, ok && !failed) | mark(callvet.StepTimeout,
		timeout) | mark(callvet.StepRateLimited, limited), true
}

// isError reports whether an error is recorded; an empty text is none.
func isError(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return false
	case value.String:
		return len(v.Raw()) > 2
	case value.Bool:
		return v.Bool()
	}
	return true
}
