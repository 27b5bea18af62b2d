// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// KeyCase is the slice key of a gate per case. Such a gate is about this suite, and not about tasks
// like these: it bounds the pass rate of the attempts at one case.
// Source: Statistics specification, section 16.7.
const KeyCase = "case"

// checkCase reports settings that a gate per case cannot have.
func checkCase(g *Gate, bad func(code, fix, format string, args ...any)) {
	if g.Metric != panel.MetricPass || g.Kind != "" && g.Kind != Bound {
		bad("conflicting-keys", "pass_rate with at_least or at_most; newly_failing: 0 against a baseline",
			"a gate per case bounds pass_rate, and nothing else")
	}
}

// judgeCases returns a verdict for each case that the gate is about.
func judgeCases(in *Input, g *Gate, t *panel.TargetPanel) []Verdict {
	var all []panel.CaseAttempts
	if in.Cases != nil {
		all = in.Cases.Cases(t.Name)
	}
	var out []Verdict
	var ids []string
	for i := range all {
		a := &all[i]
		if ids = append(ids, a.Case); g.Value != Every && g.Value != a.Case {
			continue
		}
		v := Verdict{Gate: *g, Target: t.Name, Key: KeyCase, Value: a.Case, Verdict: gate.Inconclusive}
		c := claim{g: g, v: &v, task: in.Task, unit: panel.UnitRate, conf: in.Panels.Confidence, gone: in.Panels.Lost}
		c.perCase(a, slices.Contains(in.Facts, t.Name))
		if v.Verdict != gate.Pass {
			v.Open = []Place{{Task: a.Case, Why: fmt.Sprintf("%d of %s passed", a.Passed, count(a.Judged, "attempt"))}}
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		why, fix := "there is no such "+in.Task, ""
		if g.Value == Every {
			why = "no " + in.Task + " has an attempt that was judged"
		} else if s := callvet.Nearest(g.Value, ids); s != "" {
			fix = "did you mean " + sliceName(KeyCase, s) + "?"
		}
		v := open(g, in, ReasonNoSlice, why, fix)
		v.Target = t.Name
		out = []Verdict{v}
	}
	return out
}

// perCase decides by the attempts at one case: by their share where the answers are fixed, else by
// their exact interval.
func (c *claim) perCase(a *panel.CaseAttempts, facts bool) {
	facts = facts || a.Facts
	rate := func(passed, of int) stats.Interval {
		if facts && of > 0 {
			p := float64(passed) / float64(of)
			return stats.Interval{
				Point: p, Lower: p, Upper: p, N: of, Clusters: 1, Confidence: c.conf, Method: "fact",
				Status: stats.StatusOK,
			}
		}
		iv := stats.ClopperPearson(passed, of, c.conf, stats.TwoSided)
		iv.Clusters = 1
		return iv
	}
	hold := func(iv stats.Interval) gate.Decision {
		return gate.Decide(gate.Rule{Direction: c.g.Direction, Bound: c.g.Bound},
			gate.Evidence{Interval: iv, Units: 1, Coverage: 1})
	}
	iv := rate(a.Passed, a.Judged)
	dec := hold(iv)
	c.v.Interval, c.v.Unit, c.v.Of, c.v.N, c.v.Units = &iv, panel.UnitRate, "attempts", a.Judged, 1
	c.v.LostAttempts, c.v.Planned = a.Lost, a.Judged+a.Lost
	head, lost := c.subject()+" "+fmt.Sprintf("%d of %s passed", a.Passed, count(a.Judged, "attempt")), ""
	if gone := a.Lost + int(c.gone.Records()); c.g.Lost != LostIgnore && gone > 0 {
		lost = fmt.Sprintf("; %d of %s lost", gone, count(a.Judged+gone, "attempt"))
		low, high := rate(a.Passed, a.Judged+gone), rate(a.Passed+gone, a.Judged+gone)
		c.v.Lost = &panel.LostRange{N: gone, Of: a.Judged + gone, Low: low, High: high}
		stays := hold(low).Verdict == dec.Verdict && hold(high).Verdict == dec.Verdict
		if many := float64(gone) > maxLost*float64(a.Judged+gone); !stays || many && dec.Verdict == gate.Pass {
			dec = gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonLost}
		}
	}
	c.v.Verdict, c.v.Reason, c.v.End = dec.Verdict, dec.Reason, endOf(dec.Reason)
	why := "the bound " + short(c.g.Bound) + " lies within the interval of this " + c.task
	switch {
	case dec.Reason == ReasonLost:
		why = "what is lost may decide"
		c.v.Cure = c.resume("run those attempts again")
	case a.Judged == 0:
		why = "no attempt was judged"
	case facts:
		why = "its answers are cached, recorded or scripted, so that they are facts; the bound is " + short(c.g.Bound)
	case dec.Verdict != gate.Inconclusive:
		why = fmt.Sprintf("the interval is [%s, %s], and the bound %s", number(c.unit, iv.Lower, 2),
			number(c.unit, iv.Upper, 2), short(c.g.Bound))
	default:
		c.v.Cure = "callvet run --repeat with more attempts"
	}
	c.v.Sentence = head + lost + ": " + why + ": " + verdictWord(dec.Verdict)
}
