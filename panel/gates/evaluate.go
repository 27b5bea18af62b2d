// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/gate"
)

// Evaluate compares the panels with every gate: one verdict for each gate, target and slice, in
// that order. A target that is a mere floor is left out unless a gate names it or there is no
// other.
//
// A gate that names an unknown metric, slice key or target, or a bound that its metric cannot have,
// is a problem: Evaluate then returns no report. A slice value without data, a metric that was not
// measured and a missing baseline are no problem of the gate: they leave it inconclusive.
//
// The whole passes only if every hard gate passes for every target and slice, so
// that the chance of a false pass needs no correction (Berger 1982). A regression
// claimed for one of all values of a key must hold after Holm's correction; with a
// Correction every claim must hold among all of them.
// Source: Statistics specification, sections 7 and 10.
func Evaluate(in Input, gs []Gate) (*Report, []callvet.Problem) {
	if in.Task == "" {
		in.Task = "case"
	}
	if problems := check(&in, gs); len(problems) > 0 {
		return nil, problems
	}
	r := &Report{Policy: in.Policy, Lost: in.Panels.Lost}
	for i := range gs {
		g := &gs[i]
		first := len(r.Verdicts)
		for _, t := range targetsOf(&in, g) {
			r.Verdicts = append(r.Verdicts, gatesJudge(&in, g, t)...)
		}
		if len(r.Verdicts) == first {
			r.Verdicts = append(r.Verdicts,
				open(g, &in, ReasonNoTarget, "there are no results to check it against", "run something first"))
		}
	}
	correct(r.Verdicts, in.Correction, false)
	singles := make([]gate.Single, len(r.Verdicts))
	for i := range r.Verdicts {
		singles[i] = gate.Single{Verdict: r.Verdicts[i].Verdict, Required: r.Verdicts[i].Gate.hard()}
	}
	r.Verdict, r.Blocks = gate.Combine(singles, in.Policy)
	r.Sentence = conclude(r)
	r.Warnings, r.Notes = warnings(&in, gs), assumed(&in, r.Verdicts)
	return r, nil
}

// warnings lists what the panels and the comparison leave out as a whole.
func warnings(in *Input, gs []Gate) []string {
	w := slices.Clone(in.Panels.Warnings)
	if s := in.Panels.Lost.Sentence(); s != "" {
		w = append(w, s)
	}
	for i := range in.Panels.Targets {
		t := &in.Panels.Targets[i]
		if u := &t.Overall.NotEvaluated; u.Assertions > 0 {
			w = append(w, fmt.Sprintf("%s: not evaluated: %s; passed by the others only: %s", t.Name,
				count(u.Assertions, "assertion"), count(u.Passed, "attempt")))
		}
	}
	c := in.Comparison
	if c == nil {
		return w
	}
	w = append(w, c.Warnings...)
	if n := len(c.OnlyBaseline); n > 0 {
		missing := "missing"
		if in.Evidence != nil && len(in.Evidence.Early) > 0 {
			missing = "left out or missing"
		}
		w = append(w, count(n, in.Task)+" of the baseline "+missing+" here and not compared")
	}
	if n := len(c.OnlyCandidate); n > 0 {
		w = append(w, count(n, in.Task)+" missing in the baseline and not compared")
	}
	judged := slices.ContainsFunc(gs, func(g Gate) bool { return g.Kind == Regression && g.Metric == panel.MetricPass })
	for i := range c.Targets {
		if n := len(c.Targets[i].Unjudged); n > 0 && judged {
			w = append(w, count(n, in.Task)+" of "+c.Targets[i].Candidate+
				" without a verdict on one side and not compared")
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

// claim is one verdict while it is computed.
type claim struct {
	g     *Gate
	v     *Verdict
	slice *panel.Slice
	unit  panel.Unit
	task  string
	conf  float64
	gone  *panel.Lost // records that could not be read; nil: none
	// sequence decides the gate where it may be looked at more than once; nil: the interval does.
	sequence *Sequence
}

// open is a verdict without a number.
func open(g *Gate, in *Input, reason, sentence, cure string) Verdict {
	v := Verdict{
		Gate: *g, Population: g.About(), Key: g.Key, Value: g.Value, Verdict: gate.Inconclusive,
		Reason: reason, Cure: cure,
	}
	c := claim{g: g, v: &v, task: in.Task}
	v.Sentence = c.subject() + ": " + sentence + ": inconclusive"
	return v
}

// gatesJudge returns the verdicts of one gate on one target: one, or one for each value of a key.
func gatesJudge(in *Input, g *Gate, t *panel.TargetPanel) []Verdict {
	if g.Key == KeyCase {
		return judgeCases(in, g, t)
	}
	tables := tablesOf(g, t)
	if len(tables) == 0 {
		v := open(g, in, ReasonNoSlice, "no attempt has "+sliceName(g.Key, g.Value), valuesHint(g, t))
		if len(t.Slices) >= fullTables {
			v = open(g, in, ReasonNoSlice, sliceName(g.Key, g.Value)+
				" is not among the most frequent slices, which alone are kept", "slice by fewer keys")
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
		*v = Verdict{
			Gate: *g, Population: g.About(), Target: t.Name, Key: s.Key, Value: s.Value,
			Verdict: gate.Inconclusive,
		}
		c := claim{g: g, v: v, slice: s, task: in.Task, conf: in.Panels.Confidence, gone: in.Panels.Lost}
		c.decide(in, t)
		c.byTask(in, t)
		if g.Kind != Regression && g.Kind != Ratchet {
			c.against(in, t)
		}
	}
	if g.Kind == Regression && g.Value == Every && in.Correction == "" {
		correct(out, Holm, true)
	}
	for i := range out {
		if out[i].Verdict != gate.Pass && g.Kind != Ratchet {
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
	in, done := c.looked(in, t)
	if done {
		return
	}
	switch c.g.Kind {
	case Regression:
		c.regression(in, t)
		return
	case Ratchet:
		c.ratchet(in, t)
		return
	}
	m := c.slice.Metric(c.g.Metric)
	switch lost, of := c.lost(); {
	case m == nil && lost == of && c.tooManyLost(): // all attempts that could have measured it
		why, cure := c.lostWords()
		c.leaveOpen(ReasonErrors, c.subject()+": "+why, cure)
		return
	case m == nil:
		c.leaveOpen(ReasonNoMetric, c.subject()+": nothing here measures it", missing(c.g.Metric, c.slice))
		return
	}
	m = c.correlated(in, m)
	c.unit = m.Unit
	c.v.Gate.Unit, c.v.Unit, c.v.Of, c.v.Coverage = m.Unit, m.Unit, m.Of, m.Coverage
	c.v.Interval, c.v.N, c.v.Units, c.v.Labelled = &m.Interval, m.Seen(), m.Interval.Clusters, m.Labelled
	c.v.Notes = append(c.v.Notes, notes(m, c.slice)...)
	if m.Versus != nil && c.g.Value == Every {
		c.v.Exploratory = &m.Versus.Adjusted
	}
	if c.g.Kind == Zero {
		c.zero(m)
		return
	}
	c.bound(m)
}

// leaveOpen sets an open verdict.
func (c *claim) leaveOpen(reason, sentence, cure string) {
	c.v.Verdict, c.v.Reason, c.v.Cure = gate.Inconclusive, reason, cure
	c.v.Sentence = sentence + ": inconclusive"
}

func orDefault(p *float64, otherwise float64) float64 {
	if p != nil {
		return *p
	}
	return otherwise
}
