// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// An index that does not give what a stored run was given gives no reasons for it.
func TestExplainStored(t *testing.T) {
	t.Parallel()
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{
		{Tool: callvet.Tool{Name: "trains", Description: "delays of trains"}},
		{Tool: callvet.Tool{Name: "sky", Description: "the weather of tomorrow"}},
	}}
	r, _, err := (&Env{Now: time.Now}).Routed(t.Context(), c, Settings{K: 1}, "r", nil)
	if err != nil {
		t.Fatal(err)
	}
	const question = "delays tomorrow of trains"
	d, err := r.Decide(t.Context(), question)
	if err != nil || len(d.Tools) != 1 {
		t.Fatal(d, err)
	}
	for name, c := range map[string]struct {
		nudge             float64
		stored, explained bool
	}{"as it was": {0, true, true}, "another score": {0.01, true, false}, "of this run": {0.01, false, true}} {
		got := *d
		got.Tools = []callvet.Ranked{{Tool: d.Tools[0].Tool, Score: d.Tools[0].Score + c.nudge}}
		s := &panel.RoutingSection{Targets: []panel.RoutingTarget{{
			Failures: 1,
			Failed: []panel.RoutingFailure{{
				Query: question + "\n", Want: callvet.Selection{Tools: []string{"sky"}},
				Got: got,
			}},
		}}}
		ExplainSelections(t.Context(), s, map[int]*Retriever{0: r}, c.stored)
		one := &s.Targets[0]
		if (len(one.Failed[0].Diagnose) == 1) != c.explained || (one.Unexplained == "") != c.explained {
			t.Errorf("%s: %+v", name, one)
		}
	}
}

// A wrong route is explained with the rule that took it, and the matches of the right route's
// rules.
func TestExplainRoute(t *testing.T) {
	t.Parallel()
	rules, err := retrieve.NewRules(
		retrieve.RouteSettings{Rules: []retrieve.RouteRule{
			{Route: "action", Patterns: []string{"train"}},
			{Route: "knowledge", Patterns: []string{"price"}},
		}, Default: "other"})
	if err != nil {
		t.Fatal(err)
	}
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{{Tool: callvet.Tool{
		Name:        "trains",
		Description: "delays of trains",
	}}}}
	r, _, err := (&Env{Now: time.Now}).Routed(t.Context(), c, Settings{}, "r", rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ question, want, got, say string }{
		{
			"price of a train", "knowledge", "action",
			`the route is action by rule 1, which finds "train" with train; rule 2 for knowledge finds "price", but comes later`,
		},
		{
			"train", "knowledge", "action",
			`the route is action by rule 1, which finds "train" with train; no rule for knowledge finds anything`,
		},
		{"x", "action", "other", `the route is other, as no rule finds anything; no rule for action finds anything`},
		{"train", "action", "action", ""},
	} {
		s := &panel.RoutingSection{Targets: []panel.RoutingTarget{{Failed: []panel.RoutingFailure{{
			Query: c.question,
			Want:  callvet.Selection{Route: c.want}, Got: callvet.Decision{Route: c.got},
		}}}}}
		ExplainSelections(t.Context(), s, map[int]*Retriever{0: r}, false)
		if got := s.Targets[0].Failed[0].Routed; got != c.say {
			t.Errorf("%q: %s", c.question, got)
		}
	}
}
