// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"strings"

	"github.com/callvet/callvet"
	"github.com/go-json-experiment/json/jsontext"
)

// turns reads chat messages in OpenAI's form, and content parts in the forms
// that other tools write beside it (tool_call, tool_result).
func (r *reader) turns(v node) []callvet.Turn {
	if v.kind() != '[' {
		r.report(v.off, "wrong-type", "messages", "", "messages must be a list, not %s", kindName(v))
		return nil
	}
	var out []callvet.Turn
	tools := map[string]string{} // call id to tool
	for _, n := range v.elements() {
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

func (r *reader) turn(n node) (callvet.Turn, bool) {
	if n.kind() != '{' {
		r.report(n.off, "wrong-type", "messages", "", "a message must be an object, not %s", kindName(n))
		return callvet.Turn{}, false
	}
	o := r.loose(n)
	t := callvet.Turn{CallID: o.str("tool_call_id")}
	switch role := o.str("role"); role {
	case "system", "developer":
		t.Role = callvet.RoleSystem
	case "user":
		t.Role = callvet.RoleUser
	case "assistant":
		t.Role = callvet.RoleAssistant
	case "tool":
		t.Role = callvet.RoleTool
		t.Tool = o.str("name")
	case "function":
		t.Role, t.Tool = callvet.RoleTool, o.str("name")
	default:
		r.report(o.at("role"), "unknown-role", "role", "use system, user, assistant or tool", "unknown role %q", role)
		return t, false
	}
	r.content(o.get("content"), &t)
	for _, c := range o.elements("tool_calls") {
		r.call(c, &t)
	}
	if f := o.get("function_call"); f.given() {
		r.call(f, &t)
	}
	return t, true
}

// content reads a string or a list of parts.
func (r *reader) content(v node, t *callvet.Turn) {
	switch v.kind() {
	case 0, 'n':
		return
	case '"':
		t.Content = unquote(v.raw)
		return
	case '[':
	default:
		r.report(v.off, "wrong-type", "content", "", "content must be a string or a list of parts, not %s", kindName(v))
		return
	}
	var text []string
	for _, p := range v.elements() {
		o := r.loose(p)
		switch typ := o.str("type"); typ {
		case "text", "input_text", "output_text":
			text = append(text, o.str("text"))
		case "refusal":
			text = append(text, o.str("refusal"))
		case "tool_call":
			r.call(o.get("tool_call"), t)
		case "tool_result":
			res := o.get("tool_result")
			s, ok := res.text()
			if !ok {
				s = string(compact(res.raw))
			}
			text = append(text, s)
		default:
			r.notCarried(p.off, "content", "a message part of type %q has no place in a turn", typ)
		}
	}
	t.Content = strings.Join(text, "\n")
}

// call reads one tool call; its arguments are a JSON object or a string of one.
func (r *reader) call(n node, t *callvet.Turn) {
	o := r.loose(n)
	f := o
	if v := o.get("function"); v.kind() == '{' {
		f = r.loose(v)
	}
	c := callvet.Call{ID: o.str("id"), Tool: f.str("name")}
	if c.Tool == "" {
		r.report(n.off, "missing-key", "name", "", "a tool call names no tool")
		return
	}
	args, key := f.first("arguments", "args")
	switch args.kind() {
	case '{':
		c.Args = args.raw
	case '"':
		text := bytes.TrimSpace([]byte(unquote(args.raw)))
		switch {
		case len(text) == 0:
			c.Args = []byte("{}")
		case jsontext.Value(text).IsValid() && text[0] == '{':
			c.Args = text
		default:
			c.ArgsRaw = string(text)
			r.report(args.off, "arguments-not-json", key, "write a JSON object with unique keys", "arguments of %s are not one JSON object: %.80s", c.Tool, text)
		}
	case 0, 'n':
		c.Args = []byte("{}")
	default:
		r.report(args.off, "wrong-type", key, "", "arguments must be an object, not %s", kindName(args))
	}
	t.Calls = append(t.Calls, c)
}

// writeTurns writes turns as chat messages.
func writeTurns(turns []callvet.Turn) []byte {
	items := make([][]byte, len(turns))
	for i := range turns {
		items[i] = writeTurn(&turns[i])
	}
	return array(items)
}

func writeTurn(t *callvet.Turn) []byte {
	var o record
	o.str("role", string(t.Role))
	if t.Content != "" || len(t.Calls) == 0 {
		o.raw("content", quote(t.Content))
	}
	if len(t.Calls) > 0 {
		calls := make([][]byte, len(t.Calls))
		for j, c := range t.Calls {
			calls[j] = writeCall(c.ID, c.Tool, c.Args, c.ArgsRaw)
		}
		o.raw("tool_calls", array(calls))
	}
	if t.Role == callvet.RoleTool {
		o.str("tool_call_id", t.CallID)
	}
	return o.bytes()
}

func writeCall(id, tool string, args []byte, raw string) []byte {
	var o, f record
	o.str("id", id)
	o.str("type", "function")
	f.str("name", tool)
	switch {
	case args != nil:
		f.raw("arguments", quote(string(compact(args))))
	case raw != "":
		f.raw("arguments", quote(raw))
	default:
		f.raw("arguments", quote("{}"))
	}
	o.raw("function", f.bytes())
	return o.bytes()
}
