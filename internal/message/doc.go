// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package message answers one question: which turns and calls does this record of a model or an
// agent contain?
//
// forms.go has one list of all forms of records. A vendor is one entry, with the functions that
// detect and read it in a file of its own:
//
//	openai.go     chat completions, Responses, runs of the Agents SDK
//	anthropic.go  Messages
//	gemini.go     generateContent, calls in pieces included
//	langchain.go  messages in their envelopes, AgentExecutor
//	aisdk.go      steps of the AI SDK, parts of its user interface
//	a2a.go        tasks of the Agent2Agent protocol
//	bfcl.go       result rows and turns of BFCL
//	promptfoo.go  result rows of promptfoo
//	messages.go   lists of messages of any of these
//	trace.go      callvet's own traces
//	plain.go      {text, calls} in all spellings; Mistral, Cohere, Ollama and Bedrock have no other
//
// All forms share the readers of their parts:
//
//	message.go    one message, part or item to turns: Turns, Element
//	parts.go      what a part is: text, thought, call, result
//	calls.go      one call in any spelling, its arguments and its id
//	results.go    results, and the calls that they belong to: Attach, Settle
//	finish.go     why an answer ended; usage.go its tokens; stream.go calls in pieces
//	text*.go      calls that a model wrote into its text: marks, Python, ReAct, XML
//
// A new name of a member goes to the list of its meaning (callKeys, nameKeys, argsKeys, resultKeys,
// textKeys), and to wordOf, which recognizes calls that nothing read (missed.go). Then no call gets
// lost in silence. A new form gets a file, a detect and a read function, and a line in vendors.
//
// Answers that are graded (Decode, Element) and stored conversations (Turns, Said, CallsOf) have
// the same reader. Options.Kept is the difference: a kept call is not repaired. In an answer,
// each repair is recorded on the call. Broken JSON is never completed: it stays raw, and the
// attempt is unparseable, not an abstention.
//
// The package writes no requests: package provider has one file for each API, next to its
// parameters. It has no files, no network and no scores.
package message
