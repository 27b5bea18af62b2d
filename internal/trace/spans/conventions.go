// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package spans

import (
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace/message"
	"github.com/callvet/callvet/value"
)

// exchange gives what a span was told and what it said, in the first convention
// that it follows.
func exchange(sp *span) (in, out []callvet.Turn) {
	if in, out = attributeMessages(sp.attrs); len(in)+len(out) > 0 {
		return withSystem(in, sp.attrs), out
	}
	for _, e := range sp.events {
		if e.name == "gen_ai.client.inference.operation.details" {
			in, out = attributeMessages(e.attrs)
			return withSystem(in, e.attrs), out
		}
	}
	if in, out = eventMessages(sp.events); len(in)+len(out) > 0 {
		return in, out
	}
	if in, out = numbered(sp.attrs, "llm.input_messages."), numbered(sp.attrs, "llm.output_messages."); len(in)+len(out) > 0 {
		return in, speaking(out)
	}
	if in, out = numbered(sp.attrs, "gen_ai.prompt."), numbered(sp.attrs, "gen_ai.completion."); len(in)+len(out) > 0 {
		return in, speaking(out)
	}
	return gemini(sp)
}

func attributeMessages(attrs map[string]value.Value) (in, out []callvet.Turn) {
	return list(attrs["gen_ai.input.messages"]), speaking(list(attrs["gen_ai.output.messages"]))
}

func withSystem(in []callvet.Turn, attrs map[string]value.Value) []callvet.Turn {
	v := held(attrs["gen_ai.system_instructions"])
	if text := message.Text(v); text != "" {
		return append([]callvet.Turn{{Role: callvet.RoleSystem, Content: text}}, in...)
	}
	return in
}

func list(v value.Value) []callvet.Turn {
	v = held(v)
	if v.Kind() != value.Array {
		return nil
	}
	var out []callvet.Turn
	for m, ok := v.First(); ok; m, ok = v.Next(m) {
		out = append(out, message.Turns(m)...)
	}
	return out
}

// speaking makes what a model gave its own words, whatever role was noted.
func speaking(ts []callvet.Turn) []callvet.Turn {
	for i := range ts {
		if ts[i].Role == callvet.RoleUser || ts[i].Role == callvet.RoleSystem {
			ts[i].Role = callvet.RoleAssistant
		}
	}
	return message.Merge(ts)
}

// eventMessages reads the older convention: an event for each message, with its
// members as attributes or as JSON in one of them.
func eventMessages(events []event) (in, out []callvet.Turn) {
	for _, e := range events {
		role, ok := strings.CutPrefix(e.name, "gen_ai.")
		if !ok {
			continue
		}
		role, input := strings.CutSuffix(role, ".message")
		if !input && role != "choice" {
			continue
		}
		if role == "choice" {
			role = "assistant"
		}
		ts := eventTurns(e, role)
		if input {
			in = append(in, ts...)
		} else {
			out = append(out, ts...)
		}
	}
	return in, speaking(out)
}

func eventTurns(e event, role string) []callvet.Turn {
	t := callvet.Turn{Role: message.Role(role)}
	if e.body.Kind() == value.Object {
		ts := message.Turns(e.body)
		for i := range ts {
			if message.Str(e.body, "role") == "" {
				ts[i].Role = t.Role
			}
		}
		return ts
	}
	content := held(first(e.attrs, "message", "content"))
	if content.Kind() == value.Object && (has(content, "role") || has(content, "content") || has(content, "tool_calls")) {
		return message.Turns(content)
	}
	t.Content, t.CallID = message.Text(content), first(e.attrs, "id", "tool_call_id").Str()
	if content.Kind() == value.Array {
		if ts := blocks(content, t.Role); ts != nil {
			return ts
		}
	}
	if calls := held(e.attrs["tool_calls"]); calls.Kind() == value.Array {
		t.Calls = message.Calls(calls)
	}
	return []callvet.Turn{t}
}

// blocks reads content blocks of Bedrock: {text}, {toolUse}, {toolResult}.
func blocks(list value.Value, role callvet.Role) []callvet.Turn {
	t := callvet.Turn{Role: role}
	var results []callvet.Turn
	for b, ok := list.First(); ok; b, ok = list.Next(b) {
		if u := message.First(b, "toolUse"); u.Kind() == value.Object {
			c := callvet.Call{ID: message.Str(u, "toolUseId"), Tool: message.Str(u, "name")}
			c.Args, c.ArgsRaw = message.Args(message.First(u, "input"))
			t.Calls = append(t.Calls, c)
		} else if r := message.First(b, "toolResult"); r.Kind() == value.Object {
			results = append(results, callvet.Turn{Role: callvet.RoleTool, CallID: message.Str(r, "toolUseId"), Content: message.Text(message.First(r, "content"))})
		} else if s := message.Str(b, "text"); s != "" {
			t.Content += s
		}
	}
	switch {
	case len(t.Calls) == 0 && len(results) == 0:
		return nil
	case t.Content == "" && len(t.Calls) == 0:
		return results
	}
	return append([]callvet.Turn{t}, results...)
}

func first(attrs map[string]value.Value, keys ...string) value.Value {
	for _, k := range keys {
		if v, ok := attrs[k]; ok {
			return v
		}
	}
	return value.Value{}
}

// numbered reads flattened messages: PREFIX.N.message.role, PREFIX.N.content,
// PREFIX.N.message.tool_calls.M.tool_call.function.name and their like.
func numbered(attrs map[string]value.Value, prefix string) []callvet.Turn {
	byMessage := map[int]map[string]value.Value{}
	var order []int
	for k, v := range attrs {
		rest, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		digits, name, ok := strings.Cut(rest, ".")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 0 {
			continue
		}
		if byMessage[n] == nil {
			byMessage[n] = map[string]value.Value{}
			order = append(order, n)
		}
		byMessage[n][strings.TrimPrefix(name, "message.")] = v
	}
	sort.Ints(order)
	var out []callvet.Turn
	for _, n := range order {
		out = append(out, flattened(byMessage[n]))
	}
	return out
}

func flattened(m map[string]value.Value) callvet.Turn {
	t := callvet.Turn{Role: message.Role(m["role"].Str()), Content: message.Text(m["content"])}
	if t.Role == callvet.RoleTool {
		t.CallID, t.Tool = first(m, "tool_call_id").Str(), first(m, "name").Str()
	}
	calls := map[int]*callvet.Call{}
	texts := map[int]string{}
	for k, v := range m {
		parts := strings.SplitN(k, ".", 3)
		if len(parts) < 2 {
			continue
		}
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 0 {
			continue
		}
		switch {
		case parts[0] == "tool_calls" && len(parts) == 3:
			if calls[n] == nil {
				calls[n] = &callvet.Call{}
			}
			member(calls[n], strings.TrimPrefix(strings.TrimPrefix(parts[2], "tool_call."), "function."), v)
		case parts[0] == "content" && len(parts) == 2, parts[0] == "contents" && len(parts) == 3 && parts[2] == "message_content.text":
			texts[n] = v.Str()
		}
	}
	for _, n := range sorted(calls) {
		if calls[n].Tool != "" {
			t.Calls = append(t.Calls, *calls[n])
		}
	}
	for _, n := range sorted(texts) {
		if t.Content == "" || len(texts) > 1 {
			t.Content += texts[n]
		}
	}
	return t
}

func member(c *callvet.Call, name string, v value.Value) {
	switch name {
	case "id":
		c.ID = v.Str()
	case "name":
		c.Tool = v.Str()
	case "arguments":
		c.Args, c.ArgsRaw = message.Args(v)
	}
}

func sorted[T any](m map[int]T) []int {
	out := make([]int, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	sort.Ints(out)
	return out
}

// gemini reads the request and the response that ADK keeps as JSON text.
func gemini(sp *span) (in, out []callvet.Turn) {
	req, resp := held(sp.attrs["gcp.vertex.agent.llm_request"]), held(sp.attrs["gcp.vertex.agent.llm_response"])
	if sys := message.Str(message.First(req, "config"), "system_instruction"); sys != "" {
		in = append(in, callvet.Turn{Role: callvet.RoleSystem, Content: sys})
	}
	contents := message.First(req, "contents")
	for c, ok := contents.First(); ok; c, ok = contents.Next(c) {
		in = append(in, message.Turns(c)...)
	}
	if c := message.First(resp, "content"); c.Kind() == value.Object {
		out = speaking(message.Turns(c))
	}
	return in, out
}

// values takes the outermost agent's input and output where no span tells messages.
func (c *conversation) values(agents []*span) {
	for _, sp := range agents {
		in, out := held(sp.attr("input.value", "traceloop.entity.input")), held(sp.attr("output.value", "traceloop.entity.output"))
		if sp.parent != "" && len(agents) > 1 || in.Kind() == value.Invalid && out.Kind() == value.Invalid {
			continue
		}
		c.turns = append(said(in, callvet.RoleUser, true), said(out, callvet.RoleAssistant, false)...)
		return
	}
}

// opening puts the outermost agent's input before turns of which none is a user's.
func (c *conversation) opening(agents []*span) {
	for _, t := range c.turns {
		if t.Role == callvet.RoleUser {
			return
		}
	}
	for _, sp := range agents {
		if in := said(held(sp.attr("input.value", "traceloop.entity.input")), callvet.RoleUser, true); len(in) > 0 {
			c.turns = append(in, c.turns...)
			return
		}
	}
}

// said reads messages out of a value, or takes its text.
func said(v value.Value, role callvet.Role, opening bool) []callvet.Turn {
	if m := message.First(v, "messages"); m.Kind() == value.Array {
		var all []callvet.Turn
		for e, ok := m.First(); ok; e, ok = m.Next(e) {
			if k := message.First(e, "kwargs"); k.Kind() == value.Object {
				e = k
			}
			all = append(all, message.Turns(e)...)
		}
		if n := len(all); n > 0 && !opening {
			return all[n-1:]
		}
		return all
	}
	if t := message.Text(v); t != "" {
		return []callvet.Turn{{Role: role, Content: t}}
	}
	return nil
}
