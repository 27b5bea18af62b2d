// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import "strings"

// Report is what a judge of a target says of all its attempts. The judge wrote every text in it.
type Report struct {
	Grade           string       `json:"grade"`
	Strengths       []string     `json:"strengths"`
	Weaknesses      []string     `json:"weaknesses"`
	Recommendations []string     `json:"recommendations"`
	Tools           []ToolReport `json:"tools"`
}

// ToolReport is what it says of one tool.
type ToolReport struct {
	Tool string `json:"tool"`
	// Grade is "" where the judge gives none for the tool.
	Grade     string           `json:"grade,omitempty"`
	Note      string           `json:"note,omitempty"`
	Arguments []ArgumentReport `json:"arguments"`
}

// ArgumentReport is what it says of one argument of a tool.
type ArgumentReport struct {
	Argument string `json:"argument"`
	Note     string `json:"note,omitempty"`
}

// reportOf reads a report out of the object that has its grade.
func reportOf(o *node, grade string) *Report {
	texts := func(name string) []string { return append([]string{}, list(o, name)...) }
	r := &Report{Grade: grade, Strengths: texts("strengths"), Weaknesses: texts("weaknesses"), Recommendations: texts("recommendations"), Tools: []ToolReport{}}
	for _, t := range objectsOf(o, "tools") {
		one := ToolReport{Tool: base(first(t, "tool", "name")), Note: first(t, "note", "notes"), Arguments: []ArgumentReport{}}
		if g := strings.ToUpper(strings.TrimRight(first(t, "grade"), "+-")); len(g) == 1 && strings.Contains("ABCDF", g) {
			one.Grade = g
		}
		for _, a := range objectsOf(t, "arguments") {
			if name := first(a, "argument", "name"); name != "" {
				one.Arguments = append(one.Arguments, ArgumentReport{Argument: name, Note: first(a, "note", "notes")})
			}
		}
		if one.Tool != "" {
			r.Tools = append(r.Tools, one)
		}
	}
	return r
}

// objectsOf are the objects in the list that a key has.
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

// first is the first text that one of the keys has; "" for none.
func first(o *node, names ...string) string {
	for _, n := range o.get(names...) {
		if t := strings.TrimSpace(n.text); t != "" && !empty(t) {
			return t
		}
	}
	return ""
}

// Lists are the lists of a report under their titles, those of tools and arguments included; empty
// ones are left out.
func (r *Report) Lists() []ReportList {
	all := []ReportList{{"strengths", r.Strengths}, {"weaknesses", r.Weaknesses}, {"recommendations", r.Recommendations}}
	for _, t := range r.Tools {
		l := ReportList{Title: strings.TrimSpace("tool " + t.Tool + " " + t.Grade)}
		if t.Note != "" {
			l.Texts = append(l.Texts, t.Note)
		}
		for _, a := range t.Arguments {
			l.Texts = append(l.Texts, strings.TrimSuffix(a.Argument+": "+a.Note, ": "))
		}
		all = append(all, l)
	}
	out := []ReportList{}
	for _, l := range all {
		if len(l.Texts) > 0 || strings.HasPrefix(l.Title, "tool ") {
			out = append(out, l)
		}
	}
	return out
}

// ReportList are texts under a title.
type ReportList struct {
	Title string
	Texts []string
}
