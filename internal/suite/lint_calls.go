// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/value"
)

func (l *linter) plan(p *callvet.Plan, key string) {
	required := 0
	for i := range p.Calls {
		if !p.Calls[i].Optional {
			required++
		}
		l.expectedCall(&p.Calls[i], fmt.Sprintf("%s.calls[%d]", key, i))
	}
	only := len(l.c.Expect.Plans) == 1 && p.MaxExtraCalls == nil && l.c.MultiTurn == nil && l.extraCalls() == 0 &&
		(p.Order == "" || p.Order == callvet.OrderAny || p.Order == callvet.OrderStrict ||
			p.Order == callvet.OrderInOrder)
	if only {
		l.places(p, key)
	}
	if min := l.c.Expect.MinToolCalls; min != nil && only && *min > len(p.Calls) {
		l.problem("contradiction", "expect.min_tool_calls", "set max_extra_calls",
			"at least %d calls are asked for, but no more than the %d expected ones may be made", *min, len(p.Calls))
	}
	if max := l.c.Expect.MaxToolCalls; max != nil && required > *max && len(l.c.Expect.Plans) == 1 {
		l.problem("contradiction", "expect.max_tool_calls", "", "%d calls are expected, but at most %d may be made",
			required, *max)
	}
}

// places reports places beyond the possible number of calls.
func (l *linter) places(p *callvet.Plan, key string) {
	for i := range p.Calls {
		for _, place := range []int{p.Calls[i].Nth, p.Calls[i].Message} {
			if max(place, -place) > len(p.Calls) && !p.Calls[i].Optional {
				l.problem("contradiction", fmt.Sprintf("%s.calls[%d]", key, i),
					"set max_extra_calls, or order: superset",
					"place %d is asked for, but no more than the %d expected calls may be made", place, len(p.Calls))
			}
		}
	}
}

// extraCalls is the number of calls that the settings allow in addition to the plan's.
func (l *linter) extraCalls() int {
	for _, s := range []*callvet.Scoring{l.c.Scoring, &l.s.Defaults.Scoring} {
		if s != nil && s.MaxExtraCalls != nil {
			return *s.MaxExtraCalls
		}
	}
	return 0
}

func (l *linter) expectedCall(c *callvet.ExpectedCall, key string) {
	for i, name := range c.Tools {
		at := key + ".tool"
		if len(c.Tools) > 1 {
			at = fmt.Sprintf("%s[%d]", at, i)
		}
		if !l.counts(name, at, l.set) {
			continue
		}
		if slices.ContainsFunc(l.c.Expect.ToolsNotCalled, func(s string) bool { return strings.EqualFold(s, name) }) {
			l.problem("contradiction", "expect.tools_not_called", "",
				"%q is expected to be called and must not be called", name)
		}
		l.arguments(c, name, key)
	}
}

// countedCall checks a call that is counted. One that may not be made at all may have
// arguments that its schema rejects.
func (l *linter) countedCall(c *callvet.CallCount, key string) {
	forbidden := c.Max != nil && *c.Max == 0
	for _, name := range c.Call.Tools {
		if l.counts(name, key+".tool", l.set) && !forbidden {
			l.arguments(&c.Call, name, key)
		}
	}
}

// countBounds finds bounds that no attempt or every attempt meets, alone and together with the
// case's other bounds.
func (l *linter) countBounds(c *callvet.CallCount, key string) {
	e := &l.c.Expect
	least := 0
	switch {
	case c.Min != nil:
		least = *c.Min
	case c.Max == nil:
		least = 1
	}
	if least == 0 {
		if c.Max == nil {
			l.problem("asserts-nothing", key, "min: 1, or a max", "every attempt has at least 0 calls")
		}
		return
	}
	if e.MaxToolCalls != nil && least > *e.MaxToolCalls {
		l.problem("contradiction", key, "", "at least %d calls are asked for, but at most %d may be made", least,
			*e.MaxToolCalls)
	}
	sensitive := l.scoringInForce(func(s *callvet.Scoring) bool { return s.CaseSensitiveNames })
	within := func(tools []string) bool { // every tool that is counted is one of these
		return !slices.ContainsFunc(c.Call.Tools, func(name string) bool {
			return !slices.ContainsFunc(tools, func(t string) bool { return callvet.NameFits(t, name, sensitive) })
		})
	}
	if within(e.ToolsNotCalled) {
		l.problem("contradiction", key, "", "%s must be called and must not be called",
			strings.Join(c.Call.Tools, ", "))
	}
	if len(e.Counts) > score.MaxExpectedCalls { // which is a problem by itself
		return
	}
	for i := range e.Counts {
		o := &e.Counts[i]
		all := o.Call.Args == nil && len(o.Call.Matchers) == 0 && o.Call.Nth == 0 && o.Call.Message == 0
		if o != c && all && o.Max != nil && *o.Max < least && within(o.Call.Tools) {
			l.problem("contradiction", key, "", "at least %d calls are asked for, but counts[%d] allows at most %d",
				least, i, *o.Max)
		}
	}
}

// planless finds least values of scores over a plan where there is none.
func (l *linter) planless(e *callvet.Expect) {
	if e.Plans != nil || e.ToolsCalled != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.MinScores)) {
		switch name {
		case score.CallF1, score.ToolSetF1, score.SequenceF1, score.SequenceRecall, score.Position, score.ToolPrecision,
			score.ToolRecall, score.ToolF1:
			l.problem("no-plan", "expect.min_scores."+name, "add calls",
				"%s compares with calls that are expected, and the case lists none", name)
		}
	}
}

// emptyClaim reports whether every attempt meets an entry of all_of or not.
func emptyClaim(p *callvet.Plan) bool {
	for i := range p.Counts {
		if c := &p.Counts[i]; c.Max != nil || c.Min == nil || *c.Min > 0 {
			return false
		}
	}
	loose := p.MaxExtraCalls == nil || *p.MaxExtraCalls < 0
	switch {
	case len(p.MinScores) > 0:
		return !slices.ContainsFunc(slices.Collect(maps.Values(p.MinScores)),
			func(least float64) bool { return least > 0 })
	case p.Calls == nil:
		return true
	case len(p.Calls) == 0 || !loose:
		return p.Order == callvet.OrderSuperset || p.Order == callvet.OrderRecall
	case p.Order == callvet.OrderStrict || p.Order == callvet.OrderPrecision || p.Order == callvet.OrderSingle:
		return false
	}
	return !slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool {
		return (!c.Optional && p.Order != callvet.OrderSubset) || c.Args != nil || len(c.Matchers) > 0
	})
}

// claim checks an entry of all_of or not. What must not hold may have arguments that the
// tool's schema rejects.
func (l *linter) claim(p *callvet.Plan, key string, wanted bool) {
	switch {
	case !emptyClaim(p):
	case wanted:
		l.problem("asserts-nothing", key, "", "every attempt meets it")
	default:
		l.problem("contradiction", key, "", "every attempt meets it, so that none can pass")
	}
	for i := range p.Calls {
		if at := fmt.Sprintf("%s.calls[%d]", key, i); wanted {
			l.expectedCall(&p.Calls[i], at)
		} else {
			l.countAll(p.Calls[i].Tools, at+".tool")
		}
	}
	for i := range p.Counts {
		if at := fmt.Sprintf("%s.counts[%d]", key, i); wanted {
			l.countedCall(&p.Counts[i], at)
		} else {
			l.countAll(p.Counts[i].Call.Tools, at+".tool")
		}
	}
}

// arguments checks the expected arguments of a call against one tool's schema.
func (l *linter) arguments(c *callvet.ExpectedCall, tool, key string) {
	tool = l.named(tool, l.set)
	e := l.set.set.FindFold(tool)
	if e == nil || e.Schema == nil {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(c.Matchers)) {
		if c.Matchers[path].Mode != "absent" && !callvet.NamePattern(path) {
			l.argument(tool, path, key+".params."+path)
		}
	}
	if c.Args == nil {
		return
	}
	v, err := value.Parse(c.Args)
	if err != nil {
		l.problem("bad-arguments", key+".args", "", "the expected arguments are not JSON: %v", err)
		return
	}
	rejected := map[string]bool{}
	for _, violation := range e.Schema.Check(v) {
		if violation.Unknown() {
			l.problem(callvet.SchemaWithoutEnd, key+".args", "simplify the schema",
				"the expected arguments cannot be checked against the schema of %s: %s", tool, violation.Message)
			return
		}
		name := argumentOf(&violation)
		if l.excused(c, &violation, name) {
			continue
		}
		rejected[name] = true
		l.problem("gold-rejected", key+".args"+dotted(violation.Path), l.goldFix(&violation),
			"the schema of %s rejects the expected arguments: %s", tool, violation.Message)
	}
	for arg, ok := v.First(); ok; arg, ok = v.Next(arg) {
		if name := arg.Key(); !rejected[name] {
			l.argument(tool, name, key+".args."+name)
		}
	}
}

// excused violations are no mistakes of the author: a matcher decides about the value, or
// additional arguments are allowed.
func (l *linter) excused(c *callvet.ExpectedCall, v *callvet.Violation, name string) bool {
	if l.scoringInForce(func(s *callvet.Scoring) bool { return s.Contract == "off" || s.Contract == "report" }) {
		return true
	}
	if v.Keyword == "required" && l.scoringInForce(func(s *callvet.Scoring) bool {
		return s.ExtraArgs == callvet.ExtraIgnore || s.ExtraArgs == callvet.ExtraPenalize
	}) {
		return true
	}
	if v.Keyword == "required" && (c.ExtraArgs == callvet.ExtraIgnore || c.ExtraArgs == callvet.ExtraPenalize) {
		return true
	}
	for path := range c.Matchers {
		if path == name || strings.HasPrefix(path, name+".") || strings.HasPrefix(path, name+"[") {
			return true
		}
	}
	return l.looseMode()
}

// looseMode: under these modes the expected value is a pattern or a part, not a
// value that a call would carry.
func (l *linter) looseMode() bool {
	return l.scoringInForce(func(s *callvet.Scoring) bool {
		return slices.Contains([]string{"regex", "contains", "any_of", "type", "present", "semantic", "text"},
			s.Mode) || s.Profile == "bfcl"
	})
}

func (l *linter) scoringInForce(is func(*callvet.Scoring) bool) bool {
	return (l.c.Scoring != nil && is(l.c.Scoring)) || is(&l.s.Defaults.Scoring)
}

func (l *linter) goldFix(v *callvet.Violation) string {
	if v.Keyword == "required" {
		return "expect it too, give it a matcher such as {present: true}, or set extra_args: ignore"
	}
	return ""
}

// argumentOf is the top-level argument of a violation.
func argumentOf(v *callvet.Violation) string {
	if path := strings.TrimPrefix(v.Path, "/"); path != "" {
		name, _, _ := strings.Cut(path, "/")
		return contract.Unescape(name)
	}
	return strings.Trim(v.Expected, `"`)
}

// dotted turns a JSON Pointer into a path below args.
func dotted(pointer string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case part == "":
		case strings.Trim(part, "0123456789") == "":
			b.WriteString("[" + part + "]")
		default:
			b.WriteString("." + contract.Unescape(part))
		}
	}
	return b.String()
}

// argument warns of a name that the tool's schema does not declare.
func (l *linter) argument(tool, path, key string) {
	e := l.set.set.FindFold(tool)
	if e == nil || e.Schema == nil || len(e.Schema.Properties()) == 0 || e.Schema.HasProperty(path) ||
		e.Schema.Lookup(path) != nil {
		return
	}
	name, has := e.Schema.Stray(path)
	if name == "" {
		return
	}
	fix := "it has " + doc.Clip(strings.Join(has, ", "), 100)
	if best := callvet.Nearest(name, has); best != "" {
		fix = fmt.Sprintf("did you mean %q?", best)
	}
	whole := ""
	if name != path {
		whole = fmt.Sprintf(" (of %q)", path)
	}
	l.warn("unknown-argument", key, fix, "the schema of %s has no argument %q%s", tool, name, whole)
}

func (l *linter) multiTurn(m *callvet.MultiTurn) {
	l.countAll(m.ValidPrerequisites, "multi_turn.valid_prerequisites")
	l.countAll(m.RequiredPrerequisites, "multi_turn.required_prerequisites")
	rounds := cmp.Or(m.MaxRounds, l.s.Defaults.MaxRounds, 5)
	if m.OptimalHops > rounds {
		l.warn("hops", "multi_turn.optimal_hops", "raise max_rounds",
			"the best attempt takes %d hops, but after %d rounds the attempt ends", m.OptimalHops, rounds)
	}
	if l.c.Expect.Plans == nil && len(m.RequiredPrerequisites) == 0 && l.c.Skip == "" {
		l.warn("no-goal", "multi_turn", "add expect: calls: or expected_tool:",
			"a multi-turn case without an expected call runs until the rounds are over")
	}
	for _, name := range slices.Concat(m.ValidPrerequisites, m.RequiredPrerequisites) {
		if l.set.has(name) && !l.mocked(name) {
			l.warn("no-mock", "mocks", "add one for "+name,
				"the tool %s may be called on the way, but no mock answers it", name)
		}
	}
	for _, arg := range slices.Sorted(maps.Keys(m.ArgumentSource)) {
		l.source(arg, m.ArgumentSource[arg])
	}
}

func (l *linter) mocksOf(tool string) (out []callvet.Mock) {
	for _, m := range slices.Concat(l.c.Mocks, l.s.Mocks) {
		if strings.EqualFold(m.Tool, tool) {
			out = append(out, m)
		}
	}
	return out
}

func (l *linter) mocked(tool string) bool { return len(l.mocksOf(tool)) > 0 }

// source checks one argument_source: "search_flights.result.flights[0].id".
func (l *linter) source(arg, from string) {
	key := "multi_turn.argument_source." + arg
	tool, path, ok := strings.Cut(from, ".result")
	if !ok {
		l.problem("bad-source", key, "write TOOL.result.PATH, such as search_flights.result[0].id",
			"%q does not say which result the argument comes from", from)
		return
	}
	if !l.counts(tool, key, l.set) {
		return
	}
	if goal := lastCall(&l.c.Expect); goal != nil && len(goal.Tools) == 1 {
		l.argument(goal.Tools[0], arg, key)
	}
	mocks := l.mocksOf(tool)
	for _, m := range mocks {
		for _, r := range m.Replies {
			for _, raw := range [...][]byte{r.Result, r.Template} {
				if d, bad := doc.ReadJSON("", raw); bad == nil && descend(&d.Root, path) != nil {
					return
				}
			}
		}
	}
	if len(mocks) > 0 {
		l.problem("bad-source", key, "", "no mock of %s answers with a value at %q", tool,
			strings.TrimPrefix(path, "."))
	}
}

func lastCall(e *callvet.Expect) *callvet.ExpectedCall {
	if len(e.Plans) == 0 || len(e.Plans[0].Calls) == 0 {
		return nil
	}
	return &e.Plans[0].Calls[len(e.Plans[0].Calls)-1]
}
