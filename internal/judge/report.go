// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"strings"

	"github.com/callvet/callvet"
)

// reportOf reads a report from the object with its grade.
func reportOf(o *node, grade string) *callvet.JudgeReport {
	texts := func(name string) []string { return append([]string{}, list(o, name)...) }
	r := &callvet.JudgeReport{
		Grade: grade, Strengths: texts("strengths"), Weaknesses: texts("weaknesses"),
		Recommendations: texts("recommendations"), Tools: []callvet.ToolReport{},
	}
	for _, t := range objectsOf(o, "tools") {
		one := callvet.ToolReport{
			Tool: base(first(t, "tool", "name")), Note: first(t, "note", "notes"),
			Arguments: []callvet.ArgumentReport{},
		}
		if g := strings.ToUpper(strings.TrimRight(first(t, "grade"), "+-")); len(g) == 1 &&
			strings.Contains("ABCDF", g) {
			one.Grade = g
		}
		for _, a := range objectsOf(t, "arguments") {
			if name := first(a, "argument", "name"); name != "" {
				one.Arguments = append(one.Arguments,
					callvet.ArgumentReport{Argument: name, Note: first(a, "note", "notes")})
			}
		}
		if one.Tool != "" {
			r.Tools = append(r.Tools, one)
		}
	}
	return r
}

// objectsOf are the objects in the list under a key.
func objectsOf(o *node, name string) []*node {
	var out []*node
	for _, n := range o.get(name) {
		for i := range n.kids {
			if n.kind == listNode && n.kids[i].kind == objectNode {
				out = append(out, &n.kids[i])
			}
		}
	}
	return out
}

// first is the first text under one of the keys; "" for none.
func first(o *node, names ...string) string {
	for _, n := range o.get(names...) {
		if t := strings.TrimSpace(n.text); t != "" && !empty(t) {
			return t
		}
	}
	return ""
}
