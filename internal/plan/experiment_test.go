// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/stats"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	res := func(run, config string, neff float64, with func(*plan.ExperimentResult)) plan.ExperimentResult {
		score := stats.Interval{
			Point: 0.5, Lower: 0.4, Upper: 1, N: 10, NEff: neff, Confidence: 0.95, Method: "t",
			Status: stats.StatusOK,
		}
		r := plan.ExperimentResult{Run: run, Config: config, Suite: "s", Score: score, Whole: true}
		if with != nil {
			with(&r)
		}
		return r
	}
	fresh := func(r *plan.ExperimentResult) { r.Fresh = true }
	for _, tt := range []struct {
		name    string
		results []plan.ExperimentResult
		want    []string // run config confirmed
	}{
		{"nothing", nil, nil},
		{"one", []plan.ExperimentResult{res("1", "a", 10, nil)}, []string{"1 a false"}},
		{
			"in the order in which they were tried",
			[]plan.ExperimentResult{res("1", "b", 10, nil), res("2", "a", 20, nil)},
			[]string{"1 b false", "2 a false"},
		},
		{
			"the first fresh run is what it may be chosen by",
			[]plan.ExperimentResult{res("1", "a", 10, fresh)},
			[]string{"1 a false"},
		},
		{
			"a later fresh run takes its place",
			[]plan.ExperimentResult{res("1", "a", 10, nil), res("2", "b", 10, nil), res("3", "a", 5, fresh)},
			[]string{"3 a true", "2 b false"},
		},
		{"the latest fresh run", []plan.ExperimentResult{
			res("1", "a", 10, fresh), res("2", "a", 10, fresh),
			res("3", "a", 5, fresh),
		}, []string{"3 a true"}},
		{"no run that is not fresh takes the place of a fresh one", []plan.ExperimentResult{
			res("1", "a", 10, nil), res("2", "a", 10, fresh), res("3", "a", 50, nil),
		}, []string{"2 a true"}},
		{
			"the same answers again confirm nothing",
			[]plan.ExperimentResult{res("1", "a", 10, nil), res("2", "a", 10, nil)},
			[]string{"1 a false"},
		},
		{"the most evidence, not the higher score", []plan.ExperimentResult{
			res("1", "a", 20, nil), res("2", "a", 10,
				func(r *plan.ExperimentResult) { r.Score.Point, r.Score.Lower = 1, 0.9 }), res("3", "a", 30, nil),
		}, []string{"3 a false"}},
		{"another suite starts anew", []plan.ExperimentResult{
			res("1", "a", 10, nil), res("2", "b", 10, func(r *plan.ExperimentResult) { r.Suite = "t" }),
		}, []string{"2 b false"}},
		{"floors and parts are not compared", []plan.ExperimentResult{
			res("1", "a", 10, func(r *plan.ExperimentResult) { r.Floor = true }),
			res("2", "b", 10, func(r *plan.ExperimentResult) { r.Whole = false }), res("3", "c", 10, nil),
		}, []string{"3 c false"}},
		{"no score", []plan.ExperimentResult{{Run: "1", Config: "a", Suite: "s", Whole: true}}, nil},
	} {
		var got []string
		for _, c := range plan.ExperimentCandidates(tt.results) {
			got = append(got, fmt.Sprintf("%s %s %v", c.Run, c.Config, c.Confirmed))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}
