// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package calibrate

import (
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/agree"
)

// Twice is a thing of a task that two judges sorted into categories, which count from 0.
type Twice struct {
	Task string
	A, B int
}

// Between is how far two judges agree. Kappa and AC1 are in [-1,1]; things of one task count as alike.
type Between struct {
	N     int            `json:"n"`
	Same  int            `json:"same"`
	Kappa stats.Interval `json:"kappa"`
	AC1   stats.Interval `json:"ac1"`
}

// BetweenJudges compares two judges on what both sorted into so many categories. No thing:
// intervals with StatusNoData.
func BetweenJudges(ts []Twice, categories int, conf float64) Between {
	out := Between{N: len(ts)}
	t := make(agree.Table, categories)
	for i := range t {
		t[i] = make([]int, categories)
	}
	ps := make([]pair, len(ts))
	for i, x := range ts {
		t[x.A][x.B]++
		ps[i] = pair{Key: labels.Key{TaskID: x.Task}, truth: x.A == x.B}
		if x.A == x.B {
			out.Same++
		}
	}
	same := rateOf(ps, conf, func(pair) bool { return true }, truly)
	out.Kappa = clustered(asInterval(agree.Kappa(t, agree.Unweighted, conf), "cohen_kappa", conf), same, -1)
	out.AC1 = clustered(asInterval(agree.AC1(t, conf), "gwet_ac1", conf), same, -1)
	return out
}
