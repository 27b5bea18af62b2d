// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math/rand/v2"
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
		"the middle is not told":      {[]int{60, 70, 66}, []string{"3", "1–2", "1–2"}},
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
