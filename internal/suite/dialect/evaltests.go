// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// evalTests reads the later suites of the Tool Selection Evaluation System:
// {eval_type, eval_name, tests: [{id, question, expected, allowed_tools}]}.
func (r *reader) evalTests(doc Node) *callvet.Suite {
	s := r.evalFrame(doc)
	o := r.Loose(doc)
	for _, k := range []string{"target_success_rate", "difficulty_profile"} {
		if o.Get(k).Given() {
			r.Keep(o.At(k), k, "kept for export; a bound on a rate belongs in a gate")
		}
	}
	format := evalFormat(r.Opt)
	for i, n := range o.Elements("tests") {
		s.Cases = append(s.Cases, format.Read(r.Reader, n, i))
	}
	s.Foreign = FrameOf(r.Src, doc, "tests", nil)
	return &s
}

func (r *reader) evalFrame(doc Node) callvet.Suite {
	r.CaseID = ""
	o := r.Object(doc, "the suite", "eval_type", "eval_name", "description", "target_success_rate",
		"difficulty_profile", "tests")
	s := callvet.Suite{Name: o.Str("eval_name"), Description: o.Str("description"), Tools: r.Opt.Tools}
	if s.Name == "" {
		s.Name = Stem(r.Src.Path)
	}
	return s
}

func evalFormat(opt ReaderOptions) CaseFormat {
	return CaseFormat{
		Read:  func(t *Reader, n Node, i int) callvet.Case { return (&reader{t}).evalCase(n, i) },
		Write: writeEvalCase,
		Opt:   opt,
		Can: []Feature{
			"plans", "any_of plans", "no calls", "calls without arguments given", "tools_acceptable",
			"tools_called", "selection", "fields", "tool_params",
		},
	}
}

func (r *reader) evalCase(n Node, index int) callvet.Case {
	c := callvet.Case{
		ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off), Foreign: n.Raw,
		Fields: map[string]string{},
	}
	r.CaseID = c.ID
	o := r.Object(n, "a test", "id", "question", "difficulty", "expected", "allowed_tools")
	if id := o.Scalar("id"); id != "" {
		c.ID, r.CaseID = id, id
	}
	r.question(o, "question", &c)
	if v := o.Get("expected"); !v.Given() {
		r.Report(n.Off, "missing-key", "expected", `write "expected": {"tool": …}`, "the test expects nothing")
	}
	e := r.Loose(Node{Off: n.Off})
	if v := o.Get("expected"); v.Given() {
		e = r.Object(v, "expected", "tool", "category", "intent", "route", "sub_route", "agent", "acceptable_tools",
			"acceptable_agents", "plan_requirements",
			"graph_complexity", "execution_strategy", "required_fields", "field_values", "allow_clarification")
	}
	set := func(key, val string) {
		if val != "" {
			c.Fields[key] = val
		}
	}
	set("difficulty", o.Scalar("difficulty"))
	set("category", e.Scalar("category"))
	set("intent", e.Scalar("intent"))
	for _, k := range []string{"route", "sub_route", "agent"} {
		set("expected_"+k, e.Scalar(k))
	}
	for _, k := range []string{"acceptable_agents", "plan_requirements", "graph_complexity", "execution_strategy"} {
		if e.Get(k).Given() {
			r.Keep(e.At(k), "expected."+k, selectOnly)
		}
	}
	if on, _ := e.Boolean("allow_clarification"); on {
		r.Keep(e.At("allow_clarification"), "expected.allow_clarification",
			"without a judge, a question back to the user looks like an answer")
	}
	r.evalTools(o, e, &c)
	return c
}

// evalTools: the expected tool, or any acceptable or allowed one, passes;
// field expectations become assertions on the expected tool's arguments.
func (r *reader) evalTools(o, e Object, c *callvet.Case) {
	tool := e.Str("tool")
	var expected []string
	switch {
	case tool != "":
		expected = []string{tool}
	case e.Get("tool").Null():
		expected = []string{}
	}
	others := slices.Concat(e.Strs("acceptable_tools"), o.Strs("allowed_tools"))
	c.Expect.ToolsAcceptable = acceptableSets(expected, others)
	s := &callvet.Selection{
		Route: c.Fields["expected_route"], SubRoute: c.Fields["expected_sub_route"],
		Tools: expected, Acceptable: some(others),
	}
	if a := c.Fields["expected_agent"]; a != "" {
		s.Agents = []string{a}
	}
	c.Expect.Selection = s
	r.selectable(c)
	if tool == "" {
		const why = "no tool is expected that could have them"
		if fields := e.Strs("required_fields"); len(fields) > 0 {
			r.NotEvaluated(e.At("required_fields"), &c.Expect, "required_fields", why, strings.Join(fields, ", "))
		}
		if values := e.Get("field_values"); len(values.Members(r.Keys)) > 0 {
			r.NotEvaluated(e.At("field_values"), &c.Expect, "field_values", why, string(values.Raw))
		}
		return
	}
	for _, f := range e.Strs("required_fields") {
		if !e.Get("field_values").Has(f) {
			c.Expect.ToolParams = append(c.Expect.ToolParams,
				callvet.ToolParam{Tool: tool, Path: f, Matcher: callvet.Matcher{Mode: "present"}})
		}
	}
	for _, m := range e.Get("field_values").Members(r.Keys) {
		p := callvet.ToolParam{Tool: tool, Path: m.Name, Matcher: callvet.Matcher{Mode: "contains", Value: m.Val.Raw}}
		switch m.Val.Kind() {
		case '[':
			p.Matcher.Mode = "any_of"
		case '0', 't', 'f', '{', 'n':
			p.Matcher.Mode = "exact"
		}
		c.Expect.ToolParams = append(c.Expect.ToolParams, p)
	}
}

func writeEvalCase(c *callvet.Case, orig Node) []byte {
	var o, e Record
	WriteID(&o, "id", c, orig)
	o.Raw("question", Quote(UserText(c)))
	o.Str("difficulty", c.Fields["difficulty"])
	expected, all := splitSets(&c.Expect)
	switch {
	case len(expected) > 0:
		e.Str("tool", expected[0])
	case expected != nil:
		e.Raw("tool", []byte("null"))
	}
	e.Str("category", c.Fields["category"])
	e.Str("intent", c.Fields["intent"])
	for _, k := range []string{"route", "sub_route", "agent"} {
		e.Str(k, c.Fields["expected_"+k])
	}
	var required []string
	var values Record
	for _, p := range c.Expect.ToolParams {
		if p.Matcher.Mode == "present" {
			required = append(required, p.Path)
		} else {
			values.Raw(p.Path, p.Matcher.Value)
		}
	}
	e.Strs("required_fields", required)
	if len(values) > 0 {
		e.Raw("field_values", values.Bytes())
	}
	o.Raw("expected", e.Bytes())
	o.Strs("allowed_tools", all)
	return o.Bytes()
}

func exportEvalTests(s *callvet.Suite, f Frame) ([]byte, []callvet.Problem, error) {
	r := newReader(&Source{Path: s.Name, Text: f.Document.Raw, Form: "json"}, ReaderOptions{})
	base := r.evalFrame(f.Document)
	if !f.Document.Has("eval_name") {
		base.Name = s.Name
	}
	write := func(s *callvet.Suite) []byte {
		var o Record
		o.Str("eval_name", s.Name)
		o.Str("description", s.Description)
		return o.Bytes()
	}
	doc := ExportFrame(f, write(&base), write(s))
	cases := make([][]byte, len(s.Cases))
	var problems []callvet.Problem
	for i := range s.Cases {
		orig, _ := Trusted(s.Cases[i].Foreign)
		var lost []callvet.Problem
		cases[i], lost = evalFormat(ReaderOptions{}).Export(&s.Cases[i], orig)
		problems = append(problems, lost...)
	}
	out, err := Pretty(WithMember(Node{Raw: doc}, "tests", Array(cases)))
	return out, problems, err
}
