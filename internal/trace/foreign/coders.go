// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

// isClaude reports whether v is a line of a session of Claude Code, or of its stream-json output.
func isClaude(v value.Value) bool {
	switch message.Str(v, "type") {
	case "summary":
		return has(v, "leafUuid")
	case "file-history-snapshot", "queue-operation":
		return has(v, "snapshot") || has(v, "sessionId")
	case "system":
		return has(v, "session_id") && message.Str(v, "subtype") == "init" || has(v, "parentUuid")
	case "result":
		return has(v, "session_id") && has(v, "num_turns")
	}
	return has(v, "parentUuid") && has(v, "sessionId") || has(v, "parent_tool_use_id") && has(v, "session_id")
}

func claudeKey(v value.Value) string { return message.Str(v, "sessionId", "session_id") }

func readClaude(v value.Value, x *session, s *trace.Sink) {
	x.streamed = x.streamed || has(v, "session_id")
	m := message.First(v, "message")
	switch typ := message.Str(v, "type"); {
	case typ == "result":
		claudeResult(v, x)
	case typ != "user" && typ != "assistant" || m.Kind() != value.Object:
	case message.First(v, "isSidechain").Bool() || message.Str(v, "parent_tool_use_id") != "":
		s.Lose("a message of a subagent's own conversation")
	case message.First(v, "isApiErrorMessage").Bool():
		x.Trace.Fault = &callvet.Fault{Kind: callvet.FaultServer, Message: message.Text(message.First(m, "content"))}
	default:
		x.messages = append(x.messages, m)
		begun(&x.Trace, message.Str(v, "timestamp"))
		if typ == "assistant" {
			x.Trace.Fault = nil
			x.Trace.Model = cmp.Or(message.Str(m, "model"), x.Trace.Model)
		}
	}
}

// claudeResult reads the last line of a stream.
func claudeResult(v value.Value, x *session) {
	t := &x.Trace
	x.ended = true
	t.Usage = message.UsageOf(message.First(v, "usage"), v, "total_cost_usd")
	if d := message.Float(v, "duration_ms"); d != nil {
		t.WallMS = *d
	}
	switch sub := message.Str(v, "subtype"); {
	case sub == "error_max_turns":
		t.End = callvet.EndMaxRounds
	case strings.HasPrefix(sub, "error") || message.First(v, "is_error").Bool():
		t.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: cmp.Or(message.Str(v, "result"), sub)}
	}
}

// endClaude reads the reason of the last message, and the tokens of each message once, since each
// of its pieces repeats them.
func endClaude(x *session) {
	spent := map[string]value.Value{}
	var order []string
	for _, m := range x.messages {
		if message.Str(m, "role") != "assistant" {
			x.Trace.FinishReason = ""
			continue
		}
		x.Trace.FinishReason = message.FinishOf(m)
		id := message.Str(m, "id")
		if _, again := spent[id]; !again {
			order = append(order, id)
		}
		spent[id] = m
	}
	switch {
	case x.Trace.End == callvet.EndMaxRounds: // the program ended the conversation, not the model
		x.Trace.FinishReason = cmp.Or(x.Trace.FinishReason, "max_turns")
		return
	case x.ended:
		x.Trace.FinishReason = cmp.Or(x.Trace.FinishReason, "completed")
		return
	}
	for _, id := range order {
		x.Trace.Usage.Add(message.UsageOf(message.First(spent[id], "usage"), value.Value{}))
	}
}

func isCodex(v value.Value) bool {
	return has(v, "payload") &&
		slices.Contains([]string{"session_meta", "response_item", "turn_context", "event_msg", "compacted"},
			message.Str(v, "type"))
}

// readCodex reads a line of a Codex rollout: items of the Responses API, and events of the program.
func readCodex(v value.Value, x *session, _ *trace.Sink) {
	p := message.First(v, "payload")
	begun(&x.Trace, message.Str(v, "timestamp"))
	switch message.Str(v, "type") {
	case "session_meta":
		x.Trace.CaseID = cmp.Or(message.Str(p, "id"), x.Trace.CaseID)
	case "turn_context":
		x.Trace.Model = cmp.Or(message.Str(p, "model"), x.Trace.Model)
	case "response_item":
		typ := message.Str(p, "type")
		if typ != "message" && typ != "reasoning" && !strings.HasSuffix(typ, "_call") &&
			!strings.HasSuffix(typ, "_output") {
			return // such as a snapshot of the files
		}
		x.messages = append(x.messages, p)
		if message.Str(p, "role") == "assistant" {
			x.Trace.FinishReason = message.FinishOf(p)
		}
		codexOutput(p, x)
	case "event_msg":
		codexEvent(p, x)
	}
}

func codexEvent(p value.Value, x *session) {
	item := message.First(p, "item")
	switch message.Str(p, "type") {
	case "token_count":
		if u := message.First(message.First(p, "info"), "total_token_usage"); u.Kind() == value.Object {
			x.Trace.Usage = message.UsageOf(u, value.Value{})
		}
	case "item_completed":
		if message.Str(item, "status") == "failed" {
			x.failed[message.Str(item, "id")] = message.Str(item, "aggregated_output")
		}
	case "exec_command_end":
		if n := message.Float(p, "exit_code"); n != nil && *n != 0 {
			x.failed[message.Str(p, "call_id")] = message.Str(p, "aggregated_output", "stderr")
		}
	case "task_complete":
		x.Trace.FinishReason = cmp.Or(x.Trace.FinishReason, "completed")
	case "turn_aborted":
		x.Trace.FinishReason = "cancelled"
	}
}

// codexOutput finds the exit code of a command in its result: in the metadata, or in the lines
// before the output.
func codexOutput(p value.Value, x *session) {
	const exited = "Process exited with code "
	out := message.Str(p, "output")
	head, _, cut := strings.Cut(out, "\nOutput:")
	_, code, found := strings.Cut(head, exited)
	code, _, _ = strings.Cut(code, "\n")
	n := message.Float(message.First(message.HeldResult(message.First(p, "output")), "metadata"), "exit_code")
	if n != nil && *n != 0 || cut && found && code != "0" {
		x.failed[message.Str(p, "call_id")] = out
	}
}

func isGeminiStream(v value.Value) bool {
	return message.Str(v, "type") == "init" && has(v, "session_id") && has(v, "model")
}

// readGeminiStream reads a line of the stream-json output of Gemini CLI. Its answer arrives in
// pieces.
func readGeminiStream(v value.Value, x *session, s *trace.Sink) {
	t := &x.Trace
	x.streamed = true
	begun(t, message.Str(v, "timestamp"))
	switch message.Str(v, "type") {
	case "init":
		t.Model = message.Str(v, "model")
	case "message":
		turns := message.Turns(v)
		if n := len(t.Turns); n > 0 && len(turns) == 1 && message.First(v, "delta").Bool() &&
			t.Turns[n-1].Role == turns[0].Role && len(t.Turns[n-1].Calls) == 0 {
			t.Turns[n-1].Content += turns[0].Content
			return
		}
		x.say(turns...)
	case "tool_use":
		x.call(message.Str(v, "tool_id"), message.Str(v, "tool_name"), message.First(v, "parameters"))
	case "tool_result":
		why := message.Str(message.First(v, "error"), "message")
		x.result(message.Str(v, "tool_id"), cmp.Or(text(message.First(v, "output")), why),
			message.Str(v, "status") == "error")
	case "result":
		x.ended = true
		t.FinishReason = "completed"
		t.Usage = message.UsageOf(message.First(v, "stats"), value.Value{})
		if message.Str(v, "status") == "error" {
			t.Fault = &callvet.Fault{
				Kind:    callvet.FaultProcess,
				Message: message.Str(message.First(v, "error"), "message"),
			}
		}
	case "error":
		s.Lose("an error that the agent reports while it goes on")
	}
}

// readOpenCode reads a line of the JSON output of OpenCode: a part of a message.
func readOpenCode(v value.Value, x *session, _ *trace.Sink) {
	p := message.First(v, "part")
	state := message.First(p, "state")
	switch message.Str(p, "type") {
	case "text":
		x.say(callvet.Turn{Role: callvet.RoleAssistant, Content: message.Str(p, "text")})
	case "reasoning":
		x.say(callvet.Turn{Role: callvet.RoleAssistant, Reasoning: message.Str(p, "text")})
	case "tool":
		id, failed := message.Str(p, "callID"), message.Str(state, "status") == "error"
		x.call(id, message.Str(p, "tool"), message.First(state, "input"))
		if failed || has(state, "output") {
			x.result(id, text(message.First(state, "output", "error")), failed)
		}
	case "step-finish":
		x.Trace.FinishReason = message.Str(p, "reason")
		tokens := message.First(p, "tokens")
		x.Trace.Usage.Add(message.UsageOf(tokens, p, "cost"))
	}
	if e := message.First(v, "error"); e.Kind() == value.Object {
		x.Trace.Fault = &callvet.Fault{Kind: callvet.FaultProcess, Message: message.Str(e, "name", "message")}
	}
}
