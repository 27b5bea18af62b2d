// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// isAnthropic reports whether v is an answer of Anthropic's. An item of the Responses API has the
// same type, but it has a status, or is a user's.
func isAnthropic(v value.Value) bool {
	role := message.Str(v, "role")
	return message.Str(v, "type") == "message" && kind(v, "content") == value.Array && !has(v, "status") &&
		(role == "" || role == "assistant")
}

// geminiBody is the answer of Gemini in a value: the value itself, or a member next to the request.
func geminiBody(v value.Value) value.Value {
	if in := message.First(v, "response"); in.Kind() == value.Object && has(v, "request") {
		return in
	}
	return v
}

// readGemini reads a GenerateContentResponse, alone or with its request.
func readGemini(v value.Value, s *trace.Sink) {
	body, request := geminiBody(v), message.First(v, "request")
	a := answer(body, s)
	a.Trace.CaseID = name(v, s, "key", "custom_id", "responseId", "id")
	a.Trace.Model = cmp.Or(a.Trace.Model, message.Str(body, "modelVersion"))
	a.Trace.Usage = message.UsageOf(message.First(body, "usageMetadata"), value.Value{})
	for _, list := range listed(message.First(request, "tools")) {
		a.Tools = append(a.Tools,
			message.Tools(message.First(list, "functionDeclarations", "function_declarations"))...)
	}
	in := turns(message.First(request, "contents"))
	if sys := message.First(request, "systemInstruction", "system_instruction"); sys.Kind() == value.Object {
		in = append([]callvet.Turn{{Role: callvet.RoleSystem, Content: message.Text(message.First(sys, "parts"))}},
			in...)
	}
	list := message.First(body, "candidates")
	c, _ := list.First()
	out := []callvet.Turn{{Role: callvet.RoleAssistant}}
	if content := message.First(c, "content"); message.First(content, "parts").Len() > 0 {
		out = message.Turns(content)
	}
	exchange(&a, in, out)
	a.Trace.FinishReason = message.LastFinish(body)
	if list.Len() > 0 || a.Trace.FinishReason == "" { // else the reason is why there is none
		oneAnswer(&a, list.Len(), "candidate")
	}
	s.Give(a)
}

// listed are the elements of a list.
func listed(v value.Value) (out []value.Value) {
	for e, ok := v.First(); ok && v.Kind() == value.Array; e, ok = v.Next(e) {
		out = append(out, e)
	}
	return out
}

// readConverse reads an answer of Amazon Bedrock's Converse.
func readConverse(v value.Value, s *trace.Sink) {
	a := answer(v, s)
	m := message.First(message.First(v, "output"), "message")
	a.Trace.Turns = message.Attach(message.Turns(m))
	a.Trace.FinishReason = message.FinishOf(v)
	s.Give(a)
}

// isBatch reports whether v is a line of the output of a batch of OpenAI or Anthropic.
func isBatch(v value.Value) bool {
	return has(v, "custom_id") && (kind(v, "result") == value.Object || has(v, "response") && has(v, "error"))
}

// readBatch reads the body of a line. A request that failed has none.
func readBatch(v value.Value, s *trace.Sink) {
	result, response := message.First(v, "result"), message.First(v, "response")
	body := message.First(result, "message")
	if response.Kind() == value.Object {
		body = message.First(response, "body")
	}
	before := len(s.Found)
	for _, f := range Formats() {
		if body.Kind() == value.Object && f.Name != "batch" && f.Is(body) {
			f.Read(body, s)
			break
		}
	}
	if len(s.Found) > before {
		s.Found[before].Trace.CaseID = name(v, s, "custom_id")
		return
	}
	why := cmp.Or(message.Str(result, "type"), message.Str(message.First(body, "error"), "message"),
		message.Str(message.First(v, "error"), "message", "code"), "the request has no answer")
	failed := message.First(result, "error")
	why = cmp.Or(message.Str(message.First(failed, "error"), "message"), message.Str(failed, "message"), why)
	a := trace.Attempt{Trace: callvet.Trace{
		CaseID: name(v, s, "custom_id"),
		Fault:  &callvet.Fault{Kind: callvet.FaultServer, Message: why},
	}}
	s.Give(a)
}
