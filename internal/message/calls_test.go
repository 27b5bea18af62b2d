// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
)

func TestLost(t *testing.T) {
	t.Parallel()
	v, err := value.Parse([]byte(`["` + strings.Repeat("é", maxLost) + `"]`))
	if err != nil {
		t.Fatal(err)
	}
	if c := LostCall(v); len(c.ArgsRaw) < maxLost || len(c.ArgsRaw) > maxLost+2 || !strings.HasSuffix(c.ArgsRaw, "é") &&
		!strings.HasSuffix(c.ArgsRaw, "\ufffd") {
		t.Errorf("%d bytes are kept", len(c.ArgsRaw))
	}
}

func TestCustom(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"ls -la":       `"ls -la"`,
		` {"a": 1} `:   `{"a": 1}`,
		`{"a": `:       `"{\"a\": "`,
		`["a"]`:        `"[\"a\"]"`,
		"\"quoted\"":   `"\"quoted\""`,
		"two\nlines\n": `"two\nlines\n"`,
	} {
		got := NewCustomCall("1", "f", input)
		if got.ID != "1" || got.Tool != "f" || string(got.Args) != want {
			t.Errorf("%q: %+v, want %s", input, got, want)
		}
	}
}

// TestMerge adds what is no repetition.
func TestMerge(t *testing.T) {
	t.Parallel()
	f := callvet.Call{ID: "1", Tool: "f", Args: raw(`{"a":1,"b":2}`)}
	broken := callvet.Call{ID: "2", Tool: "f", ArgsRaw: `{"a"`}
	for _, c := range []struct {
		name string
		more callvet.Call
		want int
	}{
		{"the same", f, 2},
		{"in another order", callvet.Call{Tool: "f", Args: raw(`{ "b":2, "a":1.0}`)}, 2},
		{"the same, which cannot be read", callvet.Call{Tool: "f", ArgsRaw: `{"a"`}, 2},
		{"another tool", callvet.Call{Tool: "g", Args: f.Args}, 3},
		{"other arguments", callvet.Call{Tool: "f", Args: raw(`{"a":2}`)}, 3},
		{"no arguments", callvet.Call{Tool: "f"}, 3},
		{"what cannot be read is another", callvet.Call{Tool: "f", ArgsRaw: `{"b"`}, 3},
	} {
		got := MergeCalls([]callvet.Call{f, broken}, []callvet.Call{c.more})
		if d := cmp.Diff(c.want, len(got)); d != "" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestEqualCalls: calls that are equal and have no ids, or ids of their own, are as many as a message has.
func TestEqualCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
	}{
		{
			`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]}`,
			2,
		},
		{`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}},{"type":"tool_use","name":"f","input":{}}]}`, 2},
		{`{"role":"assistant","content":[{"toolUse":{"name":"f","input":{}}},{"toolUse":{"name":"f","input":{}}}]}`, 2},
		{`{"role":"assistant","content":[{"type":"tool-call","toolName":"f","input":{}},{"type":"tool-call","toolName":"f","input":{}}]}`, 2},
		{`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"f","arguments":"{}"}}]}`, 2},
		{`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}],` +
			`"content":[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_use","id":"2","name":"f","input":{}}]}`, 2},
		{`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}],` +
			`"content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`, 1},
	} {
		v, err := value.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		count := func(turns []callvet.Turn) (n int) {
			for i := range turns {
				n += len(turns[i].Calls)
			}
			return n
		}
		if got := count(Turns(v)); got != c.want {
			t.Errorf("kept: %s: %d calls, want %d", c.text, got, c.want)
		}
		turns, ok := Element(v, Options{})
		if got := count(turns); !ok || got != c.want {
			t.Errorf("answer: %s: %d calls, want %d", c.text, got, c.want)
		}
	}
}

// TestCallInToolMessage: a call that Gemini's wrapper names is kept in a message of any role; what a result lists
// is data.
func TestCallInToolMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"role":"tool","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionCall":{"name":"g","args":{}}}]}`: 1,
		`{"role":"tool","tool_call_id":"1","content":[{"name":"g","arguments":{}}]}`:                                        0,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, turn := range Turns(v) {
			n += len(turn.Calls)
		}
		if n != want {
			t.Errorf("%s: %d calls, want %d", text, n, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`null`: true, `""`: true, `" "`: true, `"{}"`: true, `[]`: true, `{}`: true, `{"a":null,"b":{"c":""}}`: true,
		`"x"`: false, `[null]`: false, `0`: false, `false`: false, `{"a":null,"b":0}`: false,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil || Empty(v) != want {
			t.Errorf("%s: %v, %v", text, Empty(v), err)
		}
	}
	if !Empty(value.Value{}) {
		t.Error("what is not there is empty")
	}
}
