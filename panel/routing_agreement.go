// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// RoutingSelected is the selection for a question.
type RoutingSelected struct {
	Query    string   `json:"-"`
	Tools    []string `json:"tools"` // best first; empty: none
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Case is the case with the question, Want its expected selection; "" and nil where unknown.
	Case string             `json:"-"`
	Want *callvet.Selection `json:"-"`
}

// RoutingLikeness is how the selection of production relates to the selection of the evaluation.
type RoutingLikeness string

// The likenesses, the largest difference first.
const (
	RoutingDisjoint  RoutingLikeness = "disjoint"  // no tool is on both sides, or one side is empty
	RoutingOverlap   RoutingLikeness = "overlap"   // some tools are on both sides
	RoutingContained RoutingLikeness = "contained" // all tools of production are among those of the evaluation
	RoutingReordered RoutingLikeness = "reordered" // the same tools in another order
	RoutingSame      RoutingLikeness = "same"      // the same tools in the same order
)

// RoutingLikenesses are all values, the largest difference first.
func RoutingLikenesses() []RoutingLikeness {
	return []RoutingLikeness{RoutingDisjoint, RoutingOverlap, RoutingContained, RoutingReordered, RoutingSame}
}

// RoutingAgreementPair is a selection of production for a question, with its count, and the selection of
// the evaluation.
type RoutingAgreementPair struct {
	Query    string          `json:"query"`
	Case     string          `json:"case,omitempty"`
	Times    int             `json:"times"`
	Likeness RoutingLikeness `json:"likeness"`
	// FirstSame: both have the same first tool, or none. RouteDiffers: both decided a route, and
	// the routes differ.
	FirstSame    bool            `json:"first_same"`
	RouteDiffers bool            `json:"route_differs,omitempty"`
	Production   RoutingSelected `json:"production"`
	Evaluation   RoutingSelected `json:"evaluation"`
	// Want is the expected selection. ProductionRight and EvaluationRight: the first tool is
	// expected or accepted, or there is none where none fits; nil where nothing is expected.
	Want            *callvet.Selection `json:"want,omitempty"`
	ProductionRight *bool              `json:"production_right,omitempty"`
	EvaluationRight *bool              `json:"evaluation_right,omitempty"`
}

// RoutingAgreement compares decisions of production with those of an evaluation on the same questions.
type RoutingAgreement struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Queries is the number of different questions on both sides, Decisions the number of
	// production's decisions on them. OnlyProduction and OnlyEvaluation count questions on one side
	// only.
	Queries        int `json:"queries"`
	Decisions      int `json:"decisions"`
	OnlyProduction int `json:"only_production"`
	OnlyEvaluation int `json:"only_evaluation"`
	// RoutingLikenesses counts decisions of production, the largest difference first.
	Likenesses []Count `json:"likenesses"`
	// SameTools is the share of decisions with the same tools, in any order; First the share with
	// the same first tool.
	SameTools stats.Interval `json:"same_tools"`
	First     stats.Interval `json:"same_first_tool"`
	// Right compares how often the first tool is right, question by question, with production as
	// the baseline; nil where no question has an expectation.
	Right *Difference `json:"first_tool_right,omitempty"`
	// Pairs are sorted by difference, the largest first, and then by frequency.
	Pairs []RoutingAgreementPair `json:"pairs"`
}

// AgreeOnRouting compares the selections of production with those of an evaluation.
//
// Unit of analysis: a decision of production, clustered by its question. Questions are compared
// by their text without white space around it. Where the evaluation has several decisions on a
// question, its first decision counts. Rates are in [0,1]; they are undefined where no question
// is on both sides. Source: Tool Selection Evaluation System, "Future Enhancements".
func AgreeOnRouting(production, evaluation []RoutingSelected) *RoutingAgreement {
	out := &RoutingAgreement{Format: "callvet.decisions", Version: 1, Pairs: []RoutingAgreementPair{}}
	asked, used := map[string]*RoutingSelected{}, map[string]bool{}
	for i := range evaluation {
		if q := strings.TrimSpace(evaluation[i].Query); asked[q] == nil {
			asked[q] = &evaluation[i]
		}
	}
	only := map[string]bool{}
	pairs := map[string]*RoutingAgreementPair{}
	byQuery := map[string][]*RoutingAgreementPair{}
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
			pairs[key] = routingPairOf(p, e)
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
	rank := map[RoutingLikeness]int{}
	for i, l := range RoutingLikenesses() {
		rank[l] = i
	}
	slices.SortStableFunc(out.Pairs, func(a, b RoutingAgreementPair) int {
		return cmp.Or(cmp.Compare(rank[a.Likeness], rank[b.Likeness]), cmp.Compare(b.Times, a.Times),
			strings.Compare(a.Query, b.Query))
	})
	return out
}

// sum fills in the rates, over the questions in this order.
func (b *RoutingAgreement) sum(order []string, byQuery map[string][]*RoutingAgreementPair) {
	counts := map[RoutingLikeness]int{}
	var alike, first stats.Clusters
	var before, after []Share
	for _, q := range order {
		n, tools, firsts := 0, 0, 0
		was, is := Share{Binary: true}, Share{Binary: true}
		for _, p := range byQuery[q] {
			n += p.Times
			counts[p.Likeness] += p.Times
			if p.Likeness == RoutingSame || p.Likeness == RoutingReordered {
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
	for _, l := range RoutingLikenesses() {
		b.Likenesses = append(b.Likenesses, Count{Name: string(l), N: counts[l]})
	}
	b.SameTools, b.First = alike.Interval(0.95, stats.DefaultRho0), first.Interval(0.95, stats.DefaultRho0)
	if slices.ContainsFunc(before, func(s Share) bool { return s.N > 0 }) {
		d := Paired(before, after, 0.95)
		b.Right = &d
	}
}

func routingPairOf(p, e *RoutingSelected) *RoutingAgreementPair {
	out := &RoutingAgreementPair{
		Query: p.Query, Case: e.Case, Likeness: routingLikeness(p.Tools, e.Tools),
		FirstSame: firstTool(p.Tools) == firstTool(e.Tools),
		RouteDiffers: p.Route != "" && e.Route != "" &&
			(p.Route != e.Route || p.SubRoute != "" && e.SubRoute != "" && p.SubRoute != e.SubRoute),
		Production: *p, Evaluation: *e, Want: e.Want,
	}
	if e.Want != nil {
		was, is := firstToolRight(e.Want, p.Tools), firstToolRight(e.Want, e.Tools)
		out.ProductionRight, out.EvaluationRight = &was, &is
	}
	return out
}

func firstTool(tools []string) string {
	if len(tools) == 0 {
		return ""
	}
	return tools[0]
}

func firstToolRight(want *callvet.Selection, tools []string) bool {
	if len(tools) == 0 {
		return len(want.Tools) == 0
	}
	return slices.Contains(want.Tools, tools[0]) || slices.Contains(want.Acceptable, tools[0])
}

func routingLikeness(production, evaluation []string) RoutingLikeness {
	shared := 0
	for _, t := range production {
		if slices.Contains(evaluation, t) {
			shared++
		}
	}
	switch {
	case slices.Equal(production, evaluation):
		return RoutingSame
	case shared == 0:
		return RoutingDisjoint
	case shared == len(production) && shared == len(evaluation):
		return RoutingReordered
	case shared == len(production):
		return RoutingContained
	}
	return RoutingOverlap
}
