// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
)

// The same attempt in each protocol: a room is looked for on two floors at once, reserving it
// fails, and the assistant reports that.
var sameAttempt = strings.Join([]string{
	`assistant "" find_room{"floor":1}={"room":"A"} find_room{"floor":2}={"room":"B"}`,
	`tool "{\"room\":\"A\"}"`,
	`tool "{\"room\":\"B\"}"`,
	`assistant "" reserve{"room":"A"}=WHY`,
	`tool "WHY"`,
	`assistant "A and B are free, but I could not reserve A."`,
	"",
}, "\n")

const (
	firstAI = `{"type":"ai","id":"m1","content":"","tool_calls":[{"name":"find_room","args":{"floor":1},"id":"c1"},{"name":"find_room","args":{"floor":2},"id":"c2"}],"usage_metadata":{"input_tokens":10,"output_tokens":5}}`
	toolA   = `{"type":"tool","id":"t1","content":"{\"room\":\"A\"}","tool_call_id":"c1","name":"find_room","status":"success"}`
	toolB   = `{"type":"tool","id":"t2","content":"{\"room\":\"B\"}","tool_call_id":"c2","name":"find_room","status":"success"}`
	nextAI  = `{"type":"ai","id":"m2","content":"","tool_calls":[{"name":"reserve","args":{"room":"A"},"id":"c3"}],"usage_metadata":{"input_tokens":20,"output_tokens":5}}`
	toolC   = `{"type":"tool","id":"t3","content":"taken","tool_call_id":"c3","name":"reserve","status":"error"}`
	lastAI  = `{"type":"ai","id":"m3","content":"A and B are free, but I could not reserve A.","tool_calls":[],"usage_metadata":{"input_tokens":30,"output_tokens":5}}`

	chunk1a = `{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"index":0,"id":"c1","name":"find_room","args":"{\"floor\""}]}`
	chunk1b = `{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"index":0,"id":null,"name":null,"args":":1}"}]}`
	chunk1c = `{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"index":1,"id":"c2","name":"find_room","args":"{\"floor\":2}"}]}`
	chunk1d = `{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[],"usage_metadata":{"input_tokens":10,"output_tokens":5}}`
	chunk2a = `{"type":"AIMessageChunk","id":"m2","content":"","tool_call_chunks":[{"index":0,"id":"c3","name":"reserve","args":"{\"room\":\"A\"}"}]}`
	chunk2b = `{"type":"AIMessageChunk","id":"m2","content":"","tool_call_chunks":[],"usage_metadata":{"input_tokens":20,"output_tokens":5}}`
	chunk3a = `{"type":"AIMessageChunk","id":"m3","content":"A and B are free, ","tool_call_chunks":[]}`
	chunk3b = `{"type":"AIMessageChunk","id":"m3","content":"but I could not reserve A.","tool_call_chunks":[]}`
	chunk3c = `{"type":"AIMessageChunk","id":"m3","content":"","tool_call_chunks":[],"usage_metadata":{"input_tokens":30,"output_tokens":5}}`
)

func named(event string, data ...string) []string {
	for i := range data {
		data[i] = "event: " + event + "\ndata: " + data[i] + "\n\n"
	}
	return data
}

func unnamed(data ...string) []string {
	for i := range data {
		data[i] = "data: " + data[i] + "\n\n"
	}
	return data
}

func all(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func inNode(node string, messages ...string) string {
	return `{"` + node + `":{"messages":[` + strings.Join(messages, ",") + `]}}`
}

func state(messages ...string) string {
	return `{"messages":[` +
		strings.Join(append([]string{`{"type":"human","id":"h","content":"?"}`}, messages...), ",") + `]}`
}

func tuple(message string) string { return `[` + message + `,{"langgraph_node":"model"}]` }

func chunksOf(wrap func(string) string) []string {
	var out []string
	for _, m := range []string{
		chunk1a, chunk1b, chunk1c, chunk1d, toolA, toolB, chunk2a, chunk2b, toolC, chunk3a,
		chunk3b, chunk3c,
	} {
		out = append(out, wrap(m))
	}
	return out
}

func lc(class, kwargs string) string {
	return `{"lc":1,"type":"constructor","id":["langchain_core","messages","` + class + `"],"kwargs":` + kwargs + `}`
}

func item(name, raw string) string {
	return `{"type":"run_item_stream_event","name":"` + name + `","item":{"type":"x","rawItem":` + raw + `}}`
}

func raw(data string) string { return `{"type":"raw_model_stream_event","data":` + data + `}` }

func responseDone(id, input string, items ...string) string {
	return raw(`{"type":"response_done","response":{"id":"` + id + `","output":[` + strings.Join(items, ",") +
		`],"usage":{"inputTokens":` + input + `,"outputTokens":5}}}`)
}

const (
	itemA    = `{"type":"function_call","id":"fc1","callId":"c1","name":"find_room","arguments":"{\"floor\":1}"}`
	itemB    = `{"type":"function_call","id":"fc2","callId":"c2","name":"find_room","arguments":"{\"floor\":2}"}`
	itemC    = `{"type":"function_call","id":"fc3","callId":"c3","name":"reserve","arguments":"{\"room\":\"A\"}"}`
	resultA  = `{"type":"function_call_result","callId":"c1","name":"find_room","output":{"type":"text","text":"{\"room\":\"A\"}"}}`
	resultB  = `{"type":"function_call_result","callId":"c2","name":"find_room","output":{"type":"text","text":"{\"room\":\"B\"}"}}`
	resultC  = `{"type":"function_call_result","callId":"c3","name":"reserve","output":{"type":"text","text":"An error occurred while running the tool. Please try again."}}`
	itemText = `{"type":"message","id":"msg","role":"assistant","content":[{"type":"output_text","text":"A and B are free, but I could not reserve A."}]}`
)

// python spells an item of the OpenAI Agents SDK as its Python version does.
func python(s string) string {
	return strings.NewReplacer("rawItem", "raw_item", "callId", "call_id", "function_call_result",
		"function_call_output",
		`{"type":"text","text":"{\"room\":\"A\"}"}`, `"{\"room\":\"A\"}"`, `{"type":"text","text":"{\"room\":\"B\"}"}`,
		`"{\"room\":\"B\"}"`,
		`{"type":"text","text":"An error occurred while running the tool. Please try again."}`,
		`"An error occurred while running the tool. Please try again."`).Replace(s)
}

func usageOf(in, out int) callvet.Usage {
	return callvet.Usage{InputTokens: in, OutputTokens: out, Known: true}
}

type stated struct {
	events []string
	why    string // the error of the last call
	usage  callvet.Usage
	finish string
}

func protocolStreams() map[string]stated {
	return map[string]stated{
		"AI SDK, UI message stream": {unnamed(
			`{"type":"start"}`, `{"type":"start-step"}`,
			`{"type":"tool-input-start","toolCallId":"c1","toolName":"find_room"}`,
			`{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"floor\":"}`,
			`{"type":"tool-input-start","toolCallId":"c2","toolName":"find_room"}`,
			`{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"1}"}`,
			`{"type":"tool-input-available","toolCallId":"c1","toolName":"find_room","input":{"floor":1}}`,
			`{"type":"tool-input-available","toolCallId":"c2","toolName":"find_room","input":{"floor":2}}`,
			`{"type":"tool-output-available","toolCallId":"c1","output":{"room":"?"},"preliminary":true}`,
			`{"type":"tool-output-available","toolCallId":"c1","output":{"room":"A"}}`,
			`{"type":"tool-output-available","toolCallId":"c2","output":{"room":"B"}}`, `{"type":"finish-step"}`,
			`{"type":"start-step"}`, `{"type":"tool-input-start","toolCallId":"c3","toolName":"reserve"}`,
			`{"type":"tool-input-available","toolCallId":"c3","toolName":"reserve","input":{"room":"A"}}`,
			`{"type":"tool-output-error","toolCallId":"c3","errorText":"taken"}`, `{"type":"finish-step"}`,
			`{"type":"start-step"}`, `{"type":"text-start","id":"0"}`,
			`{"type":"text-delta","id":"0","delta":"A and B are free, "}`,
			`{"type":"text-delta","id":"0","delta":"but I could not reserve A."}`, `{"type":"text-end","id":"0"}`,
			`{"type":"finish-step"}`,
			`{"type":"finish","finishReason":"stop","messageMetadata":{"usage":{"inputTokens":60,"outputTokens":15}}}`,
			`[DONE]`,
		), "taken", usageOf(60, 15), "stop"},
		"AI SDK, parts of fullStream": {unnamed(
			`{"type":"start"}`, `{"type":"start-step","request":{}}`,
			`{"type":"tool-call","toolCallId":"c1","toolName":"find_room","input":{"floor":1}}`,
			`{"type":"tool-call","toolCallId":"c2","toolName":"find_room","input":{"floor":2}}`,
			`{"type":"tool-result","toolCallId":"c1","toolName":"find_room","input":{"floor":1},"output":{"room":"A"}}`,
			`{"type":"tool-result","toolCallId":"c2","toolName":"find_room","input":{"floor":2},"output":{"room":"B"}}`,
			`{"type":"finish-step","finishReason":"tool-calls","usage":{"inputTokens":10,"outputTokens":5}}`,
			`{"type":"start-step"}`,
			`{"type":"tool-call","toolCallId":"c3","toolName":"reserve","input":{"room":"A"}}`,
			`{"type":"tool-error","toolCallId":"c3","toolName":"reserve","input":{"room":"A"},"error":"taken"}`,
			`{"type":"finish-step","finishReason":"tool-calls"}`, `{"type":"start-step"}`,
			`{"type":"text-start","id":"0"}`,
			`{"type":"text-delta","id":"0","text":"A and B are free, but I could not reserve A."}`,
			`{"type":"finish","finishReason":"stop","totalUsage":{"inputTokens":60,"outputTokens":15}}`,
		), "taken", usageOf(60, 15), "stop"},
		"AG-UI": {unnamed(
			`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"find_room"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"floor\""}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":":1}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c2","toolCallName":"find_room","delta":"{\"floor\""}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c2","delta":":2}"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"t1","toolCallId":"c1","content":"{\"room\":\"A\"}"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"t2","toolCallId":"c2","content":"{\"room\":\"B\"}"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c3","toolCallName":"reserve"}`,
			`{"type":"TOOL_CALL_ARGS","toolCallId":"c3","delta":"{\"room\":\"A\"}"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"c3"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"t3","toolCallId":"c3","content":"Error: taken"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"A and B are free, "}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"but I could not reserve A."}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"inputTokens":40,"outputTokens":10},{"inputTokens":20,"outputTokens":5}]}`,
		), "Error: taken", usageOf(60, 15), ""},
		"AG-UI, a snapshot": {unnamed(
			`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"?"},`+
				`{"id":"1","role":"assistant","toolCalls":[{"id":"c1","type":"function","function":{"name":"find_room","arguments":"{\"floor\":1}"}},{"id":"c2","type":"function","function":{"name":"find_room","arguments":"{\"floor\":2}"}}]},`+
				`{"id":"2","role":"tool","toolCallId":"c1","content":"{\"room\":\"A\"}"},{"id":"3","role":"tool","toolCallId":"c2","content":"{\"room\":\"B\"}"},`+
				`{"id":"4","role":"assistant","toolCalls":[{"id":"c3","type":"function","function":{"name":"reserve","arguments":"{\"room\":\"A\"}"}}]},{"id":"5","role":"tool","toolCallId":"c3","content":"taken","error":"taken"},`+
				`{"id":"6","role":"assistant","content":"A and B are free, but I could not reserve A."}]}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
		), "taken", callvet.Usage{}, ""},
		"LangGraph, updates": {
			named("updates", inNode("model", firstAI), inNode("tools", toolA),
				inNode("tools", toolB), inNode("model", nextAI), inNode("tools", toolC), inNode("model", lastAI)),
			"taken",
			usageOf(60, 15), "",
		},
		"LangGraph, updates, unnamed": {unnamed(inNode("agent", firstAI), inNode("tools", toolA, toolB),
			inNode("agent", nextAI), inNode("tools", toolC), inNode("agent", lastAI)), "taken", usageOf(60, 15), ""},
		"LangGraph, updates of a graph": {
			named("updates|sub:1", inNode("model", firstAI),
				inNode("tools", toolA, toolB), inNode("model", nextAI), inNode("tools", toolC),
				inNode("model", lastAI)),
			"taken", usageOf(60, 15), "",
		},
		"LangGraph, values": {named("values", state(), state(firstAI), state(firstAI, toolA, toolB),
			state(firstAI, toolA, toolB, nextAI), state(firstAI, toolA, toolB, nextAI, toolC),
			state(firstAI, toolA, toolB, nextAI, toolC, lastAI)), "taken", usageOf(60, 15), ""},
		"LangGraph, messages":          {named("messages", chunksOf(tuple)...), "taken", usageOf(60, 15), ""},
		"LangGraph, messages, unnamed": {unnamed(chunksOf(tuple)...), "taken", usageOf(60, 15), ""},
		"LangGraph, messages alone": {
			unnamed(chunksOf(func(m string) string { return m })...), "taken",
			usageOf(60, 15), "",
		},
		"LangGraph, modes in a list": {unnamed(
			`["updates",`+inNode("model", firstAI)+`]`, `["messages",`+tuple(toolA)+`]`,
			`[["sub:1"],"updates",`+inNode("tools", toolA, toolB)+`]`, `["updates",`+inNode("model", nextAI)+`]`,
			`["updates",`+inNode("tools", toolC)+`]`, `["custom",{"step":1}]`,
			`["updates",`+inNode("model", lastAI)+`]`,
		), "taken", usageOf(60, 15), ""},
		"LangGraph, messages and updates": {all(
			named("messages", tuple(chunk1a), tuple(chunk1b), tuple(chunk1c), tuple(chunk1d)),
			named("updates", inNode("model", firstAI)), named("messages", tuple(toolA)),
			named("updates", inNode("tools", toolA)), named("messages", tuple(toolB)),
			named("updates", inNode("tools", toolB)),
			named("messages", tuple(chunk2a), tuple(chunk2b)), named("updates", inNode("model", nextAI)),
			named("messages", tuple(toolC)), named("updates", inNode("tools", toolC)),
			named("messages", tuple(chunk3a), tuple(chunk3b), tuple(chunk3c)),
			named("updates", inNode("model", lastAI)),
		), "taken", usageOf(60, 15), ""},
		"LangGraph server": {all(
			named("metadata", `{"run_id":"r"}`), named("messages/partial", `[`+firstAI+`]`, `[`+firstAI+`]`),
			named("messages/complete", `[`+toolA+`]`, `[`+toolB+`]`), named("messages/partial", `[`+nextAI+`]`),
			named("messages/complete", `[`+toolC+`]`), named("messages/partial", `[`+lastAI+`]`),
		), "taken", usageOf(60, 15), ""},
		"LangGraph, envelopes": {unnamed(
			inNode("model", lc("AIMessage", firstAI)),
			inNode("tools", lc("ToolMessage", toolA), lc("ToolMessage", toolB)),
			inNode("model", lc("AIMessageChunk", nextAI)), inNode("tools", lc("ToolMessage", toolC)),
			inNode("model", lc("AIMessage", lastAI)),
		), "taken", usageOf(60, 15), ""},
		"LangChain, astream_events": {unnamed(
			`{"event":"on_chat_model_start","name":"m","data":{"input":{}}}`,
			`{"event":"on_chat_model_stream","data":{"chunk":`+chunk1a+`}}`,
			`{"event":"on_chat_model_stream","data":{"chunk":`+chunk1b+`}}`,
			`{"event":"on_chat_model_stream","data":{"chunk":`+chunk1c+`}}`,
			`{"event":"on_chat_model_end","data":{"output":`+firstAI+`}}`,
			`{"event":"on_tool_start","name":"find_room","data":{"input":{"floor":1}}}`,
			`{"event":"on_tool_end","name":"find_room","data":{"output":`+toolA+`}}`,
			`{"event":"on_tool_end","name":"find_room","data":{"output":`+toolB+`}}`,
			`{"event":"on_chat_model_end","data":{"output":`+nextAI+`}}`, `{"event":"on_tool_end","data":{"output":`+
				toolC+`}}`, `{"event":"on_chat_model_end","data":{"output":`+lastAI+`}}`,
		), "taken", usageOf(60, 15), ""},
		"OpenAI Agents": {unnamed(
			raw(`{"type":"response_started"}`),
			raw(
				`{"type":"model","event":{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c1","name":"find_room"}}}`), responseDone("r1", "10", itemA, itemB),
			item("tool_called", itemA), item("tool_called", itemB), item("tool_output", resultA),
			item("tool_output", resultB),
			raw(`{"type":"response_started"}`), responseDone("r2", "20", itemC), item("tool_called", itemC),
			item("tool_output", resultC),
			raw(`{"type":"response_started"}`),
			raw(`{"type":"output_text_delta","itemId":"msg","delta":"A and B are free, "}`),
			raw(
				`{"type":"model","event":{"type":"response.output_text.delta","item_id":"msg","delta":"A and B are free, "}}`),
			raw(`{"type":"output_text_delta","itemId":"msg","delta":"but I could not reserve A."}`),
			responseDone("r3", "30", itemText), item("message_output_created", itemText),
		), "An error occurred while running the tool. Please try again.", usageOf(60, 15), ""},
		"OpenAI Agents, items alone, in Python's spelling": {unnamed(
			`{"type":"agent_updated_stream_event","new_agent":{"name":"x"}}`, python(item("tool_called", itemA)),
			python(item("tool_called", itemB)), python(item("tool_output", resultA)),
			python(item("tool_output", resultB)),
			python(item("tool_called", itemC)), python(item("tool_output", resultC)),
			python(item("message_output_created", itemText)),
		), "An error occurred while running the tool. Please try again.", callvet.Usage{}, ""},
		"A2A 0.3, calls as data": {unnamed(
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"task","id":"t","status":{"state":"submitted"},"history":[{"kind":"message","role":"user","parts":[{"kind":"text","text":"?"}]}]}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","status":{"state":"working","message":{"role":"agent","parts":[{"kind":"text","text":"Looking"},{"kind":"data","data":{"id":"c1","name":"find_room","args":{"floor":1}}},{"kind":"data","data":{"id":"c2","name":"find_room","args":{"floor":2}}}]}},"final":false}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","status":{"state":"working","message":{"role":"agent","parts":[{"kind":"data","data":{"id":"c1","name":"find_room","response":{"room":"A"}}},{"kind":"data","data":{"id":"c2","name":"find_room","response":{"room":"B"}}}]}},"final":false}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","status":{"state":"working","message":{"role":"agent","parts":[{"kind":"data","data":{"id":"c3","name":"reserve","args":{"room":"A"}}},{"kind":"data","data":{"id":"c3","name":"reserve","response":{"error":"taken"}}}]}},"final":false}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"artifact-update","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"A and B are free, "}]}}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"artifact-update","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"but I could not reserve A."}]},"append":true,"lastChunk":true}}`,
			`{"jsonrpc":"2.0","id":"1","result":{"kind":"status-update","status":{"state":"completed"},"final":true}}`,
		), `{"error":"taken"}`, callvet.Usage{}, ""},
	}
}

// TestProtocols: each protocol's stream is found by its shape, and gives the same attempt;
// cut off after any event it is an error, or that attempt.
func TestProtocols(t *testing.T) {
	t.Parallel()
	opts := message.Options{
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}},
		Tools: callvet.NewToolset([]callvet.Tool{{Name: "find_room"}, {Name: "reserve"}}),
	}
	for name, tt := range protocolStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(n int) (*callvet.Response, error) {
				return Stream(strings.NewReader(strings.Join(tt.events[:n], "")), "", opts, time.Now(), time.Now)
			}
			resp, err := read(len(tt.events))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(strings.ReplaceAll(sameAttempt, `tool "WHY"`, "tool "+quoted(tt.why)),
				"WHY", tt.why)
			if d := cmp.Diff(want, show(resp.Turns)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.usage, resp.Usage); d != "" || resp.FinishReason != tt.finish || resp.FirstToken <= 0 &&
				name != "LangGraph, values" && name != "AG-UI, a snapshot" {
				t.Errorf("usage %s, finish %q, first token %v", d, resp.FinishReason, resp.FirstToken)
			}
			for n := range tt.events {
				var f *callvet.Fault
				switch cut, err := read(n); {
				case err == nil && show(cut.Turns) != show(resp.Turns):
					t.Errorf("cut after %d events: %s", n, show(cut.Turns))
				case err != nil && (!errors.As(err, &f) || f.Kind != callvet.FaultMalformed):
					t.Errorf("cut after %d events: %v", n, err)
				}
			}
		})
	}
}

func quoted(s string) string {
	return strings.TrimSpace(strings.SplitN(show([]callvet.Turn{{Content: s}}), " ", 2)[1])
}

// TestProtocolsFail: an error in a stream is an error, and so is a call in an unknown event; a
// question to a person is neither.
func TestProtocolsFail(t *testing.T) {
	t.Parallel()
	tools := callvet.NewToolset([]callvet.Tool{{Name: "f"}})
	for name, tt := range map[string]struct {
		preset string
		events []string
		want   string
	}{
		"an error of the AI SDK": {
			"",
			unnamed(`{"type":"start-step"}`, `{"type":"error","errorText":"no model"}`),
			"server: the agent reports an error: no model",
		},
		"an abort of the AI SDK": {
			"", unnamed(`{"type":"start-step"}`, `{"type":"abort"}`),
			`server: the agent reports an error: {"type":"abort"}`,
		},
		"no call": {
			"",
			unnamed(`{"type":"start-step"}`, `{"type":"text-delta","delta":"No."}`, `{"type":"finish"}`),
			`assistant "No."`,
		},
		"arguments that are no JSON": {
			"",
			unnamed(`{"type":"start-step"}`, `{"type":"tool-input-start","toolCallId":"1","toolName":"f"}`,
				`{"type":"tool-input-error","toolCallId":"1","toolName":"f","input":{"a":1},"errorText":"bad"}`,
				`{"type":"finish"}`), "assistant \"\" f{\"a\":1}=bad\ntool \"bad\"",
		},
		"approval in the AI SDK": {
			"",
			unnamed(`{"type":"start-step"}`,
				`{"type":"tool-input-available","toolCallId":"1","toolName":"f","input":{}}`,
				`{"type":"tool-approval-request","approvalId":"a","toolCallId":"1"}`, `{"type":"finish"}`),
			`hitl assistant "" f{}`,
		},
		"a run of AG-UI that failed": {
			"",
			unnamed(`{"type":"RUN_STARTED"}`, `{"type":"RUN_ERROR","message":"boom"}`),
			"server: the agent reports an error: boom",
		},
		"a run of AG-UI that was stopped": {
			"",
			unnamed(`{"type":"RUN_STARTED"}`, `{"type":"RUN_FINISHED","outcome":{"type":"cancelled"}}`),
			"server: the run was stopped before it was complete",
		},
		"an interrupt of AG-UI": {
			"",
			unnamed(`{"type":"RUN_STARTED"}`,
				`{"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"f","delta":"{}"}`,
				`{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{}]}}`), `hitl assistant "" f{}`,
		},
		"an interrupt of LangGraph": {
			"",
			named("updates",
				inNode("model", `{"type":"ai","id":"1","content":"","tool_calls":[{"name":"f","args":{},"id":"c"}]}`),
				`{"__interrupt__":[{"value":"Sure?"}]}`), `hitl assistant "" f{}`,
		},
		"the end of LangGraph's server": {
			"", all(named("values", state(lastAI)), named("end", "null")),
			`assistant "A and B are free, but I could not reserve A."`,
		},
		"an error of LangGraph's server": {
			"", named("error", `{"error":"GraphRecursionError","message":"too deep"}`),
			"server: the agent reports an error: too deep",
		},
		"nothing but the question": {"", named("values", state()), "malformed: the messages hold no answer"},
		"a call without a result": {
			"", named("updates", inNode("model", nextAI)),
			"malformed: the stream ended before the answer did: a call has no result",
		},
		"an error of A2A": {
			"",
			unnamed(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`),
			"server: the agent reports an error: Method not found",
		},
		"a task of A2A that failed": {
			"",
			unnamed(`{"jsonrpc":"2.0","result":{"statusUpdate":{"status":{"state":"TASK_STATE_FAILED"}}}}`),
			"server: the task is failed",
		},
		"a message of A2A 1.0": {
			"",
			unnamed(`{"jsonrpc":"2.0","result":{"message":{"role":"ROLE_AGENT","parts":[{"text":"No."}]}}}`),
			`assistant "No."`,
		},
		"a question of A2A": {
			"",
			unnamed(
				`{"jsonrpc":"2.0","result":{"statusUpdate":{"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"Sure?"}]}}}}}`), `hitl assistant "Sure?"`,
		},
		"a call in an unknown event": {
			"",
			unnamed(`{"type":"start-step"}`, `{"type":"tool-made-up","toolCallId":"9","toolName":"f","input":{}}`,
				`{"type":"text-delta","delta":"Done."}`, `{"type":"finish"}`),
			"malformed: the stream has a call, in events that are not known",
		},
		"one more call in an unknown event": {
			"",
			unnamed(`{"type":"start-step"}`,
				`{"type":"tool-input-available","toolCallId":"1","toolName":"f","input":{}}`,
				`{"type":"data-trace","data":{"toolCallId":"2","toolName":"f","input":{}}}`, `{"type":"finish"}`),
			"malformed: the stream has a call, in events that are not known",
		},
		"a known call in an unknown event": {
			"",
			unnamed(`{"type":"start-step"}`,
				`{"type":"tool-input-available","toolCallId":"1","toolName":"f","input":{}}`,
				`{"type":"data-trace","data":{"toolCallId":"1","toolName":"f","input":{}}}`, `{"type":"finish"}`),
			`assistant "" f{}`,
		},
		"a result of a call that was not told": {
			"", unnamed(`{"type":"start-step"}`, `{"type":"tool-output-available","toolCallId":"7","output":1}`,
				`{"type":"text-delta","delta":"Done."}`, `{"type":"finish"}`),
			"malformed: the stream has a call, in events that are not known",
		},
		"a snapshot of the question alone": {
			"",
			unnamed(`{"type":"RUN_STARTED"}`,
				`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"?"}]}`,
				`{"type":"TEXT_MESSAGE_CHUNK","delta":"No."}`, `{"type":"RUN_FINISHED"}`), `assistant "No."`,
		},
		"a call without an id": {
			"",
			unnamed(`{"type":"start-step"}`, `{"type":"tool-input-available","toolName":"f","input":{}}`,
				`{"type":"finish"}`), "malformed: the stream has a call, in events that are not known",
		},
		"a preset and its end": {
			"ai-sdk", unnamed(`{"type":"text-delta","delta":"No."}`),
			"malformed: the stream ended before the answer did: no event says that it is complete",
		},
		"no preset and no end": {"", unnamed(`{"type":"text-delta","delta":"No."}`), `assistant "No."`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := Stream(strings.NewReader(strings.Join(tt.events, "")), tt.preset,
				message.Options{Tools: tools}, time.Now(), time.Now)
			got := ""
			var f *callvet.Fault
			switch {
			case errors.As(err, &f):
				got = string(f.Kind) + ": " + f.Message
			case err != nil:
				t.Fatal(err)
			default:
				if got = strings.TrimSpace(show(resp.Turns)); resp.FinishReason == callvet.FinishHITL {
					got = "hitl " + got
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestCallsOfChunks: what servers leave out of the pieces of a call, or repeat in them, changes
// no call.
func TestCallsOfChunks(t *testing.T) {
	t.Parallel()
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	const last = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"two ids of one index": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]}`), last,
			},
			"a f {} | b f {}",
		},
		"a name in every chunk": {
			[]string{
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`), last,
			},
			`a f {"x":1}`,
		},
		"an object": {
			[]string{delta(
				`{"tool_calls":[{"index":"0","id":"a","function":{"name":"f","arguments":{"x":1}}}]}`), last},
			`a f {"x":1}`,
		},
		"the form before tool_calls": {
			[]string{
				delta(`{"function_call":{"name":"f","arguments":"{\"x\""}}`),
				delta(`{"function_call":{"arguments":":1}"}}`),
				delta(`{"function_call":{"name":"","arguments":""}}`), last,
			},
			` f {"x":1}`,
		},
		"arguments that repeat": {
			[]string{
				`{"type":"tool-input-start","toolCallId":"a","toolName":"f"}`,
				`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":"{\"x\""}`,
				`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":"{\"x\":1}"}`,
				`{"type":"finish"}`,
			}, `a f {"x":1}`,
		},
		"arguments after the answer": {
			[]string{
				`{"type":"tool-input-start","toolCallId":"a","toolName":"f"}`,
				`{"type":"tool-output-available","toolCallId":"a","output":1}`,
				`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":"{\"x\""}`,
				`{"type":"tool-input-delta","toolCallId":"a","inputTextDelta":":1}"}`,
				`{"type":"finish"}`,
			}, `a f {"x":1}`,
		},
		"calls without ids": {
			[]string{
				`{"type":"tool_call","name":"f","args":{}}`, `{"type":"tool_call_delta","delta":"{\"x\""}`,
				`{"type":"tool_call_delta","delta":":1}"}`,
				`{"type":"tool_call","name":"g","args":{}}`, `{"type":"tool_call_delta","delta":"{\"y\""}`,
				`{"type":"tool_call_delta","delta":":2}"}`, `{"type":"done"}`,
			}, ` f {"x":1} |  g {"y":2}`,
		},
	} {
		r, err := Stream(strings.NewReader(strings.Join(unnamed(c.events...), "")), "", message.Options{},
			time.Now(), time.Now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, turn := range r.Turns {
			for _, call := range turn.Calls {
				got = append(got, call.ID+" "+call.Tool+" "+string(call.Args)+call.ArgsRaw)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " | ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
