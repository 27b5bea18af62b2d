// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"encoding/json"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TestNamesInAnyForm: one name of an argument may be written in several ways of Unicode. é is
// one code point or two.
func TestNamesInAnyForm(t *testing.T) {
	t.Parallel()
	const one, two = "caf\u00e9", "cafe\u0301"
	parse := func(s string) value.Value {
		v, err := value.Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		want, got, schema string
		right             bool
	}{
		{`{"` + one + `":1}`, `{"` + two + `":1}`, ``, true},
		{`{"` + two + `":1}`, `{"` + one + `":1}`, ``, true},
		{`{"` + one + `":1}`, `{"cafe\u0301":1}`, ``, true},
		{`{"a":[{"` + one + `":"x"}]}`, `{"a":[{"` + two + `":"x"}]}`, ``, true},
		{`{"` + one + `":1}`, `{"` + two + `":2}`, ``, false},
		{`{"` + one + `":1}`, `{"cafe":1}`, ``, false},
		{`{"` + one + `":1}`, `{"` + one + `":1,"` + two + `":1}`, ``, false},
		{`{"a":1}`, `{"a":1,"` + two + `":5}`, `{"properties":{"` + one + `":{"default":5}}}`, true},
	} {
		schema := value.Value{}
		if c.schema != "" {
			schema = parse(c.schema)
		}
		want, got := parse(c.want), parse(c.got)
		rules, ps := Compile(json.RawMessage(c.want), nil, schema, Settings{}, "")
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		a, b := rules.Tally(got), NewExact(schema).Tally(&Scratch{}, want, got)
		if a.Exact() != c.right || b.Exact() != c.right {
			t.Errorf("%s of %s: by rules %+v, directly %+v", c.got, c.want, a, b)
		}
		all := true
		for _, d := range rules.Diff(got) {
			all = all && d.Matched
		}
		if all != c.right {
			t.Errorf("%s of %s: %+v", c.got, c.want, rules.Diff(got))
		}
	}
	rules, ps := Compile(nil, map[string]callvet.Matcher{two: {Mode: ModeNumeric, Value: json.RawMessage(`1`)}},
		value.Value{}, Settings{}, "")
	if tally := rules.Tally(parse(`{"` + one + `":1.0}`)); len(ps) > 0 || !tally.Exact() {
		t.Errorf("a matcher: %v %+v", ps, tally)
	}
}
