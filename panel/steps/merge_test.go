// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestBackInAnotherPart: a task that is open at the end of a part and comes back in the next
// one, after its window, counts as two and loses no line.
func TestBackInAnotherPart(t *testing.T) {
	t.Parallel()
	ids := []string{"back"}
	for i := range 500 {
		ids = append(ids, fmt.Sprint("t", i))
	}
	ids = append(ids, "back", "t499", "back")
	cfg := Config{Window: 32}
	score := func(i int) callvet.StepScore { return executed(i%3 > 0) }
	whole := fill(cfg, ids, score).Panels()
	for _, cut := range []int{1, 2, 30, 400, len(ids) - 2} {
		sum := New(cfg)
		for i, part := range [][]string{ids[:cut], ids[cut:]} {
			p := fill(Config{Window: cfg.Window, Partial: true}, part,
				func(k int) callvet.StepScore { return score(i*cut + k) })
			if _, err := sum.Merge(p.AppendPartial(nil, nil)); err != nil {
				t.Fatal(err)
			}
		}
		got := sum.Panels()
		want, all := whole.Targets[0].Overall, got.Targets[0].Overall
		if d := cmp.Diff([]int{502, 504}, []int{want.Cases, want.Metric("execution_success").Interval.N}); d != "" {
			t.Fatal(d)
		}
		if all.Cases != want.Cases || all.Metric("execution_success").Interval.N != 504 {
			t.Errorf("cut at %d: %d tasks, %d calls", cut, all.Cases, all.Metric("execution_success").Interval.N)
		}
	}
}
