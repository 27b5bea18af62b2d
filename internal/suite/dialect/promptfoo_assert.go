// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// assertReader turns the assertions of one promptfoo test into expectations.
// All of them must hold, each independently. An assertion on some calls becomes a count. One on how
// all calls are made becomes the plan, or an entry of all_of where there is one. An assertion on
// calls that cannot be expressed skips the case.
type assertReader struct {
	*promptfooReader
	c    *callvet.Case
	vars []Member

	plan  *callvet.Plan // the assertion on how all calls are made
	valid bool          // a valid call is wanted
	none  bool          // no valid call is wanted
	lost  []string
}

func (p *promptfooReader) asserts(o Object, vars []Member, c *callvet.Case) {
	a := &assertReader{promptfooReader: p, c: c, vars: vars}
	if o.Get("options").Get("disableDefaultAsserts").Kind() != 't' {
		for _, n := range p.defaults.Get("assert").Elements() {
			a.assert(n)
		}
	}
	for _, n := range p.scenario.Get("assert").Elements() {
		a.assert(n)
	}
	if part(o.Number("threshold")) || part(p.defaults.Number("threshold")) && !o.Get("threshold").Given() {
		a.unlike("a test with a threshold passes when some of its assertions fail")
	}
	wanted := a.valid
	for _, n := range o.Elements("assert") {
		a.assert(n)
	}
	if wanted && a.none {
		p.Warn(o.At("assert"), "contradiction", "assert", "set options.disableDefaultAsserts for this test",
			"defaultTest wants a valid call and this test wants none; the test's own assertion is taken")
		a.valid = false
	}
	a.finish()
}

// value is the assertion's value with its variables rendered.
func (a *assertReader) value(n Node) (Node, bool) {
	v, failure := renderValue(n.Get("value"), a.vars)
	if failure != "" {
		a.drop(n, "its value is a template that cannot be rendered: "+failure)
		return v, false
	}
	return v, true
}

// drop keeps an assertion that nothing here evaluates, so that it stays visible. A
// rubric waits for a judge.
func (a *assertReader) drop(n Node, why string) {
	typ, _ := n.Get("type").Text()
	want, isText := n.Get("value").Text()
	if !isText {
		want = string(n.Get("value").Raw)
	}
	a.lost = append(a.lost, typ)
	e := &a.c.Expect
	if typ == "llm-rubric" {
		if v, failure := renderValue(n.Get("value"), a.vars); failure == "" {
			if s, ok := v.Text(); ok {
				want = s
			}
		}
		a.Warn(n.Off, "kept-as-rubric", typ, "give a run --judge rubric --judge-model MODEL",
			"%s is kept as a rubric, which a judge decides", typ)
		e.Rubric = append(e.Rubric,
			callvet.RubricDimension{
				Dimension: typ, MaxScore: 1, Criteria: want,
				Threshold: a.Loose(n).Number("threshold"),
			})
		return
	}
	a.NotEvaluated(n.Off, e, typ, why, want)
	if name := strings.TrimPrefix(typ, "not-"); a.c.Skip == "" && name != "trajectory:goal-success" &&
		(name == "tool-call-f1" || strings.HasPrefix(name, "trajectory:")) {
		a.c.Skip = typ + " is not carried: " + why
	}
}

func (a *assertReader) assert(n Node) {
	typ, _ := n.Get("type").Text()
	o := a.Loose(n)
	if w := o.Number("weight"); w != nil && *w == 0 {
		a.Keep(o.At("weight"), "assert[].weight", "an assertion of weight 0 decides nothing, so that it is left out")
		return
	}
	if typ == "assert-set" {
		if part(o.Number("threshold")) {
			a.unlike("an assert-set with a threshold passes when some of its assertions fail")
		}
		for _, m := range n.Get("assert").Elements() {
			a.assert(m)
		}
		return
	}
	if t := o.Str("transform"); t != "" {
		a.unweighted(o, false)
		a.transformed(n, typ, t)
		return
	}
	v, ok := a.value(n)
	a.unweighted(o, a.Opt.Programs && (typ == "javascript" || typ == "python") || ok && a.expression(n, v) != "")
	if !ok {
		return
	}
	name, negated := strings.CutPrefix(typ, "not-")
	if a.callAssert(n, o, name, negated, v) || a.textAssert(n, o, name, negated, v) ||
		a.program(n, o, name, negated, v) {
		return
	}
	a.drop(n, why(name))
}

// unweighted notes lost weights and metrics; a scorer has its metric as its name.
func (a *assertReader) unweighted(o Object, named bool) {
	for _, k := range []string{"weight", "metric"} {
		if v := o.Get(k); v.Given() && !(k == "metric" && named) {
			a.Keep(o.At(k), "assert[]."+k, "every assertion counts; there are no weights")
		}
	}
}

// part reports whether a threshold lets a test pass when some of its assertions fail.
func part(threshold *float64) bool { return threshold != nil && *threshold < 1 }

// unlike skips a case that would have a different meaning here.
func (a *assertReader) unlike(why string) {
	if a.c.Skip == "" {
		a.c.Skip = "threshold is not carried: " + why
	}
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
func (a *assertReader) transformed(n Node, typ, transform string) {
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
func (a *assertReader) callAssert(n Node, o Object, name string, negated bool, v Node) bool {
	switch name {
	case "is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call":
		a.valid, a.none = a.valid || !negated, a.none || negated
	case "tool-call-f1":
		a.toolF1(n, o, negated, v)
	case "trajectory:tool-used":
		a.toolUsed(n, negated, v)
	case "trajectory:tool-args-match":
		a.toolArgs(n, negated, v)
	case "trajectory:tool-sequence":
		a.toolSequence(n, negated, v)
	case "trajectory:step-count":
		a.stepCount(n, negated, v)
	default:
		return false
	}
	return true
}

// names reads a list of names, or a string with commas.
func names(v Node) []string {
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

// toolF1 compares sets of names: with 1, the threshold when none is given, that is exactly
// these tools.
func (a *assertReader) toolF1(n Node, o Object, negated bool, v Node) {
	list := names(v)
	slices.Sort(list)
	list = slices.Compact(list)
	least := 1.0
	if t := o.Number("threshold"); t != nil {
		least = *t
	}
	if least <= 0 {
		a.drop(n, "a threshold of 0 is always reached")
		return
	}
	e := &a.c.Expect
	if !negated && least >= 1 && e.ToolsAcceptable == nil {
		a.acceptable(list)
		return
	}
	p := callvet.Plan{Calls: []callvet.ExpectedCall{}}
	for _, name := range list {
		p.Calls = append(p.Calls, callvet.ExpectedCall{Tools: []string{name}})
	}
	p.MinScores = map[string]float64{"tool_set_f1": min(least, 1)}
	a.claim(p, negated)
}

// claim stores an assertion on all calls together. The first one is the plan.
func (a *assertReader) claim(p callvet.Plan, negated bool) {
	e := &a.c.Expect
	switch {
	case negated:
		e.Not = append(e.Not, p)
	case a.plan != nil || len(e.AllOf) > 0:
		e.AllOf = append(e.AllOf, p)
	default:
		e.MinScores, p.MinScores = p.MinScores, nil
		a.plan = &p
	}
}

// called returns the tools that a name, {name} or {pattern} means. A * is a wildcard here, too; a
// pattern with ? becomes the suite's tools that match it.
func (a *assertReader) called(v Node) (tools []string, why string) {
	s, ok := v.Text()
	if !ok {
		if s, ok = v.Get("pattern").Text(); !ok || s == "" {
			s, ok = v.Get("name").Text()
		}
		if t, typed := v.Get("type").Text(); v.Get("type").Given() && (!typed || t != "tool") {
			return nil, "only steps of type tool are known here"
		}
	}
	switch {
	case !ok || s == "":
		return nil, "it names no tool"
	case !strings.Contains(s, "?"):
		return []string{s}, ""
	}
	for _, t := range a.suite.Tools {
		if ok, err := path.Match(strings.ToLower(s), strings.ToLower(t.Name)); ok && err == nil {
			tools = append(tools, t.Name)
		}
	}
	if len(tools) == 0 {
		why = "no tool of the suite matches its pattern"
	}
	return tools, why
}

func (a *assertReader) count(c callvet.CallCount) {
	a.c.Expect.Counts = append(a.c.Expect.Counts, c)
}

func (a *assertReader) toolUsed(n Node, negated bool, v Node) {
	if v.Kind() == '{' {
		o := a.Loose(v)
		a.bounded(n, v, negated, o.Integer("min"), o.Integer("max"), 1)
		return
	}
	items := v.Elements()
	if v.Kind() == '"' {
		items = []Node{v}
	}
	for _, item := range items {
		tools, why := a.called(item)
		switch {
		case why != "":
			a.drop(n, why)
		case negated && !strings.Contains(tools[0], "*"):
			a.c.Expect.ToolsNotCalled = append(a.c.Expect.ToolsNotCalled, tools...)
		case negated:
			a.count(callvet.CallCount{Call: callvet.ExpectedCall{Tools: tools}, Max: new(int)})
		default:
			a.count(callvet.CallCount{Call: callvet.ExpectedCall{Tools: tools}})
		}
	}
}

// bounded reads the bounds on the number of calls of some tools. least is the lower bound when
// none is given.
func (a *assertReader) bounded(n, v Node, negated bool, lo, hi *int, least int) {
	tools, why := a.called(v)
	if lo == nil && least > 0 {
		lo = &least
	}
	switch {
	case why != "":
		a.drop(n, why)
		return
	case lo != nil && hi != nil && *lo > *hi:
		a.drop(n, "its bounds exclude each other")
		return
	case negated && lo != nil && *lo > 0 && hi == nil:
		below := *lo - 1
		lo, hi = nil, &below
	case negated && hi != nil && (lo == nil || *lo <= 0):
		above := *hi + 1
		lo, hi = &above, nil
	case negated:
		c := callvet.CallCount{Call: callvet.ExpectedCall{Tools: tools}, Min: lo, Max: hi}
		a.c.Expect.Not = append(a.c.Expect.Not, callvet.Plan{Counts: []callvet.CallCount{c}})
		return
	}
	a.count(callvet.CallCount{Call: callvet.ExpectedCall{Tools: tools}, Min: lo, Max: hi})
}

func (a *assertReader) toolArgs(n Node, negated bool, v Node) {
	tools, why := a.called(v)
	call := callvet.ExpectedCall{Tools: tools}
	if why == "" {
		why = a.arguments(v, &call)
	}
	if why != "" {
		a.drop(n, why)
		return
	}
	a.c.Scoring = &callvet.Scoring{Mode: "strict"}
	c := callvet.CallCount{Call: call}
	if negated {
		c.Max = new(int)
	}
	a.count(c)
}

// arguments reads args, defaults and ignore. why is the reason when they cannot be carried.
func (a *assertReader) arguments(v Node, call *callvet.ExpectedCall) (why string) {
	o := a.Loose(v)
	args, _ := o.First("args", "arguments")
	if args.Kind() != '{' {
		return "it has no object of arguments"
	}
	matchers := map[string]callvet.Matcher{}
	if mode := o.Str("mode"); mode != "" && mode != "exact" && mode != "partial" {
		return fmt.Sprintf("there is no mode %q", mode)
	}
	partial := o.Str("mode") != "exact"
	ignored := ignoredNames(o.Get("ignore"))
	if i := slices.IndexFunc(ignored, func(name string) bool { return strings.ContainsAny(name, "?.[") }); i >= 0 {
		return fmt.Sprintf("the name %q in ignore cannot be expressed", ignored[i])
	}
	for _, name := range ignored {
		if !partial {
			matchers[name] = callvet.Matcher{Mode: "present", Optional: true}
		}
	}
	var kept Record
	expected := map[string]string{}
	for _, k := range args.Members(nil) {
		if slices.ContainsFunc(ignored, func(name string) bool { return callvet.NameFits(name, k.Name, true) }) {
			continue
		}
		kept.Raw(k.Name, k.Val.Raw)
		expected[k.Name] = string(k.Val.Raw)
		if kind := k.Val.Kind(); partial && (kind == '{' || kind == '[') { // in part at every depth
			matchers[k.Name] = callvet.Matcher{Mode: "partial"}
		}
	}
	for _, d := range o.Get("defaults").Members(nil) {
		if why := defaultArgument(d, expected, matchers, partial); why != "" {
			return why
		}
	}
	call.Args = kept.Bytes()
	if len(matchers) > 0 {
		call.Matchers = matchers
	}
	call.ExtraArgs = callvet.ExtraForbid
	if partial {
		call.ExtraArgs = callvet.ExtraIgnore
	}
	return ""
}

func ignoredNames(v Node) []string {
	if s, ok := v.Text(); ok {
		return []string{s}
	}
	return names(v)
}

// noValue is a pattern that no value fits.
const noValue = `"[^\\s\\S]"`

// defaultArgument lets an argument be missing or equal to its default. An expectation of exactly
// this value never holds, since promptfoo removes such an argument first.
func defaultArgument(d Member, expected map[string]string, matchers map[string]callvet.Matcher,
	partial bool,
) (why string) {
	switch want, both := expected[d.Name]; {
	case both && want == string(d.Val.Raw):
		matchers[d.Name] = callvet.Matcher{Mode: "regex", Value: json.RawMessage(noValue)}
	case both || partial || matchers[d.Name].Mode == "present":
	case strings.ContainsAny(d.Name, ".[*"):
		return fmt.Sprintf("the name %q in defaults cannot be expressed", d.Name)
	default:
		matchers[d.Name] = callvet.Matcher{Value: d.Val.Raw, Optional: true}
	}
	return ""
}

// toolSequence reads steps, in the short form too. Steps in a list of their own are calls
// of one message.
func (a *assertReader) toolSequence(n Node, negated bool, v Node) {
	mode, _ := v.Get("mode").Text()
	steps := v.Get("steps")
	if v.Kind() == '[' {
		steps = v
	}
	any := -1
	p := callvet.Plan{Order: callvet.OrderInOrder, MaxExtraCalls: &any}
	if mode == "exact" {
		p = callvet.Plan{Order: callvet.OrderStrict}
	}
	grouped := slices.ContainsFunc(steps.Elements(), func(step Node) bool { return step.Kind() == '[' })
	for i, step := range steps.Elements() {
		group := []Node{step}
		if step.Kind() == '[' {
			group = step.Elements()
		}
		for _, one := range group {
			tools, why := a.called(one)
			if why != "" {
				a.drop(n, why)
				return
			}
			c := callvet.ExpectedCall{Tools: tools}
			if grouped {
				c.Message = i + 1
			}
			p.Calls = append(p.Calls, c)
		}
	}
	switch {
	case len(p.Calls) == 0:
		a.drop(n, "it has no steps")
	case grouped && p.Order == callvet.OrderInOrder:
		a.drop(n, "messages that follow one another with others between cannot be expressed")
	case grouped:
		p.Order = callvet.OrderAny
		p.MaxExtraCalls = new(int)
		fallthrough
	default:
		a.claim(p, negated)
	}
}

func (a *assertReader) stepCount(n Node, negated bool, v Node) {
	o := a.Loose(v)
	lo, hi, e := o.Integer("min"), o.Integer("max"), &a.c.Expect
	switch {
	case o.Str("type") != "tool":
		a.drop(n, "only steps of type tool are known here")
	case o.Get("pattern").Given() || o.Get("name").Given():
		a.bounded(n, v, negated, lo, hi, 0)
	case negated || e.MinToolCalls != nil || e.MaxToolCalls != nil:
		a.bounded(n, Node{Raw: []byte(`"*"`), Off: v.Off}, negated, lo, hi, 0)
	default:
		e.MinToolCalls, e.MaxToolCalls = lo, hi
	}
}

// textAssert reads assertions on the answer, the latency and the cost.
func (a *assertReader) textAssert(n Node, o Object, name string, negated bool, v Node) bool {
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
			return a.equalCalls(n, v)
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

// texts returns the texts that an assertion searches. Only assertions on several texts read one
// text as a list of names.
func texts(name string, v Node) []string {
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
func (a *assertReader) equalCalls(n, v Node) bool {
	items := v.Elements()
	if v.Kind() == '{' {
		items = []Node{v}
	}
	sub := newReader(&Source{Text: v.Raw, Form: "json"}, a.Opt)
	var t callvet.Turn
	for _, e := range items {
		sub.Call(Node{Raw: e.Raw}, &t)
	}
	if len(sub.Problems) > 0 || len(t.Calls) == 0 {
		return false
	}
	p := callvet.Plan{Order: callvet.OrderStrict}
	for _, c := range t.Calls {
		p.Calls = append(p.Calls, callvet.ExpectedCall{Tools: []string{c.Tool}, Args: c.Args})
	}
	a.c.Scoring = &callvet.Scoring{Mode: "strict"}
	a.claim(p, false)
	return true
}

// finish combines the assertions about calls, and skips a case that asserts nothing.
func (a *assertReader) finish() {
	e := &a.c.Expect
	switch {
	case a.plan != nil:
		e.Plans = []callvet.Plan{*a.plan}
	case a.none && len(e.Counts) == 0:
		e.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	case a.valid && e.ToolsAcceptable == nil && e.MinToolCalls == nil && len(e.Counts) == 0:
		one := 1
		e.MinToolCalls = &one
	}
	if a.c.Skip == "" && !AssertsAnything(e) && (len(e.Rubric) == 0 || len(e.Unsupported) > 0) {
		a.c.Skip = "the test asserts nothing"
		if len(a.lost) > 0 {
			a.c.Skip = "nothing here evaluates any of the test's assertions: " + strings.Join(a.lost, ", ")
		}
	}
}
