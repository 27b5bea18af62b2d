// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

func isGeminiSession(v value.Value) bool {
	return has(v, "sessionId") && has(v, "projectHash") && kind(v, "messages") == value.Array
}

// readGeminiSession reads a session of Gemini CLI. Each message of the model has its calls with
// their results. Messages of other kinds (errors, infos) are from the program, not from the
// model.
func readGeminiSession(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID = name(v, s, "sessionId")
	list, _ := v.Get("messages")
	for m, ok := list.First(); ok; m, ok = list.Next(m) {
		t := callvet.Turn{Content: message.Text(message.First(m, "content"))}
		switch message.Str(m, "type") {
		case "user":
			t.Role = callvet.RoleUser
			a.Trace.Turns = append(a.Trace.Turns, t)
		case "gemini":
			t.Role = callvet.RoleAssistant
			a.Trace.Turns = append(a.Trace.Turns, sessionCalls(m, t)...)
			a.Trace.FinishReason, a.Trace.Answer = message.FinishOf(m), cmp.Or(t.Content, a.Trace.Answer)
			a.Trace.Model = cmp.Or(message.Str(m, "model"), a.Trace.Model)
			a.Trace.Usage.Add(message.UsageOf(message.First(m, "tokens"), value.Value{}))
			begun(&a.Trace, message.Str(m, "timestamp"))
		default:
			s.Lose("a message of a session that is neither a user's nor the model's")
		}
	}
	a.Trace.Turns = message.Attach(a.Trace.Turns)
	s.Give(a)
}

// sessionCalls adds the calls of a message to its turn, and the turns that answer them. A call
// that was cancelled was not executed.
func sessionCalls(m value.Value, t callvet.Turn) []callvet.Turn {
	var results []callvet.Turn
	list := message.First(m, "toolCalls")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		c, _ := message.CallOf(e)
		switch status := message.Str(e, "status"); status {
		case "success", "error":
			r := callvet.Turn{Role: callvet.RoleTool, CallID: c.ID, Tool: c.Tool}
			part, _ := message.First(e, "result").First()
			reply := message.First(message.First(part, "functionResponse"), "response")
			out := message.First(reply, "output", "error")
			if r.Content = out.Str(); out.Kind() != value.String {
				r.Content = string(reply.Raw())
			}
			if status == "error" {
				r.Content, r.Raw = cmp.Or(r.Content, message.Str(e, "resultDisplay"), match.NoReason),
					message.FailedResult()
			}
			results = append(results, r)
		case "":
		default:
			c.Note = "the session records the call as " + status
		}
		t.Calls = append(t.Calls, c)
	}
	return append([]callvet.Turn{t}, results...)
}

func isGraphState(v value.Value) bool {
	values, _ := v.Get("values")
	return has(v, "checkpoint") && kind(values, "messages") == value.Array
}

// readGraphState reads a state of LangGraph: its values contain the conversation so far.
func readGraphState(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID = name(message.First(v, "checkpoint"), s, "thread_id")
	list := message.First(message.First(v, "values"), "messages")
	a.Trace.Turns = message.Attach(mergeTurns(turns(list)))
	a.Trace.FinishReason = message.LastFinish(list)
	spent(&a.Trace, list)
	s.Give(a)
}

// isRequestLog reports whether a record is of a log of requests to models: LiteLLM's, and Amazon
// Bedrock's.
func isRequestLog(v value.Value) bool {
	return has(v, "call_type") && has(v, "messages") && has(v, "response") ||
		message.Str(v, "schemaType") == "ModelInvocationLog"
}

// readRequestLog reads one request with its answer. The messages sent to the model are the input.
func readRequestLog(v value.Value, s *trace.Sink) {
	request, answered := v, message.HeldResult(message.First(v, "response"))
	if in := message.First(v, "input"); has(v, "schemaType") {
		request, answered = message.First(in, "inputBodyJson"),
			message.First(message.First(v, "output"), "outputBodyJson")
	}
	a := answer(answered, s)
	a.Trace.CaseID = name(v, s, "requestId", "id")
	a.Trace.Model = cmp.Or(a.Trace.Model, message.Str(v, "model", "modelId"))
	a.Input = message.Attach(turns(message.HeldResult(message.First(request, "messages"))))
	if sys := message.Text(message.First(request, "system")); sys != "" {
		a.Input = append([]callvet.Turn{{Role: callvet.RoleSystem, Content: sys}}, a.Input...)
	}
	if a.Input == nil {
		a.Input = []callvet.Turn{}
	}
	reply := given(answered)
	if m := message.First(message.First(answered, "output"), "message"); m.Kind() == value.Object { // of Converse
		reply = message.Turns(m)
	}
	a.Trace.Turns = message.Attach(reply)
	a.Trace.FinishReason = message.LastFinish(answered)
	if why := message.Str(v, "errorCode", "error_str"); why != "" || message.Str(v, "status") == "failure" {
		a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultServer, Message: cmp.Or(why, "the request failed")}
	}
	s.Give(a)
}
