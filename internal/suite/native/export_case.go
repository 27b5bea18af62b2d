// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

func exportCase(b builder, c *callvet.Case) {
	b.str("id", c.ID)
	b.str("description", c.Description)
	b.str("tier", string(c.Tier))
	b.list("tags", c.Tags)
	b.labels("fields", c.Fields)
	b.str("as_of", c.AsOf)
	b.str("skip", c.Skip)
	b.yes("selectable", c.Selectable)
	b.num("repeat", c.Repeat)
	b.str("context", c.Context)
	if len(c.Input) == 1 &&
		reflect.DeepEqual(c.Input[0], callvet.Turn{Role: callvet.RoleUser, Content: c.Input[0].Content}) {
		b.put("prompt", textNode(c.Input[0].Content))
	} else {
		children(b, "messages", c.Input, exportTurn)
	}
	if c.Tools != nil {
		children(b, "tools", c.Tools, exportTool)
	} else {
		b.list("tools", c.ToolNames)
	}
	b.str("tool_choice", c.ToolChoice)
	if c.Scoring != nil {
		b.put("scoring", *exportScoring(b, c.Scoring).n)
	}
	if c.MultiTurn != nil {
		exportMulti(b, c.MultiTurn)
	}
	children(b, "mocks", c.Mocks, exportMock)
	exportFaults(b, c.Faults)
	if c.Safety != nil {
		exportSafety(b, c.Safety)
	}
	e := b.child()
	exportExpect(e, &c.Expect)
	b.obj("expect", e)
	b.json("foreign", c.Foreign)
}

func exportMulti(b builder, m *callvet.MultiTurn) {
	c := b.child()
	c.num("max_rounds", m.MaxRounds)
	c.num("optimal_hops", m.OptimalHops)
	c.list("valid_prerequisites", m.ValidPrerequisites)
	c.list("required_prerequisites", m.RequiredPrerequisites)
	c.yes("prerequisites_ordered", m.PrerequisitesOrdered)
	c.labels("argument_source", m.ArgumentSource)
	if len(c.n.Items) == 0 {
		b.yes("multi_turn", true)
		return
	}
	b.obj("multi_turn", c)
}

func exportTurn(b builder, t *callvet.Turn) {
	b.str("role", string(t.Role))
	b.str("content", t.Content)
	b.str("reasoning", t.Reasoning)
	b.str("call_id", t.CallID)
	b.str("tool", t.Tool)
	children(b, "calls", t.Calls, func(b builder, c *callvet.Call) {
		b.str("id", c.ID)
		b.str("tool", c.Tool)
		b.str("version", c.Version)
		b.json("args", c.Args)
		b.str("args_raw", c.ArgsRaw)
		b.list("repairs", c.Repairs)
		b.str("status", string(c.Status))
		b.json("result", c.Result)
		b.str("error", c.Error)
		b.float("start_ms", c.StartMS)
		b.floatValue("queue_ms", c.QueueMS)
		b.floatValue("exec_ms", c.ExecMS)
	})
	b.json("raw", t.Raw)
}

func exportExpect(b builder, e *callvet.Expect) {
	switch {
	case len(e.Plans) == 1 && reflect.DeepEqual(e.Plans[0], callvet.Plan{Calls: []callvet.ExpectedCall{}}):
		b.yes("no_call", true)
	case len(e.Plans) == 1 && e.Plans[0].Name == "" && len(e.Plans[0].Calls) > 0:
		exportPlan(b, &e.Plans[0])
	default:
		children(b, "any_of", e.Plans, exportPlan)
	}
	b.list("tools_called", e.ToolsCalled)
	b.groups("tools_acceptable", e.ToolsAcceptable)
	b.list("tools_not_called", e.ToolsNotCalled)
	b.numPtr("min_tool_calls", e.MinToolCalls)
	b.numPtr("max_tool_calls", e.MaxToolCalls)
	children(b, "counts", e.Counts, exportCount)
	children(b, "all_of", e.AllOf, exportClaim)
	children(b, "not", e.Not, exportClaim)
	b.numPtr("max_same_calls", e.MaxSameCalls)
	b.numPtr("max_requests", e.MaxRequests)
	exportScores(b, e.MinScores)
	b.yes("no_tool_errors", e.NoToolErrors)
	b.list("postconditions", e.Postconditions)
	children(b, "tool_params", e.ToolParams, func(b builder, p *callvet.ToolParam) {
		b.str("tool", p.Tool)
		b.str("path", p.Path)
		m := exportMatcher(b, &p.Matcher)
		if m.Kind != doc.Map {
			b.put("value", m)
			return
		}
		for i := range m.Items {
			b.put(m.Names[i].Name, m.Items[i])
		}
	})
	r := b.child()
	r.yes("non_empty", e.ResponseNonEmpty)
	r.list("contains", e.ResponseContains)
	r.groups("contains_any", e.ResponseContainsAny)
	r.list("not_contains", e.ResponseNotContains)
	r.list("matches", e.ResponseMatches)
	if e.ResponseJSON != nil {
		r.put("json", exportMatcher(r, e.ResponseJSON))
	}
	r.yes("no_ungrounded_numbers", e.NoUngroundedNumbers)
	b.obj("response", r)
	if s := e.Selection; s != nil {
		c := b.child()
		c.str("route", s.Route)
		c.str("sub_route", s.SubRoute)
		c.list("agents", s.Agents)
		c.list("tools", s.Tools)
		c.list("acceptable", s.Acceptable)
		b.obj("selection", c)
	}
	b.float("max_latency_ms", e.MaxLatencyMS)
	b.numPtr("max_tokens", e.MaxTokens)
	b.float("max_cost_usd", e.MaxCostUSD)
	children(b, "unsupported", e.Unsupported, func(b builder, u *callvet.Unsupported) {
		b.str("name", u.Name)
		b.str("reason", u.Reason)
		b.str("expected", u.Expected)
	})
	children(b, "rubric", e.Rubric, func(b builder, d *callvet.RubricDimension) {
		b.str("dimension", d.Dimension)
		b.float("max_score", &d.MaxScore)
		b.str("criteria", d.Criteria)
		b.float("threshold", d.Threshold)
	})
	children(b, "scorers", e.Scorers, exportScorer)
	b.json("reference_data", e.ReferenceData)
}

func exportScores(b builder, scores map[string]float64) {
	least := b.child()
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		v := scores[name]
		least.float(name, &v)
	}
	b.obj("min_scores", least)
}

func exportCount(b builder, c *callvet.CallCount) {
	exportCall(b, &c.Call)
	b.numPtr("min", c.Min)
	b.numPtr("max", c.Max)
}

func exportClaim(b builder, p *callvet.Plan) {
	if p.Calls == nil {
		b.str("name", p.Name)
	} else {
		exportPlan(b, p)
	}
	children(b, "counts", p.Counts, exportCount)
	exportScores(b, p.MinScores)
}

func exportPlan(b builder, p *callvet.Plan) {
	b.str("name", p.Name)
	b.str("order", string(p.Order))
	b.numPtr("max_extra_calls", p.MaxExtraCalls)
	n := doc.Node{Kind: doc.List}
	for i := range p.Calls {
		c := b.child()
		exportCall(c, &p.Calls[i])
		n.Items = append(n.Items, *c.n)
	}
	b.put("calls", n)
}

func exportCall(b builder, c *callvet.ExpectedCall) {
	b.str("id", c.ID)
	if len(c.Tools) == 1 {
		b.str("tool", c.Tools[0])
	} else {
		b.list("tool", c.Tools)
	}
	b.json("args", c.Args)
	m := b.child()
	for _, name := range slices.Sorted(maps.Keys(c.Matchers)) {
		matcher := c.Matchers[name]
		m.put(name, exportMatcher(b, &matcher))
	}
	b.obj("params", m)
	b.str("extra_args", string(c.ExtraArgs))
	b.num("nth", c.Nth)
	b.num("message", c.Message)
	b.list("after", c.After)
	b.yes("optional", c.Optional)
	b.json("result", c.Result)
	b.str("result_check", c.ResultCheck)
}

// exportMatcher writes the shortest form that reads back as m.
func exportMatcher(b builder, m *callvet.Matcher) doc.Node {
	c := b.child()
	word := m.Mode
	if word == "numeric_tolerance" {
		word = "numeric"
	}
	switch {
	case m.Mode == "":
		if reflect.DeepEqual(*m, callvet.Matcher{Value: m.Value}) && m.Value != nil &&
			!bytes.HasPrefix(bytes.TrimSpace(m.Value), []byte("{")) {
			c.json("value", m.Value)
			if len(c.n.Items) == 1 {
				return c.n.Items[0]
			}
			return *c.n
		}
		c.json("value", m.Value)
	case (word == "present" || word == "absent") && m.Value == nil:
		c.yes(word, true)
	case isWord(word) && m.Value != nil && word != "present" && word != "absent" &&
		(word != "unordered" || !m.Unordered && isList(m.Value)):
		c.json(word, m.Value)
	default:
		c.str("mode", m.Mode)
		c.json("value", m.Value)
	}
	c.yes("optional", m.Optional)
	c.float("epsilon", m.Epsilon)
	c.float("relative", m.Relative)
	c.float("threshold", m.Threshold)
	c.str("tolerance", m.Tolerance)
	c.yes("unanchored", m.Unanchored)
	c.yes("unordered", m.Unordered)
	return *c.n
}

func isList(raw []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }
