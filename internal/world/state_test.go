// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/world"
)

func templated(tool, template string) callvet.Mock {
	return callvet.Mock{Tool: tool, Replies: []callvet.MockReply{{Template: json.RawMessage(template)}}}
}

// answersTo are a world's answers to the calls, one after the other.
func answersTo(t *testing.T, w callvet.World, calls ...string) []string {
	t.Helper()
	var out []string
	for i := 0; i < len(calls); i += 2 {
		r, err := w.Answer(t.Context(), callvet.Call{Tool: calls[i], Args: json.RawMessage(calls[i+1])})
		switch {
		case err != nil:
			out = append(out, "fault: "+err.Error())
		case r.Error != "":
			out = append(out, string(r.Status)+": "+r.Error)
		default:
			out = append(out, string(r.Result))
		}
	}
	return out
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Mocks: []callvet.Mock{
		templated("weather",
			`{"city":"{{args.city}}","days":"{{args.days}}","text":"{{args.city}}, call {{call.number}} of {{call.tool}}, {{call.position}} in all","to":"{{fault.mail}}"}`),
		templated("order",
			`{"id":"{{fake.id}}","again":"{{fake.id}}","customer":"{{fake.uuid.customer}}","n":"{{fake.number}}"}`),
		templated("broken", `"{{"`),
	}}
	world := func() callvet.World { return world.Mocks(s, &callvet.Case{}, world.MockOptions{}) }
	got := answersTo(t, world(), "weather", `{"city":"Oslo","days":3}`, "Weather", `{"city":"Rome"}`, "order", `{"a":1}`,
		"order", `{"a":1}`, "broken", `{}`)
	for i, want := range []string{
		`{"city":"Oslo","days":3,"text":"Oslo, call 1 of weather, 1 in all","to":"{{mail}}"}`,
		`{"city":"Rome","days":null,"text":"Rome, call 2 of Weather, 2 in all","to":"{{mail}}"}`,
	} {
		if got[i] != want {
			t.Errorf("%s, want %s", got[i], want)
		}
	}
	form := regexp.MustCompile(
		`^{"id":"([0-9a-f]{12})","again":"([0-9a-f]{12})","customer":"([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})","n":"\d{8}"}$`)
	one, two := form.FindStringSubmatch(got[2]), form.FindStringSubmatch(got[3])
	if one == nil || two == nil || one[1] != one[2] || one[1] == two[1] || one[3] != two[3] {
		t.Errorf("identifiers: %s, then %s", got[2], got[3])
	}
	if again := answersTo(t, world(), "weather", `{}`, "weather", `{}`, "order", `{"a":1}`); again[2] != got[2] {
		t.Errorf("the same call at the same place: %s, then %s", got[2], again[2])
	}
	if got[4] != `fault: fill the template of a mock of broken: invalid: {{ is not closed by }}` {
		t.Error(got[4])
	}
}

// TestStates plays a login: an action before it fails, one after it works, for some calls.
func TestStates(t *testing.T) {
	t.Parallel()
	reply := func(result string) []callvet.MockReply { return []callvet.MockReply{{Result: json.RawMessage(result)}} }
	s := &callvet.Suite{Mocks: []callvet.Mock{
		{Tool: "login", Args: json.RawMessage(`{"pin":"wrong"}`), Replies: []callvet.MockReply{{Error: "wrong pin"}}},
		{
			Tool: "login",
			Replies: []callvet.MockReply{{
				Result: json.RawMessage(`"in"`),
				Set:    map[string]callvet.MockState{"session": {Value: "open", Calls: 2, Then: "expired"}},
			}},
		},
		{
			Tool: "logout",
			Replies: []callvet.MockReply{{
				Result: json.RawMessage(`"out"`),
				Set:    map[string]callvet.MockState{"session": {}},
			}},
		},
		{Tool: "pay", When: map[string]string{"session": "open"}, Replies: reply(`"paid"`)},
		{
			Tool: "pay", When: map[string]string{"session": "expired"},
			Replies: []callvet.MockReply{{Error: "the session has expired"}},
		},
		{Tool: "balance", Replies: []callvet.MockReply{{Error: "log in first"}}},
		{Tool: "balance", When: map[string]string{"session": "open"}, Replies: reply(`12`)},
		{Tool: "help", When: map[string]string{"session": ""}, Replies: reply(`"log in"`)},
	}}
	const no = "exec_error: this cannot be done now"
	for name, tc := range map[string]struct{ calls, want []string }{
		"wrong order": {
			[]string{"pay", `{}`, "balance", `{}`, "help", `{}`},
			[]string{no, "exec_error: log in first", `"log in"`},
		},
		"a login that fails changes nothing": {
			[]string{"login", `{"pin":"wrong"}`, "pay", `{}`},
			[]string{"exec_error: wrong pin", no},
		},
		"expiry, and once more": {
			[]string{
				"login", `{}`, "pay", `{}`, "balance", `{}`, "pay", `{}`, "balance", `{}`, "help", `{}`, "login",
				`{}`, "pay", `{}`,
			},
			[]string{
				`"in"`, `"paid"`, `12`, "exec_error: the session has expired", "exec_error: log in first", no,
				`"in"`, `"paid"`,
			},
		},
		"any call counts": {
			[]string{"login", `{}`, "nope", `{}`, "login", `{"pin":"wrong"}`, "pay", `{}`},
			[]string{
				`"in"`, `exec_error: unknown tool "nope"`, "exec_error: wrong pin",
				"exec_error: the session has expired",
			},
		},
		"back to where it began": {
			[]string{"login", `{}`, "logout", `{}`, "help", `{}`},
			[]string{`"in"`, `"out"`, `"log in"`},
		},
	} {
		got := answersTo(t, world.Mocks(s, &callvet.Case{}, world.MockOptions{}), tc.calls...)
		for i := range tc.want {
			if got[i] != tc.want[i] {
				t.Errorf("%s: call %d: %s, want %s", name, i+1, got[i], tc.want[i])
			}
		}
	}
	a, b := world.Mocks(s, &callvet.Case{}, world.MockOptions{}), world.Mocks(s, &callvet.Case{}, world.MockOptions{})
	answersTo(t, a, "login", `{}`)
	if got := answersTo(t, b, "pay", `{}`); got[0] != no {
		t.Errorf("another conversation is logged in: %s", got[0])
	}
	if got := answersTo(t, a, "pay", `{}`); got[0] != `"paid"` {
		t.Errorf("the conversation that logged in: %s", got[0])
	}
}
