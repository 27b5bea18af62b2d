// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"reflect"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// messages reads a conversation.
func (r *reader) messages(n *doc.Node) []callvet.Turn {
	var out []callvet.Turn
	r.Each(n, func(_ int, v *doc.Node) {
		var t callvet.Turn
		r.into("message", v, &t)
		out = append(out, t)
	})
	return out
}

// turn reads a message in OpenAI's form or in callvet's own.
func (r *reader) turn(f *doc.Shape, n *doc.Node, t *callvet.Turn) {
	r.Members(f, n, reflect.ValueOf(t).Elem(), func(key string, v *doc.Node) bool {
		if key == "content" {
			t.Content = r.content(v)
		}
		return key == "content"
	})
	if t.Role == "" && n.Kind == doc.Map {
		r.Note(n.At, "no-role", "role: user", "the message has no role")
	}
}

// content reads text or a list of text parts.
func (r *reader) content(n *doc.Node) string {
	if n.Kind != doc.List {
		return r.Str(n)
	}
	var parts []string
	r.Each(n, func(_ int, v *doc.Node) {
		text, typ := "", ""
		r.Fields(v, []string{"type", "text"}, func(key string, v *doc.Node) bool {
			switch key {
			case "type":
				typ = r.Str(v)
			case "text":
				text = r.Str(v)
			default:
				return typ != "" && typ != "text" // reported once, below
			}
			return true
		})
		if typ != "" && typ != "text" {
			r.Note(v.At, "unsupported", "callvet sends text only", "content of type %q", typ)
		}
		parts = append(parts, text)
	})
	return strings.Join(parts, "\n")
}

// call reads one call of an assistant message.
func (r *reader) call(f *doc.Shape, n *doc.Node, c *callvet.Call) {
	r.Members(f, n, reflect.ValueOf(c).Elem(), func(key string, v *doc.Node) bool {
		if key == "arguments" {
			r.callArguments(c, v)
		}
		return key == "arguments"
	})
	if c.Tool == "" && n.Kind == doc.Map {
		r.Note(n.At, "no-tool", "", "the call names no tool")
	}
}

// callArguments reads OpenAI's form: JSON in a string, or the object itself.
func (r *reader) callArguments(c *callvet.Call, v *doc.Node) {
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
	r.Warn(v.At, "bad-arguments", "", "the arguments of the call are not JSON; they are kept as they are")
}
