// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

var generatedID = regexp.MustCompile(`^case-\d+$`)

// scoringModes are the modes that scoring knows for a whole case.
func scoringModes() []string {
	return []string{"exact", "strict", "case_insensitive", "contains", "fuzzy", "numeric_tolerance", "date", "regex", "semantic", "subset"}
}

func toolsuiteCaseKeys() []string {
	return []string{
		"id", "prompt", "expected_tool", "expected_params", "param_scoring", "scoring_config", "scoring_config_json", "category", "should_call_tool",
		"multi_turn", "multi_turn_config", "max_rounds", "optimal_hops", "valid_prerequisites", "mock_responses", "argument_source",
	}
}

func multiTurnKeys() []string {
	return []string{"max_rounds", "optimal_hops", "valid_prerequisites", "mock_responses", "argument_source"}
}

// toolsuite reads the import file of Tool Calling Evaluation ("Via JSON Import").
func (r *reader) toolsuite() (*callvet.Suite, error) {
	doc, err := r.single("a tool suite")
	if err != nil {
		return nil, err
	}
	s := r.toolsuiteFrame(doc)
	cases := r.loose(doc).elements("test_cases")
	s.Cases = make([]callvet.Case, 0, len(cases))
	for i, n := range cases {
		s.Cases = append(s.Cases, r.toolsuiteCase(n, i))
	}
	s.Foreign = frameOf(r.src, doc, "test_cases", nil)
	return &s, nil
}

// single is the file's only document.
func (r *reader) single(what string) (node, error) {
	v := r.src.values
	if len(v) != 1 || v[0].kind() != '{' {
		return node{}, &callvet.Hinted{
			Err:  fmt.Errorf("read suite: %w: %s must be one JSON object; %s holds %d values", callvet.ErrInvalid, what, name(r.src.path), len(v)),
			Hint: "check that nothing stands before or after the object",
		}
	}
	return v[0], nil
}

func (r *reader) toolsuiteFrame(doc node) callvet.Suite {
	r.caseID = ""
	o := r.object(doc, "the suite", "name", "description", "system_prompt", "tools", "test_cases")
	s := callvet.Suite{Name: o.str("name"), Description: o.str("description"), SystemPrompt: o.str("system_prompt")}
	s.Tools = r.tools(o.get("tools"), "tools")
	if s.Tools == nil {
		s.Tools = r.opt.Tools
	}
	if s.Name == "" {
		s.Name = stem(r.src.path)
	}
	return s
}

func (r *reader) toolsuiteCase(n node, index int) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.src.position(n.off), Foreign: n.raw}
	r.caseID = c.ID
	o := r.object(n, "a test case", toolsuiteCaseKeys()...)
	if id := o.scalar("id"); id != "" {
		c.ID, r.caseID = id, id
	}
	prompt := o.str("prompt")
	if strings.TrimSpace(prompt) == "" {
		r.report(o.at("prompt"), "empty-prompt", "prompt", "write what the user says", "the case has no prompt")
	}
	c.Input = userInput(prompt)
	if cat := o.str("category"); cat != "" {
		c.Fields = map[string]string{"category": cat}
	}
	c.Scoring = r.toolsuiteScoring(o)
	c.Expect.Plans = []callvet.Plan{r.toolsuitePlan(o)}
	r.toolsuiteMultiTurn(o, &c)
	return c
}

// toolsuitePlan reads expected_tool, expected_params and should_call_tool.
func (r *reader) toolsuitePlan(o object) callvet.Plan {
	tool, params := o.get("expected_tool"), o.get("expected_params")
	should, said := o.boolean("should_call_tool")
	switch {
	case !tool.given() && said && should:
		r.report(o.at("should_call_tool"), "contradiction", "should_call_tool", "name the tool in expected_tool, or set should_call_tool to false",
			"should_call_tool is true but no tool is expected")
	case tool.given() && said && !should:
		r.report(o.at("should_call_tool"), "contradiction", "should_call_tool", "remove one of the two",
			"should_call_tool is false but expected_tool names a tool")
	case tool.absent() && !said:
		r.warn(o.node.off, "no-expected-tool", "expected_tool", `write "expected_tool": null to say that no call is right`,
			"expected_tool is not given and is read as null: no call expected")
	}
	if !tool.given() {
		if params.given() && len(params.members(nil)) > 0 {
			r.notCarried(o.at("expected_params"), "expected_params", "no tool is expected, so there are no arguments to compare")
		}
		return callvet.Plan{Calls: []callvet.ExpectedCall{}}
	}
	call := callvet.ExpectedCall{}
	if s, ok := tool.text(); ok {
		call.Tools = []string{s}
	} else {
		call.Tools = r.strs(tool, "expected_tool")
	}
	if len(call.Tools) == 0 || slices.Contains(call.Tools, "") {
		r.report(tool.off, "no-expected-tool", "expected_tool", "name a tool, or write null for no call", "expected_tool names no tool")
	}
	switch params.kind() {
	case '{':
		call.Args = params.raw
	case 0, 'n':
	default:
		o.wrong("expected_params", "an object or null", params)
	}
	return callvet.Plan{Calls: []callvet.ExpectedCall{call}}
}

func (r *reader) toolsuiteScoring(o object) *callvet.Scoring {
	var sc callvet.Scoring
	if m := o.get("param_scoring"); m.given() {
		sc.Mode = r.mode(m, "param_scoring")
	}
	v, key := o.first("scoring_config", "scoring_config_json")
	if v.given() {
		c := r.object(v, key, "mode", "epsilon", "relative", "threshold", "tolerance", "unanchored")
		if m := c.get("mode"); m.given() {
			sc.Mode = r.mode(m, key+".mode")
		}
		sc.Epsilon, sc.Relative, sc.Threshold = c.number("epsilon"), c.number("relative"), c.number("threshold")
		sc.Tolerance = c.str("tolerance")
		sc.Unanchored, _ = c.boolean("unanchored")
		if sc.Mode == "regex" && !c.get("mode").absent() && c.get("unanchored").absent() {
			sc.Unanchored = true // the format's own regular expressions search anywhere in the value
		}
	}
	if sc == (callvet.Scoring{}) {
		return nil
	}
	return &sc
}

func (r *reader) mode(v node, key string) string {
	m, ok := v.text()
	if !ok || !slices.Contains(scoringModes(), m) {
		fix := "use one of " + strings.Join(scoringModes(), ", ")
		if near := nearest(m, scoringModes()); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		r.report(v.off, "unknown-mode", key, fix, "unknown scoring mode %s", v.raw)
		return ""
	}
	return m
}

// toolsuiteMultiTurn reads the flat keys and the nested form; where both say
// something the flat key wins.
func (r *reader) toolsuiteMultiTurn(o object, c *callvet.Case) {
	on, _ := false, false
	mt := o.get("multi_turn")
	nested, key := o.get("multi_turn_config"), "multi_turn_config"
	switch mt.kind() {
	case '{':
		if nested.given() {
			r.report(mt.off, "contradiction", "multi_turn", "keep one of the two", "multi_turn and multi_turn_config both hold settings")
		}
		nested, key, on = mt, "multi_turn", true
	case 0, 'n':
		on = nested.given()
	default:
		on, _ = o.boolean("multi_turn")
	}
	if !on {
		for _, k := range append(multiTurnKeys(), "multi_turn_config") {
			if v := o.get(k); v.given() {
				r.notCarried(o.at(k), k, "multi_turn is not true, so the case is a single turn")
			}
		}
		return
	}
	in := object{r: r, node: nested}
	if nested.given() {
		in = r.object(nested, key, multiTurnKeys()...)
	}
	from := func(k string) object {
		if !o.get(k).absent() {
			return o
		}
		return in
	}
	m := &callvet.MultiTurn{}
	if v := from("max_rounds").integer("max_rounds"); v != nil {
		m.MaxRounds = *v
	}
	if v := from("optimal_hops").integer("optimal_hops"); v != nil {
		m.OptimalHops = *v
	}
	m.ValidPrerequisites = from("valid_prerequisites").strs("valid_prerequisites")
	m.ArgumentSource = r.argumentSource(from("argument_source").get("argument_source"))
	c.MultiTurn, c.Mocks = m, r.mocks(from("mock_responses").get("mock_responses"), "mock_responses")
}

// mocks reads {tool: result}: the same answer whatever the arguments.
func (r *reader) mocks(v node, key string) []callvet.Mock {
	if !v.given() {
		return nil
	}
	if v.kind() != '{' {
		r.report(v.off, "wrong-type", key, "", "%s must be an object of tool names and results, not %s", key, kindName(v))
		return nil
	}
	var out []callvet.Mock
	for _, m := range v.members(r.keys) {
		out = append(out, callvet.Mock{Tool: m.name, Replies: []callvet.MockReply{{Result: m.val.raw}}})
	}
	return out
}

// argumentSource reads {argument: "tool.field"} and makes the path explicit:
// "tool.result.field".
func (r *reader) argumentSource(v node) map[string]string {
	switch v.kind() {
	case 0, 'n':
		return nil
	case '{':
	default:
		r.notCarried(v.off, "argument_source", `only {"argument": "tool.field"} says where a value comes from, this is %s`, kindName(v))
		return nil
	}
	out := map[string]string{}
	for _, m := range v.members(r.keys) {
		s, ok := m.val.text()
		tool, rest, found := strings.Cut(s, ".")
		if !ok || !found || tool == "" || rest == "" {
			r.report(m.val.off, "wrong-type", "argument_source", `write "tool.field"`, "argument_source of %q must be a tool and a field of its result", m.name)
			continue
		}
		if rest != "result" && !strings.HasPrefix(rest, "result.") && !strings.HasPrefix(rest, "result[") {
			rest = "result." + rest
		}
		out[m.name] = tool + "." + rest
	}
	return out
}
