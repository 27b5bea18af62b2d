// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"testing"

	"github.com/callvet/callvet/stats"
)

// TestCountsOfVerdicts: what was planned is all that was not left out on purpose, what is lost has no
// outcome, and records that could not be read are in both.
func TestCountsOfVerdicts(t *testing.T) {
	t.Parallel()
	v := Verdicts{Pass: 50, Fail: 20, Error: 7, NotRun: 5, Skipped: 2}
	if v.Planned() != 80 || v.Lost() != 10 {
		t.Errorf("%d planned, %d lost, want 80 and 10", v.Planned(), v.Lost())
	}
	for name, c := range map[string]struct {
		cells   int
		metric  string
		records int64
		n, of   int
	}{
		"a pass rate":                           {82, MetricPass, 0, 10, 80},
		"of three records that cannot be read":  {82, MetricPass, 3, 13, 83},
		"errors are outcomes of the error rate": {82, MetricError, 3, 6, 83},
		"more attempts than verdicts":           {92, MetricPass, 3, 13, 93},
	} {
		s := Slice{Verdicts: v, Cells: c.cells}
		if n, of := s.Lost(c.metric, c.records); n != c.n || of != c.of {
			t.Errorf("%s: %d of %d, want %d of %d", name, n, of, c.n, c.of)
		}
	}
	sum := Verdicts{Pass: 1, Fail: 2, Error: 3, NotRun: 4, Skipped: 5}
	sum.Add(v)
	if want := (Verdicts{Pass: 51, Fail: 22, Error: 10, NotRun: 9, Skipped: 7}); sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
	target := func(pass int, floor bool) TargetPanel {
		return TargetPanel{Floor: floor, Overall: Slice{Verdicts: Verdicts{Pass: pass}}}
	}
	for want, targets := range map[int][]TargetPanel{
		6: {target(1, true), target(2, false), target(4, false)},
		9: {target(4, true), target(5, true)}, 0: nil,
	} {
		p := Panels{Targets: targets}
		if got := p.Counted().Pass; got != want {
			t.Errorf("%d passes, want %d", got, want)
		}
	}
}

// TestSmallWords: what a metric notes of its values and its labels, and a lost record of its place.
func TestSmallWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{9: 0, 10: 0, 30: 30} {
		m := Metric{Interval: stats.Interval{N: 10}}
		if m.Agree(n); m.Values != want || m.Seen() != max(10, want) {
			t.Errorf("%d values, the interval counts 10 of them: %d, %d seen", n, m.Values, m.Seen())
		}
	}
	for _, c := range []struct {
		of   Labelled
		n    int
		want string
	}{
		{Labelled{Of: "attempts", N: 500, Tasks: 400}, 12, "12 labels of 400 tasks"},
		{Labelled{Of: "calls", N: 500, Tasks: 400}, 1, "1 label of 500 calls of 400 tasks"},
		{Labelled{Of: "turns", N: 1, Tasks: 1, Elsewhere: true}, 2, "2 labels made elsewhere, for 1 turn of 1 task"},
	} {
		if got := c.of.Count(c.n, "task"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, c := range []struct {
		of   LostRecord
		want string
	}{
		{LostRecord{Line: 1, Reason: "cut"}, "line 1"},
		{LostRecord{Reason: "cut"}, "cut"},
		{LostRecord{File: "a.jsonl", Reason: "cut"}, "cut"},
		{LostRecord{File: "a.jsonl", Line: 1}, "a.jsonl:1"},
	} {
		if got := c.of.place(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
	for attempts, want := range map[int]string{0: "", 1: "", 2: AttemptsAreOne} {
		var p Panels
		if p.Repeat(attempts); p.Repeats != max(1, attempts) || p.Assumed != want {
			t.Errorf("%d attempts: %d repeats, assumed %q", attempts, p.Repeats, p.Assumed)
		}
	}
	for _, c := range []struct {
		of   Metric
		want bool
	}{
		{Metric{Unit: UnitRate, Of: "attempts"}, true},
		{Metric{Unit: UnitRate, Of: "calls"}, false},
		{Metric{Unit: UnitMS, Of: "attempts"}, false},
		{Metric{Unit: UnitRate, Of: "attempts", Fractional: true}, false},
	} {
		if got := c.of.ByAttempt(); got != c.want {
			t.Errorf("%+v: by attempt %t", c.of, got)
		}
	}
}
