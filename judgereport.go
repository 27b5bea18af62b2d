// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet

import "strings"

// JudgeReport is the report of a judge on all attempts of a target. The judge wrote every text in it.
type JudgeReport struct {
	Grade           string       `json:"grade"`
	Strengths       []string     `json:"strengths"`
	Weaknesses      []string     `json:"weaknesses"`
	Recommendations []string     `json:"recommendations"`
	Tools           []ToolReport `json:"tools"`
}

// ToolReport is the part about one tool.
type ToolReport struct {
	Tool string `json:"tool"`
	// Grade is "" where the judge graded no calls of the tool.
	Grade     string           `json:"grade,omitempty"`
	Note      string           `json:"note,omitempty"`
	Arguments []ArgumentReport `json:"arguments"`
}

// ArgumentReport is the part about one argument of a tool.
type ArgumentReport struct {
	Argument string `json:"argument"`
	Note     string `json:"note,omitempty"`
}

// Lists are the lists of a report under their titles, those of tools and arguments included; empty
// ones are left out.
func (r *JudgeReport) Lists() []ReportList {
	all := []ReportList{
		{"strengths", r.Strengths},
		{"weaknesses", r.Weaknesses},
		{"recommendations", r.Recommendations},
	}
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
