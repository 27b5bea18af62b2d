// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/value"
)

// Attempt identifies the attempt of the calls. The effect of a fault depends only on it and on
// the number of the call, so that concurrency does not change it.
type Attempt struct {
	Seed   int64
	Case   string
	Repeat int
}

// Faulty adds faults to the calls that w answers. Each fault counts the calls of its tools in the
// attempt. The first fault of a call that replaces the tool answers it, and the tool is not called;
// faults of results apply one after the other. Placeholders {{NAME}} in results that no fault fills
// stay. With real, delays really pass. A nil w, or no fault, returns w.
func Faulty(w callvet.World, faults []callvet.ToolFault, of Attempt, real bool) callvet.World {
	if w == nil || len(faults) == 0 {
		return w
	}
	return &faulty{
		world: w, faults: faults, of: of, real: real, seen: make([]int, len(faults)),
		met: make([]int, len(faults)), last: map[string]json.RawMessage{},
	}
}

type faulty struct {
	world     callvet.World
	faults    []callvet.ToolFault
	of        Attempt
	real      bool
	seen, met []int // calls of the fault's tools, and those that it met
	last      map[string]json.RawMessage
}

// Defaults of absent settings of a fault.
const (
	defaultTimeout    = 30 * time.Second
	defaultRetryAfter = 2 * time.Second
)

// Answer applies the faults of the call, and calls the world if none of them replaces the tool.
func (f *faulty) Answer(ctx context.Context, call callvet.Call) (callvet.Reply, error) {
	var after []*callvet.ToolFault
	var before *callvet.ToolFault
	var late time.Duration
	for i := range f.faults {
		switch t := &f.faults[i]; {
		case !f.meets(i, call.Tool):
		case t.Way == callvet.WayLatency:
			late += milliseconds(t.LatencyMS)
			after = append(after, t)
		case t.Way != callvet.WayError && t.Way != callvet.WayTimeout && t.Way != callvet.WayRateLimit:
			after = append(after, t)
		case before == nil:
			before = t
		}
	}
	if before != nil {
		return f.waited(ctx, faultReply(before), late)
	}
	r, err := f.world.Answer(ctx, call)
	if err != nil {
		return r, err
	}
	original := r.Result
	var names []string
	for _, t := range after {
		changed := t.Way == callvet.WayLatency
		if !changed && r.Result != nil {
			r.Result, changed = f.spoil(t, call.Tool, r.Result)
		}
		if changed {
			names = append(names, t.Name())
		}
	}
	if original != nil {
		f.last[strings.ToLower(call.Tool)] = original
	}
	if len(names) > 0 {
		r.Env = callvet.EnvFault
		r.Note = join(strings.Join(names, ", "), r.Note)
	}
	return f.waited(ctx, r, late)
}

// Close closes the world that fails, where it can be closed.
func (f *faulty) Close() error { return closed(f.world) }

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// waited adds the delay of a call; it really passes only with real.
func (f *faulty) waited(ctx context.Context, r callvet.Reply, late time.Duration) (callvet.Reply, error) {
	wanted := late
	if r.Env == callvet.EnvFault && r.Status == callvet.StatusTimeout {
		wanted += r.Latency
	}
	r.Latency += late
	if f.real && wanted > 0 {
		return r, sys.Sleep(ctx, wanted)
	}
	return r, nil
}

// meets counts the call and reports whether the i-th fault meets it.
func (f *faulty) meets(i int, tool string) bool {
	t := &f.faults[i]
	if t.Tool != "" && !callvet.NameFits(t.Tool, tool, false) {
		return false
	}
	f.seen[i]++
	n := f.seen[i]
	switch {
	case t.Nth > 0 && n != t.Nth, t.Every > 0 && n%t.Every != 0, n < t.From, t.Times > 0 && f.met[i] >= t.Times:
		return false
	case t.Probability != nil && f.draw(i, n) >= *t.Probability:
		return false
	}
	f.met[i]++
	return true
}

// draw is a number in [0,1) that depends on seed, case, repeat, fault and call alone.
func (f *faulty) draw(fault, call int) float64 {
	h := sha256.New()
	// a hash accepts everything
	_, _ = fmt.Fprintf(h, "%d\n%q\n%d\n%d\n%d", f.of.Seed, f.of.Case, f.of.Repeat, fault, call)
	const bits = 53
	return float64(binary.BigEndian.Uint64(h.Sum(nil))>>(64-bits)) / (1 << bits)
}

// faultReply is the answer of a fault that replaces the tool.
func faultReply(t *callvet.ToolFault) callvet.Reply {
	r := callvet.Reply{Status: callvet.StatusExecErr, Error: t.Message, Env: callvet.EnvFault, Note: t.Name()}
	switch t.Way {
	case callvet.WayTimeout:
		r.Status, r.Latency = callvet.StatusTimeout, defaultTimeout
		if t.LatencyMS > 0 {
			r.Latency = milliseconds(t.LatencyMS)
		}
		if r.Error == "" {
			r.Error = fmt.Sprintf("no answer within %s", r.Latency)
		}
	case callvet.WayRateLimit:
		after := defaultRetryAfter
		if t.RetryAfterMS > 0 {
			after = milliseconds(t.RetryAfterMS)
		}
		if r.Error == "" {
			r.Error = "429 too many requests"
		}
		r.Error += fmt.Sprintf("; retry after %s", after)
	default:
		if r.Error == "" {
			r.Error = "503 service unavailable"
		}
	}
	return r
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// spoil applies a fault to a result; false if it does not apply.
func (f *faulty) spoil(t *callvet.ToolFault, tool string, result json.RawMessage) (json.RawMessage, bool) {
	switch t.Way {
	case callvet.WayNull:
		return nullAt(result, t.At)
	case callvet.WayTruncated:
		s := plainResult(result)
		half := len(s) / 2
		for half > 0 && !utf8.RuneStart(s[half]) {
			half--
		}
		return value.Quote(s[:half]), len(s) > 1
	case callvet.WayMalformed:
		return value.Quote(malformed(plainResult(result))), true
	case callvet.WayStale:
		if before, ok := f.last[strings.ToLower(tool)]; ok {
			return before, true
		}
	case callvet.WayInject:
		return inject(result, t.At, t.Text)
	}
	return result, false
}

// plainResult is the text of a result for a target: a string unchanged.
func plainResult(result json.RawMessage) string {
	var s string
	if json.Unmarshal(result, &s) == nil {
		return s
	}
	return string(result)
}

// malformed makes a text invalid JSON: a comma replaces the last bracket or quote.
func malformed(s string) string {
	if i := strings.LastIndexAny(s, `}]"`); i >= 0 {
		return s[:i] + ","
	}
	return "{" + s
}

// nullAt puts null in place of the whole value, or of a member of an object.
func nullAt(result json.RawMessage, at string) (json.RawMessage, bool) {
	if at == "" {
		return json.RawMessage("null"), true
	}
	v, err := value.Parse(result)
	if err != nil || v.Kind() != value.Object {
		return result, false
	}
	if _, has := v.Get(at); !has {
		return result, false
	}
	out := []byte{'{'}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, value.Quote(e.Key())...), ':')
		if e.Key() == at {
			out = append(out, "null"...)
		} else {
			out = append(out, e.Raw()...)
		}
	}
	return append(out, '}'), true
}

// inject plants a text at the placeholder at, or at the end of the longest text where at is "".
func inject(result json.RawMessage, at, planted string) (json.RawMessage, bool) {
	v, err := value.Parse(result)
	if err != nil {
		return result, false
	}
	p := planter{text: planted, slot: "{{" + at + "}}"}
	if at == "" {
		if planted == "" {
			return result, false
		}
		p.slot = ""
		p.measure(v)
	}
	out, err := value.ReplaceTexts(v, p.replaced)
	return out, p.done && err == nil
}

type planter struct {
	text, slot string
	longest    int // how many texts are before the longest one
	length     int
	passed     int
	done       bool
}

// measure finds the longest text.
func (p *planter) measure(v value.Value) {
	p.longest = -1
	n := 0
	var walk func(v value.Value)
	walk = func(v value.Value) {
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			walk(e)
		}
		if v.Kind() == value.String {
			if s := v.Str(); p.longest < 0 || len(s) > p.length {
				p.longest, p.length = n, len(s)
			}
			n++
		}
	}
	walk(v)
}

// replaced is a text with the planted text in it; nil: unchanged.
func (p *planter) replaced(v value.Value) (json.RawMessage, error) {
	s := v.Str()
	switch {
	case p.slot != "" && strings.Contains(s, p.slot):
		p.done = true
		return value.Quote(strings.ReplaceAll(s, p.slot, p.text)), nil
	case p.slot == "":
		p.passed++
		if p.passed == p.longest+1 {
			p.done = true
			return value.Quote(strings.TrimSpace(s + " " + p.text)), nil
		}
	}
	return nil, nil
}
