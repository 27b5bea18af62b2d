// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// diagnosis converts an explanation for reports.
func diagnosis(e retrieve.Explanation) panel.RoutingDiagnosis {
	standing := func(s *retrieve.Standing) callvet.Ranked {
		return callvet.Ranked{Tool: s.ID, Score: s.Score, Parts: s.Parts.Terms()}
	}
	d := panel.RoutingDiagnosis{Tool: standing(&e.Tool), Rank: e.Tool.Rank, Reasons: e.Reasons()}
	if e.Winner != nil {
		d.Winner = standing(e.Winner)
	}
	return d
}

// explained is how many failed cases are explained in catalogs of up to explainAll
// tools, and in larger ones, where each explanation ranks all of them.
const (
	explainAll       = 10_000
	explained        = panel.MaxFailedDecisions
	explainedOfLarge = 25
)

// ExplainSelections fills in why expected tools of failed cases were not first; index is by the
// target's position in the run. It skips targets without an index, and further cases of large
// catalogs. For a stored run it asks each question again: an index that now decides differently
// is not the run's index, and cannot give reasons.
func ExplainSelections(ctx context.Context, s *panel.RoutingSection, index map[int]*Retriever, stored bool) {
	for i := range s.Targets {
		t := &s.Targets[i]
		r := index[t.Target]
		if r == nil {
			continue
		}
		most := explained
		if r.Len() > explainAll {
			most = explainedOfLarge
		}
		failed := t.Failed[:min(len(t.Failed), most)]
		if stored && slices.ContainsFunc(failed, func(f panel.RoutingFailure) bool { return !decidesSo(ctx, r, &f) }) {
			t.Unexplained = "asked again, the retriever decides otherwise than in this run: callvet or a file that it reads changed"
			continue
		}
		for j := range failed {
			f := &failed[j]
			f.Routed = routed(r, f)
			for _, tool := range f.Want.Tools {
				if e, err := r.Explain(ctx, f.Query, tool); err == nil && e.Lost() {
					f.Diagnose = append(f.Diagnose, diagnosis(e))
				}
			}
		}
	}
}

// routed is the reason for a wrong route; empty for a right route, or without a router.
func routed(r *Retriever, f *panel.RoutingFailure) string {
	by, wrong := r.Pipeline().Routes, f.Want.Route != "" && f.Want.Route != f.Got.Route
	if by == nil || !wrong && (f.Want.SubRoute == "" || f.Want.SubRoute == f.Got.SubRoute) {
		return ""
	}
	question := strings.TrimSpace(f.Query)
	say := "the route is " + whyRoute(by.Route(question))
	rules, ok := by.(*retrieve.RouteRules)
	if !ok {
		return say
	}
	for _, d := range rules.Applying(question) {
		if d.Route == f.Want.Route && (wrong || d.SubRoute == f.Want.SubRoute) {
			return say + fmt.Sprintf("; rule %d for %s finds %q, but comes later", d.Rule+1,
				strings.Trim(d.Route+"/"+d.SubRoute, "/"), d.Matched)
		}
	}
	return say + "; no rule for " + strings.Trim(f.Want.Route+"/"+f.Want.SubRoute, "/") + " finds anything"
}

// whyRoute names what decided a route.
func whyRoute(d retrieve.RouteDecision) string {
	name := d.Route
	if name == "" {
		name = "none"
	}
	switch {
	case d.Rule >= 0:
		return fmt.Sprintf("%s by rule %d, which finds %q with %s", name, d.Rule+1, d.Matched,
			plain.Limited(d.Pattern, 120))
	case d.Confidence > 0 && d.Route == "":
		return fmt.Sprintf("none: the most probable one has probability %.2f, under the threshold", d.Confidence)
	case d.Confidence > 0:
		return fmt.Sprintf("%s with probability %.2f", name, d.Confidence)
	}
	return name + ", as no rule finds anything"
}

// decidesSo reports whether the index returns the same tools with the same scores again.
func decidesSo(ctx context.Context, r *Retriever, f *panel.RoutingFailure) bool {
	const rounding = 1e-9
	d, err := r.Decide(ctx, strings.TrimSpace(f.Query))
	return err == nil && slices.EqualFunc(d.Tools, f.Got.Tools, func(a, b callvet.Ranked) bool {
		return a.Tool == b.Tool && math.Abs(a.Score-b.Score) <= rounding*max(1, math.Abs(b.Score))
	})
}
