// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TestNoCallIsMissed: every one of these contains a call, in forms that are read, in similar forms
// and in forms that no program writes. Wherever the call is, it is read or the record is malformed;
// it is never an answer without a call.
func TestNoCallIsMissed(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	for _, held := range holding() {
		for _, place := range places() {
			record := strings.Replace(strings.Replace(place, "%s", held, 1), "%q", quote(held), 1)
			v, err := value.Parse([]byte(record))
			if err != nil {
				t.Fatal(record, err)
			}
			resp, err := Decode(v, Options{Tools: tools})
			if err == nil && !resp.Unreadable && !called(resp.Turns) && !resp.LostCall() {
				t.Errorf("%s: no call: %s", record, tell(resp, err))
			}
		}
	}
}

// places are where a call may be in a record, as a value or as the text of it.
func places() []string {
	return []string{
		`%s`,
		`[%s]`,
		`{"case_id":"c","output":%s}`,
		`{"case_id":"c","output":[%s]}`,
		`{"case_id":"c","response":%s}`,
		`{"case_id":"c","response":{"body":%s}}`,
		`{"case_id":"c","message":%s}`,
		`{"case_id":"c","content":%s}`,
		`{"case_id":"c","content":[%s]}`,
		`{"case_id":"c","answer":%s}`,
		`{"case_id":"c","result":%s}`,
		`{"case_id":"c","data":%s}`,
		`{"case_id":"c","output":[[%s]]}`,
		`{"case_id":"c","output":{"data":%s}}`,
		`{"case_id":"c","output":{"output":%s}}`,
		`{"case_id":"c","text":"x","raw":%s}`,
		`{"case_id":"c","text":"x","extra":[%s]}`,
		`{"case_id":"c","output":[{"type":"text","text":"x"},%s]}`,
		`{"case_id":"c","output":["x",%s]}`,
		`{"case_id":"c","output":%q}`,
		`{"case_id":"c","text":%q}`,
		`{"case_id":"c","response":%q}`,
		`{"case_id":"c","text":"x","raw":%q}`,
		`{"promptIdx":0,"response":{"output":%s}}`,
		`{"promptIdx":0,"response":{"output":%q}}`,
		`{"promptIdx":0,"response":{"output":"x","raw":%s}}`,
		`{"promptIdx":0,"response":{"output":{"content":%s}}}`,
		`{"case_id":"c","messages":[{"role":"user","content":"q"},%s]}`,
		`{"case_id":"c","messages":[{"role":"user","content":"q"},{"role":"assistant","content":[%s]}]}`,
		`{"case_id":"c","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"x"},%s]}`,
		`{"case_id":"c","choices":[{"message":{"role":"assistant","content":[%s]}}]}`,
		`{"case_id":"c","calls":%s}`,
		`{"case_id":"c","calls":[%s],"text":"x"}`,
		`{"case_id":"c","id":"c","result":[%s]}`,
		`{"jsonrpc":"2.0","result":{"message":{"parts":[{"data":%s}]}}}`,
		`{"jsonrpc":"2.0","result":{"message":{"parts":[{"text":"x"},%s]}}}`,
	}
}

func holding() []string {
	return []string{
		`{"id":"1","type":"function","function":{"name":"del","arguments":"{\"a\":1}"}}`,
		`{"id":"1","function":{"name":"del","arguments":{"a":1}}}`,
		`{"type":"tool_use","id":"1","name":"del","input":{"a":1}}`,
		`{"type":"tool_use","id":"1","name":"del"}`,
		`{"type":"toolUse","id":"1","name":"del","input":{"a":1}}`,
		`{"type":"toolCall","id":"1","name":"del","arguments":{"a":1}}`,
		`{"type":"functionCall","id":"1","name":"del","arguments":{"a":1}}`,
		`{"type":"function_call","call_id":"1","name":"del","arguments":"{\"a\":1}"}`,
		`{"type":"custom_tool_call","call_id":"1","name":"del","input":"x"}`,
		`{"type":"mcp_call","id":"1","name":"del","arguments":"{}","server_label":"s","output":"ok"}`,
		`{"type":"mcp_approval_request","id":"1","name":"del","arguments":"{}","server_label":"s"}`,
		`{"type":"web_search_call","id":"1","status":"completed","action":{"type":"search","query":"x"}}`,
		`{"type":"code_interpreter_call","id":"1","code":"x","container_id":"c"}`,
		`{"type":"local_shell_call","id":"1","call_id":"c","action":{"type":"exec","command":["rm"]}}`,
		`{"type":"shell_call","id":"1","call_id":"c","action":{"commands":["rm"]}}`,
		`{"type":"apply_patch_call","id":"1","call_id":"c","operation":{"type":"delete_file","path":"x"}}`,
		`{"type":"computer_call","id":"1","call_id":"c","action":{"type":"click","x":1}}`,
		`{"type":"file_search_call","id":"1","queries":["q"]}`,
		`{"type":"image_generation_call","id":"1","result":"x"}`,
		`{"type":"server_tool_use","id":"1","name":"web_search","input":{"query":"x"}}`,
		`{"type":"mcp_tool_use","id":"1","name":"del","input":{},"server_name":"s"}`,
		`{"type":"tool-call","toolCallId":"1","toolName":"del","input":{"a":1}}`,
		`{"type":"tool_call","id":"1","name":"del","args":{"a":1}}`,
		`{"type":"tool_call","function":{"name":"del","arguments":"{}"}}`,
		`{"type":"tool_call","tool_call":{"name":"del","arguments":"{}"}}`,
		`{"type":"toolCall","toolCall":{"name":"del","arguments":"{}"}}`,
		`{"functionCall":{"name":"del","args":{"a":1}}}`,
		`{"functionCall":{"name":"del"}}`,
		`{"function_call":{"name":"del","args":{"a":1}}}`,
		`{"function-call":{"name":"del","args":{"a":1}}}`,
		`{"FunctionCall":{"name":"del","args":{"a":1}}}`,
		`{"toolUse":{"toolUseId":"1","name":"del","input":{"a":1}}}`,
		`{"tool_use":{"toolUseId":"1","name":"del","input":{"a":1}}}`,
		`{"toolCall":{"name":"del","args":{"a":1}}}`,
		`{"tool_call":{"name":"del","args":{"a":1}}}`,
		`{"executableCode":{"language":"PYTHON","code":"del()"}}`,
		`{"name":"del","arguments":{"a":1}}`,
		`{"name":"del","arguments":"{\"a\":1}"}`,
		`{"name":"del","arguments":null}`,
		`{"name":"del","kwargs":{"a":1}}`,
		`{"name":"del","argument":{"a":1}}`,
		`{"name":"del","input":{"a":1}}`,
		`{"name":"del","parameters":{"a":1}}`,
		`{"Name":"del","Arguments":{"a":1}}`,
		`{"tool":"del","args":{"a":1}}`,
		`{"tool":"del","input":{"a":1}}`,
		`{"tool":{"name":"del"},"args":{"a":1}}`,
		`{"tool":"del"}`,
		`{"action":"del","action_input":{"a":1}}`,
		`{"recipient_name":"functions.del","parameters":{"a":1}}`,
		`{"tool_name":"del","tool_args":{"a":1}}`,
		`{"tool_name":"del","parameters":{"a":1}}`,
		`{"toolName":"del","args":{"a":1}}`,
		`{"function":"del","arguments":{"a":1}}`,
		`{"name":7,"arguments":{"a":1}}`,
		`{"name":null,"arguments":{"a":1}}`,
		`{"name":"","arguments":{"a":1}}`,
		`{"type":"function_call","name":null,"arguments":"{}"}`,
		`{"type":"function","function":{"name":null,"arguments":"{}"}}`,
		`{"name":"löschen","arguments":{"a":1}}`,
		`{"del":{"a":1}}`,
		`{"role":"assistant","content":null,"function_call":{"name":"del","arguments":{"a":1}}}`,
		`{"role":"assistant","content":"x","functionCall":{"name":"del","args":{"a":1}}}`,
		`{"role":"assistant","content":"","tool_calls":{"id":"1","function":{"name":"del","arguments":{"a":1}}}}`,
		`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`,
		`{"role":"assistant","content":"","tool_calls":"[{\"id\":\"1\",\"function\":{\"name\":\"del\",\"arguments\":{}}}]"}`,
		`{"role":"assistant","content":"","toolCalls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`,
		`{"role":"assistant","content":"x","tool-calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`,
		`{"role":"assistant","content":"x","ToolCalls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`,
		`{"role":"assistant","content":"x","toolUses":[{"id":"1","name":"del","arguments":{"a":1}}]}`,
		`{"role":"assistant","content":"x","actions":[{"id":"1","name":"del","arguments":{"a":1}}]}`,
		`{"role":"assistant","content":"x","toolInvocations":[{"state":"call","toolCallId":"1","toolName":"del","args":{}}]}`,
		`{"role":"assistant","content":"x","tool_calls":[],"additional_kwargs":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}}`,
		`{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"del","input":{}}]}`,
		`{"role":"assistant","content":[{"text":"x"},{"toolUse":{"toolUseId":"1","name":"del","input":{}}}]}`,
		`{"role":"assistant","content":"x","message":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}}`,
		`{"role":"assistant","content":[[{"type":"tool_use","id":"1","name":"del","input":{}}]]}`,
		`{"role":"assistant","content":"[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"del\",\"input\":{}}]"}`,
		`{"role":"assistant","content":"{\"tool_calls\":[{\"function\":{\"name\":\"del\",\"arguments\":\"{}\"}}]}"}`,
		`{"role":"assistant","content":{"type":"tool_use","id":"1","name":"del","input":{}}}`,
		`{"role":"assistant","tool_plan":"I will","tool_calls":[{"id":"1","type":"function","function":{"name":"del","arguments":"{}"}}]}`,
		`{"tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`,
		`{"tool_calls":[[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]]}`,
		`{"tool_calls":{"del":{"a":1}}}`,
		`{"tool_calls":"del(a=1)"}`,
		`{"tool_calls":[null]}`,
		`{"tool_calls":{"0":{"name":"del","arguments":{}}}}`,
		`{"text":"x","tool_call":{"name":"del","arguments":{}}}`,
		`{"text":"x","toolCall":{"name":"del","arguments":{}}}`,
		`{"text":"x","call":{"name":"del","arguments":{}}}`,
		`{"text":"x","functionCall":{"name":"del","args":{}}}`,
		`{"text":"x","tool":{"name":"del","arguments":{}}}`,
		`{"text":"x","tools_used":["del"]}`,
		`{"text":"x","tool_used":"del"}`,
		`{"text":"x","called_tools":["del"]}`,
		`{"text":"x","tools_called":["del"]}`,
		`{"text":"x","toolsUsed":[{"name":"del","args":{}}]}`,
		`{"text":"x","trajectory":[{"tool":"del","args":{}}]}`,
		`{"text":"x","actual_tools":["del"]}`,
		`{"text":"x","steps":[{"tool":"del","args":{}}]}`,
		`{"text":"x","steps":[{"action":"del","action_input":{}}]}`,
		`{"text":"x","events":[{"event":"tool_call","data":{"name":"del","args":{}}}]}`,
		`{"text":"x","function":{"name":"del","arguments":"{}"}}`,
		`{"text":"x","function":"del","arguments":{}}`,
		`{"text":"x","name":"del","arguments":{}}`,
		`{"text":"x","tool":"del","args":{}}`,
		`{"text":"x","tool_name":"del","tool_input":{}}`,
		`{"text":"x","data":{"tool_calls":[{"name":"del","arguments":{}}]}}`,
		`{"text":"x","data":{"toolCalls":[{"name":"del","arguments":{}}]}}`,
		`{"text":"x","data":{"name":"del","arguments":{}}}`,
		`{"text":"x","metadata":{"tool_calls":[{"name":"del","arguments":{}}]}}`,
		`{"text":"x","raw":"{\"tool_calls\":[{\"name\":\"del\",\"arguments\":{}}]}"}`,
		`{"text":"x","calls":[],"tool_calls":[{"name":"del","arguments":{}}]}`,
		`{"text":"x","tool_calls":[],"toolCalls":[{"name":"del","arguments":{}}]}`,
		`{"text":"x","tool_calls":null,"function_call":{"name":"del","arguments":"{}"}}`,
		`{"text":"x","TOOL_CALLS":[{"name":"del","arguments":{}}]}`,
		`{"text":"x","tool-calls":[{"name":"del","arguments":{}}]}`,
		`{"text":"x","ToolCalls":[{"Name":"del","Arguments":{}}]}`,
		`{"content":[{"type":"tool_use","id":"1","name":"del","input":{"a":1}}],"stop_reason":"tool_use"}`,
		`{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"del","input":{}}]}`,
		`{"content":[{"text":"x"},{"toolUse":{"toolUseId":"1","name":"del","input":{}}}]}`,
		`{"message":{"role":"assistant","content":[{"text":"x"},{"toolUse":{"toolUseId":"1","name":"del","input":{}}}]}}`,
		`{"output":{"message":{"role":"assistant","content":[{"text":"x"},{"toolUse":{"toolUseId":"1","name":"del","input":{}}}]}},"stopReason":"tool_use"}`,
		`{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}]}`,
		`{"parts":[{"text":"x"},{"function_call":{"name":"del","args":{"a":1}}}]}`,
		`{"content":{"role":"model","parts":[{"text":"x"},{"function_call":{"name":"del","args":{"a":1}}}]}}`,
		`{"candidates":[{"content":{"parts":[{"text":"x"},{"functionCall":{"name":"del","args":{"a":1}}}],"role":"model"}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"x"}]}},{"content":{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}],"role":"model"}}]}`,
		`[{"candidates":[{"content":{"parts":[{"text":"x"}]}}]},{"candidates":[{"content":{"parts":[{"functionCall":{"name":"del","args":{}}}]}}]}]`,
		`{"choices":[{"message":{"content":"x","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}}]}`,
		`{"choices":[{"message":{"content":"x"}},{"message":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{"content":"x"}},{"delta":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}}]}`,
		`{"choices":[{"text":"x","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}]}`,
		`{"choices":[{"finish_reason":"tool_calls","message":{"content":"x"}}]}`,
		`{"choices":[{"finish_reason":"function_call","message":{"content":"x"}}]}`,
		`{"content":[{"type":"text","text":"x"}],"stop_reason":"tool_use"}`,
		`{"content":[{"text":"x"}],"stopReason":"tool_use"}`,
		`{"message":{"role":"assistant","content":[{"type":"text","text":"x"}]},"finish_reason":"TOOL_CALL"}`,
		`{"text":"x","finish_reason":"tool_calls"}`,
		`{"text":"x","finishReason":"tool-calls"}`,
		`{"text":"x","finishReason":"toolUse"}`,
		`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"del","arguments":{}}}]},"done":true}`,
		`{"text":"x","tool_calls":[{"name":"del","parameters":{"a":1}}],"generation_id":"g"}`,
		`{"predictions":[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}],"role":"model"}}]}]}`,
		`{"generations":[[{"text":"","message":{"lc":1,"type":"constructor","id":["x","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"del","args":{},"id":"1"}]}}}]]}`,
		`{"type":"ai","content":"","additional_kwargs":{"function_call":{"name":"del","arguments":"{}"}}}`,
		`{"type":"AIMessage","content":"x","tool_calls":[],"invalid_tool_calls":[{"name":"del","args":"{","id":"1"}]}`,
		`"{\"name\":\"del\",\"arguments\":{\"a\":1}}"`,
		`"[{\"type\":\"function\",\"function\":{\"name\":\"del\",\"arguments\":\"{}\"}}]"`,
		`"{\"functionCall\":{\"name\":\"del\",\"args\":{}}}"`,
		`"{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"del\",\"input\":{}}"`,
		`"[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"del\",\"input\":{}}]"`,
		`"{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"del\",\"arguments\":\"{}\"}}]}"`,
		`"{\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"del\",\"arguments\":\"{}\"}}]}}]}"`,
		`"{\"tool_calls\":[{\"name\":\"del\",\"arguments\":{}}]}"`,
		`"{\"tool\":\"del\",\"args\":{}}"`,
		`"{\"output\":[{\"type\":\"function_call\",\"name\":\"del\",\"arguments\":\"{}\"}]}"`,
		`"{\"toolUse\":{\"name\":\"del\",\"input\":{}}}"`,
		`"{\"parts\":[{\"functionCall\":{\"name\":\"del\",\"args\":{}}}]}"`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"web_search_call","id":"1","status":"completed","action":{"type":"search","query":"q"}}]}`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"code_interpreter_call","id":"1","code":"x"}]}`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"some_new_call","name":"del","parameters_json":"{}"}]}`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"local_shell_call","call_id":"1","action":{"type":"exec","command":["rm"]}}]}`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"function_call","name":"","arguments":"{}","call_id":"1"}]}`,
		`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"tool_search_call","arguments":{},"call_id":"1"}]}`,
		`{"content":[{"type":"text","text":"x"},{"type":"server_tool_use","id":"1","name":"web_search","input":{"query":"x"}}]}`,
		`{"content":[{"type":"text","text":"x"},{"type":"unknown_tool_use","id":"1","name":"del","input":{"query":"x"}}]}`,
		`{"outputs":[{"type":"function.call","tool_call_id":"1","name":"del","arguments":"{}"}]}`,
		`{"outputs":[{"type":"tool.execution","name":"web_search","arguments":"{}"}],"text":"x"}`,
		`{"text":"x","thoughts":[{"type":"functionCall","name":"del"}]}`,
		`{"result":[{"del":{"a":1}}],"id":"c"}`,
		`{"result":"{\"del\":{\"a\":1}}","id":"c"}`,
		`{"result":{"tool_calls":[{"name":"del","arguments":{}}]},"id":"c"}`,
		`{"result":{"content":[{"type":"tool_use","id":"1","name":"del","input":{}}]},"id":"c"}`,
	}
}

// TestHostedTools: what a provider ran by itself is a call of the tool that its type names.
func TestHostedTools(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		`{"output":[{"type":"web_search_call","id":"w","status":"completed","action":{"query":"x"}},{"type":"message","content":[{"type":"output_text","text":"Done."}]}]}`: `"Done." web_search#w{"action":{"query":"x"}}`,
		`{"output":[{"type":"code_interpreter_call","id":"k","code":"1+1","outputs":[]}]}`:                                                                                  `code_interpreter#k{"code":"1+1"}`,
		`{"output":[{"type":"mcp_call","id":"m","name":"del","arguments":"{}","output":"gone"}]}`:                                                                           `del#m{} -> gone`,
		`{"output":[{"type":"custom_tool_call","call_id":"1","name":"del","input":"x"}]}`:                                                                                   `del#1"x"`,
		`{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}}]}`:                                                                       `web_search#s{"query":"x"}`,
		`{"parts":[{"executableCode":{"code":"1+1"}},{"codeExecutionResult":{"output":"2"}},{"text":"2"}]}`:                                                                 `"2" code_execution#{"code":"1+1"}`,
		`{"output":[{"type":"function_call","call_id":"1","arguments":"{}"}]}`:                                                                                              `#1?{"type":"function_call","call_id":"1","arguments":"{}"}`,
	} {
		v, err := value.Parse([]byte(record))
		if err != nil {
			t.Fatal(record, err)
		}
		if got := tell(Decode(v, Options{})); got != want {
			t.Errorf("%s:\n got %s\nwant %s", record, got, want)
		}
	}
}
