// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// assertReader turns the assertions of one promptfoo test into expectations.
// All of them must hold, so what they say about calls is gathered into one plan.
type assertReader struct {
	*promptfooReader
	c    *callvet.Case
	vars []member

	sequence []string
	strict   bool
	used     []usedTool
	args     []argsMatch
	valid    bool // a valid call is wanted
	none     bool // no valid call is wanted
	lost     []string
}

type usedTool struct {
	tools []string
	min   int
}

type argsMatch struct {
	tools   []string
	args    node
	partial bool
}

func (p *promptfooReader) asserts(o object, vars []member, c *callvet.Case) {
	a := &assertReader{promptfooReader: p, c: c, vars: vars}
	if o.get("options").get("disableDefaultAsserts").kind() != 't' {
		for _, n := range p.defaults.get("assert").elements() {
			a.assert(n)
		}
	}
	wanted := a.valid
	for _, n := range o.elements("assert") {
		a.assert(n)
	}
	if wanted && a.none {
		p.warn(o.at("assert"), "contradiction", "assert", "set options.disableDefaultAsserts for this test", "defaultTest wants a valid call and this test wants none; the test's own assertion is taken")
		a.valid = false
	}
	a.finish()
}

// value is the assertion's value with its variables rendered.
func (a *assertReader) value(n node) (node, bool) {
	v, failure := renderValue(n.get("value"), a.vars)
	if failure != "" {
		a.drop(n, "its value is a template that cannot be rendered: "+failure)
		return v, false
	}
	return v, true
}

func (a *assertReader) drop(n node, why string) {
	typ, _ := n.get("type").text()
	a.lost = append(a.lost, typ)
	a.notCarried(n.off, typ, "%s", why)
}

func (a *assertReader) assert(n node) {
	typ, _ := n.get("type").text()
	if typ == "assert-set" {
		for _, m := range n.get("assert").elements() {
			a.assert(m)
		}
		return
	}
	o := a.loose(n)
	for _, k := range []string{"weight", "metric"} {
		if v := o.get(k); v.given() {
			a.keep(o.at(k), "assert[]."+k, "every assertion counts; there are no weights")
		}
	}
	if t := o.str("transform"); t != "" {
		a.transformed(n, typ, t)
		return
	}
	v, ok := a.value(n)
	if !ok {
		return
	}
	name, negated := strings.CutPrefix(typ, "not-")
	if a.callAssert(n, o, name, negated, v) || a.textAssert(n, o, name, negated, v) {
		return
	}
	a.drop(n, why(name))
}

func why(name string) string {
	switch name {
	case "javascript", "python", "ruby", "webhook":
		return "it is a program"
	case "llm-rubric", "similar", "factuality", "answer-relevance", "model-graded-closedqa", "g-eval", "select-best":
		return "it needs a judge or an embedder"
	case "is-json", "contains-json":
		return "native calls are parsed already, and answers are not required to be JSON"
	}
	return "there is no such assertion here"
}

// transformed: a transform is JavaScript; the two that pick the called name are understood.
func (a *assertReader) transformed(n node, typ, transform string) {
	v, ok := a.value(n)
	s, isText := v.text()
	switch {
	case !ok:
	case typ == "equals" && isText && (transform == "output.name" || transform == "output[0].function.name"):
		a.acceptable([]string{s})
	default:
		a.drop(n, fmt.Sprintf("its transform %q is a program", transform))
	}
}

func (a *assertReader) acceptable(names []string) {
	if len(names) == 0 {
		names = []string{noTools}
	}
	a.c.Expect.ToolsAcceptable = [][]string{names}
}

// callAssert reads assertions on calls; false when the name is none of them.
func (a *assertReader) callAssert(n node, o object, name string, negated bool, v node) bool {
	switch name {
	case "is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call":
		a.valid, a.none = a.valid || !negated, a.none || negated
	case "tool-call-f1":
		t := o.number("threshold")
		if negated || t != nil && *t < 1 {
			a.drop(n, "only an F1 of 1 (exactly these tools) is a yes or no")
			return true
		}
		a.acceptable(names(v))
	case "trajectory:tool-used":
		a.toolUsed(n, negated, v)
	case "trajectory:tool-args-match":
		a.toolArgs(n, negated, v)
	case "trajectory:tool-sequence":
		mode, _ := v.get("mode").text()
		if negated || len(a.sequence) > 0 {
			a.drop(n, "one sequence per test is carried, and none that must not happen")
			return true
		}
		a.sequence, a.strict = names(v.get("steps")), mode == "exact"
	case "trajectory:step-count":
		a.stepCount(n, negated, v)
	default:
		return false
	}
	return true
}

// names reads a list of names, or a string with commas.
func names(v node) []string {
	out := []string{}
	if s, ok := v.text(); ok {
		for _, name := range strings.Split(s, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
		return out
	}
	for _, e := range v.elements() {
		if s, ok := e.text(); ok {
			out = append(out, s)
		}
	}
	return out
}

// matching gives the tools that {name} or {pattern} stands for.
func (a *assertReader) matching(v node) []string {
	if s, ok := v.get("name").text(); ok {
		return []string{s}
	}
	pattern, _ := v.get("pattern").text()
	var out []string
	for _, t := range a.suite.Tools {
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(t.Name)); ok && err == nil {
			out = append(out, t.Name)
		}
	}
	return out
}

func (a *assertReader) toolUsed(n node, negated bool, v node) {
	if v.kind() != '{' {
		for _, name := range names(v) {
			if negated {
				a.c.Expect.ToolsNotCalled = append(a.c.Expect.ToolsNotCalled, name)
			} else {
				a.used = append(a.used, usedTool{[]string{name}, 1})
			}
		}
		return
	}
	tools := a.matching(v)
	o := a.loose(v)
	lo, hi := o.integer("min"), o.integer("max")
	switch {
	case len(tools) == 0:
		a.drop(n, "no tool of the suite matches its pattern")
	case negated || hi != nil && *hi == 0:
		a.c.Expect.ToolsNotCalled = append(a.c.Expect.ToolsNotCalled, tools...)
	default:
		count := 1
		if lo != nil {
			count = min(*lo, 1000)
		}
		a.used = append(a.used, usedTool{tools, count})
		if hi != nil {
			a.notCarried(n.off, "max", "a plan says how often a tool must be called, not how often it may")
		}
	}
}

func (a *assertReader) toolArgs(n node, negated bool, v node) {
	o := a.loose(v)
	args, _ := o.first("args", "arguments")
	tools := a.matching(v)
	mode := o.str("mode")
	switch {
	case negated:
		a.drop(n, "arguments that must not be sent cannot be said")
	case len(tools) == 0:
		a.drop(n, "no tool of the suite matches its pattern")
	case args.kind() != '{':
		a.drop(n, "it has no object of arguments")
	default:
		for _, k := range []string{"defaults", "ignore"} {
			if o.get(k).given() {
				a.notCarried(n.off, k, "defaults come from the tool's schema, and there is no list of arguments to ignore")
			}
		}
		a.args = append(a.args, argsMatch{tools, args, mode != "exact"})
	}
}

func (a *assertReader) stepCount(n node, negated bool, v node) {
	o := a.loose(v)
	if negated || o.str("type") != "tool" || o.get("pattern").given() {
		a.drop(n, "only steps of type tool are counted here, whatever their name")
		return
	}
	a.c.Expect.MinToolCalls, a.c.Expect.MaxToolCalls = o.integer("min"), o.integer("max")
}

// textAssert reads assertions on the answer, the latency and the cost.
func (a *assertReader) textAssert(n node, o object, name string, negated bool, v node) bool {
	e := &a.c.Expect
	list := names(v)
	if s, ok := v.text(); ok && name != "contains-any" && name != "contains-all" && name != "icontains-any" && name != "icontains-all" {
		list = []string{s}
	} else if v.kind() == '0' || v.kind() == 't' || v.kind() == 'f' {
		list = []string{string(v.raw)}
	}
	switch key := name + map[bool]string{true: "!"}[negated]; key {
	case "latency":
		e.MaxLatencyMS = o.number("threshold")
	case "cost":
		e.MaxCostUSD = o.number("threshold")
	case "contains", "contains-all":
		e.ResponseContains = append(e.ResponseContains, list...)
	case "contains!", "contains-any!":
		e.ResponseNotContains = append(e.ResponseNotContains, list...)
	case "contains-any":
		e.ResponseContainsAny = append(e.ResponseContainsAny, list)
	case "equals":
		if v.kind() == '{' || v.kind() == '[' {
			return a.equalCalls(v)
		}
		a.pattern(n, `\A`, list, `\z`)
	case "icontains", "icontains-all":
		for _, s := range list {
			a.pattern(n, "(?i)", []string{s}, "")
		}
	case "icontains-any":
		a.pattern(n, "(?i)", list, "")
	case "starts-with":
		a.pattern(n, `\A`, list, "")
	case "regex":
		for _, s := range list {
			if _, err := regexp.Compile(s); err != nil {
				a.drop(n, "its pattern is not RE2: "+err.Error())
				continue
			}
			e.ResponseMatches = append(e.ResponseMatches, s)
		}
	default:
		return false
	}
	return true
}

func (a *assertReader) pattern(_ node, before string, list []string, after string) {
	for i := range list {
		list[i] = regexp.QuoteMeta(list[i])
	}
	a.c.Expect.ResponseMatches = append(a.c.Expect.ResponseMatches, before+"(?:"+strings.Join(list, "|")+")"+after)
}

// equalCalls reads an expected output that is a call or a list of calls.
func (a *assertReader) equalCalls(v node) bool {
	items := v.elements()
	if v.kind() == '{' {
		items = []node{v}
	}
	sub := newReader(&source{text: v.raw, form: "json"}, a.opt)
	var t callvet.Turn
	for _, e := range items {
		sub.call(node{raw: e.raw}, &t)
	}
	if len(sub.problems) > 0 || len(t.Calls) == 0 {
		return false
	}
	for _, c := range t.Calls {
		a.args = append(a.args, argsMatch{tools: []string{c.Tool}, args: node{raw: c.Args}})
	}
	return true
}

// finish makes one plan of what was said about calls, and skips a case that
// asserts nothing.
func (a *assertReader) finish() {
	e := &a.c.Expect
	plan := callvet.Plan{Order: callvet.OrderSuperset}
	for _, name := range a.sequence {
		plan.Calls = append(plan.Calls, callvet.ExpectedCall{Tools: []string{name}})
	}
	if len(a.sequence) > 0 {
		plan.Order = callvet.OrderInOrder
		if a.strict {
			plan.Order = callvet.OrderStrict
		}
	}
	for _, m := range a.args {
		a.attach(&plan, m)
	}
	for _, u := range a.used {
		have := 0
		for _, c := range plan.Calls {
			if slices.Contains(u.tools, c.Tools[0]) {
				have++
			}
		}
		for ; have < u.min; have++ {
			plan.Calls = append(plan.Calls, callvet.ExpectedCall{Tools: u.tools})
		}
	}
	switch {
	case len(plan.Calls) > 0:
		if !a.strict {
			any := -1
			plan.MaxExtraCalls = &any
		}
		e.Plans = []callvet.Plan{plan}
	case a.none:
		e.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	case a.valid && e.ToolsAcceptable == nil && e.MinToolCalls == nil:
		one := 1
		e.MinToolCalls = &one
	}
	if a.c.Skip == "" && !assertsAnything(e) {
		a.c.Skip = "the test asserts nothing"
		if len(a.lost) > 0 {
			a.c.Skip = "none of the test's assertions can be carried: " + strings.Join(a.lost, ", ")
		}
	}
}

// attach puts arguments on the first call of the tool that has none yet.
func (a *assertReader) attach(plan *callvet.Plan, m argsMatch) {
	i := slices.IndexFunc(plan.Calls, func(c callvet.ExpectedCall) bool {
		return c.Args == nil && c.Matchers == nil && slices.Contains(m.tools, c.Tools[0])
	})
	if i < 0 {
		i = len(plan.Calls)
		plan.Calls = append(plan.Calls, callvet.ExpectedCall{Tools: m.tools})
	}
	call := &plan.Calls[i]
	a.c.Scoring = &callvet.Scoring{Mode: "strict"}
	if !m.partial {
		call.Args = m.args.raw
		return
	}
	a.c.Scoring.ExtraArgs = callvet.ExtraIgnore
	var flat record
	for _, k := range m.args.members(nil) {
		if k.val.kind() == '{' { // nested objects match in part, too
			if call.Matchers == nil {
				call.Matchers = map[string]callvet.Matcher{}
			}
			call.Matchers[k.name] = callvet.Matcher{Mode: "subset", Value: k.val.raw}
			continue
		}
		flat.raw(k.name, k.val.raw)
	}
	call.Args = flat.bytes()
}
