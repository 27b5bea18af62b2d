// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"strings"

	jsonx "github.com/go-json-experiment/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

// bfcl reads a BFCL row: what its decoder made of the output where the row has
// it, else the output itself.
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
	a := &attempt{resp: *d.resp}
	a.decode(raw, dec, d.o.Tools)
	d.resp = &a.resp
}

// attempt is a response with the memory of its turn and first call: mostly all
// it needs.
type attempt struct {
	resp callvet.Response
	turn [1]callvet.Turn
	call [1]callvet.Call
}

func (a *attempt) decode(raw, dec value.Value, tools *callvet.Toolset) {
	t := &a.turn[0]
	t.Role = callvet.RoleAssistant
	var ok bool
	a.resp.FinishReason = callvet.FinishDecoded
	if t.Calls, ok = decodedCalls(a.call[:0], dec, tools); !ok {
		// BFCL counts such a row as "no call". That is right for its relevance cases and wrong
		// everywhere else, so the answer is an abstention here too. The raw output stays as its
		// text.
		a.resp.FinishReason = callvet.FinishUndecodable
	}
	if len(t.Calls) == 0 {
		t.Content = rawText(raw)
	}
	a.resp.Turns = a.turn[:]
}

// decodedRow reads a BFCL row with raw and decoded output in one walk over its members, since such
// files are scored by the hundred thousand. It returns nil when v is anything else.
func decodedRow(v value.Value, tools *callvet.Toolset) *callvet.Response {
	if v.Kind() != value.Object {
		return nil
	}
	var raw, dec, in, out value.Value
	a := &attempt{}
	resp := &a.resp
	resp.Complete = true
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
	a.decode(raw, dec, tools)
	return resp
}

// rowUsage returns the usage of a row. Its counts may be lists of turns and steps.
func rowUsage(in, out value.Value) callvet.Usage {
	i, okIn := WholeTokens(in)
	o, okOut := WholeTokens(out)
	if okIn && okOut {
		return callvet.Usage{InputTokens: i, OutputTokens: o, Known: true}
	}
	r := UsageReader{Lists: true}
	u := callvet.Usage{}
	u.InputTokens, u.OutputTokens = r.Value("input_tokens", in), r.Value("output_tokens", out)
	return r.Done(u)
}

// decodedCalls reads [{name: {arg: value}}]. ok is false for null and for lists
// that hold anything else, which BFCL's checkers refuse as a whole.
func decodedCalls(calls []callvet.Call, dec value.Value, tools *callvet.Toolset) (list []callvet.Call, ok bool) {
	if dec.Kind() != value.Array {
		return nil, false
	}
	if dec.Len() > cap(calls) {
		calls = make([]callvet.Call, 0, dec.Len())
	}
	for e, ok := dec.First(); ok; e, ok = dec.Next(e) {
		if e.Kind() != value.Object {
			return nil, false
		}
		for m, ok := e.First(); ok; m, ok = e.Next(m) {
			calls = append(calls, callvet.Call{Tool: toolName(m, tools), Args: m.Raw()})
		}
	}
	if len(calls) == 0 {
		return nil, true
	}
	return calls, true
}

// toolName is the key of m; where it is the name of an offered tool, that name's
// own text, which needs no memory.
func toolName(m value.Value, tools *callvet.Toolset) string {
	if tools != nil {
		for i := range tools.Tools[:min(len(tools.Tools), 4)] {
			if t := &tools.Tools[i]; m.KeyIs(t.Name) {
				return t.Name
			}
		}
	}
	return m.Key()
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

// trace reads callvet's own export.
func (d *decoder) trace(v value.Value) error {
	var t callvet.Trace
	if err := jsonx.Unmarshal(v.Raw(), &t); err != nil {
		return malformed("read a trace: " + doc.Explain(err).Error())
	}
	if t.Fault != nil {
		f := *t.Fault
		f.Retryable = false
		return &f
	}
	if t.Outcome == callvet.OutcomeNotRun {
		return &callvet.Fault{Kind: callvet.FaultMissing, Message: "the recorded attempt was not run"}
	}
	r := d.resp
	r.Turns, r.Usage, r.Model, r.FinishReason = t.Turns, t.Usage, t.Model, t.FinishReason
	r.Repairs, r.ToolChoice = t.Repairs, t.ToolChoice
	r.FirstToken, r.Wall = millis(t.FirstTokenMS), millis(t.WallMS)
	r.Exchanges = t.Exchanges
	if len(r.Turns) == 0 && t.Answer != "" {
		r.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Content: t.Answer}}
	}
	if r.Notes = t.Notes; t.Outcome == callvet.OutcomeUnparseable {
		r.Why = cmp.Or(t.Reason, callvet.ReasonCall)
	}
	for _, c := range t.Calls() {
		if c.Malformed() {
			r.Why = "" // the call holds the reason itself
		}
	}
	return nil
}

// promptfoo reads one result row: its output is a text, an object with a message
// or a list of calls.
func (d *decoder) promptfoo(v value.Value) error {
	resp, _ := v.Get("response")
	out, ok := resp.Get("output")
	if e, failed := v.Get("error"); failed && truthy(e) && !ok {
		return faultOf(e, 0) // with an output it is an assertion that failed
	}
	if e, failed := resp.Get("error"); failed && truthy(e) {
		return faultOf(e, 0)
	}
	if !ok {
		return &callvet.Fault{Kind: callvet.FaultMissing, Message: "the result row has no output"}
	}
	d.output(out)
	d.ends(resp)
	d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(first(resp, "raw")))
	if flagged := first(first(resp, "guardrails"), "flagged"); flagged.Kind() == value.Bool && flagged.Bool() {
		d.resp.FinishReason = "guardrail_intervened"
	}
	d.resp.Usage = usageOf(resp)
	var r UsageReader
	if c := r.USD(v, "cost"); c != nil && *c > 0 { // 0 stands for a provider without prices too
		d.resp.Usage.CostUSD = c
	}
	return nil
}

// output reads what a provider function of promptfoo returned. A text that is JSON of calls,
// parts or a message is read as such.
func (d *decoder) output(out value.Value) {
	if out.Kind() == value.String {
		var doc value.Doc
		if b := out.Bytes(); len(b) > 1 && (b[0] == '[' || b[0] == '{') && doc.Parse(b) == nil &&
			d.shapely(doc.Root()) {
			d.content(doc.Root())
			return
		}
	}
	d.content(out)
}

// shapely reports whether JSON in a string is an answer of its own: a list of calls, parts
// or messages, a call, or a message.
func (d *decoder) shapely(v value.Value) bool {
	if v.Kind() == value.Array {
		e, ok := v.First()
		return ok && (has(e, "type") || d.isAnswer(e))
	}
	return d.isAnswer(v)
}

// isAnswer reports whether an object is a provider's answer, a message or a call.
func (d *decoder) isAnswer(v value.Value) bool {
	return v.Kind() == value.Object &&
		(has(v, "role") || has(v, "tool_calls") || has(v, "toolCalls") || detectObject(v) != FormPlain ||
			d.partOf(v) == callPart)
}

// plain reads {text, calls} in their spellings, or a bare list of calls.
func (d *decoder) plain(v value.Value) error {
	if v.Kind() == value.Array {
		d.content(v)
		d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(v))
		return nil
	}
	calls, hasCalls := d.member(v, d.o.Fields.Calls, callKeys())
	text, hasText := d.plainText(v)
	switch {
	case hasCalls && calls.Kind() != value.Null:
		d.sayJoined(v, textOf(text), d.list(calls))
		d.fromText()
	case hasText && text.Kind() == value.String:
		d.text(text.Str())
		d.bare = !hasCalls && !hasPlace(v) && !IsMessage(v)
	case hasText && text.Kind() != value.Null:
		d.content(text)
	case d.isRecordOfCall(v):
		d.say("", d.list(v))
	default:
		return malformed("no text and no calls in the record")
	}
	return nil
}

// isRecordOfCall distinguishes a record that is one call from others with a name and an input: it
// has arguments, a type, or what providers put around a call.
func (d *decoder) isRecordOfCall(v value.Value) bool {
	return d.partOf(v) == callPart &&
		(has(v, "arguments") || has(v, "args") || has(v, "type") || has(v, "functionCall") || has(v, "function_call") ||
			has(v, "toolUse"))
}

func (d *decoder) plainText(v value.Value) (value.Value, bool) {
	if d.o.Fields.Text != "" {
		return At(v, d.o.Fields.Text)
	}
	return firstOf(v, textKeys()...)
}

// FromText makes a response of prose that may hold calls.
func FromText(s string, tools *callvet.Toolset) *callvet.Response {
	d := decoder{o: Options{Tools: tools}, resp: &callvet.Response{Complete: true}}
	d.say(s, d.marked(s))
	d.collectRepairs()
	return d.resp
}
