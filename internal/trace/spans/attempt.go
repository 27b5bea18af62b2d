// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package spans

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/internal/trace/message"
	"github.com/callvet/callvet/internal/usage"
	"github.com/callvet/callvet/value"
)

// work is what a span is about.
type work int

const (
	other work = iota
	model
	tool
	agent
)

func (sp *span) str(keys ...string) string {
	for _, k := range keys {
		if s := sp.attrs[k].Str(); s != "" {
			return s
		}
	}
	return ""
}

func (sp *span) attr(keys ...string) value.Value {
	for _, k := range keys {
		if v := sp.attrs[k]; v.Kind() != value.Invalid && v.Kind() != value.Null {
			return v
		}
	}
	return value.Value{}
}

// work tells by the conventions' own attributes, then by the names of spans.
func (sp *span) work() work {
	switch sp.str("gen_ai.operation.name") {
	case "execute_tool":
		return tool
	case "chat", "generate_content", "text_completion", "completion":
		return model
	case "invoke_agent":
		return agent
	case "create_agent":
		return other
	}
	switch sp.str("openinference.span.kind") + sp.str("traceloop.span.kind") {
	case "TOOL", "tool":
		return tool
	case "LLM":
		return model
	case "AGENT", "CHAIN", "agent", "workflow":
		return agent
	}
	switch {
	case strings.HasPrefix(sp.name, "execute_tool "):
		return tool
	case len(sp.str("gcp.vertex.agent.llm_response")) > 2, sp.str("llm.request.type") != "", sp.attrs["gen_ai.prompt.0.role"].Kind() != value.Invalid:
		return model
	}
	return other
}

// attempt makes an attempt of one trace's spans.
func attempt(id string, all []span, s *trace.Sink) {
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var a trace.Attempt
	a.Trace.CaseID = id
	var models, agents, tools []*span
	for i := range all {
		sp := &all[i]
		switch sp.work() {
		case model:
			models = append(models, sp)
		case tool:
			tools = append(tools, sp)
		case agent:
			agents = append(agents, sp)
		default:
			s.Lose("a span that is about neither a model, a tool nor an agent")
			continue
		}
		about(&a, sp)
	}
	if len(models)+len(tools)+len(agents) == 0 {
		return
	}
	c := conversation{seen: message.Seen{}}
	c.read(models, &a)
	if len(c.turns) == 0 {
		c.read(agents, &a)
	}
	if len(c.turns) == 0 {
		c.values(agents)
	}
	c.opening(agents)
	a.Trace.Turns = c.turns
	execute(&a, tools)
	s.Give(a)
}

// about takes from a span what it says of the whole attempt.
func about(a *trace.Attempt, sp *span) {
	t := &a.Trace
	if t.Target == "" {
		t.Target = sp.str("gen_ai.agent.name")
	}
	if t.Target == "" {
		t.Target = sp.service
	}
	if m := sp.str("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"); m != "" {
		t.Model = m
	}
	if c := sp.str("gen_ai.conversation.id", "session.id", "gcp.vertex.agent.session_id"); c != "" && a.Fields == nil {
		a.Fields = map[string]string{"conversation": c}
	}
	if sp.start > 0 {
		at := time.Unix(0, sp.start).UTC()
		if t.Started.IsZero() || at.Before(t.Started) {
			t.Started = at
		}
		if d := float64(sp.end-t.Started.UnixNano()) / 1e6; d > t.WallMS {
			t.WallMS = d
		}
	}
	if a.Tools == nil {
		a.Tools = message.Tools(held(sp.attr("gen_ai.tool.definitions", "model_request_parameters")))
	}
}

// held is the JSON that a string holds, else the value itself.
func held(v value.Value) value.Value {
	if v.Kind() != value.String {
		return v
	}
	if in, err := value.Parse(v.Bytes()); err == nil {
		return in
	}
	return v
}

// conversation is what model spans say, in the order of their beginnings.
type conversation struct {
	turns []callvet.Turn
	seen  message.Seen
}

func (c *conversation) read(list []*span, a *trace.Attempt) {
	said := map[string]bool{}
	for _, sp := range list {
		if in, out := exchange(sp); len(in)+len(out) > 0 {
			said[sp.id] = true
		}
	}
	for _, sp := range list {
		in, out := exchange(sp)
		if len(in)+len(out) == 0 && len(said) > 0 || wraps(list, said, sp) {
			continue
		}
		c.turns = append(c.turns, c.seen.Fresh(in)...)
		c.turns = append(c.turns, c.seen.Note(out)...)
		spent(&a.Trace.Usage, sp)
	}
	c.turns = message.Attach(message.Merge(c.turns))
}

// wraps reports whether a span has another one of the list inside that tells its
// own messages: then it is the other's wrapper.
func wraps(list []*span, said map[string]bool, outer *span) bool {
	for _, in := range list {
		if in.parent == outer.id && outer.id != "" && said[in.id] {
			return true
		}
	}
	return false
}

func spent(u *callvet.Usage, sp *span) {
	in := sp.attr("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
	out := sp.attr("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
	if in.Kind() == value.Invalid && out.Kind() == value.Invalid {
		return
	}
	var r usage.Reader
	one := callvet.Usage{InputTokens: count(&r, "input_tokens", in), OutputTokens: count(&r, "output_tokens", out)}
	if v := sp.attr("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"); v.Kind() != value.Invalid {
		one.ReasoningTokens = count(&r, "reasoning_tokens", v)
	}
	if v := sp.attr("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read"); v.Kind() != value.Invalid {
		one.CachedTokens = count(&r, "cache_read", v)
	}
	one.CostUSD = r.Dollars("cost", sp.attr("operation.cost", "gen_ai.usage.cost", "llm.cost.total"))
	u.Add(r.Done(one))
}

// count reads a count of an attribute, which protobuf's JSON writes as a string.
func count(r *usage.Reader, name string, v value.Value) int {
	if v.Kind() == value.String {
		if n, err := value.Parse([]byte(v.Str())); err == nil && n.Kind() == value.Number {
			v = n
		}
	}
	return r.Value(name, v)
}

// execute gives calls what the tool spans know of them: by id, else by name and
// order. A tool that no message called is a call of its own.
func execute(a *trace.Attempt, tools []*span) {
	var open []*callvet.Call
	for i := range a.Trace.Turns {
		for j := range a.Trace.Turns[i].Calls {
			open = append(open, &a.Trace.Turns[i].Calls[j])
		}
	}
	var alone []callvet.Turn
	for _, sp := range tools {
		c := toolCall(sp)
		i := slices.IndexFunc(open, func(o *callvet.Call) bool { return c.ID != "" && o.ID == c.ID })
		if i < 0 {
			i = slices.IndexFunc(open, func(o *callvet.Call) bool { return o.Tool == c.Tool && (c.ID == "" || o.ID == "") })
		}
		if i < 0 {
			alone = append(alone, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}})
			if c.Result != nil {
				alone = append(alone, callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: resultText(c.Result)})
			}
			continue
		}
		join(open[i], c)
		open = slices.Delete(open, i, i+1)
	}
	n := len(a.Trace.Turns)
	if n > 0 && a.Trace.Turns[n-1].Role == callvet.RoleAssistant && len(a.Trace.Turns[n-1].Calls) == 0 {
		n--
	}
	a.Trace.Turns = slices.Insert(a.Trace.Turns, n, alone...)
}

func resultText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func join(to *callvet.Call, c callvet.Call) {
	to.ExecMS = c.ExecMS
	if to.Args == nil && to.ArgsRaw == "" {
		to.Args, to.ArgsRaw = c.Args, c.ArgsRaw
	}
	switch {
	case c.Error != "":
		to.Status, to.Error, to.Result = c.Status, c.Error, nil
	case c.Result != nil:
		to.Status, to.Result = c.Status, c.Result
	case to.Status == "":
		to.Status = c.Status
	}
}

// toolCall reads a tool's span. A span without arguments leaves them unknown.
func toolCall(sp *span) callvet.Call {
	c := callvet.Call{
		ID:     sp.str("gen_ai.tool.call.id", "tool.id", "tool_call.id"),
		Tool:   cmp.Or(sp.str("gen_ai.tool.name", "tool.name", "traceloop.entity.name"), strings.TrimPrefix(sp.name, "execute_tool ")),
		Status: callvet.StatusOK,
	}
	if d := sp.end - sp.start; d > 0 {
		c.ExecMS = float64(d) / 1e6
	}
	args := sp.attr("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool_call.function.arguments", "input.value", "tool.parameters", "traceloop.entity.input")
	if args.Kind() == value.Invalid {
		args = eventBody(sp, "gen_ai.tool.message")
	}
	c.Args, c.ArgsRaw = message.Args(args)
	result := sp.attr("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "output.value", "traceloop.entity.output")
	if result.Kind() == value.Invalid {
		result = eventBody(sp, "gen_ai.choice")
	}
	c.Result = raw(unwrapped(result))
	if kind := sp.str("error.type", "exception.type"); sp.failed || kind != "" {
		c.Error = cmp.Or(sp.message, kind, resultText(c.Result), "the tool's span has status error")
		c.Status, c.Result = callvet.StatusExecErr, nil
		if strings.Contains(strings.ToLower(kind+c.Error), "timeout") {
			c.Status = callvet.StatusTimeout
		}
	}
	return c
}

// unwrapped takes the content out of a tool message of LangChain.
func unwrapped(v value.Value) value.Value {
	h := held(v)
	if h.Kind() == value.Object && has(h, "tool_call_id") && has(h, "content") {
		c, _ := h.Get("content")
		return c
	}
	return v
}

func eventBody(sp *span, name string) value.Value {
	for _, e := range sp.events {
		if e.name != name {
			continue
		}
		if c, ok := e.attrs["content"]; ok {
			return c
		}
		if c, ok := e.attrs["message"]; ok {
			return c
		}
	}
	return value.Value{}
}
