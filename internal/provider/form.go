// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"regexp"

	"github.com/callvet/callvet"
)

// Each wire has its own way to request an answer of a given form:
//
//	Chat Completions  response_format of a JSON schema
//	Responses         text.format of a JSON schema
//	Gemini            responseJsonSchema
//	Ollama            format
//	Messages          one tool with that schema, which the model must call
//
// If a server refuses the form, the request is repeated without it, and later requests have none.

// shape requests a form from the Messages API with a tool: no other way works with all its models.
// A request that has tools is not changed, and its answer may be any text.
func (m *model) shape(q *query) {
	if _, tools := m.wire.(*messages); !tools || q.form == nil {
		return
	}
	if q.req.Tools != nil && len(q.req.Tools.Tools) > 0 {
		q.form = nil
		return
	}
	req := *q.req
	req.Tools = callvet.NewToolset(
		[]callvet.Tool{{Name: q.form.Name, Description: "Give the answer.", Parameters: q.form.Schema}})
	req.ToolChoice = q.form.Name
	q.req = &req
}

// unshape removes the form from a request.
func (m *model) unshape(q *query) {
	q.form = nil
	if _, tools := m.wire.(*messages); tools {
		q.tools, q.toolSum, q.choice = nil, [len(q.toolSum)]byte{}, ""
	}
}

// formed turns the call of a form's tool into the requested text.
func formed(q *query, resp *callvet.Response) {
	if q.form == nil || len(resp.Turns) != 1 {
		return
	}
	t := &resp.Turns[0]
	if len(t.Calls) != 1 || t.Calls[0].Tool != q.form.Name {
		return
	}
	t.Content, t.Calls, t.Raw = payload(&t.Calls[0]), nil, nil
	resp.FinishReason = "" // it was about the call
}

// appendForm appends a form in the format of OpenAI's APIs; open begins the object.
func appendForm(b []byte, f *callvet.AnswerForm, open string) []byte {
	b = appendText(append(b, open...), f.Name)
	b = append(appendMember(b, "schema"), f.Schema...)
	return append(appendBool(appendMember(b, "strict"), f.Strict), '}')
}

// ofForm matches the errors of servers that refuse a form.
var ofForm = regexp.MustCompile(
	`(?i)response[_ ]?format|json[_ ]?schema|structured output|text\.format|response_?mime_?type|response_?schema|\bformat\b|tool_choice|grammar`)

// refusesForm reports whether a fault is a server's refusal of an answer's form.
func refusesForm(f *callvet.Fault) bool {
	return ofForm.MatchString(f.Param) || ofForm.MatchString(f.Message)
}
