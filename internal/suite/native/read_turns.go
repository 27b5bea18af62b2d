// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"encoding/json"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const (
	messageKeys = "role content reasoning calls tool_calls call_id tool_call_id tool name raw"
	callKeys    = "id tool version args args_raw repairs status result error queue_ms exec_ms type function"
)

// messages reads a conversation in OpenAI's form or in callvet's own.
func (r *reader) messages(n *doc.Node) []callvet.Turn {
	var out []callvet.Turn
	r.each(n, func(_ int, v *doc.Node) {
		var t callvet.Turn
		r.fields(v, messageKeys, func(key string, v *doc.Node) bool { return r.turnField(&t, key, v) })
		if t.Role == "" && v.Kind == doc.Map {
			r.problem(v.At, "no-role", "role: user", "the message has no role")
		}
		out = append(out, t)
	})
	return out
}

func (r *reader) turnField(t *callvet.Turn, key string, v *doc.Node) bool {
	switch key {
	case "role":
		t.Role = callvet.Role(r.choice(v, string(callvet.RoleSystem), string(callvet.RoleUser),
			string(callvet.RoleAssistant), string(callvet.RoleTool)))
	case "content":
		t.Content = r.content(v)
	case "reasoning":
		t.Reasoning = r.str(v)
	case "calls", "tool_calls":
		if v.Kind != doc.Null {
			r.each(v, func(_ int, v *doc.Node) { t.Calls = append(t.Calls, r.call(v)) })
		}
	case "call_id", "tool_call_id":
		t.CallID = r.str(v)
	case "tool", "name":
		t.Tool = r.str(v)
	case "raw":
		t.Raw = v.JSON()
	default:
		return false
	}
	return true
}

// content reads text or a list of text parts.
func (r *reader) content(n *doc.Node) string {
	if n.Kind != doc.List {
		return r.str(n)
	}
	var parts []string
	r.each(n, func(_ int, v *doc.Node) {
		text, typ := "", ""
		r.fields(v, "type text", func(key string, v *doc.Node) bool {
			switch key {
			case "type":
				typ = r.str(v)
			case "text":
				text = r.str(v)
			default:
				return typ != "" && typ != "text" // reported once, below
			}
			return true
		})
		if typ != "" && typ != "text" {
			r.problem(v.At, "unsupported", "callvet sends text only", "content of type %q", typ)
		}
		parts = append(parts, text)
	})
	return strings.Join(parts, "\n")
}

// call reads one call of an assistant message.
func (r *reader) call(n *doc.Node) callvet.Call {
	var c callvet.Call
	r.fields(n, callKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "id":
			c.ID = r.label(v)
		case "type":
			r.choice(v, "function")
		case "function":
			r.fields(v, "name arguments", func(key string, v *doc.Node) bool {
				switch key {
				case "name":
					c.Tool = r.str(v)
				case "arguments":
					r.arguments(&c, v)
				default:
					return false
				}
				return true
			})
		default:
			return r.callField(&c, key, v)
		}
		return true
	})
	if c.Tool == "" && n.Kind == doc.Map {
		r.problem(n.At, "no-tool", "", "the call names no tool")
	}
	return c
}

// arguments reads OpenAI's form: JSON in a string, or the object itself.
func (r *reader) arguments(c *callvet.Call, v *doc.Node) {
	if v.Kind != doc.String {
		c.Args = v.JSON()
		return
	}
	text := v.Text()
	if d, bad := doc.ReadJSON("", []byte(text)); bad == nil {
		c.Args = d.Root.JSON()
		return
	}
	c.ArgsRaw = text
	r.warn(v.At, "bad-arguments", "", "the arguments of the call are not JSON; they are kept as they are")
}

func (r *reader) callField(c *callvet.Call, key string, v *doc.Node) bool {
	switch key {
	case "tool":
		c.Tool = r.str(v)
	case "version":
		c.Version = r.label(v)
	case "args":
		c.Args = json.RawMessage(v.JSON())
	case "args_raw":
		c.ArgsRaw = r.str(v)
	case "repairs":
		c.Repairs = r.strs(v)
	case "status":
		c.Status = callvet.Status(r.str(v))
	case "result":
		c.Result = v.JSON()
	case "error":
		c.Error = r.str(v)
	case "start_ms":
		c.StartMS = r.number(v, 0)
	case "queue_ms":
		if f := r.number(v, 0); f != nil {
			c.QueueMS = *f
		}
	case "exec_ms":
		if f := r.number(v, 0); f != nil {
			c.ExecMS = *f
		}
	default:
		return false
	}
	return true
}
