// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// calls reads "id tool args" one a line.
func calls(text string) []callvet.Call {
	var out []callvet.Call
	for _, line := range strings.Fields(text) {
		p := strings.Split(line, "/")
		c := callvet.Call{ID: p[0], Tool: p[1]}
		if p[2] != "" {
			c.Args = json.RawMessage(p[2])
		}
		out = append(out, c)
	}
	return out
}

// TestMatch holds which record of a tool is that of which call.
func TestMatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ made, told, want string }{
		"by id, whatever the order":                     {"1/f/{} 2/f/{}", "2/f/{} 1/f/{}", "1 0"},
		"by arguments, whatever the order":              {`1/f/{"x":1} 2/f/{"x":2}`, `/f/{"x":2} /f/{"x":1}`, "1 0"},
		"by order, where arguments are not there":       {"1/f/{} 2/f/{}", "/f/ /f/", "0 1"},
		"by order, where arguments were completed":      {`1/f/{"x":1}`, `/f/{"x":1,"y":2}`, "0"},
		"by arguments before order":                     {`1/f/{"x":1} 2/f/{"x":2}`, `/f/{"x":2} /f/{"x":3}`, "1 0"},
		"another tool":                                  {"1/f/{}", "/g/{}", "-"},
		"another id":                                    {"1/f/{}", "2/f/{}", "-"},
		"a call without an id, a record with one":       {"/f/{}", "2/f/{}", "0"},
		"one call, two records":                         {"1/f/{}", "/f/{} /f/{}", "0 -"},
		"an id that another record has is not taken":    {`1/f/{"x":1} 2/f/{"x":2}`, `/f/{"x":1} 1/f/{"x":1}`, "1 0"},
		"arguments with white space are the same":       {`1/f/{"x":2} 2/f/{"x":1}`, `/f/{"x":1}`, "1"},
		"calls that no record tells of stay for others": {"1/f/{} 2/g/{}", "/g/{}", "1"},
	} {
		made, told := calls(c.made), calls(c.told)
		open := make([]*callvet.Call, len(made))
		at := map[*callvet.Call]int{}
		for i := range made {
			open[i] = &made[i]
			at[&made[i]] = i
		}
		got := strings.Fields(strings.Repeat("- ", len(told)))
		rest, done := Match(open, told, func(to *callvet.Call, i int) { got[i] = strconv.Itoa(at[to]) })
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		joined := 0
		for i, ok := range done {
			if ok != (got[i] != "-") {
				t.Errorf("%s: record %d: %v", name, i, ok)
			}
			if ok {
				joined++
			}
		}
		if len(rest) != len(made)-joined {
			t.Errorf("%s: %d are left", name, len(rest))
		}
	}
}

// TestFresh holds what of a request's history is new.
func TestFresh(t *testing.T) {
	t.Parallel()
	said := func(text string) callvet.Turn { return callvet.Turn{Role: callvet.RoleAssistant, Content: text} }
	made := func(text string) callvet.Turn { return callvet.Turn{Role: callvet.RoleAssistant, Calls: calls(text)} }
	result := func(id, text string) callvet.Turn {
		return callvet.Turn{Role: callvet.RoleTool, CallID: id, Content: text}
	}
	for name, c := range map[string]struct{ noted, in, want []callvet.Turn }{
		"what was never seen": {
			nil,
			[]callvet.Turn{said("a"), said("a")},
			[]callvet.Turn{said("a"), said("a")},
		},
		"what was said once": {
			[]callvet.Turn{said("a")},
			[]callvet.Turn{said("a"), said("b")},
			[]callvet.Turn{said("b")},
		},
		"what was said once and is there twice": {
			[]callvet.Turn{said("a")},
			[]callvet.Turn{said("a"), said("a")},
			[]callvet.Turn{said("a")},
		},
		"a call by its id": {
			[]callvet.Turn{made("1/f/{}")},
			[]callvet.Turn{made(`1/f/{"y":1}`)},
			nil,
		},
		"a call under another id": {
			[]callvet.Turn{made("1/f/{}")},
			[]callvet.Turn{made("2/f/{}")},
			nil,
		},
		"a call that is there once more": {
			[]callvet.Turn{made("1/f/{}")},
			[]callvet.Turn{made("1/f/{}"), made("2/f/{}")},
			[]callvet.Turn{made("2/f/{}")},
		},
		"calls that a history has in other messages": {
			[]callvet.Turn{made("1/f/{} 2/g/{}")},
			[]callvet.Turn{made("1/f/{}"), made("2/g/{}")},
			nil,
		},
		"one call of a message that has more": {
			[]callvet.Turn{made("1/f/{}")},
			[]callvet.Turn{made("1/f/{} 2/g/{}")},
			[]callvet.Turn{made("2/g/{}")},
		},
		"calls without ids that differ": {
			[]callvet.Turn{made(`/f/{"x":1}`)},
			[]callvet.Turn{made(`/f/{"x":1}`), made(`/f/{"x":2}`)},
			[]callvet.Turn{made(`/f/{"x":2}`)},
		},
		"a result by its call, whatever its text": {
			[]callvet.Turn{result("1", "a")},
			[]callvet.Turn{result("1", "b"), result("2", "a")},
			[]callvet.Turn{result("2", "a")},
		},
		"results without ids that say the same": {
			[]callvet.Turn{result("", "a")},
			[]callvet.Turn{result("", "a"), result("", "a")},
			[]callvet.Turn{result("", "a")},
		},
	} {
		s := Seen{}
		s.Note(c.noted)
		if d := cmp.Diff(c.want, s.Fresh(c.in)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if again := s.Fresh(c.in); len(again) > 0 {
			t.Errorf("%s: fresh again: %v", name, again)
		}
	}
}

// TestDetails holds whether a total tells that tokens were taken out of input and output.
func TestDetails(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][5]int{
		`{"input":100,"output":20,"total":150,"input_cached_tokens":20,"output_reasoning_tokens":10}`:              {120, 30, 20, 10, 0},
		`{"input":100,"output":20,"total":120,"input_cached_tokens":20}`:                                           {100, 20, 0, 0, 0},
		`{"input":100,"output":20,"total":999,"input_cached_tokens":20}`:                                           {100, 20, 0, 0, 0},
		`{"input":1000,"output":100,"total":1400,"cache_read_input_tokens":200,"cache_creation_input_tokens":100}`: {1300, 100, 200, 0, 100},
		`{"input":1000,"output":100,"total":1100,"cache_read_input_tokens":200,"cache_creation_input_tokens":100}`: {1000, 100, 200, 0, 100},
		`{"input":100,"output":20}`:                              {100, 20, 0, 0, 0},
		`{"input_tokens":7,"output_tokens":8,"total_tokens":15}`: {7, 8, 0, 0, 0},
		`{"input":10,"output":100,"total":1310,"cache_read_input_tokens":900,"cache_creation_input_tokens":300}`:  {1210, 100, 900, 0, 300},
		`{"input":10,"output":100,"total":1310,"input_cache_read":900,"input_cache_creation":300}`:                {1210, 100, 900, 0, 300},
		`{"input_tokens":10,"output_tokens":100,"cache_read_input_tokens":900,"cache_creation_input_tokens":300}`: {1210, 100, 900, 0, 300},
	} {
		v, err := value.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		u := UsageDetails(v)
		if got := [5]int{
			u.InputTokens, u.OutputTokens, u.CachedTokens, u.ReasoningTokens,
			u.CacheWriteTokens,
		}; got != want {
			t.Errorf("%s: %v, not %v", in, got, want)
		}
	}
}

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

// TestAnySeen: what a model said or called was seen, and not what others said.
func TestAnySeen(t *testing.T) {
	t.Parallel()
	s := Seen{}
	s.Note(append(talk("u:1 a:2 a!1"), callvet.Turn{Role: callvet.RoleAssistant}))
	s.Note([]callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls("/f/{}")}})
	for name, c := range map[string]struct {
		turns []callvet.Turn
		want  bool
	}{
		"words of the model": {talk("u:3 a:2"), true},
		"words of the user":  {talk("u:1"), false},
		"other words":        {talk("a:1"), false},
		"no words":           {[]callvet.Turn{{Role: callvet.RoleAssistant}}, false},
		"a call by its id": {
			[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls(`1/g/{"x":1}`)}},
			true,
		},
		"a call by its arguments":      {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls("9/f/{}")}}, true},
		"another call, without an id":  {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls("/g/{}")}}, false},
		"another call, of another id ": {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls("9/g/{}")}}, false},
	} {
		if got := s.any(c.turns); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
