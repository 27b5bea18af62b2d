// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// TestNext: what is suggested after a run, whatever came out of it.
func TestNext(t *testing.T) {
	t.Parallel()
	const run, report, diff = "callvet run s.yaml", "callvet report r -o report.html", "callvet diff r OTHER-RUN"
	for _, tt := range []struct {
		name    string
		status  store.Status
		repeats int
		v       []panel.Verdicts
		want    []string
	}{
		{"all passed once", store.StatusDone, 1, []panel.Verdicts{{Pass: 2}}, []string{run + " -m m --repeat 5", report, diff}},
		{"all passed often", store.StatusDone, 2, []panel.Verdicts{{Pass: 4}}, []string{report, diff}},
		{"nothing ran", store.StatusDone, 3, []panel.Verdicts{{}}, []string{report, diff}},
		{"no target", store.StatusDone, 3, nil, []string{report, diff}},
		{"some failed", store.StatusDone, 2, []panel.Verdicts{{Pass: 1, Fail: 1}}, []string{"callvet show r", run + " -m m --failed-from r", report}},
		{"some errors", store.StatusDone, 2, []panel.Verdicts{{Pass: 1, Error: 1}}, []string{"callvet run --resume r", report, diff}},
		{"interrupted", store.StatusInterrupted, 2, []panel.Verdicts{{Fail: 1}}, []string{"callvet run --resume r", run + " -m m --failed-from r", report}},
	} {
		l := &loaded{
			run: store.Run{ID: "r", Status: tt.status}, suite: &callvet.Suite{},
			man: &manifest{Path: "s.yaml", Repeats: tt.repeats, Specs: []targetSpec{{Target: "m"}}},
		}
		p := &panel.Panels{}
		for _, v := range tt.v {
			p.Targets = append(p.Targets, panel.TargetPanel{Overall: panel.Slice{Verdicts: v}})
		}
		if d := cmp.Diff(tt.want, l.next(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}

// TestNextAfterBudget: a run that has spent its budget is not taken up under the same one,
// which would end at once.
func TestNextAfterBudget(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]settings{
		"callvet run --resume r --max-calls 60": {MaxCalls: 30, MaxCostUSD: 5},
		"callvet run --resume r --max-cost 0.5": {MaxCalls: 31, MaxCostUSD: 0.25},
		"callvet run --resume r":                {},
	} {
		l := &loaded{
			run: store.Run{ID: "r", Status: store.StatusBudget, Spent: callvet.Spent{Requests: 30, USD: 0.2}}, suite: &callvet.Suite{},
			man: &manifest{Path: "s.yaml", Repeats: 1, Specs: []targetSpec{{Target: "m"}}, Settings: &s},
		}
		if got := l.next(&panel.Panels{})[0]; got != want {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
}
