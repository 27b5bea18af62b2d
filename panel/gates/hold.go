// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Hold is the decision of a bound on the interval of its metric: gate.Decide with the gate's least
// number of tasks. An estimate by a judge decides nothing if its interval is a single point. have,
// in [0,1], is the coverage of the metric, and want the least coverage. Plans call Hold too, so
// that they use the same rule as the gate.
func (g *Gate) Hold(iv stats.Interval, have, want float64) gate.Decision {
	rule := gate.Rule{Direction: g.Direction, Bound: g.Bound, MinUnits: g.LeastUnits(), MinCoverage: want}
	if d := gate.Decide(rule, gate.Evidence{Interval: iv, Units: iv.Clusters, Coverage: have}); !pointless(iv) {
		return d
	}
	return gate.Decision{Verdict: gate.Inconclusive, Reason: string(stats.StatusDegenerate)}
}

// HoldChange is Hold for a gate on a paired change.
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

// LeastUnits is the least number of tasks that the gate needs to decide.
func (g *Gate) LeastUnits() int {
	switch {
	case g.MinUnits != nil:
		return *g.MinUnits
	case g.Kind == Zero || g.About() == panel.ThisSuite: // its tasks are no sample
		return 1
	}
	return gate.MinUnits
}

// allowed returns the loss that a change may have and the smallest loss that can fail the gate.
func (g *Gate) allowed() (margin, effect float64) {
	return orDefault(g.Margin, gate.Margin), orDefault(g.MinEffect, gate.MinEffect)
}
