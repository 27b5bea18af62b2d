// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

func isAutoGen(v value.Value) bool {
	return has(v, "source") &&
		(has(v, "models_usage") ||
			slices.Contains([]string{"TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent"},
				message.Str(v, "type")))
}

// readAutoGen reads a message or an event of an AutoGen agent.
func readAutoGen(v value.Value, x *session, s *trace.Sink) {
	list := message.First(v, "content")
	x.Trace.Usage.Add(message.UsageOf(message.First(v, "models_usage"), value.Value{}))
	switch message.Str(v, "type") {
	case "TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ToolCallSummaryMessage":
		role := callvet.RoleAssistant
		if message.Str(v, "source") == "user" {
			role = callvet.RoleUser
		}
		x.say(callvet.Turn{Role: role, Content: message.Text(list)})
	case "ThoughtEvent":
		x.say(callvet.Turn{Role: callvet.RoleAssistant, Reasoning: message.Text(list)})
	case "ToolCallRequestEvent":
		x.say(callvet.Turn{Role: callvet.RoleAssistant, Calls: message.CallsOf(list)})
	case "ToolCallExecutionEvent":
		for e, ok := list.First(); ok; e, ok = list.Next(e) {
			x.result(message.Str(e, "call_id"), text(message.First(e, "content")), message.First(e, "is_error").Bool())
		}
	default:
		s.Lose("an event that is neither a message nor a call")
	}
}

func isSmolagents(v value.Value) bool {
	return has(v, "task") && has(v, "task_images") || has(v, "step_number") && has(v, "model_output")
}

// readSmolagents reads a step of the memory of a smolagents agent. All calls of a step share one
// result text; the last call gives the answer.
func readSmolagents(v value.Value, x *session, _ *trace.Sink) {
	if task := message.First(v, "task"); task.Kind() != value.Invalid {
		x.say(callvet.Turn{Role: callvet.RoleUser, Content: message.Text(task)})
		return
	}
	if !has(v, "step_number") {
		return // a plan, or the system prompt
	}
	calls := message.CallsOf(message.First(v, "tool_calls"))
	x.Trace.Usage.Add(message.UsageOf(message.First(v, "token_usage"), value.Value{}))
	say := callvet.Turn{Role: callvet.RoleAssistant, Calls: calls}
	if len(calls) == 0 {
		say.Content = message.Text(message.First(v, "model_output"))
	}
	x.say(say)
	failed := message.First(v, "error")
	for _, c := range calls {
		x.result(c.ID, cmp.Or(message.Str(failed, "message"), text(message.First(v, "observations"))),
			failed.Kind() == value.Object)
	}
	if message.First(v, "is_final_answer").Bool() {
		x.Trace.Answer, x.Trace.FinishReason = text(message.First(v, "action_output")), "completed"
	}
}

// readRunStep reads a step of a run of OpenAI's Assistants. The messages that it made are elsewhere.
func readRunStep(v value.Value, x *session, _ *trace.Sink) {
	details := message.First(v, "step_details")
	list := message.First(details, "tool_calls")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		f := message.First(e, "function")
		if f.Kind() != value.Object { // a tool that the provider runs
			typ := message.Str(e, "type")
			x.call(message.Str(e, "id"), typ, message.First(e, typ))
			continue
		}
		x.call(message.Str(e, "id"), message.Str(f, "name"), message.First(f, "arguments"))
		if out := message.First(f, "output"); out.Kind() != value.Invalid {
			x.say(callvet.Turn{Role: callvet.RoleTool, CallID: message.Str(e, "id"), Content: text(out)})
		}
	}
	if e := message.First(v, "last_error"); e.Kind() == value.Object {
		x.Trace.Fault = &callvet.Fault{Kind: callvet.FaultServer, Message: message.Str(e, "message", "code")}
	}
	x.ended = x.ended || message.Str(details, "type") == "message_creation"
}

// endRun adds an answer without its text, which is not in the file.
func endRun(x *session) {
	if x.ended && len(x.Trace.Turns) == 0 {
		x.say(callvet.Turn{Role: callvet.RoleAssistant})
		x.Trace.Fault = cmp.Or(x.Trace.Fault, trace.Unknown("the steps of a run do not hold its messages"))
	}
}

// readPydantic reads a message of a history of Pydantic AI.
func readPydantic(v value.Value, x *session, s *trace.Sink) {
	if message.Str(v, "kind") == "response" {
		x.Trace.FinishReason, x.Trace.Model = message.FinishOf(v), cmp.Or(message.Str(v, "model_name"), x.Trace.Model)
		x.Trace.Usage.Add(message.UsageOf(message.First(v, "usage"), value.Value{}))
		x.say(callvet.Turn{Role: callvet.RoleAssistant})
	}
	parts := message.First(v, "parts")
	for p, ok := parts.First(); ok; p, ok = parts.Next(p) {
		content, id := message.First(p, "content"), message.Str(p, "tool_call_id")
		switch kind := message.Str(p, "part_kind"); {
		case kind == "system-prompt":
			x.say(callvet.Turn{Role: callvet.RoleSystem, Content: message.Text(content)})
		case kind == "user-prompt", kind == "retry-prompt" && message.Str(p, "tool_name") == "":
			x.say(callvet.Turn{Role: callvet.RoleUser, Content: message.Text(content)})
		case kind == "text":
			x.say(callvet.Turn{Role: callvet.RoleAssistant, Content: message.Text(content)})
		case kind == "thinking":
			x.say(callvet.Turn{Role: callvet.RoleAssistant, Reasoning: message.Text(content)})
		case kind == "tool-call" || kind == "builtin-tool-call":
			x.call(id, message.Str(p, "tool_name"), message.First(p, "args"))
		case kind == "tool-return" || kind == "builtin-tool-return" || kind == "retry-prompt":
			x.result(id, text(content), kind == "retry-prompt")
		default:
			s.Lose("a part of a message that is no text, call or result")
		}
	}
}

func isCopilot(v value.Value) bool { return has(v, "responderUsername") && has(v, "requests") }

// readCopilot reads a chat of VS Code Copilot: each request has the rounds of its calls, with
// separate results, and the shown texts.
func readCopilot(v value.Value, s *trace.Sink) {
	var a trace.Attempt
	a.Trace.CaseID = name(v, s, "sessionId")
	requests := message.First(v, "requests")
	for r, ok := requests.First(); ok; r, ok = requests.Next(r) {
		var x session
		x.say(callvet.Turn{Role: callvet.RoleUser, Content: message.Text(message.First(r, "message"))})
		about := message.First(message.First(r, "result"), "metadata")
		rounds, results := message.First(about, "toolCallRounds"), message.First(about, "toolCallResults")
		for e, ok := rounds.First(); ok; e, ok = rounds.Next(e) {
			calls := message.CallsOf(message.First(e, "toolCalls"))
			x.say(callvet.Turn{
				Role: callvet.RoleAssistant, Content: message.Text(message.First(e, "response")),
				Calls: calls,
			})
			for _, c := range calls {
				if res := message.First(results, c.ID); res.Kind() == value.Object {
					x.say(callvet.Turn{
						Role: callvet.RoleTool, CallID: c.ID,
						Content: shown(message.First(res, "content")),
					})
				}
			}
		}
		copilotShown(message.First(r, "response"), &x)
		a.Trace.Turns = append(a.Trace.Turns, x.Trace.Turns...)
		if e := message.First(message.First(r, "result"), "errorDetails"); e.Kind() == value.Object {
			a.Trace.Fault = &callvet.Fault{Kind: callvet.FaultServer, Message: message.Str(e, "message")}
		}
	}
	a.Trace.Turns = message.Attach(mergeTurns(a.Trace.Turns))
	s.Give(a)
}

// copilotShown adds the last shown text, and the calls that no round has.
func copilotShown(list value.Value, x *session) {
	rounds, last := len(x.Trace.Turns) > 1, ""
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		if message.Str(e, "kind") == "toolInvocationSerialized" {
			if last = ""; !rounds {
				x.call(message.Str(e, "toolCallId"), message.Str(e, "toolId"), value.Value{})
			}
		} else if text := message.Str(e, "value"); text != "" {
			last += text
		}
	}
	if n := len(x.Trace.Turns); last != "" && x.Trace.Turns[n-1].Content != last {
		x.say(callvet.Turn{Role: callvet.RoleAssistant, Content: last})
	}
}

// shown is the text of the parts of a result.
func shown(list value.Value) string {
	out := ""
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		out += text(message.First(e, "value", "text"))
	}
	return out
}
