// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// evalTests reads the later suites of the Tool Selection Evaluation System:
// {eval_type, eval_name, tests: [{id, question, expected, allowed_tools}]}.
func (r *reader) evalTests(doc node) *callvet.Suite {
	s := r.evalFrame(doc)
	o := r.loose(doc)
	for _, k := range []string{"target_success_rate", "difficulty_profile"} {
		if o.get(k).given() {
			r.keep(o.at(k), k, "kept for export; a bound on a rate belongs in a gate")
		}
	}
	format := evalFormat(r.opt)
	for i, n := range o.elements("tests") {
		s.Cases = append(s.Cases, format.read(r, n, i))
	}
	s.Foreign = frameOf(r.src, doc, "tests", nil)
	return &s
}

func (r *reader) evalFrame(doc node) callvet.Suite {
	r.caseID = ""
	o := r.object(doc, "the suite", "eval_type", "eval_name", "description", "target_success_rate", "difficulty_profile", "tests")
	s := callvet.Suite{Name: o.str("eval_name"), Description: o.str("description"), Tools: r.opt.Tools}
	if s.Name == "" {
		s.Name = stem(r.src.path)
	}
	return s
}

func evalFormat(opt Options) caseFormat {
	return caseFormat{
		read:  (*reader).evalCase,
		write: writeEvalCase,
		opt:   opt,
		can:   []feature{"plans", "any_of plans", "no calls", "calls without arguments given", "tools_acceptable", "tools_called", "fields", "tool_params"},
	}
}

func (r *reader) evalCase(n node, index int) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off), Foreign: n.raw, Fields: map[string]string{}}
	r.caseID = c.ID
	o := r.object(n, "a test", "id", "question", "difficulty", "expected", "allowed_tools")
	if id := o.scalar("id"); id != "" {
		c.ID, r.caseID = id, id
	}
	r.question(o, "question", &c)
	if v := o.get("expected"); !v.given() {
		r.report(n.off, "missing-key", "expected", `write "expected": {"tool": …}`, "the test expects nothing")
	}
	e := object{r: r, node: n}
	if v := o.get("expected"); v.given() {
		e = r.object(v, "expected", "tool", "category", "intent", "route", "sub_route", "agent", "acceptable_tools", "acceptable_agents", "plan_requirements",
			"graph_complexity", "execution_strategy", "required_fields", "field_values", "allow_clarification")
	}
	set := func(key, val string) {
		if val != "" {
			c.Fields[key] = val
		}
	}
	set("difficulty", o.scalar("difficulty"))
	set("category", e.scalar("category"))
	set("intent", e.scalar("intent"))
	for _, k := range []string{"route", "sub_route", "agent"} {
		set("expected_"+k, e.scalar(k))
	}
	for _, k := range []string{"route", "sub_route", "agent", "acceptable_agents", "plan_requirements", "graph_complexity", "execution_strategy"} {
		if e.get(k).given() {
			r.keep(e.at(k), "expected."+k, selectOnly)
		}
	}
	if on, _ := e.boolean("allow_clarification"); on {
		r.keep(e.at("allow_clarification"), "expected.allow_clarification", "a question back to the user cannot be told from an answer without a judge")
	}
	r.evalTools(o, e, &c)
	return c
}

// evalTools: the expected tool, or any acceptable or allowed one, passes;
// field expectations become assertions on the expected tool's arguments.
func (r *reader) evalTools(o, e object, c *callvet.Case) {
	tool := e.str("tool")
	var expected []string
	switch {
	case tool != "":
		expected = []string{tool}
	case e.get("tool").null():
		expected = []string{}
	}
	others := slices.Concat(e.strs("acceptable_tools"), o.strs("allowed_tools"))
	c.Expect.ToolsAcceptable = acceptableSets(expected, others)
	if c.Expect.ToolsAcceptable == nil {
		c.Skip = "the case expects a route or an agent but no tool; select judges it, run cannot"
	}
	for _, f := range e.strs("required_fields") {
		if tool == "" {
			r.notCarried(e.at("required_fields"), "required_fields", "no tool is expected that could have them")
			break
		}
		if !e.get("field_values").has(f) {
			c.Expect.ToolParams = append(c.Expect.ToolParams, callvet.ToolParam{Tool: tool, Path: f, Matcher: callvet.Matcher{Mode: "present"}})
		}
	}
	for _, m := range e.get("field_values").members(r.keys) {
		if tool == "" {
			r.notCarried(m.off, "field_values", "no tool is expected that could have them")
			break
		}
		p := callvet.ToolParam{Tool: tool, Path: m.name, Matcher: callvet.Matcher{Mode: "contains", Value: m.val.raw}}
		switch m.val.kind() {
		case '[':
			p.Matcher.Mode = "any_of"
		case '0', 't', 'f', '{', 'n':
			p.Matcher.Mode = "exact"
		}
		c.Expect.ToolParams = append(c.Expect.ToolParams, p)
	}
}

func writeEvalCase(c *callvet.Case, orig node) []byte {
	var o, e record
	writeID(&o, "id", c, orig)
	o.raw("question", quote(userText(c)))
	o.str("difficulty", c.Fields["difficulty"])
	expected, all := splitSets(&c.Expect)
	switch {
	case len(expected) > 0:
		e.str("tool", expected[0])
	case expected != nil:
		e.raw("tool", []byte("null"))
	}
	e.str("category", c.Fields["category"])
	e.str("intent", c.Fields["intent"])
	for _, k := range []string{"route", "sub_route", "agent"} {
		e.str(k, c.Fields["expected_"+k])
	}
	var required []string
	var values record
	for _, p := range c.Expect.ToolParams {
		if p.Matcher.Mode == "present" {
			required = append(required, p.Path)
		} else {
			values.raw(p.Path, p.Matcher.Value)
		}
	}
	e.strs("required_fields", required)
	if len(values) > 0 {
		e.raw("field_values", values.bytes())
	}
	o.raw("expected", e.bytes())
	o.strs("allowed_tools", all)
	return o.bytes()
}

func exportEvalTests(s *callvet.Suite, f frame) ([]byte, []callvet.Problem, error) {
	r := newReader(&source{path: s.Name, text: f.document.raw, form: "json"}, Options{})
	base := r.evalFrame(f.document)
	if !f.document.has("eval_name") {
		base.Name = s.Name
	}
	write := func(s *callvet.Suite) []byte {
		var o record
		o.str("eval_name", s.Name)
		o.str("description", s.Description)
		return o.bytes()
	}
	doc := exportFrame(f, write(&base), write(s))
	cases := make([][]byte, len(s.Cases))
	var problems []callvet.Problem
	for i := range s.Cases {
		orig, _ := trusted(s.Cases[i].Foreign)
		var lost []callvet.Problem
		cases[i], lost = evalFormat(Options{}).export(&s.Cases[i], orig)
		problems = append(problems, lost...)
	}
	out, err := pretty(withMember(node{raw: doc}, "tests", array(cases)))
	return out, problems, err
}
