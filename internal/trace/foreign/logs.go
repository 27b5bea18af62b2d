// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// readATIF reads a trajectory of the Agent Trajectory Interchange Format. System messages between
// the agent's steps keep their places.
func readATIF(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID = name(v, s, "session_id", "trajectory_id")
	agent := message.First(v, "agent")
	a.Trace.Target, a.Trace.Model = message.Str(agent, "name"), message.Str(agent, "model_name")
	a.Tools = message.Tools(message.First(agent, "tool_definitions"))
	steps, _ := v.Get("steps")
	for e, ok := steps.First(); ok; e, ok = steps.Next(e) {
		t := callvet.Turn{
			Content:   message.Text(message.First(e, "message")),
			Reasoning: message.Str(e, "reasoning_content"),
		}
		switch message.Str(e, "source") {
		case "user":
			t.Role = callvet.RoleUser
		case "system":
			t.Role = callvet.RoleSystem
		default:
			t.Role = callvet.RoleAssistant
		}
		t.Calls = message.CallsOf(message.First(e, "tool_calls"))
		a.Trace.Turns = append(a.Trace.Turns, t)
		if t.Role == callvet.RoleAssistant {
			a.Trace.FinishReason = cmp.Or(message.FinishOf(e), message.FinishOf(message.First(e, "metrics")),
				message.FinishOf(message.First(e, "extra")))
		}
		results := message.First(message.First(e, "observation"), "results")
		for r, ok := results.First(); ok; r, ok = results.Next(r) {
			c, has := r.Get("content")
			if has { // a result without content means that there was none
				a.Trace.Turns = append(a.Trace.Turns,
					callvet.Turn{
						Role: callvet.RoleTool, CallID: message.Str(r, "source_call_id"),
						Content: message.Text(c),
					})
			}
			if message.First(r, "subagent_trajectory_ref").Kind() != value.Invalid {
				s.Lose("a reference to a subagent's trajectory")
			}
		}
		m := message.First(e, "metrics")
		a.Trace.Usage.Add(message.UsageOf(m, m, "cost_usd"))
		begun(&a.Trace, message.Str(e, "timestamp"))
	}
	a.Trace.Turns = message.Attach(a.Trace.Turns)
	s.Give(a)
}

// begun sets the start and the duration of an attempt from its first and last time.
func begun(t *callvet.Trace, at string) {
	when, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return
	}
	if t.Started.IsZero() {
		t.Started = when
	}
	if d := when.Sub(t.Started); d > 0 {
		t.WallMS = float64(d.Microseconds()) / 1000
	}
}

// readEvalSet reads the cases of an ADK evalset: expected conversations, each with one attempt
// equal to it.
func readEvalSet(v value.Value, s *trace.Sink) {
	cases := message.First(v, "eval_cases", "evalCases")
	for c, ok := cases.First(); ok; c, ok = cases.Next(c) {
		var a trace.Attempt
		a.Trace.CaseID = name(c, s, "eval_id", "evalId")
		list := message.First(c, "conversation")
		for inv, ok := list.First(); ok; inv, ok = list.Next(inv) {
			invocation(inv, &a, s)
		}
		a.Trace.Turns = message.Attach(a.Trace.Turns)
		if has(c, "session_input") && message.First(c, "session_input").Kind() == value.Object {
			s.Lose("the session input of an evalset case")
		}
		s.Give(a)
	}
}

func invocation(inv value.Value, a *trace.Attempt, s *trace.Sink) {
	add := func(ts ...callvet.Turn) { a.Trace.Turns = append(a.Trace.Turns, ts...) }
	add(message.Turns(message.First(inv, "user_content", "userContent"))...)
	data := message.First(inv, "intermediate_data", "intermediateData")
	if calls := message.CallsOf(message.First(data, "tool_uses", "toolUses")); len(calls) > 0 {
		add(callvet.Turn{Role: callvet.RoleAssistant, Calls: calls})
	}
	results := message.First(data, "tool_responses", "toolResponses")
	for r, ok := results.First(); ok; r, ok = results.Next(r) {
		add(response(r))
	}
	if more := message.First(data, "intermediate_responses", "intermediateResponses"); more.Len() > 0 {
		s.Lose("the intermediate responses of an invocation")
	}
	if events := message.First(data, "invocation_events", "invocationEvents"); events.Kind() == value.Array {
		for e, ok := events.First(); ok; e, ok = events.Next(e) {
			add(contentTurns(message.First(e, "content"))...)
		}
	}
	if final := message.First(inv, "final_response", "finalResponse"); final.Kind() == value.Object {
		a.Trace.FinishReason = message.FinishOf(final)
		add(contentTurns(final)...)
	}
}

// response reads {id, name, response}.
func response(r value.Value) callvet.Turn {
	body := message.First(r, "response", "result", "content")
	t := callvet.Turn{
		Role: callvet.RoleTool, CallID: message.Str(r, "id"), Tool: message.Str(r, "name"),
		Content: string(body.Raw()),
	}
	if body.Kind() == value.String {
		t.Content = body.Str()
	}
	if message.First(body, "isError").Bool() {
		t.Raw = message.FailedResult()
	}
	return t
}

// contentTurns reads a content of Gemini's; results have the role "user" there.
func contentTurns(c value.Value) []callvet.Turn {
	if c.Kind() != value.Object {
		return nil
	}
	ts := message.Turns(c)
	var out []callvet.Turn
	for _, t := range ts {
		if t.Role == callvet.RoleUser && t.Content == "" && len(t.Calls) == 0 {
			continue
		}
		out = append(out, t)
	}
	return out
}

func readSession(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID, a.Trace.Target = name(v, s, "id", "session_id"), message.Str(v, "app_name", "appName")
	events, _ := v.Get("events")
	for e, ok := events.First(); ok; e, ok = events.Next(e) {
		if message.First(e, "partial").Bool() {
			continue // repeated by the event that closes it
		}
		a.Trace.Turns = append(a.Trace.Turns, contentTurns(message.First(e, "content"))...)
		a.Trace.Usage.Add(message.UsageOf(message.First(e, "usage_metadata", "usageMetadata"), value.Value{}))
		eventEnd(e, &a.Trace)
	}
	if message.First(v, "state").Len() > 0 {
		s.Lose("the state of a session")
	}
	a.Trace.Turns = message.Attach(a.Trace.Turns)
	s.Give(a)
}

// eventEnd reads the finish reason from an event: for an answer without content, ADK writes it as
// an error code, like other errors.
func eventEnd(e value.Value, t *callvet.Trace) {
	code, msg := message.FinishWord(message.First(e, "error_code", "errorCode")),
		message.Str(e, "error_message", "errorMessage")
	end := message.FinishOf(e)
	switch by := message.Str(e, "author"); {
	case end == "" && callvet.StopOf(code) != callvet.StopUnknown && code != "":
		if t.FinishReason = code; !has(e, "content") {
			t.Turns = append(t.Turns, callvet.Turn{Role: callvet.RoleAssistant})
		}
		return
	case end != "" || by != "user" && has(e, "content"):
		t.FinishReason = end
	}
	if msg != "" || code != "" {
		t.Fault = &callvet.Fault{Kind: callvet.FaultServer, Message: cmp.Or(msg, code)}
	}
}

func isInspect(v value.Value) bool {
	if has(v, "eval") && has(v, "version") {
		return true
	}
	return has(v, "epoch") && has(v, "messages") && has(v, "target")
}

// readInspect reads a log of Inspect, or one sample of it (as in a .eval archive). A score is a
// verdict only if it is C or I, yes or no, or a number. The first scorer's verdict is the task's;
// all are kept.
func readInspect(v value.Value, s *trace.Sink) {
	eval := message.First(v, "eval")
	if !has(v, "eval") {
		readSample(v, eval, s)
		return
	}
	samples, _ := v.Get("samples")
	if samples.Len() == 0 {
		s.Lose("a log without samples")
	}
	for e, ok := samples.First(); ok; e, ok = samples.Next(e) {
		readSample(e, eval, s)
	}
}

// ReadSample reads one sample of an Inspect log with the log's header, which may
// be the zero Value.
func ReadSample(sample, header value.Value, s *trace.Sink) {
	readSample(sample, message.First(header, "eval"), s)
}

func readSample(v, eval value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID = name(v, s, "id")
	if e := message.Int(v, "epoch"); e > 0 {
		a.Trace.Repeat = e - 1
	}
	a.Trace.Target = message.Str(eval, "model")
	out := message.First(v, "output")
	a.Trace.Model, a.Trace.FinishReason = message.Str(out, "model"), message.LastFinish(out)
	if task := message.Str(eval, "task"); task != "" {
		a.Fields = map[string]string{"task": task}
	}
	list, _ := v.Get("messages")
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		for _, t := range message.Turns(m) {
			if t.Role == callvet.RoleTool { // the form can contain errors
				t.Raw = message.PassedResult()
			}
			if e := message.First(m, "error"); t.Role == callvet.RoleTool && e.Kind() == value.Object {
				t.Raw, t.Content = message.FailedResult(), message.Str(e, "type")+": "+message.Str(e, "message")
			}
			a.Trace.Turns = append(a.Trace.Turns, t)
		}
	}
	a.Trace.Turns = message.Attach(orphans(a.Trace.Turns, s))
	timeouts(a.Trace.Turns)
	attachments(v, a.Trace.Turns)
	usages := message.First(v, "model_usage")
	for u, ok := usages.First(); ok; u, ok = usages.Next(u) {
		a.Trace.Usage.Add(message.UsageOf(u, value.Value{}))
	}
	if d := message.Float(v, "total_time"); d != nil {
		a.Trace.WallMS = *d * 1000
	}
	verdict(v, &a, s)
	if e := message.First(v, "error"); e.Kind() == value.Object {
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: message.Str(e, "message")}
	}
	if message.First(v, "events").Len() > 0 || message.First(message.First(v, "transcript"), "events").Len() > 0 {
		s.Lose("the events of a sample (its messages were read)")
	}
	s.Give(a)
}

// orphans makes a call for each result without its call in the transcript. The arguments of such a
// call are unknown.
func orphans(turns []callvet.Turn, s *trace.Sink) []callvet.Turn {
	ids := map[string]bool{}
	var out []callvet.Turn
	for _, t := range turns {
		for _, c := range t.Calls {
			ids[c.ID] = true
		}
		if t.Role == callvet.RoleTool && t.CallID != "" && !ids[t.CallID] && t.Tool != "" {
			s.Lose("the arguments of a call with only a recorded result")
			out = append(out,
				callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{{ID: t.CallID, Tool: t.Tool}}})
		}
		out = append(out, t)
	}
	return out
}

func timeouts(turns []callvet.Turn) {
	for i := range turns {
		for j := range turns[i].Calls {
			switch c := &turns[i].Calls[j]; {
			case strings.HasPrefix(c.Error, "timeout: "):
				c.Status = callvet.StatusTimeout
			case strings.HasPrefix(c.Error, "parsing: "):
				c.Status = callvet.StatusRejected
			}
		}
	}
}

// attachments inserts long texts where the log refers to them.
func attachments(v value.Value, turns []callvet.Turn) {
	at := message.First(v, "attachments")
	if at.Len() == 0 {
		return
	}
	for i := range turns {
		const mark = "attachment://"
		if key, ok := strings.CutPrefix(turns[i].Content, mark); ok {
			if full, ok := at.Get(key); ok {
				turns[i].Content = full.Str()
			}
		}
	}
}

func verdict(v value.Value, a *trace.Attempt, s *trace.Sink) {
	scores := message.First(v, "scores", "score")
	if scores.Len() == 0 {
		return
	}
	a.Foreign = json.RawMessage(scores.Raw())
	first := true
	for e, ok := scores.First(); ok; e, ok = scores.Next(e) {
		j := trace.Judged{Judge: e.Key(), Reason: message.Str(e, "explanation")}
		val, _ := e.Get("value")
		switch val.Kind() {
		case value.Bool:
			yes := val.Bool()
			j.Pass = &yes
		case value.Number:
			j.Score = message.Float(e, "value")
		case value.String:
			switch val.Str() {
			case "C", "I":
				yes := val.Str() == "C"
				j.Pass = &yes
			default:
				s.Lose("a score that is neither C, I, a truth value nor a number")
			}
		default:
			s.Lose("a score that is neither C, I, a truth value nor a number")
		}
		a.Judged = append(a.Judged, j)
		if first {
			a.Pass, a.Reward = j.Pass, j.Score
		}
		first = false
	}
}
