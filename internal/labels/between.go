// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"github.com/callvet/callvet/stats"
)

// Twice is a thing of a task that two judges put into categories, numbered from 0.
type Twice struct {
	Task string
	A, B int
}

// JudgesBetween is the agreement of two judges. Kappa and AC1 are in [-1,1]; things of one task
// count as alike.
type JudgesBetween struct {
	N     int            `json:"n"`
	Same  int            `json:"same"`
	Kappa stats.Interval `json:"kappa"`
	AC1   stats.Interval `json:"ac1"`
}

// BetweenJudges compares two judges on the things that both put into n categories. Without
// things: intervals with StatusNoData.
func BetweenJudges(ts []Twice, categories int, conf float64) JudgesBetween {
	out := JudgesBetween{N: len(ts)}
	t := make(stats.RatingTable, categories)
	for i := range t {
		t[i] = make([]int, categories)
	}
	ps := make([]pair, len(ts))
	for i, x := range ts {
		t[x.A][x.B]++
		ps[i] = pair{Key: Key{TaskID: x.Task}, truth: x.A == x.B}
		if x.A == x.B {
			out.Same++
		}
	}
	same := rateOf(ps, conf, func(pair) bool { return true }, truly)
	out.Kappa = clustered(asInterval(stats.Kappa(t, stats.Unweighted, conf), "cohen_kappa", conf), same, -1)
	out.AC1 = clustered(asInterval(stats.AC1(t, conf), "gwet_ac1", conf), same, -1)
	return out
}
