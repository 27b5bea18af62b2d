// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// payload is what a call carried: as emitted, and as it was made of that.
type payload struct {
	args    value.Value // Invalid: not recorded, or not readable
	raw     value.Value // Invalid: not recorded, or not JSON
	hasRaw  bool        // a payload was recorded
	emitted bool        // args or a payload were
	err     error       // why raw is not JSON
}

// Score fills out with all that the step tells; what it does not tell stays
// unknown.
func (s *Scorer) Score(in *Input, out *callvet.StepScore) {
	*out = callvet.StepScore{}
	t := s.lookup(in.Tool)
	if t.other {
		s.unknown++
	}
	p := s.read(in)
	s.args = p.args
	s.contract(t, &p, out)
	if k := in.GoldArgs.Kind(); k == value.Object && p.emitted {
		s.arguments(t, p.args, in.GoldArgs, out)
	}
	if in.Needed >= 0 {
		out.Set(callvet.StepNeeded, in.Needed == 1)
		out.Set(callvet.StepSelection, in.Needed == 1 && s.right(t, in))
	}
	s.execution(in, out)
	s.safe(t, p.args, out)
}

// read takes the payload in. The text as emitted is only parsed where it is not
// the one of args.
func (s *Scorer) read(in *Input) payload {
	p := payload{}
	if k := in.Args.Kind(); k != value.Invalid && k != value.Null {
		p.args, p.emitted = in.Args, true
	}
	if in.ArgsRaw.Kind() != value.String || len(in.ArgsRaw.Raw()) == 2 {
		return p
	}
	p.hasRaw, p.emitted = true, true
	if in.ArgsRaw.Spells(p.args) {
		p.raw = p.args
		return p
	}
	inside := in.ArgsRaw.Raw()
	inside = inside[1 : len(inside)-1]
	if p.args.Kind() != value.Invalid && spells(inside, p.args.Raw()) {
		p.raw = p.args
		return p
	}
	s.text = value.Unescape(s.text[:0], inside)
	if p.err = s.payload.Parse(s.text); p.err == nil {
		p.raw = s.payload.Root()
	}
	if p.args.Kind() == value.Invalid {
		p.args = p.raw
	}
	return p
}

// Args are the arguments that the last call was scored by: those recorded, or
// the payload where only that was. Valid until the next call.
func (s *Scorer) Args() value.Value { return s.args }

// spells reports whether the inside of a JSON string decodes to text, without
// decoding it; false also where it would have to look closer. It compares eight
// bytes at a time up to the next backslash.
func spells(inside, text []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i, j := 0, 0
	for i+8 <= len(inside) && j+8 <= len(text) {
		w := binary.LittleEndian.Uint64(inside[i:])
		slash := w ^ ones*'\\'
		slash = (slash - ones) &^ slash & highs
		differ := w ^ binary.LittleEndian.Uint64(text[j:])
		if slash|differ == 0 {
			i, j = i+8, j+8
			continue
		}
		at := min(bits.TrailingZeros64(slash), bits.TrailingZeros64(differ)) >> 3
		i, j = i+at, j+at
		if inside[i] != '\\' || i+1 == len(inside) || !escapes(inside[i+1], text[j]) {
			return false
		}
		i, j = i+2, j+1
	}
	for ; i < len(inside) && j < len(text); i, j = i+1, j+1 {
		if inside[i] == '\\' {
			if i++; i == len(inside) || !escapes(inside[i], text[j]) {
				return false
			}
		} else if inside[i] != text[j] {
			return false
		}
	}
	return i == len(inside) && j == len(text)
}

// escapes reports whether a backslash and c stand for want; only those two that
// JSON in JSON is full of.
func escapes(c, want byte) bool { return c == want && (c == '"' || c == '\\') }

// contract validates the payload as it was emitted, before any repair.
func (s *Scorer) contract(t *contracted, p *payload, out *callvet.StepScore) {
	if len(s.shared.catalog.versions) == 0 {
		return
	}
	out.Set(callvet.StepKnownTool, t.known)
	switch {
	case !t.known:
		out.Set(callvet.StepSchemaValid, false)
		out.Set(callvet.StepRepaired, false)
		return
	case t.schema == nil || !p.emitted:
		return
	}
	emitted := p.args
	if p.hasRaw {
		emitted = p.raw
	}
	valid := keeps(t, emitted)
	out.Set(callvet.StepSchemaValid, valid)
	out.Set(callvet.StepRepaired, !valid && emitted != p.args && keeps(t, p.args))
}

func keeps(t *contracted, v value.Value) bool { return v.Kind() == value.Object && t.schema.Valid(v) }

// arguments compares what the call carried with the labeled arguments.
func (s *Scorer) arguments(t *contracted, got, want value.Value, out *callvet.StepScore) {
	if got.Kind() != value.Object {
		out.Set(callvet.StepArgEM, false)
		out.Expected = clamp(want.Len())
		if got.Kind() != value.Invalid {
			out.Emitted = 1
		}
		return
	}
	if bytes.Equal(got.Raw(), want.Raw()) && !s.shared.slow {
		n := clamp(want.Len())
		out.Set(callvet.StepArgEM, true)
		out.Matched, out.Expected, out.Emitted = n, n, n
		return
	}
	tally := s.tally(t, got, want)
	out.Set(callvet.StepArgEM, tally.Exact())
	out.Matched, out.Expected, out.Emitted = clamp(int(tally.Hits)), clamp(tally.Gold), clamp(tally.Emitted)
}

func (s *Scorer) tally(t *contracted, got, want value.Value) match.Tally {
	if !s.shared.slow {
		return t.exact.Tally(&s.scratch, want, got)
	}
	rules, _ := match.Compile(want.Raw(), nil, t.params, s.shared.settings, s.shared.extra)
	tally := rules.Tally(got)
	tally.Hits = float64(tally.Matched) + tally.Hits - tally.Soft // soft matches count as matches
	return tally
}

func clamp(n int) uint16 { return uint16(min(max(n, 0), math.MaxUint16)) }

// right reports whether the call went to the labeled tool: by name, and by
// version where the label has one.
func (s *Scorer) right(t *contracted, in *Input) bool {
	if in.GoldTool.Kind() != value.String {
		return true
	}
	raw := in.GoldTool.Raw()
	if raw = raw[1 : len(raw)-1]; len(raw) == 0 || bytes.Equal(raw, in.Tool) {
		return true
	}
	name, version := callvet.SplitTool(in.GoldTool.Str())
	if s.shared.catalog.key(name) != s.shared.catalog.key(t.name) {
		return false
	}
	return version == "" || compareVersions(version, t.version) == 0
}

// execution tells what the runtime made of the call, and whether its result is
// the labeled one.
func (s *Scorer) execution(in *Input, out *callvet.StepScore) {
	status := callvet.Status(in.Status) // compared only, not kept
	ran := status != "" && status != callvet.StatusRejected
	if status != "" {
		out.Set(callvet.StepRejected, status == callvet.StatusRejected)
	}
	if ran {
		failed := isError(in.Error)
		out.Set(callvet.StepExecuted, status == callvet.StatusOK && !failed)
		out.Set(callvet.StepTimeout, status == callvet.StatusTimeout)
		out.Set(callvet.StepRateLimited, failed && tellsRateLimit(in.Error))
	}
	got := in.Result.Kind()
	if !ran && (status != "" || got == value.Invalid || got == value.Null) {
		return
	}
	if k := in.GoldResult.Kind(); k != value.Invalid && k != value.Null {
		out.Set(callvet.StepEqual, value.Equal(in.GoldResult, in.Result))
	}
	if in.ResultCheck.Kind() == value.String {
		if c := s.checks.find(in.ResultCheck); c != nil {
			out.Set(callvet.StepHolds, c.Holds(in.Result))
		}
	}
}
