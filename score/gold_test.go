// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// shown writes the turns of a gold attempt: calls with arguments and results, turns apart
// by a bar, the text of a turn in quotes.
func shown(tr *callvet.Trace) string {
	var turns []string
	for i := range tr.Turns {
		var parts []string
		for _, c := range tr.Turns[i].Calls {
			s := c.Tool + string(c.Args)
			if c.Result != nil {
				s += " gives " + string(c.Result)
			}
			parts = append(parts, s)
		}
		if t := tr.Turns[i].Content; t != "" {
			parts = append(parts, `"`+t+`"`)
		}
		turns = append(turns, strings.Join(parts, " "))
	}
	return strings.Join(turns, " | ")
}

// param asserts on one argument; mode present without a value.
func param(tool, path, mode, want string) callvet.ToolParam {
	p := callvet.ToolParam{Tool: tool, Path: path, Matcher: callvet.Matcher{Mode: mode}}
	if want != "" {
		p.Matcher.Value = json.RawMessage(want)
	}
	return p
}

// TestGold: the attempt does what the case asserts and nothing else, or there is none.
func TestGold(t *testing.T) {
	t.Parallel()
	const none = "none"
	optional := func(p callvet.Plan) callvet.Plan {
		for i := range p.Calls {
			p.Calls[i].Optional = true
		}
		return p
	}
	pattern := wants("find_city", `{"name":"x"}`, "book", "")
	pattern.Calls[1].Matchers = map[string]callvet.Matcher{"id": {Mode: "regex", Value: json.RawMessage(`"[A-Z]+"`)}}
	circle := wants("book", "", "book", "")
	circle.Calls[0].ID, circle.Calls[0].After, circle.Calls[1].ID, circle.Calls[1].After = "a", []string{"b"}, "b",
		[]string{"a"}
	chain := func(source map[string]string, prerequisites []string, e callvet.Expect) callvet.Case {
		c := one(e)
		c.MultiTurn = &callvet.MultiTurn{ArgumentSource: source, ValidPrerequisites: prerequisites}
		return c
	}
	with := func(p callvet.Plan, params ...callvet.ToolParam) callvet.Expect {
		return callvet.Expect{Plans: []callvet.Plan{p}, ToolParams: params}
	}
	fromCity := map[string]string{"id": "find_city.result.flights[1].id"}
	for _, tt := range []struct {
		name string
		c    callvet.Case
		want string
	}{
		{
			"calls together in one turn", one(plans(wants("find_city", `{"name":"x"}`, "book", ""))),
			`find_city{"name":"x"} book`,
		},
		{
			"calls in order, one in each turn", one(plans(ordered("in_order", wants("find_city", "", "book", "")))),
			`find_city | book`,
		},
		{"a circle", one(plans(circle)), none},
		{"the second plan where the first has no example", one(plans(pattern, wants("book", ""))), "book"},

		{"an answer where nothing is called", one(plans(wants())), `"Done."`},
		{"no answer where calls are enough", one(plans(wants("book", ""))), "book"},
		{
			"an answer that is asked for", one(callvet.Expect{ToolsCalled: []string{"book"}, ResponseNonEmpty: true}),
			`book | "Done."`,
		},
		{
			"texts, and none next to them",
			one(callvet.Expect{
				ResponseContains: []string{"a", "b"}, ResponseContainsAny: [][]string{{"c", "d"}},
				ResponseNonEmpty: true,
			}), "\"a\nb\nc\"",
		},
		{"one of no texts", one(callvet.Expect{ResponseContainsAny: [][]string{{}}}), none},
		{
			"a number that the tool says",
			one(callvet.Expect{
				ToolsCalled: []string{"find_city", "book"}, ResponseContains: []string{"42 seats"},
				NoUngroundedNumbers: true,
			}), `find_city book gives "42 seats" | "42 seats"`,
		},
		{
			"a number without a tool to say it",
			one(callvet.Expect{ResponseContains: []string{"42 seats"}, NoUngroundedNumbers: true}), none,
		},
		{
			"no number, so no tool has to say one",
			one(callvet.Expect{
				ToolsCalled: []string{"book"}, ResponseContains: []string{"seats"},
				NoUngroundedNumbers: true,
			}), `book | "seats"`,
		},
		{"no number and no tool", one(callvet.Expect{NoUngroundedNumbers: true}), `"Done."`},

		{
			"any set that is acceptable",
			one(callvet.Expect{ToolsAcceptable: [][]string{{"book", "find_city"}, {"book"}}}), "book find_city",
		},
		{
			"nothing is acceptable, too",
			one(callvet.Expect{ToolsAcceptable: [][]string{{"book"}, {callvet.NoTools}}}), `"Done."`,
		},
		{"an empty set is nothing", one(callvet.Expect{ToolsAcceptable: [][]string{{"book"}, {}}}), `"Done."`},
		{
			"exactly the fewest calls",
			one(callvet.Expect{ToolsAcceptable: [][]string{{"book", "find_city"}}, MinToolCalls: whole(2)}),
			"book find_city",
		},
		{
			"more calls than are named",
			one(callvet.Expect{ToolsAcceptable: [][]string{{"book", "find_city"}}, MinToolCalls: whole(3)}), none,
		},
		{"at least no calls", one(callvet.Expect{MinToolCalls: whole(0)}), `"Done."`},
		{"at least one call of any tool", one(callvet.Expect{MinToolCalls: whole(1)}), none},

		{
			"an argument that a plan's call has already",
			one(with(wants("get_weather", `{"city":"Paris"}`), param("get_weather", "city", "contains", `"par"`))),
			`get_weather{"city":"Paris"}`,
		},
		{
			"arguments next to a plan's own",
			one(with(wants("find_city", "", "get_weather", `{"city":"Paris"}`), param("get_weather", "days", "", "2"),
				param("get_weather", "unit", "", `"celsius"`))),
			`find_city get_weather{"city":"Paris","days":2,"unit":"celsius"}`,
		},
		{
			"every digit of a plan's own",
			one(with(wants("book", `{"id":9007199254740993}`), param("book", "note.at", "", "1e2"))),
			`book{"id":9007199254740993,"note":{"at":1e2}}`,
		},
		{
			"an argument of the first call",
			one(with(wants("book", "", "find_city", ""), param("Book", "id", "", `"x"`))),
			`book{"id":"x"} find_city`,
		},
		{
			"an argument of a call that the plan does not have",
			one(with(wants("book", ""), param("find_city", "name", "", `"x"`))), "book",
		},
		{
			"an argument of a call that the sets do not have",
			one(callvet.Expect{
				ToolsAcceptable: [][]string{{"book"}},
				ToolParams:      []callvet.ToolParam{param("find_city", "name", "", `"x"`)},
			}), "book",
		},
		{
			"arguments alone make the call",
			one(callvet.Expect{ToolParams: []callvet.ToolParam{
				param("book", "id", "", `"x"`),
				param("book", "note", "", `"y"`), param("find_city", "name", "", `"z"`),
			}}),
			`book{"id":"x","note":"y"} find_city{"name":"z"}`,
		},
		{
			"an argument that has to be absent",
			one(with(wants("book", ""), param("book", "note", "absent", ""))), "book{}",
		},
		{
			"one absent, one not",
			one(with(wants("book", ""), param("book", "id", "", `"x"`), param("book", "note", "absent", ""))),
			`book{"id":"x"}`,
		},
		{
			"absent already", one(with(wants("book", `{"id":"x"}`), param("book", "note", "absent", ""))),
			`book{"id":"x"}`,
		},
		{"an argument by a pattern", one(with(wants("book", ""), param("book", "id", "regex", `"[A-Z]+"`))), none},

		{
			"a prerequisite that the value comes from",
			chain(fromCity, []string{"find_city"}, plans(wants("book", `{"id":"F7"}`))),
			`find_city gives {"flights":[null,{"id":"F7"}]} | book{"id":"F7"}`,
		},
		{
			"an expected call that the value comes from",
			chain(fromCity, nil, plans(wants("get_weather", "", "find_city", `{"name":"x"}`, "book", `{"id":"F7"}`))),
			`get_weather | find_city{"name":"x"} gives {"flights":[null,{"id":"F7"}]} | book{"id":"F7"}`,
		},
		{"a source that is no prerequisite", chain(fromCity, nil, plans(wants("book", `{"id":"F7"}`))), none},
		{"any earlier call", chain(map[string]string{"id": "previous_tool"}, nil,
			plans(wants("find_city", "", "book", `{"id":"F7"}`))), `find_city gives {"id":"F7"} | book{"id":"F7"}`},
		{
			"any earlier call, and there is none",
			chain(map[string]string{"id": "previous_tool"}, []string{"find_city"}, plans(wants("book", `{"id":"F7"}`))),
			none,
		},
		{
			"a value of the user", chain(map[string]string{"id": "user"}, nil, plans(wants("book", `{"id":"Paris"}`))),
			`book{"id":"Paris"}`,
		},
		{
			"a value that the call does not have",
			chain(map[string]string{"note": "find_city.result.id"}, []string{"find_city"},
				plans(wants("book", `{"id":"F7"}`))), none,
		},
		{"a call without asserted arguments", chain(fromCity, []string{"find_city"}, plans(wants("book", ""))), none},
		{
			"sources without a plan",
			chain(fromCity, []string{"find_city"}, callvet.Expect{ToolsAcceptable: [][]string{{"book"}}}), none,
		},
		{
			"no final call, since all are optional",
			chain(fromCity, []string{"find_city"},
				plans(optional(wants("find_city", `{"name":"x"}`, "book", `{"id":"F7"}`)))), none,
		},
		{
			"no final call left from the plan before",
			chain(fromCity, []string{"find_city"},
				plans(pattern, optional(wants("find_city", `{"id":"x"}`, "find_city", `{"id":"F7"}`)))),
			none,
		},
		{"required prerequisites without a plan", func() callvet.Case {
			c := one(callvet.Expect{ToolsAcceptable: [][]string{{"book"}}})
			c.MultiTurn = &callvet.MultiTurn{RequiredPrerequisites: []string{"find_city", "get_weather"}}
			return c
		}(), "find_city | get_weather | book"},
	} {
		s := weatherSuite(tt.c)
		sc, _ := compile(s) // a circle is a problem, and what has one is scored nevertheless
		tr, ok := sc[0].Gold()
		ok = ok && sc[0].Ground(&tr)
		got := none
		if ok {
			got = shown(&tr)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// A gold attempt is a whole trace of the case.
func TestGoldTrace(t *testing.T) {
	t.Parallel()
	e := plans(wants("book", `{"id":"x"}`))
	e.ResponseContains = []string{"booked"}
	s := weatherSuite(one(e))
	got, ok := mustCompile(t, s)[0].Gold()
	want := callvet.Trace{
		CaseID: "c", Target: "gold", Outcome: callvet.OutcomeCalled, Format: callvet.FormatPass,
		End: callvet.EndAnswered, Answer: "booked",
		Turns: []callvet.Turn{
			{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "book", Args: json.RawMessage(`{"id":"x"}`)}}},
			{Role: callvet.RoleAssistant, Content: "booked"},
		},
	}
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Error(ok, d)
	}
}
