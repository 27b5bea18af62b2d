// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestChosenTools: only these tools are left, with the prefix, and an unknown one is refused. No names leave all.
func TestChosenTools(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		names []string
		want  []string // nil: refused
	}{
		"all": {nil, []string{"p_a", "p_b"}}, "one": {[]string{"b"}, []string{"p_b"}},
		"both": {[]string{"b", "a"}, []string{"p_a", "p_b"}}, "unknown": {[]string{"a", "c"}, nil},
	} {
		s := &callvet.Suite{Tools: []callvet.Tool{{Name: "p_a"}, {Name: "p_b"}}}
		err := chosen(s, tc.names, "p_")
		var got []string
		for i := range s.Tools {
			got = append(got, s.Tools[i].Name)
		}
		if (err != nil) != (tc.want == nil) || err == nil && !cmp.Equal(got, tc.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
