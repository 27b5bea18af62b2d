// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// FinishOf is the finish reason in the members of an answer, a choice, a message or an event.
func FinishOf(v value.Value) string {
	if v.Kind() != value.Object {
		return ""
	}
	for _, k := range []string{
		"finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason",
		"doneReason", "finish_reasons", "native_finish_reason",
	} {
		if m, ok := v.Get(k); ok {
			if r := FinishWord(m); r != "" {
				return r
			}
		}
	}
	if r := status(v); r != "" {
		return r
	}
	// of LangChain
	for _, k := range []string{"response_metadata", "generation_info", "generationInfo", "additional_kwargs"} {
		if m, ok := v.Get(k); ok && m.Kind() == value.Object {
			if r := FinishOf(m); r != "" {
				return r
			}
		}
	}
	return ""
}

// FinishWord returns the reason in a value: a text, the first of a list, or the unified reason of
// the AI SDK. The unified reason may be "other" although the raw reason is known.
func FinishWord(v value.Value) string {
	switch v.Kind() {
	case value.String:
		if text := v.Bytes(); len(text) > 1 && (text[0] == '[' || text[0] == '{') {
			if in, err := value.Parse(text); err == nil {
				return FinishWord(in)
			}
		}
		return strings.TrimPrefix(v.Str(), "FinishReason.") // as Python prints an enumeration
	case value.Array:
		e, _ := v.First()
		return FinishWord(e)
	case value.Object:
		r := first(v, "unified").Str()
		if raw := first(v, "raw").Str(); raw != "" && (r == "" || r == "other" || r == "unknown") {
			return raw
		}
		return r
	case value.Number:
		return string(v.Raw()) // a number of an enumeration, which no table has
	}
	return ""
}

// status reads forms with other members for the end. These are the Responses API and its items, a
// blocked prompt of Gemini, a completion of llama.cpp, and a piece of a stream of Ollama.
func status(v value.Value) string {
	switch first(v, "stop_type").Str() {
	case "eos", "word":
		return "stop"
	case "limit":
		return "length"
	}
	if r := response(v); r != "" {
		return r
	}
	feedback, _ := v.Get("promptFeedback")
	candidates, _ := v.Get("candidates")
	if why := first(feedback, "blockReason").Str(); why != "" && candidates.Len() == 0 {
		return "blocked: " + why
	}
	message, _ := v.Get("message")
	if done, ok := v.Get("done"); ok && done.Kind() == value.Bool && !done.Bool() && message.Kind() == value.Object {
		return "incomplete"
	}
	return ""
}

// response is the status of an answer of the Responses API or of one of its items, and why it is
// incomplete. An answer that is complete may have an item that is not.
func response(v value.Value) string {
	s := first(v, "status").Str()
	out, _ := v.Get("output")
	switch s {
	case "completed", "incomplete", "failed", "cancelled", "in_progress", "queued":
		if first(v, "object").Str() != "response" && first(v, "type").Str() != "message" && out.Kind() != value.Array {
			return ""
		}
	default:
		if first(v, "object").Str() != "response" {
			return ""
		}
	}
	details, _ := v.Get("incomplete_details")
	if why := first(details, "reason").Str(); why != "" && s == "incomplete" {
		return why
	}
	if s == "completed" && out.Kind() == value.Array && LastFinish(out) == "incomplete" {
		return "incomplete"
	}
	return s
}

// LastFinish returns the reason of the last answer of a model in a value. The value is an answer of
// a provider, a framework's object around one, a list of messages, or the text of any of these.
func LastFinish(v value.Value) string {
	switch v.Kind() {
	case value.String:
		if b := v.Bytes(); len(b) > 1 && (b[0] == '{' || b[0] == '[') {
			if in, err := value.Parse(b); err == nil {
				return LastFinish(in)
			}
		}
	case value.Array:
		last := ""
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if e.Kind() == value.Array { // one answer per list: the first is read
				return LastFinish(e)
			}
			if spoken(e) {
				last = LastFinish(e)
			}
		}
		return last
	case value.Object:
		return lastOf(v)
	}
	return ""
}

func lastOf(v value.Value) string {
	if r := FinishOf(v); r != "" {
		return r
	}
	for _, k := range []string{
		"choices", "candidates", "generations", "messages", "output", "outputs", "message", "result", "response",
		"kwargs", "data",
	} {
		m, ok := v.Get(k)
		if !ok {
			continue
		}
		if k == "choices" || k == "candidates" {
			m, _ = m.First()
		}
		if m.Kind() != value.Object && m.Kind() != value.Array {
			continue
		}
		if r := LastFinish(m); r != "" {
			return r
		}
	}
	return ""
}

// spoken reports whether an element of a list is an answer of a model: no message of another
// role, no result of a tool, and no reasoning or call next to the answer.
func spoken(e value.Value) bool {
	_, name := unwrapMessage(e)
	return e.Kind() == value.Object &&
		(name == "" || name == "message" || callvet.RoleOf(name) == callvet.RoleAssistant)
}
