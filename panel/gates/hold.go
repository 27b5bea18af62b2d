// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Hold is what a bound says of the interval of its metric: gate.Decide with the gate's
// least number of tasks, but that an estimate behind a judge which is a mere point decides
// nothing. have, in [0,1], is the share of what the metric is about that is known, and
// want the least of it. Plans ask this, so that they count on no other rule than the gate.
func (g *Gate) Hold(iv stats.Interval, have, want float64) gate.Decision {
	rule := gate.Rule{Direction: g.Direction, Bound: g.Bound, MinUnits: g.LeastUnits(), MinCoverage: want}
	if d := gate.Decide(rule, gate.Evidence{Interval: iv, Units: iv.Clusters, Coverage: have}); !pointless(iv) {
		return d
	}
	return gate.Decision{Verdict: gate.Inconclusive, Reason: string(stats.StatusDegenerate)}
}

// HoldChange is what a gate against a baseline says of a paired change, as Hold.
func (g *Gate) HoldChange(d *panel.Difference, p *panel.Pairing) gate.Decision {
	margin, effect := g.allowed()
	if base := d.Baseline; p.Relative && base.Usable() && !(base.Lower > 0) {
		return gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonNoBase}
	}
	dec := gate.DecideRegression(gain(d.Change, p.LowerIsBetter), margin, effect)
	if d.Change.Usable() && d.Cases < g.LeastUnits() && dec.Verdict != gate.Fail {
		return gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonTooFewUnits}
	}
	return dec
}

// LeastUnits is the least number of tasks with which the gate decides.
func (g *Gate) LeastUnits() int {
	switch {
	case g.MinUnits != nil:
		return *g.MinUnits
	case g.Kind == Zero || g.About() == panel.ThisSuite: // its tasks are no sample
		return 1
	}
	return gate.MinUnits
}

// allowed are the loss that a regression may have and the least one that it may claim.
func (g *Gate) allowed() (margin, effect float64) {
	return orDefault(g.Margin, gate.Margin), orDefault(g.MinEffect, gate.MinEffect)
}
