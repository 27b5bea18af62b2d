// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// The member names of plain records, the first that is there counts.
func textKeys() []string {
	return []string{
		"message", "text", "output", "response", "content", "answer", "reply", "final_answer",
		"finalAnswer", "output_text",
	}
}

func callKeys() []string {
	return []string{
		"calls", "toolCalls", "tool_calls", "toolsCalled", "tools_called", "function_calls", "functionCalls",
		"actual_tool_calls", "predicted_trajectory", "tool_uses",
	}
}

func nameKeys() []string {
	return []string{"name", "tool", "toolName", "tool_name", "function_name", "functionName", "function"}
}

func argsKeys() []string {
	return []string{
		"arguments", "args", "input", "parameters", "params", "tool_input", "toolInput", "inputParameters",
		"input_parameters",
	}
}

func resultKeys() []string {
	return []string{"result", "output", "tool_result", "toolResult", "tool_output", "response"}
}

// CallsOf reads a list of kept calls. One that cannot be read is a Call without a tool's name.
func CallsOf(v value.Value) []callvet.Call { return kept().list(v) }

// CallOf reads a kept call in any spelling; ok is false when it names no tool.
func CallOf(v value.Value) (c callvet.Call, ok bool) {
	c, ok = kept().call(v)
	return c, ok && !c.Nameless()
}

// list reads a list of calls, or a single one. What is no call in it is one that could not be
// read. A value that can be no list of calls makes the record unreadable.
func (d *decoder) list(v value.Value) []callvet.Call {
	if d.o.Kept && v.Kind() != value.Array && Empty(v) {
		return nil
	}
	switch v.Kind() {
	case value.Invalid, value.Null:
		return nil
	case value.Bool, value.Number:
		if d.o.Kept {
			break
		}
		d.refuse("%s stands where a call is due and is none", clip(v))
		return nil
	case value.String: // a list that was written as a text, or a bare name
		var doc value.Doc
		if !bracketed(v.Bytes()) {
			break
		}
		if made, err := doc.Read(v.Bytes()); err == nil {
			d.resp.Note(made.Note())
			return d.list(doc.Root())
		}
	case value.Array:
		out := make([]callvet.Call, 0, v.Len())
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			out = append(out, d.one(e))
		}
		return out
	}
	return []callvet.Call{d.one(v)}
}

// one reads a value where a call is due.
func (d *decoder) one(v value.Value) callvet.Call {
	c, ok := d.call(v)
	if !ok || c.Nameless() {
		c = LostCall(v)
		c.ID = IDOf(v)
	}
	return c
}

// clip is the beginning of a value, for a message.
func clip(v value.Value) string { return clipText(string(v.Raw()), longest) }

// longest is how much of a value a message quotes.
const longest = 60

func clipText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// call reads one call in any spelling. A bare name is a call without recorded arguments: Args stays
// nil, which is not {}.
func (d *decoder) call(e value.Value) (callvet.Call, bool) {
	switch e.Kind() {
	case value.String:
		name := e.Str()
		return callvet.Call{Tool: name}, name != "" && !d.o.Kept &&
			(d.o.Tools.Find(name) != nil || !strings.ContainsAny(name, " \t\r\n()[]{}<>\"',;="))
	case value.Object:
	default:
		return callvet.Call{}, false
	}
	if in, ok := wrapped(e); ok {
		e = in
	}
	body := e
	if f, ok := e.Get("function"); ok && f.Kind() == value.Object {
		body = f
	}
	if c, ok := custom(e); ok {
		d.outcomeOf(e, &c)
		return c, c.Tool != ""
	}
	tool := uiTool(e)
	if name, ok := d.member(body, d.o.Fields.Name, nameKeys()); ok && name.Kind() == value.String {
		tool = name.Str()
	} else if c, ok := HostedCall(e); ok {
		d.outcomeOf(e, &c)
		return c, true
	} else if tool == "" {
		return d.keyed(e)
	}
	c := callvet.Call{ID: IDOf(e), Tool: tool}
	if args, ok := d.member(body, d.o.Fields.Args, append(argsKeys(), "kwargs")); ok {
		c = d.withArgs(c.ID, tool, args)
	}
	d.took(e, &c)
	d.outcomeOf(e, &c)
	return c, true
}

// written is a text as it stands, any other value as JSON.
func written(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return string(v.Raw())
}

// ArgsOf reads arguments: a value as it stands, a string as the JSON it holds (an
// empty one as {}). args is nil when they are null (unknown), and when the
// string is not JSON, which then comes in raw.
func ArgsOf(v value.Value) (args json.RawMessage, raw string) {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return nil, ""
	case value.String:
	default:
		return json.RawMessage(v.Raw()), ""
	}
	b := bytes.TrimSpace([]byte(v.Str()))
	switch {
	case len(b) == 0:
		return json.RawMessage("{}"), ""
	case !value.Valid(b):
		return nil, v.Str()
	}
	return b, ""
}

// custom reads a call of a custom tool: its input is a text.
func custom(e value.Value) (callvet.Call, bool) {
	body := first(e, "custom")
	switch typ := first(e, "type").Str(); {
	case typ == "custom" && body.Kind() == value.Object:
	case typ == "custom_tool_call":
		body = e
	default:
		return callvet.Call{}, false
	}
	return NewCustomCall(IDOf(e), first(body, "name").Str(), written(first(body, "input"))), true
}

func (d *decoder) member(v value.Value, path string, keys []string) (value.Value, bool) {
	if path != "" {
		return At(v, path)
	}
	return firstOf(v, keys...)
}

// wrapped returns the call inside the object that Gemini, Amazon Bedrock and others put around it.
func wrapped(e value.Value) (value.Value, bool) {
	for m, ok := e.First(); ok; m, ok = e.Next(m) {
		if m.Kind() == value.Object && wordOf(m) == callWord {
			return m, true
		}
	}
	return value.Value{}, false
}

// keyed reads {name: arguments}, one member.
func (d *decoder) keyed(e value.Value) (callvet.Call, bool) {
	m, ok := e.First()
	if !ok || d.o.Kept || e.Len() != 1 || wordOf(m) == callWord || m.Kind() == value.Array {
		return callvet.Call{}, false
	}
	return d.withArgs("", m.Key(), m), m.Key() != ""
}

// withArgs makes a call of an argument value: an object is taken as it stands, a
// string goes through repair, null means none. Of a kept call nothing is repaired, and null means
// that the arguments are not known.
func (d *decoder) withArgs(id, name string, args value.Value) callvet.Call {
	if d.o.Kept {
		c := callvet.Call{ID: id, Tool: name}
		c.Args, c.ArgsRaw = ArgsOf(args)
		return c
	}
	switch args.Kind() {
	case value.String:
		return NewCall(id, name, args.Str())
	case value.Null:
		return callvet.Call{ID: id, Tool: name, Args: json.RawMessage("{}"), ArgsRaw: "null"}
	}
	if len(name) > 0 && name[0] == '{' {
		return NewCall(id, name, string(args.Raw()))
	}
	return callvet.Call{ID: id, Tool: name, Args: json.RawMessage(args.Raw())}
}

// outcomeOf is outcome for calls in lists. Of a kept call the caller reads that, or other turns do.
func (d *decoder) outcomeOf(e value.Value, c *callvet.Call) {
	if !d.o.Kept {
		d.outcome(e, c)
	}
}

// calledBy reads a part that is a call, with the turn of a result that is in it.
func (d *decoder) calledBy(e value.Value) (c callvet.Call, results []callvet.Turn) {
	if c = d.one(e); d.o.Kept {
		if in, ok := wrapped(e); ok {
			e = in
		}
		d.outcome(e, &c)
	}
	return c, ToolTurns([]callvet.Call{c})
}

// outcome adds how the call ended, where the record contains that.
func (d *decoder) outcome(e value.Value, c *callvet.Call) {
	if s, ok := e.Get("status"); ok {
		switch st := callvet.Status(s.Str()); st {
		case callvet.StatusOK, callvet.StatusRejected, callvet.StatusExecErr, callvet.StatusTimeout:
			c.Status = st
		}
	}
	if r, ok := d.member(e, d.o.Fields.Result, resultKeys()); ok && r.Kind() != value.Null {
		if c.Status == "" && match.IsError(r.Str()) && !match.Passed(e) {
			c.Status, c.Error = callvet.StatusExecErr, r.Str()
			return
		}
		if c.Result = json.RawMessage(r.Raw()); d.o.Kept {
			c.Result = ResultJSON(resultText(r, d.separator()))
		}
		if c.Status == "" {
			c.Status = callvet.StatusOK
		}
	}
	if x, ok := d.member(e, d.o.Fields.Problem, []string{"error", "errorText"}); ok && truthy(x) {
		if c.Error = ProblemOf(e); x.Kind() != value.Bool && textOf(x) != "" {
			c.Error = textOf(x)
		}
		c.Error = cmp.Or(c.Error, match.NoReason)
	} else if c.Error = ProblemOf(e); c.Error == "" {
		return
	}
	if c.Status == "" || c.Status == callvet.StatusOK {
		c.Status = callvet.StatusExecErr
	}
}

// ProblemOf returns why a call failed, from a record of the call, of its result, or from a message
// with a result. It returns "" when the record reports no failure. A status "error" or "failed" is
// a failure, in addition to what match.Failed reads: here it is the status of the call.
func ProblemOf(v value.Value) string {
	if status := first(v, "status").Str(); !match.Failed(v) && status != "error" && status != "failed" {
		return ""
	}
	return cmp.Or(match.Reason(v), match.NoReason)
}

// took adds the time that the call took.
func (d *decoder) took(e value.Value, c *callvet.Call) {
	if ms, ok := firstOf(e, "exec_ms", "duration_ms", "durationMs", "latency_ms", "latencyMs"); ok {
		c.ExecMS, _ = ms.Float()
	}
}

func truthy(v value.Value) bool {
	switch v.Kind() {
	case value.Invalid, value.Null:
		return false
	case value.Bool:
		return v.Bool()
	case value.String:
		return v.Str() != ""
	}
	return true
}

// say appends the assistant's turn with its calls. When the record has results,
// the tool turns and the closing text follow, as they happened.
func (d *decoder) say(text string, calls []callvet.Call) {
	if !ended(calls) {
		d.resp.Turns = append(d.resp.Turns, callvet.Turn{Role: callvet.RoleAssistant, Content: text, Calls: calls})
		return
	}
	d.resp.Turns = append(d.resp.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: calls})
	d.resp.Turns = append(d.resp.Turns, ToolTurns(calls)...)
	if text != "" {
		d.resp.Turns = append(d.resp.Turns, callvet.Turn{Role: callvet.RoleAssistant, Content: text})
	}
}

// ToolTurns are the tool turns for those calls that have a result or an error.
func ToolTurns(calls []callvet.Call) []callvet.Turn {
	var out []callvet.Turn
	for _, c := range calls {
		switch {
		case c.Result != nil:
			out = append(out,
				callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: plainText(c.Result)})
		case c.Error != "":
			out = append(out, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: c.Error})
		}
	}
	return out
}

// plainText is a JSON string's text, any other JSON as it stands.
func plainText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// text is an answer without native calls; it may hold calls as text. The events of a stream are no
// answer: what was called in them is not known.
func (d *decoder) text(s string) {
	d.resp.CallsUnknown = d.resp.CallsUnknown || isStream(s)
	d.say(s, d.written(s))
}

// isBody reports whether a text is the whole body of a provider's answer, which records how it ended.
func isBody(v value.Value) bool {
	switch Detect(v) {
	case FormChat, FormResponses, FormAnthropic, FormGemini:
		return true
	}
	return v.Kind() == value.Object && has(v, "stop_type")
}

// innermost is the part of a body that records how the answer ended: its first choice or candidate.
func innermost(v value.Value) value.Value {
	for _, list := range []string{"choices", "candidates"} {
		if m, ok := v.Get(list); ok {
			if e, ok := m.First(); ok {
				return e
			}
		}
	}
	return v
}

// isStream reports whether a text is the events of a stream, as a client received them.
func isStream(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			data = strings.TrimSpace(data)
			return data == "[DONE]" || strings.HasPrefix(data, "{") && value.Valid([]byte(data))
		}
		if line != "" && !strings.HasPrefix(line, "event:") && !strings.HasPrefix(line, "id:") &&
			!strings.HasPrefix(line, ":") {
			return false
		}
	}
	return false
}

// written returns the calls in a text. A model wrote them into it, or the text is the JSON of an
// answer in a known form.
func (d *decoder) written(s string) []callvet.Call {
	calls := d.marked(s)
	if len(calls) > 0 || d.resp.Unreadable || !bracketed([]byte(s)) {
		return calls
	}
	var doc value.Doc
	if doc.Parse([]byte(s)) != nil {
		return nil
	}
	if isBody(doc.Root()) {
		d.ends(innermost(doc.Root()))
	}
	if !HoldsCall(doc.Root(), d.o.Tools) {
		return nil
	}
	in := decoder{o: d.o, resp: &callvet.Response{}}
	in.content(doc.Root())
	for i := range in.resp.Turns {
		calls = append(calls, in.resp.Turns[i].Calls...)
	}
	if in.fault != nil {
		d.fail(in.fault)
	}
	d.resp.Unreadable = in.resp.Unreadable
	return calls
}

// marked are the calls that a model wrote into a text. A text that may be a call, of tools
// that are not known, leaves unknown what was called.
func (d *decoder) marked(s string) []callvet.Call {
	found := CallsFromText(s, d.o.Tools)
	d.resp.Unreadable = d.resp.Unreadable || found.Unreadable
	d.resp.CallsUnknown = d.resp.CallsUnknown || found.Unknown
	return found.Calls
}

// meta takes usage, model, finish reason and times from wherever a record has
// them; what is set already stays.
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

// sum adds numbers that a record gives per turn or per step.
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

// millis refuses what no attempt can last (below zero, or above a year).
func millis(ms float64) time.Duration {
	if !(ms > 0) || ms > 366*24*3600*1000 {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
