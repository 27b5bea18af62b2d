// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
)

// MaxFailedDecisions is how many failed cases are kept per target.
const MaxFailedDecisions = 200

// RoutingCollector takes the attempts of a run. Ready to use when zero; not safe for
// concurrent use. It keeps counts, latencies, and MaxFailed cases per target.
type RoutingCollector struct {
	// Known reports whether the catalog of a target, by its position, has a tool; nil: unknown.
	Known func(target int, tool string) bool
	// Weights of the layers in the composite, for the report.
	Weights []RoutingWeight
	targets map[int]*collectedDecisions
}

type collectedDecisions struct {
	cases    map[string]*decisionOutcome
	order    []string
	layers   map[string][]stats.Observation
	failed   []RoutingFailure
	failures int
	// Of attempts:
	attempts, unequal int
	matches           map[string]int
	wrong             map[callvet.Class]int
	agents            map[[2]string]int // expected, chosen
	missed            map[string]int    // by the layer that blocked the tools, or the layer of tools
	strange           strangeNames
	shared            map[string]string // the values that all cases have under the keys of parts
}

// routingParts are the keys that divide a suite. Where all cases have the same value, its slice is the
// whole suite, which the panels leave out.
var routingParts = []string{"category", "difficulty"}

// share keeps the values that all cases have under the keys of routingParts.
func (t *collectedDecisions) share(c *callvet.Case) {
	first := t.shared == nil
	if first {
		t.shared = map[string]string{}
	}
	for _, key := range routingParts {
		if value := c.Fields[key]; first {
			t.shared[key] = value
		} else if t.shared[key] != value {
			t.shared[key] = ""
		}
	}
}

// only returns the slice of a key that all cases are in; ok is false where there is none.
func (t *collectedDecisions) only(key string, tp *TargetPanel) (out RoutingSlice, ok bool) {
	value := t.shared[key]
	if value == "" || slices.ContainsFunc(tp.Slices, func(s Slice) bool { return s.Key == key }) {
		return out, false
	}
	return RoutingSlice{Key: key, Value: value, Cases: tp.Overall.Cases, Metrics: routingRates(&tp.Overall, inRoutingSlice)}, true
}

// decisionOutcome of one case over its repeats.
type decisionOutcome struct {
	tags         []string
	judged, fail int
}

// Add adds one attempt; attempts without a decision or a verdict are left out.
func (c *RoutingCollector) Add(of *callvet.Case, cell *callvet.Cell) {
	d, r := cell.Trace.Decision, &cell.Result
	if d == nil || r.Verdict != callvet.VerdictPass && r.Verdict != callvet.VerdictFail {
		return
	}
	d = r.CountsDecision(d)
	if c.targets == nil {
		c.targets = map[int]*collectedDecisions{}
	}
	t := c.targets[cell.Target]
	if t == nil {
		t = &collectedDecisions{
			cases: map[string]*decisionOutcome{}, layers: map[string][]stats.Observation{},
			matches: map[string]int{}, wrong: map[callvet.Class]int{}, missed: map[string]int{},
			agents: map[[2]string]int{},
		}
		c.targets[cell.Target] = t
	}
	o := t.cases[of.ID]
	if o == nil {
		o = &decisionOutcome{tags: of.Tags}
		t.cases[of.ID], t.order = o, append(t.order, of.ID)
		t.share(of)
	}
	o.judged++
	t.attempts++
	own, _ := RoutingMatch(r.Scores)
	t.matches[own]++
	for _, l := range d.Layers {
		if l.MS > 0 {
			t.layers[l.Layer] = append(t.layers[l.Layer], stats.Observation{Value: l.MS, Cluster: int32(cell.Case)})
		}
	}
	t.strange.add(d)
	if c.Known != nil {
		t.strange.names(d, func(tool string) bool { return c.Known(cell.Target, tool) })
	}
	want, _ := score.SelectionOf(&of.Expect)
	want.Tools, want.Acceptable = r.CountsEach(want.Tools), r.CountsEach(want.Acceptable)
	if want.Agents != nil && d.Decides(callvet.SelectAgents) {
		t.agents[[2]string{joinedNames(want.Agents), joinedNames(d.Agents)}]++
	}
	if unequalNames(want.Tools, d.Names()) {
		t.unequal++
	}
	if r.Verdict == callvet.VerdictPass {
		return
	}
	o.fail++
	t.wrong[r.Class]++
	if s := r.Score(score.ToolsRight); s.Scored && s.Value == 0 {
		t.missed[cmp.Or(score.BlockedBy(r), callvet.SelectTools)]++
	}
	if o.fail > 1 {
		return
	}
	if t.failures++; len(t.failed) < MaxFailedDecisions {
		t.failed = append(t.failed,
			RoutingFailure{
				Case: of.ID, Query: of.Question(), Tags: of.Tags, Class: r.Class, Reason: r.Reason,
				Want: want, Got: *d,
			})
	}
}

// joinedNames names a set of agents.
func joinedNames(names []string) string {
	return cmp.Or(strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "), None)
}

// unequalNames reports whether tools are expected and returned, but in different numbers.
func unequalNames(want, given []string) bool {
	n, m := distinctNames(want), distinctNames(given)
	return n > 0 && m > 0 && n != m
}

func distinctNames(names []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(names))))
}

// RoutingMatch names the match of a decision by its scores: exact, acceptable, partial or none; "" where
// its tools are not judged. byExpected counts like the Tool Selection Evaluation System: acceptable
// tools together with other tools are "none" there, if no expected tool is among them.
func RoutingMatch(scores []callvet.Score) (own, byExpected string) {
	holds := func(name string) bool {
		return slices.ContainsFunc(scores,
			func(s callvet.Score) bool { return s.Name == name && s.Scored && s.Value == 1 })
	}
	for _, m := range [][2]string{
		{score.MatchExact, "exact"},
		{score.MatchAcceptable, "acceptable"},
		{score.MatchPartial, "partial"},
		{score.MatchNone, "none"},
	} {
		if holds(m[0]) {
			own = m[1]
			break
		}
	}
	if holds(score.MatchNoneExpected) {
		return own, "none"
	}
	return own, own
}

// Section returns what was collected, with metrics from the panels of the same run; nil when no
// attempt had a decision.
func (c *RoutingCollector) Section(p *Panels) *RoutingSection {
	if len(c.targets) == 0 {
		return nil
	}
	s := &RoutingSection{}
	for i := range p.Targets {
		if t := c.targets[p.Targets[i].Target]; t != nil {
			one := t.target(&p.Targets[i], p.Confidence)
			one.Weights = c.Weights
			s.Targets = append(s.Targets, one)
		}
	}
	return s
}

func (t *collectedDecisions) target(tp *TargetPanel, confidence float64) RoutingTarget {
	out := RoutingTarget{
		Target: tp.Target, Name: tp.Name, Cases: len(t.order), Routes: tp.Routes, Failed: t.failed,
		Failures: t.failures,
	}
	for _, l := range []struct{ layer, metric string }{
		{callvet.SelectRoute, score.Route},
		{callvet.SelectSubRoute, score.SubRoute},
		{callvet.SelectAgents, score.AgentsExact},
		{callvet.SelectTools, score.ToolsRight},
	} {
		if m := tp.Overall.Metric(l.metric); m != nil {
			q := stats.CaseIntervals(t.layers[l.layer], confidence, 0.5, 0.9)
			out.Layers = append(out.Layers, RoutingLayer{Layer: l.layer, Metric: *m, P50: q[0], P90: q[1]})
		}
	}
	out.Metrics, out.CompositeBest = routingRates(&tp.Overall, inRoutingTarget), tp.Overall.Metric(score.CompositeBest)
	for _, key := range routingParts {
		if only, ok := t.only(key, tp); ok {
			out.Slices = append(out.Slices, only)
		}
	}
	for i := range tp.Slices {
		s := &tp.Slices[i]
		out.Slices = append(out.Slices, RoutingSlice{Key: s.Key, Value: s.Value, Cases: s.Cases, Metrics: routingRates(s, inRoutingSlice)})
	}
	out.TagsLeftOut = t.leftOut(out.Slices)
	for _, c := range tp.Confusion {
		if c.Expected != c.Called {
			out.Tools = append(out.Tools, c)
		}
	}
	t.count(&out)
	out.Notes = t.strange.notes(t.attempts)
	out.Patterns = t.patterns()
	out.Recommendations = recommendRouting(&out, tp)
	return out
}

func inRoutingTarget(name string) bool {
	switch name {
	case score.Route, score.SubRoute, score.AgentsExact, score.ToolsRight, score.CompositeBest:
		return false // shown as layers, and next to the composite
	}
	return !BuiltIn(name) || name == MetricPass || name == MetricError ||
		name == MetricLatencyP50 || name == MetricLatencyP90
}

func inRoutingSlice(name string) bool {
	switch name {
	case MetricPass, score.Composite, score.Route, score.AgentsExact, score.ToolsRight, score.MRR,
		score.Precision1:
		return true
	}
	return false
}

func routingRates(s *Slice, keep func(string) bool) []Metric {
	var out []Metric
	for _, m := range s.Metrics {
		if keep(m.Name) {
			out = append(out, m)
		}
	}
	return out
}

// count sets the classes of matches and the first wrong layers, in attempts.
func (t *collectedDecisions) count(out *RoutingTarget) {
	out.Attempts, out.Unequal = t.attempts, t.unequal
	if t.matches[""] < t.attempts {
		for _, m := range []string{"exact", "acceptable", "partial", "none"} {
			out.Matches = append(out.Matches, Count{Name: m, N: t.matches[m]})
		}
	}
	for pair, n := range t.agents {
		out.Agents = append(out.Agents, Confused{Expected: pair[0], Called: pair[1], N: n})
	}
	slices.SortFunc(out.Agents, func(a, b Confused) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Expected, b.Expected),
			strings.Compare(a.Called, b.Called))
	})
	for _, l := range []string{callvet.SelectRoute, callvet.SelectSubRoute, callvet.SelectAgents, callvet.SelectTools} {
		if n := t.missed[l]; n > 0 {
			out.ToolMisses = append(out.ToolMisses, Count{Name: l, N: n})
		}
	}
	for _, c := range Classes() {
		if n := t.wrong[c]; n > 0 {
			out.FirstWrong = append(out.FirstWrong, Count{Name: string(c), N: n})
		}
	}
}

// minRoutingSlice is how many cases a tag needs for a slice of its own.
const minRoutingSlice = 5

// leftOut counts the tags that have too few cases for a slice.
func (t *collectedDecisions) leftOut(listed []RoutingSlice) int {
	cases, n := map[string]int{}, 0
	for _, id := range t.order {
		for _, tag := range slices.Compact(slices.Sorted(slices.Values(t.cases[id].tags))) {
			cases[tag]++
		}
	}
	for tag, of := range cases {
		if of < minRoutingSlice && !slices.ContainsFunc(listed, func(s RoutingSlice) bool { return s.Value == tag }) {
			n++
		}
	}
	return n
}

// RoutingWeights returns the weights of layers in the order of their decision.
func RoutingWeights(s score.SelectionSettings) []RoutingWeight {
	return []RoutingWeight{
		{Layer: callvet.SelectRoute, Weight: s.Route},
		{Layer: callvet.SelectSubRoute, Weight: s.SubRoute},
		{Layer: callvet.SelectAgents, Weight: s.Agents},
		{Layer: callvet.SelectTools, Weight: s.Tools(), Exact: s.Exact, Acceptable: s.Acceptable},
	}
}

// minRoutingTag is how many cases a tag needs for a pattern of failures.
const minRoutingTag = 2

// patterns compares the cases of each tag with all others. A case fails when most of
// its attempts do: attempts of one case are not independent.
func (t *collectedDecisions) patterns() []RoutingPattern {
	type sums struct{ failed, of int }
	tags, all := map[string]sums{}, sums{}
	for _, id := range t.order {
		o := t.cases[id]
		failed := 0
		if 2*o.fail > o.judged {
			failed = 1
		}
		all.failed, all.of = all.failed+failed, all.of+1
		for _, tag := range slices.Compact(slices.Sorted(slices.Values(o.tags))) {
			s := tags[tag]
			tags[tag] = sums{s.failed + failed, s.of + 1}
		}
	}
	if all.failed == 0 {
		return nil
	}
	var out []RoutingPattern
	var ps []float64
	for tag, s := range tags {
		if s.of < minRoutingTag || s.of == all.of {
			continue
		}
		p := RoutingPattern{Tag: tag, Failed: s.failed, Of: s.of, RestFailed: all.failed - s.failed, Rest: all.of - s.of}
		p.Lift = float64(s.failed) / float64(s.of) / (float64(all.failed) / float64(all.of))
		p.P = stats.Fisher(p.Failed, p.Of, p.RestFailed, p.Rest)
		out = append(out, p)
	}
	slices.SortFunc(out, patternByLift)
	for i := range out {
		ps = append(ps, out[i].P)
	}
	for i, a := range stats.BH(ps) {
		out[i].Adjusted = a
	}
	return out
}
