// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/callvet/callvet/stats"
)

// TestCompareSlices: the slice that is worse than all others together is marked, for each metric of the same
// counts, and its estimate in view of the others is nearer to theirs.
func TestCompareSlices(t *testing.T) {
	t.Parallel()
	metrics := func(passed, n int) []Metric {
		iv := stats.ClopperPearson(passed, n, 0.95, stats.TwoSided)
		iv.NEff = float64(n)
		return []Metric{
			{Name: MetricPass, Unit: UnitRate, Interval: iv},
			{Name: "arg_em", Unit: UnitRate, Interval: iv},
			{Name: MetricError, Unit: UnitRate, LowerIsBetter: true, Interval: iv},
		}
	}
	p := TargetPanel{
		Overall: Slice{Metrics: metrics(222, 300)},
		Slices: []Slice{
			{Key: "kind", Value: "a", Metrics: metrics(40, 100)},
			{Key: "kind", Value: "b", Metrics: metrics(90, 100)},
			{Key: "kind", Value: "c", Metrics: metrics(92, 100)},
		},
	}
	CompareSlices(&p)
	for i, name := range []string{MetricPass, "arg_em", MetricError} {
		v := p.Slices[0].Metrics[i].Versus
		if lower := name == MetricError; v == nil || !v.Differs() || v.Worst == lower || v.Best != lower ||
			differ(v.Rest, 182./200) {
			t.Errorf("%s: %+v", name, v)
			continue
		}
		if s := v.Shrunken; s == nil || !(s.Point > 0.4 && s.Point < 0.5) {
			t.Errorf("%s: shrunken %+v", name, s)
		}
		if v := p.Slices[1].Metrics[i].Versus; v.Worst || v.Best || v.Shrunken != nil {
			t.Errorf("%s, the slice in the middle: %+v", name, v)
		}
	}
}

// TestDiffers: a slice differs from the rest below an adjusted p value of 5 %, and one that was not compared
// does not.
func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   *Versus
		want bool
	}{
		{nil, false},
		{&Versus{Adjusted: 0.049}, true},
		{&Versus{Adjusted: 0.05}, false},
		{&Versus{Adjusted: 0.5}, false},
	} {
		if got := c.of.Differs(); got != c.want {
			t.Errorf("%+v: %t", c.of, got)
		}
	}
}
