// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/verify/proof"
)

// TestSizedFinds: of gates that decide with a chance of n in 1,000, 800 keep a promise of
// 0.8. Fewer break it, and many more are not the fewest. The result is the same for every
// seed.
func TestSizedFinds(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]bool{800: {true, true}, 740: {false, true}, 900: {true, false}, 0: {false, true}} {
		studies := sized("n in 1,000", n, 1, 0.8,
			func(t *trialRun, n int) bool { return t.Float64() < float64(n)/1000 })
		for i, s := range studies {
			if o := s.Run(coverageTrials, coverageSeed); o.OK != want[i] || o.Trials != 2000 {
				t.Errorf("%d, study %d: %+v, want %v", n, i, o, want[i])
			}
		}
	}
	chance := promised("a half", 0.5, func(t *trialRun) bool { return t.Float64() < 0.55 })
	if o := chance.Run(coverageTrials, coverageSeed); o.OK {
		t.Errorf("a chance of 0.55 was taken for 0.5: %+v", o)
	}
}

// TestSimulate: a pattern chooses studies, each is printed as it ends, and a study outside its
// band fails the check.
func TestSimulate(t *testing.T) {
	t.Parallel()
	study := func(name string, holds bool) conform.Study {
		return conform.Study{Name: name, Low: 1, High: 1, Trial: func(*rand.Rand) bool { return holds }}
	}
	studies := []conform.Study{study("ranks: good", true), study("ranks: bad", false), study("other", true)}
	for pattern, want := range map[string][2]int{"": {2, 3}, "^ranks": {1, 2}, "good": {1, 1}} {
		var out bytes.Buffer
		c := proof.New(&out, "coverage", "open", nil)
		if err := simulate(c, studies, pattern, 5); err != nil {
			t.Fatal(err)
		}
		agree, compared, due := c.Tally("studies")
		if got := [2]int{agree, compared}; got != want || due != compared {
			t.Errorf("%q: %d of %d, due %d", pattern, agree, compared, due)
		}
		if got := strings.Count(out.String(), "band 1.000 to 1.000\n"); got != want[1] {
			t.Errorf("%q: %d studies are printed: %s", pattern, got, out.String())
		}
	}
	twice := []conform.Study{study("one", true), study("one", true)}
	if err := simulate(proof.New(io.Discard, "coverage", "open", nil), twice, "", 5); err == nil {
		t.Error("two studies of one name: no error")
	}
	for _, pattern := range []string{"nothing like it", "("} {
		if err := simulate(proof.New(io.Discard, "coverage", "open", nil), studies, pattern, 5); err == nil {
			t.Errorf("%q: no error", pattern)
		}
	}
}
