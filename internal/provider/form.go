// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"regexp"

	"github.com/callvet/callvet"
)

// An answer of a form is asked for in the way of each wire:
//
//	Chat Completions  response_format of a JSON schema
//	Responses         text.format of a JSON schema
//	Gemini            responseJsonSchema
//	Ollama            format
//	Messages          one tool with that schema, which the model must call
//
// A server that refuses it is asked again without, and from then on.

// shape asks the Messages API for a form by way of a tool: it has no other way that all its
// models know. A request with tools of its own is left as it is, and is answered in any text.
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

// unshape takes the form out of a request.
func (m *model) unshape(q *query) {
	q.form = nil
	if _, tools := m.wire.(*messages); tools {
		q.tools, q.toolSum, q.choice = nil, [len(q.toolSum)]byte{}, ""
	}
}

// formed makes the call of a form's tool the text that was asked for.
func formed(q *query, resp *callvet.Response) {
	if q.form == nil || len(resp.Turns) != 1 {
		return
	}
	t := &resp.Turns[0]
	if len(t.Calls) != 1 || t.Calls[0].Tool != q.form.Name {
		return
	}
	t.Content, t.Calls, t.Raw = payload(&t.Calls[0]), nil, nil
	resp.FinishReason = "" // it told of the call
}

// appendForm appends a form as OpenAI's interfaces write it; open begins the object.
func appendForm(b []byte, f *callvet.AnswerForm, open string) []byte {
	b = appendText(append(b, open...), f.Name)
	b = append(appendMember(b, "schema"), f.Schema...)
	return append(appendBool(appendMember(b, "strict"), f.Strict), '}')
}

// ofForm are the words by which servers refuse a form.
var ofForm = regexp.MustCompile(
	`(?i)response[_ ]?format|json[_ ]?schema|structured output|text\.format|response_?mime_?type|response_?schema|\bformat\b|tool_choice|grammar`)

// refusesForm reports whether a server says that it does not take the form of an answer.
func refusesForm(f *callvet.Fault) bool {
	return ofForm.MatchString(f.Param) || ofForm.MatchString(f.Message)
}
