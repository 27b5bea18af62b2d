// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contenders are the targets of a ledger of one attempt a case.
func contenders(targets, cases int, passes func(target, i int) int) (out []Contender) {
	var names []string
	for i := range targets {
		names = append(names, fmt.Sprint("m", i))
	}
	l := judgedLedger("r", names, cases, 1, false, passes)
	for _, n := range names {
		out = append(out, Contender{l, n})
	}
	return out
}

// TestRanks: who is significantly better, and how far down a target may be.
func TestRanks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pass []int // of 80 cases, by target
		want []string
	}{
		"one":                         {[]int{40}, []string{"1"}},
		"alike":                       {[]int{40, 40, 40}, []string{"1–3", "1–3", "1–3"}},
		"half and nearly all":         {[]int{39, 78}, []string{"2", "1"}},
		"two are worse":               {[]int{39, 78, 38}, []string{"2–3", "1", "2–3"}},
		"the middle is undecided":     {[]int{60, 70, 66}, []string{"3", "1–2", "1–2"}},
		"a difference by chance only": {[]int{76, 80}, []string{"1–2", "1–2"}},
	} {
		var got []string
		for _, r := range Ranks(contenders(len(tt.pass), 80, func(target, i int) int {
			if i < tt.pass[target] {
				return 1
			}
			return 0
		}), MetricPass, 0) {
			got = append(got, r.String())
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestRanksAlike: of ten targets that are the same, some has another rank in at most 5 % of runs.
func TestRanksAlike(t *testing.T) {
	t.Parallel()
	const runs = 200
	rng, apart := rand.New(rand.NewPCG(3, 4)), 0
	for range runs {
		for _, r := range Ranks(contenders(10, 60, func(int, int) int {
			if rng.Float64() < 0.8 {
				return 1
			}
			return 0
		}), MetricPass, 0) {
			if r.Best != 1 {
				apart++
				break
			}
		}
	}
	if apart > runs/20 {
		t.Errorf("in %d of %d runs some target has another rank than 1", apart, runs)
	}
}

// TestRanksOfPairs: targets are compared on the cases that both judged, and a pair without such a case, or
// without the metric, is not in the family.
func TestRanksOfPairs(t *testing.T) {
	t.Parallel()
	// A run of one case a letter: p passed, f failed, e ended in an error.
	run := func(attempts string) Contender { return Contender{attemptsAt(strings.Split(attempts, "")...), "m"} }
	pass, fail := strings.Repeat("p", 6), strings.Repeat("f", 6)
	errors := strings.Repeat("e", 6)
	ten := judgedLedger("r", []string{"a", "m", "z"}, 6, 1, false, func(target, _ int) int { return target })
	for name, c := range map[string]struct {
		of         []Contender
		metric     string
		confidence float64
		want       []string
	}{
		// With six cases that all fall the p value is 1/64: below 0.05 alone, and not as one of four.
		"better and worse": {[]Contender{run(pass), run(fail)}, MetricPass, 0, []string{"1", "2"}},
		"a third without a verdict": {
			[]Contender{run(pass), run(fail), run(errors)},
			MetricPass, 0,
			[]string{"1–2", "2–3", "1–3"},
		},
		"and a fourth": {
			[]Contender{run(pass), run(errors), run(errors), run(fail)},
			MetricPass,
			0,
			[]string{"1–3", "1–4", "1–4", "2–4"},
		},
		"a third of other cases": {[]Contender{
			run(pass), run(fail),
			{NewLedger("r", []string{"m"}, nil), "m"},
		}, MetricPass, 0, []string{"1–2", "2–3", "1–3"}},
		"a target that is not there": {
			[]Contender{run(pass), run(fail), {run(pass).Ledger, "n"}},
			MetricPass,
			0,
			[]string{"1–2", "2–3", "1–3"},
		},
		"first and last of one run": {[]Contender{{ten, "z"}, {ten, "a"}}, MetricPass, 0, []string{"1", "2"}},
		"another metric":            {[]Contender{run(pass), run(fail)}, "judged_pass", 0, []string{"1", "2"}},
		"a metric of none":          {[]Contender{run(pass), run(fail)}, "arg_em", 0, []string{"1–2", "1–2"}},
		"a metric of the first only": {
			[]Contender{run(pass), {ten, "a"}},
			"judged_pass", 0,
			[]string{"1–2", "1–2"},
		},
		"a metric of the second only": {
			[]Contender{{ten, "z"}, run(fail)},
			"judged_pass", 0,
			[]string{"1–2", "1–2"},
		},
		"asked to be surer": {
			[]Contender{run(pass), run(fail)},
			MetricPass, 0.99,
			[]string{"1–2", "1–2"},
		},
		"no confidence, which is 95 %": {[]Contender{run(pass), run(fail)}, MetricPass, 1, []string{"1", "2"}},
		"a verdict on one side is no case": {
			[]Contender{run(pass), run("eeeeef")},
			MetricPass, 0,
			[]string{"1–2", "1–2"},
		},
		"errors of either side do not count": {
			[]Contender{run(pass + "eeeeee"), run(fail + "pppppp")},
			MetricPass, 0,
			[]string{"1", "2"},
		},
		"errors of the other do not count": {
			[]Contender{run(pass + "pppppp"), run(fail + "eeeeee")},
			MetricPass, 0,
			[]string{"1", "2"},
		},
	} {
		var got []string
		for _, r := range Ranks(c.of, c.metric, c.confidence) {
			got = append(got, r.String())
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
