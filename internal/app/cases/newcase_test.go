// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestNamesOf: all sets of names that a plan accepts are listed, or none.
func TestNamesOf(t *testing.T) {
	t.Parallel()
	call := func(optional bool, tools ...string) callvet.ExpectedCall {
		return callvet.ExpectedCall{Tools: tools, Optional: optional}
	}
	four := []string{"a", "b", "c", "d"}
	for name, tt := range map[string]struct {
		calls []callvet.ExpectedCall
		want  [][]string
		all   bool
	}{
		"none":                   {nil, [][]string{{}}, true},
		"one of two, or nothing": {[]callvet.ExpectedCall{call(true, "a", "b")}, [][]string{{}, {"a"}, {"b"}}, true},
		"two calls": {
			[]callvet.ExpectedCall{call(false, "a"), call(false, "b", "c")},
			[][]string{{"a", "b"}, {"a", "c"}},
			true,
		},
		"17 choices": {[]callvet.ExpectedCall{call(false,
			append(append(append(append([]string{"q"}, four...), four...), four...), four...)...)}, nil, false},
		"five that may be left out": {[]callvet.ExpectedCall{
			call(true, "a"), call(true, "b"), call(true, "c"),
			call(true, "d"), call(true, "e"),
		}, nil, false},
	} {
		got, all := namesOf(&callvet.Plan{Calls: tt.calls})
		if diff := cmp.Diff(tt.want, got); diff != "" || all != tt.all {
			t.Errorf("%s: all %v %s", name, all, diff)
		}
	}
	if got, all := namesOf(&callvet.Plan{Calls: []callvet.ExpectedCall{
		call(false, four...),
		call(false, four...),
	}}); len(got) != maxSets || !all {
		t.Errorf("%d sets of 16 choices, all %v", len(got), all)
	}
}
