// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

const (
	expectKeys = "calls order max_extra_calls any_of no_call tools_called tools_acceptable tools_not_called min_tool_calls max_tool_calls " +
		"counts all_of not max_same_calls max_requests min_scores no_tool_errors postconditions tool_params selection response max_latency_ms max_tokens max_cost_usd scorers rubric reference_data unsupported skipped_assertions"
	responseKeys = "non_empty contains contains_any not_contains matches json no_ungrounded_numbers"
	scoringKeys  = "profile language mode epsilon relative threshold tolerance unanchored extra_args max_extra_calls " +
		"weights contract failed_calls require_native case_sensitive_names tool_names selection"
)

func (r *reader) expect(e *callvet.Expect, n *doc.Node) {
	var single callvet.Plan
	var planned, none bool
	r.fields(n, expectKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "any_of":
			e.Plans = []callvet.Plan{}
			r.each(v, func(_ int, v *doc.Node) { e.Plans = append(e.Plans, r.plan(v)) })
			if len(e.Plans) == 0 {
				r.problem(v.At, "asserts-nothing", "", "any_of lists no plan")
				e.Plans = nil
			}
		case "no_call":
			none = r.boolean(v)
		case "rubric":
			e.Rubric = r.rubric(v)
		case "response":
			r.fields(v, responseKeys, func(key string, v *doc.Node) bool { return r.responseField(e, key, v) })
		case "calls", "order", "max_extra_calls":
			planned = true
			return r.planField(&single, key, v)
		default:
			return r.expectField(e, key, v)
		}
		return true
	})
	if e.ToolsCalled != nil && e.ToolsAcceptable != nil {
		r.problem(n.At, "conflicting-keys", "tools_called for one exact set, tools_acceptable for several",
			"tools_called and tools_acceptable exclude each other")
	}
	switch {
	case planned && e.Plans != nil, planned && none, none && e.Plans != nil:
		r.problem(n.At, "conflicting-keys", "keep one of them", "calls, any_of and no_call exclude each other")
	case none:
		e.Plans = []callvet.Plan{{Calls: []callvet.ExpectedCall{}}}
	case planned && single.Calls == nil:
		r.problem(n.At, "asserts-nothing", "add calls, or no_call: true",
			"order and max_extra_calls say how calls count, but no calls are listed")
	case planned:
		e.Plans = []callvet.Plan{single}
	}
}

func (r *reader) expectField(e *callvet.Expect, key string, v *doc.Node) bool {
	switch key {
	case "tools_called":
		e.ToolsCalled = r.strs(v)
	case "tools_acceptable":
		e.ToolsAcceptable = r.groups(v)
	case "tools_not_called":
		e.ToolsNotCalled = r.strs(v)
	case "no_tool_errors":
		e.NoToolErrors = r.boolean(v)
	case "postconditions":
		e.Postconditions = r.strs(v)
	case "tool_params":
		r.each(v, func(_ int, v *doc.Node) { e.ToolParams = append(e.ToolParams, r.toolParam(v)) })
	case "selection":
		e.Selection = r.selection(v)
	case "scorers":
		e.Scorers = r.scorers(v)
	case "max_latency_ms":
		e.MaxLatencyMS = r.number(v, 0)
	case "max_tokens":
		e.MaxTokens = r.integer(v, 0)
	case "max_cost_usd":
		e.MaxCostUSD = r.number(v, 0)
	case "reference_data":
		if v.Kind != doc.Null {
			e.ReferenceData = v.JSON()
		}
	case "unsupported":
		e.Unsupported = append(e.Unsupported, r.unsupported(v)...)
	case "skipped_assertions": // of files that earlier versions wrote: how many, and not which
		for range r.count(v, 0) {
			e.Unsupported = append(e.Unsupported,
				callvet.Unsupported{Name: "assertion", Reason: "it was left out when the suite was converted"})
		}
	default:
		return r.boundField(e, key, v)
	}
	return true
}

// boundField reads what bounds or forbids calls.
func (r *reader) boundField(e *callvet.Expect, key string, v *doc.Node) bool {
	switch key {
	case "min_tool_calls":
		e.MinToolCalls = r.integer(v, 0)
	case "max_tool_calls":
		e.MaxToolCalls = r.integer(v, 0)
	case "counts":
		r.each(v, func(_ int, v *doc.Node) { e.Counts = append(e.Counts, r.callCount(v)) })
	case "not":
		r.each(v, func(_ int, v *doc.Node) { e.Not = append(e.Not, r.claim(v)) })
	case "all_of":
		r.each(v, func(_ int, v *doc.Node) { e.AllOf = append(e.AllOf, r.claim(v)) })
	case "max_same_calls":
		e.MaxSameCalls = r.integer(v, 1)
	case "max_requests":
		e.MaxRequests = r.integer(v, 0)
	case "min_scores":
		e.MinScores = r.minScores(v)
	default:
		return false
	}
	return true
}

func (r *reader) responseField(e *callvet.Expect, key string, v *doc.Node) bool {
	switch key {
	case "non_empty":
		e.ResponseNonEmpty = r.boolean(v)
	case "contains":
		e.ResponseContains = r.oneOrMore(v)
	case "contains_any":
		e.ResponseContainsAny = r.groups(v)
	case "not_contains":
		e.ResponseNotContains = r.oneOrMore(v)
	case "matches":
		e.ResponseMatches = r.oneOrMore(v)
	case "json":
		m := r.matcher(v)
		e.ResponseJSON = &m
	case "no_ungrounded_numbers":
		e.NoUngroundedNumbers = r.boolean(v)
	default:
		return false
	}
	return true
}

// groups reads a list of lists of texts.
func (r *reader) groups(n *doc.Node) [][]string {
	if n.Kind == doc.Null {
		return nil
	}
	out := [][]string{}
	r.each(n, func(_ int, v *doc.Node) {
		if v.Kind != doc.List {
			r.problem(v.At, "wrong-type", "every member is a list of its own: [[a, b], [c]]",
				"expected a list of texts, found %s", doc.Clip(string(v.JSON()), 40))
			return
		}
		out = append(out, r.strs(v))
	})
	return out
}

func (r *reader) unsupported(n *doc.Node) []callvet.Unsupported {
	var out []callvet.Unsupported
	r.each(n, func(_ int, v *doc.Node) {
		u := callvet.Unsupported{Reason: "nothing here evaluates it"}
		r.fields(v, "name reason expected", func(key string, v *doc.Node) bool {
			switch key {
			case "name":
				u.Name = r.str(v)
			case "reason":
				u.Reason = r.str(v)
			case "expected":
				u.Expected = r.str(v)
			default:
				return false
			}
			return true
		})
		out = append(out, u)
	})
	return out
}

func (r *reader) rubric(n *doc.Node) []callvet.RubricDimension {
	var out []callvet.RubricDimension
	r.each(n, func(_ int, v *doc.Node) {
		d := callvet.RubricDimension{MaxScore: 1}
		r.fields(v, "dimension max_score criteria threshold", func(key string, v *doc.Node) bool {
			switch key {
			case "dimension":
				d.Dimension = r.str(v)
			case "max_score":
				if f := r.number(v, 0); f != nil {
					d.MaxScore = *f
				}
			case "criteria":
				d.Criteria = r.str(v)
			case "threshold":
				d.Threshold = r.number(v, 0)
			default:
				return false
			}
			return true
		})
		out = append(out, d)
	})
	return out
}

func (r *reader) plan(n *doc.Node) callvet.Plan {
	var p callvet.Plan
	r.fields(n, "name calls order max_extra_calls",
		func(key string, v *doc.Node) bool { return r.planField(&p, key, v) })
	if p.Calls == nil {
		p.Calls = []callvet.ExpectedCall{}
		if n.Kind == doc.Map {
			r.problem(n.At, "asserts-nothing", "calls: [] means that nothing may be called", "the plan lists no calls")
		}
	}
	return p
}

// claim reads an entry of all_of or not: a plan, bounds of its own, or both.
func (r *reader) claim(n *doc.Node) callvet.Plan {
	var p callvet.Plan
	var how *doc.Node
	r.fields(n, "name calls order max_extra_calls counts min_scores", func(key string, v *doc.Node) bool {
		switch key {
		case "counts":
			r.each(v, func(_ int, v *doc.Node) { p.Counts = append(p.Counts, r.callCount(v)) })
			return true
		case "min_scores":
			p.MinScores = r.minScores(v)
		case "order", "max_extra_calls":
		default:
			return r.planField(&p, key, v)
		}
		how = v
		return key == "min_scores" || r.planField(&p, key, v)
	})
	switch {
	case n.Kind != doc.Map || p.Calls != nil:
	case how != nil:
		r.problem(how.At, "asserts-nothing", "add calls",
			"order, max_extra_calls and min_scores are of calls, but no calls are listed")
	case len(p.Counts) == 0:
		r.problem(n.At, "asserts-nothing", "calls: [] means that nothing may be called",
			"the entry lists neither calls nor counts")
	}
	return p
}

func (r *reader) planField(p *callvet.Plan, key string, v *doc.Node) bool {
	switch key {
	case "name":
		p.Name = r.label(v)
	case "calls":
		p.Calls = []callvet.ExpectedCall{}
		r.each(v, func(_ int, v *doc.Node) { p.Calls = append(p.Calls, r.expectedCall(v)) })
	case "order":
		p.Order = callvet.Order(r.choice(v, string(callvet.OrderAny), string(callvet.OrderStrict),
			string(callvet.OrderInOrder), string(callvet.OrderSubset),
			string(callvet.OrderSuperset), string(callvet.OrderPrecision), string(callvet.OrderRecall),
			string(callvet.OrderSingle)))
	case "max_extra_calls":
		p.MaxExtraCalls = r.integer(v, -1)
	default:
		return false
	}
	return true
}

func (r *reader) expectedCall(n *doc.Node) callvet.ExpectedCall {
	var c callvet.ExpectedCall
	if n.Kind == doc.String { // - get_weather
		c.Tools = []string{n.Text()}
		return c
	}
	r.fields(n, wantedKeys, func(key string, v *doc.Node) bool { return r.wantedField(&c, key, v) })
	r.namesTool(&c, n)
	return c
}

const wantedKeys = "id tool args params extra_args nth message after optional result result_check"

func (r *reader) namesTool(c *callvet.ExpectedCall, n *doc.Node) {
	if len(c.Tools) == 0 && n.Kind == doc.Map {
		r.problem(n.At, "no-tool", "tool: name, or a list of acceptable names", "the expected call names no tool")
	}
}

// callCount reads an expected call with bounds.
func (r *reader) callCount(n *doc.Node) callvet.CallCount {
	var c callvet.CallCount
	r.fields(n, "tool args params extra_args nth message min max", func(key string, v *doc.Node) bool {
		switch key {
		case "min":
			c.Min = r.integer(v, 0)
		case "max":
			c.Max = r.integer(v, 0)
		case "id", "after", "optional", "result", "result_check":
			return false // of plans
		default:
			return r.wantedField(&c.Call, key, v)
		}
		return true
	})
	r.namesTool(&c.Call, n)
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		r.problem(n.At, "contradiction", "", "at least %d calls and at most %d cannot both hold", *c.Min, *c.Max)
	}
	return c
}

func (r *reader) minScores(n *doc.Node) map[string]float64 {
	out := map[string]float64{}
	r.fields(n, "", func(key string, v *doc.Node) bool {
		if f := r.number(v, 0); f != nil {
			if out[key] = *f; *f > 1 {
				r.problem(v.At, "out-of-range", "", "%s is above 1", v.Raw)
			}
		}
		return true
	})
	return out
}

func (r *reader) wantedField(c *callvet.ExpectedCall, key string, v *doc.Node) bool {
	switch key {
	case "id":
		c.ID = r.label(v)
	case "tool":
		c.Tools = r.oneOrMore(v)
	case "args":
		c.Args = r.object(v)
	case "params":
		c.Matchers = map[string]callvet.Matcher{}
		r.fields(v, "", func(key string, v *doc.Node) bool {
			c.Matchers[key] = r.matcher(v)
			return true
		})
		if len(c.Matchers) == 0 {
			c.Matchers = nil
		}
	case "after":
		c.After = r.oneOrMore(v)
	case "optional":
		c.Optional = r.boolean(v)
	case "result":
		c.Result = v.JSON()
	case "result_check":
		c.ResultCheck = r.str(v)
	default:
		return r.callFilter(c, key, v)
	}
	return true
}

// callFilter reads what narrows the calls that may answer.
func (r *reader) callFilter(c *callvet.ExpectedCall, key string, v *doc.Node) bool {
	switch key {
	case "extra_args":
		c.ExtraArgs = r.extraArgs(v)
	case "nth":
		c.Nth = r.place(v)
	case "message":
		c.Message = r.place(v)
	default:
		return false
	}
	return true
}

// place reads a place in a list, from its end below 0.
func (r *reader) place(v *doc.Node) int {
	i := r.integer(v, -1<<31)
	if i == nil {
		return 0
	}
	if *i == 0 {
		r.problem(v.At, "out-of-range", "1 is the first, -1 the last", "there is no place 0")
	}
	return *i
}

func (r *reader) extraArgs(v *doc.Node) callvet.ExtraArgs {
	return callvet.ExtraArgs(
		r.choice(v, string(callvet.ExtraForbid), string(callvet.ExtraIgnore), string(callvet.ExtraPenalize)))
}

// notOfSteps are the settings that have no meaning for the steps of a trace.
const notOfSteps = "profile language max_extra_calls weights contract failed_calls require_native selection"

// ReadStepScoring reads the settings by which the arguments of the steps of a trace are
// compared: some of those of a suite, by themselves or under scoring.
func ReadStepScoring(d *doc.File) (callvet.Scoring, []callvet.Problem) {
	r := &reader{doc: d, format: "scoring"}
	r.duplicates()
	n := &d.Root
	if in := n.Get("scoring"); in != nil && len(n.Items) == 1 {
		n = in
	}
	s := r.scoring(n)
	for key := range strings.FieldsSeq(notOfSteps) {
		if v := n.Get(key); v != nil {
			r.problem(v.At, "not-of-steps", "leave it out",
				"%s is for cases of a suite and has no meaning for the steps of a trace", key)
		}
	}
	return s, r.done()
}

// scoring reads the settings of the deterministic scorers.
func (r *reader) scoring(n *doc.Node) callvet.Scoring {
	var s callvet.Scoring
	if n.Kind == doc.Null {
		return s
	}
	r.fields(n, scoringKeys, func(key string, v *doc.Node) bool {
		switch key {
		case "profile":
			s.Profile = r.choice(v, "bfcl")
		case "language":
			s.Language = r.choice(v, "java", "javascript")
		case "mode":
			s.Mode = r.str(v)
		case "epsilon":
			s.Epsilon = r.number(v, 0)
		case "relative":
			s.Relative = r.number(v, 0)
		case "threshold":
			s.Threshold = r.number(v, 0)
		case "tolerance":
			s.Tolerance = r.str(v)
		case "unanchored":
			s.Unanchored = r.boolean(v)
		case "weights":
			r.weights(&s, v)
		default:
			return r.policyField(&s, key, v)
		}
		return true
	})
	return s
}

func (r *reader) policyField(s *callvet.Scoring, key string, v *doc.Node) bool {
	switch key {
	case "extra_args":
		s.ExtraArgs = r.extraArgs(v)
	case "max_extra_calls":
		s.MaxExtraCalls = r.integer(v, -1)
	case "contract":
		s.Contract = r.choice(v, "enforce", "report", "off")
	case "failed_calls":
		s.FailedCalls = r.choice(v, "count", "ignore")
	case "require_native":
		s.RequireNative = r.boolean(v)
	case "case_sensitive_names":
		s.CaseSensitiveNames = r.boolean(v)
	case "tool_names":
		s.ToolNames = r.toolNames(v)
	case "selection":
		s.Selection = r.selectionScoring(v)
	default:
		return false
	}
	return true
}

// toolNames reads which names are names of one tool.
func (r *reader) toolNames(n *doc.Node) *callvet.ToolNames {
	if n.Kind == doc.Null {
		return nil
	}
	t := &callvet.ToolNames{At: r.doc.Position(n.At)}
	r.fields(n, "strip_prefixes aliases", func(key string, v *doc.Node) bool {
		switch key {
		case "strip_prefixes":
			t.StripPrefixes = r.strs(v)
			if i := slices.Index(t.StripPrefixes, ""); i >= 0 && i < len(v.Items) {
				r.problem(v.Items[i].At, "empty-prefix",
					`write the prefix as it stands before the names: "mcp__github__"`, "the prefix is empty")
			}
		case "aliases":
			r.fields(v, "", func(from string, v *doc.Node) bool {
				r.alias(t, from, v)
				return true
			})
			r.aliasChains(t, v)
		default:
			return false
		}
		return true
	})
	return t
}

func (r *reader) alias(t *callvet.ToolNames, from string, v *doc.Node) {
	to := r.str(v)
	if t.Aliases == nil {
		t.Aliases = map[string]string{}
	}
	if t.Aliases[from] = to; strings.TrimSpace(from) == "" || strings.TrimSpace(to) == "" {
		r.problem(v.At, "empty-alias", "write the called name, then the name of the tool: read: read_file",
			"an alias has an empty name")
	}
}

// aliasChains finds aliases that stand for aliases: which one is meant would depend on the order.
func (r *reader) aliasChains(t *callvet.ToolNames, n *doc.Node) {
	r.fields(n, "", func(from string, v *doc.Node) bool {
		if to := t.Aliases[from]; t.Aliases[to] != "" {
			r.problem(v.At, "alias-of-alias", "name the tool itself",
				"%q counts as %q, which is an alias too", from, to)
		}
		return true
	})
}

func (r *reader) weights(s *callvet.Scoring, n *doc.Node) {
	r.fields(n, "tool args", func(key string, v *doc.Node) bool {
		switch key {
		case "tool":
			s.ToolWeight = r.number(v, 0)
		case "args":
			s.ArgsWeight = r.number(v, 0)
		default:
			return false
		}
		return true
	})
}

func (r *reader) toolParam(n *doc.Node) callvet.ToolParam {
	var p callvet.ToolParam
	var rest doc.Node
	rest.Kind, rest.At = doc.Map, n.At
	if n.Kind != doc.Map {
		r.wrongKind(n, "a mapping with tool, path and a matcher")
		return p
	}
	for i := range n.Items {
		switch n.Names[i].Name {
		case "tool":
			p.Tool = r.str(&n.Items[i])
		case "path":
			p.Path = r.label(&n.Items[i])
		default:
			rest.Names, rest.Items = append(rest.Names, n.Names[i]), append(rest.Items, n.Items[i])
		}
	}
	if p.Tool == "" || p.Path == "" {
		r.problem(n.At, "incomplete", "{tool: get_weather, path: city, value: Paris}",
			"a tool parameter needs tool and path")
	}
	p.Matcher = r.matcher(&rest)
	return p
}
