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
		"toolsCalled", "toolsAcceptable", "toolsNotCalled", "toolParams", "noToolErrors", "minToolCalls",
		"maxToolCalls",
		"responseNonEmpty", "responseContains", "responseContainsAny", "responseNotContains", "responseMatches",
		"noUngroundedNumbers",
		"maxLatencyMs", "maxTokens", "maxCostUsd",
		// read by the format's own runner under these names
		"maxCost", "regexPattern", "noHallucinatedNumbers", "requiresPreamble", "jsonValid", "minLength", "maxLength",
		"schemaData", "requiredKeys", "typeChecks",
	}
}

// forgeExpect reads every assertion. Values with tokens that cannot be resolved are set aside as
// not evaluated; a case that loses all it asserts is skipped.
func (r *reader) forgeExpect(o Object, c *callvet.Case, tk *tokens) {
	v := o.Get("expect")
	if !v.Given() {
		if !o.Get("rubric").Given() {
			r.Report(o.Node.Off, "asserts-nothing", "expect", "add expect with toolsCalled or another assertion",
				"the case has no expect, so it would pass whatever happens")
		}
		return
	}
	in, e := r.Object(v, "expect", forgeExpectKeys()...), &c.Expect
	r.forgeRouting(in, e)
	t := &tokenReader{reader: r, tokens: tk}
	e.NoToolErrors, _ = in.Boolean("noToolErrors")
	e.ResponseNonEmpty, _ = in.Boolean("responseNonEmpty")
	e.ResponseContains = t.texts(in.Get("responseContains"), "responseContains")
	e.ResponseNotContains = t.texts(in.Get("responseNotContains"), "responseNotContains")
	e.ResponseContainsAny = t.groups(in.Get("responseContainsAny"))
	e.ToolParams = t.toolParams(in)
	e.ResponseMatches = r.patterns(in)
	for _, k := range []string{"noUngroundedNumbers", "noHallucinatedNumbers"} {
		if on, _ := in.Boolean(k); on {
			e.NoUngroundedNumbers = true
		}
	}
	e.MaxLatencyMS, e.MaxTokens = in.Number("maxLatencyMs"), in.Integer("maxTokens")
	if e.MaxCostUSD = in.Number("maxCostUsd"); e.MaxCostUSD == nil {
		e.MaxCostUSD = in.Number("maxCost")
	}
	for _, k := range []string{
		"requiresPreamble", "jsonValid", "minLength", "maxLength", "schemaData", "requiredKeys",
		"typeChecks",
	} {
		if v := in.Get(k); v.Given() {
			r.NotEvaluated(in.At(k), e, k, "there is no such assertion here", string(v.Raw))
		}
	}
	e.Unsupported = append(e.Unsupported, t.dropped...)
	if t.snapshots && c.Tier == callvet.TierRegression {
		r.Report(v.Off, "snapshot-in-regression", "expect", "use {{seed:…}} tokens",
			"a regression case must not depend on a snapshot: it would not be the same the next day")
	}
	if len(t.dropped) > 0 && !AssertsAnything(e) {
		c.Skip = "nothing is left to assert: none of the tokens of the case could be resolved"
	}
}

func (r *reader) forgeRouting(in Object, e *callvet.Expect) {
	for _, k := range []string{"toolsCalled", "toolsAcceptable", "toolsNotCalled"} {
		r.noTokens(in.Get(k), k)
	}
	called := in.Strs("toolsCalled")
	e.ToolsNotCalled = in.Strs("toolsNotCalled")
	v := in.Get("toolsAcceptable")
	switch {
	case called != nil && v.Given():
		r.Report(in.At("toolsAcceptable"), "contradiction", "toolsAcceptable",
			"keep toolsCalled for an exact set, toolsAcceptable for alternatives",
			"toolsCalled and toolsAcceptable are both given")
	case called != nil && len(called) == 0:
		e.ToolsAcceptable = [][]string{{callvet.NoTools}}
	case called != nil: // a set: a tool of it may be called again
		e.ToolsAcceptable = [][]string{called}
	case v.Given():
		e.ToolsAcceptable = r.nameSets(v, "toolsAcceptable")
	}
	e.MinToolCalls, e.MaxToolCalls = in.Integer("minToolCalls"), in.Integer("maxToolCalls")
}

// nameSets reads a list of lists of tool names.
func (r *reader) nameSets(v Node, key string) [][]string {
	out := [][]string{}
	if v.Kind() != '[' {
		r.Report(v.Off, "wrong-type", key, "", "%s must be a list of lists of names, not %s", key, KindName(v))
		return out
	}
	for _, e := range v.Elements() {
		set := r.Strs(e, key)
		if len(set) > 1 && slices.Contains(set, callvet.NoTools) {
			r.Report(e.Off, "contradiction", key, `write [["__none__"], …] as a set of its own`,
				`"__none__" stands for no tools and cannot be in a set with tools`)
		}
		out = append(out, set)
	}
	return out
}

func (r *reader) patterns(in Object) []string {
	pats := in.Strs("responseMatches")
	if p := in.Str("regexPattern"); p != "" {
		pats = append(pats, p)
	}
	for _, p := range pats {
		if _, err := regexp.Compile(p); err != nil {
			r.Report(in.At("responseMatches"), "bad-pattern", "responseMatches",
				"RE2 has no look-around and no back-references", "pattern %q does not compile: %v", p, err)
		}
	}
	return pats
}

// toolParams reads [{tool, paramName|param|path, assertion, value}] and the
// short form [{tool, param, equals: …}].
func (t *tokenReader) toolParams(in Object) []callvet.ToolParam {
	var out []callvet.ToolParam
	kinds := []string{"equals", "contains", "oneOf", "exists", "notExists", "matches"}
	for _, n := range in.Elements("toolParams") {
		o := t.Object(n, "toolParams",
			append([]string{"tool", "paramName", "param", "path", "assertion", "value"}, kinds...)...)
		path, key := o.First("paramName", "param", "path")
		p := callvet.ToolParam{Tool: o.Str("tool")}
		p.Path, _ = path.Text()
		if p.Tool == "" || p.Path == "" {
			t.Report(n.Off, "missing-key", key, `write {"tool":…,"paramName":…,"assertion":"equals","value":…}`,
				"a toolParams entry needs a tool and a parameter")
			continue
		}
		kind, val := o.Str("assertion"), o.Get("value")
		for _, k := range kinds {
			if v := o.Get(k); !v.Absent() {
				kind, val = k, v
			}
		}
		if kind == "" && !val.Absent() {
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
			t.Report(o.At("assertion"), "unknown-mode", "assertion", "use "+strings.Join(kinds, ", "),
				"unknown assertion %q", kind)
			continue
		}
		if p.Matcher.Value == nil && kind != "exists" && kind != "notExists" {
			t.Report(n.Off, "missing-key", "value", "", "assertion %s of %s.%s has no value", kind, p.Tool, p.Path)
			continue
		}
		out = append(out, p)
	}
	return out
}
