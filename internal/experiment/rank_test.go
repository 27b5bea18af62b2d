// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package experiment_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/experiment"
	"github.com/callvet/callvet/stats"
)

func TestRank(t *testing.T) {
	t.Parallel()
	in := func(config, run string, lower, upper float64) experiment.Result {
		return experiment.Result{Run: run, Config: config, Score: stats.Interval{Point: (lower + upper) / 2, Lower: lower, Upper: upper, N: 10, Status: stats.StatusOK}}
	}
	for _, c := range []struct {
		name    string
		results []experiment.Result
		want    []string
	}{
		{"none", nil, []string{}},
		{"one", []experiment.Result{in("a", "r", 0.2, 0.4)}, []string{"1 a r"}},
		{"told apart", []experiment.Result{in("a", "r", 0.1, 0.2), in("b", "r", 0.7, 0.8), in("c", "r", 0.4, 0.5)}, []string{"1 b r", "2 c r", "3 a r"}},
		{"two share the first place", []experiment.Result{in("a", "r", 0.1, 0.2), in("b", "r", 0.5, 0.8), in("c", "r", 0.4, 0.6)}, []string{"1 b r", "1 c r", "3 a r"}},
		// A wide interval is not told from the best, however low it begins.
		{"wide", []experiment.Result{in("wide", "r", 0.0, 0.9), in("b", "r", 0.5, 0.8), in("c", "r", 0.3, 0.4)}, []string{"1 b r", "1 wide r", "2 c r"}},
		{"the newest run counts", []experiment.Result{in("a", "new", 0.1, 0.2), in("a", "old", 0.8, 0.9)}, []string{"1 a new"}},
		{"no score", []experiment.Result{{Run: "new", Config: "a", Score: stats.Interval{Status: stats.StatusNoData}}, in("a", "old", 0.8, 0.9)}, []string{"1 a old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, r := range experiment.Rank(c.results) {
				got = append(got, fmt.Sprint(r.Rank, " ", r.Config, " ", r.Run))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
