// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package experiment_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet/internal/experiment"
	"github.com/callvet/callvet/stats"
)

func scored(point, lower float64) stats.Interval {
	return stats.Interval{Point: point, Lower: lower, Upper: 1, N: 10, Confidence: 0.95, Method: "t", Status: stats.StatusOK}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	res := func(run, config string, lower float64, with func(*experiment.Result)) experiment.Result {
		r := experiment.Result{Run: run, Config: config, Suite: "s", Score: scored(lower+0.1, lower), Whole: true}
		if with != nil {
			with(&r)
		}
		return r
	}
	fresh := func(r *experiment.Result) { r.Fresh = true }
	for _, tt := range []struct {
		name    string
		results []experiment.Result
		want    string // run config confirmed of
	}{
		{"nothing", nil, "none"},
		{"one", []experiment.Result{res("1", "a", 0.5, nil)}, "1 a false 1"},
		{"the higher lower bound, not the higher score", []experiment.Result{
			{Run: "1", Config: "lucky", Suite: "s", Score: scored(1, 0.3), Whole: true}, res("2", "sure", 0.6, nil),
		}, "2 sure false 2"},
		{"the first fresh run is what it was chosen by", []experiment.Result{res("1", "a", 0.5, fresh)}, "1 a false 1"},
		{"a fresh run confirms", []experiment.Result{res("1", "a", 0.7, nil), res("2", "b", 0.5, nil), res("3", "a", 0.6, fresh)}, "3 a true 2"},
		{"a fresh run does not", []experiment.Result{res("1", "a", 0.7, nil), res("2", "b", 0.5, nil), res("3", "a", 0.4, fresh)}, "2 b false 2"},
		{"the same answers again confirm nothing", []experiment.Result{res("1", "a", 0.7, nil), res("2", "a", 0.7, nil)}, "1 a false 1"},
		{"another suite starts anew", []experiment.Result{
			res("1", "a", 0.9, nil), res("2", "b", 0.5, func(r *experiment.Result) { r.Suite = "t" }),
		}, "2 b false 1"},
		{"floors and parts are not compared", []experiment.Result{
			res("1", "a", 0.9, func(r *experiment.Result) { r.Floor = true }), res("2", "b", 0.8, func(r *experiment.Result) { r.Whole = false }), res("3", "c", 0.1, nil),
		}, "3 c false 1"},
		{"no score", []experiment.Result{{Run: "1", Config: "a", Suite: "s", Whole: true}}, "none"},
	} {
		got := "none"
		if b := experiment.Choose(tt.results); b != nil {
			got = fmt.Sprintf("%s %s %v %d", b.Run, b.Config, b.Confirmed, b.Of)
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestConfirmedIsUnbiased: of twenty configurations that are equally good the one that is chosen
// looks better than it is; the fresh run that confirms it does not.
func TestConfirmedIsUnbiased(t *testing.T) {
	t.Parallel()
	const truth, n, rounds = 0.6, 50, 2000
	rng := rand.New(rand.NewPCG(1, 2))
	run := func() stats.Interval {
		passed := 0
		for range n {
			if rng.Float64() < truth {
				passed++
			}
		}
		p := float64(passed) / n
		return scored(p, p-0.1)
	}
	chosen, confirmed := 0.0, 0.0
	for range rounds {
		var results []experiment.Result
		for i := range 20 {
			results = append(results, experiment.Result{Run: fmt.Sprint(i), Config: fmt.Sprint(i), Suite: "s", Score: run(), Whole: true})
		}
		first := experiment.Choose(results)
		chosen += first.Score.Point / rounds
		again := experiment.Result{Run: "again", Config: first.Config, Suite: "s", Score: run(), Whole: true, Fresh: true}
		confirmed += again.Score.Point / rounds
		if b := experiment.Choose([]experiment.Result{results[0], again}); b.Config == again.Config && results[0].Config == again.Config && !b.Confirmed {
			t.Fatal("a fresh run of the only configuration does not confirm it")
		}
	}
	if chosen < truth+0.1 || confirmed < truth-0.02 || confirmed > truth+0.02 {
		t.Errorf("the truth is %v; chosen by %.3f, confirmed at %.3f", truth, chosen, confirmed)
	}
}
