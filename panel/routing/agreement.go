// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package routing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Selected is the selection for a question.
type Selected struct {
	Query    string   `json:"-"`
	Tools    []string `json:"tools"` // best first; empty: none
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Case is the case with the question, Want its expected selection; "" and nil where unknown.
	Case string             `json:"-"`
	Want *callvet.Selection `json:"-"`
}

// Likeness is how the selection of production relates to the selection of the evaluation.
type Likeness string

// The likenesses, the largest difference first.
const (
	Disjoint  Likeness = "disjoint"  // no tool is on both sides, or one side is empty
	Overlap   Likeness = "overlap"   // some tools are on both sides
	Contained Likeness = "contained" // all tools of production are among those of the evaluation
	Reordered Likeness = "reordered" // the same tools in another order
	Same      Likeness = "same"      // the same tools in the same order
)

// Likenesses are all values, the largest difference first.
func Likenesses() []Likeness { return []Likeness{Disjoint, Overlap, Contained, Reordered, Same} }

// AgreementPair is a selection of production for a question, with its count, and the selection of
// the evaluation.
type AgreementPair struct {
	Query    string   `json:"query"`
	Case     string   `json:"case,omitempty"`
	Times    int      `json:"times"`
	Likeness Likeness `json:"likeness"`
	// FirstSame: both have the same first tool, or none. RouteDiffers: both decided a route, and
	// the routes differ.
	FirstSame    bool     `json:"first_same"`
	RouteDiffers bool     `json:"route_differs,omitempty"`
	Production   Selected `json:"production"`
	Evaluation   Selected `json:"evaluation"`
	// Want is the expected selection. ProductionRight and EvaluationRight: the first tool is
	// expected or accepted, or there is none where none fits; nil where nothing is expected.
	Want            *callvet.Selection `json:"want,omitempty"`
	ProductionRight *bool              `json:"production_right,omitempty"`
	EvaluationRight *bool              `json:"evaluation_right,omitempty"`
}

// Agreement compares decisions of production with those of an evaluation on the same questions.
type Agreement struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Queries is the number of different questions on both sides, Decisions the number of
	// production's decisions on them. OnlyProduction and OnlyEvaluation count questions on one side
	// only.
	Queries        int `json:"queries"`
	Decisions      int `json:"decisions"`
	OnlyProduction int `json:"only_production"`
	OnlyEvaluation int `json:"only_evaluation"`
	// Likenesses counts decisions of production, the largest difference first.
	Likenesses []panel.Count `json:"likenesses"`
	// SameTools is the share of decisions with the same tools, in any order; First the share with
	// the same first tool.
	SameTools stats.Interval `json:"same_tools"`
	First     stats.Interval `json:"same_first_tool"`
	// Right compares how often the first tool is right, question by question, with production as
	// the baseline; nil where no question has an expectation.
	Right *panel.Difference `json:"first_tool_right,omitempty"`
	// Pairs are sorted by difference, the largest first, and then by frequency.
	Pairs []AgreementPair `json:"pairs"`
}

// Agree compares the selections of production with those of an evaluation.
//
// Unit of analysis: a decision of production, clustered by its question. Questions are compared
// by their text without white space around it. Where the evaluation has several decisions on a
// question, its first decision counts. Rates are in [0,1]; they are undefined where no question
// is on both sides. Source: Tool Selection Evaluation System, "Future Enhancements".
func Agree(production, evaluation []Selected) *Agreement {
	out := &Agreement{Format: "callvet.decisions", Version: 1, Pairs: []AgreementPair{}}
	asked, used := map[string]*Selected{}, map[string]bool{}
	for i := range evaluation {
		if q := strings.TrimSpace(evaluation[i].Query); asked[q] == nil {
			asked[q] = &evaluation[i]
		}
	}
	only := map[string]bool{}
	pairs := map[string]*AgreementPair{}
	byQuery := map[string][]*AgreementPair{}
	var order []string
	for i := range production {
		p := &production[i]
		q := strings.TrimSpace(p.Query)
		e := asked[q]
		if e == nil {
			only[q] = true
			continue
		}
		if out.Decisions++; !used[q] {
			used[q] = true
			order = append(order, q)
		}
		key := strings.Join(append(append([]string{q, p.Route, p.SubRoute}, p.Agents...),
			append([]string{"\x00"}, p.Tools...)...), "\x01")
		if pairs[key] == nil {
			pairs[key] = pairOf(p, e)
			byQuery[q] = append(byQuery[q], pairs[key])
		}
		pairs[key].Times++
	}
	out.Queries, out.OnlyProduction, out.OnlyEvaluation = len(used), len(only), len(asked)-len(used)
	for _, q := range order {
		for _, p := range byQuery[q] {
			out.Pairs = append(out.Pairs, *p)
		}
	}
	out.sum(order, byQuery)
	rank := map[Likeness]int{}
	for i, l := range Likenesses() {
		rank[l] = i
	}
	slices.SortStableFunc(out.Pairs, func(a, b AgreementPair) int {
		return cmp.Or(cmp.Compare(rank[a.Likeness], rank[b.Likeness]), cmp.Compare(b.Times, a.Times),
			strings.Compare(a.Query, b.Query))
	})
	return out
}

// sum fills in the rates, over the questions in this order.
func (b *Agreement) sum(order []string, byQuery map[string][]*AgreementPair) {
	counts := map[Likeness]int{}
	var alike, first stats.Clusters
	var before, after []panel.Share
	for _, q := range order {
		n, tools, firsts := 0, 0, 0
		was, is := panel.Share{Binary: true}, panel.Share{Binary: true}
		for _, p := range byQuery[q] {
			n += p.Times
			counts[p.Likeness] += p.Times
			if p.Likeness == Same || p.Likeness == Reordered {
				tools += p.Times
			}
			if p.FirstSame {
				firsts += p.Times
			}
			if p.ProductionRight != nil {
				was.N, is.N = was.N+p.Times, is.N+p.Times
				if *p.ProductionRight {
					was.Sum += float64(p.Times)
				}
				if *p.EvaluationRight {
					is.Sum += float64(p.Times)
				}
			}
		}
		alike.Add(float64(tools), n, true)
		first.Add(float64(firsts), n, true)
		before, after = append(before, was), append(after, is)
	}
	for _, l := range Likenesses() {
		b.Likenesses = append(b.Likenesses, panel.Count{Name: string(l), N: counts[l]})
	}
	b.SameTools, b.First = alike.Interval(0.95, stats.DefaultRho0), first.Interval(0.95, stats.DefaultRho0)
	if slices.ContainsFunc(before, func(s panel.Share) bool { return s.N > 0 }) {
		d := panel.Paired(before, after, 0.95)
		b.Right = &d
	}
}

func pairOf(p, e *Selected) *AgreementPair {
	out := &AgreementPair{
		Query: p.Query, Case: e.Case, Likeness: likeness(p.Tools, e.Tools),
		FirstSame: firstOf(p.Tools) == firstOf(e.Tools),
		RouteDiffers: p.Route != "" && e.Route != "" &&
			(p.Route != e.Route || p.SubRoute != "" && e.SubRoute != "" && p.SubRoute != e.SubRoute),
		Production: *p, Evaluation: *e, Want: e.Want,
	}
	if e.Want != nil {
		was, is := firstRight(e.Want, p.Tools), firstRight(e.Want, e.Tools)
		out.ProductionRight, out.EvaluationRight = &was, &is
	}
	return out
}

func firstOf(tools []string) string {
	if len(tools) == 0 {
		return ""
	}
	return tools[0]
}

func firstRight(want *callvet.Selection, tools []string) bool {
	if len(tools) == 0 {
		return len(want.Tools) == 0
	}
	return slices.Contains(want.Tools, tools[0]) || slices.Contains(want.Acceptable, tools[0])
}

func likeness(production, evaluation []string) Likeness {
	shared := 0
	for _, t := range production {
		if slices.Contains(evaluation, t) {
			shared++
		}
	}
	switch {
	case slices.Equal(production, evaluation):
		return Same
	case shared == 0:
		return Disjoint
	case shared == len(production) && shared == len(evaluation):
		return Reordered
	case shared == len(production):
		return Contained
	}
	return Overlap
}
