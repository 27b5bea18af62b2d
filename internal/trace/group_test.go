// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestContradictions: of several task records of one attempt, copies count once, one that
// corrects the others counts, and where they contradict each other nothing is known.
func TestContradictions(t *testing.T) {
	t.Parallel()
	const pass, fail = `{"type":"task","task_id":"t","pass":true}`, `{"type":"task","task_id":"t","pass":false}`
	type outcome struct {
		Attempts          int
		Fault             bool
		Pass              string
		Conflicts, Merged int64
	}
	for name, tt := range map[string]struct {
		lines []string
		want  outcome
	}{
		"one":         {[]string{pass}, outcome{1, false, "true", 0, 0}},
		"copies":      {[]string{pass, pass, pass}, outcome{1, false, "true", 0, 2}},
		"a conflict":  {[]string{pass, fail}, outcome{1, true, "", 1, 0}},
		"a copy, too": {[]string{pass, fail, pass}, outcome{1, true, "", 1, 1}},
		"corrected": {
			[]string{pass, fail, `{"type":"task","task_id":"t","corrects":true,"pass":false}`}, outcome{1, false, "false", 0, 0},
		},
		"other attempts": {[]string{pass, `{"type":"task","task_id":"t","attempt":1,"pass":false}`}, outcome{2, false, "false", 0, 0}},
	} {
		r, err := Open(strings.NewReader(strings.Join(tt.lines, "\n")+"\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := NewGrouper(0)
		var got outcome
		for a, err := range r.Attempts(g) {
			if err != nil {
				t.Fatal(err)
			}
			got.Attempts++
			got.Fault, got.Pass = a.Trace.Outcome == callvet.OutcomeError && a.Trace.Fault != nil, ""
			if a.Pass != nil {
				got.Pass = map[bool]string{true: "true", false: "false"}[*a.Pass]
			}
		}
		got.Conflicts, got.Merged = g.Conflicts, g.Merged
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
