// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// TestNext: what is suggested after a run, whatever came out of it.
func TestNext(t *testing.T) {
	t.Parallel()
	again := func(with Setting) Action { return Action{Verb: VerbAgain, Run: "r", With: []Setting{with}} }
	show, report, diff, resume := Action{Verb: VerbShow, Run: "r"}, Action{Verb: VerbReport, Run: "r"},
		Action{Verb: VerbDiff, Run: "r"}, Action{Verb: VerbResume, Run: "r"}
	for _, tt := range []struct {
		name    string
		status  store.Status
		repeats int
		v       []panel.Verdicts
		want    []Action
	}{
		{
			"all passed once", store.StatusDone, 1,
			[]panel.Verdicts{{Pass: 2}},
			[]Action{again(One("repeats", "5")), report, diff},
		},
		{"all passed often", store.StatusDone, 2, []panel.Verdicts{{Pass: 4}}, []Action{report, diff}},
		{"nothing ran", store.StatusDone, 3, []panel.Verdicts{{}}, []Action{report, diff}},
		{"no target", store.StatusDone, 3, nil, []Action{report, diff}},
		{
			"some failed", store.StatusDone, 2,
			[]panel.Verdicts{{Pass: 1, Fail: 1}},
			[]Action{show, again(One("failed_from", "r")), report},
		},
		{"some errors", store.StatusDone, 2, []panel.Verdicts{{Pass: 1, Error: 1}}, []Action{resume, report, diff}},
		{
			"a failure and an error, once", store.StatusDone, 1,
			[]panel.Verdicts{{Pass: 1, Fail: 1, Error: 1}},
			[]Action{resume, again(One("failed_from", "r")), report},
		},
		{
			"interrupted", store.StatusInterrupted, 2,
			[]panel.Verdicts{{Fail: 1}},
			[]Action{resume, again(One("failed_from", "r")), report},
		},
	} {
		r := &Run{Stored: store.Run{ID: "r", Status: tt.status}, Suite: &callvet.Suite{}, Manifest: &Manifest{}}
		p := &panel.Panels{Repeats: tt.repeats}
		for _, v := range tt.v {
			p.Targets = append(p.Targets, panel.TargetPanel{Overall: panel.Slice{Verdicts: v}})
		}
		if d := cmp.Diff(tt.want, r.Next(p), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestNextAfterBudget: a run that has spent its budget is not taken up under the same one,
// which would end at once.
func TestNextAfterBudget(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Settings{
		"max_calls 60":     {MaxCalls: 30, MaxCostUSD: 5},
		"max_cost_usd 0.5": {MaxCalls: 31, MaxCostUSD: 0.25},
		"":                 {},
	} {
		r := &Run{
			Stored:   store.Run{ID: "r", Status: store.StatusBudget, Spent: callvet.Spent{Requests: 30, USD: 0.2}},
			Suite:    &callvet.Suite{},
			Manifest: &Manifest{Repeats: 1, Settings: &s},
		}
		next := r.Next(&panel.Panels{})[0]
		got := ""
		for _, w := range next.With {
			got = w.Name + " " + w.Values[0]
		}
		if got != want || next.Verb != VerbResume {
			t.Errorf("%+v: %+v, want %s", s, next, want)
		}
	}
}
