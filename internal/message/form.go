// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Form is a known shape of a record.
type Form string

// The forms that Detect distinguishes.
const (
	FormTrace      Form = "callvet"            // {turns: [{role, …}]}
	FormBFCL       Form = "bfcl"               // {raw, decoded} or {result}
	FormBFCLTurns  Form = "bfcl-turns"         // {turns: [{steps: [{calls}]}]}
	FormChat       Form = "openai-chat"        // {choices: [{message}]}
	FormResponses  Form = "openai-responses"   // {output: [{type}]}
	FormAnthropic  Form = "anthropic"          // {content: [{type}]}
	FormGemini     Form = "gemini"             // {candidates: [{content: {parts}}]} or {parts: […]}
	FormMessages   Form = "messages"           // {messages: [{role}]} or the bare list
	FormPromptfoo  Form = "promptfoo"          // one row of its results
	FormSteps      Form = "ai-sdk"             // {steps: [{content}]} or {steps: [{toolCalls, toolResults}]}
	FormRunItems   Form = "openai-agents"      // {newItems: [{rawItem}]} or {state: {generatedItems}}
	FormExecutor   Form = "langchain-executor" // {output, intermediate_steps}
	FormA2A        Form = "a2a"                // {jsonrpc, result}
	FormPlain      Form = "plain"              // {calls, text, …} in their spellings
	FormText       Form = "text"               // a JSON string
	FormUnreadable Form = ""                   // nothing known
)

// Fields are dotted paths into a plain record ("data.reply", "steps.0.calls").
// An empty one means the usual names.
type Fields struct {
	Text, Calls                 string
	Name, Args, Result, Problem string // inside a call
}

// Options are what Decode may use in addition to the record.
type Options struct {
	// Tools are the tools that were offered; calls written into a text are looked
	// for only when there are some.
	Tools *callvet.Toolset
	// Input is the conversation that the target was given; a message list that
	// repeats it loses that prefix.
	Input  []callvet.Turn
	Fields Fields
	// Agent: the record is what an agent gave, which may have called without recording it. A
	// record of a text without a member that could hold calls leaves them untold then.
	Agent bool
	// Kept: the value is of a conversation that was kept, not of an answer to grade. Its arguments
	// stay as they were written, without repairs; the texts of parts are lines; what cannot be read is a
	// call without a name instead of a fault.
	Kept bool
}

// Detect names the form of v; FormUnreadable when it has none.
func Detect(v value.Value) Form {
	switch v.Kind() {
	case value.String:
		return FormText
	case value.Array:
		return detectList(v)
	case value.Object:
		return detectObject(unwrap(v))
	}
	return FormUnreadable
}

func detectList(v value.Value) Form {
	if e, ok := v.First(); ok && !IsMessage(e) {
		return FormPlain
	}
	return FormMessages
}

func detectObject(v value.Value) Form {
	if form := ofFramework(v); form != FormUnreadable {
		return form
	}
	switch {
	case isList(v, "turns", "steps"):
		return FormBFCLTurns
	case kindOf(v, "turns") == value.Array && (has(v, "outcome") || isList(v, "turns", "role")):
		return FormTrace
	case has(v, "case_id") && has(v, "target") && has(v, "outcome"):
		return FormTrace
	case has(v, "response") && (has(v, "promptIdx") || has(v, "testIdx")), has(v, "failureReason"):
		return FormPromptfoo
	case kindOf(v, "choices") == value.Array:
		return FormChat
	case kindOf(v, "output") == value.Array && (isList(v, "output", "type") || first(v, "object").Str() == "response"):
		return FormResponses
	case isList(v, "content", "type"):
		return FormAnthropic
	case kindOf(v, "candidates") == value.Array, has(v, "promptFeedback"),
		kindOf(v, "parts") == value.Array, kindOf(first(v, "content"), "parts") == value.Array:
		return FormGemini
	case kindOf(v, "messages") == value.Array:
		return FormMessages
	case has(v, "decoded"), bfclResult(v):
		return FormBFCL
	}
	return FormPlain
}

// bfclResult distinguishes BFCL's result rows (a text, or a list of {name: arguments}) from plain
// records that happen to have a result.
func bfclResult(v value.Value) bool {
	r, ok := v.Get("result")
	if !ok {
		r, ok = v.Get("raw")
	}
	if !ok || !has(v, "id") || has(v, "type") || has(v, "calls") || has(v, "tool_calls") || has(v, "toolCalls") {
		return false
	}
	return r.Kind() == value.String || r.Kind() == value.Array
}

// unwrap takes off envelopes: {response: {status_code, body: {…}}}, {response:
// {…}} and {body: {…}}, which batch outputs put around the provider's object.
func unwrap(v value.Value) value.Value {
	if has(v, "promptIdx") || has(v, "testIdx") {
		return v
	}
	for _, k := range []string{"response", "body"} {
		if in, ok := v.Get(k); ok && in.Kind() == value.Object {
			return unwrap(in)
		}
	}
	return v
}

// Decode reads v. The error is a *callvet.Fault: what went wrong on the way to the target according
// to the record, or FaultMalformed when v has no known form.
func Decode(v value.Value, o Options) (*callvet.Response, error) {
	if resp := decodedRow(v, o.Tools); resp != nil {
		return resp, nil
	}
	form := Detect(v)
	outer := v
	if v.Kind() == value.Object {
		v = unwrap(v)
		if f := recordedFault(outer, v, form); f != nil {
			return nil, f
		}
	}
	d := decoder{o: o, resp: &callvet.Response{Complete: true}}
	if err := d.read(form, v); err != nil {
		return nil, err
	}
	if outer.Kind() == value.Object && form != FormTrace {
		d.meta(outer, form)
		if v.Raw() != nil && len(v.Raw()) != len(outer.Raw()) {
			d.meta(v, form)
		}
	}
	if d.fault == nil && form != FormTrace {
		d.fault = d.missed(form, outer)
	}
	if d.fault != nil {
		return nil, d.fault
	}
	d.settle(form, outer)
	return d.resp, nil
}

// settle completes an answer that was read: what its form decides of an answer without calls.
func (d *decoder) settle(form Form, outer value.Value) {
	if d.resp.FinishReason == "" && (form == FormBFCL || form == FormBFCLTurns) && !called(d.resp.Turns) &&
		!d.resp.Unreadable {
		d.resp.FinishReason = callvet.FinishDecoded
	}
	d.resp.CallsUnknown = d.resp.CallsUnknown ||
		d.o.Agent && d.o.Fields.Calls == "" && (form == FormText || d.bare && !hasPlace(outer))
	d.collectRepairs()
}

// hasPlace reports whether a record has a member for calls, in any spelling.
func hasPlace(v value.Value) bool {
	for m, ok := v.First(); ok && v.Kind() == value.Object; m, ok = v.Next(m) {
		if word := wordOf(m); word == callsWord || word == callWord {
			return true
		}
	}
	return false
}

// ends takes the finish reason of v where none is known yet.
func (d *decoder) ends(v value.Value) {
	if d.resp.FinishReason == "" {
		d.resp.FinishReason = FinishOf(v)
	}
}

type decoder struct {
	o     Options
	resp  *callvet.Response
	fault *callvet.Fault // the first thing that is no part of an answer
	bare  bool           // the answer is the text of a record that has no place for calls
}

// fail notes the fault of a part.
func (d *decoder) fail(err error) {
	if d.fault == nil && err != nil {
		errors.As(err, &d.fault)
	}
}

// refuse notes that something is no part of an answer.
func (d *decoder) refuse(format string, args ...any) {
	if d.fault == nil {
		d.fault = malformed(fmt.Sprintf(format, args...))
	}
}

func (d *decoder) read(form Form, v value.Value) error {
	switch form {
	case FormTrace:
		return d.trace(v)
	case FormBFCLTurns:
		d.bfclTurns(v)
	case FormBFCL:
		d.bfcl(v)
	case FormChat:
		return d.chat(v)
	case FormResponses:
		d.responses(v)
	case FormAnthropic:
		d.anthropic(v)
	case FormGemini:
		d.gemini(v)
	case FormMessages:
		d.messages(v)
	case FormPromptfoo:
		return d.promptfoo(v)
	case FormSteps:
		d.steps(v)
	case FormRunItems:
		d.runItems(v)
	case FormExecutor:
		d.executed(v)
	case FormA2A:
		return d.a2a(v)
	case FormText:
		d.text(v.Str())
	case FormPlain:
		return d.plain(v)
	default:
		return malformed("a " + v.Kind().String() + " is not an answer")
	}
	return nil
}

func malformed(msg string) *callvet.Fault {
	return &callvet.Fault{Kind: callvet.FaultMalformed, Message: msg}
}

// recordedFault returns what went wrong according to a record without any answer; nil when there is
// an answer.
func recordedFault(outer, v value.Value, form Form) *callvet.Fault {
	status := 0
	if r, ok := outer.Get("response"); ok {
		if s, ok := r.Get("status_code"); ok {
			status = intOf(s)
		}
	}
	e, found := firstOf(v, "error")
	if !found || e.Kind() == value.Null {
		e, found = firstOf(outer, "error")
	}
	if status < 400 && (!found || e.Kind() == value.Null || e.Kind() == value.Bool && !e.Bool()) {
		return nil
	}
	if status < 400 && (form == FormBFCL || form == FormTrace || form == FormBFCLTurns || form == FormPromptfoo ||
		form == FormA2A || hasAnswer(v, form)) {
		return nil // there the word is a verdict, or there is an answer too
	}
	return faultOf(e, status)
}

func hasAnswer(v value.Value, form Form) bool {
	if form != FormPlain {
		return true
	}
	for _, k := range append(callKeys(), textKeys()...) {
		if m, ok := v.Get(k); ok && m.Kind() != value.Null {
			return true
		}
	}
	return false
}

func faultOf(e value.Value, status int) *callvet.Fault {
	f := &callvet.Fault{Kind: callvet.FaultServer, HTTP: status, Message: textOf(e)}
	if e.Kind() == value.Object {
		if k, ok := firstOf(e, "kind"); ok {
			f.Kind = callvet.FaultKind(k.Str())
		}
		if c, ok := firstOf(e, "http", "status", "status_code", "code"); ok && c.Kind() == value.Number && status == 0 {
			f.HTTP = intOf(c)
		}
		if m, ok := firstOf(e, "message", "msg", "detail"); ok {
			f.Message = textOf(m)
		}
	}
	if f.Kind == callvet.FaultServer && f.HTTP != 0 {
		f.Kind = KindOfStatus(f.HTTP)
	}
	if f.Message == "" {
		f.Message = strings.TrimSpace("the record tells of an error " + string(e.Raw()))
	}
	return f
}

// KindOfStatus maps an HTTP status of 400 and more to the kind of fault.
func KindOfStatus(code int) callvet.FaultKind {
	switch {
	case code == 429:
		return callvet.FaultRateLimit
	case code == 401, code == 403:
		return callvet.FaultAuth
	case code == 408, code == 504:
		return callvet.FaultTimeout
	case code >= 500:
		return callvet.FaultServer
	}
	return callvet.FaultRequest
}

func (d *decoder) collectRepairs() {
	for i := range d.resp.Turns {
		if t := &d.resp.Turns[i]; t.Role == callvet.RoleAssistant &&
			callvet.StopOf(d.resp.FinishReason) != callvet.StopDecoded {
			Thoughts(t)
		}
		for j := range d.resp.Turns[i].Calls {
			for _, r := range d.resp.Turns[i].Calls[j].Repairs {
				if !slices.Contains(d.resp.Repairs, r) {
					d.resp.Repairs = append(d.resp.Repairs, r)
				}
			}
		}
	}
}
