// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func TestArgs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in      string
		args    json.RawMessage
		repairs []string
	}{
		{`{"city":"Paris"}`, raw(`{"city":"Paris"}`), nil},
		{" {\"a\":1}\n", raw(`{"a":1}`), nil},
		{``, raw(`{}`), nil},
		{" \n", raw(`{}`), nil},
		{`"{\"city\":\"Paris\"}"`, raw(`{"city":"Paris"}`), []string{InString}},
		{`"\"{\\\"a\\\":1}\""`, raw(`{"a":1}`), []string{InString}},
		{`""`, raw(`{}`), []string{InString}},
		{`"Paris"`, raw(`"Paris"`), nil},
		{`[1,2]`, raw(`[1,2]`), nil},
		{`null`, raw(`null`), nil},
		{`{"a":12345678901234567890}`, raw(`{"a":12345678901234567890}`), nil},
		{`{"city":"Par`, nil, nil},
		{`"{\"city\":\"Par"`, nil, nil},
		{`{"a":1,"a":2}`, nil, nil},
		{"{\"a\":\"\xff\"}", raw("{\"a\":\"\uFFFD\"}"), []string{NotStrict}},
		{`{"a":NaN}`, raw(`{"a":"NaN"}`), []string{NotStrict}},
		{`{"a":"\ud83d"}`, raw(`{"a":"\uFFFD"}`), []string{NotStrict}},
		{`{"a":NaN,"a":1}`, nil, nil},
		{`{'a':1}`, nil, nil},
		{`{"a":1,}`, nil, nil},
		{`{"a":1}{"b":2}`, nil, nil},
		{`Paris`, nil, nil},
	} {
		args, repairs := RepairArgs(c.in)
		if d := cmp.Diff(c.args, args); d != "" {
			t.Errorf("Args(%q) (-want +got):\n%s", c.in, d)
		}
		if d := cmp.Diff(c.repairs, repairs); d != "" {
			t.Errorf("Args(%q) repairs (-want +got):\n%s", c.in, d)
		}
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	inName := `{"name":"get_weather","arguments":{"city":"Paris"}}`
	for _, c := range []struct {
		name, args string
		want       callvet.Call
	}{
		{"get_weather", `{"city":"Paris"}`, callvet.Call{Tool: "get_weather", Args: raw(`{"city":"Paris"}`)}},
		{"get_weather", ``, callvet.Call{Tool: "get_weather", Args: raw(`{}`)}},
		{"get_weather", `{"city":"Par`, callvet.Call{Tool: "get_weather", ArgsRaw: `{"city":"Par`}},
		{
			"get_weather", `"{}"`,
			callvet.Call{Tool: "get_weather", Args: raw(`{}`), ArgsRaw: `"{}"`, Repairs: []string{InString}},
		},
		{inName, ``, callvet.Call{
			Tool: "get_weather", Args: raw(`{"city":"Paris"}`), ArgsRaw: inName,
			Repairs: []string{InName},
		}},
		{inName, `{}`, callvet.Call{
			Tool: "get_weather", Args: raw(`{"city":"Paris"}`), ArgsRaw: inName,
			Repairs: []string{InName},
		}},
		{
			inName, `{"city":"Rome"}`,
			callvet.Call{Tool: "get_weather", Args: raw(`{"city":"Rome"}`), Repairs: []string{InName}},
		},
		{`{"name":"f","parameters":"{\"a\":1}"}`, ``, callvet.Call{
			Tool: "f", Args: raw(`{"a":1}`),
			ArgsRaw: `{"name":"f","parameters":"{\"a\":1}"}`, Repairs: []string{InName, InString},
		}},
		{`{"name":"get_wea`, ``, callvet.Call{Tool: `{"name":"get_wea`, ArgsRaw: `{"name":"get_wea`}},
		{`{"city":"Paris"}`, `{"a":1}`, callvet.Call{Tool: `{"city":"Paris"}`, ArgsRaw: `{"a":1}`}},
	} {
		c.want.ID = "call_1"
		if d := cmp.Diff(c.want, NewCall("call_1", c.name, c.args)); d != "" {
			t.Errorf("Call(%q, %q) (-want +got):\n%s", c.name, c.args, d)
		}
	}
}

// asPython marks calls that were written as Python.
func asPython(calls ...callvet.Call) []callvet.Call {
	out := slices.Clone(calls)
	for i := range out {
		out[i].Repairs = []string{InText, InPython}
	}
	return out
}

func offered() *callvet.Toolset {
	return callvet.NewToolset([]callvet.Tool{{Name: "get_weather"}, {Name: "get_time"}})
}

func TestFromText(t *testing.T) {
	t.Parallel()
	weather := callvet.Call{Tool: "get_weather", Args: raw(`{"city":"Paris"}`), Repairs: []string{InText}}
	timeCall := callvet.Call{Tool: "get_time", Args: raw(`{}`), Repairs: []string{InText}}
	one, both := []callvet.Call{weather}, []callvet.Call{weather, timeCall}
	const w = `{"name":"get_weather","arguments":{"city":"Paris"}}`
	const tm = `{"name":"get_time","arguments":{}}`
	for _, c := range []struct {
		title, text string
		calls       []callvet.Call
		unreadable  bool
	}{
		{"bare", w, one, false},
		{"parameters", `{"name": "get_weather", "parameters": {"city":"Paris"}}`, one, false},
		{"type function", `{"type":"function","function":` + w + `}`, one, false},
		{"tool and args", `{"tool":"get_weather","args":{"city":"Paris"}}`, one, false},
		{"action", `{"action":"get_weather","action_input":{"city":"Paris"}}`, one, false},
		{"fenced in prose", "Sure!\n```json\n" + w + "\n```\nOne moment.", one, false},
		{"list", "[" + w + "," + tm + "]", both, false},
		{"two in a row", w + "\n" + tm, both, false},
		{"tool_calls member", `{"tool_calls":[` + w + `,` + tm + `]}`, both, false},
		{"tags", "<tool_call>\n" + w + "\n</tool_call>\n<tool_call>" + tm + "</tool_call>", both, false},
		{"tag not closed", "<tool_call>" + w, one, false},
		{"mistral mark", "[TOOL_CALLS] [" + w + "]", one, false},
		{"llama function tag", `<function=get_weather>{"city":"Paris"}</function>`, one, false},
		{"no arguments, offered", `{"name":"get_time"}`, []callvet.Call{timeCall}, false},
		{"no arguments, of another type", `{"type":"response_metadata","name":"get_time"}`, nil, false},
		{"no arguments, of a call's type", `{"type":"tool_use","name":"get_time"}`, []callvet.Call{timeCall}, false},
		{"string arguments", `{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}`, []callvet.Call{{
			Tool: "get_weather", Args: raw(`{"city":"Paris"}`),
			ArgsRaw: `"{\"city\":\"Paris\"}"`, Repairs: []string{InText, InString},
		}}, false},
		{"broken string arguments", `{"name":"get_weather","arguments":"{\"city\":"}`, []callvet.Call{{
			Tool: "get_weather", ArgsRaw: `"{\"city\":"`, Repairs: []string{InText},
		}}, false},
		{"tool that is not offered", `{"name":"fly","arguments":{"to":"Rome"}}`, []callvet.Call{{
			Tool: "fly", Args: raw(`{"to":"Rome"}`), Repairs: []string{InText},
		}}, false},
		{"after thinking", `<think>maybe {"name":"get_time","arguments":{}}</think>` + w, one, false},
		{"two fences in prose", "First:\n```json\n" + w + "\n```\nthen\n```\n" + tm + "\n```", both, false},
		{"a fence that is cut off", "Sure!\n```json\n" + `{"name":"get_weather","arguments":{"city":"Par`, nil, true},
		{"objects with commas between", w + ",\n" + tm + ";", both, false},
		{"python", `[get_weather(city="Paris")]`, asPython(weather), false},
		{"python, two calls", "[get_weather(city='Paris'), get_time()]", asPython(weather, timeCall), false},
		{"python in a fence alone", "```python\n[get_weather(city='Paris')]\n```", asPython(weather), false},
		{
			"python in a fence in prose", "Sure!\n```python\n[get_weather(city='Paris')]\n```\nOne moment.",
			asPython(weather), false,
		},
		{"python behind a mark", `<|python_tag|>get_weather(city="Paris")<|eom_id|>`, asPython(weather), false},
		{
			"python of a tool that is not offered", `[fly(to="Rome")]`,
			asPython(callvet.Call{Tool: "fly", Args: raw(`{"to":"Rome"}`)}), false,
		},
		{"python without brackets", `get_weather(city="Paris")`, asPython(weather), false},
		{"python cut off", `[get_weather(city="Par`, nil, true},
		{"python without brackets, cut off", `get_weather(city="Par`, nil, true},
		{"python, arguments without names of a tool without a schema", `[fly(1, 2)]`, nil, true},
		{"list with one cut", "[" + w + `,{"name":"get_time","argum`, one, true},
		{"list with another thing", "[" + w + `,{"note":"hi"}]`, one, true},

		{"cut off", `{"name":"get_weather","arguments":{"city":"Par`, nil, true},
		{"cut before arguments", `{"name":"get_weather", "argu`, nil, true},
		{"cut, tool not offered", `{"name":"fly","arguments":{"to":`, nil, true},
		{"single quotes", `{'name': 'get_weather', 'arguments': {'city': 'Paris'}}`, nil, true},
		{"trailing comma", `{"name":"get_weather","arguments":{"city":"Paris",}}`, nil, true},
		{"duplicate key", `{"name":"get_weather","arguments":{"city":"Paris","city":"Rome"}}`, nil, true},
		{"tags with broken JSON", `<tool_call>{"name":"get_weather","arguments":{"city"}}</tool_call>`, nil, true},
		{"tags with prose", `<tool_call>get_weather Paris</tool_call>`, nil, true},
		{"tags with other syntax", "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis", nil, true},
		{"tag then end", `<tool_call>`, nil, true},

		{"prose", `It is sunny in Paris.`, nil, false},
		{"a call in prose", "You could call " + w + " but I will not.", nil, false},
		{"a call after prose", "Let me look: " + w, one, false},
		{"a call before prose", w + "\nThat is what I send.", one, false},
		{"a broken call in prose", `You could send {"name":"get_weather","arguments":{"city": and so on.`, nil, false},
		{"a broken call before prose", `{'name': 'get_weather', 'arguments': {}} is not JSON.`, nil, false},
		{"stray brace before", `a set {x, then ` + w, nil, false},
		{"a call beside another JSON value in prose", `From {"a":1} to ` + w, nil, false},
		{"the name of a tool", "get_weather", nil, false},
		{"the name of a tool in prose", "I would use get_weather() for that.", nil, false},
		{"the name of a tool in quotes", "`get_weather`", nil, false},
		{"python in prose", `Call [get_weather(city="Paris")] for that.`, nil, false},
		{"python before prose", `[get_weather(city="Paris")] and more`, nil, false},
		{"a function of mathematics", `f(x) = x + 1`, nil, false},
		{"python of a tool that is not offered, without brackets", `print("hello")`, nil, false},
		{"a link", `[see](https://example.org)`, nil, false},
		{"code of Python in prose", "Sure!\n```python\nprint(get_weather(city='Paris'))\n```", nil, false},
		{"another language's fence", "```xml\n" + w + "\n```\nis no XML.", nil, false},
		{"prose about tags that are quoted", "The `<tool_call>` mark starts a call.", nil, false},
		{"prose with a tag that is not quoted", `The <tool_call> mark starts a call.`, nil, true},
		{"JSON answer", `{"city":"Paris","temperature":21}`, nil, false},
		{"JSON answer with a name", `{"name":"Ada","age":36}`, nil, false},
		{"name without arguments, not offered", `{"name":"x"}`, nil, false},
		{"name and input of a person", `{"name":"Ada","input":"hello"}`, nil, false},
		{
			"definition", `{"name":"get_weather","description":"d","parameters":{"type":"object","properties":{}}}`,
			nil, false,
		},
		{"only in thinking", `<think>` + w + `</think>It is sunny.`, nil, false},
		{"thinking cut off", `<think>` + w, nil, false},
		{"code", "```js\nfunction f() { return {name: 'x'} }\n```", nil, false},
		{"cut JSON answer", `{"city":"Paris","temp`, nil, false},
		{"empty", ``, nil, false},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			want := Reading{Calls: c.calls, Unreadable: c.unreadable}
			if d := cmp.Diff(want, CallsFromText(c.text, offered()), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("reading (-want +got):\n%s", d)
			}
		})
	}
}

// TestBraces keeps a hostile text from costing quadratic time.
func TestBraces(t *testing.T) {
	t.Parallel()
	if got := CallsFromText(strings.Repeat(`{"`, 1<<20), offered()); got.Calls != nil {
		t.Errorf("calls in braces: %v", got.Calls)
	}
}

func FuzzArgs(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `"{\"a\":1}"`, ``, `{"a":`, `"\ud83d"`, `"\"\\\"\\\"\""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args, repairs := RepairArgs(s)
		if args == nil && repairs != nil {
			t.Fatal("repairs without arguments")
		}
		if args == nil {
			return
		}
		if _, err := value.Parse(args); err != nil {
			t.Fatalf("Args(%q) = %q: %v", s, args, err)
		}
	})
}

func FuzzFromText(f *testing.F) {
	for _, s := range []string{
		`{"name":"get_weather","arguments":{}}`, `<tool_call>{"name":"x"}</tool_call>`, `[{"name":"get_time"}`,
		`<function=get_time>{}</function>`, "```json\n{}\n```", `{'name':'get_time'`, `<think>{`,
	} {
		f.Add(s)
	}
	for _, s := range append(withMark(), append(whole(), append(named(), offeredOnly()...)...)...) {
		f.Add(s.text)
		f.Add(before + s.text + after)
		f.Add(s.text[:len(s.text)*2/3])
	}
	tools := spelledCase()
	f.Fuzz(func(t *testing.T, s string) {
		known, unknown := CallsFromText(s, tools), CallsFromText(s, nil)
		if known.Unknown || unknown.Unknown && (unknown.Calls != nil || unknown.Unreadable) {
			t.Fatalf("%q: %+v, of unknown tools %+v", s, known, unknown)
		}
		if quoted := CallsFromText("Such as:\n\n~~~\n"+s+"\n~~~\n", tools); !strings.Contains(s, "~~~") &&
			quoted.done() && !strings.ContainsAny(s, "<[◁") {
			t.Fatalf("%q quoted as code: %+v", s, quoted)
		}
		for _, c := range append(known.Calls, unknown.Calls...) {
			if c.Repairs[0] != InText {
				t.Fatalf("unmarked call %+v from %q", c, s)
			}
			if c.Args == nil && c.ArgsRaw == "" || utf8.ValidString(s) && !utf8.ValidString(c.Tool) {
				t.Fatalf("bad call %+v from %q", c, s)
			}
			if c.Args != nil && !json.Valid(c.Args) {
				t.Fatalf("arguments %q are not JSON", c.Args)
			}
		}
		if c := NewCall("", s, ""); c.Args == nil && c.ArgsRaw == "" {
			t.Fatalf("Call with name %q lost its payload", s)
		}
	})
}

func BenchmarkCallPlain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if c := NewCall("call_1", "get_weather",
			`{"location":"Paris, France","unit":"celsius","days":3}`); c.Args == nil {
			b.Fatal("unreadable")
		}
	}
}

func BenchmarkFromProse(b *testing.B) {
	tools := offered()
	b.ReportAllocs()
	for b.Loop() {
		if CallsFromText("It is 21 degrees and sunny in Paris; enjoy the day outside.", tools).Unreadable {
			b.Fatal("unreadable")
		}
	}
}
