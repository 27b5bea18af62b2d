// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCallsOfStreams: the calls of a stream are those that the server meant, on every wire,
// whatever the server leaves out or repeats.
func TestCallsOfStreams(t *testing.T) {
	t.Parallel()
	const paris = `get_weather {"city":"Paris"}`
	chat := func(deltas ...string) string {
		for i, d := range deltas {
			deltas[i] = `{"choices":[{"index":0,"delta":` + d + `}]}`
		}
		return events(append(deltas, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...)
	}
	call := func(e string) string { return `{"tool_calls":[` + e + `]}` }
	messages := func(list ...string) string {
		all := append([]string{`{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}`},
			list...)
		return events(append(all,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`,
			`{"type":"message_stop"}`)...)
	}
	start := func(index, id, input string) string {
		return `{"type":"content_block_start","index":` + index + `,"content_block":{"type":"tool_use","id":"` + id +
			`","name":"get_weather","input":` + input + `}}`
	}
	part := func(index, json string) string {
		return `{"type":"content_block_delta","index":` + index +
			`,"delta":{"type":"input_json_delta","partial_json":` + json + `}}`
	}
	gemini := func(parts ...string) string {
		for i, p := range parts {
			parts[i] = `{"candidates":[{"content":{"parts":[` + p + `]},"finishReason":"STOP"}]}`
		}
		return events(parts...)
	}
	for name, c := range map[string]struct{ spec, stream, want string }{
		"two ids of one index": {
			"vllm/m",
			chat(call(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}`),
				call(`{"index":0,"id":"b","function":{"name":"get_weather","arguments":"{\"city\":\"Rome\"}"}}`)),
			"a " + paris + ` | b get_weather {"city":"Rome"}`,
		},
		"the name in every chunk": {
			"vllm/m", chat(call(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`),
				call(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"\"Paris\"}"}}`)),
			"a " + paris,
		},
		"arguments that repeat": {
			"vllm/m", chat(call(`{"index":0,"id":"a","function":{"name":"get_weather","arguments":"{\"city\":"}}`),
				call(`{"index":0,"id":"a","function":{"arguments":"{\"city\":\"Paris\"}"}}`)),
			"a " + paris,
		},
		"an object, and a text for the index": {
			"vllm/m",
			chat(call(`{"index":"0","id":"a","function":{"name":"get_weather","arguments":{"city":"Paris"}}}`),
				call(`{"index":"1","id":"b","function":{"name":"get_time"}}`)),
			"a " + paris + " | b get_time {}",
		},
		"an element that is no call": {
			"vllm/m", chat(call(`{"index":0,"id":"a","function":{"name":"get_time"}},null`)),
			"a get_time {} | c00010001  {}",
		},
		"the form before tool_calls": {
			"vllm/m", chat(`{"function_call":{"name":"get_weather","arguments":""}}`,
				`{"function_call":{"arguments":"{\"city\":"}}`, `{"function_call":{"arguments":"\"Paris\"}"}}`),
			"c00010000 " + paris,
		},
		"the form before tool_calls, empty": {
			"vllm/m",
			chat(call(`{"index":0,"id":"a","function":{"name":"get_time"}}`),
				`{"function_call":{"name":"","arguments":""}}`), "a get_time {}",
		},
		"blocks in turns": {
			"anthropic/m", messages(start("0", "a", "{}"), start("1", "b", "{}"), part("0", `"{\"city\":"`),
				part("1", `"{\"city\":\"Rome\"}"`), part("0", `"\"Paris\"}"`)),
			"a " + paris + ` | b get_weather {"city":"Rome"}`,
		},
		"a block that is whole": {"anthropic/m", messages(start("0", "a", `{"city":"Paris"}`)), "a " + paris},
		"a block that is repeated": {
			"anthropic/m",
			messages(start("0", "a", "{}"), part("0", `"{\"city\":"`), start("0", "a", "{}"),
				part("0", `"{\"city\":\"Paris\"}"`)), "a " + paris,
		},
		"two blocks of one index": {
			"anthropic/m",
			messages(start("0", "a", "{}"), part("0", `"{\"city\":\"Paris\"}"`), start("0", "b", "{}"),
				part("0", `"{\"city\":\"Rome\"}"`)), "a " + paris + ` | b get_weather {"city":"Rome"}`,
		},
		"blocks without an index": {
			"anthropic/m",
			strings.NewReplacer(`"index":0,`,
				"").Replace(messages(start("0", "a", "{}"), part("0", `"{\"city\":"`), part("0", `"\"Paris\"}"`),
				start("0", "b", "{}"))), "a " + paris + ` | b get_weather {}`,
		},
		"a delta that is an object": {
			"anthropic/m", messages(start("0", "a", "{}"), part("0", `{"city":"Paris"}`)),
			"a " + paris,
		},
		"items on the way only": {
			"openai-responses/m", events(
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"a","name":"get_weather","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"city\":"}`,
				`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"\"Paris\"}"}`,
				`{"type":"response.completed","response":{"status":"completed","output":[]}}`,
			), "a " + paris,
		},
		"a call of Gemini again": {
			"gemini/m",
			gemini(`{"functionCall":{"id":"a","name":"get_weather","args":{"city":"Pa"}}}`,
				`{"functionCall":{"id":"a","name":"get_weather","args":{"city":"Paris"}}}`,
				`{"functionCall":{"id":"a","name":"get_weather","args":{"city":"Rome"}}}`),
			"a " + paris + ` | a get_weather {"city":"Rome"}`,
		},
		"arguments of Gemini, value by value": {
			"gemini/m",
			gemini(`{"functionCall":{"id":"a","name":"get_weather","willContinue":true},"thoughtSignature":"c2ln"}`,
				`{"functionCall":{"partialArgs":[{"jsonPath":"$.city","stringValue":"Pa","willContinue":true}],"willContinue":true}}`,
				`{"functionCall":{"partialArgs":[{"jsonPath":"$.city","stringValue":"ris"}],"willContinue":true}}`,
				`{"functionCall":{}}`,
				`{"functionCall":{"name":"get_weather","willContinue":true}}`,
				`{"functionCall":{"partialArgs":[{"jsonPath":"$.city","stringValue":"Ro"}],"willContinue":true}}`),
			"a " + paris + ` | c00010001 get_weather "{\"city\":\"Ro\""`,
		},
		"calls of Ollama": {
			"ollama/m", strings.Join([]string{
				`{"message":{"tool_calls":[{"function":{"index":0,"name":"get_time"}},{"function":{"index":0,"name":"get_time","arguments":{}}}]}}`,
				`{"message":{"tool_calls":[{"id":"a","function":{"name":"get_weather","arguments":{"city":"Paris"}}}]}}`,
				`{"message":{"tool_calls":[{"id":"a","function":{"name":"get_weather","arguments":{"city":"Paris"}}},"x"]},"done":true,"done_reason":"stop"}`, "",
			}, "\n"),
			"c00010000 get_time {} | c00010001 get_time {} | a " + paris + " | c00010003  {}",
		},
	} {
		f := streams(t, c.stream)
		m, _ := mustOpen(t, c.spec, Config{BaseURL: f.URL, Stream: true})
		var got []string
		for _, call := range ask(t, m, hello()).Turns[0].Calls {
			got = append(got, call.ID+" "+call.Tool+" "+string(call.Args)+call.ArgsRaw)
		}
		if d := cmp.Diff(c.want, strings.Join(got, " | ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// events are server-sent events with those data.
func events(data ...string) string { return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n" }
