// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// request is the input of a model's span; the method answer is its output. Many SDKs write both in
// several forms, and each form may lack something, such as the ids of calls. The first complete
// form is used, else the one with the most content.
func (sp *span) request() []callvet.Turn {
	best := fullest(true,
		func() []callvet.Turn { return message.Said(sp.attr(spanRequest), callvet.RoleUser) },
		func() []callvet.Turn { return eventMessages(sp.events, spanRequest) },
		func() []callvet.Turn { return flat(sp.attrs, 0) },
		func() []callvet.Turn { return contents(sp.attrs["gcp.vertex.agent.llm_request"]) },
		func() []callvet.Turn { return message.Said(sp.attr(spanInput), callvet.RoleUser) },
	)
	v := sp.attr(system)
	for _, e := range sp.events {
		if v.Kind() == value.Invalid {
			v = e.attrs[system.names()[0]]
		}
	}
	found := slices.ContainsFunc(best, func(t callvet.Turn) bool { return t.Role == callvet.RoleSystem })
	if t := message.Text(message.HeldResult(v)); t != "" && len(best) > 0 && !found {
		best = append([]callvet.Turn{{Role: callvet.RoleSystem, Content: t}}, best...)
	}
	return best
}

func (sp *span) answer() []callvet.Turn { return speaking(sp.gave()) }

// state is the output of an agent. If it repeats the agent's input, roles do not change.
func (sp *span) state() []callvet.Turn {
	out := sp.gave()
	if lastQuestion(out) == 0 {
		out = speaking(out)
	}
	return out
}

func (sp *span) gave() []callvet.Turn {
	return fullest(false,
		func() []callvet.Turn { return message.Said(sp.attr(spanAnswer), callvet.RoleAssistant) },
		func() []callvet.Turn { return eventMessages(sp.events, spanAnswer) },
		func() []callvet.Turn { return flat(sp.attrs, 1) },
		func() []callvet.Turn { return contents(sp.attrs["gcp.vertex.agent.llm_response"]) },
		sp.pieces,
		func() []callvet.Turn { return message.Said(sp.attr(spanOutput), callvet.RoleAssistant) },
	)
}

func fullest(history bool, forms ...func() []callvet.Turn) []callvet.Turn {
	var best []callvet.Turn
	most := 0
	for _, read := range forms {
		turns := read()
		n, whole := weigh(turns, history)
		if n > most {
			best, most = turns, n
		}
		if n > 0 && whole {
			break
		}
	}
	return best
}

// weigh returns how much content turns have, and whether they are complete: in a history, the calls
// have answers.
func weigh(turns []callvet.Turn, history bool) (n int, whole bool) {
	calls, results := 0, 0
	whole = true
	for _, t := range turns {
		n += min(1, len(t.Content))
		for _, c := range t.Calls {
			if c.Tool == "" {
				whole = false
				continue
			}
			calls++
			n += 8 + 2*min(1, len(c.ID)) + 2*min(1, len(c.Args)+len(c.ArgsRaw))
			whole = whole && c.ID != "" && c.Args != nil
		}
		if t.Role == callvet.RoleTool {
			results++
			n += 2 + 2*min(1, len(t.CallID))
			whole = whole && t.CallID != ""
		}
	}
	return n, whole && (!history || results >= calls)
}

// speaking sets the role of a model's output to assistant, whatever role was recorded.
func speaking(ts []callvet.Turn) []callvet.Turn {
	for i := range ts {
		if ts[i].Role == callvet.RoleUser || ts[i].Role == callvet.RoleSystem {
			ts[i].Role = callvet.RoleAssistant
		}
	}
	return mergeTurns(ts)
}

// pieces is an answer with its text and its calls in separate attributes.
func (sp *span) pieces() []callvet.Turn {
	t := callvet.Turn{Role: callvet.RoleAssistant, Content: sp.str(answerText)}
	if list := message.HeldResult(sp.attr(answerCalls)); list.Kind() == value.Array {
		t.Calls = message.CallsOf(list)
	}
	if t.Content == "" && len(t.Calls) == 0 {
		return nil
	}
	return []callvet.Turn{t}
}

// eventMessages reads events with one message each, as attributes, as JSON in one attribute, or in
// a body; or one event with all messages of a side in an attribute.
func eventMessages(events []event, side meaning) []callvet.Turn {
	var out []callvet.Turn
	for _, e := range messageEvents(events) {
		role, input := strings.CutSuffix(strings.TrimPrefix(e.name, "gen_ai."), ".message")
		switch {
		case e.name == detailsEvent:
			out = append(out, message.Said(e.attrs[side.names()[0]], callvet.RoleAssistant)...)
		case input && side == spanRequest:
			out = append(out, eventTurns(e, role)...)
		case !input && side == spanAnswer:
			out = append(out, eventTurns(e, "assistant")...)
		}
	}
	return afterCalls(out)
}

// afterCalls moves results after the calls that they answer. Log records are sent one by one, so
// that records of the same millisecond arrive in any order.
func afterCalls(turns []callvet.Turn) []callvet.Turn {
	made := map[string]int{} // the last turn with a call of an id
	for i := range turns {
		for j := range turns[i].Calls {
			made[turns[i].Calls[j].ID] = i
		}
	}
	early := map[int][]callvet.Turn{}
	out := make([]callvet.Turn, 0, len(turns))
	for i, t := range turns {
		if at := made[t.CallID]; t.Role == callvet.RoleTool && t.CallID != "" && at > i {
			early[at] = append(early[at], t)
			continue
		}
		out = append(append(out, t), early[i]...)
	}
	return out
}

func eventTurns(e event, role string) []callvet.Turn {
	t := callvet.Turn{Role: callvet.RoleOf(role)}
	if e.body.Kind() == value.Object {
		ts := message.Turns(e.body)
		for i := range ts {
			if message.Str(e.body, "role") == "" {
				ts[i].Role = t.Role
			}
			if t.Role == callvet.RoleTool && ts[i].CallID == "" {
				ts[i].CallID = message.Str(e.body, "id", "tool_call_id")
			}
		}
		return ts
	}
	text := first(e.attrs, "message", "content")
	content := message.HeldResult(text)
	if content.Kind() == value.Object &&
		(has(content, "role") || has(content, "content") || has(content, "tool_calls")) {
		return message.Turns(content)
	}
	t.Content, t.CallID = message.Text(text), first(e.attrs, "id", "tool_call_id").Str()
	if content.Kind() == value.Array {
		if ts := message.Parts(content, t.Role); len(ts) > 1 || len(ts[0].Calls) > 0 || ts[0].CallID != "" {
			return ts
		}
	}
	if calls := message.HeldResult(e.attrs["tool_calls"]); calls.Kind() == value.Array {
		t.Calls = message.CallsOf(calls)
	}
	return []callvet.Turn{t}
}

func first(attrs map[string]value.Value, keys ...string) value.Value {
	for _, k := range keys {
		if v, ok := attrs[k]; ok {
			return v
		}
	}
	return value.Value{}
}

// flat reads messages that are spread over attributes: PREFIX.N.message.role, PREFIX.N.content,
// PREFIX.N.message.tool_calls.M.tool_call.function.name and the like.
func flat(attrs map[string]value.Value, side int) []callvet.Turn {
	for _, prefixes := range numberedPrefixes() {
		if out := numbered(attrs, prefixes[side]); len(out) > 0 {
			return out
		}
	}
	return nil
}

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

// flattened makes a turn of a message's members. A call without a tool's name becomes a Call
// without a name, so that it is not lost.
func flattened(m map[string]value.Value) callvet.Turn {
	t := callvet.Turn{Role: callvet.RoleOf(cmp.Or(m["role"].Str(), "assistant")), Content: message.Text(m["content"])}
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
		case parts[0] == "content" && len(parts) == 2,
			parts[0] == "contents" && len(parts) == 3 && parts[2] == "message_content.text":
			texts[n] = v.Str()
		}
	}
	for _, n := range sorted(calls) {
		t.Calls = append(t.Calls, *calls[n])
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
		c.Args, c.ArgsRaw = message.ArgsOf(v)
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

// contents reads a request or a response that ADK keeps as JSON text.
func contents(v value.Value) []callvet.Turn {
	v = message.HeldResult(v)
	var out []callvet.Turn
	if sys := message.Str(message.First(v, "config"), "system_instruction"); sys != "" {
		out = append(out, callvet.Turn{Role: callvet.RoleSystem, Content: sys})
	}
	list := message.GrownMessages(message.First(v, "contents"))
	for c, ok := list.First(); ok; c, ok = list.Next(c) {
		out = append(out, message.Turns(c)...)
	}
	if c := message.First(v, "content"); c.Kind() == value.Object {
		out = append(out, message.Turns(c)...)
	}
	return out
}
