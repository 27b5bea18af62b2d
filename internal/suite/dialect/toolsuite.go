// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// scoringModes are the modes that scoring knows for a whole case.
func scoringModes() []string {
	return []string{
		"exact", "strict", "case_insensitive", "contains", "fuzzy", "numeric_tolerance", "date", "regex",
		"semantic", "subset",
	}
}

func toolsuiteCaseKeys() []string {
	return []string{
		"id", "prompt", "expected_tool", "expected_params", "param_scoring", "scoring_config", "scoring_config_json",
		"category", "should_call_tool",
		"multi_turn", "multi_turn_config", "max_rounds", "optimal_hops", "valid_prerequisites", "mock_responses",
		"argument_source",
	}
}

func multiTurnKeys() []string {
	return []string{"max_rounds", "optimal_hops", "valid_prerequisites", "mock_responses", "argument_source"}
}

// toolsuite reads the import file of Tool Calling Evaluation ("Via JSON Import").
func (r *reader) toolsuite() (*callvet.Suite, error) {
	s, cases, err := r.toolsuiteStream()
	if err != nil {
		return nil, err
	}
	s.Cases = []callvet.Case{}
	for c := range cases {
		s.Cases = append(s.Cases, *c)
	}
	return s, nil
}

// toolsuiteStream reads everything except the cases, which are read when the iterator reaches
// them.
func (r *reader) toolsuiteStream() (*callvet.Suite, iter.Seq[*callvet.Case], error) {
	doc, err := r.Single("a tool suite")
	if err != nil {
		return nil, nil, err
	}
	s := r.toolsuiteFrame(doc)
	s.Foreign = FrameOf(r.Src, doc, "test_cases", nil)
	return &s, func(yield func(*callvet.Case) bool) {
		i := 0
		for n := range r.Loose(doc).Array("test_cases").Each() {
			c := r.toolsuiteCase(n, i)
			if i++; !yield(&c) {
				return
			}
		}
	}, nil
}

func (r *reader) toolsuiteFrame(doc Node) callvet.Suite {
	r.CaseID = ""
	o := r.Object(doc, "the suite", "name", "description", "system_prompt", "tools", "test_cases")
	s := callvet.Suite{Name: o.Str("name"), Description: o.Str("description"), SystemPrompt: o.Str("system_prompt")}
	// The format counts expected parameters only; other arguments of a call are not judged.
	// Source: Tool Calling Evaluation, "Parameter Accuracy".
	s.Defaults.Scoring.ExtraArgs = callvet.ExtraIgnore
	s.Tools = r.Tools(o.Get("tools"), "tools")
	if s.Tools == nil {
		s.Tools = r.Opt.Tools
	}
	if s.Name == "" {
		s.Name = Stem(r.Src.Path)
	}
	return s
}

func (r *reader) toolsuiteCase(n Node, index int) callvet.Case {
	c := callvet.Case{ID: fmt.Sprintf("case-%d", index+1), Position: r.Src.Position(n.Off), Foreign: n.Raw}
	r.CaseID = c.ID
	o := r.Object(n, "a test case", toolsuiteCaseKeys()...)
	if id := o.Scalar("id"); id != "" {
		c.ID, r.CaseID = id, id
	}
	prompt := o.Str("prompt")
	if strings.TrimSpace(prompt) == "" {
		r.Report(o.At("prompt"), "empty-prompt", "prompt", "write what the user says", "the case has no prompt")
	}
	c.Input = UserInput(prompt)
	if cat := o.Str("category"); cat != "" {
		c.Fields = map[string]string{"category": cat}
	}
	c.Scoring = r.toolsuiteScoring(o)
	c.Expect.Plans = []callvet.Plan{r.toolsuitePlan(o)}
	r.toolsuiteMultiTurn(o, &c)
	return c
}

// toolsuitePlan reads expected_tool, expected_params and should_call_tool.
func (r *reader) toolsuitePlan(o Object) callvet.Plan {
	tool, params := o.Get("expected_tool"), o.Get("expected_params")
	should, ok := o.Boolean("should_call_tool")
	switch {
	case !tool.Given() && ok && should:
		r.Report(o.At("should_call_tool"), "contradiction", "should_call_tool",
			"name the tool in expected_tool, or set should_call_tool to false",
			"should_call_tool is true but no tool is expected")
	case tool.Given() && ok && !should:
		r.Report(o.At("should_call_tool"), "contradiction", "should_call_tool", "remove one of the two",
			"should_call_tool is false but expected_tool names a tool")
	case tool.Absent() && !ok && len(params.Members(nil)) > 0:
		r.Report(o.At("expected_params"), "no-expected-tool", "expected_tool",
			"name the tool in expected_tool; without one it is not known which call has these arguments",
			"expected_params are given without expected_tool")
		return callvet.Plan{Calls: []callvet.ExpectedCall{}}
	case tool.Absent() && !ok:
		r.Warn(o.Node.Off, "no-expected-tool", "expected_tool",
			`write "expected_tool": null to say that no call is right`,
			"expected_tool is not given and is read as null: no call expected")
	}
	if !tool.Given() {
		if params.Given() && len(params.Members(nil)) > 0 {
			r.NotCarried(o.At("expected_params"), "expected_params",
				"no tool is expected, so there are no arguments to compare")
		}
		return callvet.Plan{Calls: []callvet.ExpectedCall{}}
	}
	return callvet.Plan{Calls: []callvet.ExpectedCall{r.toolsuiteCall(o, tool, params)}}
}

// toolsuiteCall reads the call that expected_tool names, with its arguments.
func (r *reader) toolsuiteCall(o Object, tool, params Node) callvet.ExpectedCall {
	call := callvet.ExpectedCall{}
	if s, ok := tool.Text(); ok {
		call.Tools = []string{s}
	} else {
		call.Tools = r.Strs(tool, "expected_tool")
	}
	if len(call.Tools) == 0 || slices.Contains(call.Tools, "") {
		r.Report(tool.Off, "no-expected-tool", "expected_tool", "name a tool, or write null for no call",
			"expected_tool names no tool")
	}
	switch params.Kind() {
	case '{':
		call.Args = params.Raw
	case 0, 'n':
	default:
		o.Wrong("expected_params", "an object or null", params)
	}
	return call
}

func (r *reader) toolsuiteScoring(o Object) *callvet.Scoring {
	var sc callvet.Scoring
	if m := o.Get("param_scoring"); m.Given() {
		sc.Mode = r.mode(m, "param_scoring")
	}
	v, key := o.First("scoring_config", "scoring_config_json")
	if v.Given() {
		c := r.Object(v, key, "mode", "epsilon", "relative", "threshold", "tolerance", "unanchored")
		if m := c.Get("mode"); m.Given() {
			sc.Mode = r.mode(m, key+".mode")
		}
		sc.Epsilon, sc.Relative, sc.Threshold = c.Number("epsilon"), c.Number("relative"), c.Number("threshold")
		sc.Tolerance = c.Str("tolerance")
		sc.Unanchored, _ = c.Boolean("unanchored")
		if sc.Mode == "regex" && !c.Get("mode").Absent() && c.Get("unanchored").Absent() {
			sc.Unanchored = true // the format's own regular expressions search anywhere in the value
		}
	}
	if sc == (callvet.Scoring{}) {
		return nil
	}
	return &sc
}

func (r *reader) mode(v Node, key string) string {
	m, ok := v.Text()
	if !ok || !slices.Contains(scoringModes(), m) {
		fix := "use one of " + strings.Join(scoringModes(), ", ")
		if near := callvet.Nearest(m, scoringModes()); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		r.Report(v.Off, "unknown-mode", key, fix, "unknown scoring mode %s", v.Raw)
		return ""
	}
	return m
}

// toolsuiteMultiTurn reads the flat keys and the nested form; where both are set, the flat key
// wins.
func (r *reader) toolsuiteMultiTurn(o Object, c *callvet.Case) {
	var on bool
	mt := o.Get("multi_turn")
	nested, key := o.Get("multi_turn_config"), "multi_turn_config"
	switch mt.Kind() {
	case '{':
		if nested.Given() {
			r.Report(mt.Off, "contradiction", "multi_turn", "keep one of the two",
				"multi_turn and multi_turn_config both hold settings")
		}
		nested, key, on = mt, "multi_turn", true
	case 0, 'n':
		on = nested.Given()
	default:
		on, _ = o.Boolean("multi_turn")
	}
	if !on {
		for _, k := range append(multiTurnKeys(), "multi_turn_config") {
			if v := o.Get(k); v.Given() {
				r.NotCarried(o.At(k), k, "multi_turn is not true, so the case is a single turn")
			}
		}
		return
	}
	in := r.Loose(nested)
	if nested.Given() {
		in = r.Object(nested, key, multiTurnKeys()...)
	}
	from := func(k string) Object {
		if !o.Get(k).Absent() {
			return o
		}
		return in
	}
	m := &callvet.MultiTurn{}
	if v := from("max_rounds").Integer("max_rounds"); v != nil {
		m.MaxRounds = *v
	}
	if v := from("optimal_hops").Integer("optimal_hops"); v != nil {
		m.OptimalHops = *v
	}
	m.ValidPrerequisites = from("valid_prerequisites").Strs("valid_prerequisites")
	m.ArgumentSource = r.argumentSource(from("argument_source").Get("argument_source"))
	c.MultiTurn, c.Mocks = m, r.mocks(from("mock_responses").Get("mock_responses"), "mock_responses")
}

// mocks reads {tool: result}: the same answer whatever the arguments.
func (r *reader) mocks(v Node, key string) []callvet.Mock {
	if !v.Given() {
		return nil
	}
	if v.Kind() != '{' {
		r.Report(v.Off, "wrong-type", key, "", "%s must be an object of tool names and results, not %s", key,
			KindName(v))
		return nil
	}
	var out []callvet.Mock
	for _, m := range v.Members(r.Keys) {
		out = append(out, callvet.Mock{Tool: m.Name, Replies: []callvet.MockReply{{Result: m.Val.Raw}}})
	}
	return out
}

// argumentSource reads {argument: "tool.field"} and makes the path explicit:
// "tool.result.field".
func (r *reader) argumentSource(v Node) map[string]string {
	switch v.Kind() {
	case 0, 'n':
		return nil
	case '{':
	default:
		r.NotCarried(v.Off, "argument_source",
			`only {"argument": "tool.field"} says where a value comes from, this is %s`, KindName(v))
		return nil
	}
	out := map[string]string{}
	for _, m := range v.Members(r.Keys) {
		s, ok := m.Val.Text()
		tool, rest, found := strings.Cut(s, ".")
		if !ok || !found || tool == "" || rest == "" {
			r.Report(m.Val.Off, "wrong-type", "argument_source", `write "tool.field"`,
				"argument_source of %q must be a tool and a field of its result", m.Name)
			continue
		}
		if rest != "result" && !strings.HasPrefix(rest, "result.") && !strings.HasPrefix(rest, "result[") {
			rest = "result." + rest
		}
		out[m.Name] = tool + "." + rest
	}
	return out
}
