// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
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
		if got := listed(parse(t, text)); len(got) != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
