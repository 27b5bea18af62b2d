// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
)

// wants makes a plan of name, arguments pairs.
func wants(pairs ...string) callvet.Plan {
	p := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	for i := 0; i < len(pairs); i += 2 {
		c := callvet.ExpectedCall{Tools: []string{pairs[i]}}
		if pairs[i+1] != "" {
			c.Args = json.RawMessage(pairs[i+1])
		}
		p.Calls = append(p.Calls, c)
	}
	return p
}

// made makes a trace of name, arguments pairs, all in one assistant turn.
func made(pairs ...string) *callvet.Trace {
	t := &callvet.Trace{Turns: []callvet.Turn{{Role: callvet.RoleAssistant}}}
	for i := 0; i < len(pairs); i += 2 {
		c := callvet.Call{Tool: pairs[i]}
		if pairs[i+1] != "" {
			c.Args = json.RawMessage(pairs[i+1])
		}
		t.Turns[0].Calls = append(t.Turns[0].Calls, c)
	}
	t.Classify("")
	return t
}

// verdict scores one attempt at one plan without tools.
func verdict(t *testing.T, p callvet.Plan, tr *callvet.Trace) callvet.Result {
	t.Helper()
	s := &callvet.Suite{Cases: []callvet.Case{{ID: "c", Expect: callvet.Expect{Plans: []callvet.Plan{p}}}}}
	sc, ps := compile(s)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	return sc[0].Score(tr)
}

// after makes the last call of a plan wait for all others.
func after(p callvet.Plan) callvet.Plan {
	last := len(p.Calls) - 1
	for i := range last {
		p.Calls[i].ID = string(rune('a' + i))
		p.Calls[last].After = append(p.Calls[last].After, p.Calls[i].ID)
	}
	return p
}

func ordered(o callvet.Order, p callvet.Plan) callvet.Plan {
	p.Order = o
	return p
}

func TestConformance(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	b, err := os.ReadFile(filepath.Join(dir, "../conformance/matcher-cases.json"))
	if err != nil {
		t.Skip("the conformance cases are not here: ", err)
	}
	var cases []struct {
		ID, Title, Want string
		Exp, Act        [][2]json.RawMessage
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	pairs := func(in [][2]json.RawMessage) []string {
		var out []string
		for _, p := range in {
			var name string
			if err := json.Unmarshal(p[0], &name); err != nil {
				t.Fatal(err)
			}
			out = append(out, name, string(p[1]))
		}
		return out
	}
	right := 0
	for _, c := range cases {
		p := wants(pairs(c.Exp)...)
		switch c.ID {
		case "T13a", "T13b":
			p = after(p)
		case "T19":
			p.Order = callvet.OrderInOrder
		}
		r := verdict(t, p, made(pairs(c.Act)...))
		if string(r.Verdict) != c.Want {
			t.Errorf("%s %s: %s, want %s: %+v", c.ID, c.Title, r.Verdict, c.Want, r)
			continue
		}
		right++
	}
	t.Logf("conformance: %d of %d", right, len(cases))
	if len(cases) < 20 {
		t.Errorf("only %d cases read", len(cases))
	}
}

// TestMatcher holds the rules of pairing by small cases of this project's own.
func TestMatcher(t *testing.T) {
	t.Parallel()
	const pass, fail = callvet.VerdictPass, callvet.VerdictFail
	for _, tc := range []struct {
		name  string
		plan  callvet.Plan
		trace *callvet.Trace
		want  callvet.Verdict
		class callvet.Class
	}{
		{
			"repeat wanted, both made", wants("ring", `{"n":2}`, "ring", `{"n":2}`),
			made("ring", `{"n":2}`, "ring", `{"n":2}`), pass, "",
		},
		{
			"repeat wanted, one made", wants("ring", `{"n":2}`, "ring", `{"n":2}`), made("ring", `{"n":2}`), fail,
			callvet.ClassIncomplete,
		},
		{
			"repeat wanted, second differs", wants("ring", `{"n":2}`, "ring", `{"n":2}`),
			made("ring", `{"n":2}`, "ring", `{"n":3}`), fail, callvet.ClassWrongArgs,
		},
		{
			"repeat not wanted", wants("ring", `{"n":2}`), made("ring", `{"n":2}`, "ring", `{"n":2}`), fail,
			callvet.ClassLoop,
		},
		{
			"greedy takes the wrong partner", wants("s", `{"q":"a"}`, "s", `{"q":"a","page":2}`),
			made("s", `{"q":"a","page":2}`, "s", `{"q":"a"}`), pass, "",
		},
		{
			"greedy fails in a chain of three", wants("s", `{"a":1}`, "s", `{"a":1,"b":1}`, "s", `{"a":1,"b":1,"c":1}`),
			made("s", `{"a":1,"b":1,"c":1}`, "s", `{"a":1}`, "s", `{"a":1,"b":1}`), pass, "",
		},
		{
			"arguments crossed", wants("pay", `{"to":"x","n":1}`, "pay", `{"to":"y","n":2}`),
			made("pay", `{"to":"x","n":2}`, "pay", `{"to":"y","n":1}`), fail, callvet.ClassWrongArgs,
		},
		{
			"extra call", wants("look", `{}`), made("look", `{}`, "erase", `{"all":true}`), fail,
			callvet.ClassUnneededCall,
		},
		{"nothing wanted, nothing made", wants(), made(), pass, ""},
		{"nothing wanted, one made", wants(), made("look", `{}`), fail, callvet.ClassUnneededCall},
		{"one wanted, nothing made", wants("look", `{}`), made(), fail, callvet.ClassMissedCall},
		{"wrong tool", wants("look", `{}`), made("erase", `{}`), fail, callvet.ClassWrongTool},
		{"names regardless of case", wants("Look", `{}`), made("look", `null`), pass, ""},
		{"dot is not underscore", wants("a.b", `{}`), made("a_b", `{}`), fail, callvet.ClassWrongTool},
		{"arguments not asserted", wants("look", ""), made("look", `{"anything":1}`), pass, ""},
		{"no arguments wanted, one given", wants("look", `{}`), made("look", `{"x":1}`), fail, callvet.ClassWrongArgs},
		{
			"in order, kept", ordered(callvet.OrderInOrder, wants("a", "", "b", "")),
			made("a", `{}`, "b", `{}`), pass, "",
		},
		{
			"in order, broken", ordered(callvet.OrderInOrder, wants("a", "", "b", "")), made("b", `{}`, "a", `{}`), fail,
			callvet.ClassWrongOrder,
		},
		{
			"in order, identical repeats around", ordered(callvet.OrderInOrder, wants("a", `{}`, "b", `{}`, "a", `{}`)),
			made("a", `{}`, "b", `{}`, "a", `{}`), pass, "",
		},
		{"strict, kept", ordered(callvet.OrderStrict, wants("a", "", "b", "")), made("a", `{}`, "b", `{}`), pass, ""},
		{
			"fan in, either first", after(wants("a", "", "b", "", "c", "")),
			made("b", `{}`, "a", `{}`, "c", `{}`), pass, "",
		},
		{
			"fan in, too early", after(wants("a", "", "b", "", "c", "")), made("a", `{}`, "c", `{}`, "b", `{}`), fail,
			callvet.ClassWrongOrder,
		},
		{"subset, fewer", ordered(callvet.OrderSubset, wants("a", "", "b", "")), made("b", `{}`), pass, ""},
		{
			"subset, other", ordered(callvet.OrderSubset, wants("a", "", "b", "")), made("c", `{}`), fail,
			callvet.ClassWrongTool,
		},
		{"superset, more", ordered(callvet.OrderSuperset, wants("a", "")), made("b", `{}`, "a", `{}`), pass, ""},
		{
			"superset, missing", ordered(callvet.OrderSuperset, wants("a", "", "b", "")), made("b", `{}`), fail,
			callvet.ClassIncomplete,
		},
		{"precision", ordered(callvet.OrderPrecision, wants("a", "", "b", "")), made("a", `{}`), pass, ""},
		{
			"precision, nothing called", ordered(callvet.OrderPrecision, wants("a", "")), made(), fail,
			callvet.ClassMissedCall,
		},
		{"recall", ordered(callvet.OrderRecall, wants("a", "")), made("c", `{}`, "a", `{}`), pass, ""},
		{
			"single tool use", ordered(callvet.OrderSingle, wants("a", `{"x":1}`)),
			made("b", `{}`, "a", `{"x":2}`, "a", `{"x":1}`), pass, "",
		},
		{
			"single tool use, wrong arguments", ordered(callvet.OrderSingle, wants("a", `{"x":1}`)), made("a", `{"x":2}`),
			fail, callvet.ClassWrongArgs,
		},
		{"broken arguments", wants("a", `{}`), made("a", `{"x":`), fail, callvet.ClassUnparseable},
		{
			"duplicate keys are broken", wants("a", `{"x":1}`), made("a", `{"x":2,"x":1}`), fail,
			callvet.ClassUnparseable,
		},
		{"arguments not recorded", wants("a", `{"x":1}`), made("a", ""), callvet.VerdictNotRun, ""},
		{"arguments not recorded and not asserted", wants("a", ""), made("a", ""), pass, ""},
		{"arguments are a list", wants("a", `{}`), made("a", `[]`), fail, callvet.ClassWrongArgs},
	} {
		r := verdict(t, tc.plan, tc.trace)
		if r.Verdict != tc.want || r.Class != tc.class {
			t.Errorf("%s: %s %s (%s), want %s %s", tc.name, r.Verdict, r.Class, r.Reason, tc.want, tc.class)
		}
		if (r.Reason == "") != (r.Verdict == pass) {
			t.Errorf("%s: %s with reason %q", tc.name, r.Verdict, r.Reason)
		}
	}
}

func TestReorderPrefersTheOrderThatHolds(t *testing.T) {
	t.Parallel()
	// Interchangeable calls: position alone would pair them against the order.
	p := wants("a", "", "b", "", "a", "")
	p.Calls[0].ID, p.Calls[1].After = "first", []string{"first"}
	p.Calls[1].ID, p.Calls[2].After = "second", nil
	if r := verdict(t, p, made("a", `{}`, "a", `{}`, "b", `{}`)); r.Verdict != callvet.VerdictPass {
		t.Errorf("a partial order that can be kept: %+v", r)
	}
	unlimited := -1
	for _, o := range []callvet.Order{callvet.OrderStrict, callvet.OrderInOrder} {
		p := wants("a", "", "b", "")
		p.Order, p.MaxExtraCalls = o, &unlimited
		if r := verdict(t, p, made("b", `{}`, "a", `{}`, "b", `{}`)); r.Verdict != callvet.VerdictPass {
			t.Errorf("%s with an extra call before: %s", o, r.Reason)
		}
		between := verdict(t, p, made("a", `{}`, "x", `{}`, "b", `{}`))
		if want := o == callvet.OrderInOrder; (between.Verdict == callvet.VerdictPass) != want {
			t.Errorf("%s with an extra call between: %s %s", o, between.Verdict, between.Reason)
		}
	}
}
