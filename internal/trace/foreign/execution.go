// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// execution adds the data of tool spans to calls.
type execution struct {
	tree   tree
	rounds []*span // of models
	// alone are the spans of calls that no message has.
	alone []*span
}

// within reports whether calls that no message has belong to the round of a model.
func (x *execution) within(sp *span) bool {
	until := end(sp, x.rounds)
	return slices.ContainsFunc(x.alone, func(t *span) bool { return t.start >= sp.start && t.start < until })
}

// run joins tool spans to calls: by id, else by name and arguments, else by name and order. A tool
// span without a call becomes a new call; those of one round are one turn.
func (x *execution) run(a *trace.Attempt, tools []*span, s *trace.Sink) {
	var open []*callvet.Call
	known := map[string]bool{}
	for i := range a.Trace.Turns {
		for j := range a.Trace.Turns[i].Calls {
			c := &a.Trace.Turns[i].Calls[j]
			open = append(open, c)
			known[c.ID] = c.ID != ""
		}
	}
	tools = slices.DeleteFunc(slices.Clone(tools), x.repeats)
	executed := make([]callvet.Call, len(tools))
	for i, sp := range tools {
		executed[i] = toolCall(sp)
		executed[i].StartMS = since(a.Trace.Started, sp)
	}
	_, done := matchCalls(open, executed, func(to *callvet.Call, i int) {
		if remark := differ(to, &executed[i]); remark != "" {
			a.Trace.Note(remark)
			s.Lose(trace.Differ)
		}
		join(to, executed[i])
	})
	var rest []callvet.Turn
	round := int64(-1)
	for i, sp := range tools {
		if c := executed[i]; !done[i] && !known[c.ID] {
			c.Status = cmp.Or(c.Status, callvet.StatusOK)
			known[c.ID] = c.ID != ""
			until := end(sp, x.rounds)
			rest = append(rest, made(rest, c, until == round && len(x.rounds) > 0)...)
			round, x.alone = until, append(x.alone, sp)
		}
	}
	n := len(a.Trace.Turns)
	if n > 0 && a.Trace.Turns[n-1].Role == callvet.RoleAssistant && len(a.Trace.Turns[n-1].Calls) == 0 {
		n--
	}
	a.Trace.Turns = slices.Insert(a.Trace.Turns, n, rest...)
}

// made adds a call that no message has: to the last answer in turns if it belongs to the same
// round, else as a new one.
func made(turns []callvet.Turn, c callvet.Call, same bool) []callvet.Turn {
	var out []callvet.Turn
	if same {
		at := len(turns) - 1
		for turns[at].Role == callvet.RoleTool {
			at--
		}
		turns[at].Calls = append(turns[at].Calls, c)
	} else {
		out = append(out, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}})
	}
	if c.Result != nil {
		out = append(out,
			callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool, Content: resultText(c.Result)})
	}
	return out
}

// repeats reports whether a span is inside another of the same tool: two SDKs recorded one call.
func (x *execution) repeats(sp *span) bool {
	up := x.tree.byID[sp.parent]
	return up != nil && up != sp && up.what == tool && up.tool() == sp.tool()
}

// since is the start of a span, in milliseconds since the start of the attempt; nil if not
// recorded.
func since(began time.Time, sp *span) *float64 {
	if sp.start <= 0 || began.IsZero() {
		return nil
	}
	ms := float64(sp.start-began.UnixNano()) / float64(time.Millisecond)
	return &ms
}

func resultText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func join(to *callvet.Call, c callvet.Call) {
	to.ExecMS, to.StartMS = c.ExecMS, c.StartMS
	if to.ID == "" {
		to.ID = c.ID
	}
	if to.Args == nil && to.ArgsRaw == "" {
		to.Args, to.ArgsRaw = c.Args, c.ArgsRaw
	}
	switch {
	case c.Error != "":
		to.Status, to.Error, to.Result = c.Status, c.Error, nil
	case c.Status == "" && to.Error != "": // only the message records how the tool ended
	case c.Result != nil:
		to.Status, to.Error, to.Result = callvet.StatusOK, "", c.Result
	case to.Status == "":
		to.Status = callvet.StatusOK
	}
}

// tool is the name of a span's tool; "" if not recorded. Some dialects use the name of the tool as
// the span's name, with or without a further word.
func (sp *span) tool() string {
	name := sp.str(toolName)
	for _, word := range []string{"execute_tool ", "tool.execute ", "tools/call "} {
		if rest, ok := strings.CutPrefix(sp.name, word); ok {
			name = cmp.Or(name, rest)
		}
	}
	switch {
	case name != "":
	case sp.attrs["openinference.span.kind"].Str() != "", sp.attrs["langfuse.observation.type"].Str() != "":
		name = sp.name
	case sp.attrs["traceloop.span.kind"].Str() != "":
		name = strings.TrimSuffix(sp.name, ".tool")
	}
	return name
}

// toolCall reads a tool's span. Arguments are unknown if the span has none, or if its input is not
// JSON: then it is an SDK's rendering, not the model's text.
func toolCall(sp *span) callvet.Call {
	c := callvet.Call{ID: sp.str(callID), Tool: sp.tool()}
	if d := sp.end - sp.start; d > 0 {
		c.ExecMS = float64(d) / 1e6
	}
	args := sp.attr(arguments)
	if args.Kind() == value.Invalid {
		args = eventBody(sp, "gen_ai.tool.message")
	}
	if c.Args, c.ArgsRaw = message.ArgsOf(message.HeldResult(args)); args.Kind() == value.Invalid {
		c.Args, _ = message.ArgsOf(positional(message.HeldResult(sp.attr(spanInput))))
	}
	out := sp.attr(result)
	if out.Kind() == value.Invalid {
		out = sp.attr(spanOutput)
	}
	if out.Kind() == value.Invalid {
		out = eventBody(sp, "gen_ai.choice")
	}
	failed, passed := sp.failed, sp.passed
	if msg, ok := message.ToolMessage(out); ok {
		c.ID, c.Result = cmp.Or(c.ID, msg.CallID), message.ResultJSON(msg.Content)
		failed, passed = failed || message.Erred(&msg), passed || msg.Raw != nil
	} else {
		c.Result = raw(out)
	}
	why := sp.str(failure)
	for _, e := range sp.events {
		why = cmp.Or(why, e.attrs["exception.message"].Str())
	}
	kind := cmp.Or(sp.attrs["error.type"].Str(), sp.attrs["exception.type"].Str())
	failed = failed || kind != "" || sp.attrs["langfuse.observation.level"].Str() == "ERROR"
	if text := resultText(c.Result); failed || !passed && match.IsError(text) {
		c.Error = cmp.Or(sp.message, why, kind, text, "the tool's span has status error")
		c.Status, c.Result = callvet.StatusExecErr, nil
		if failed && strings.Contains(strings.ToLower(kind+c.Error), "timeout") {
			c.Status = callvet.StatusTimeout
		}
	} else if passed {
		c.Status = callvet.StatusOK
	}
	return c
}

// positional unwraps {args: […], kwargs: {…}}, Traceloop's form of a function's arguments, and
// {input: "{…}"}, LangChain's form. Arguments without names stay unknown.
func positional(v value.Value) value.Value {
	named, list := message.First(v, "kwargs"), message.First(v, "args")
	if first, ok := list.First(); v.Len() == 2 && named.Kind() == value.Object && list.Kind() == value.Array {
		switch {
		case !ok:
			return named
		case list.Len() == 1 && named.Len() == 0 && first.Kind() == value.Object:
			return first
		}
		return value.Value{}
	}
	if in := message.HeldResult(message.First(v, "input")); v.Len() == 1 &&
		message.First(v, "input").Kind() == value.String && in.Kind() == value.Object {
		return in
	}
	if v.Kind() == value.String {
		return value.Value{}
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
