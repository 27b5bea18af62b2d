// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// paramAssertion is a compiled tool_params entry.
type paramAssertion struct {
	src  *callvet.ToolParam
	path match.Path
	rule *match.Rule
}

// assertions compiles the assertions and reports whether the case asserts anything.
func (k *Compiled) assertions(set match.Settings, ps *problems) {
	e := &k.src.Expect
	for i, p := range e.ResponseMatches {
		re, err := regexp.Compile(p)
		if err != nil {
			ps.add("bad-regex", fmt.Sprintf("response_matches[%d]", i),
				fmt.Sprintf("pattern %q does not compile: %v", p, err), "RE2 syntax")
			re = regexp.MustCompile(`\A\z^\b`) // matches nothing
		}
		k.texts = append(k.texts, re)
	}
	for i := range e.ToolParams {
		p := &e.ToolParams[i]
		key := fmt.Sprintf("tool_params[%d]", i)
		path, err := match.ParsePath(p.Path)
		if err != nil {
			ps.add("bad-path", key+".path", err.Error(), "write name, a.b, items[0].id or items[].id")
			continue
		}
		rule, bad := match.One(p.Path, p.Matcher, set)
		ps.from(key+".", bad)
		k.params = append(k.params, paramAssertion{p, path, rule})
	}
	k.postconditions(ps)
	k.routing = len(e.Counts)+len(e.AllOf)+len(e.Not) > 0 || e.MaxSameCalls != nil || e.ToolsCalled != nil ||
		e.ToolsAcceptable != nil || len(e.ToolsNotCalled) > 0 || e.MinToolCalls != nil || e.MaxToolCalls != nil
	k.asserts = slices.Contains([]bool{
		e.Plans != nil, e.NoToolErrors, e.ResponseNonEmpty, e.NoUngroundedNumbers, e.MaxLatencyMS != nil,
		e.MaxTokens != nil, e.MaxCostUSD != nil, e.MaxRequests != nil, e.ResponseJSON != nil, k.routing,
		len(e.Scorers) > 0, len(e.Postconditions) > 0,
		len(e.ToolParams)+len(e.ResponseContains)+len(e.ResponseContainsAny)+len(e.ResponseNotContains)+
			len(e.ResponseMatches) > 0,
	}, true)
}

func (w *scratch) record(name string, layer callvet.Layer, passed bool, expected, actual string) {
	w.assertion = append(w.assertion,
		callvet.Assertion{
			Name: name, Layer: layer, State: callvet.Asserted(passed), Expected: expected,
			Actual: actual,
		})
}

func (w *scratch) skip(name string, layer callvet.Layer, why, expected string) {
	w.assertion = append(w.assertion,
		callvet.Assertion{Name: name, Layer: layer, State: callvet.AssertNotEvaluated, Reason: why, Expected: expected})
}

// assert evaluates every assertion of the case; none stops another.
func (w *scratch) assert(planned bool) {
	if planned {
		w.assertResults()
	}
	w.assertRest(&w.k.src.Expect)
	w.assertCustom()
	w.assertSafety()
	w.assertion = append(w.assertion, w.k.src.Expect.Unevaluated()...)
	for i := range w.assertion {
		a := &w.assertion[i]
		if a.State == callvet.AssertNotEvaluated {
			w.skipped++
			continue
		}
		w.facts.evaluated++
		w.facts.failed += truth(a.State == callvet.AssertFailed)
		w.facts.unsafe = w.facts.unsafe || a.Layer == callvet.LayerSafety && a.State == callvet.AssertFailed
	}
}

func (w *scratch) assertRest(e *callvet.Expect) {
	if w.k.routing {
		names := w.checkedNames()
		w.assertion = names.Assert(w.assertion, e)
	}
	w.assertBounds(e)
	if e.NoToolErrors {
		w.assertNoErrors()
	}
	w.assertPostconditions()
	for i := range w.k.params {
		w.assertParam(&w.k.params[i])
	}
	w.assertAnswer(e)
	w.assertion = match.Budget(w.assertion, e, w.t)
}

// assertAnswer checks the text after the calls. If nothing answered the calls, there is no such
// text: the text that accompanies the calls is not the answer that the case is about.
func (w *scratch) assertAnswer(e *callvet.Expect) {
	first := len(w.assertion)
	w.assertion = match.Answer(w.assertion, e, w.k.texts, w.t.Answer)
	if w.k.answer != nil {
		w.assertJSON(e.ResponseJSON)
	}
	if e.NoUngroundedNumbers {
		bad := w.ungrounded(w.t.Answer)
		w.record("no_ungrounded_numbers", callvet.LayerResponse, bad == "",
			"numbers from the tool results or the user", bad)
	}
	if w.t.End != callvet.EndUnanswered {
		return
	}
	for i := first; i < len(w.assertion); i++ {
		a := &w.assertion[i]
		a.State, a.Actual, a.Reason = callvet.AssertNotEvaluated, "",
			"nothing answers the calls, so that there was no answer to look at"
	}
}

func (w *scratch) checkedNames() match.Names {
	return match.Names{
		Names: w.names(), Unreadable: w.facts.broken && len(w.calls) == 0,
		Exact: w.k.scoring.CaseSensitiveNames,
	}
}

func (w *scratch) names() []string {
	out := make([]string, len(w.calls))
	for i := range w.calls {
		out[i] = w.calls[i].src.Tool
	}
	return out
}

// assertNoErrors checks every executed call. A call that was not executed cannot have failed: if
// no call was executed, the result is unknown.
func (w *scratch) assertNoErrors() {
	calls := w.t.Calls()
	executed := len(calls) == 0
	for i := range calls {
		c := &calls[i]
		if why := match.Failure(c); why != "" {
			w.record("no_tool_errors", callvet.LayerRouting, false, "no errors", c.Tool+": "+why)
			return
		}
		executed = executed || match.Executed(c)
	}
	if !executed {
		w.skip("no_tool_errors", callvet.LayerRouting, "no call was executed", "no errors")
		return
	}
	w.record("no_tool_errors", callvet.LayerRouting, true, "no errors", "none")
}

// assertParam checks every call of the tool. If the tool was not called and routing is asserted
// elsewhere, that assertion already fails.
func (w *scratch) assertParam(p *paramAssertion) {
	want := p.src.Tool + "." + p.src.Path
	for _, s := range [...]string{p.src.Matcher.Mode, short(p.src.Matcher.Value)} {
		if s != "" {
			want += " " + s
		}
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

// met reports whether the value at the path matches; with [] every value must match.
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

// ungrounded returns the first number in the answer that no tool result, user text or context
// contains; "" when there is none. A number may be rounded to the decimals that the answer shows:
// 18.4 is accepted for 18.37, but 1,240 is not for 1,234.
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
	slices.Sort(known)
	for _, shown := range match.Numbers(nil, []byte(answer)) {
		text := strconv.FormatFloat(shown, 'f', -1, 64)
		_, decimals, _ := strings.Cut(text, ".")
		half := 0.5 * math.Pow10(-len(decimals)) * (1 + 1e-9)
		i := sort.Search(len(known), func(i int) bool { return shown-known[i] <= half })
		if i == len(known) || known[i]-shown > half {
			return text
		}
	}
	return ""
}

// assertResults checks the results and the post-conditions of the calls that were made.
func (w *scratch) assertResults() {
	for i, j := range w.fit.match {
		e := &w.fit.plan.calls[i]
		if e.src.Result == nil && e.check == nil || j < 0 {
			continue
		}
		c := w.calls[j].src
		result, why := resultOf(c)
		hold := func(name, want string, holds func() bool) {
			if why != "" {
				w.skip(name, callvet.LayerArguments, why, want)
				return
			}
			w.record(name, callvet.LayerArguments, holds(), want, c.Tool+" gave "+short(c.Result))
		}
		if e.src.Result != nil {
			hold("result", short(e.src.Result), func() bool { return value.Equal(e.result, result) })
		}
		if e.check != nil {
			hold("result_check", e.src.ResultCheck, func() bool { return e.check.Holds(result) })
		}
	}
}

// resultOf returns the result of the call, or why it is unknown.
func resultOf(c *callvet.Call) (result value.Value, why string) {
	if c.Placeholder() {
		return result, "no mock answers " + c.Tool
	}
	result, err := value.Parse(c.Result)
	if len(c.Result) == 0 || err != nil {
		return result, "the call of " + c.Tool + " has no result"
	}
	return result, ""
}

// postconditionName is the name of the assertion on a condition of the task.
const postconditionName = "postcondition"

// postconditionScore is the share of the conditions of the task that hold.
func (w *scratch) postconditionScore(l *scoreList) {
	met, n := 0, len(w.k.posts)
	for i := range w.assertion {
		switch a := &w.assertion[i]; {
		case a.Name != postconditionName:
		case a.State == callvet.AssertNotEvaluated:
			l.unscored(TaskPostconditions, a.Reason)
			return
		default:
			met += truth(a.State == callvet.AssertPassed)
		}
	}
	if n > 0 {
		l.add(TaskPostconditions, share(met, n, 1))
	}
}

// assertPostconditions checks the results of all calls against the conditions of the task. A
// condition that no known result satisfies has failed only if every call has a result: otherwise
// an unknown result may satisfy it.
func (w *scratch) assertPostconditions() {
	for i := range w.k.posts {
		p := &w.k.posts[i]
		met, unknown, last := false, "", "no call"
		for j := range w.calls {
			c := w.calls[j].src
			switch result, why := resultOf(c); {
			case why != "":
				unknown = why
			case p.check.Holds(result):
				met = true
			default:
				last = c.Tool + " gave " + short(c.Result)
			}
		}
		if !met && unknown != "" {
			w.skip(postconditionName, callvet.LayerRouting, unknown, p.text)
			continue
		}
		w.record(postconditionName, callvet.LayerRouting, met, p.text, last)
	}
}

// routingScores are the selection scores of cases with acceptable sets or limits instead of
// plans.
func (w *scratch) routingScores(l *scoreList) {
	ok := true
	for _, a := range w.assertion {
		if a.Layer == callvet.LayerRouting && a.State != callvet.AssertNotEvaluated && !aboutResults(a.Name) {
			ok = ok && a.State == callvet.AssertPassed
		}
	}
	l.add(ToolSelection, float64(truth(ok)))
	if w.wantsNone() {
		l.add(Abstention, float64(truth(ok)))
	}
}

// aboutResults reports whether an assertion about calls is about what their results are, not about which were made.
func aboutResults(name string) bool { return name == "no_tool_errors" || name == postconditionName }

// wantsNone reports whether only attempts without calls are right.
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
		if len(s) > 1 || len(s) == 1 && s[0] != callvet.NoTools {
			return false
		}
	}
	return e.ToolsAcceptable != nil || e.MaxToolCalls != nil && *e.MaxToolCalls == 0
}
