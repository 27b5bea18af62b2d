// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// talk reads turns: "u:text", "s:text", "a:text", "a!id" for a call and "t=id" for its result.
func talk(text string) []callvet.Turn {
	var out []callvet.Turn
	for _, w := range strings.Fields(text) {
		switch rest := w[2:]; w[:2] {
		case "u:":
			out = append(out, callvet.Turn{Role: callvet.RoleUser, Content: rest})
		case "s:":
			out = append(out, callvet.Turn{Role: callvet.RoleSystem, Content: rest})
		case "a:":
			out = append(out, callvet.Turn{Role: callvet.RoleAssistant, Content: rest})
		case "a!":
			out = append(out, callvet.Turn{Role: callvet.RoleAssistant, Calls: calls(rest + "/f/{}")})
		case "t=":
			out = append(out, callvet.Turn{Role: callvet.RoleTool, CallID: rest, Content: "5"})
		}
	}
	return out
}

func untalk(turns []callvet.Turn) string {
	var out []string
	for _, t := range turns {
		switch {
		case len(t.Calls) > 0:
			for _, c := range t.Calls {
				out = append(out, "a!"+c.ID)
			}
		case t.Role == callvet.RoleTool:
			out = append(out, "t="+t.CallID)
		default:
			out = append(out, string(t.Role[:1])+":"+t.Content)
		}
	}
	return strings.Join(out, " ")
}

// TestTalk holds what of the requests of an attempt is its input, and what its action.
func TestTalk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		requests   []string // "what was sent > what was given"; "?" before an answer that is not known
		input, did string
	}{
		"a question":                            {[]string{"s:x u:1 > a:2"}, "s:x u:1", "a:2"},
		"a later question":                      {[]string{"u:1 a!1 t=1 a:2 u:3 > a:4"}, "u:1 a!1 t=1 a:2 u:3", "a:4"},
		"a loop":                                {[]string{"u:1 > a!1", "u:1 a!1 t=1 > a:2"}, "u:1", "a!1 t=1 a:2"},
		"a loop that goes on":                   {[]string{"u:1 a!1 t=1 > a:2"}, "u:1", "a!1 t=1 a:2"},
		"a result that came after the question": {[]string{"u:1 a!1 u:3 t=1 > a:2"}, "u:1 a!1 u:3 t=1", "a:2"},
		"a question within":                     {[]string{"u:1 > a:2", "u:1 a:2 u:3 > a:4"}, "u:1", "a:2 u:3 a:4"},
		"a call that a later request tells": {
			[]string{"u:1 > a!1", "u:1 a!1 t=1 a!2 t=2 > a:2"},
			"u:1",
			"a!1 t=1 a!2 t=2 a:2",
		},
		"one before a question within": {
			[]string{"u:1 > a!1", "u:1 a!1 t=1 a:2 u:3 > a:4"},
			"u:1",
			"a!1 t=1 a:2 u:3 a:4",
		},
		"an answer that only a later one tells": {
			[]string{"u:1 > ?", "u:1 a!1 t=1 a:2 u:3 > a:4"},
			"u:1",
			"a!1 t=1 a:2 u:3 a:4",
		},
		"another conversation with a history": {
			[]string{"u:3 > a:ok", "u:1 a!1 t=1 a:2 u:3 > a:4"},
			"u:1 a!1 t=1 a:2 u:3", "a:ok a:4",
		},
		"another conversation without one": {
			[]string{"u:1 > a!1", "s:y u:9 > a:8", "u:1 a!1 t=1 > a:2"},
			"u:1",
			"a!1 s:y u:9 a:8 t=1 a:2",
		},
		"the call of the history once more": {[]string{
			"u:1 a!1 t=1 a:2 u:3 > a!1",
			"u:1 a!1 t=1 a:2 u:3 a!1 t=1 > a:4",
		}, "u:1 a!1 t=1 a:2 u:3", "a!1 a:4"},
		"no question":                            {[]string{"s:x > a:2"}, "", "s:x a:2"},
		"a question that was not recorded first": {[]string{" > a!1", "u:1 a!1 t=1 > a:2"}, "u:1", "a!1 t=1 a:2"},
	} {
		var k Talk
		open := false
		for _, r := range c.requests {
			in, out, _ := strings.Cut(r, " > ")
			k.Request(talk(in), open)
			if open = out == "?"; !open {
				k.Answer(talk(out))
			}
		}
		k.Settle()
		if d := cmp.Diff([]string{c.input, c.did}, []string{untalk(k.Input), untalk(k.Turns)}); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestFuller holds which of two records of one member counts.
func TestFuller(t *testing.T) {
	t.Parallel()
	const call = `{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`
	long := `{"role":"assistant","content":"` + strings.Repeat("x", 200) + `"}`
	for name, c := range map[string]struct{ a, b, want string }{
		"nothing":          {`null`, `1`, `1`},
		"an empty text":    {`"x"`, `""`, `"x"`},
		"an empty list":    {`[1]`, `[]`, `[1]`},
		"the later word":   {`"DEFAULT"`, `"ERROR"`, `"ERROR"`},
		"the longer list":  {`[1,2]`, `[1]`, `[1,2]`},
		"an object":        {`{"a":1}`, `"cut off"`, `{"a":1}`},
		"calls":            {call, long, call},
		"calls, later":     {long, call, call},
		"the later object": {`{"a":1}`, `{"a":2}`, `{"a":2}`},
	} {
		a, errA := value.Parse([]byte(c.a))
		b, errB := value.Parse([]byte(c.b))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := string(Fuller(a, b).Raw()); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestDiffer holds when executed arguments differ from those that a model gave.
func TestDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ gave, ran, want string }{
		"the same":             {`{"a":1,"b":[1]}`, `{ "b": [1.0], "a": 1 }`, ""},
		"one more":             {`{}`, `{"a":1}`, "a"},
		"one less":             {`{"a":1}`, `{}`, "a"},
		"another":              {`{"a":1,"b":2}`, `{"a":2,"b":2}`, "a"},
		"a list":               {`{"a":1}`, `[1]`, ""},
		"unknown of the model": {"", `{"a":1}`, "none"},
		"unknown of the tool":  {`{"a":1}`, "", "none"},
	} {
		gave, ran := callvet.Call{Tool: "f"}, callvet.Call{Tool: "f"}
		if c.gave != "" {
			gave.Args = []byte(c.gave)
		}
		if c.ran != "" {
			ran.Args = []byte(c.ran)
		}
		remark := Differ(&gave, &ran)
		switch {
		case c.want == "none" || name == "the same":
			if remark != "" {
				t.Errorf("%s: %s", name, remark)
			}
		case !strings.HasSuffix(remark, "model gave"+map[bool]string{true: "", false: ": " + c.want}[c.want == ""]):
			t.Errorf("%s: %q", name, remark)
		}
	}
	if Differ(&callvet.Call{Tool: "f", ArgsRaw: "{"}, &callvet.Call{Tool: "f", Args: []byte("{}")}) == "" {
		t.Error("arguments that are no JSON, and were executed all the same")
	}
}
