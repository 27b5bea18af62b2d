// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

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

// CallsOf reads a list of kept calls. One that cannot be read is a Call without a tool's name.
func CallsOf(v value.Value) []callvet.Call { return kept().list(v) }

// CallOf reads a kept call in any spelling; ok is false when it names no tool.
func CallOf(v value.Value) (c callvet.Call, ok bool) {
	c, ok = kept().call(v)
	return c, ok && !c.Nameless()
}

// list reads a list of calls, or a single call. An element that is no call becomes a call that
// could not be read. A value that cannot be a list of calls makes the record unreadable.
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
			if d.resp != nil {
				d.resp.Note(made.Note())
			}
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

// one reads a value where a call is expected.
func (d *decoder) one(v value.Value) callvet.Call {
	c, ok := d.call(v)
	if !ok || c.Nameless() {
		c = LostCall(v)
		c.ID = IDOf(v)
	}
	return c
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

// HostedCall reads the call of a tool that has only the name of its type, such as web_search of a
// web_search_call: most are carried out by the provider. Its input is in members of the item with
// specific names, and becomes the arguments. ok is false for other items.
func HostedCall(item value.Value) (c callvet.Call, ok bool) {
	if code, ok := item.Get("executableCode"); ok && code.Kind() == value.Object {
		return callvet.Call{ID: IDOf(item), Tool: "code_execution", Args: json.RawMessage(code.Raw())}, true
	}
	typ, _ := item.Get("type")
	tool, ok := strings.CutSuffix(strings.ReplaceAll(typ.Str(), "-", "_"), "_call")
	switch tool {
	case "", "tool", "function", "custom_tool", "mcp":
		return c, false // it has a name
	}
	if !ok {
		return c, false
	}
	args := []byte{'{'}
	for m, ok := item.First(); ok; m, ok = item.Next(m) {
		switch m.Key() {
		case "type", "id", "call_id", "callId", "status", "result", "results", "output", "outputs", "error",
			"pending_safety_checks":
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		name, _ := json.Marshal(m.Key())
		args = append(append(append(args, name...), ':'), m.Raw()...)
	}
	return callvet.Call{ID: IDOf(item), Tool: tool, Args: append(args, '}')}, true
}

// withArgs makes a call from an argument value: an object is taken unchanged, a string is
// repaired, null means no arguments. In a kept call nothing is repaired, and null means that the
// arguments are not known.
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

// ArgsOf reads arguments: a value unchanged, a string as the JSON that it contains (an empty one
// as {}). args is nil when they are null (unknown), and when the string is not JSON, which is
// then returned in raw.
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

// written is a text unchanged, any other value as JSON.
func written(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return string(v.Raw())
}

// argsText is the text of arguments: "" where there are none.
func argsText(v value.Value) string {
	if v.Kind() == value.Null {
		return ""
	}
	return written(v)
}

// IDOf returns the id of the call that v is, answers or describes; a call and its answer have the
// same id. It returns "" when v has none. Items of the Responses API have a second id of their
// own.
func IDOf(v value.Value) string { return Str(v, append(answerKeys(), "id")...) }

// answerKeys are the members that have the id of the call that a result answers.
func answerKeys() []string {
	return []string{"call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId"}
}

// LostCall is a call that cannot be read: the record v contains no name of a tool, or has no
// known form. The payload is the record.
func LostCall(v value.Value) callvet.Call {
	raw := v.Raw()
	return callvet.Call{ArgsRaw: strings.ToValidUTF8(string(raw[:min(len(raw), maxLost)]), "\ufffd")}
}

// maxLost is how many bytes of an unreadable record are kept.
const maxLost = 4 << 10

// NewCustomCall reads a call with an input that is a text, as custom tools have it. A text that
// is a JSON object becomes arguments as in other calls; any other text is one string.
func NewCustomCall(id, name, input string) callvet.Call {
	if s := strings.Trim(input, " \t\r\n"); strings.HasPrefix(s, "{") && value.Valid([]byte(s)) {
		return NewCall(id, name, input)
	}
	text, err := json.Marshal(input)
	if err != nil { // a text always encodes
		text = nil
	}
	return callvet.Call{ID: id, Tool: name, Args: text}
}

// MergeCalls adds the calls of one form of an answer to the calls of another form, without
// repetitions. Calls with the same id are one call. A call without an id repeats at most one
// equal call, so that the number of equal calls stays right.
func MergeCalls(calls, more []callvet.Call) []callvet.Call {
	first := calls
	repeated := make([]bool, len(first))
	for i := range more {
		c := &more[i]
		at := slices.IndexFunc(first, func(f callvet.Call) bool { return c.ID != "" && f.ID == c.ID })
		for j := 0; at < 0 && j < len(first); j++ {
			f := &first[j]
			if !repeated[j] && (f.ID == "" || c.ID == "") && f.Tool == c.Tool && f.ArgsRaw == c.ArgsRaw &&
				sameJSON(f.Args, c.Args) {
				at, repeated[j] = j, true
			}
		}
		if at < 0 {
			calls = append(calls, *c)
		}
	}
	return calls
}

func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	x, err := value.Parse(a)
	if err != nil {
		return false
	}
	y, err := value.Parse(b)
	return err == nil && value.Equal(x, y)
}
