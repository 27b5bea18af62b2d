// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestEntries holds what is read of logs of which the entries of a session make one attempt.
func TestEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"claude-code": {`{"type":"summary","summary":"x","leafUuid":"1"}
			{"type":"user","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
			{"type":"assistant","parentUuid":"1","sessionId":"s","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hm."}],"stop_reason":"tool_use"}}
			{"type":"user","parentUuid":"x","isSidechain":true,"sessionId":"s","message":{"role":"user","content":"aside"}}
			{"type":"assistant","parentUuid":"1","sessionId":"s","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}}
			{"type":"user","parentUuid":"2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"no","is_error":true}]}}
			{"type":"assistant","parentUuid":"3","sessionId":"s","message":{"id":"n","type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}`, []string{"s called", "Done.", `f {"a":1} exec_error no`}},
		"claude-code that was cut off": {`{"type":"user","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
			{"type":"assistant","parentUuid":"1","sessionId":"s","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Do"}],"stop_reason":"max_tokens"}}`, []string{"s unparseable token_limit", "Do"}},
		"claude-code as a stream": {`{"type":"system","subtype":"init","session_id":"s","tools":[]}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,"session_id":"s"}
			{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s","result":"Done."}`, []string{"s abstained", "Done."}},
		"claude-code as a stream without its end": {`{"type":"system","subtype":"init","session_id":"s","tools":[]}
			{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Do"}]},"parent_tool_use_id":null,"session_id":"s"}`, []string{"s error malformed", "Do"}},
		"claude-code without an answer": {`{"type":"result","num_turns":2,"session_id":"s","result":"x","subtype":"success"}
			{"type":"other"}`, []string{"s error malformed", ""}},
		"codex": {`{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}
			{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}
			{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{\"a\":1}","call_id":"1"}}
			{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"2"}}
			{"type":"response_item","payload":{"type":"ghost_snapshot","commit":"c"}}
			{"type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"}}
			{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"2","status":"failed"}}}
			{"type":"response_item","payload":{"type":"function_call_output","call_id":"2","output":"no"}}
			{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}
			{"type":"event_msg","payload":{"type":"task_complete"}}`, []string{"s called", "Done.", `f {"a":1} ok {"output":"x","metadata":{"exit_code":0}}`, "f {} exec_error no"}},
		"codex that was stopped": {`{"type":"session_meta","payload":{"id":"s"}}
			{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Do"}]}}
			{"type":"event_msg","payload":{"type":"turn_aborted"}}`, []string{"s error dropped", "Do"}},
		"gemini-stream": {`{"type":"init","session_id":"s","model":"m"}
			{"type":"message","role":"user","content":"go"}
			{"type":"tool_use","tool_name":"f","tool_id":"1","parameters":{"a":1}}
			{"type":"tool_result","tool_id":"1","status":"error","error":{"type":"x","message":"no"}}
			{"type":"message","role":"assistant","content":"Do","delta":true}
			{"type":"message","role":"assistant","content":"ne.","delta":true}
			{"type":"result","status":"success","stats":{}}`, []string{"s called", "Done.", `f {"a":1} exec_error no`}},
		"opencode": {`{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"f","callID":"1","state":{"status":"completed","input":{"a":1},"output":"five"}}}
			{"type":"text","sessionID":"s","part":{"type":"text","text":"Done."}}
			{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"stop"}}`, []string{"s called", "Done.", `f {"a":1} ok "five"`}},
		"autogen": {`{"source":"user","content":"go","type":"TextMessage","models_usage":null}
			{"source":"a","content":[{"id":"1","name":"f","arguments":"{}"}],"type":"ToolCallRequestEvent"}
			{"source":"a","content":[{"call_id":"1","name":"f","content":"no","is_error":true}],"type":"ToolCallExecutionEvent"}
			{"source":"a","content":"Done.","type":"TextMessage"}`, []string{"task-1 called", "Done.", "f {} exec_error no"}},
		"smolagents": {
			`[{"task":"go","task_images":null},{"step_number":1,"model_output":"x","tool_calls":[{"id":"1","function":{"name":"f","arguments":{}}}],"error":{"message":"no"}},
			{"step_number":2,"model_output":"x","tool_calls":[{"id":"2","function":{"name":"final_answer","arguments":{"answer":"Done."}}}],"observations":"Done.","action_output":"Done.","is_final_answer":true}]`,
			[]string{"task-1 called", "Done.", "f {} exec_error no", `final_answer {"answer":"Done."} ok "Done."`},
		},
		"vscode-copilot": {`{"responderUsername":"x","sessionId":"s","requests":[{"message":{"text":"go"},"response":[{"value":"Hm."},{"kind":"toolInvocationSerialized","toolCallId":"1"},{"value":"Done."}],
			"result":{"metadata":{"toolCallRounds":[{"response":"Hm.","toolCalls":[{"id":"1","name":"f","arguments":"{}"}]}],"toolCallResults":{"1":{"content":[{"value":"five"}]}}}}}]}`, []string{"s called", "Done.", `f {} ok "five"`}},
		"openai-run-steps": {
			`{"object":"list","data":[{"object":"thread.run.step","run_id":"r","step_details":{"type":"tool_calls","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}","output":"five"}}]}}]}`,
			[]string{"r called", "", `f {} ok "five"`},
		},
		"openai-run-steps without a call": {`{"object":"list","data":[{"object":"thread.run.step","run_id":"r","step_details":{"type":"message_creation"}}]}`, []string{"r error malformed", ""}},
		"pydantic-ai": {`[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"go"}]},
			{"kind":"response","finish_reason":"tool_call","parts":[{"part_kind":"tool-call","tool_name":"f","args":"{}","tool_call_id":"1"}]},
			{"kind":"request","parts":[{"part_kind":"retry-prompt","tool_name":"f","content":"no","tool_call_id":"1"}]},
			{"kind":"response","finish_reason":"stop","parts":[{"part_kind":"text","content":"Done."}]}]`, []string{"task-1 called", "Done.", "f {} exec_error no"}},
		"pydantic-ai without an answer": {`[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"go"}]},{"kind":"response","finish_reason":"length","parts":[]}]`, []string{"task-1 unparseable token_limit", ""}},
		"gemini":                        {`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"finishReason":"STOP"}]}`, []string{"task-1 called", "", `f {"a":1}`}},
		"gemini without a candidate":    {`{"candidates":[],"responseId":"r"}`, []string{"r error malformed", ""}},
		"gemini with two candidates": {
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"No."}]},"finishReason":"STOP"},
			{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},"finishReason":"STOP"}]}`,
			[]string{"task-1 error malformed", "No."},
		},
		"openai-chat without a choice": {`{"id":"r","choices":[]}`, []string{"r error malformed", ""}},
		"openai-chat with two choices": {
			`{"id":"r","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"No."}},
			{"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`,
			[]string{"r error malformed", "No."},
		},
		"batch of OpenAI without a choice": {
			`{"custom_id":"c","response":{"status_code":200,"body":{"id":"x","choices":[]}},"error":null}`,
			[]string{"c error malformed", ""},
		},
		"gemini that was blocked": {
			`{"promptFeedback":{"blockReason":"SAFETY"}}`,
			[]string{"task-1 error content_filter", ""},
		},
		"gemini with its request": {`{"request":{"contents":[{"role":"user","parts":[{"text":"go"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"Done."}]},"finishReason":"STOP"}]}}`, []string{"task-1 abstained", "Done."}},
		"bedrock-converse":        {`{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]}},"stopReason":"tool_use"}`, []string{"task-1 called", "", "f {}"}},
		"batch of Anthropic":      {`{"custom_id":"c","result":{"type":"succeeded","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}}`, []string{"c abstained", "Done."}},
		"batch that failed": {
			`{"custom_id":"c","result":{"type":"expired"}}`,
			[]string{"c error server", ""},
		},
		"batch of OpenAI": {`{"id":"b","custom_id":"c","response":{"status_code":200,"body":{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"Do"}}]}},"error":null}`, []string{"c unparseable token_limit", "Do"}},
		"OpenAI Agents, an empty question": {`[{"type":"message","role":"user","content":[]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"five"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]`, []string{"task-1 called", "Done.", `f {} ok "five"`}},
		"the answer after a result in one message": {
			`[{"role":"user","content":"go"},{"role":"assistant","content":"Done.","parts":[{"type":"text","text":"Hm."},{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"1","toolName":"f","args":{},"result":"five"}},{"type":"text","text":"Done."}]}]`,
			[]string{"task-1 called", "Done.", `f {} ok "five"`},
		},
	} {
		as, r, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 || r.Log.Bad > 0 {
			t.Errorf("%s: %d attempts, %v, %+v", name, len(as), err, r.Log)
			continue
		}
		tr := &as[0].Trace
		got := []string{tr.CaseID + " " + ending(tr), tr.Answer}
		for _, call := range tr.Calls() {
			got = append(got,
				strings.TrimSpace(strings.Join([]string{
					call.Tool, string(call.Args), string(call.Status),
					call.Error + string(call.Result),
				}, " ")))
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
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
		as, _, err := importText(c.in, Options{})
		if err != nil || len(as) != 1 {
			t.Errorf("%s: %d attempts, %v", name, len(as), err)
			continue
		}
		tr := &as[0].Trace
		tr.Notes = nil
		got := []string{ending(tr), tr.Answer}
		for _, call := range tr.Calls() {
			got = append(got,
				strings.TrimSpace(strings.Join([]string{
					call.Tool, string(call.Args), string(call.Status),
					call.Error + string(call.Result),
				}, " ")))
		}
		if d := gocmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
