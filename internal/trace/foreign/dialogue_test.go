// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// talkOf reads turns: "u:text", "s:text", "a:text", "a!id" for a call and "t=id" for its result.
func talkOf(text string) []callvet.Turn {
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
			out = append(out, callvet.Turn{Role: callvet.RoleAssistant, Calls: listedCalls(rest + "/f/{}")})
		case "t=":
			out = append(out, callvet.Turn{Role: callvet.RoleTool, CallID: rest, Content: "5"})
		}
	}
	return out
}

func talkText(turns []callvet.Turn) string {
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
		"a call that a later request contains": {
			[]string{"u:1 > a!1", "u:1 a!1 t=1 a!2 t=2 > a:2"},
			"u:1",
			"a!1 t=1 a!2 t=2 a:2",
		},
		"one before a question within": {
			[]string{"u:1 > a!1", "u:1 a!1 t=1 a:2 u:3 > a:4"},
			"u:1",
			"a!1 t=1 a:2 u:3 a:4",
		},
		"an answer that only a later one contains": {
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
		var k dialogue
		open := false
		for _, r := range c.requests {
			in, out, _ := strings.Cut(r, " > ")
			k.request(talkOf(in), open)
			if open = out == "?"; !open {
				k.answer(talkOf(out))
			}
		}
		k.settle()
		if d := gocmp.Diff([]string{c.input, c.did}, []string{talkText(k.Input), talkText(k.Turns)}); d != "" {
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
		if got := string(fuller(a, b).Raw()); got != c.want {
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
		remark := differ(&gave, &ran)
		switch {
		case c.want == "none" || name == "the same":
			if remark != "" {
				t.Errorf("%s: %s", name, remark)
			}
		case !strings.HasSuffix(remark, "model gave"+map[bool]string{true: "", false: ": " + c.want}[c.want == ""]):
			t.Errorf("%s: %q", name, remark)
		}
	}
	if differ(&callvet.Call{Tool: "f", ArgsRaw: "{"}, &callvet.Call{Tool: "f", Args: []byte("{}")}) == "" {
		t.Error("arguments that are no JSON, and were executed all the same")
	}
}

// listedCalls reads "id tool args" one a line.
func listedCalls(text string) []callvet.Call {
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
	for name, c := range map[string]struct{ made, recorded, want string }{
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
		"calls that no record contains stay for others": {"1/f/{} 2/g/{}", "/g/{}", "1"},
	} {
		made, recorded := listedCalls(c.made), listedCalls(c.recorded)
		open := make([]*callvet.Call, len(made))
		at := map[*callvet.Call]int{}
		for i := range made {
			open[i] = &made[i]
			at[&made[i]] = i
		}
		got := strings.Fields(strings.Repeat("- ", len(recorded)))
		rest, done := matchCalls(open, recorded, func(to *callvet.Call, i int) { got[i] = strconv.Itoa(at[to]) })
		if d := gocmp.Diff(c.want, strings.Join(got, " ")); d != "" {
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
	made := func(text string) callvet.Turn {
		return callvet.Turn{Role: callvet.RoleAssistant, Calls: listedCalls(text)}
	}
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
		s := seenTurns{}
		s.note(c.noted)
		fresh, _ := s.fresh(c.in)
		if d := gocmp.Diff(c.want, fresh); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if again, _ := s.fresh(c.in); len(again) > 0 {
			t.Errorf("%s: fresh again: %v", name, again)
		}
	}
}

// TestAnySeen: the texts and calls of a model were seen, and those of others were not.
func TestAnySeen(t *testing.T) {
	t.Parallel()
	s := seenTurns{}
	s.note(append(talkOf("u:1 a:2 a!1"), callvet.Turn{Role: callvet.RoleAssistant}))
	s.note([]callvet.Turn{{Role: callvet.RoleAssistant, Calls: listedCalls("/f/{}")}})
	for name, c := range map[string]struct {
		turns []callvet.Turn
		want  bool
	}{
		"words of the model": {talkOf("u:3 a:2"), true},
		"words of the user":  {talkOf("u:1"), false},
		"other words":        {talkOf("a:1"), false},
		"no words":           {[]callvet.Turn{{Role: callvet.RoleAssistant}}, false},
		"a call by its id": {
			[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: listedCalls(`1/g/{"x":1}`)}},
			true,
		},
		"a call by its arguments":      {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: listedCalls("9/f/{}")}}, true},
		"another call, without an id":  {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: listedCalls("/g/{}")}}, false},
		"another call, of another id ": {[]callvet.Turn{{Role: callvet.RoleAssistant, Calls: listedCalls("9/g/{}")}}, false},
	} {
		if got := s.any(c.turns); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
