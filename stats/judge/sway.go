// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import "github.com/callvet/callvet/stats"

// Change counts items that were judged twice: unchanged, and with a change that should make no
// difference. Items without one of the two verdicts are left out.
type Change struct {
	Rose int `json:"rose"` // judged better with the change
	Fell int `json:"fell"`
	Same int `json:"same"`
}

// N is the number of items.
func (c Change) N() int { return c.Rose + c.Fell + c.Same }

// Sway is the test of whether a change moves a judge.
type Sway struct {
	Change
	// Difference is the share that rose minus the share that fell, in [-1,1], with Tango's paired
	// interval; no items: StatusNoData.
	Difference stats.Interval `json:"difference"`
	// P is the exact p value of McNemar's test (the sign test) that the change moves nothing. PHolm
	// is adjusted for all changes of the audit that have items. Both are in [0,1], and 1 where
	// nothing moved.
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"`
	// Swayed: PHolm is below SwayLevel.
	Swayed bool `json:"swayed"`
}

// SwayLevel bounds the probability that an audit finds a sway of a judge that no change moves.
const SwayLevel = 0.05

// Sways tests changes of one audit, in their order. However noisy the judge is, a change that makes
// no difference lets equally many items rise and fall. Negative counts: StatusInvalid, p = 1.
// Source: McNemar 1947; Tango 1998; Holm 1979.
func Sways(cs []Change, conf float64) []Sway {
	out := make([]Sway, len(cs))
	var ps []float64
	for i, c := range cs {
		out[i] = Sway{
			Change: c, P: 1, PHolm: 1,
			Difference: stats.Tango(stats.Pairs{CandidateOnly: c.Rose, BaselineOnly: c.Fell, Both: c.Same}, conf),
		}
		if !out[i].Difference.Defined() {
			continue
		}
		out[i].P = stats.McNemarExact(c.Fell, c.Rose)
		ps = append(ps, out[i].P)
	}
	adjusted := stats.Holm(ps)
	for i, k := 0, 0; i < len(out); i++ {
		if out[i].Difference.Defined() {
			out[i].PHolm, k = adjusted[k], k+1
			out[i].Swayed = out[i].PHolm < SwayLevel
		}
	}
	return out
}
