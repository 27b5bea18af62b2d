// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// assertWriter writes what a case expects as assertions of promptfoo. An expectation with a
// different meaning in promptfoo is left out and reported.
type assertWriter struct {
	c       *callvet.Case
	scoring callvet.Scoring // that decides how calls are compared
	// original is the promptfoo test that the case was read from; absent for a case from
	// elsewhere.
	original Node
	out      [][]byte
	lost     []callvet.Problem
}

// lose reports that something is not carried, once for each thing.
func (w *assertWriter) lose(key, format string, args ...any) {
	p := callvet.Problem{
		Position: w.c.Position, Code: "not-carried", Warning: true, Case: w.c.ID, Key: key,
		Message: key + " is not carried: " + fmt.Sprintf(format, args...),
	}
	if !slices.Contains(w.lost, p) {
		w.lost = append(w.lost, p)
	}
}

func (w *assertWriter) add(typ string, fields ...Pair) {
	var o Record
	o.Str("type", typ)
	for _, f := range fields {
		o.Raw(f.Key, f.Val)
	}
	w.out = append(w.out, o.Bytes())
}

func (w *assertWriter) value(typ string, v []byte) { w.add(typ, Pair{Key: "value", Val: v}) }

func (w *assertWriter) asserts() [][]byte {
	e := &w.c.Expect
	w.names(e)
	if len(e.Plans) > 0 {
		w.plan(&e.Plans[0])
	}
	for i := range e.Counts {
		w.count(&e.Counts[i], "counts", false)
	}
	for i := range e.AllOf {
		w.claim(&e.AllOf[i], "all_of", false)
	}
	for i := range e.Not {
		w.claim(&e.Not[i], "not", true)
	}
	w.answer(e)
	for i := range e.Unsupported {
		w.unsupported(&e.Unsupported[i])
	}
	return w.out
}

// unsupported writes an assertion that callvet does not evaluate in its original form.
func (w *assertWriter) unsupported(u *callvet.Unsupported) {
	for _, n := range w.original.Get("assert").Elements() {
		if t, ok := n.Get("type").Text(); ok && t == u.Name {
			if !slices.ContainsFunc(w.out, func(b []byte) bool { return bytes.Equal(b, n.Raw) }) {
				w.out = append(w.out, n.Raw)
			}
			return
		}
	}
	w.lose("unsupported", "%s was not understood when it was read", u.Name)
}

// newAssertWriter applies the settings of the case over the settings of the suite, and reports
// the settings that promptfoo does not have.
func newAssertWriter(s *callvet.Suite, c *callvet.Case) *assertWriter {
	w := &assertWriter{c: c, scoring: s.Defaults.Scoring}
	if s.Dialect == "promptfoo" {
		w.original = Node{Raw: c.Foreign}
	}
	if c.Scoring == nil {
		return w
	}
	own := *c.Scoring
	w.scoring.Mode = cmp.Or(own.Mode, w.scoring.Mode)
	w.scoring.ExtraArgs = cmp.Or(own.ExtraArgs, w.scoring.ExtraArgs)
	w.scoring.MaxExtraCalls = cmp.Or(own.MaxExtraCalls, w.scoring.MaxExtraCalls)
	own.Mode, own.ExtraArgs, own.MaxExtraCalls = "", "", nil
	if own != (callvet.Scoring{}) {
		w.lose("scoring", "the format has no place for it")
	}
	return w
}

// names writes the assertions about names alone.
func (w *assertWriter) names(e *callvet.Expect) {
	if e.ToolsCalled != nil {
		p := callvet.Plan{Calls: make([]callvet.ExpectedCall, len(e.ToolsCalled))}
		for i, name := range e.ToolsCalled {
			p.Calls[i].Tools = []string{name}
		}
		w.exactly(&p, 0)
	}
	switch {
	case e.ToolsAcceptable == nil:
	case len(e.ToolsAcceptable) > 1:
		w.lose("tools_acceptable", "one of several sets of tools cannot be expressed")
	case slices.Equal(e.ToolsAcceptable[0], []string{callvet.NoTools}) || len(e.ToolsAcceptable[0]) == 0:
		w.add("not-is-valid-openai-tools-call")
	default:
		w.value("tool-call-f1", QuoteAll(e.ToolsAcceptable[0]))
	}
	for _, t := range e.ToolsNotCalled {
		w.value("not-trajectory:tool-used", Quote(t))
	}
	if e.MinToolCalls != nil || e.MaxToolCalls != nil {
		w.steps("trajectory:step-count", "", e.MinToolCalls, e.MaxToolCalls)
	}
}

func (w *assertWriter) steps(typ, pattern string, lo, hi *int) {
	var v Record
	v.Str("type", "tool")
	v.Str("pattern", pattern)
	v.Integer("min", lo)
	v.Integer("max", hi)
	w.value(typ, v.Bytes())
}

// plan writes the plan of a case: the calls are valid, these are the calls, and this is their
// order.
func (w *assertWriter) plan(p *callvet.Plan) {
	if len(p.Calls) == 0 {
		w.add("not-is-valid-openai-tools-call")
		return
	}
	w.scores("min_scores", w.c.Expect.MinScores)
	if t := w.c.Expect.MinScores["tool_set_f1"]; t > 0 {
		w.f1("tool-call-f1", p, t)
		return
	}
	extra := 0
	if n := cmp.Or(p.MaxExtraCalls, w.scoring.MaxExtraCalls); n != nil {
		extra = *n
	}
	if !w.sayable(p, "plans") {
		return
	}
	if w.original.Absent() {
		w.add("is-valid-openai-tools-call")
	}
	n := len(p.Calls)
	most := n + extra
	switch p.Order {
	case callvet.OrderStrict:
		w.sequence("trajectory:tool-sequence", p, "exact")
	case callvet.OrderInOrder:
		switch {
		case extra == 0:
			w.sequence("trajectory:tool-sequence", p, "exact")
		case extra < 0:
			w.sequence("trajectory:tool-sequence", p, "in_order")
		default:
			w.sequence("trajectory:tool-sequence", p, "in_order")
			w.steps("trajectory:step-count", "", nil, &most)
		}
	case "", callvet.OrderAny:
		w.exactly(p, extra)
	case callvet.OrderSuperset, callvet.OrderRecall:
		w.exactly(p, -1)
	default:
		w.lose("order", "%s cannot be expressed", p.Order)
	}
	w.arguments(p)
}

// scores reports which least values of scores cannot be carried.
func (w *assertWriter) scores(key string, scores map[string]float64) {
	for _, name := range SortedKeys(scores) {
		if name != "tool_set_f1" && scores[name] > 0 {
			w.lose(key+"."+name, "there is no such score")
		}
	}
}

// sayable reports whether each call of a plan names one tool, with or without arguments.
// Otherwise the calls are reported and the plan is left out.
func (w *assertWriter) sayable(p *callvet.Plan, key string) bool {
	for i := range p.Calls {
		c := &p.Calls[i]
		switch {
		case len(c.Tools) != 1:
			w.lose(key, "one of several tools cannot be expressed")
		case c.Optional || len(c.After) > 0:
			w.lose(key, "optional calls and calls after others cannot be expressed")
		case c.Nth != 0 || c.Message != 0:
			w.lose(key, "the place of a call cannot be expressed")
		default:
			continue
		}
		return false
	}
	return true
}

// exactly writes that each tool is called as often as in the plan, with at most extra other
// calls; -1: any number.
func (w *assertWriter) exactly(p *callvet.Plan, extra int) {
	times := map[string]int{}
	var list []string
	for i := range p.Calls {
		name := p.Calls[i].Tools[0]
		if times[name]++; times[name] == 1 {
			list = append(list, name)
		}
	}
	n := len(p.Calls)
	most := n + extra
	patterns := slices.ContainsFunc(list, callvet.NamePattern)
	switch {
	case patterns && n > 1:
		w.lose("plans", "one call for each of several patterns cannot be expressed")
		return
	case extra == 0 && len(list) == n && !patterns:
		w.value("tool-call-f1", QuoteAll(list))
	case len(list) == n:
		w.value("trajectory:tool-used", QuoteAll(list))
	default:
		for _, name := range list {
			var v Record
			v.Str("name", name)
			k := times[name]
			v.Integer("min", &k)
			w.value("trajectory:tool-used", v.Bytes())
		}
	}
	if extra >= 0 {
		w.steps("trajectory:step-count", "", nil, &most)
	}
}

// arguments writes the arguments of a plan's calls. promptfoo cannot express which of several
// calls of a tool has them.
func (w *assertWriter) arguments(p *callvet.Plan) {
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Args == nil && len(c.Matchers) == 0 {
			continue
		}
		if slices.ContainsFunc(p.Calls[:i],
			func(x callvet.ExpectedCall) bool { return slices.Equal(x.Tools, c.Tools) }) {
			w.lose("arguments", "which of several calls of %s has which arguments cannot be expressed", c.Tools[0])
		}
		if v := w.call(c, "arguments"); v != nil {
			w.value("trajectory:tool-args-match", v)
		}
	}
}

// call writes a call with its arguments; nil when they cannot be expressed.
func (w *assertWriter) call(c *callvet.ExpectedCall, key string) []byte {
	extra := cmp.Or(c.ExtraArgs, w.scoring.ExtraArgs, callvet.ExtraForbid)
	ignored, defaults, other := w.matchers(c, extra)
	switch {
	case other != "":
		w.lose(key, "the matcher of %s cannot be expressed", other)
		return nil
	case extra == callvet.ExtraPenalize:
		w.lose(key, "extra_args: penalize cannot be expressed")
		return nil
	case extra == callvet.ExtraIgnore && !w.wholeInParts(c):
		w.lose(key, "objects and lists would be compared in part there")
		return nil
	}
	if w.scoring.Mode != "strict" {
		w.lose("scoring.mode", "values are compared letter for letter there")
	}
	var v Record
	v.Str("name", c.Tools[0])
	v.Raw("args", []byte(cmp.Or(string(c.Args), "{}")))
	v.Str("mode", map[bool]string{true: "partial", false: "exact"}[extra == callvet.ExtraIgnore])
	v.Strs("ignore", ignored)
	if len(defaults) > 0 {
		v.Raw("defaults", defaults.Bytes())
	}
	return v.Bytes()
}

// matchers translates the matchers of a call's arguments: into ignored names and into defaults.
// It returns the name of a matcher that is neither.
func (w *assertWriter) matchers(c *callvet.ExpectedCall,
	extra callvet.ExtraArgs,
) (ignored []string, defaults Record, other string) {
	for _, name := range SortedKeys(c.Matchers) {
		m := c.Matchers[name]
		expected := (Node{Raw: bytes.TrimSpace(c.Args)}).Get(name)
		switch {
		case strings.ContainsAny(name, ".["):
			return nil, nil, name
		case m.Mode == "present" && m.Optional:
			ignored = append(ignored, name)
		case m.Mode == "" && m.Optional && m.Value != nil && !callvet.NamePattern(name):
			defaults.Raw(name, m.Value)
		case m.Mode == "partial" && m.Value == nil && extra == callvet.ExtraIgnore:
		case m.Mode == "regex" && string(m.Value) == noValue && expected.Given():
			defaults.Raw(name, expected.Raw)
		default:
			return nil, nil, name
		}
	}
	return ignored, defaults, ""
}

// wholeInParts reports whether every argument that has members is compared in part, as all
// are in promptfoo's partial mode.
func (w *assertWriter) wholeInParts(c *callvet.ExpectedCall) bool {
	for _, m := range (Node{Raw: bytes.TrimSpace(c.Args)}).Members(nil) {
		if k := m.Val.Kind(); (k == '{' || k == '[') && c.Matchers[m.Name].Mode != "partial" {
			return false
		}
	}
	return true
}

// sequence writes calls in their order by name.
func (w *assertWriter) sequence(typ string, p *callvet.Plan, mode string) {
	var steps []string
	for i := range p.Calls {
		steps = append(steps, p.Calls[i].Tools[0])
	}
	var v Record
	v.Str("mode", mode)
	v.Strs("steps", steps)
	w.value(typ, v.Bytes())
}

// f1 writes a least value of the score over sets of names.
func (w *assertWriter) f1(typ string, p *callvet.Plan, least float64) {
	if !w.sayable(p, "min_scores") {
		return
	}
	var names []string
	for i := range p.Calls {
		names = append(names, p.Calls[i].Tools[0])
	}
	var t Record
	t.Number("threshold", &least)
	w.add(typ, Pair{Key: "value", Val: QuoteAll(names)}, t[0])
}

// count writes how many calls fit an expectation.
func (w *assertWriter) count(c *callvet.CallCount, key string, negated bool) {
	not := map[bool]string{true: "not-"}[negated]
	switch {
	case len(c.Call.Tools) != 1:
		w.lose(key, "one of several tools cannot be expressed")
	case c.Call.Nth != 0 || c.Call.Message != 0:
		w.lose(key, "the place of a call cannot be expressed")
	case c.Call.Args != nil || len(c.Call.Matchers) > 0:
		none := c.Min == nil && c.Max != nil && *c.Max == 0
		if !none && (c.Min != nil && *c.Min != 1 || c.Max != nil) {
			w.lose(key, "a number of calls with given arguments cannot be expressed")
			return
		}
		if v := w.call(&c.Call, key); v != nil {
			w.value(map[bool]string{true: "not-"}[none != negated]+"trajectory:tool-args-match", v)
		}
	case c.Min == nil && c.Max == nil:
		w.value(not+"trajectory:tool-used", Quote(c.Call.Tools[0]))
	case c.Min == nil || *c.Min == 0:
		w.steps(not+"trajectory:step-count", c.Call.Tools[0], c.Min, c.Max)
	default:
		var v Record
		v.Str("pattern", c.Call.Tools[0])
		v.Integer("min", c.Min)
		v.Integer("max", c.Max)
		w.value(not+"trajectory:tool-used", v.Bytes())
	}
}

// claim writes an entry of all_of or not.
func (w *assertWriter) claim(p *callvet.Plan, key string, negated bool) {
	not := map[bool]string{true: "not-"}[negated]
	if negated && (len(p.Counts) > 1 || len(p.Counts) > 0 && p.Calls != nil) {
		w.lose(key, "several things that must not hold together cannot be expressed")
		return
	}
	for i := range p.Counts {
		w.count(&p.Counts[i], key, negated)
	}
	if p.Calls == nil || !w.sayable(p, key) {
		return
	}
	if len(p.MinScores) == 0 {
		w.sequenceOf(p, key, not)
		return
	}
	w.scores(key+".min_scores", p.MinScores)
	if t, ok := p.MinScores["tool_set_f1"]; ok && (len(p.MinScores) == 1 || !negated) {
		w.f1(not+"tool-call-f1", p, t)
	}
}

// sequenceOf writes the calls of an entry of all_of or not.
func (w *assertWriter) sequenceOf(p *callvet.Plan, key, not string) {
	loose := p.MaxExtraCalls == nil || *p.MaxExtraCalls < 0
	switch {
	case slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool {
		return c.Args != nil || len(c.Matchers) > 0 || c.Result != nil || c.ResultCheck != ""
	}):
		w.lose(key, "calls with arguments in a plan of its own cannot be expressed")
	case len(p.Calls) == 0:
		w.add(map[string]string{"not-": "is-valid-openai-tools-call", "": "not-is-valid-openai-tools-call"}[not])
	case p.Order == callvet.OrderStrict:
		w.sequence(not+"trajectory:tool-sequence", p, "exact")
	case p.Order == callvet.OrderInOrder && loose:
		w.sequence(not+"trajectory:tool-sequence", p, "in_order")
	default:
		w.lose(key, "a plan that is not a sequence with any others between cannot be expressed there")
	}
}

// answer writes the assertions about the answer, the latency and the cost.
func (w *assertWriter) answer(e *callvet.Expect) {
	for _, s := range e.ResponseContains {
		w.value("contains", Quote(s))
	}
	for _, g := range e.ResponseContainsAny {
		w.value("contains-any", QuoteAll(g))
	}
	for _, s := range e.ResponseNotContains {
		w.value("not-contains", Quote(s))
	}
	for _, s := range e.ResponseMatches {
		w.value("regex", Quote(s))
	}
	var limits Record
	limits.Number("latency", e.MaxLatencyMS)
	limits.Number("cost", e.MaxCostUSD)
	for _, l := range limits {
		w.add(l.Key, Pair{Key: "threshold", Val: l.Val})
	}
}
