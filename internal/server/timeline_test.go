// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// TestSummarize: targets with their own settings, and repeats if there are several.
func TestSummarize(t *testing.T) {
	t.Parallel()
	cold := runs.Configured{Name: "b", Spec: app.TargetSpec{ToolChoice: "none"}}
	for want, c := range map[string]runs.RunConfiguration{
		"a":                           {Targets: []runs.Configured{{Name: "a"}}},
		"a, b (tool_choice none) × 2": {Targets: []runs.Configured{{Name: "a"}, cold}, Repeats: 2},
		"b (tool_choice none), a":     {Targets: []runs.Configured{cold, {Name: "a"}}, Repeats: 1},
		"":                            {},
	} {
		if got := summarize(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDiffers: other differences between two runs are reported.
func TestDiffers(t *testing.T) {
	t.Parallel()
	const other = "the suite is version %d here, and version %d in r: only tasks that are the same in both are compared"
	for name, tc := range map[string]struct {
		c        panel.Comparison
		now, was int64
		want     []string
	}{
		"nothing":         {now: 2, was: 2},
		"another version": {now: 3, was: 2, want: []string{fmt.Sprintf(other, 3, 2)}},
		"the first":       {now: 2, was: 1, want: []string{fmt.Sprintf(other, 2, 1)}},
		"back to it":      {now: 1, was: 2, want: []string{fmt.Sprintf(other, 1, 2)}},
		"no version now":  {was: 2},
		"no version then": {now: 2},
		"tasks came, went": {c: panel.Comparison{
			OnlyCandidate: []string{"a"}, OnlyBaseline: []string{"b", "c"},
			Warnings: []string{"w"},
		}, want: []string{
			"1 task is in this run only, and not compared", "2 tasks are in r only, and not compared", "w",
		}},
	} {
		if d := cmp.Diff(tc.want,
			differs(&tc.c, &EvalRun{Version: tc.now}, &EvalRun{ID: "r", Version: tc.was})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func pairOf(candidate, metric string, change, p float64) panel.TargetComparison {
	d := panel.Difference{
		P:      p,
		Change: stats.Interval{Point: change, Status: stats.StatusOK, Lower: -1, Upper: 1, Confidence: 0.95},
	}
	if math.IsNaN(change) {
		d.Change.Status = stats.StatusNoData
	}
	return panel.TargetComparison{Baseline: "was " + candidate, Candidate: candidate, Measured: []panel.Measured{
		{
			Pairing: panel.Pairing{Metric: "other"},
			Overall: panel.Difference{Change: stats.Interval{Point: 9, Status: stats.StatusOK}},
		},
		{Pairing: panel.Pairing{Metric: metric}, Overall: d},
	}}
}

// TestDeltaOf: the mean of the changes of the overall score that are known.
func TestDeltaOf(t *testing.T) {
	t.Parallel()
	two := &panel.Comparison{Targets: []panel.TargetComparison{
		pairOf("a", metricOverall, 0.5, 1), pairOf("b", metricOverall, -0.1, 1), pairOf("c", "cost", 7, 1),
		pairOf("d", metricOverall, math.NaN(), 1),
	}}
	if got := deltaOf(two); got == nil || math.Abs(*got-0.2) > 1e-12 {
		t.Errorf("%v", got)
	}
	if got := deltaOf(&panel.Comparison{Targets: two.Targets[2:]}); got != nil {
		t.Errorf("none is known: %v", *got)
	}
}

// TestFamilyOfATarget: a target of a timeline has the change of its own overall score, with its p
// if it has one.
func TestFamilyOfATarget(t *testing.T) {
	t.Parallel()
	c := &panel.Comparison{Targets: []panel.TargetComparison{
		pairOf("b", metricOverall, 0.1, 0.3),
		pairOf("a", metricOverall, 0.5, 0.04), pairOf("c", "cost", 1, 1), pairOf("d", metricOverall, 0.2, math.NaN()),
	}}
	f := &families{}
	of := map[string]*TimelineTarget{}
	for _, name := range []string{"a", "c", "d", "e"} {
		of[name] = &TimelineTarget{Name: name}
		f.add(of[name], c)
	}
	if a := of["a"]; a.Against != "was a" || a.Change == nil || a.Change.Point != 0.5 || a.P == nil || *a.P != 0.04 {
		t.Errorf("%+v", a)
	}
	if d := of["d"]; d.Change == nil || d.P != nil {
		t.Errorf("without p: %+v", d)
	}
	if of["c"].Change != nil || of["e"].Change != nil || len(f.scores.claims) != 2 || len(f.scores.differences) != 2 {
		t.Errorf("not compared: %+v %+v", of["c"], of["e"])
	}
}

// TestBadgeOf: the ground is red with a failure, and not green where something is not judged.
func TestBadgeOf(t *testing.T) {
	t.Parallel()
	const passed, failed, open = "#187a3a", "#b3261e", "#8a5a00"
	for name, tc := range map[string]struct {
		status      string
		v           panel.Verdicts
		text, color string
	}{
		"all passed":       {"done", panel.Verdicts{Pass: 3}, "3 of 3 pass", passed},
		"one failed":       {"done", panel.Verdicts{Pass: 3, Fail: 1}, "3 of 4 pass", failed},
		"one lost":         {"done", panel.Verdicts{Pass: 3, Error: 1}, "3 of 3 pass, not all judged", open},
		"it goes on":       {"running", panel.Verdicts{Pass: 3}, "3 of 3 pass, not all judged", open},
		"lost, and failed": {"done", panel.Verdicts{Pass: 3, Fail: 1, Error: 1}, "3 of 4 pass, not all judged", failed},
		"nothing":          {"done", panel.Verdicts{Error: 1}, "nothing judged", open},
	} {
		p := &panel.Panels{Targets: []panel.TargetPanel{{Overall: panel.Slice{Verdicts: tc.v}}}}
		if text, color := badgeOf(tc.status, p); text != tc.text || color != tc.color {
			t.Errorf("%s: %q %s", name, text, color)
		}
	}
}

// TestNoteOf: one of several that was chosen as the best looks better than it is.
func TestNoteOf(t *testing.T) {
	t.Parallel()
	fresh := &plan.ExperimentCandidate{}
	if a, b, c := noteOf(&plan.ExperimentCandidate{Confirmed: true}, 3), noteOf(fresh, 1),
		noteOf(fresh, 2); a != "a fresh run confirmed it" ||
		!strings.HasPrefix(b, "the only configuration") || !strings.Contains(c, "looks better than it is") {
		t.Errorf("%q %q %q", a, b, c)
	}
}

// TestEnded: a run that runs or waits has not ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"running": false, "queued": false, "done": true, "failed": true,
		"budget": true,
	} {
		if ended(state) != want {
			t.Errorf("%s: %t", state, !want)
		}
	}
}
