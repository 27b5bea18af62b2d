// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// tell writes the turns read from a record: texts in quotes, calls with id and arguments, results
// of tools after an arrow, or the fault.
func tell(resp *callvet.Response, err error) string {
	var f *callvet.Fault
	if errors.As(err, &f) {
		return string(f.Kind) + ": " + f.Message
	}
	var words []string
	for _, t := range resp.Turns {
		if t.Role == callvet.RoleTool {
			words = append(words, fmt.Sprintf("-> %s", t.Content))
			continue
		}
		if t.Content != "" || len(t.Calls) == 0 {
			words = append(words, fmt.Sprintf("%q", t.Content))
		}
		for _, c := range t.Calls {
			args := string(c.Args)
			if c.Args == nil {
				args = "?" + c.ArgsRaw
			}
			if c.Error != "" {
				args += "!" + c.Error
			}
			words = append(words, c.Tool+"#"+c.ID+args)
		}
	}
	return strings.Join(words, " ")
}

// forms are the forms of a call in an answer, alone, in a list and below a member, with the one
// call that each contains.
var forms = map[string]string{
	`{"id":"1","type":"function","function":{"name":"del","arguments":"{\"a\":1}"}}`:                          `del#1{"a":1}`,
	`{"type":"tool_use","id":"1","name":"del","input":{"a":1}}`:                                               `del#1{"a":1}`,
	`{"type":"function_call","call_id":"1","name":"del","arguments":"{\"a\":1}"}`:                             `del#1{"a":1}`,
	`{"type":"tool-call","toolCallId":"1","toolName":"del","input":{"a":1}}`:                                  `del#1{"a":1}`,
	`{"functionCall":{"name":"del","args":{"a":1}}}`:                                                          `del#{"a":1}`,
	`{"functionCall":{"id":"1","name":"del","args":{"a":1}},"thoughtSignature":"x"}`:                          `del#1{"a":1}`,
	`{"toolUse":{"toolUseId":"1","name":"del","input":{"a":1}}}`:                                              `del#1{"a":1}`,
	`{"name":"del","arguments":{"a":1}}`:                                                                      `del#{"a":1}`,
	`{"name":"del","arguments":"{\"a\":1}"}`:                                                                  `del#{"a":1}`,
	`{"tool":"del","args":{"a":1}}`:                                                                           `del#{"a":1}`,
	`{"function_call":{"name":"del","arguments":"{\"a\":1}"}}`:                                                `del#{"a":1}`,
	`{"role":"assistant","content":null,"function_call":{"name":"del","arguments":{"a":1}}}`:                  `del#{"a":1}`,
	`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`:            `del#1{"a":1}`,
	`{"tool_calls":[{"id":"1","function":{"name":"del","arguments":{"a":1}}}]}`:                               `del#1{"a":1}`,
	`{"content":[{"type":"tool_use","id":"1","name":"del","input":{"a":1}}]}`:                                 `del#1{"a":1}`,
	`{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}]}`:                                              `del#{"a":1}`,
	`{"role":"model","parts":[{"functionCall":{"name":"del","args":{"a":1}}}]}`:                               `del#{"a":1}`,
	`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"del","args":{"a":1}}}],"role":"model"}}]}`:  `del#{"a":1}`,
	`{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{\"a\":1}"}}]}}]}`: `del#1{"a":1}`,
}

// TestCallsAreRead: a call in any form is read wherever an answer may be, and where it cannot be
// read the record is malformed; it is never an answer without a call.
func TestCallsAreRead(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	for form, want := range forms {
		for _, record := range []string{
			`{"case_id":"c","output":` + form + `}`,
			`{"case_id":"c","output":[` + form + `]}`,
			`{"case_id":"c","response":` + form + `}`,
			`{"case_id":"c","message":` + form + `}`,
			`{"promptIdx":0,"response":{"output":` + form + `}}`,
			`{"promptIdx":0,"response":{"output":[` + form + `]}}`,
			`{"promptIdx":0,"response":{"output":` + quote(form) + `}}`,
			`{"promptIdx":0,"response":{"output":` + quote("["+form+"]") + `}}`,
			`[` + form + `]`,
			form,
		} {
			v, err := value.Parse([]byte(record))
			if err != nil {
				t.Fatal(record, err)
			}
			if d := cmp.Diff(want, tell(Decode(v, Options{Tools: tools}))); d != "" {
				t.Errorf("%s: %s", record, d)
			}
		}
	}
}

func quote(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// TestRecords: what was answered, what was called, and what cannot be known.
func TestRecords(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	for record, want := range map[string]string{
		// Nothing that is no answer is one without calls.
		`{"output":{}}`:                  `malformed: {} is not an answer`,
		`{"output":123}`:                 `malformed: 123 is not an answer`,
		`{"output":true}`:                `malformed: true is not an answer`,
		`{"output":{"tool":"a"}}`:        `malformed: {"tool":"a"} is not an answer`,
		`{"output":[{}]}`:                `malformed: {} is no part of an answer`,
		`{"output":[1]}`:                 `malformed: 1 is no part of an answer`,
		`{"output":[{"tool":"a"}]}`:      `malformed: {"tool":"a"} is no part of an answer`,
		`{"output":null}`:                `malformed: no text and no calls in the record`,
		`{"calls":[{}]}`:                 `#?{}`,
		`{"calls":[{"functionCall":1}]}`: `#?{"functionCall":1}`,
		`{"calls":7}`:                    `malformed: 7 stands where a call is due and is none`,
		`{}`:                             `malformed: no text and no calls in the record`,
		`{"tool":"a"}`:                   `malformed: no text and no calls in the record`,
		`{"promptIdx":0,"response":{"output":{}}}`:                                          `malformed: {} is not an answer`,
		`{"output":[{"type":"web_search_call","status":"completed"}]}`:                      `web_search#{}`,
		`{"text":"Done.","stages":[{"did":[{"toolName":"del","input":{}}]}]}`:               `malformed: the record holds a call in a form that is not known`,
		`{"text":"Done.","trace":{"events":[{"type":"tool_use","name":"del","input":{}}]}}`: `malformed: the record holds a call in a form that is not known`,

		// What has a name is not always a call.
		`{"output":[{"type":"response_metadata","name":"del"},{"type":"text","text":"No."}]}`:                     `"No."`,
		`{"output":"No.","tools":[{"type":"function","function":{"name":"del","parameters":{"properties":{}}}}]}`: `"No."`,
		`{"output":"No.","input":[{"role":"assistant","tool_calls":[{"function":{"name":"del"}}]}]}`:              `"No."`,
		`{"name":"my case","input":"Hello","output":"Hi."}`:                                                       `"Hi."`,
		`{"choices":[{"message":{"content":"No.","function_call":{"name":"","arguments":""}}}]}`:                  `"No."`,
		`{"choices":[{"message":{"content":"No.","function_call":{},"tool_calls":[]}}]}`:                          `"No."`,

		// An answer without a call.
		`{"output":[]}`:             `""`,
		`{"calls":[]}`:              `""`,
		`{"output":""}`:             `""`,
		`{"output":{"text":"No."}}`: `"No."`,
		`{"output":{"role":"assistant","content":"No."}}`: `"No."`,
		`{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}]},{"type":"message","content":[{"type":"output_text","text":"No."}]}]}`: `"No."`,
		`{"candidates":[{"content":{"parts":[{"text":"No."}]},"finishReason":"STOP"}]}`:                                                                       `"No."`,
		`{"candidates":[]}`: `malformed: a list of candidates without one`,

		// Calls with their results.
		`{"output":[{"type":"function_call","call_id":"1","name":"del","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"gone"},{"type":"message","content":[{"type":"output_text","text":"Done."}]}]}`: `del#1{} -> gone "Done."`,
		`{"parts":[{"functionCall":{"name":"del","args":{}}},{"functionResponse":{"name":"del","response":{"ok":true}}},{"text":"Done."}]}`:                                                                                    `del#{} -> {"ok":true} "Done."`,
		`{"parts":[{"text":"think","thought":true},{"text":"No."}]}`: `"No."`,
		`{"output":[{"del":{"a":1}}]}`:                               `del#{"a":1}`,
		`{"output":[{"other":{"a":1}}]}`:                             `malformed: {"other":{"a":1}} is no part of an answer`,
		`{"calls":["del",{"other":{}}]}`:                             `del#? other#{}`,

		// The AI SDK: its result, its messages, those of its user interface.
		`{"text":"Done.","steps":[{"text":"","content":[{"type":"tool-call","toolCallId":"1","toolName":"del","input":{}},{"type":"tool-call","toolCallId":"2","toolName":"del","input":{"b":1}},{"type":"tool-result","toolCallId":"2","toolName":"del","input":{"b":1},"output":7},{"type":"tool-error","toolCallId":"1","toolName":"del","input":{},"error":{}}],"finishReason":"tool-calls"},{"text":"Done.","content":[{"type":"text","text":"Done."}],"finishReason":"stop"}]}`: `del#1{}!the tool answered with an error del#2{"b":1} -> 7 -> the tool answered with an error "Done."`,
		`{"text":"Done.","steps":[{"text":"","toolCalls":[{"toolCallId":"1","toolName":"del","args":{}}],"toolResults":[{"toolCallId":"1","toolName":"del","args":{},"result":"gone"}]}]}`:                                        `del#1{} -> gone "Done."`,
		`{"text":"Done.","toolCalls":[{"toolCallId":"1","toolName":"del","input":{}}],"toolResults":[{"toolCallId":"1","toolName":"del","input":{},"output":{"n":1}}]}`:                                                           `del#1{} -> {"n":1} "Done."`,
		`[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"del","input":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","output":{"type":"error-text","value":"taken"}}]}]`: `del#1{}!taken -> taken`,
		`[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","toolName":"del","input":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","output":{"type":"json","value":{"n":1}}}]}]`:       `del#1{} -> {"n":1}`,
		`{"role":"assistant","parts":[{"type":"step-start"},{"type":"tool-del","toolCallId":"1","state":"output-error","input":{},"errorText":"taken"},{"type":"step-start"},{"type":"text","text":"Sorry."}]}`:                   `del#1{}!taken -> taken "Sorry."`,
		`{"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"del","toolCallId":"1","state":"output-available","input":{},"output":7},{"type":"text","text":"Done."}]}`:                                                `del#1{} -> 7 "Done."`,
		`{"role":"assistant","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"1","toolName":"del","args":{},"result":7}}]}`:                                                                    `del#1{} -> 7`,

		// LangChain's messages, as they are, as a dictionary and in envelopes.
		`{"messages":[{"type":"human","content":"Delete."},{"type":"ai","content":"","tool_calls":[{"name":"del","args":{},"id":"1","type":"tool_call"}]},{"type":"tool","content":"taken","tool_call_id":"1","status":"error"},{"type":"ai","content":"Sorry."}]}`:                                `del#1{}!taken -> taken "Sorry."`,
		`[{"type":"human","data":{"content":"Delete."}},{"type":"ai","data":{"content":"","tool_calls":[{"name":"del","args":{},"id":"1"}]}}]`:                                                                                                                                                     `del#1{}`,
		`{"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"Delete."}},{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessageChunk"],"kwargs":{"content":"","tool_calls":[{"name":"del","args":{},"id":"1"}]}}]}`: `del#1{}`,
		`{"messages":[{"type":"ai","content":"","tool_calls":[],"invalid_tool_calls":[{"name":"del","args":"{\"a\": ","id":"1","error":"cut"}]}]}`:                                                                                                                                                 "del#1?{\"a\": ",

		// Its AgentExecutor, and LangServe's envelope.
		`{"input":"x","output":"Done.","intermediate_steps":[[{"tool":"del","tool_input":{"a":1},"log":"","tool_call_id":"1"},"gone"]]}`: `del#1{"a":1} -> gone "Done."`,
		`{"output":"Done.","intermediateSteps":[{"action":{"tool":"del","toolInput":{},"log":""},"observation":"gone"}]}`:                `del#{} -> gone "Done."`,
		`{"output":"No.","intermediate_steps":[]}`:                     `"No."`,
		`{"output":"Done.","intermediate_steps":[["?","gone"],[1,2]]}`: `?#? -> gone #?1 -> 2 "Done."`,
		`{"output":{"messages":[{"type":"human","content":"Delete."},{"type":"ai","content":"","tool_calls":[{"name":"del","args":{},"id":"1"}]}]},"metadata":{"run_id":"r"}}`:                                                                                          `del#1{}`,
		`[{"content":{"parts":[{"functionCall":{"id":"1","name":"del","args":{}}}],"role":"model"}},{"content":{"parts":[{"functionResponse":{"id":"1","name":"del","response":{"ok":true}}}],"role":"user"}},{"content":{"parts":[{"text":"Done."}],"role":"model"}}]`: `del#1{} -> {"ok":true} "Done."`,

		// Roles, and results that begin like an error.
		`[{"role":"assistant","content":"No."},{"role":"error","content":"[API Error 400]"}]`:                                                                                                      `"No."`,
		`[{"role":"error","content":"[API Error 400]"}]`:                                                                                                                                           `malformed: the messages hold no answer`,
		`{"output":{"role":"critic","content":"bad"}}`:                                                                                                                                             `malformed: a message of the unknown role "critic" is not an answer`,
		`[{"role":"info","content":"","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]},{"role":"assistant","content":"No."}]`:                                                 `malformed: a message of the unknown role "info" holds a call`,
		`[{"role":"CHATBOT","content":"","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]},{"role":"ipython","content":"gone"}]`:                                               `del#1{} -> gone`,
		`[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"Error: taken"}]`:                     `del#1{}!Error: taken -> Error: taken`,
		`[{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","status":"success","content":"Error: a word"}]`: `del#1{} -> Error: a word`,
		`{"calls":[{"name":"del","args":{},"result":"Error: taken"}]}`:                                                                                                                             `del#{}!Error: taken -> Error: taken`,
		`{"calls":[{"name":"del","args":{},"result":"Error: a word","status":"ok"}]}`:                                                                                                              `del#{} -> Error: a word`,

		// A call in an unknown form, and a result without its call.
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"a"},{"role":"tool","tool_call_id":"1","content":"b"}]}`: `malformed: the record holds two results of one call`,
		`{"messages":[{"type":"ai","content":"","zz":[{"name":"del","args":{},"id":"1"}]},{"type":"tool","content":"gone","tool_call_id":"1"},{"type":"ai","content":"Done."}]}`:                                     `malformed: a message holds a call in a form that is not known`,
		`{"messages":[{"type":"ai","content":"Done.","additional_kwargs":{"tool_calls":[{"id":"1","function":{"name":"del","arguments":"{}"}}]}}]}`:                                                                  `"Done." del#1{}`,
		`{"messages":[{"zz":"ai","content":"Done."}]}`:   `malformed: {"zz":"ai","content":"Done."} is no part of an answer`,
		`{"messages":[{"type":"zz","content":"Done."}]}`: `malformed: the messages hold no answer`,
		`[{"role":"user","content":"Delete."},{"type":"function_call","callId":"1","arguments":"{}"},{"role":"assistant","content":"Done."}]`: `#1?{"type":"function_call","callId":"1","arguments":"{}"} "Done."`,
		`[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"1","input":{}},{"type":"text","text":"Done."}]}]`:                  `"Done." #1?{"type":"tool-call","toolCallId":"1","input":{}}`,

		// One call is read, and another one is somewhere else.
		`{"message":"Done.","toolCalls":[{"id":"1","name":"ping","args":{}}],"trace":{"events":[{"type":"tool_use","id":"2","name":"del","input":{}}]}}`: `malformed: the record holds a call in a form that is not known`,
		`{"message":"Done.","toolCalls":[{"id":"1","name":"del","args":{}}],"trace":{"events":[{"type":"tool_use","id":"1","name":"del","input":{}}]}}`:  `"Done." del#1{}`,

		// The OpenAI Agents SDK: items, a history, the output of a run.
		`{"finalOutput":"Done.","newItems":[{"type":"tool_call_item","rawItem":{"type":"function_call","id":"fc","callId":"1","name":"del","arguments":"{}"}},{"type":"tool_call_output_item","rawItem":{"type":"function_call_result","callId":"1","output":{"type":"text","text":"gone"}}},{"type":"message_output_item","rawItem":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}]}`: `del#1{} -> gone "Done."`,
		`[{"role":"user","content":"Delete."},{"type":"function_call","callId":"1","name":"del","arguments":"{}"},{"type":"function_call_result","callId":"1","output":{"type":"text","text":"An error occurred while running the tool. Please try again."}}]`:                                                                                                                                                                   `del#1{}!An error occurred while running the tool. Please try again. -> An error occurred while running the tool. Please try again.`,
		`{"output":[{"type":"function_call","id":"fc","callId":"1","name":"del","arguments":"{}"}],"finalOutput":"Done."}`: `del#1{}`,

		// Agent2Agent: texts, calls as data, and tasks that are not over.
		`{"jsonrpc":"2.0","id":"1","result":{"message":{"role":"ROLE_AGENT","parts":[{"text":"No."}]}}}`: `"No."`,
		`{"jsonrpc":"2.0","id":"1","result":{"kind":"task","status":{"state":"completed"},"artifacts":[{"parts":[{"kind":"data","data":{"id":"1","name":"del","args":{}}},{"kind":"data","data":{"id":"1","name":"del","response":{"ok":true}}},{"kind":"text","text":"Done."}]}]}}`: `del#1{} -> {"ok":true} "Done."`,
		`{"jsonrpc":"2.0","id":"1","result":{"kind":"task","status":{"state":"working"}}}`:                                              `malformed: the task is not over: its state is working`,
		`{"jsonrpc":"2.0","id":"1","result":{"task":{"status":{"state":"TASK_STATE_FAILED","message":{"parts":[{"text":"broken"}]}}}}}`: `server: the task is failed: broken`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"Method not found"}}`:                                               `request: Method not found`,
		`{"jsonrpc":"2.0","id":"1","result":{"message":{"parts":[{"data":{"steps":[{"toolName":"del"}]}}]}}}`:                           `malformed: {"data":{"steps":[{"toolName":"del"}]}} holds a call in a form that is not known`,
	} {
		v, err := value.Parse([]byte(record))
		if err != nil {
			t.Fatal(record, err)
		}
		if d := cmp.Diff(want, tell(Decode(v, Options{Tools: tools}))); d != "" {
			t.Errorf("%s: %s", record, d)
		}
	}
}

// TestFormatsPage: every form in docs/reference/formats.md is read as that page describes.
func TestFormatsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(page), "## Answers")
	rows, _, _ = strings.Cut(rows, "## Files")
	tools := callvet.NewToolset([]callvet.Tool{{Name: "del"}})
	n := 0
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 || !strings.HasPrefix(cells[2], " `{") {
			continue
		}
		n++
		example, _, _ := strings.Cut(strings.TrimPrefix(cells[2], " `"), "`")
		v, err := value.Parse([]byte(`{"id":"c",` + example[1:]))
		if err != nil {
			t.Fatal(example, err)
		}
		resp, err := Decode(v,
			Options{Tools: tools, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Delete."}}})
		if err != nil || len(resp.Turns) != 1 || len(resp.Turns[0].Calls) != 1 ||
			resp.Turns[0].Calls[0].Tool != "del" ||
			strings.ReplaceAll(string(resp.Turns[0].Calls[0].Args), " ", "") != `{"a":1}` {
			t.Errorf("%s: %v %s", example, err, tell(resp, err))
		}
	}
	if n != 21 {
		t.Errorf("%d forms are listed", n)
	}
}
