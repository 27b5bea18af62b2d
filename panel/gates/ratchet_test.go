// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// TestRatchet: so many cases may fall as the gate allows, of cases with enough attempts on both sides.
// Lost attempts that may hide one more leave it open.
func TestRatchet(t *testing.T) {
	t.Parallel()
	two := panel.Ratchet{Compared: 20, Baseline: 2, Candidate: 2, FalseAlarm: 0.25}
	with := func(r panel.Ratchet, fell, unknown string) panel.Ratchet {
		r.Cases, r.Unknown = strings.Fields(fell), strings.Fields(unknown)
		return r
	}
	fewer, single := two, two
	fewer.Candidate = 1
	single.Baseline, single.Candidate = 1, 1
	for name, tt := range map[string]struct {
		ratchet  panel.Ratchet
		allowed  float64
		attempts int
		want     gate.Verdict
		reason   string
		sentence string
		cure     string
	}{
		"none fell": {
			two, 0, 0, gate.Pass, gates.ReasonNoneFell,
			"newly_failing 0 of 20 tasks that passed each attempt in the baseline: not more than 0: passed (without any change some would fall with a chance of 25 %)", "",
		},
		"more than allowed": {
			with(two, "a b", ""), 1, 0, gate.Fail, gates.ReasonFell,
			"newly_failing 2 of 20 tasks that passed each attempt in the baseline: more than 1: failed", "",
		},
		"as many as allowed": {
			with(two, "a b", ""), 2, 0, gate.Pass, gates.ReasonNoneFell,
			"not more than 2: passed", "",
		},
		"one attempt now": {
			fewer, 0, 0, gate.Inconclusive, gates.ReasonFewAttempts,
			"a task has 2 in the baseline and 1 now, the gate wants 2 on both sides: inconclusive",
			"callvet run --repeat 2",
		},
		"one is enough": {single, 0, 1, gate.Pass, gates.ReasonNoneFell, "passed", ""},
		"three are asked for": {
			two, 0, 3, gate.Inconclusive, gates.ReasonFewAttempts, "the gate wants 3 on both sides",
			"callvet run --repeat 3",
		},
		"none to compare": {
			panel.Ratchet{},
			0, 0, gate.Inconclusive, gates.ReasonNoMetric,
			"newly_failing: no task passed each attempt in the baseline: inconclusive",
			"compare pass_rate with the baseline",
		},
		"one may be hidden": {
			with(two, "", "c"), 0, 0, gate.Inconclusive, gates.ReasonLost,
			"and of 1 task the attempts now are lost (c)", "run those attempts again",
		},
		"it may be allowed": {with(two, "", "c"), 1, 0, gate.Pass, gates.ReasonNoneFell, "passed", ""},
		"one more than allowed may be": {
			with(two, "a", "c"), 1, 0, gate.Inconclusive, gates.ReasonLost,
			"and of 1 task the attempts now are lost (c)",
			"run those attempts again",
		},
	} {
		in := gates.Input{
			Panels: over(),
			Comparison: &panel.Comparison{Targets: []panel.TargetComparison{
				{Candidate: "other"},
				{Candidate: "agent", Ratchet: &tt.ratchet},
			}},
		}
		v := one(t, in,
			gates.Gate{Metric: gates.NewlyFailing, Kind: gates.Ratchet, Bound: tt.allowed, Attempts: tt.attempts})
		if v.Verdict != tt.want || v.Reason != tt.reason || !strings.Contains(v.Sentence, tt.sentence) ||
			!strings.HasPrefix(v.Cure, tt.cure) || (v.Cure == "") != (tt.cure == "") {
			t.Errorf("%s: %s (%s) / %s", name, v.Sentence, v.Reason, v.Cure)
		}
		var places []string
		for _, p := range v.Open {
			places = append(places, p.Task)
		}
		if !slices.Equal(places, tt.ratchet.Cases) || v.N != tt.ratchet.Compared && v.Reason != gates.ReasonNoMetric {
			t.Errorf("%s: %v of %d", name, places, v.N)
		}
	}
}

// TestRatchetWithoutABaseline: without a comparison, or with one of other targets, nothing is known.
func TestRatchetWithoutABaseline(t *testing.T) {
	t.Parallel()
	for _, c := range []*panel.Comparison{
		nil,
		{Targets: []panel.TargetComparison{{Candidate: "other", Ratchet: &panel.Ratchet{}}}},
	} {
		v := one(t, gates.Input{Panels: over(), Comparison: c},
			gates.Gate{Metric: gates.NewlyFailing, Kind: gates.Ratchet})
		if v.Verdict != gate.Inconclusive || v.Reason != gates.ReasonNoBaseline ||
			v.Sentence != "newly_failing: there is no baseline to compare with: inconclusive" {
			t.Errorf("%s (%s)", v.Sentence, v.Reason)
		}
	}
}
