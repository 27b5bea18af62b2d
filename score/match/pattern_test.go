// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"github.com/google/go-cmp/cmp"
)

func asJSON(s string) json.RawMessage { return json.RawMessage(s) }

func TestPatternsOfNames(t *testing.T) {
	t.Parallel()
	ids := func(m callvet.Matcher) map[string]callvet.Matcher { return map[string]callvet.Matcher{"*_id": m} }
	any := callvet.Matcher{Mode: ModePresent, Optional: true}
	for _, tt := range []struct {
		name, args, got string
		ms              map[string]callvet.Matcher
		schema          string
		pass            bool
	}{
		{"ignored", `{"q":1}`, `{"q":1,"a_id":2,"b_id":3}`, ids(any), "", true},
		{"none there", `{"q":1}`, `{"q":1}`, ids(any), "", true},
		{"another argument", `{"q":1}`, `{"q":1,"a_id":2,"x":3}`, ids(any), "", false},
		{"an expected argument is compared", `{"a_id":1}`, `{"a_id":2}`, ids(any), "", false},
		{"at least one", `{}`, `{}`, ids(callvet.Matcher{Mode: ModePresent}), "", false},
		{"at least one, there", `{}`, `{"a_id":1}`, ids(callvet.Matcher{Mode: ModePresent}), "", true},
		{
			"all of a type", `{}`, `{"a_id":1,"b_id":"x"}`,
			ids(callvet.Matcher{Mode: ModeType, Value: asJSON(`"number"`)}), "", false,
		},
		{"absent", `{}`, `{"a_id":1}`, ids(callvet.Matcher{Mode: ModeAbsent}), "", false},
		{"absent, not there", `{}`, `{}`, ids(callvet.Matcher{Mode: ModeAbsent}), "", true},
		{"an argument of that very name", `{"*_id":1}`, `{"*_id":1,"a_id":1}`, ids(any), "", false},
		{"a parameter of that very name", `{}`, `{"a_id":1}`, ids(any), `{"properties":{"*_id":{}}}`, false},
	} {
		a, ps := Compile(asJSON(tt.args), tt.ms, mustParse(t, tt.schema), Settings{Leaf: ModeExact}, "")
		if len(ps) > 0 {
			t.Fatal(tt.name, ps)
		}
		v := mustParse(t, tt.got)
		tally := a.Tally(v)
		if got := a.Pass(&tally); got != tt.pass {
			t.Errorf("%s: %v, %+v", tt.name, got, tally)
		}
		wrong := false
		for _, d := range a.Diff(v) {
			wrong = wrong || !d.Matched
		}
		if wrong == tt.pass {
			t.Errorf("%s: the diff says otherwise: %+v", tt.name, a.Diff(v))
		}
	}
}

func TestPatternsAreReportedAndCounted(t *testing.T) {
	t.Parallel()
	a, _ := Compile(asJSON(`{"q":1}`), map[string]callvet.Matcher{"*_id": {Mode: ModeType, Value: asJSON(`"number"`)}},
		value.Value{}, Settings{Leaf: ModeExact}, "")
	got := mustParse(t, `{"q":1,"a_id":2,"b_id":"x","y":0}`)
	want := Tally{Expected: 3, Matched: 2, Soft: 2, Gold: 3, Emitted: 4, Union: 4, Hits: 2, Extra: 1}
	if diff := cmp.Diff(want, a.Tally(got)); diff != "" {
		t.Error(diff)
	}
	var paths []string
	for _, d := range a.Diff(got) {
		paths = append(paths, d.Path)
	}
	if diff := cmp.Diff([]string{"q", "a_id", "b_id", "y"}, paths); diff != "" {
		t.Error(diff)
	}
	if _, ok := a.Example(); ok || !a.Patterned() {
		t.Error("no example holds an argument of an unknown name")
	}
	for _, m := range []callvet.Matcher{{Mode: ModePresent, Optional: true}, {Mode: ModeAbsent}} {
		a, _ = Compile(asJSON(`{"q":1}`), map[string]callvet.Matcher{"*_id": m}, value.Value{},
			Settings{Leaf: ModeExact}, "")
		if e, ok := a.Example(); !ok || string(e) != `{"q":1}` {
			t.Errorf("%s: example %s", m.Mode, e)
		}
	}
	a, _ = Compile(asJSON(`{"q":1}`), nil, value.Value{}, Settings{Leaf: ModeExact}, "")
	if a.Patterned() {
		t.Error("there is no pattern")
	}
}

func TestPartialAndText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode, want, got string
		ok              bool
	}{
		{ModePartial, `{"a":{"b":1}}`, `{"a":{"b":1,"c":2},"d":3}`, true},
		{ModePartial, `{"a":1}`, `{"b":1}`, false},
		{ModePartial, `[{"a":1},2]`, `[{"a":1,"b":2},2]`, true},
		{ModePartial, `[{"a":1}]`, `[{"a":1},{"a":2}]`, false},
		{ModePartial, `[1,2]`, `[2,1]`, false},
		{ModeText, `1`, `"1"`, true},
		{ModeText, `"1"`, `1.0`, true},
		{ModeText, `"1"`, `"1.0"`, false},
		{ModeText, `1`, `"one"`, false},
		{ModeText, `"a"`, `"A"`, false},
		{ModeText, `true`, `"True"`, true},
		{ModeText, `"false"`, `true`, false},
		{ModeText, `null`, `"null"`, true},
		{ModeText, `{"a":[1,"2"]}`, `"{\"a\": [\"1\", 2]}"`, true},
		{ModeText, `{"a":1}`, `{"a":"1"}`, true},
		{ModeText, `{"a":1}`, `{"a":1,"b":1}`, false},
		{ModeText, `{"a":1}`, `{"b":1}`, false},
		{ModeText, `[1,2]`, `["1","2"]`, true},
		{ModeText, `[1,2]`, `["2","1"]`, false},
		{ModeText, `[1]`, `[1,1]`, false},
		{ModeText, `[]`, `{}`, false},
		{ModeText, `1`, `true`, false},
		{ModeText, `1`, `"\"1\""`, false},
	} {
		r, ps := One("x", callvet.Matcher{Mode: tt.mode, Value: asJSON(tt.want)}, Settings{Leaf: ModeExact})
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		if ok, _ := r.Match(mustParse(t, tt.got)); ok != tt.ok {
			t.Errorf("%s %s of %s is %v", tt.mode, tt.want, tt.got, ok)
		}
	}
	set, ps := FromScoring(&callvet.Scoring{Mode: ModePartial}, nil)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	a, _ := Compile(asJSON(`{"a":{"b":1}}`), nil, value.Value{}, set, "")
	tally := a.Tally(mustParse(t, `{"a":{"b":1,"c":1},"d":1}`))
	if !a.Pass(&tally) {
		t.Error("as the mode of a case, other arguments are ignored")
	}
}
