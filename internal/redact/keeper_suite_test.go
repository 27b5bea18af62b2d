// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestCasePlace: a finding is reported with its place in the case, and only the first.
func TestCasePlace(t *testing.T) {
	t.Parallel()
	const known = "k3y-of-this-process"
	k := NewKeeper([]string{"SOME_API_KEY=" + known}, nil)
	call := func(args string) callvet.Case {
		return callvet.Case{Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"f"}, Args: json.RawMessage(args)}}}}}}
	}
	for _, tt := range []struct {
		name, want string
		c          callvet.Case
	}{
		{"nothing", "", callvet.Case{Description: "a case"}},
		{"a member", "description", callvet.Case{Description: "with " + known}},
		{"a list", "tags[1]", callvet.Case{Tags: []string{"a", known, known}}},
		{
			"a member of an item", "input[1].content",
			callvet.Case{Input: []callvet.Turn{{Content: "Hello"}, {Content: known}}},
		},
		{"lists in lists", "expect.plans[0].calls[0].args.a[1][0].b", call(`{"a":[1,[{"b":"` + known + `"}]]}`)},
		{"a name with a dot", "expect.plans[0].calls[0].args.a.b", call(`{"a.b":"` + known + `"}`)},
		{"an empty name", "expect.plans[0].calls[0].args..b", call(`{"":{"b":"` + known + `"}}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, p := range k.Case(&tt.c) {
				got += p.Key
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSuiteSearch: what a search remembers of earlier cases hides nothing in later ones.
func TestSuiteSearch(t *testing.T) {
	t.Parallel()
	k := NewKeeper([]string{"SOME_API_KEY=k3y-of-this-process"}, nil)
	s := k.Search()
	find := func(c callvet.Case) string {
		text, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range s.Case(&c, append(text, '\n')) {
			if got += p.Key; p.Key == "" {
				got = "the text"
			}
		}
		return got
	}
	args := func(args string) callvet.Case {
		return callvet.Case{Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
			Tools: []string{"f"}, Args: json.RawMessage(args),
		}}}}}}
	}
	const drawn, path = "Zq81hGv0TnWx5RbK2mLd", "expect.plans[0].calls[0].args."
	for _, step := range []struct {
		c     callvet.Case
		learn string
		want  string
	}{
		{c: args(`{"note":"` + drawn + `"}`)},
		{c: args(`{"note":"` + drawn + `"}`)},
		{c: args(`{"password":"` + drawn + `"}`), want: path + "password"}, // clean under another name
		{c: args(`{"password":"` + drawn + `"}`), want: path + "password"},
		{c: args(`{"a":1,"a":2,"password":"` + drawn + `"}`), want: "the text"}, // no member has a place in it
		{c: callvet.Case{Description: "later a key"}},
		{c: callvet.Case{Description: "later a key"}, learn: "later a key", want: "description"},
		{c: callvet.Case{Description: "k3y-of-this-process"}, want: "description"},
		{
			c:    callvet.Case{Tools: []callvet.Tool{{Name: "f", Description: "k3y-of-this-process"}}},
			want: "tools[0].description",
		},
	} {
		k.Learn(step.learn)
		if got := find(step.c); got != step.want {
			t.Errorf("%+v: found at %q, want %q", step.c, got, step.want)
		}
		if got := k.Case(&step.c); (len(got) > 0) != (step.want != "") {
			t.Errorf("%+v: Keeper.Case finds %v", step.c, got)
		}
	}
}
