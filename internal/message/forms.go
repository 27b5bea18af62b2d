// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
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

// vendor is one form of answers: of a provider's API, a framework or a test tool.
type vendor struct {
	form Form
	// detect reports whether a value has the form; the first matching vendor in the list counts.
	detect func(v value.Value) bool
	// read adds the turns of an answer to the response of the decoder.
	read func(d *decoder, v value.Value)
	// body: the form is the whole body of a provider's answer, which records how the answer ended.
	body bool
	// inner: the form is also read where it is a member of another record; so is each body.
	inner bool
}

// vendors lists the forms, the most general last.
func vendors() [16]vendor {
	return [...]vendor{
		{form: FormText, detect: isString, read: (*decoder).whole},
		{form: FormA2A, detect: isA2A, read: (*decoder).a2a},
		{form: FormRunItems, detect: isRunItems, read: (*decoder).runItems, inner: true},
		{form: FormSteps, detect: isSteps, read: (*decoder).steps, inner: true},
		{form: FormExecutor, detect: isExecutor, read: (*decoder).executed},
		{form: FormBFCLTurns, detect: isBFCLTurns, read: (*decoder).bfclTurns},
		{form: FormTrace, detect: isTrace, read: (*decoder).trace},
		{form: FormPromptfoo, detect: isPromptfoo, read: (*decoder).promptfoo},
		{form: FormChat, detect: isChat, read: (*decoder).chat, body: true},
		{form: FormResponses, detect: isResponses, read: (*decoder).responses, body: true},
		{form: FormAnthropic, detect: isAnthropic, read: (*decoder).anthropic, body: true},
		{form: FormGemini, detect: isGemini, read: (*decoder).gemini, body: true},
		{form: FormMessages, detect: isMessages, read: (*decoder).messages, inner: true},
		{form: FormBFCL, detect: isBFCL, read: (*decoder).bfcl},
		{form: FormPlain, detect: isPlain, read: (*decoder).plain},
		{read: (*decoder).unreadable},
	}
}

// vendorOf is the vendor of a value's form; v has no envelopes. The last vendor of the list reads
// all other values.
func vendorOf(v value.Value) vendor {
	all := vendors()
	last := len(all) - 1
	for _, w := range all[:last] {
		if w.detect(v) {
			return w
		}
	}
	return all[last]
}

// Detect names the form of v; FormUnreadable when it has none.
func Detect(v value.Value) Form { return vendorOf(unwrap(v)).form }

// unwrap removes envelopes: {response: {status_code, body: {…}}}, {response: {…}} and {body:
// {…}}, which batch outputs put around the provider's object.
func unwrap(v value.Value) value.Value {
	if v.Kind() != value.Object || has(v, "promptIdx") || has(v, "testIdx") {
		return v
	}
	for _, k := range []string{"response", "body"} {
		if in, ok := v.Get(k); ok && in.Kind() == value.Object {
			return unwrap(in)
		}
	}
	return v
}

func isString(v value.Value) bool { return v.Kind() == value.String }

// whole reads an answer that is only a text.
func (d *decoder) whole(v value.Value) { d.text(v.Str()) }

func (d *decoder) unreadable(v value.Value) { d.refuse("a %s is not an answer", v.Kind()) }
