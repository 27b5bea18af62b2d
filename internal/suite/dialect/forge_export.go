// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// metadata reads the envelope; it names the suite and is kept for export.
func (f *forgeReader) metadata() {
	if !f.meta.given() {
		return
	}
	o := f.object(f.meta, "metadata", "toolName", "toolVersion", "descriptionHash", "description", "registrySize", "generatedAt", "generatedBy",
		"tier", "overlapMapVersion", "_comment")
	if n := o.str("toolName"); n != "" {
		f.suite.Name = n
		if t := o.str("tier"); t != "" {
			f.suite.Name += " " + t
		}
	}
}

// staleness compares the metadata with the tools of today. Source: Eval Case
// Interfaces and its envelope: description hash, registry growth over half,
// and a new major version.
func (f *forgeReader) staleness() {
	if len(f.opt.Tools) == 0 {
		return
	}
	if !f.meta.given() {
		f.warn(0, "stale-unknown", "metadata", "", "the file has no metadata, so staleness cannot be detected")
		return
	}
	o := f.loose(f.meta)
	toolName := o.scalar("toolName")
	i := slices.IndexFunc(f.opt.Tools, func(t callvet.Tool) bool { return t.Name == toolName })
	if i < 0 {
		f.warn(o.at("toolName"), "stale-tool", "toolName", "", "the file was made for tool %q, which the registry no longer has", toolName)
	} else {
		f.staleTool(o, &f.opt.Tools[i])
	}
	if size := o.integer("registrySize"); size != nil && float64(len(f.opt.Tools)) > 1.5*float64(*size) {
		f.warn(o.at("registrySize"), "stale-registry", "registrySize", "review toolsAcceptable of the labeled cases",
			"the registry has grown from %d to %d tools; labeled evals may have under-specified toolsAcceptable sets", *size, len(f.opt.Tools))
	}
}

func (f *forgeReader) staleTool(o object, t *callvet.Tool) {
	sum := sha256.Sum256([]byte(t.Description))
	now := hex.EncodeToString(sum[:])[:12]
	if was := o.scalar("descriptionHash"); was != "" && was != now {
		f.warn(o.at("descriptionHash"), "stale-description", "descriptionHash", "revalidate the cases before treating failures as regressions",
			"generated against description hash %s, current is %s; results may not reflect the current routing contract", was, now)
	}
	if was := o.scalar("toolVersion"); was != "" && t.Version != "" && major(was) != major(t.Version) {
		f.warn(o.at("toolVersion"), "stale-version", "toolVersion", "", "tool is version %s, evals were generated for %s; the schema may have changed", t.Version, was)
	}
}

func major(version string) string {
	m, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	return m
}

func exportForge(s *callvet.Suite) ([]byte, []callvet.Problem, error) {
	f, same := readFrame(s, Forge)
	var problems []callvet.Problem
	tk := replay(f.get("tokens"))
	tier, _ := f.document.at("metadata", "tier").text()
	format := forgeFormat(tk, callvet.Tier(tier))
	if !same {
		problems = loseSuite(s)
		if len(s.Tools) > 0 {
			problems = append(problems, callvet.Problem{Code: "not-carried", Warning: true, Key: "tools", Message: fmt.Sprintf("%d tools are not carried: the format names tools only", len(s.Tools))})
		}
		if s.SystemPrompt != "" {
			problems = append(problems, callvet.Problem{Code: "not-carried", Warning: true, Key: "system_prompt", Message: "system_prompt is not carried: the format has no place for it"})
		}
	}
	cases := make([][]byte, len(s.Cases))
	for i := range s.Cases {
		orig, _ := trusted(s.Cases[i].Foreign)
		if !same {
			orig = node{}
		}
		var lost []callvet.Problem
		cases[i], lost = format.export(&s.Cases[i], orig)
		problems = append(problems, lost...)
	}
	out, err := pretty(forgeDocument(f, same, cases))
	return out, problems, err
}

func forgeDocument(f frame, same bool, cases [][]byte) []byte {
	switch {
	case !same || f.get("bare").kind() == 't':
		return array(cases)
	case f.document.has("cases"):
		return withMember(f.document, "cases", array(cases))
	}
	// The first n cases belong to shouldRouteIdentically.
	n := 0
	if _, err := fmt.Sscan(string(f.get("same").raw), &n); err != nil || n > len(cases) {
		n = len(cases)
	}
	doc := f.document
	for i, key := range []string{"shouldRouteIdentically", "shouldRouteDifferently"} {
		part := cases[:n]
		if i == 1 {
			part = cases[n:]
		}
		if v := doc.get(key); v.kind() == '{' {
			doc = node{raw: withMember(doc, key, withMember(v, "cases", array(part)))}
		}
	}
	return doc.raw
}

func writeForgeCase(c *callvet.Case, orig node) []byte {
	var o, in record
	writeID(&o, "id", c, orig)
	o.raw("description", quote(c.Description))
	if d := c.Fields["difficulty"]; d != "perturbation" || orig.has("difficulty") {
		o.str("difficulty", d)
	}
	o.str("createdAt", c.Fields["createdAt"])
	o.str("bugRef", c.Fields["bugRef"])
	o.strs("tags", c.Tags)
	in.raw("message", quote(userText(c)))
	o.raw("input", in.bytes())
	if len(c.Mocks) > 0 {
		o.raw("stubs", mockRecord(c.Mocks).bytes())
	}
	if c.MultiTurn != nil && c.MultiTurn.MaxRounds > 0 {
		o.integer("maxTurns", &c.MultiTurn.MaxRounds)
	}
	if e := writeForgeExpect(&c.Expect); len(e) > 0 || len(c.Expect.Rubric) == 0 {
		o.raw("expect", e.bytes())
	}
	o.raw("referenceData", c.Expect.ReferenceData)
	if len(c.Expect.Rubric) > 0 {
		items := make([][]byte, len(c.Expect.Rubric))
		for i, d := range c.Expect.Rubric {
			var r record
			r.str("dimension", d.Dimension)
			r.number("maxScore", &d.MaxScore)
			r.str("criteria", d.Criteria)
			items[i] = r.bytes()
		}
		o.raw("rubric", array(items))
	}
	return o.bytes()
}

// writeForgeExpect says a plan as the names it calls; features lists the rest as lost.
func writeForgeExpect(e *callvet.Expect) record {
	var o record
	called, acceptable := e.ToolsCalled, e.ToolsAcceptable
	if called == nil && acceptable == nil && len(e.Plans) > 0 {
		called, acceptable = planNames(e.Plans)
	}
	o.strs("toolsCalled", called)
	o.groups("toolsAcceptable", acceptable)
	if len(e.ToolsNotCalled) > 0 {
		o.strs("toolsNotCalled", e.ToolsNotCalled)
	}
	o.integer("minToolCalls", e.MinToolCalls)
	o.integer("maxToolCalls", e.MaxToolCalls)
	if len(e.ToolParams) > 0 {
		o.raw("toolParams", writeToolParams(e.ToolParams))
	}
	o.truth("noToolErrors", e.NoToolErrors)
	o.truth("responseNonEmpty", e.ResponseNonEmpty)
	o.strs("responseContains", e.ResponseContains)
	o.groups("responseContainsAny", e.ResponseContainsAny)
	o.strs("responseNotContains", e.ResponseNotContains)
	o.strs("responseMatches", e.ResponseMatches)
	o.truth("noUngroundedNumbers", e.NoUngroundedNumbers)
	o.number("maxLatencyMs", e.MaxLatencyMS)
	o.integer("maxTokens", e.MaxTokens)
	o.number("maxCostUsd", e.MaxCostUSD)
	return o
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
			acceptable[i] = []string{"__none__"}
		}
	}
	return nil, acceptable
}

func writeToolParams(params []callvet.ToolParam) []byte {
	kinds := map[string]string{"": "equals", "exact": "equals", "contains": "contains", "any_of": "oneOf", "present": "exists", "absent": "notExists", "regex": "matches"}
	items := make([][]byte, len(params))
	for i, p := range params {
		kind, ok := kinds[p.Matcher.Mode]
		if !ok {
			kind = "equals"
		}
		var o record
		o.str("tool", p.Tool)
		o.str("paramName", p.Path)
		o.str("assertion", kind)
		o.raw("value", p.Matcher.Value)
		items[i] = o.bytes()
	}
	return array(items)
}
