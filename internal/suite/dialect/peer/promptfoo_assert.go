// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package peer

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite/dialect/tree"
)

// assertReader turns the assertions of one promptfoo test into expectations.
// All of them must hold, so what they say about calls is gathered into one plan.
type assertReader struct {
	*promptfooReader
	c    *callvet.Case
	vars []tree.Member

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
	args    tree.Node
	partial bool
}

func (p *promptfooReader) asserts(o tree.Object, vars []tree.Member, c *callvet.Case) {
	a := &assertReader{promptfooReader: p, c: c, vars: vars}
	if o.Get("options").Get("disableDefaultAsserts").Kind() != 't' {
		for _, n := range p.defaults.Get("assert").Elements() {
			a.assert(n)
		}
	}
	wanted := a.valid
	for _, n := range o.Elements("assert") {
		a.assert(n)
	}
	if wanted && a.none {
		p.Warn(o.At("assert"), "contradiction", "assert", "set options.disableDefaultAsserts for this test", "defaultTest wants a valid call and this test wants none; the test's own assertion is taken")
		a.valid = false
	}
	a.finish()
}

// value is the assertion's value with its variables rendered.
func (a *assertReader) value(n tree.Node) (tree.Node, bool) {
	v, failure := renderValue(n.Get("value"), a.vars)
	if failure != "" {
		a.drop(n, "its value is a template that cannot be rendered: "+failure)
		return v, false
	}
	return v, true
}

// drop keeps an assertion that nothing here evaluates, so that it stays visible. A
// rubric waits for a judge.
func (a *assertReader) drop(n tree.Node, why string) {
	typ, _ := n.Get("type").Text()
	want, isText := n.Get("value").Text()
	if !isText {
		want = string(n.Get("value").Raw)
	}
	a.lost = append(a.lost, typ)
	e := &a.c.Expect
	if typ == "llm-rubric" {
		a.Warn(n.Off, "kept-as-rubric", typ, "", "%s is kept as a rubric: %s", typ, callvet.NeedsJudge)
		e.Rubric = append(e.Rubric, callvet.RubricDimension{Dimension: typ, MaxScore: 1, Criteria: want})
		return
	}
	a.NotCarried(n.Off, typ, "%s", why)
	e.Unsupported = append(e.Unsupported, callvet.Unsupported{Name: typ, Reason: why, Expected: want})
}

func (a *assertReader) assert(n tree.Node) {
	typ, _ := n.Get("type").Text()
	if typ == "assert-set" {
		for _, m := range n.Get("assert").Elements() {
			a.assert(m)
		}
		return
	}
	o := a.Loose(n)
	for _, k := range []string{"weight", "metric"} {
		if v := o.Get(k); v.Given() {
			a.Keep(o.At(k), "assert[]."+k, "every assertion counts; there are no weights")
		}
	}
	if t := o.Str("transform"); t != "" {
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
func (a *assertReader) transformed(n tree.Node, typ, transform string) {
	v, ok := a.value(n)
	s, isText := v.Text()
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
		names = []string{callvet.NoTools}
	}
	a.c.Expect.ToolsAcceptable = [][]string{names}
}

// callAssert reads assertions on calls; false when the name is none of them.
func (a *assertReader) callAssert(n tree.Node, o tree.Object, name string, negated bool, v tree.Node) bool {
	switch name {
	case "is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call":
		a.valid, a.none = a.valid || !negated, a.none || negated
	case "tool-call-f1":
		t := o.Number("threshold")
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
		mode, _ := v.Get("mode").Text()
		if negated || len(a.sequence) > 0 {
			a.drop(n, "one sequence per test is carried, and none that must not happen")
			return true
		}
		a.sequence, a.strict = names(v.Get("steps")), mode == "exact"
	case "trajectory:step-count":
		a.stepCount(n, negated, v)
	default:
		return false
	}
	return true
}

// names reads a list of names, or a string with commas.
func names(v tree.Node) []string {
	out := []string{}
	if s, ok := v.Text(); ok {
		for _, name := range strings.Split(s, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
		return out
	}
	for _, e := range v.Elements() {
		if s, ok := e.Text(); ok {
			out = append(out, s)
		}
	}
	return out
}

// matching gives the tools that {name} or {pattern} stands for.
func (a *assertReader) matching(v tree.Node) []string {
	if s, ok := v.Get("name").Text(); ok {
		return []string{s}
	}
	pattern, _ := v.Get("pattern").Text()
	var out []string
	for _, t := range a.suite.Tools {
		if ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(t.Name)); ok && err == nil {
			out = append(out, t.Name)
		}
	}
	return out
}

func (a *assertReader) toolUsed(n tree.Node, negated bool, v tree.Node) {
	if v.Kind() != '{' {
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
	o := a.Loose(v)
	lo, hi := o.Integer("min"), o.Integer("max")
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
			const why = "a plan says how often a tool must be called, not how often it may"
			a.NotCarried(n.Off, "max", why)
			a.c.Expect.Unsupported = append(a.c.Expect.Unsupported, callvet.Unsupported{Name: "trajectory:tool-used max", Reason: why, Expected: strconv.Itoa(*hi)})
		}
	}
}

func (a *assertReader) toolArgs(n tree.Node, negated bool, v tree.Node) {
	o := a.Loose(v)
	args, _ := o.First("args", "arguments")
	tools := a.matching(v)
	mode := o.Str("mode")
	switch {
	case negated:
		a.drop(n, "arguments that must not be sent cannot be said")
	case len(tools) == 0:
		a.drop(n, "no tool of the suite matches its pattern")
	case args.Kind() != '{':
		a.drop(n, "it has no object of arguments")
	default:
		for _, k := range []string{"defaults", "ignore"} {
			if o.Get(k).Given() {
				a.NotCarried(n.Off, k, "defaults come from the tool's schema, and there is no list of arguments to ignore")
			}
		}
		a.args = append(a.args, argsMatch{tools, args, mode != "exact"})
	}
}

func (a *assertReader) stepCount(n tree.Node, negated bool, v tree.Node) {
	o := a.Loose(v)
	if negated || o.Str("type") != "tool" || o.Get("pattern").Given() {
		a.drop(n, "only steps of type tool are counted here, whatever their name")
		return
	}
	a.c.Expect.MinToolCalls, a.c.Expect.MaxToolCalls = o.Integer("min"), o.Integer("max")
}

// textAssert reads assertions on the answer, the latency and the cost.
func (a *assertReader) textAssert(n tree.Node, o tree.Object, name string, negated bool, v tree.Node) bool {
	e := &a.c.Expect
	list := texts(name, v)
	switch key := name + map[bool]string{true: "!"}[negated]; key {
	case "latency":
		e.MaxLatencyMS = o.Number("threshold")
	case "cost":
		e.MaxCostUSD = o.Number("threshold")
	case "contains", "contains-all":
		e.ResponseContains = append(e.ResponseContains, list...)
	case "contains!", "contains-any!":
		e.ResponseNotContains = append(e.ResponseNotContains, list...)
	case "contains-any":
		e.ResponseContainsAny = append(e.ResponseContainsAny, list)
	case "equals":
		if v.Kind() == '{' || v.Kind() == '[' {
			return a.equalCalls(v)
		}
		a.pattern(`\A`, list, `\z`)
	case "icontains", "icontains-all":
		for _, s := range list {
			a.pattern("(?i)", []string{s}, "")
		}
	case "icontains-any":
		a.pattern("(?i)", list, "")
	case "starts-with":
		a.pattern(`\A`, list, "")
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

// texts gives what an assertion looks for. Only those that take several read a
// text as a list of names.
func texts(name string, v tree.Node) []string {
	several := strings.HasSuffix(name, "contains-any") || strings.HasSuffix(name, "contains-all")
	if s, ok := v.Text(); ok && !several {
		return []string{s}
	}
	switch v.Kind() {
	case '0', 't', 'f':
		return []string{string(v.Raw)}
	}
	return names(v)
}

func (a *assertReader) pattern(before string, list []string, after string) {
	for i := range list {
		list[i] = regexp.QuoteMeta(list[i])
	}
	a.c.Expect.ResponseMatches = append(a.c.Expect.ResponseMatches, before+"(?:"+strings.Join(list, "|")+")"+after)
}

// equalCalls reads an expected output that is a call or a list of calls.
func (a *assertReader) equalCalls(v tree.Node) bool {
	items := v.Elements()
	if v.Kind() == '{' {
		items = []tree.Node{v}
	}
	sub := newReader(&tree.Source{Text: v.Raw, Form: "json"}, a.Opt)
	var t callvet.Turn
	for _, e := range items {
		sub.Call(tree.Node{Raw: e.Raw}, &t)
	}
	if len(sub.Problems) > 0 || len(t.Calls) == 0 {
		return false
	}
	for _, c := range t.Calls {
		a.args = append(a.args, argsMatch{tools: []string{c.Tool}, args: tree.Node{Raw: c.Args}})
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
	if a.c.Skip == "" && !tree.AssertsAnything(e) {
		a.c.Skip = "the test asserts nothing"
		if len(a.lost) > 0 {
			a.c.Skip = "nothing here evaluates any of the test's assertions: " + strings.Join(a.lost, ", ")
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
		call.Args = m.args.Raw
		return
	}
	a.c.Scoring.ExtraArgs = callvet.ExtraIgnore
	var flat tree.Record
	for _, k := range m.args.Members(nil) {
		if k.Val.Kind() == '{' { // nested objects match in part, too
			if call.Matchers == nil {
				call.Matchers = map[string]callvet.Matcher{}
			}
			call.Matchers[k.Name] = callvet.Matcher{Mode: "subset", Value: k.Val.Raw}
			continue
		}
		flat.Raw(k.Name, k.Val.Raw)
	}
	call.Args = flat.Bytes()
}
