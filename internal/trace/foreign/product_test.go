// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestProducts holds that what a product wrote is refused by its name, before anything is read.
func TestProducts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"summary","summary":"x","leafUuid":"1"}` + "\n" + `{"type":"user","parentUuid":null,"sessionId":"s","message":{}}`: "a Claude Code session",
		`{"type":"system","subtype":"init","session_id":"s","tools":[]}`:                                                            "the stream-json output of Claude Code",
		`{"type":"result","num_turns":2,"session_id":"s","result":"x"}`:                                                             "the stream-json output of Claude Code",
		`{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}` + "\n" + `{"type":"response_item","payload":{}}`:             "a Codex rollout",
		`{"type":"init","session_id":"s","model":"m"}` + "\n" + `{"type":"message","role":"user","content":"x"}`:                    "the stream-json output of Gemini CLI",
		`{"type":"step_start","sessionID":"s","part":{}}`:                                                                           "the JSON output of OpenCode",
		`{"source":"user","content":"x","type":"TextMessage","models_usage":null}`:                                                  "an AutoGen log",
		`[{"task":"x","task_images":null},{"step_number":1}]`:                                                                       "the memory of a smolagents agent",
		`{"responderUsername":"x","requests":[]}`:                                                                                   "a chat of VS Code Copilot",
		`{"object":"list","data":[{"object":"thread.run.step"}]}`:                                                                   "a list of run steps of OpenAI's Assistants",
		`[{"kind":"request","parts":[]}]`:                                                                                           "a message history of Pydantic AI",
	} {
		as, _, err := text(in, Options{})
		var hint *callvet.Hinted
		if len(as) > 0 || !errors.Is(err, callvet.ErrInvalid) || !errors.As(err, &hint) || hint.Hint == "" || !strings.Contains(err.Error(), want+" is not read yet") {
			t.Errorf("%s: %d attempts, %v", in, len(as), err)
		}
	}
	if as, _, err := text(`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"kind":"request"}`, Options{}); len(as) != 1 || err != nil {
		t.Errorf("a conversation: %d attempts, %v", len(as), err)
	}
}

// TestClients holds what is read of files that clients and gateways write for themselves.
func TestClients(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"a session of Gemini CLI": {`{"sessionId":"s","projectHash":"p","messages":[{"type":"user","content":[{"text":"go"}]},
			{"type":"gemini","content":"","toolCalls":[{"id":"1","name":"f","args":{"a":1},"status":"error","resultDisplay":"no"},
				{"id":"2","name":"f","args":{},"status":"success","result":[{"functionResponse":{"id":"2","name":"f","response":{"output":"five"}}}]},
				{"id":"3","name":"f","args":{},"status":"cancelled"}]},
			{"type":"gemini","content":"Done."},{"type":"user","content":"more"},{"type":"gemini","content":"","toolCalls":[{"id":"4","name":"g","args":{},"status":"executing"}]},
			{"type":"error","content":"down"}]}`, []string{"called", "Done.", `f {"a":1} exec_error no`, `f {} ok "five"`, "f {}", "g {}"}},
		"a state of LangGraph": {`{"values":{"messages":[{"type":"human","content":"go"},{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"1"}]},
			{"type":"tool","tool_call_id":"1","content":"five","status":"success"},{"type":"ai","content":"Done."}]},"next":[],"checkpoint":{"thread_id":"t"}}`, []string{"called", "Done.", `f {} ok "five"`}},
		"a request of LiteLLM": {`{"call_type":"completion","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"0","function":{"name":"old","arguments":"{}"}}]},{"role":"tool","tool_call_id":"0","content":"5"}],
			"response":{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}}`, []string{"called", "", "f {}"}},
		"a request of LiteLLM that was cut off": {
			`{"call_type":"completion","messages":[{"role":"user","content":"go"}],"response":{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"Do"}}]}}`,
			[]string{"unparseable token_limit", "Do"},
		},
		"a request of LiteLLM that failed": {`{"call_type":"completion","status":"failure","error_str":"down","messages":[{"role":"user","content":"go"}],"response":{}}`, []string{"error server", ""}},
		"a request of Bedrock": {`{"schemaType":"ModelInvocationLog","requestId":"r","input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":"go"}]}]}},
			"output":{"outputBodyJson":{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]}},"stopReason":"tool_use"}}}`, []string{"called", "", "f {}"}},
		"a request of Bedrock to Anthropic": {`{"schemaType":"ModelInvocationLog","input":{"inputBodyJson":{"messages":[{"role":"user","content":"go"}]}},
			"output":{"outputBodyJson":{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}}`, []string{"abstained", "Done."}},
		"pieces of one message": {
			`[{"role":"user","content":"go"},{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hm."}],"stop_reason":"tool_use"},
			{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}],"stop_reason":"tool_use"},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"five"}]},{"id":"n","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}]`,
			[]string{"called", "Done.", `f {} ok "five"`},
		},
		"pieces of one message without the call": {`[{"role":"user","content":"go"},{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hm."}],"stop_reason":"tool_use"},
			{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"So."}],"stop_reason":"tool_use"}]`, []string{"error malformed", "Hm.\nSo."}},
		"a message of the AI SDK 4": {`[{"role":"user","content":"go"},{"role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"1","toolName":"f","args":{},"result":"five"}}]},
			{"role":"assistant","content":"Done."}]`, []string{"called", "Done.", `f {} ok "five"`}},
	} {
		as, _, err := text(c.in, Options{})
		if err != nil || len(as) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(as), err)
			continue
		}
		tr := &as[0].Trace
		tr.Notes = nil
		got := []string{ending(tr), tr.Answer}
		for _, call := range tr.Calls() {
			got = append(got, strings.TrimSpace(strings.Join([]string{call.Tool, string(call.Args), string(call.Status), call.Error + string(call.Result)}, " ")))
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
