// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Fields are dotted paths into a plain record ("data.reply", "steps.0.calls").
// An empty one means the usual names.
type Fields struct {
	Text, Calls                 string
	Name, Args, Result, Problem string // inside a call
}

// Options are what Decode may use in addition to the record.
type Options struct {
	// Tools are the tools that were offered; calls written into a text are looked
	// for only when there are some.
	Tools *callvet.Toolset
	// Input is the conversation that the target was given; a message list that
	// repeats it loses that prefix.
	Input  []callvet.Turn
	Fields Fields
	// Agent: the record comes from an agent, which may have made calls without recording them.
	// The calls of a record with a text and without a member for calls are then unknown.
	Agent bool
	// Kept: the value belongs to a stored conversation, not to an answer to grade. Its arguments
	// stay unchanged, without repairs. The texts of parts are lines. An unreadable call becomes a
	// call without a name instead of a fault.
	Kept bool
}

// Decode reads v. The error is a *callvet.Fault: the infrastructure error that the record
// contains, or FaultMalformed when v has no known form.
func Decode(v value.Value, o Options) (*callvet.Response, error) {
	if resp := decodedRow(v); resp != nil {
		return resp, nil
	}
	outer := v
	v = unwrap(v)
	vendor := vendorOf(v)
	form := vendor.form
	if outer.Kind() == value.Object {
		if f := recordedFault(outer, v, form); f != nil {
			return nil, f
		}
	}
	d := decoder{o: o, resp: &callvet.Response{Complete: true}}
	if vendor.read(&d, v); d.fault == nil && form != FormTrace {
		if outer.Kind() == value.Object {
			d.meta(outer, form)
			if v.Raw() != nil && len(v.Raw()) != len(outer.Raw()) {
				d.meta(v, form)
			}
		}
		d.fault = d.missed(form, outer)
	}
	if d.fault != nil {
		return nil, d.fault
	}
	d.settle(form, outer)
	return d.resp, nil
}

// settle completes an answer that was read: the form decides the meaning of an answer without
// calls.
func (d *decoder) settle(form Form, outer value.Value) {
	if d.resp.FinishReason == "" && (form == FormBFCL || form == FormBFCLTurns) && !called(d.resp.Turns) &&
		!d.resp.Unreadable {
		d.resp.FinishReason = callvet.FinishDecoded
	}
	d.resp.CallsUnknown = d.resp.CallsUnknown ||
		d.o.Agent && d.o.Fields.Calls == "" && (form == FormText || d.bare && !hasPlace(outer))
	d.collectRepairs()
}

// hasPlace reports whether a record has a member for calls, in any spelling.
func hasPlace(v value.Value) bool {
	for m, ok := v.First(); ok && v.Kind() == value.Object; m, ok = v.Next(m) {
		if word := wordOf(m); word == callsWord || word == callWord {
			return true
		}
	}
	return false
}

type decoder struct {
	o     Options
	resp  *callvet.Response
	fault *callvet.Fault // the first part that is not allowed in an answer
	bare  bool           // the answer is the text of a record that has no place for calls
}

// fail stores a fault; only the first one is kept.
func (d *decoder) fail(f *callvet.Fault) {
	if d.fault == nil {
		d.fault = f
	}
}

// refuse stores the fault of a value that is not allowed in an answer.
func (d *decoder) refuse(format string, args ...any) { d.fail(malformed(fmt.Sprintf(format, args...))) }

func malformed(msg string) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: msg}
}

// ends reads the finish reason of v where none is known yet.
func (d *decoder) ends(v value.Value) {
	if d.resp.FinishReason == "" {
		d.resp.FinishReason = FinishOf(v)
	}
}

// meta reads usage, model, finish reason and times from any place of a record; values that are
// already set stay.
func (d *decoder) meta(v value.Value, form Form) {
	if m, ok := v.Get("model"); ok && d.resp.Model == "" {
		d.resp.Model = m.Str()
	}
	d.ends(v)
	if u := usageOf(v); !d.resp.Usage.Known && (u.Known || d.resp.Usage == (callvet.Usage{})) {
		d.resp.Usage = u
	}
	if d.resp.Wall == 0 {
		d.resp.Wall = wallOf(v, form)
	}
	if m, ok := firstOf(v, "first_token_ms", "firstTokenMs", "ttft_ms"); ok && d.resp.FirstToken == 0 {
		d.resp.FirstToken = millis(sum(m))
	}
}

func number(v value.Value, keys ...string) (float64, bool) {
	for _, k := range keys {
		if m, ok := v.Get(k); ok && (m.Kind() == value.Number || m.Kind() == value.Array) {
			return sum(m), true
		}
	}
	return 0, false
}

// sum adds numbers that a record contains per turn or per step.
func sum(v value.Value) float64 {
	if v.Kind() != value.Array {
		f, _ := v.Float()
		return f
	}
	t := 0.0
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		t += sum(e)
	}
	return t
}

func wallOf(v value.Value, form Form) time.Duration {
	if ms, ok := number(v, "latency_ms", "latencyMs", "wall_ms", "duration_ms", "durationMs"); ok {
		return millis(ms)
	}
	if s, ok := number(v, "latency_s", "duration_s"); ok {
		return millis(s * 1000)
	}
	if form == FormBFCL || form == FormBFCLTurns { // BFCL's latency is in seconds
		if s, ok := number(v, "latency"); ok {
			return millis(s * 1000)
		}
	}
	return 0
}

// millis refuses impossible durations (below zero, or above a year).
func millis(ms float64) time.Duration {
	if !(ms > 0) || ms > 366*24*3600*1000 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func (d *decoder) collectRepairs() {
	for i := range d.resp.Turns {
		if t := &d.resp.Turns[i]; t.Role == callvet.RoleAssistant &&
			callvet.StopOf(d.resp.FinishReason) != callvet.StopDecoded {
			Thoughts(t)
		}
		for j := range d.resp.Turns[i].Calls {
			for _, r := range d.resp.Turns[i].Calls[j].Repairs {
				if !slices.Contains(d.resp.Repairs, r) {
					d.resp.Repairs = append(d.resp.Repairs, r)
				}
			}
		}
	}
}
