// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"strings"
	"testing"
)

// TestThisSuite: of tasks that are fixed a break in a few of them is shown, which tasks like these have
// room for; and nothing is shown by one attempt.
func TestThisSuite(t *testing.T) {
	t.Parallel()
	all := func(n int) func(int, int) int { return func(int, int) int { return n } }
	broken := func(n int) func(int, int) int {
		return func(_, i int) int {
			if i < 3 {
				return 0
			}
			return n
		}
	}
	for name, c := range map[string]struct {
		n      int
		cached bool
		fixed  bool
		now    func(int, int) int
		like   Change
		suite  Change
		warns  string
	}{
		"a break":       {n: 3, now: broken(3), like: ChangeUnclear, suite: ChangeWorse},
		"no change":     {n: 3, now: all(3), like: ChangeUnclear, suite: ChangeUnclear},
		"one attempt":   {n: 1, now: broken(1), like: ChangeUnclear, suite: ChangeUnclear, warns: "two attempts"},
		"cached: facts": {n: 1, cached: true, now: broken(1), like: ChangeUnclear, suite: ChangeWorse},
		"scripts":       {n: 1, fixed: true, now: broken(1), like: ChangeUnclear, suite: ChangeWorse},
	} {
		base, cand := judgedLedger("a", []string{"m"}, 40, c.n, c.cached, all(c.n)),
			judgedLedger("b", []string{"m"}, 40, c.n, c.cached, c.now)
		base.Fixed([]bool{c.fixed})
		cand.Fixed([]bool{c.fixed})
		like, suite := DiffWith(base, cand, DiffConfig{}), DiffWith(base, cand, DiffConfig{Population: ThisSuite})
		if like.Population != TasksLikeThese || like.Targets[0].Overall.Verdict != c.like {
			t.Errorf("%s, tasks like these: %s %+v", name, like.Targets[0].Overall.Verdict,
				like.Targets[0].Overall.Change)
		}
		o := suite.Targets[0].Overall
		if suite.Population != ThisSuite || o.Verdict != c.suite ||
			strings.Contains(strings.Join(suite.Warnings, " "), "two attempts") != (c.warns != "") {
			t.Errorf("%s, this suite: %s %+v p %v %v", name, o.Verdict, o.Change, o.P, suite.Warnings)
		}
	}
}
