// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"fmt"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// TestDiffAssumes: a comparison of runs with repeats reports what it assumes of them, one about
// this suite assumes nothing.
func TestDiffAssumes(t *testing.T) {
	t.Parallel()
	run := func(repeats int) *panel.Ledger {
		l := panel.NewLedger("r", []string{"m"}, nil)
		for i := range 4 {
			c := &callvet.Case{ID: fmt.Sprint("c", i)}
			for k := range repeats {
				l.Add(c, &callvet.Cell{
					Repeat: k, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled},
					Result: callvet.Result{Verdict: callvet.VerdictPass},
				})
			}
		}
		return l
	}
	for _, tt := range []struct {
		before, now int
		about       panel.Population
		want        string
	}{
		{1, 1, "", ""},
		{1, 2, "", panel.AttemptsAreOne},
		{3, 1, panel.TasksLikeThese, panel.AttemptsAreOne},
		{2, 2, panel.ThisSuite, ""},
	} {
		if got := panel.DiffWith(run(tt.before), run(tt.now),
			panel.DiffConfig{Population: tt.about}).Assumed; got != tt.want {
			t.Errorf("%d and %d attempts, about %q: %q, want %q", tt.before, tt.now, tt.about, got, tt.want)
		}
	}
}
