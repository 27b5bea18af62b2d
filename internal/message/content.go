// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Text returns the text of a content: a string, or the texts of its parts one per line.
func Text(v value.Value) string { return textWith(v, "\n") }

// textOf returns a readable text of any value. It is the text of a part, the texts of a list
// without a separator, like the pieces of one answer, or a number or a boolean as written.
func textOf(v value.Value) string {
	switch k := v.Kind(); {
	case k == value.Number || k == value.Bool:
		return string(v.Raw())
	case isText(v):
		return textWith(v, "")
	}
	return ""
}

// textWith is a string unchanged, the text of a part or a message, or the texts of a list with
// sep between.
func textWith(v value.Value, sep string) string {
	switch v.Kind() {
	case value.String:
		return v.Str()
	case value.Object:
		return textWith(First(v, "text", "content", "refusal", "thinking"), sep)
	case value.Array:
		var texts []string
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if t := textWith(e, sep); t != "" && isText(e) {
				texts = append(texts, t)
			}
		}
		return strings.Join(texts, sep)
	}
	return ""
}

// isText reports whether a part may be a text: thoughts, calls and results are not.
func isText(part value.Value) bool {
	typ := first(part, "type").Str()
	return typ != "thinking" && typ != "reasoning" && !strings.Contains(typ, "tool_")
}

// separator joins the texts of parts: in an answer they are pieces of one text, in a kept message
// they are lines.
func (d *decoder) separator() string {
	if d.o.Kept {
		return "\n"
	}
	return ""
}

// textOf is the text of a content of a message or of a part.
func (d *decoder) textOf(v value.Value) string {
	if d.o.Kept {
		return Text(v)
	}
	return textOf(v)
}

// thoughtOf is the text of a part that is a thought.
func (d *decoder) thoughtOf(p value.Value) string {
	for _, key := range []string{"thinking", "summary", "text", "reasoning", "content"} {
		if s := d.textOf(first(p, key)); s != "" {
			return s
		}
	}
	return ""
}

// text is an answer without native calls; it may contain calls as text. The events of a stream
// are no answer: their calls are not known.
func (d *decoder) text(s string) {
	d.resp.CallsUnknown = d.resp.CallsUnknown || isStream(s)
	d.say(s, d.written(s))
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

// grow adds turns of Element: the texts of an assistant before a tool answers become one turn.
func (d *decoder) grow(turns []callvet.Turn) {
	for _, t := range turns {
		n := len(d.resp.Turns)
		if t.Role == callvet.RoleAssistant && n > 0 && d.resp.Turns[n-1].Role == callvet.RoleAssistant {
			last := &d.resp.Turns[n-1]
			last.Content += t.Content
			last.Reasoning += t.Reasoning
			last.Calls = append(last.Calls, t.Calls...)
			continue
		}
		d.resp.Turns = append(d.resp.Turns, t)
	}
}

// fromText searches the text of the last turn for calls when there were no native ones.
func (d *decoder) fromText() {
	n := len(d.resp.Turns)
	if n == 0 {
		return
	}
	for i := range d.resp.Turns {
		if len(d.resp.Turns[i].Calls) > 0 {
			return
		}
	}
	last := &d.resp.Turns[n-1]
	if last.Role != callvet.RoleAssistant {
		return
	}
	last.Calls = d.written(last.Content)
}

// FromText makes a response from prose that may contain calls.
func FromText(s string, tools *callvet.Toolset) *callvet.Response {
	d := decoder{o: Options{Tools: tools}, resp: &callvet.Response{Complete: true}}
	d.say(s, d.marked(s))
	d.collectRepairs()
	return d.resp
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
	if vendorOf(unwrap(doc.Root())).body || has(doc.Root(), "stop_type") {
		d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(doc.Root()))
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

// marked are the calls that a model wrote into a text. If a text may be a call and the offered
// tools are not known, it stays unknown what was called.
func (d *decoder) marked(s string) []callvet.Call {
	found := CallsFromText(s, d.o.Tools)
	d.resp.Unreadable = d.resp.Unreadable || found.Unreadable
	d.resp.CallsUnknown = d.resp.CallsUnknown || found.Unknown
	return found.Calls
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

// clip is the beginning of a value, for a message.
func clip(v value.Value) string { return clipText(string(v.Raw()), longest) }

// longest is how many bytes of a value a message quotes.
const longest = 60

func clipText(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
