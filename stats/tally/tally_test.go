// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

import (
	"math"
	"testing"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		expected, acceptable, selected []string
		want                           Match
		jaccard                        float64
	}{
		{nil, nil, nil, Exact, 1},
		{[]string{"a"}, nil, nil, None, 0},
		{[]string{"a", "b"}, nil, []string{"b", "a", "a"}, Exact, 1},
		{[]string{"a"}, []string{"b"}, []string{"b"}, Acceptable, 0},
		{[]string{"a", "b"}, nil, []string{"a", "c"}, Partial, 1.0 / 3},
		{[]string{"a"}, []string{"b"}, []string{"b", "c"}, Partial, 0},
		{[]string{"a"}, []string{"b"}, []string{"c"}, None, 0},
		{nil, []string{"b"}, []string{"b", "c"}, Partial, 0},
	} {
		if got := Compare(tc.expected, tc.acceptable, tc.selected); got != tc.want {
			t.Errorf("%v or %v, selected %v: %s, want %s", tc.expected, tc.acceptable, tc.selected, got, tc.want)
		}
		if got := Jaccard(tc.expected, tc.selected); got != tc.jaccard {
			t.Errorf("Jaccard of %v and %v: %g", tc.expected, tc.selected, got)
		}
	}
}

func TestNothingIsNaN(t *testing.T) {
	t.Parallel()
	c, ok := Confuse(nil, nil)
	if !ok {
		t.Fatal("nothing was rejected")
	}
	mean, used, _ := Composite([]float64{1}, []float64{math.NaN()})
	for name, x := range map[string]float64{
		"accuracy": c.Accuracy, "mcc": c.MCC, "macro f1": c.MacroF1, "overcall": Overcalls{}.Rate(), "recall": Selection{}.Recall(),
		"balanced": Selection{Right: 1}.Balanced(), "composite": mean,
	} {
		if !math.IsNaN(x) {
			t.Errorf("%s of nothing is %g", name, x)
		}
	}
	if used != 0 {
		t.Errorf("weight %g", used)
	}
	if _, ok := Rank(nil, []string{"a"}, 1); ok {
		t.Error("a ranking for nothing")
	}
	if _, ok := Confuse([]string{"a"}, nil); ok {
		t.Error("slices of different length")
	}
	if _, _, ok := Composite([]float64{-1}, []float64{1}); ok {
		t.Error("a negative weight")
	}
}
