// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package agent calls targets that run their own tools, over HTTP (one JSON answer or a stream of
// events) or as a process per attempt.
//
// It answers one question: what did the agent do for this request? OpenHTTP and OpenExec return a
// callvet.Model with responses that are Complete. The answer's form is found by package message;
// Stream reads event streams.
//
// # HTTP
//
// The last user message is posted as {"message": …}: the settings are paths into a template of
// the request, and a preset is a built-in template. An answer of type text/event-stream is read
// as events, by the table of its protocol (protocols.go). Agents without a protocol name their
// events by the data's "type" or by the event field: text_delta, tool_call, tool_call_delta,
// tool_result, done, hitl, error. Any other answer is read as one JSON value. A pause for a
// human's approval (status 409, or a hitl event) is an answer: the call is recorded and the
// finish reason is FinishHITL.
//
// # Processes
//
// The request is one JSON object on standard input:
//
//	{"case_id": "…", "repeat": 0, "system": "…", "messages": […], "tools": […],
//	 "tool_choice": "auto", "params": {…}, "context": …}
//
// with messages and tools in the form of OpenAI's chat completions. Standard
// output is one JSON value of any known form, or JSON Lines of messages or
// events. An exit code other than 0 is a Fault with the end of standard error.
//
// The package never retries, follows no redirect, and reads neither flags nor
// environment: secrets come from a lookup function and are masked in everything that is stored.
package agent
