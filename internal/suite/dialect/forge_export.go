// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// metadata reads the envelope; it names the suite and is kept for export.
func (f *forgeReader) metadata() {
	if !f.meta.Given() {
		return
	}
	o := f.Object(f.meta, "metadata", "toolName", "toolVersion", "descriptionHash", "description", "registrySize",
		"generatedAt", "generatedBy",
		"tier", "overlapMapVersion", "_comment")
	if n := o.Str("toolName"); n != "" {
		f.suite.Name = n
		if t := o.Str("tier"); t != "" {
			f.suite.Name += " " + t
		}
	}
}

func exportForge(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := ReadFrame(s, Forge)
	var problems []callvet.Problem
	tk := replay(f.Get("tokens"))
	tier, _ := f.Document.At("metadata", "tier").Text()
	format := forgeFormat(tk, callvet.Tier(tier))
	if !same {
		problems = LoseSuite(s)
		if len(s.Tools) > 0 {
			problems = append(problems,
				callvet.Problem{
					Code: "not-carried", Warning: true, Key: "tools",
					Message: fmt.Sprintf("%d tools are not carried: the format names tools only", len(s.Tools)),
				})
		}
		if s.SystemPrompt != "" {
			problems = append(problems,
				callvet.Problem{
					Code: "not-carried", Warning: true, Key: "system_prompt",
					Message: "system_prompt is not carried: the format has no place for it",
				})
		}
	}
	cases, lost := format.ExportAll(s.Cases, same)
	problems = append(problems, lost...)
	out, err := Pretty(forgeDocument(f, same, cases))
	return out, problems, err
}

func forgeDocument(f Frame, same bool, cases [][]byte) []byte {
	switch {
	case !same || f.Get("bare").Kind() == 't':
		return Array(cases)
	case f.Document.Has("cases"):
		return WithMember(f.Document, "cases", Array(cases))
	}
	// The first n cases belong to shouldRouteIdentically.
	n := 0
	if _, err := fmt.Sscan(string(f.Get("same").Raw), &n); err != nil || n > len(cases) {
		n = len(cases)
	}
	doc := f.Document
	for i, key := range []string{"shouldRouteIdentically", "shouldRouteDifferently"} {
		part := cases[:n]
		if i == 1 {
			part = cases[n:]
		}
		if v := doc.Get(key); v.Kind() == '{' {
			doc = Node{Raw: WithMember(doc, key, WithMember(v, "cases", Array(part)))}
		}
	}
	return doc.Raw
}

func writeForgeCase(c *callvet.Case, orig Node) []byte {
	var o, in Record
	WriteID(&o, "id", c, orig)
	o.Raw("description", Quote(c.Description))
	if d := c.Fields["difficulty"]; d != "perturbation" || orig.Has("difficulty") {
		o.Str("difficulty", d)
	}
	o.Str("createdAt", c.Fields["createdAt"])
	o.Str("bugRef", c.Fields["bugRef"])
	o.Strs("tags", c.Tags)
	in.Raw("message", Quote(UserText(c)))
	o.Raw("input", in.Bytes())
	if len(c.Mocks) > 0 {
		o.Raw("stubs", mockRecord(c.Mocks).Bytes())
	}
	if c.MultiTurn != nil && c.MultiTurn.MaxRounds > 0 {
		o.Integer("maxTurns", &c.MultiTurn.MaxRounds)
	}
	if e := writeForgeExpect(&c.Expect, orig.At("expect").Has("toolsAcceptable")); len(e) > 0 ||
		len(c.Expect.Rubric) == 0 {
		o.Raw("expect", e.Bytes())
	}
	o.Raw("referenceData", c.Expect.ReferenceData)
	if len(c.Expect.Rubric) > 0 {
		items := make([][]byte, len(c.Expect.Rubric))
		for i, d := range c.Expect.Rubric {
			var r Record
			r.Str("dimension", d.Dimension)
			r.Number("maxScore", &d.MaxScore)
			r.Str("criteria", d.Criteria)
			items[i] = r.Bytes()
		}
		o.Raw("rubric", Array(items))
	}
	return o.Bytes()
}

// writeForgeExpect writes a plan as the names that it calls; features lists the rest as lost. sets
// keeps a single set of names in toolsAcceptable.
func writeForgeExpect(e *callvet.Expect, sets bool) Record {
	var o Record
	called, acceptable, least, most := forgeNames(e)
	if len(acceptable) == 1 && !slices.Contains(acceptable[0], callvet.NoTools) && len(acceptable[0]) > 0 && !sets {
		called, acceptable = acceptable[0], nil
	}
	o.Strs("toolsCalled", called)
	o.Groups("toolsAcceptable", acceptable)
	if len(e.ToolsNotCalled) > 0 {
		o.Strs("toolsNotCalled", e.ToolsNotCalled)
	}
	o.Integer("minToolCalls", least)
	o.Integer("maxToolCalls", most)
	if len(e.ToolParams) > 0 {
		o.Raw("toolParams", writeToolParams(e.ToolParams))
	}
	o.Truth("noToolErrors", e.NoToolErrors)
	o.Truth("responseNonEmpty", e.ResponseNonEmpty)
	o.Strs("responseContains", e.ResponseContains)
	o.Groups("responseContainsAny", e.ResponseContainsAny)
	o.Strs("responseNotContains", e.ResponseNotContains)
	o.Strs("responseMatches", e.ResponseMatches)
	o.Truth("noUngroundedNumbers", e.NoUngroundedNumbers)
	o.Number("maxLatencyMs", e.MaxLatencyMS)
	o.Integer("maxTokens", e.MaxTokens)
	o.Number("maxCostUsd", e.MaxCostUSD)
	return o
}

// forgeNames are the names that a case expects, and the bounds of the number of calls. toolsCalled is
// a set, so that a multiset needs both bounds.
func forgeNames(e *callvet.Expect) (called []string, acceptable [][]string, least, most *int) {
	called, acceptable, least, most = e.ToolsCalled, e.ToolsAcceptable, e.MinToolCalls, e.MaxToolCalls
	if called == nil && acceptable == nil && len(e.Plans) > 0 {
		called, acceptable = planNames(e.Plans)
	}
	if called == nil {
		return called, acceptable, least, most
	}
	n := len(called)
	var names []string
	for _, name := range called {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n > len(names) && (least == nil || *least < n) {
		least = &n
	}
	if exact := e.ToolsCalled != nil || exactPlan(&e.Plans[0]); exact && (most == nil || *most > n) {
		most = &n
	}
	if n == 0 {
		return nil, [][]string{{callvet.NoTools}}, least, e.MaxToolCalls
	}
	return names, nil, least, most
}

// exactPlan reports whether a plan allows no calls except its own.
func exactPlan(p *callvet.Plan) bool {
	return p.Order != callvet.OrderSuperset && p.Order != callvet.OrderRecall &&
		(p.MaxExtraCalls == nil || *p.MaxExtraCalls == 0)
}

// planNames: one plan is an exact multiset, several are acceptable sets.
func planNames(plans []callvet.Plan) (called []string, acceptable [][]string) {
	for i := range plans {
		names := []string{}
		for j := range plans[i].Calls {
			names = append(names, plans[i].Calls[j].Tools[:min(1, len(plans[i].Calls[j].Tools))]...)
		}
		acceptable = append(acceptable, names)
	}
	if len(acceptable) == 1 && len(acceptable[0]) > 0 {
		return acceptable[0], nil
	}
	for i := range acceptable {
		if len(acceptable[i]) == 0 {
			acceptable[i] = []string{callvet.NoTools}
		}
	}
	return nil, acceptable
}

func writeToolParams(params []callvet.ToolParam) []byte {
	kinds := map[string]string{
		"": "equals", "exact": "equals", "contains": "contains", "any_of": "oneOf",
		"present": "exists", "absent": "notExists", "regex": "matches",
	}
	items := make([][]byte, len(params))
	for i, p := range params {
		kind, ok := kinds[p.Matcher.Mode]
		if !ok {
			kind = "equals"
		}
		var o Record
		o.Str("tool", p.Tool)
		o.Str("paramName", p.Path)
		o.Str("assertion", kind)
		o.Raw("value", p.Matcher.Value)
		items[i] = o.Bytes()
	}
	return Array(items)
}

// Envelope is the metadata of an eval file of Eval Case Interfaces, as JSON; nil for a file
// without, and for one of another form.
func Envelope(data []byte, name string) []byte {
	if !bytes.Contains(data, []byte(`"metadata"`)) {
		return nil
	}
	src, err := Open(data, name)
	if err != nil || len(src.Values) != 1 || detect(src) != Forge {
		return nil
	}
	return slices.Clone(src.Values[0].Get("metadata").Raw)
}
