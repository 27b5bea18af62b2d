// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// Gold makes an attempt that does what the case expects. It has the calls of its first plan that
// can be derived, after the required prerequisites, and an answer with the expected texts. If no
// such attempt can be derived from the expectations, as for patterns or "at least two calls", ok is
// false. Arguments that the case does not assert are not recorded. Judging a gold attempt shows
// whether a case can be passed at all.
func (k *Compiled) Gold() (t callvet.Trace, ok bool) {
	c := k.src
	g := gold{k: k, last: -1}
	if len(c.Expect.Scorers) > 0 || c.Expect.ResponseJSON != nil || g.bounded() && !g.closed() {
		return callvet.Trace{}, false
	}
	if !g.plan() || !g.prerequisites() || !g.params() || !g.answer() {
		return callvet.Trace{}, false
	}
	t = callvet.Trace{CaseID: c.ID, Target: "gold", Answer: g.text, End: callvet.EndAnswered}
	for i, call := range g.calls {
		if i > 0 && !g.ordered {
			t.Turns[0].Calls = append(t.Turns[0].Calls, call)
			continue
		}
		t.Turns = append(t.Turns, callvet.Turn{Role: callvet.RoleAssistant, Calls: []callvet.Call{call}})
	}
	if g.text != "" {
		t.Turns = append(t.Turns, callvet.Turn{Role: callvet.RoleAssistant, Content: g.text})
	}
	t.Classify("")
	return t, true
}

// bounded reports whether the case limits calls in addition to its plans.
func (g *gold) bounded() bool {
	e := &g.k.src.Expect
	return e.Counts != nil || e.AllOf != nil || e.Not != nil || e.MaxSameCalls != nil
}

// closed reports whether all attempts that meet the case's only plan make the same calls, as far
// as the case's bounds count them. Then the bounds' results for the gold attempt hold for all.
func (g *gold) closed() bool {
	if len(g.k.plans) != 1 || g.k.multi != nil || g.k.graded || g.k.plans[0].maxExtra != 0 {
		return false
	}
	p := &g.k.plans[0]
	switch p.src.Order {
	case "", callvet.OrderAny, callvet.OrderStrict, callvet.OrderInOrder:
	default:
		return false
	}
	for i := range p.src.Calls {
		c := &p.src.Calls[i]
		if c.Optional || len(c.Tools) > 1 || g.k.src.Expect.MaxSameCalls != nil && g.k.variable(c) {
			return false
		}
	}
	e := &g.k.src.Expect
	claims := slices.Concat(e.AllOf, e.Not, []callvet.Plan{{Counts: e.Counts}})
	return !slices.ContainsFunc(claims, func(c callvet.Plan) bool {
		inOrder := c.Order == callvet.OrderStrict || c.Order == callvet.OrderInOrder || len(c.MinScores) > 0
		return inOrder && !p.sequence.Total || slices.ContainsFunc(c.Calls, narrowed) ||
			slices.ContainsFunc(c.Counts, func(n callvet.CallCount) bool { return narrowed(n.Call) })
	})
}

// narrowed reports whether more than the tool decides which call answers.
func narrowed(c callvet.ExpectedCall) bool {
	return c.Args != nil || len(c.Matchers) > 0 || c.Nth != 0 || c.Message != 0 || len(c.After) > 0 ||
		c.Result != nil || c.ResultCheck != ""
}

// variable reports whether calls with different arguments may answer.
func (k *Compiled) variable(c *callvet.ExpectedCall) bool {
	mode, extra := k.scoring.Mode, cmp.Or(c.ExtraArgs, k.scoring.ExtraArgs, callvet.ExtraForbid)
	return c.Args == nil || len(c.Matchers) > 0 || extra != callvet.ExtraForbid || mode != "" && mode != "exact" &&
		mode != "strict"
}

type gold struct {
	k       *Compiled
	calls   []callvet.Call
	last    int    // position of the final expected call, -1: none
	first   int    // calls before the expected ones
	checked []bool // of the expected calls: their results are checked
	ordered bool
	text    string
}

// plan derives the calls.
func (g *gold) plan() bool {
	for i := range g.k.plans {
		if g.calls, g.checked, g.last = nil, nil, -1; g.planCalls(&g.k.plans[i]) {
			g.others(&g.k.plans[i])
			return true
		}
	}
	if len(g.k.plans) > 0 {
		return false
	}
	e := &g.k.src.Expect
	for _, set := range e.ToolsAcceptable {
		if slices.Contains(set, callvet.NoTools) || len(set) == 0 {
			return true
		}
	}
	if len(e.ToolsAcceptable) > 0 {
		for _, n := range e.ToolsAcceptable[0] {
			g.calls = append(g.calls, callvet.Call{Tool: n})
		}
	}
	return e.MinToolCalls == nil || len(g.calls) >= *e.MinToolCalls
}

// others adds the calls that the case requires beyond a plan that allows more calls: by name, as
// many as the least number. They have no arguments, so that none is wrong.
func (g *gold) others(p *plan) {
	if g.k.multi != nil || p.maxExtra == 0 && p.src.Order != callvet.OrderSuperset &&
		p.src.Order != callvet.OrderRecall {
		return
	}
	e := &g.k.src.Expect
	names := e.ToolsCalled
	for _, set := range e.ToolsAcceptable {
		if !slices.ContainsFunc(g.calls, func(c callvet.Call) bool {
			return !slices.ContainsFunc(set, func(n string) bool { return g.k.sameName(n, c.Tool) })
		}) {
			names = set
			break
		}
	}
	left := slices.Clone(g.calls)
	for _, n := range names {
		if i := slices.IndexFunc(left, func(c callvet.Call) bool { return g.k.sameName(n, c.Tool) }); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else if n != callvet.NoTools {
			g.calls = append(g.calls, callvet.Call{Tool: n})
		}
	}
	for e.MinToolCalls != nil && len(g.calls) > 0 && len(g.calls) < min(*e.MinToolCalls, maxGold) {
		g.calls = append(g.calls, callvet.Call{Tool: g.calls[0].Tool})
	}
}

// maxGold bounds the calls of a gold attempt.
const maxGold = 1000

func (g *gold) planCalls(p *plan) bool {
	if p.sequence.Topological == nil { // the After entries form a cycle
		return false
	}
	for _, i := range p.sequence.Topological {
		e := &p.calls[i]
		if len(e.src.Tools) == 0 {
			return false
		}
		if callvet.NamePattern(e.src.Tools[0]) || e.src.Nth != 0 || e.src.Message != 0 {
			return false
		}
		call := callvet.Call{Tool: e.src.Tools[0]}
		switch {
		case e.foreign != nil:
			call.Args = e.foreign.Example()
		case e.args != nil:
			args, ok := e.args.Example()
			if !ok {
				return false
			}
			call.Args = args
		}
		if !e.src.Optional {
			g.last = len(g.calls)
		}
		if call.Result = e.src.Result; call.Result != nil {
			call.Status = callvet.StatusOK
		}
		g.calls, g.checked = append(g.calls, call), append(g.checked, e.check != nil || e.src.Result != nil)
	}
	g.ordered = !p.sequence.Free()
	return true
}

// prerequisites puts the required prerequisites first and sets the results of earlier calls to
// the values that the final call's arguments come from.
func (g *gold) prerequisites() bool {
	m := g.k.multi
	if m == nil {
		return true
	}
	g.ordered = true
	var first []callvet.Call
	for _, n := range m.src.RequiredPrerequisites {
		first = append(first, callvet.Call{Tool: n, Status: callvet.StatusOK})
	}
	for i := range m.sources {
		s := &m.sources[i]
		if s.tool == "" || g.makes(first, s.tool) || g.makes(g.calls[:max(g.last, 0)], s.tool) {
			continue
		}
		if !m.tolerates(g.k, &plan{}, &actual{src: &callvet.Call{Tool: s.tool}}) {
			return false
		}
		first = append(first, callvet.Call{Tool: s.tool, Status: callvet.StatusOK})
	}
	g.first = len(first)
	g.calls = append(first, g.calls...)
	if g.last >= 0 {
		g.last += len(first)
	}
	return g.results()
}

func (g *gold) makes(calls []callvet.Call, name string) bool {
	return slices.ContainsFunc(calls, func(c callvet.Call) bool { return g.k.sameName(c.Tool, name) })
}

func (g *gold) results() bool {
	trees := map[int]any{}
	for i := range g.k.multi.sources {
		s := &g.k.multi.sources[i]
		if s.from == fromUser {
			continue
		}
		if g.last < 1 || g.calls[g.last].Args == nil { // no call, or none before it
			return false
		}
		args, err := value.Parse(g.calls[g.last].Args)
		if err != nil {
			return false
		}
		found := s.arg.Find(args)
		at := slices.IndexFunc(g.calls[:g.last],
			func(c callvet.Call) bool { return s.tool == "" || g.k.sameName(c.Tool, s.tool) })
		if len(found) == 0 || at < 0 || at >= g.first && g.checked[at-g.first] {
			return false // an invented result shows nothing about a check
		}
		path := s.path
		if s.tool == "" {
			path = match.Path{{Key: s.key}}
		}
		trees[at] = path.Plant(trees[at], json.RawMessage(found[0].Raw()))
	}
	for at, tree := range trees {
		b, err := json.Marshal(tree)
		if err != nil {
			return false
		}
		g.calls[at].Result = b
	}
	return true
}

// params sets the arguments that tool_params assert.
func (g *gold) params() bool {
	trees := map[int]any{}
	for i := range g.k.params {
		p := &g.k.params[i]
		at := slices.IndexFunc(g.calls, func(c callvet.Call) bool { return g.k.sameName(c.Tool, p.src.Tool) })
		if at < 0 {
			if g.k.routing || len(g.k.plans) > 0 {
				continue // skipped when judged, too
			}
			at = len(g.calls)
			g.calls = append(g.calls, callvet.Call{Tool: p.src.Tool})
		}
		args, err := value.Parse(g.calls[at].Args)
		if err == nil && p.met(args) {
			continue
		}
		if absent, _ := p.rule.Match(value.Value{}); absent {
			if trees[at] == nil && g.calls[at].Args == nil {
				trees[at] = map[string]any{}
			}
			continue
		}
		leaf, ok := p.rule.Example()
		if !ok {
			return false
		}
		if trees[at] == nil && g.calls[at].Args != nil {
			var m map[string]any
			dec := json.NewDecoder(bytes.NewReader(g.calls[at].Args))
			dec.UseNumber() // every digit stays
			if dec.Decode(&m) != nil {
				return false
			}
			trees[at] = m
		}
		trees[at] = p.path.Plant(trees[at], leaf)
	}
	for at, tree := range trees {
		b, err := json.Marshal(tree)
		if err != nil {
			return false
		}
		g.calls[at].Args = b
	}
	return true
}

// answer joins the required texts and checks that nothing forbids them.
func (g *gold) answer() bool {
	e := &g.k.src.Expect
	parts := slices.Clone(e.ResponseContains)
	for _, group := range e.ResponseContainsAny {
		if len(group) == 0 {
			return false
		}
		parts = append(parts, group[0])
	}
	g.text = strings.Join(parts, "\n")
	if g.text == "" && (e.ResponseNonEmpty || len(g.calls) == 0) {
		g.text = "Done."
	}
	for _, s := range e.ResponseNotContains {
		if strings.Contains(g.text, s) {
			return false
		}
	}
	for _, p := range g.k.texts {
		if !p.MatchString(g.text) {
			return false
		}
	}
	return true
}

// Ground puts the numbers of a gold attempt's answer into the result of its last call without a
// result, where the case requires them from some tool and no result contains them. It reports
// whether the attempt can be judged: an invented result shows nothing about a check of results.
func (k *Compiled) Ground(t *callvet.Trace) bool {
	numbers := match.Numbers(nil, []byte(t.Answer))
	if !k.src.Expect.NoUngroundedNumbers || len(numbers) == 0 {
		return true
	}
	var last *callvet.Call
	for i := range t.Turns {
		for j := range t.Turns[i].Calls {
			last = &t.Turns[i].Calls[j]
		}
	}
	if last == nil {
		return false
	}
	if last.Result != nil {
		return true
	}
	for i := range k.plans {
		for j := range k.plans[i].calls {
			if k.plans[i].calls[j].check != nil {
				return false
			}
		}
	}
	b, err := json.Marshal(t.Answer)
	last.Result = b
	return err == nil
}
