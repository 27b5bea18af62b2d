// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// TestNext: the suggested actions after a run, for each kind of result.
func TestNext(t *testing.T) {
	t.Parallel()
	again := func(with app.Setting) app.Action {
		return app.Action{Verb: app.VerbAgain, Run: "r", With: []app.Setting{with}}
	}
	show, report, diff, resume := app.Action{Verb: app.VerbShow, Run: "r"}, app.Action{Verb: app.VerbReport, Run: "r"},
		app.Action{Verb: app.VerbDiff, Run: "r"}, app.Action{Verb: app.VerbResume, Run: "r"}
	for _, tt := range []struct {
		name    string
		status  store.Status
		repeats int
		v       []panel.Verdicts
		want    []app.Action
	}{
		{
			"all passed once", store.StatusDone, 1,
			[]panel.Verdicts{{Pass: 2}},
			[]app.Action{again(app.One("repeats", "5")), report, diff},
		},
		{"all passed often", store.StatusDone, 2, []panel.Verdicts{{Pass: 4}}, []app.Action{report, diff}},
		{"nothing ran", store.StatusDone, 3, []panel.Verdicts{{}}, []app.Action{report, diff}},
		{"no target", store.StatusDone, 3, nil, []app.Action{report, diff}},
		{
			"some failed", store.StatusDone, 2,
			[]panel.Verdicts{{Pass: 1, Fail: 1}},
			[]app.Action{show, again(app.One("failed_from", "r")), report},
		},
		{"some errors", store.StatusDone, 2, []panel.Verdicts{{Pass: 1, Error: 1}}, []app.Action{resume, report, diff}},
		{
			"a failure and an error, once", store.StatusDone, 1,
			[]panel.Verdicts{{Pass: 1, Fail: 1, Error: 1}},
			[]app.Action{resume, again(app.One("failed_from", "r")), report},
		},
		{
			"interrupted", store.StatusInterrupted, 2,
			[]panel.Verdicts{{Fail: 1}},
			[]app.Action{resume, again(app.One("failed_from", "r")), report},
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
	for want, s := range map[string]app.Settings{
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
		if got != want || next.Verb != app.VerbResume {
			t.Errorf("%+v: %+v, want %s", s, next, want)
		}
	}
}
