// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"strings"

	"github.com/callvet/callvet"
	"github.com/go-json-experiment/json/jsontext"
)

// Turns reads chat messages in OpenAI's form, and content parts in the forms
// that other tools write in it (tool_call, tool_result).
func (r *Reader) Turns(v Node) []callvet.Turn {
	if v.Kind() != '[' {
		r.Report(v.Off, "wrong-type", "messages", "", "messages must be a list, not %s", KindName(v))
		return nil
	}
	var out []callvet.Turn
	tools := map[string]string{} // call id to tool
	for _, n := range v.Elements() {
		t, ok := r.turn(n)
		if !ok {
			continue
		}
		for _, c := range t.Calls {
			tools[c.ID] = c.Tool
		}
		if t.Role == callvet.RoleTool && t.Tool == "" {
			t.Tool = tools[t.CallID]
		}
		out = append(out, t)
	}
	return out
}

func (r *Reader) turn(n Node) (callvet.Turn, bool) {
	if n.Kind() != '{' {
		r.Report(n.Off, "wrong-type", "messages", "", "a message must be an object, not %s", KindName(n))
		return callvet.Turn{}, false
	}
	o := r.Loose(n)
	t := callvet.Turn{CallID: o.Str("tool_call_id")}
	switch role := o.Str("role"); role {
	case "system", "developer":
		t.Role = callvet.RoleSystem
	case "user":
		t.Role = callvet.RoleUser
	case "assistant":
		t.Role = callvet.RoleAssistant
	case "tool":
		t.Role = callvet.RoleTool
		t.Tool = o.Str("name")
	case "function":
		t.Role, t.Tool = callvet.RoleTool, o.Str("name")
	default:
		r.Report(o.At("role"), "unknown-role", "role", "use system, user, assistant or tool", "unknown role %q", role)
		return t, false
	}
	r.content(o.Get("content"), &t)
	for _, c := range o.Elements("tool_calls") {
		r.Call(c, &t)
	}
	if f := o.Get("function_call"); f.Given() {
		r.Call(f, &t)
	}
	return t, true
}

// content reads a string or a list of parts.
func (r *Reader) content(v Node, t *callvet.Turn) {
	switch v.Kind() {
	case 0, 'n':
		return
	case '"':
		t.Content = Unquote(v.Raw)
		return
	case '[':
	default:
		r.Report(v.Off, "wrong-type", "content", "", "content must be a string or a list of parts, not %s", KindName(v))
		return
	}
	var text []string
	for _, p := range v.Elements() {
		o := r.Loose(p)
		switch typ := o.Str("type"); typ {
		case "text", "input_text", "output_text":
			text = append(text, o.Str("text"))
		case "refusal":
			text = append(text, o.Str("refusal"))
		case "tool_call":
			r.Call(o.Get("tool_call"), t)
		case "tool_result":
			res := o.Get("tool_result")
			s, ok := res.Text()
			if !ok {
				s = string(Compact(res.Raw))
			}
			text = append(text, s)
		default:
			r.NotCarried(p.Off, "content", "a message part of type %q has no place in a turn", typ)
		}
	}
	t.Content = strings.Join(text, "\n")
}

// Call reads one tool call; its arguments are a JSON object or a string of one.
func (r *Reader) Call(n Node, t *callvet.Turn) {
	o := r.Loose(n)
	f := o
	if v := o.Get("function"); v.Kind() == '{' {
		f = r.Loose(v)
	}
	c := callvet.Call{ID: o.Str("id"), Tool: f.Str("name")}
	if c.Tool == "" {
		r.Report(n.Off, "missing-key", "name", "", "a tool call names no tool")
		return
	}
	args, key := f.First("arguments", "args")
	switch args.Kind() {
	case '{':
		c.Args = args.Raw
	case '"':
		text := bytes.TrimSpace([]byte(Unquote(args.Raw)))
		switch {
		case len(text) == 0:
			c.Args = []byte("{}")
		case jsontext.Value(text).IsValid() && text[0] == '{':
			c.Args = text
		default:
			c.ArgsRaw = string(text)
			r.Report(args.Off, "arguments-not-json", key, "write a JSON object with unique keys",
				"arguments of %s are not one JSON object: %.80s", c.Tool, text)
		}
	case 0, 'n':
		c.Args = []byte("{}")
	default:
		r.Report(args.Off, "wrong-type", key, "", "arguments must be an object, not %s", KindName(args))
	}
	t.Calls = append(t.Calls, c)
}

// WriteTurns writes turns as chat messages.
func WriteTurns(turns []callvet.Turn) []byte {
	items := make([][]byte, len(turns))
	for i := range turns {
		items[i] = writeTurn(&turns[i])
	}
	return Array(items)
}

func writeTurn(t *callvet.Turn) []byte {
	var o Record
	o.Str("role", string(t.Role))
	if t.Content != "" || len(t.Calls) == 0 {
		o.Raw("content", Quote(t.Content))
	}
	if len(t.Calls) > 0 {
		calls := make([][]byte, len(t.Calls))
		for j, c := range t.Calls {
			calls[j] = writeCall(c.ID, c.Tool, c.Args, c.ArgsRaw)
		}
		o.Raw("tool_calls", Array(calls))
	}
	if t.Role == callvet.RoleTool {
		o.Str("tool_call_id", t.CallID)
	}
	return o.Bytes()
}

func writeCall(id, tool string, args []byte, raw string) []byte {
	var o, f Record
	o.Str("id", id)
	o.Str("type", "function")
	f.Str("name", tool)
	switch {
	case args != nil:
		f.Raw("arguments", Quote(string(Compact(args))))
	case raw != "":
		f.Raw("arguments", Quote(raw))
	default:
		f.Raw("arguments", Quote("{}"))
	}
	o.Raw("function", f.Bytes())
	return o.Bytes()
}
