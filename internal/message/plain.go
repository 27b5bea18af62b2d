// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"cmp"

	"github.com/callvet/callvet/value"
)

// The member names of plain records; the first present member counts.
func textKeys() []string {
	return []string{
		"message", "text", "output", "response", "content", "answer", "reply", "final_answer",
		"finalAnswer", "output_text",
	}
}

func isPlain(v value.Value) bool { return v.Kind() == value.Object || v.Kind() == value.Array }

// plain reads {text, calls} in their spellings, or a bare list of calls.
func (d *decoder) plain(v value.Value) {
	if !d.record(v) {
		d.refuse("no text and no calls in the record")
	}
}

// record is plain; it is false where the record has neither a text nor calls.
func (d *decoder) record(v value.Value) bool {
	if v.Kind() == value.Array {
		d.content(v)
		d.resp.FinishReason = cmp.Or(d.resp.FinishReason, LastFinish(v))
		return true
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
		return false
	}
	return true
}

// isRecordOfCall distinguishes a record that is one call from others with a name and an input: it
// has arguments, a type, or a provider's wrapper of a call.
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
