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

// Selected is what was selected for a question.
type Selected struct {
	Query    string   `json:"-"`
	Tools    []string `json:"tools"` // best first; empty: none
	Route    string   `json:"route,omitempty"`
	SubRoute string   `json:"sub_route,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Case is the case that asks the question, Want what it expects of tools; "" and nil where that is not known.
	Case string             `json:"-"`
	Want *callvet.Selection `json:"-"`
}

// Likeness is how what production selected stands to what the evaluation selects.
type Likeness string

// The likenesses, the largest difference first.
const (
	Disjoint  Likeness = "disjoint"  // no tool is on both sides, or one side has none
	Overlap   Likeness = "overlap"   // some tools are on both sides
	Contained Likeness = "contained" // all that production selected are among those of the evaluation
	Reordered Likeness = "reordered" // the same tools in another order
	Same      Likeness = "same"      // the same tools in the same order
)

// Likenesses are all of them, the largest difference first.
func Likenesses() []Likeness { return []Likeness{Disjoint, Overlap, Contained, Reordered, Same} }

// BesidePair is what production selected for a question, so many times, beside what the evaluation
// selects for it.
type BesidePair struct {
	Query    string   `json:"query"`
	Case     string   `json:"case,omitempty"`
	Times    int      `json:"times"`
	Likeness Likeness `json:"likeness"`
	// FirstSame tells that both have the same first tool, or none; RouteDiffers that both decided a route,
	// and not the same one.
	FirstSame    bool     `json:"first_same"`
	RouteDiffers bool     `json:"route_differs,omitempty"`
	Production   Selected `json:"production"`
	Evaluation   Selected `json:"evaluation"`
	// Want is what the case expects. ProductionRight and EvaluationRight tell that the first tool is
	// expected or accepted, or that there is none where none fits; nil where nothing is expected.
	Want            *callvet.Selection `json:"want,omitempty"`
	ProductionRight *bool              `json:"production_right,omitempty"`
	EvaluationRight *bool              `json:"evaluation_right,omitempty"`
}

// Beside compares decisions of production with those of an evaluation on the same questions.
type Beside struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Queries are the different questions that both sides were asked, Decisions those of production on
	// them. OnlyProduction and OnlyEvaluation count questions that one side was asked alone.
	Queries        int `json:"queries"`
	Decisions      int `json:"decisions"`
	OnlyProduction int `json:"only_production"`
	OnlyEvaluation int `json:"only_evaluation"`
	// Likenesses counts decisions of production, the largest difference first.
	Likenesses []panel.Count `json:"likenesses"`
	// Alike is the share of decisions with the same tools, in any order; First that with the same first tool.
	Alike stats.Interval `json:"same_tools"`
	First stats.Interval `json:"same_first_tool"`
	// Right compares whose first tool is right, question by question, with production as the baseline; nil
	// where nothing is expected of any question.
	Right *panel.Difference `json:"first_tool_right,omitempty"`
	// Pairs are the largest differences first, and among them what was asked most often.
	Pairs []BesidePair `json:"pairs"`
}

// PutBeside compares what production selected with what an evaluation selects.
//
// Unit of analysis: a decision of production, clustered by its question, which is compared by its text
// without white space around it. Of questions that the evaluation was asked several times its first
// decision counts. Rates are in [0,1]; they are undefined where no question is on both sides.
// Source: Tool Selection Evaluation System, "Future Enhancements".
func PutBeside(production, evaluation []Selected) *Beside {
	out := &Beside{Format: "callvet.decisions", Version: 1, Pairs: []BesidePair{}}
	asked, used := map[string]*Selected{}, map[string]bool{}
	for i := range evaluation {
		if q := strings.TrimSpace(evaluation[i].Query); asked[q] == nil {
			asked[q] = &evaluation[i]
		}
	}
	only := map[string]bool{}
	pairs := map[string]*BesidePair{}
	byQuery := map[string][]*BesidePair{}
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
	slices.SortStableFunc(out.Pairs, func(a, b BesidePair) int {
		return cmp.Or(cmp.Compare(rank[a.Likeness], rank[b.Likeness]), cmp.Compare(b.Times, a.Times),
			strings.Compare(a.Query, b.Query))
	})
	return out
}

// sum fills in the rates, over the questions in this order.
func (b *Beside) sum(order []string, byQuery map[string][]*BesidePair) {
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
	b.Alike, b.First = alike.Interval(0.95, stats.DefaultRho0), first.Interval(0.95, stats.DefaultRho0)
	if slices.ContainsFunc(before, func(s panel.Share) bool { return s.N > 0 }) {
		d := panel.Paired(before, after, 0.95)
		b.Right = &d
	}
}

func pairOf(p, e *Selected) *BesidePair {
	out := &BesidePair{
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
