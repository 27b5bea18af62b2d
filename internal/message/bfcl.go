// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// isBFCL distinguishes BFCL's result rows (a text, or a list of {name: arguments}) from plain
// records that have a result by chance.
func isBFCL(v value.Value) bool {
	r, ok := firstOf(v, "result", "raw")
	return has(v, "decoded") || ok && has(v, "id") && !has(v, "type") && !has(v, "calls") && !has(v, "tool_calls") &&
		!has(v, "toolCalls") && (r.Kind() == value.String || r.Kind() == value.Array)
}

// bfcl reads a BFCL row: the decoded output where the row has it, else the output itself.
func (d *decoder) bfcl(v value.Value) {
	raw, ok := v.Get("raw")
	if !ok {
		raw, _ = v.Get("result")
	}
	dec, decoded := v.Get("decoded")
	if !decoded {
		d.bfclRaw(raw)
		return
	}
	d.decoded(raw, dec)
}

// decoded takes the calls of the row's own decoder.
func (d *decoder) decoded(raw, dec value.Value) {
	t := callvet.Turn{Role: callvet.RoleAssistant}
	var ok bool
	d.resp.FinishReason = callvet.FinishDecoded
	if t.Calls, ok = decodedCalls(dec); !ok {
		// BFCL counts such a row as "no call". That is right for its relevance cases and wrong
		// everywhere else, so the answer is an abstention here too. The raw output stays as its
		// text.
		d.resp.FinishReason = callvet.FinishUndecodable
	}
	if len(t.Calls) == 0 {
		t.Content = rawText(raw)
	}
	d.resp.Turns = []callvet.Turn{t}
}

// decodedRow reads a BFCL row with raw and decoded output in one walk over its members, since such
// files are scored by the hundred thousand. It returns nil when v is anything else.
func decodedRow(v value.Value) *callvet.Response {
	if v.Kind() != value.Object {
		return nil
	}
	var raw, dec, in, out value.Value
	resp := &callvet.Response{Complete: true}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		switch string(e.KeyBytes()) {
		case "raw":
			raw = e
		case "decoded":
			dec = e
		case "latency_s":
			resp.Wall = millis(sum(e) * 1000)
		case "input_tokens":
			in = e
		case "output_tokens":
			out = e
		case "model":
			resp.Model = e.Str()
		case "turns", "choices", "response":
			return nil
		}
	}
	if raw.Kind() == value.Invalid || dec.Kind() == value.Invalid {
		return nil
	}
	if in.Kind() != value.Invalid || out.Kind() != value.Invalid {
		resp.Usage = rowUsage(in, out)
	}
	d := decoder{resp: resp}
	d.decoded(raw, dec)
	return resp
}

// rowUsage returns the usage of a row. Its counts may be lists of turns and steps.
func rowUsage(in, out value.Value) callvet.Usage {
	r := UsageReader{Lists: true}
	u := callvet.Usage{}
	u.InputTokens, u.OutputTokens = r.Value("input_tokens", in), r.Value("output_tokens", out)
	return r.Done(u)
}

// decodedCalls reads [{name: {arg: value}}]. ok is false for null and for lists that contain
// anything else, which BFCL's checkers refuse as a whole.
func decodedCalls(dec value.Value) (calls []callvet.Call, ok bool) {
	if dec.Kind() != value.Array {
		return nil, false
	}
	for e, ok := dec.First(); ok; e, ok = dec.Next(e) {
		if e.Kind() != value.Object {
			return nil, false
		}
		for m, ok := e.First(); ok; m, ok = e.Next(m) {
			calls = append(calls, callvet.Call{Tool: m.Key(), Args: m.Raw()})
		}
	}
	return calls, true
}

// rawText keeps an output that is not calls: a text, the texts of a list, else
// its JSON.
func rawText(raw value.Value) string {
	if raw.Kind() == value.String {
		return raw.Str()
	}
	if raw.Kind() == value.Array {
		if raw.Len() == 0 {
			return ""
		}
		if t := textOf(raw); t != "" {
			return t
		}
	}
	return string(raw.Raw())
}

// bfclRaw reads an output that was not decoded: native calls [{name: "json"}], calls as Python
// source, calls as JSON text, or an answer.
func (d *decoder) bfclRaw(raw value.Value) {
	if raw.Kind() == value.Array {
		if e, _ := raw.First(); d.isForeign(e) {
			d.content(raw)
			return
		}
		d.bfclList(raw)
		return
	}
	text := raw.Str()
	calls, err := PythonCalls(text, d.o.Tools)
	if err == nil && len(calls) > 0 {
		d.say(text, calls)
		return
	}
	d.text(text)
	if PythonLike(text) && len(d.resp.Turns[0].Calls) == 0 {
		d.resp.Unreadable = true
	}
}

// isForeign distinguishes an element of another form from BFCL's {name: arguments}.
func (d *decoder) isForeign(e value.Value) bool {
	if e.Kind() != value.Object {
		return false
	}
	if m, _ := e.First(); e.Len() == 1 && wordOf(m) != callWord && wordOf(m) != codeWord {
		return false
	}
	_, around := wrapped(e)
	return around || has(e, "type") || d.isAnswer(e) || HoldsCall(e, d.o.Tools)
}

func (d *decoder) bfclList(raw value.Value) {
	var text strings.Builder
	var calls []callvet.Call
	for e, ok := raw.First(); ok; e, ok = raw.Next(e) {
		switch e.Kind() {
		case value.String:
			text.WriteString(e.Str())
		case value.Object:
			for m, ok := e.First(); ok; m, ok = e.Next(m) {
				calls = append(calls, d.withArgs("", m.Key(), m))
			}
		case value.Array: // multi-turn: a list per turn
			d.bfclList(e)
		}
	}
	if text.Len() > 0 || len(calls) > 0 || len(d.resp.Turns) == 0 {
		d.resp.Turns = append(d.resp.Turns,
			callvet.Turn{Role: callvet.RoleAssistant, Content: text.String(), Calls: calls})
	}
}

func isBFCLTurns(v value.Value) bool { return isList(v, "turns", "steps") }

// bfclTurns reads a stateful multi-turn record: turns of steps of calls with
// their results.
func (d *decoder) bfclTurns(v value.Value) {
	turns, _ := v.Get("turns")
	for t, ok := turns.First(); ok; t, ok = turns.Next(t) {
		steps, _ := t.Get("steps")
		for s, ok := steps.First(); ok; s, ok = steps.Next(s) {
			text, _ := firstOf(s, "text", "content", "answer")
			calls, _ := s.Get("calls")
			d.say(textOf(text), d.list(calls))
		}
	}
	if len(d.resp.Turns) == 0 {
		d.say("", nil)
	}
}
