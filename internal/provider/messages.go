// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// messages is Anthropic's Messages API.
type messages struct {
	model string
	names names
}

func (w *messages) tools(ts *callvet.Toolset) []byte {
	b := []byte{'['}
	for i := range ts.Tools {
		t := &ts.Tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"name":`...), t.Name)
		if t.Description != "" {
			b = appendText(appendMember(b, "description"), t.Description)
		}
		b = append(append(appendMember(b, "input_schema"), schema(t)...), '}')
	}
	return append(b, ']')
}

func (w *messages) head(b []byte, q *query) []byte {
	b = appendText(append(b, `{"model":`...), w.model)
	if system := systemText(q); system != "" {
		b = appendText(appendMember(b, "system"), system)
	}
	b = appendTurns(appendMember(b, "messages"), q.turns, &messageTurns{failed: failed(q.turns)})
	b = appendSampling(b, &q.params, &w.names)
	if _, taken := q.params.Extra["output_config"]; !taken && q.params.ReasoningEffort != "" {
		b = append(appendText(append(b, `,"output_config":{"effort":`...), q.params.ReasoningEffort), '}')
	}
	if q.tools != nil {
		b = w.choice(b, q)
	}
	if q.stream {
		b = append(b, `,"stream":true`...)
	}
	return appendExtra(b, &q.params, nil)
}

// systemText joins the system prompt with the system turns, for wires with one member for both.
func systemText(q *query) string {
	s := q.req.System
	for i := range q.turns {
		if q.turns[i].Role != callvet.RoleSystem {
			continue
		}
		if s != "" {
			s += "\n\n"
		}
		s += q.turns[i].Content
	}
	return s
}

// messageTurns writes a conversation; failed are the ids of calls that ended in an error.
type messageTurns struct{ failed map[string]bool }

// failed finds the ids of the calls that ended in an error.
func failed(turns []callvet.Turn) map[string]bool {
	var out map[string]bool
	for i := range turns {
		for j := range turns[i].Calls {
			if c := &turns[i].Calls[j]; c.Error != "" || c.Status != "" && c.Status != callvet.StatusOK {
				if out == nil {
					out = map[string]bool{}
				}
				out[c.ID] = true
			}
		}
	}
	return out
}

func (w *messageTurns) user(b []byte, t *callvet.Turn) []byte {
	return append(appendText(append(b, `{"role":"user","content":`...), t.Content), '}')
}

func (w *messageTurns) results(b []byte, turns []callvet.Turn) []byte {
	b = append(b, `{"role":"user","content":[`...)
	for i := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"type":"tool_result","tool_use_id":`...), turns[i].CallID)
		b = appendText(appendMember(b, "content"), turns[i].Content)
		if w.failed[turns[i].CallID] {
			b = append(b, `,"is_error":true`...)
		}
		b = append(b, '}')
	}
	return append(b, ']', '}')
}

func (w *messageTurns) assistant(b []byte, t *callvet.Turn) []byte {
	if len(t.Raw) > 0 {
		return append(b, t.Raw...)
	}
	if len(t.Calls) == 0 {
		return append(appendText(append(b, `{"role":"assistant","content":`...), t.Content), '}')
	}
	b = append(b, `{"role":"assistant","content":[`...)
	if t.Content != "" {
		b = append(appendText(append(b, `{"type":"text","text":`...), t.Content), '}', ',')
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"type":"tool_use","id":`...), c.ID)
		b = appendText(appendMember(b, "name"), c.Tool)
		b = append(append(appendMember(b, "input"), object(c)...), '}')
	}
	return append(b, ']', '}')
}

func (w *messages) choice(b []byte, q *query) []byte {
	parallel := q.params.ParallelCalls
	if q.choice == "" && parallel == nil {
		return b
	}
	b = append(b, `,"tool_choice":{"type":`...)
	switch q.choice {
	case "", choiceAuto:
		b = append(b, `"auto"`...)
	case choiceRequired:
		b = append(b, `"any"`...)
	case choiceNone:
		return append(b, `"none"}`...)
	default:
		b = appendText(append(b, `"tool","name":`...), q.choice)
	}
	if parallel != nil {
		b = appendBool(appendMember(b, "disable_parallel_tool_use"), !*parallel)
	}
	return append(b, '}')
}

func (w *messages) read(root value.Value, _ *query, resp *callvet.Response) error {
	content, ok := root.Get("content")
	if !ok || content.Kind() != value.Array {
		return noAnswer(root, "content")
	}
	raw := append([]byte(`{"role":"assistant","content":`), content.Raw()...)
	turn := callvet.Turn{Role: callvet.RoleAssistant, Raw: append(raw, '}')}
	if content.Len() == 0 {
		turn.Raw = nil
	}
	var answer, thought strings.Builder
	for p, more := content.First(); more; p, more = content.Next(p) {
		switch at(p, "type").Str() {
		case "text":
			answer.WriteString(at(p, "text").Str())
		case "thinking":
			thought.WriteString(at(p, "thinking").Str())
		case "tool_use":
			turn.Calls = append(turn.Calls,
				named(p, message.NewCall(at(p, "id").Str(), at(p, "name").Str(), inputOf(at(p, "input")))))
		default:
			if strayCall(p) {
				turn.Calls = append(turn.Calls, message.LostCall(p))
			}
		}
	}
	turn.Content, turn.Reasoning = answer.String(), thought.String()
	resp.Turns = []callvet.Turn{turn}
	resp.Model, resp.FinishReason = at(root, "model").Str(), at(root, "stop_reason").Str()
	resp.Usage = messagesUsage(at(root, "usage"))
	return nil
}

// inputOf is the text of arguments that the wire sends as a JSON value. A JSON string stays quoted,
// so that the repair of arguments reports it.
func inputOf(v value.Value) string {
	if k := v.Kind(); k == value.Invalid || k == value.Null {
		return ""
	}
	return string(v.Raw())
}

// messagesUsage adds up the API's separate counts: input read from and written to the cache is
// input too.
func messagesUsage(v value.Value) callvet.Usage {
	var r message.UsageReader
	if !r.Object(v) {
		return r.Done(callvet.Usage{})
	}
	cached := r.May(v, "cache_read_input_tokens")
	short, hour := r.May(v, "cache_creation.ephemeral_5m_input_tokens"),
		r.May(v, "cache_creation.ephemeral_1h_input_tokens")
	written, all := r.Count(v, "cache_creation_input_tokens")
	if !all {
		written = short + hour
	}
	return r.Done(callvet.Usage{
		InputTokens:      r.Need(v, "input_tokens") + cached + written,
		OutputTokens:     r.Need(v, "output_tokens"),
		CachedTokens:     cached,
		CacheWriteTokens: written, CacheHourTokens: hour,
	})
}
