// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/check"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// noTools is the name in an acceptable set that stands for calling nothing.
const noTools = "__none__"

// paramAssertion is a compiled tool_params entry.
type paramAssertion struct {
	src  *callvet.ToolParam
	path check.Path
	rule *match.Rule
}

// assertions compiles what needs it and counts what the case asserts.
func (k *compiled) assertions(set match.Settings, ps *problems) {
	e := &k.src.Expect
	for i, p := range e.ResponseMatches {
		re, err := regexp.Compile(p)
		if err != nil {
			ps.add("bad-regex", fmt.Sprintf("response_matches[%d]", i), fmt.Sprintf("pattern %q does not compile: %v", p, err), "RE2 syntax")
			re = regexp.MustCompile(`\A\z^\b`) // matches nothing
		}
		k.texts = append(k.texts, re)
	}
	for i := range e.ToolParams {
		p := &e.ToolParams[i]
		key := fmt.Sprintf("tool_params[%d]", i)
		path, err := check.ParsePath(p.Path)
		if err != nil {
			ps.add("bad-path", key+".path", err.Error(), "write name, a.b, items[0].id or items[].id")
			continue
		}
		rule, bad := match.One(p.Path, p.Matcher, set)
		ps.from(key+".", bad)
		k.params = append(k.params, paramAssertion{p, path, rule})
	}
	k.routing = e.ToolsCalled != nil || e.ToolsAcceptable != nil || len(e.ToolsNotCalled) > 0 || e.MinToolCalls != nil || e.MaxToolCalls != nil
	for _, asserted := range [...]bool{e.Plans != nil, e.NoToolErrors, e.ResponseNonEmpty, e.NoUngroundedNumbers, e.MaxLatencyMS != nil,
		e.MaxTokens != nil, e.MaxCostUSD != nil, k.routing} {
		k.asserts += truth(asserted)
	}
	k.asserts += len(e.ToolParams) + len(e.ResponseContains) + len(e.ResponseContainsAny) + len(e.ResponseNotContains) + len(e.ResponseMatches)
}

func (w *scratch) record(name string, layer callvet.Layer, passed bool, expected, actual string) {
	a := callvet.Assertion{Name: name, Layer: layer, Passed: passed, Expected: expected, Actual: actual}
	w.assertion = append(w.assertion, a)
	w.facts.evaluated++
	w.facts.failed += truth(!passed)
}

func (w *scratch) skip(name string, layer callvet.Layer, why, expected string) {
	w.assertion = append(w.assertion, callvet.Assertion{Name: name, Layer: layer, Skipped: why, Expected: expected})
	w.skipped++
}

// assert evaluates every assertion of the case; none stops another.
func (w *scratch) assert(planned bool) {
	if planned {
		w.assertResults()
	}
	if k := w.k; k.asserts == truth(k.src.Expect.Plans != nil) {
		return
	}
	e := &w.k.src.Expect
	if w.k.routing {
		w.assertRouting(e)
	}
	if e.NoToolErrors {
		w.assertNoErrors()
	}
	for i := range w.k.params {
		w.assertParam(&w.k.params[i])
	}
	w.assertText(e)
	w.assertBudget(e)
}

func (w *scratch) names() []string {
	out := make([]string, len(w.calls))
	for i := range w.calls {
		out[i] = w.calls[i].src.Tool
	}
	return out
}

func (w *scratch) assertRouting(e *callvet.Expect) {
	names := w.names()
	made := strings.Join(names, ", ")
	if len(names) == 0 {
		made = "(none)"
		if w.facts.broken {
			made = "(unreadable call)"
		}
	}
	if e.ToolsCalled != nil {
		w.record("tools_called", callvet.LayerRouting, !w.unreadable() && w.sameNames(e.ToolsCalled, names), list(e.ToolsCalled), made)
	}
	if e.ToolsAcceptable != nil {
		ok := slices.ContainsFunc(e.ToolsAcceptable, func(set []string) bool { return !w.unreadable() && w.acceptable(set, names) })
		var sets []string
		for _, s := range e.ToolsAcceptable {
			sets = append(sets, "{"+strings.Join(s, ", ")+"}")
		}
		w.record("tools_acceptable", callvet.LayerRouting, ok, strings.Join(sets, " or "), made)
	}
	for _, n := range e.ToolsNotCalled {
		called := slices.ContainsFunc(names, func(c string) bool { return w.k.sameName(n, c) })
		w.record("tools_not_called", callvet.LayerRouting, !called, "not "+n, made)
	}
	if e.MinToolCalls != nil {
		w.record("min_tool_calls", callvet.LayerRouting, len(names) >= *e.MinToolCalls, strconv.Itoa(*e.MinToolCalls), strconv.Itoa(len(names)))
	}
	if e.MaxToolCalls != nil {
		w.record("max_tool_calls", callvet.LayerRouting, len(names) <= *e.MaxToolCalls, strconv.Itoa(*e.MaxToolCalls), strconv.Itoa(len(names)))
	}
}

// unreadable attempts meant a call that cannot be counted.
func (w *scratch) unreadable() bool { return w.facts.broken && len(w.calls) == 0 }

func list(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, ", ")
}

// sameNames compares multisets.
func (w *scratch) sameNames(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	used := make([]bool, len(got))
next:
	for _, n := range want {
		for j, g := range got {
			if !used[j] && w.k.sameName(n, g) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

// acceptable compares sets: every name called, nothing else, repeats do not
// count. __none__ in a set also accepts that nothing was called.
func (w *scratch) acceptable(set, got []string) bool {
	if len(got) == 0 {
		return len(set) == 0 || slices.Contains(set, noTools)
	}
	wanted := 0
	for _, n := range set {
		if n == noTools {
			continue
		}
		wanted++
		if !slices.ContainsFunc(got, func(g string) bool { return w.k.sameName(n, g) }) {
			return false
		}
	}
	for _, g := range got {
		if !slices.ContainsFunc(set, func(n string) bool { return w.k.sameName(n, g) }) {
			return false
		}
	}
	return wanted > 0
}

func (w *scratch) assertNoErrors() {
	for i := range w.calls {
		c := w.calls[i].src
		if c.Error != "" || c.Status != "" && c.Status != callvet.StatusOK {
			w.record("no_tool_errors", callvet.LayerRouting, false, "no errors", strings.TrimSpace(c.Tool+": "+string(c.Status)+" "+c.Error))
			return
		}
	}
	w.record("no_tool_errors", callvet.LayerRouting, true, "no errors", "none")
}

// assertParam looks at every call of the tool. When the tool was not called and
// routing is asserted elsewhere, that assertion already tells.
func (w *scratch) assertParam(p *paramAssertion) {
	want := p.src.Tool + "." + p.src.Path + " " + p.src.Matcher.Mode
	if len(p.src.Matcher.Value) > 0 {
		want += " " + short(p.src.Matcher.Value)
	}
	called, seen := false, ""
	for i := range w.calls {
		a := &w.calls[i]
		if !w.k.sameName(p.src.Tool, a.src.Tool) {
			continue
		}
		called = true
		if a.unknown {
			w.skip("tool_params", callvet.LayerArguments, "the call's arguments were not recorded", want)
			return
		}
		if p.met(a.args) {
			w.record("tool_params", callvet.LayerArguments, true, want, "")
			return
		}
		if vs := p.path.Find(a.args); len(vs) > 0 {
			seen = short(vs[0].Raw())
		} else if seen == "" {
			seen = "(absent)"
		}
	}
	if !called && (w.k.routing || len(w.k.plans) > 0) {
		w.skip("tool_params", callvet.LayerArguments, p.src.Tool+" was not called", want)
		return
	}
	if !called {
		seen = p.src.Tool + " was not called"
	}
	w.record("tool_params", callvet.LayerArguments, false, want, seen)
}

// met: the value at the path matches; with [] every one does.
func (p *paramAssertion) met(args value.Value) bool {
	found := p.path.Find(args)
	if len(found) == 0 {
		ok, _ := p.rule.Match(value.Value{})
		return ok || p.src.Matcher.Optional
	}
	for _, v := range found {
		if ok, _ := p.rule.Match(v); !ok {
			return false
		}
	}
	return true
}

func (w *scratch) assertText(e *callvet.Expect) {
	answer := w.t.Answer
	say := func(name string, ok bool, want string) {
		w.record(name, callvet.LayerResponse, ok, want, clip(answer))
	}
	if e.ResponseNonEmpty {
		say("response_non_empty", strings.TrimSpace(answer) != "", "an answer")
	}
	for _, s := range e.ResponseContains {
		say("response_contains", strings.Contains(answer, s), s)
	}
	for _, group := range e.ResponseContainsAny {
		ok := slices.ContainsFunc(group, func(s string) bool { return strings.Contains(answer, s) })
		say("response_contains_any", ok, strings.Join(group, " | "))
	}
	for _, s := range e.ResponseNotContains {
		say("response_not_contains", !strings.Contains(answer, s), "not "+s)
	}
	for i, p := range w.k.texts {
		say("response_matches", p.MatchString(answer), e.ResponseMatches[i])
	}
	if e.NoUngroundedNumbers {
		bad := w.ungrounded(answer)
		w.record("no_ungrounded_numbers", callvet.LayerResponse, bad == "", "numbers from the tool results or the user", bad)
	}
}

// ungrounded gives the first number in the answer that no tool result, user
// text or context has within one percent; "" when there is none. Source: Eval
// Case Interfaces, "noHallucinatedNumbers".
func (w *scratch) ungrounded(answer string) string {
	known := slices.Clone(w.k.sources.Numbers())
	for i := range w.t.Turns {
		t := &w.t.Turns[i]
		if t.Role == callvet.RoleTool || t.Role == callvet.RoleUser {
			known = match.Numbers(known, []byte(t.Content))
		}
		for j := range t.Calls {
			known = match.Numbers(known, t.Calls[j].Result)
		}
	}
	for _, n := range match.Numbers(nil, []byte(answer)) {
		if !slices.ContainsFunc(known, func(k float64) bool { return math.Abs(n-k) <= 0.01*math.Abs(k) }) {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	return ""
}

func (w *scratch) assertBudget(e *callvet.Expect) {
	num := func(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }
	if e.MaxLatencyMS != nil {
		w.budget("max_latency_ms", w.t.WallMS > 0, w.t.WallMS <= *e.MaxLatencyMS, num(*e.MaxLatencyMS), num(w.t.WallMS))
	}
	if e.MaxTokens != nil {
		w.budget("max_tokens", w.t.Usage.Known, w.t.Usage.OutputTokens <= *e.MaxTokens, strconv.Itoa(*e.MaxTokens), strconv.Itoa(w.t.Usage.OutputTokens))
	}
	if e.MaxCostUSD != nil {
		cost := w.t.Usage.CostUSD
		if cost == nil {
			w.budget("max_cost_usd", false, false, num(*e.MaxCostUSD), "")
			return
		}
		w.budget("max_cost_usd", true, *cost <= *e.MaxCostUSD, num(*e.MaxCostUSD), num(*cost))
	}
}

func (w *scratch) budget(name string, known, ok bool, limit, got string) {
	if !known {
		w.skip(name, callvet.LayerBudget, "not measured", "at most "+limit)
		return
	}
	w.record(name, callvet.LayerBudget, ok, "at most "+limit, got)
}

// assertResults checks the post-conditions of the calls that were made.
func (w *scratch) assertResults() {
	for i, j := range w.fit.match {
		e := &w.fit.plan.calls[i]
		if e.check == nil || j < 0 {
			continue
		}
		c := w.calls[j].src
		result, err := value.Parse(c.Result)
		if len(c.Result) == 0 || err != nil {
			w.skip("result_check", callvet.LayerArguments, "the call has no result", e.src.ResultCheck)
			continue
		}
		w.record("result_check", callvet.LayerArguments, e.check.Holds(result), e.src.ResultCheck, c.Tool+" gave "+short(c.Result))
	}
}

// routingScores are the selection of cases that name acceptable sets or limits
// instead of plans.
func (w *scratch) routingScores(l *scoreList) {
	ok := true
	for _, a := range w.assertion {
		if a.Layer == callvet.LayerRouting && a.Skipped == "" && a.Name != "no_tool_errors" {
			ok = ok && a.Passed
		}
	}
	l.add(ToolSelection, float64(truth(ok)))
	if w.wantsNone() {
		l.add(Abstention, float64(truth(ok)))
	}
}

// wantsNone reports whether the only right thing is to call nothing.
func (w *scratch) wantsNone() bool {
	e := &w.k.src.Expect
	if len(w.k.plans) > 0 {
		for i := range w.k.plans {
			if len(w.k.plans[i].calls) > 0 {
				return false
			}
		}
		return true
	}
	for _, s := range e.ToolsAcceptable {
		if len(s) > 1 || len(s) == 1 && s[0] != noTools {
			return false
		}
	}
	return e.ToolsAcceptable != nil || e.MaxToolCalls != nil && *e.MaxToolCalls == 0
}
