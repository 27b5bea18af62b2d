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

// Evaluate holds every gate against the panels: one verdict for each gate, target
// and slice, in that order. A target that is a mere floor is left out unless a
// gate names it or there is no other.
//
// A gate that names a metric, slice key or target that does not exist, or a bound
// that its metric cannot have, is a problem, and there is no report then. A slice
// value without data, a metric that was not measured and a missing baseline are
// no problem of the gate: they leave it inconclusive.
//
// The whole passes only if every hard gate passes for every target and slice, so
// that the chance of a false pass needs no correction (Berger 1982). A regression
// claimed for one of all values of a key must hold after Holm's correction.
// Source: Statistics specification, sections 7 and 10.
func Evaluate(in Input, gs []Gate) (*Report, []callvet.Problem) {
	if in.Task == "" {
		in.Task = "case"
	}
	if problems := check(&in, gs); len(problems) > 0 {
		return nil, problems
	}
	r := &Report{Policy: in.Policy}
	for i := range gs {
		g := &gs[i]
		first := len(r.Verdicts)
		for _, t := range targetsOf(&in, g) {
			r.Verdicts = append(r.Verdicts, judge(&in, g, t)...)
		}
		if len(r.Verdicts) == first {
			r.Verdicts = append(r.Verdicts, open(g, &in, ReasonNoTarget, "there is nothing to hold it against", "run something first"))
		}
	}
	singles := make([]gate.Single, len(r.Verdicts))
	for i := range r.Verdicts {
		singles[i] = gate.Single{Verdict: r.Verdicts[i].Verdict, Required: r.Verdicts[i].Gate.hard()}
	}
	r.Verdict, r.Blocks = gate.Combine(singles, in.Policy)
	r.Sentence = conclude(r)
	r.Warnings = warnings(&in)
	return r, nil
}

// warnings tells of what the panels and the comparison leave out as a whole.
func warnings(in *Input) []string {
	w := slices.Clone(in.Panels.Warnings)
	c := in.Comparison
	if c == nil {
		return w
	}
	w = append(w, c.Warnings...)
	if n := len(c.OnlyBaseline); n > 0 {
		w = append(w, count(n, in.Task)+" of the baseline missing here and not compared")
	}
	if n := len(c.OnlyCandidate); n > 0 {
		w = append(w, count(n, in.Task)+" missing in the baseline and not compared")
	}
	for i := range c.Targets {
		if n := len(c.Targets[i].Unjudged); n > 0 {
			w = append(w, count(n, in.Task)+" of "+c.Targets[i].Candidate+" without a verdict on one side and not compared")
		}
	}
	return w
}

// fullTables is how many slices a panel keeps.
const fullTables = 1000

// targetsOf lists the tables that a gate is about.
func targetsOf(in *Input, g *Gate) []*panel.TargetPanel {
	var all, models []*panel.TargetPanel
	for i := range in.Panels.Targets {
		t := &in.Panels.Targets[i]
		if g.Target != "" && g.Target != t.Name {
			continue
		}
		all = append(all, t)
		if !t.Floor {
			models = append(models, t)
		}
	}
	if g.Target == "" && len(models) > 0 {
		return models
	}
	return all
}

// claim is one verdict in the making.
type claim struct {
	g     *Gate
	v     *Verdict
	slice *panel.Slice
	unit  panel.Unit
	task  string
	conf  float64
}

// open is a verdict without a number.
func open(g *Gate, in *Input, reason, sentence, cure string) Verdict {
	v := Verdict{Gate: *g, Key: g.Key, Value: g.Value, Verdict: gate.Inconclusive, Reason: reason, Cure: cure}
	c := claim{g: g, v: &v, task: in.Task}
	v.Sentence = c.subject() + ": " + sentence + ": inconclusive"
	return v
}

// judge gives the verdicts of one gate on one target: one, or one for each value
// of a key.
func judge(in *Input, g *Gate, t *panel.TargetPanel) []Verdict {
	tables := tablesOf(g, t)
	if len(tables) == 0 {
		v := open(g, in, ReasonNoSlice, "no attempt has "+sliceName(g.Key, g.Value), valuesHint(g, t))
		if len(t.Slices) >= fullTables {
			v = open(g, in, ReasonNoSlice, sliceName(g.Key, g.Value)+" is not among the most frequent slices, which alone are kept", "slice by fewer keys")
		}
		if g.Value == Every {
			v.Sentence = fmt.Sprintf("%s: no attempt has any %s: inconclusive", g.Metric, g.Key)
		}
		v.Target = t.Name
		return []Verdict{v}
	}
	out := make([]Verdict, len(tables))
	for i, s := range tables {
		v := &out[i]
		*v = Verdict{Gate: *g, Target: t.Name, Key: s.Key, Value: s.Value, Verdict: gate.Inconclusive}
		c := claim{g: g, v: v, slice: s, task: in.Task, conf: in.Panels.Confidence}
		c.decide(in, t)
	}
	if g.Kind == Regression && g.Value == Every {
		holm(in, t, out)
	}
	for i := range out {
		if out[i].Verdict != gate.Pass {
			out[i].Open = places(in, t, &out[i])
		}
	}
	return out
}

func tablesOf(g *Gate, t *panel.TargetPanel) []*panel.Slice {
	if g.Key == "" {
		return []*panel.Slice{&t.Overall}
	}
	var out []*panel.Slice
	for i := range t.Slices {
		s := &t.Slices[i]
		if s.Key == g.Key && (g.Value == Every || g.Value == s.Value) {
			out = append(out, s)
		}
	}
	return out
}

func valuesHint(g *Gate, t *panel.TargetPanel) string {
	var values []string
	for i := range t.Slices {
		if t.Slices[i].Key == g.Key {
			values = append(values, t.Slices[i].Value)
		}
	}
	if len(values) == 0 {
		return "add " + g.Key + " to what is measured, or drop the gate"
	}
	if near := callvet.Nearest(g.Value, values); near != "" {
		return fmt.Sprintf("did you mean %s?", sliceName(g.Key, near))
	}
	return "there are: " + list(values, 12)
}

func (c *claim) decide(in *Input, t *panel.TargetPanel) {
	if c.g.Kind == Regression {
		c.regression(in, t)
		return
	}
	m := c.slice.Metric(c.g.Metric)
	if m == nil {
		c.say(ReasonNoMetric, c.subject()+": nothing here measures it", missing(c.g.Metric, c.slice))
		return
	}
	c.unit = m.Unit
	c.v.Gate.Unit, c.v.Unit, c.v.Of, c.v.Coverage = m.Unit, m.Unit, m.Of, m.Coverage
	c.v.Interval, c.v.N, c.v.Units = &m.Interval, m.Interval.N, m.Interval.Clusters
	c.v.Notes = notes(m, c.slice)
	if m.Versus != nil && c.g.Value == Every {
		c.v.Exploratory = &m.Versus.Adjusted
	}
	if c.g.Kind == Zero {
		c.zero(m)
		return
	}
	c.bound(m)
}

// say sets an open verdict.
func (c *claim) say(reason, sentence, cure string) {
	c.v.Verdict, c.v.Reason, c.v.Cure = gate.Inconclusive, reason, cure
	c.v.Sentence = sentence + ": inconclusive"
}

// maxLost is the share of attempts that may end in an error of the infrastructure,
// or not run, before what is left stops to stand for the whole.
// Source: Statistics specification, section 1.
const maxLost = 0.05

// tooManyLost reports whether too many attempts are in no mean.
func (c *claim) tooManyLost() bool {
	lost, of := c.lost()
	return c.g.Metric != panel.MetricError && float64(lost) > maxLost*float64(of)
}

func (c *claim) lost() (n, of int) {
	v := c.slice.Verdicts
	return v.Error + v.NotRun, v.Pass + v.Fail + v.Error + v.NotRun
}

func (c *claim) lostWords() (sentence, cure string) {
	lost, of := c.lost()
	what, cure := "ended in an error", "run those attempts again"
	switch v := c.slice.Verdicts; {
	case v.Error == 0:
		what, cure = "did not run", "run the rest"
	case v.NotRun > 0:
		what = "ended in an error or did not run"
	}
	return fmt.Sprintf("%d of %s %s and are in no mean, more than 5 %%", lost, count(of, "attempt"), what), cure
}

// regression holds the paired change of the pass rate against the margin.
func (c *claim) regression(in *Input, t *panel.TargetPanel) {
	d, why := difference(in, t, c.slice)
	switch {
	case d == nil && c.tooManyLost():
		why, c.v.Cure = c.lostWords()
		c.say(ReasonErrors, c.subject()+": "+why, c.v.Cure)
		return
	case d == nil:
		c.say(ReasonNoBaseline, c.subject()+": "+why, "a baseline with the same "+c.task+"s: --baseline")
		return
	}
	margin, effect := orDefault(c.g.Margin, gate.Margin), orDefault(c.g.MinEffect, gate.MinEffect)
	iv := d.Change
	c.unit = panel.UnitRate
	c.v.Interval, c.v.N, c.v.Units, c.v.Unit, c.v.Of = &iv, d.Cases, d.Cases, panel.UnitRate, c.task+"s"
	dec := gate.DecideRegression(iv, margin, effect)
	var cure string
	switch {
	case c.tooManyLost():
		dec = gate.Decision{Verdict: gate.Inconclusive, Reason: ReasonErrors}
		why, cure = c.lostWords()
	case iv.Usable() && d.Cases < c.minUnits():
		dec = gate.Decision{Verdict: gate.Inconclusive, Reason: gate.ReasonTooFewUnits}
		why = fmt.Sprintf("only %s judged in both runs, the gate wants %d", c.tasks(d.Cases), c.minUnits())
	default:
		why, cure = regressionWords(dec, iv, margin, effect, c.task)
	}
	c.v.Verdict, c.v.Reason, c.v.End, c.v.Cure = dec.Verdict, dec.Reason, endOf(dec.Reason), cure
	if dec.Verdict == gate.Inconclusive && dec.Reason != ReasonErrors && iv.Usable() {
		c.v.Needed = max(c.minUnits()-d.Cases, moreForMargin(d, margin), 0)
		c.v.Cure = c.needs(c.v.Needed, cure)
	}
	digits := max(digitsFor(panel.UnitRate, iv.Upper, 0), digitsFor(panel.UnitRate, iv.Lower, -margin))
	head := c.subject() + " against the baseline"
	if iv.Defined() {
		head = fmt.Sprintf("%s changed by %+.*f [%+.*f, %+.*f]", c.subject(), digits, iv.Point, digits, iv.Lower, digits, iv.Upper)
		head += ", by " + c.tasks(d.Cases) + " judged in both runs"
	}
	c.v.Sentence = head + ": " + why + ": " + verdictWord(dec.Verdict)
}

// difference finds the comparison of a table: its own, or that of all cases where
// the slice is all of them.
func difference(in *Input, t *panel.TargetPanel, s *panel.Slice) (*panel.Difference, string) {
	if in.Comparison == nil {
		return nil, "there is no baseline to compare with"
	}
	for i := range in.Comparison.Targets {
		tc := &in.Comparison.Targets[i]
		if !sameTarget(in, tc, t) {
			continue
		}
		if s.Key == "" || s.Cases == t.Overall.Cases {
			return &tc.Overall, ""
		}
		for j := range tc.Slices {
			if d := &tc.Slices[j]; d.Key == s.Key && d.Value == s.Value {
				return d, ""
			}
		}
		return nil, "too few cases of " + sliceName(s.Key, s.Value) + " are in both runs, or all that are in both have it"
	}
	return nil, "the baseline does not have this target"
}

// sameTarget reports whether a comparison is about a target; one without a name is
// the only one of its file.
func sameTarget(in *Input, tc *panel.TargetComparison, t *panel.TargetPanel) bool {
	return tc.Candidate == t.Name || t.Name == "" && len(in.Panels.Targets) == 1 && len(in.Comparison.Targets) == 1
}

// moreForMargin is about how many more shared cases would settle the change
// against the margin; 0 if none can be told.
func moreForMargin(d *panel.Difference, margin float64) int {
	iv := d.Change
	if !iv.Usable() || d.Cases < 2 {
		return 0
	}
	n := float64(d.Cases)
	variance := iv.SE * iv.SE * n
	if iv.SE == 0 { // a difference of rates, one attempt a case
		variance = float64(d.NewlyFailing+d.NewlyPassing)/n - iv.Point*iv.Point
	}
	need, ok := gate.PairedMean(max(0, variance), 0, 0, 1, 1, iv.Point+margin, 1-iv.Confidence, power)
	if !ok || need > maxNeeded {
		return 0
	}
	return max(1, int(need+1)-d.Cases)
}

// holm takes back the failures among the values of a key that do not stand after
// correction for their number.
func holm(in *Input, t *panel.TargetPanel, out []Verdict) {
	var p []float64
	var at []int
	for i := range out {
		s := panel.Slice{Key: out[i].Key, Value: out[i].Value, Cases: -1}
		for j := range t.Slices {
			if t.Slices[j].Key == s.Key && t.Slices[j].Value == s.Value {
				s = t.Slices[j]
			}
		}
		if d, _ := difference(in, t, &s); d != nil && d.Change.Usable() {
			p, at = append(p, d.P), append(at, i)
		}
	}
	for k, q := range stats.Holm(p) {
		v := &out[at[k]]
		v.PHolm = &q
		if v.Verdict == gate.Fail && q >= 1-v.Interval.Confidence {
			v.Verdict, v.Reason = gate.Inconclusive, ReasonHolm
			v.Sentence = v.Sentence[:len(v.Sentence)-len("failed")] +
				fmt.Sprintf("but one of %d values falls that far by chance too often (p %.2f after Holm): inconclusive", len(p), q)
			v.Cure = "hold this value alone against the baseline, on fresh attempts"
		}
	}
}

func orDefault(p *float64, otherwise float64) float64 {
	if p != nil {
		return *p
	}
	return otherwise
}
