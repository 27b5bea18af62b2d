// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace/message"
	"github.com/callvet/callvet/value"
)

// product is a form that is known by name and not read.
type product struct {
	name string // with its article
	hint string
	is   func(v value.Value) bool
}

const (
	sendSpans  = "let the agent send OpenTelemetry spans, and import those"
	runLive    = "run the agent as a target (-m exec:COMMAND), or " + sendSpans
	asMessages = `write its conversation as {"messages": […]} and import that`
)

// products are known by members of their own, which no form that is read has.
func products() []product {
	return []product{
		{"a Claude Code session", sendSpans, func(v value.Value) bool {
			return has(v, "parentUuid") && has(v, "sessionId") || is(v, "type", "summary") && has(v, "leafUuid")
		}},
		{"the stream-json output of Claude Code", runLive, func(v value.Value) bool {
			return has(v, "session_id") && (is(v, "type", "system") && is(v, "subtype", "init") ||
				has(v, "parent_tool_use_id") || is(v, "type", "result") && has(v, "num_turns"))
		}},
		{"a Codex rollout", sendSpans, func(v value.Value) bool {
			return has(v, "payload") && is(v, "type", "session_meta", "response_item", "turn_context", "event_msg", "compacted")
		}},
		{"the stream-json output of Gemini CLI", runLive, func(v value.Value) bool {
			return is(v, "type", "init") && has(v, "session_id") && has(v, "model")
		}},
		{"the JSON output of OpenCode", runLive, func(v value.Value) bool { return has(v, "sessionID") && has(v, "part") }},
		{"an AutoGen log", asMessages, func(v value.Value) bool {
			return has(v, "source") && (has(v, "models_usage") || is(v, "type", "TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent"))
		}},
		{"the memory of a smolagents agent", sendSpans, func(v value.Value) bool {
			return has(v, "task") && has(v, "task_images") || has(v, "step_number") && has(v, "model_output")
		}},
		{"a chat of VS Code Copilot", asMessages, func(v value.Value) bool { return has(v, "responderUsername") && has(v, "requests") }},
		{"a list of run steps of OpenAI's Assistants", asMessages, func(v value.Value) bool { return is(v, "object", "thread.run.step") }},
		{"a message history of Pydantic AI", sendSpans, func(v value.Value) bool {
			return is(v, "kind", "request", "response") && has(v, "parts")
		}},
	}
}

// productOf is the product that wrote a value, or a list of such values; nil when none is known.
func productOf(v value.Value) *product {
	all := products()
	for _, from := range []value.Value{v, message.First(v, "data")} {
		if from.Kind() == value.Array {
			from, _ = from.First()
		}
		if from.Kind() != value.Object {
			continue
		}
		if i := slices.IndexFunc(all, func(p product) bool { return p.is(from) }); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// unread refuses what a product wrote.
func (p *product) unread() error {
	return &callvet.Hinted{
		Err:  fmt.Errorf("read recording: %s is not read yet: %w", p.name, callvet.ErrInvalid),
		Hint: p.hint,
	}
}

func has(v value.Value, key string) bool {
	_, ok := v.Get(key)
	return ok
}

// is reports whether a member is one of some texts.
func is(v value.Value, key string, texts ...string) bool {
	m, _ := v.Get(key)
	return m.Kind() == value.String && slices.Contains(texts, m.Str())
}
