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
	const step = `{"task_id":"t","call_id":"c","tool":"f"}`
	for name, tt := range map[string]struct {
		hold  bool
		lines []string
		want  outcome
	}{
		"one":         {false, []string{pass}, outcome{1, false, "true", 0, 0}},
		"copies":      {false, []string{pass, pass, pass}, outcome{1, false, "true", 0, 2}},
		"a conflict":  {false, []string{pass, fail}, outcome{1, true, "", 1, 0}},
		"a copy, too": {false, []string{pass, fail, pass}, outcome{1, true, "", 1, 1}},
		"corrected": {
			false,
			[]string{pass, fail, `{"type":"task","task_id":"t","corrects":true,"pass":false}`},
			outcome{1, false, "false", 0, 0},
		},
		"other attempts": {
			false,
			[]string{pass, `{"type":"task","task_id":"t","attempt":1,"pass":false}`},
			outcome{2, false, "false", 0, 0},
		},
		"a conflict after a whole attempt": {true, []string{step, pass, fail}, outcome{1, true, "", 1, 0}},
		"a correction of a whole attempt": {
			true,
			[]string{step, pass, `{"type":"task","task_id":"t","corrects":true,"pass":false}`},
			outcome{1, false, "false", 0, 0},
		},
		"a conflict that comes too late": {false, []string{step, pass, fail}, outcome{1, false, "true", 1, 0}},
		"a copy of what was given":       {false, []string{step, pass, pass}, outcome{1, false, "true", 0, 1}},
	} {
		r, err := Open(strings.NewReader(strings.Join(tt.lines, "\n")+"\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := NewGrouper(0)
		g.Hold = tt.hold
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
