// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

func forgeExpectKeys() []string {
	return []string{
		"toolsCalled", "toolsAcceptable", "toolsNotCalled", "toolParams", "noToolErrors", "minToolCalls", "maxToolCalls",
		"responseNonEmpty", "responseContains", "responseContainsAny", "responseNotContains", "responseMatches", "noUngroundedNumbers",
		"maxLatencyMs", "maxTokens", "maxCostUsd",
		// read by the format's own runner under these names
		"maxCost", "regexPattern", "noHallucinatedNumbers", "requiresPreamble", "jsonValid", "minLength", "maxLength", "schemaData", "requiredKeys", "typeChecks",
	}
}

// forgeExpect reads every assertion. Values whose tokens cannot be resolved are
// dropped and counted; a case that loses all it asserts is skipped.
func (r *reader) forgeExpect(o object, c *callvet.Case, tk *tokens) {
	v := o.get("expect")
	if !v.given() {
		if !o.get("rubric").given() {
			r.report(o.node.off, "asserts-nothing", "expect", "add expect with toolsCalled or another assertion", "the case has no expect, so it would pass whatever happens")
		}
		return
	}
	in, e := r.object(v, "expect", forgeExpectKeys()...), &c.Expect
	r.forgeRouting(in, e)
	t := &tokenReader{reader: r, tokens: tk}
	e.NoToolErrors, _ = in.boolean("noToolErrors")
	e.ResponseNonEmpty, _ = in.boolean("responseNonEmpty")
	e.ResponseContains = t.texts(in.get("responseContains"), "responseContains")
	e.ResponseNotContains = t.texts(in.get("responseNotContains"), "responseNotContains")
	e.ResponseContainsAny = t.groups(in.get("responseContainsAny"))
	e.ToolParams = t.toolParams(in)
	e.ResponseMatches = r.patterns(in)
	for _, k := range []string{"noUngroundedNumbers", "noHallucinatedNumbers"} {
		if on, _ := in.boolean(k); on {
			e.NoUngroundedNumbers = true
		}
	}
	e.MaxLatencyMS, e.MaxTokens = in.number("maxLatencyMs"), in.integer("maxTokens")
	if e.MaxCostUSD = in.number("maxCostUsd"); e.MaxCostUSD == nil {
		e.MaxCostUSD = in.number("maxCost")
	}
	for _, k := range []string{"requiresPreamble", "jsonValid", "minLength", "maxLength", "schemaData", "requiredKeys", "typeChecks"} {
		if in.get(k).given() {
			r.notCarried(in.at(k), k, "there is no such assertion here")
		}
	}
	e.SkippedAssertions = t.skipped
	if t.snapshots && c.Tier == callvet.TierRegression {
		r.warn(v.off, "snapshot-in-regression", "expect", "use {{seed:…}} tokens", "a regression case must not depend on a snapshot")
	}
	if t.skipped > 0 && !assertsAnything(e) {
		c.Skip = "nothing is left to assert: none of the tokens of the case could be resolved"
	}
}

// assertsAnything looks at the assertions this dialect can make.
func assertsAnything(e *callvet.Expect) bool {
	return e.ToolsCalled != nil || e.ToolsAcceptable != nil || len(e.ToolsNotCalled) > 0 || e.MinToolCalls != nil || e.MaxToolCalls != nil ||
		e.NoToolErrors || len(e.ToolParams) > 0 || e.ResponseNonEmpty || len(e.ResponseContains) > 0 || len(e.ResponseContainsAny) > 0 ||
		len(e.ResponseNotContains) > 0 || len(e.ResponseMatches) > 0 || e.NoUngroundedNumbers || e.MaxLatencyMS != nil || e.MaxTokens != nil || e.MaxCostUSD != nil ||
		e.Plans != nil
}

func (r *reader) forgeRouting(in object, e *callvet.Expect) {
	for _, k := range []string{"toolsCalled", "toolsAcceptable", "toolsNotCalled"} {
		r.noTokens(in.get(k), k)
	}
	e.ToolsCalled, e.ToolsNotCalled = in.strs("toolsCalled"), in.strs("toolsNotCalled")
	if v := in.get("toolsAcceptable"); v.given() {
		e.ToolsAcceptable = r.nameSets(v, "toolsAcceptable")
	}
	if e.ToolsCalled != nil && e.ToolsAcceptable != nil {
		r.report(in.at("toolsAcceptable"), "contradiction", "toolsAcceptable", "keep toolsCalled for an exact set, toolsAcceptable for alternatives",
			"toolsCalled and toolsAcceptable are both given")
	}
	e.MinToolCalls, e.MaxToolCalls = in.integer("minToolCalls"), in.integer("maxToolCalls")
}

// nameSets reads a list of lists of tool names.
func (r *reader) nameSets(v node, key string) [][]string {
	out := [][]string{}
	if v.kind() != '[' {
		r.report(v.off, "wrong-type", key, "", "%s must be a list of lists of names, not %s", key, kindName(v))
		return out
	}
	for _, e := range v.elements() {
		set := r.strs(e, key)
		if len(set) > 1 && slices.Contains(set, "__none__") {
			r.report(e.off, "contradiction", key, `write [["__none__"], …] as a set of its own`, `"__none__" stands for no tools and cannot be in a set with tools`)
		}
		out = append(out, set)
	}
	return out
}

func (r *reader) patterns(in object) []string {
	pats := in.strs("responseMatches")
	if p := in.str("regexPattern"); p != "" {
		pats = append(pats, p)
	}
	for _, p := range pats {
		if _, err := regexp.Compile(p); err != nil {
			r.report(in.at("responseMatches"), "bad-pattern", "responseMatches", "RE2 has no look-around and no back-references", "pattern %q does not compile: %v", p, err)
		}
	}
	return pats
}

// toolParams reads [{tool, paramName|param|path, assertion, value}] and the
// short form [{tool, param, equals: …}].
func (t *tokenReader) toolParams(in object) []callvet.ToolParam {
	var out []callvet.ToolParam
	kinds := []string{"equals", "contains", "oneOf", "exists", "notExists", "matches"}
	for _, n := range in.elements("toolParams") {
		o := t.object(n, "toolParams", append([]string{"tool", "paramName", "param", "path", "assertion", "value"}, kinds...)...)
		path, key := o.first("paramName", "param", "path")
		p := callvet.ToolParam{Tool: o.str("tool")}
		p.Path, _ = path.text()
		if p.Tool == "" || p.Path == "" {
			t.report(n.off, "missing-key", key, `write {"tool":…,"paramName":…,"assertion":"equals","value":…}`, "a toolParams entry needs a tool and a parameter")
			continue
		}
		kind, val := o.str("assertion"), o.get("value")
		for _, k := range kinds {
			if v := o.get(k); !v.absent() {
				kind, val = k, v
			}
		}
		if kind == "" && !val.absent() {
			kind = "equals"
		}
		raw, ok := t.value(val, "toolParams")
		if !ok {
			continue
		}
		switch kind {
		case "equals":
			p.Matcher = callvet.Matcher{Mode: "exact", Value: raw}
		case "contains":
			p.Matcher = callvet.Matcher{Mode: "contains", Value: raw}
		case "oneOf":
			p.Matcher = callvet.Matcher{Mode: "any_of", Value: raw}
		case "exists":
			p.Matcher = callvet.Matcher{Mode: "present"}
		case "notExists":
			p.Matcher = callvet.Matcher{Mode: "absent"}
		case "matches":
			p.Matcher = callvet.Matcher{Mode: "regex", Value: raw, Unanchored: true}
		default:
			t.report(o.at("assertion"), "unknown-mode", "assertion", "use "+strings.Join(kinds, ", "), "unknown assertion %q", kind)
			continue
		}
		if p.Matcher.Value == nil && kind != "exists" && kind != "notExists" {
			t.report(n.off, "missing-key", "value", "", "assertion %s of %s.%s has no value", kind, p.Tool, p.Path)
			continue
		}
		out = append(out, p)
	}
	return out
}
