// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// parse reads a value of a test.
func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCustomCalls reads calls of custom tools, in both forms of OpenAI's.
func TestCustomCalls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"custom","custom":{"name":"f","input":"ls"}}`:                                      `f "ls"`,
		`{"type":"custom","custom":{"name":"f","input":{"a":1}}}`:                                   `f {"a":1}`,
		`{"type":"custom_tool_call","name":"f","input":"ls"}`:                                       `f "ls"`,
		`{"type":"custom_tool_call","name":"f","input":[1]}`:                                        `f "[1]"`,
		`{"type":"custom","custom":"f","name":"g","input":{"a":1}}`:                                 `g {"a":1}`,
		`{"type":"function","custom":{"name":"f"},"function":{"name":"g","arguments":"{\"a\":1}"}}`: `g {"a":1}`,
	} {
		c, ok := CallOf(parse(t, text))
		if got := c.Tool + " " + string(c.Args); !ok || got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestToolSchemas: Amazon Bedrock wraps a schema, and a schema may describe a member json.
func TestToolSchemas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}`: `{"type":"object"}`,
		`{"name":"f","inputSchema":{"json":{},"type":"object"}}`:             `{"json":{},"type":"object"}`,
		`{"name":"f","inputSchema":{"json":true}}`:                           `{"json":true}`,
		`{"name":"f"}`: ``,
	} {
		tools := Tool(parse(t, text))
		if len(tools) != 1 || string(tools[0].Parameters) != want {
			t.Errorf("%s: %+v, want %s", text, tools, want)
		}
	}
}

// TestHeld reads JSON that a string holds, also JSON that needs repairs.
func TestHeld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"{\"a\":NaN}"`: `{"a":"NaN"}`, `" \n[NaN]"`: `["NaN"]`, `"NaN"`: `"NaN"`, `"{\"a\""`: `"{\"a\""`, `""`: `""`,
		`" "`:   `" "`,
		`"[1]"`: `[1]`, `{"a":1}`: `{"a":1}`, `"<NaN>"`: `"<NaN>"`,
	} {
		if got := strings.TrimSpace(string(HeldResult(parse(t, text)).Raw())); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestRoleOfClass: a message of an unknown class is the model's only where it has no text.
func TestRoleOfClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       callvet.Role
	}{
		{`{"content":"x"}`, "event", "event"},
		{`{"content":""}`, "event", callvet.RoleAssistant},
		{`{"content":"x"}`, "message", callvet.RoleAssistant},
		{`{"role":"event","content":""}`, "event", "event"},
		{`{"content":"x"}`, "", callvet.RoleAssistant},
	} {
		if got := roleOf(parse(t, c.text), c.name); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.text, c.name, got, c.want)
		}
	}
	for role, want := range map[string]bool{"message": false, "assistant": false, "event": true} {
		if got := strange(parse(t, `{"content":""}`), role); got != want {
			t.Errorf("%s is strange: %t", role, got)
		}
	}
}

// TestListed: an empty list of calls does not hide another one.
func TestListed(t *testing.T) {
	t.Parallel()
	const call = `[{"id":"1","name":"f","args":{}}]`
	for text, want := range map[string]int{
		`{"tool_calls":[],"additional_kwargs":{"tool_calls":` + call + `}}`:           1,
		`{"tool_calls":` + call + `,"additional_kwargs":{"tool_calls":` + call + `}}`: 1,
		`{"tool_calls":[]}`: 0,
	} {
		if got := kept().listed(parse(t, text)); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestOneReader: a message of an answer and the same message of a conversation that was kept have the same calls and
// results.
func TestOneReader(t *testing.T) {
	t.Parallel()
	const f, done = `f#1{"a":1} ok "five"`, `|Done.`
	for text, want := range map[string]string{
		// calls and their results by a provider, in one message
		`{"role":"assistant","content":[{"type":"server_tool_use","id":"1","name":"f","input":{"a":1}},
			{"type":"code_execution_tool_result","tool_use_id":"1","content":"five"},{"type":"text","text":"Done."}]}`: f + done,
		// of the AI SDK's user interface
		`{"role":"assistant","parts":[{"type":"tool-f","toolCallId":"1","state":"output-available","input":{"a":1},
			"output":"five"},{"type":"text","text":"Done."}]}`: f + done,
		`{"role":"assistant","content":"","toolInvocations":[{"toolCallId":"1","toolName":"f","args":{"a":1}}]}`: `f#1{"a":1}`,
		// LangChain's, in two places
		`{"type":"ai","content":"","additional_kwargs":{"function_call":{"name":"f","arguments":"{\"a\":1}"}}}`: `f#{"a":1}`,
		`{"type":"ai","content":[{"type":"tool_use","id":"1","name":"f","input":"{\"a\":"}],
			"tool_calls":[{"id":"1","name":"f","args":{"a":1}}]}`: `f#1{"a":1}`,
		`{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"f","kwargs":{"a":1}}}]}`: `f#1{"a":1}`,
		`{"role":"assistant","tool_calls":"[{\"id\":\"1\",\"name\":\"f\",\"args\":{\"a\":1}}]"}`:               `f#1{"a":1}`,
		`{"role":"model","parts":[{"text":"Hm.","thought":true},{"text":"Done."}]}`:                            `Done.`,
		`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`:                 ``,
		`{"type":"tool_use","id":"1","name":"f","input":{"a":1}}`:                                              `f#1{"a":1}`,
		`{"type":"text","text":"Done."}`: `Done.`,
	} {
		v := parse(t, strings.ReplaceAll(text, "\n", " "))
		answer, ok := Element(v, Options{})
		for kind, turns := range map[string][]callvet.Turn{"answer": answer, "kept": Turns(v)} {
			got := []string{}
			for _, turn := range Attach(turns) {
				s := turn.Content
				for _, c := range turn.Calls {
					s += strings.TrimSpace(fmt.Sprintf("%s#%s%s %s %s", c.Tool, c.ID, c.Args, c.Status, c.Result))
				}
				if turn.Role == callvet.RoleAssistant {
					got = append(got, s)
				}
			}
			if s := strings.Join(got, "|"); s != want || !ok {
				t.Errorf("%s, %s: %s, want %s", kind, text, s, want)
			}
		}
	}
}

// TestResultsByName: results of Gemini without an id answer the call of their tool.
func TestResultsByName(t *testing.T) {
	t.Parallel()
	v := parse(t, `[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"n":2}}},
		{"functionResponse":{"name":"f","response":{"n":1}}}]}]`)
	resp, err := Decode(v, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := resp.Turns[0].Calls; string(c[0].Result) != `{"n":1}` || string(c[1].Result) != `{"n":2}` {
		t.Errorf("%s %s", c[0].Result, c[1].Result)
	}
}

// TestUsageOnce: a message that becomes several turns counts its tokens once.
func TestUsageOnce(t *testing.T) {
	t.Parallel()
	v := parse(t, `[{"role":"assistant","usage":{"input_tokens":3,"output_tokens":2},"content":[
		{"type":"server_tool_use","id":"1","name":"f","input":{}},
		{"type":"web_search_tool_result","tool_use_id":"1","content":[]},{"type":"text","text":"Done."}]}]`)
	resp, err := Decode(v, Options{})
	if err != nil || len(resp.Turns) != 3 || resp.Usage != (callvet.Usage{InputTokens: 3, OutputTokens: 2, Known: true}) {
		t.Errorf("%v: %+v", err, resp)
	}
}

// TestSaidBodies: the whole body of a provider's answer that an SDK kept has the calls that a recording of it has.
func TestSaidBodies(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}`,
		`{"output":[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]}}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]},"finishReason":"STOP"}]}`,
	} {
		v := parse(t, text)
		resp, err := Decode(v, Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		for _, turns := range [][]callvet.Turn{resp.Turns, Said(v, callvet.RoleAssistant)} {
			if len(turns) != 1 || len(turns[0].Calls) != 1 || turns[0].Calls[0].Tool != "f" ||
				turns[0].Calls[0].ID != "1" || string(turns[0].Calls[0].Args) != "{}" {
				t.Errorf("%s: %+v", text, turns)
			}
		}
	}
}

// TestSpansAreNoCalls: a span of a trace with a name and an input is no call.
func TestSpansAreNoCalls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"GENERATION","name":"f","input":{"a":1}}`:   "",
		`{"type":"tool_use","name":"f","input":{"a":1}}`:     "f",
		`{"type":"tool","name":"f","input":{"a":1}}`:         "f",
		`{"type":"function","name":"f","arguments":"{}"}`:    "f",
		`{"type":"x","functionCall":{"name":"f","args":{}}}`: "f",
	} {
		if got := Turns(parse(t, text)); len(got) != 1 || len(got[0].Calls) != 1 || got[0].Calls[0].Tool != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
