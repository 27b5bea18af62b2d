// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

func (l *linter) lintCase() {
	c := l.c
	l.offered()
	if c.Skip != "" {
		l.warn("skipped", "skip", "", "the case will not run: %s", c.Skip)
	} else {
		l.assertions()
	}
	l.toolChoice(c.ToolChoice, "tool_choice", l.set)
	l.choiceAgainstGold()
	if c.Scoring != nil {
		l.scoring(c.Scoring, "scoring")
	}
	for i := range c.Expect.Plans {
		key := "expect"
		if len(c.Expect.Plans) > 1 || c.Expect.Plans[i].Name != "" {
			key = fmt.Sprintf("expect.any_of[%d]", i)
		}
		l.plan(&c.Expect.Plans[i], key)
	}
	l.toolAssertions()
	l.response()
	l.reachable()
	l.tier()
	l.rubric()
	for i := range c.Mocks {
		l.known(c.Mocks[i].Tool, fmt.Sprintf("mocks[%d].tool", i), l.set)
	}
	l.states()
	l.faults(c.Faults, "faults", l.set)
	if c.Safety != nil {
		l.safety(c.Safety)
	}
	if c.MultiTurn != nil {
		l.multiTurn(c.MultiTurn)
	}
}

// offered sets the tools that the case offers.
func (l *linter) offered() {
	l.set = l.all
	switch {
	case l.c.Tools != nil:
		l.set = tableOf(l.c.Tools)
		for i := range l.c.Tools {
			l.tool(l.set.set.At(i), fmt.Sprintf("tools[%d]", i))
		}
	case l.c.ToolNames != nil:
		var tools []callvet.Tool
		for i, name := range l.c.ToolNames {
			if !l.known(name, fmt.Sprintf("tools[%d]", i), l.all) {
				continue
			}
			if e := l.all.set.FindFold(name); e != nil {
				tools = append(tools, *e.Tool)
			}
		}
		l.set = tableOf(tools)
	}
}

// CodeNeedsJudge is the code of warnings about cases that only a judge can decide.
const CodeNeedsJudge = "needs-judge"

// assertions checks that the case asserts something that has to happen.
func (l *linter) assertions() {
	e := &l.c.Expect
	if !asserts(e) {
		l.problem("asserts-nothing", "expect", "add expect: (or expected_tool:)",
			"the case asserts nothing, so everything passes")
		return
	}
	prerequisites := l.c.MultiTurn != nil && len(l.c.MultiTurn.RequiredPrerequisites) > 0
	if left := e.Unevaluated(); len(left) > 0 {
		what := left[0].Name + ": " + left[0].Reason
		if n := len(left) - 1; n > 0 {
			what += fmt.Sprintf(", and %d more", n)
		}
		switch {
		case evaluated(e) || prerequisites:
			l.warn("not-evaluated", "expect", "",
				"%d of the case's assertions cannot be evaluated (%s): passing the others is not passing all",
				len(left), what)
		case len(e.Unsupported) == 0 && l.c.Skip == "":
			l.warn(CodeNeedsJudge, "expect", "give a run --judge rubric --judge-model MODEL",
				"the case asserts only a rubric: a run without a judge does not ask it")
		case l.c.Skip != "":
			l.warn("not-evaluated", "expect", "",
				"none of the case's assertions can be evaluated (%s): it is not asked", what)
		default:
			l.problem("not-evaluated", "expect", "add an assertion on calls or on the answer, or say skip: and why",
				"none of the case's assertions can be evaluated (%s): it would cost money and say nothing", what)
		}
		if !evaluated(e) {
			return
		}
	}
	if !demands(e) && !prerequisites {
		l.problem("passes-by-nothing", "expect", "add what must happen: calls, no_call: true, or a response assertion",
			"the case passes when the model does nothing: it has only rules about what must not happen")
	}
}

// demands reports whether an attempt without calls and without an answer would fail, or whether
// the case asks the target to abstain.
func demands(e *callvet.Expect) bool {
	for i := range e.Plans {
		p := &e.Plans[i]
		if len(p.Calls) == 0 || slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool { return !c.Optional }) {
			return true
		}
	}
	matches := slices.ContainsFunc(e.ResponseMatches, func(p string) bool {
		re, err := regexp.Compile(p)
		return err != nil || !re.MatchString("")
	})
	return bounds(e) || len(e.Scorers) > 0 || e.Selection != nil || e.ToolsCalled != nil ||
		len(e.ToolsAcceptable) > 0 ||
		len(e.ToolParams) > 0 || e.ResponseJSON != nil || e.ResponseNonEmpty ||
		slices.ContainsFunc(e.ResponseContains, func(s string) bool { return s != "" }) ||
		len(e.ResponseContainsAny) > 0 || matches || len(e.Rubric) > 0
}

// bounds reports whether a case limits how many calls there may be, or which may not be made:
// such a case is meant to fail attempts with calls.
func bounds(e *callvet.Expect) bool {
	return e.MinToolCalls != nil || e.MaxToolCalls != nil || len(e.ToolsNotCalled) > 0 || len(e.Counts) > 0 ||
		len(e.AllOf) > 0 || len(e.Not) > 0 || e.MaxSameCalls != nil || e.MaxRequests != nil || scored(e)
}

// scored reports whether a least value of a score decides.
func scored(e *callvet.Expect) bool {
	for _, least := range e.MinScores {
		if least > 0 {
			return true
		}
	}
	return false
}

func (l *linter) choiceAgainstGold() {
	choice, key := l.c.ToolChoice, "tool_choice"
	if choice == "" {
		choice, key = l.s.Defaults.ToolChoice, ""
	}
	something, nothing := l.c.Expect.Calls()
	forced := choice != "" && choice != "auto" && choice != "none"
	switch {
	case forced && nothing && !something:
		l.problem("required-abstention", key, "tool_choice: auto for this case",
			"tool_choice is %s, but the case expects that nothing is called", choice)
	case choice == "none" && something && !nothing:
		l.problem("none-calls", key, "tool_choice: auto for this case",
			"tool_choice is none, but the case expects a call")
	}
	if something && !nothing && len(l.set.names) == 0 && (l.c.ToolNames != nil || l.c.Tools != nil) {
		l.problem("no-tools", "tools", "", "the case expects a call but offers no tool")
	}
}

// forbidden checks names that must not be called. A name that is similar to no tool forbids a
// call that no target can make: every attempt passes it, which is no error.
func (l *linter) forbidden(names []string, key string) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", key, i)
		if len(l.set.names) > 0 && !callvet.NamePattern(name) && !l.set.has(name) && !l.set.has(l.named(name, l.set)) &&
			!l.all.has(name) &&
			callvet.Nearest(name, l.set.names) == "" && oneName(name, l.set.names) == "" {
			l.warn("unknown-tool", at, "give the tool with the others, if it is one that targets may see",
				"there is no tool %q: to forbid it holds an attempt to nothing", name)
			continue
		}
		l.counts(name, at, l.set)
	}
}

func (l *linter) toolAssertions() {
	e := &l.c.Expect
	l.countAll(e.ToolsCalled, "expect.tools_called")
	l.forbidden(e.ToolsNotCalled, "expect.tools_not_called")
	if e.ToolsCalled != nil && e.ToolsAcceptable != nil {
		l.problem("conflicting-keys", "expect", "tools_called for one exact set, tools_acceptable for several",
			"tools_called and tools_acceptable exclude each other")
	}
	for i, set := range e.ToolsAcceptable {
		key := fmt.Sprintf("expect.tools_acceptable[%d]", i)
		if slices.Contains(set, callvet.NoTools) {
			if len(set) > 1 {
				l.problem("contradiction", key, "keep one of the two",
					"%s stands for no tool and cannot be given with names", callvet.NoTools)
			}
			continue
		}
		l.countAll(set, key)
	}
	if s := e.Selection; s != nil && e.ToolsAcceptable == nil { // else these sets decide it
		l.knownAll(s.Tools, "expect.selection.tools")
		l.knownAll(s.Acceptable, "expect.selection.acceptable")
	}
	for i := range e.Counts {
		key := fmt.Sprintf("expect.counts[%d]", i)
		l.countedCall(&e.Counts[i], key)
		l.countBounds(&e.Counts[i], key)
	}
	for i := range e.AllOf {
		l.claim(&e.AllOf[i], fmt.Sprintf("expect.all_of[%d]", i), true)
		if slices.ContainsFunc(e.Not, func(p callvet.Plan) bool { return reflect.DeepEqual(p, e.AllOf[i]) }) {
			l.problem("contradiction", fmt.Sprintf("expect.all_of[%d]", i), "", "the same must hold and must not hold")
		}
	}
	l.planless(e)
	for i := range e.Not {
		l.claim(&e.Not[i], fmt.Sprintf("expect.not[%d]", i), false)
	}
	for i := range e.ToolParams {
		p := &e.ToolParams[i]
		key := fmt.Sprintf("expect.tool_params[%d]", i)
		if l.counts(p.Tool, key+".tool", l.set) && p.Matcher.Mode != "absent" {
			l.argument(p.Tool, p.Path, key+".path")
		}
	}
	if e.MinToolCalls != nil && e.MaxToolCalls != nil && *e.MinToolCalls > *e.MaxToolCalls {
		l.problem("contradiction", "expect.min_tool_calls", "", "at least %d calls and at most %d cannot both hold",
			*e.MinToolCalls, *e.MaxToolCalls)
	}
	for _, name := range e.ToolsCalled {
		if slices.ContainsFunc(e.ToolsNotCalled, func(s string) bool { return strings.EqualFold(s, name) }) {
			l.problem("contradiction", "expect.tools_not_called", "", "%q must be called and must not be called", name)
		}
	}
}

// reachable warns of assertions on results and answers after the calls, where an attempt of a
// model ends with its calls. Agents run their tools themselves, so that it is no error.
func (l *linter) reachable() {
	something, nothing := l.c.Expect.Calls()
	if !something || nothing || len(l.set.names) == 0 {
		return
	}
	answer, results := onAnswer(&l.c.Expect), onResults(&l.c.Expect)
	one := l.s.Defaults.MaxRounds == 1
	if m := l.c.MultiTurn; m != nil && m.MaxRounds > 0 {
		one = m.MaxRounds == 1
	}
	all := slices.Concat(answer, results)
	switch {
	case len(all) > 0 && l.c.MultiTurn == nil && len(l.c.Mocks) == 0 && len(l.s.Mocks) == 0:
		l.warn("unreachable", "expect."+all[0], "add mocks: for the tools; an agent that runs its own tools needs none",
			"nothing answers the calls that the case expects: an attempt of a model ends with them, and %s cannot "+
				"be evaluated", strings.Join(all, ", "))
	case len(answer) > 0 && one:
		l.warn("unreachable", "expect."+answer[0], "allow max_rounds: 2 or more",
			"after one round an attempt of a model ends with the calls that the case expects, and there is no "+
				"answer for %s to check", strings.Join(answer, ", "))
	}
}

// onAnswer are the keys of the assertions on the answer.
func onAnswer(e *callvet.Expect) (keys []string) {
	for _, a := range []struct {
		asserted bool
		key      string
	}{
		{e.ResponseNonEmpty, "non_empty"},
		{len(e.ResponseContains) > 0, "contains"},
		{len(e.ResponseContainsAny) > 0, "contains_any"},
		{len(e.ResponseNotContains) > 0, "not_contains"},
		{len(e.ResponseMatches) > 0, "matches"},
		{e.NoUngroundedNumbers, "no_ungrounded_numbers"},
	} {
		if a.asserted {
			keys = append(keys, "response."+a.key)
		}
	}
	return keys
}

// onResults are the keys of the assertions on the results of tools.
func onResults(e *callvet.Expect) (keys []string) {
	if e.NoToolErrors {
		keys = append(keys, "no_tool_errors")
	}
	if len(e.Postconditions) > 0 {
		keys = append(keys, "postconditions")
	}
	for i := range e.Plans {
		for k := range e.Plans[i].Calls {
			switch c := &e.Plans[i].Calls[k]; {
			case c.Result != nil:
				return append(keys, fmt.Sprintf("calls[%d].result", k))
			case c.ResultCheck != "":
				return append(keys, fmt.Sprintf("calls[%d].result_check", k))
			}
		}
	}
	return keys
}

func (l *linter) response() {
	e := &l.c.Expect
	for i, p := range e.ResponseMatches {
		if re, err := regexp.Compile(p); err == nil && re.MatchString("") {
			l.warn("matches-nothing", fmt.Sprintf("expect.response.matches[%d]", i), "",
				"the pattern %q matches an empty answer too", doc.Clip(p, 60))
		}
	}
	for i, s := range e.ResponseContains {
		key := fmt.Sprintf("expect.response.contains[%d]", i)
		if s == "" {
			l.problem("asserts-nothing", key, "", "every answer contains an empty text")
		} else if j := slices.IndexFunc(e.ResponseNotContains,
			func(no string) bool { return no != "" && strings.Contains(s, no) }); j >= 0 {
			l.problem("contradiction", key, "", "an answer that contains %q also contains %q, which it must not",
				doc.Clip(s, 40), doc.Clip(e.ResponseNotContains[j], 40))
		}
	}
	for i, s := range e.ResponseNotContains {
		if s == "" {
			l.problem("contradiction", fmt.Sprintf("expect.response.not_contains[%d]", i), "remove it",
				"every answer contains an empty text, so none can pass")
		}
	}
	for i, g := range e.ResponseContainsAny {
		key := fmt.Sprintf("expect.response.contains_any[%d]", i)
		if len(g) == 0 {
			l.problem("contradiction", key, "remove it", "no answer contains one of no texts")
		} else if slices.Contains(g, "") {
			l.problem("asserts-nothing", key, "", "every answer contains an empty text")
		}
	}
}
