// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// TestLostOfDifference: a case is planned where a side was to have an attempt. It is lost by the shares of
// its attempts without an outcome on both sides, at most once, in the table of all cases and in that of its
// slice, for verdicts and for another metric.
func TestLostOfDifference(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, now string
		planned     int
		weight      float64
	}{
		"nothing is lost":                {"ppp", "pfp", 1, 0},
		"a quarter now":                  {"pppp", "ppfe", 1, 0.25},
		"half before and a quarter now":  {"pl", "ppfe", 1, 0.75},
		"an error and a lost attempt":    {"pp", "pelp", 1, 0.5},
		"all of both, which is one case": {"el", "le", 1, 1},
		"errors only":                    {"e", "e", 1, 1},
		"errors and lost ones before":    {"ee", "ll", 1, 1},
		"one could not be judged":        {"pp", "pu", 1, 0},
		"an error, one not judged":       {"pp", "ue", 1, 0.5},
		"left out on purpose":            {"s", "s", 0, 0},
		"left out of one side":           {"s", "p", 1, 0},
		"left out, and lost":             {"s", "l", 1, 1},
	} {
		// Another case of the same kind is judged, so that the slice is there; one of another kind is as well.
		tc := Diff(attemptsAt(c.before, "p", "p"), attemptsAt(c.now, "f", "f"), 0).Targets[0]
		lost := 0
		if c.weight > 0 {
			lost = 1
		}
		check := func(what string, d *Difference, others int) {
			if d.Planned != c.planned+others || d.Lost != lost || differ(d.LostWeight, c.weight) {
				t.Errorf("%s, %s: %d planned, %d lost, worth %v", name, what, d.Planned, d.Lost, d.LostWeight)
			}
		}
		check("pass rate", &tc.Overall, 2)
		check("pass rate of the slice", &tc.Slices[0], 1)
		check("another metric", &tc.Measured[0].Overall, 2)
		check("another metric of the slice", &tc.Measured[0].Slices[0], 1)
	}
}

// TestAttemptsThatAgree: attempts at a case that agree in every case count once, and each of them where
// those of some case differ.
func TestAttemptsThatAgree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cases []string
		n     int
	}{
		"all agree": {[]string{"pp", "ff", "pp"}, 3}, "none passes": {[]string{"ff", "ff", "ff"}, 3},
		"one case is mixed": {[]string{"pp", "pf", "ff"}, 6},
	} {
		l := attemptsAt(c.cases...)
		tc := Diff(l, l, 0).Targets[0]
		for _, d := range []*Difference{&tc.Overall, &tc.Measured[0].Overall} {
			if d.Baseline.N != c.n || d.Candidate.N != c.n {
				t.Errorf("%s: %d before, %d now", name, d.Baseline.N, d.Candidate.N)
			}
		}
	}
}

// TestSuiteOfMetrics: a comparison about this suite needs one yes or no for each attempt, and two attempts
// a side where these are no facts. Attempts without a verdict are no facts.
func TestSuiteOfMetrics(t *testing.T) {
	t.Parallel()
	diff := func(a, b *Ledger) *Difference {
		return &DiffWith(a, b, DiffConfig{Population: ThisSuite}).Targets[0].Measured[0].Overall
	}
	want := stats.Interval{Lower: -1, Upper: 1, N: 8, Clusters: 8, Confidence: 0.95, Status: stats.StatusNotByAttempt}
	byCall := diff(measuredLedger("arg_em", false, same(8, values{2, 2})),
		measuredLedger("arg_em", false, same(8, values{0, 2})))
	if d := cmp.Diff(want, byCall.Change); d != "" || byCall.P != 1 || byCall.Verdict != ChangeUnclear {
		t.Errorf("by call: %s %+v", d, byCall.Change)
	}
	unjudged := diff(measuredLedger("judged_pass", true, same(8, values{1, 1})),
		measuredLedger("judged_pass", true, same(8, values{0, 1})))
	if unjudged.Change.Status != stats.StatusFewAttempts || unjudged.Verdict != ChangeUnclear {
		t.Errorf("attempts without a verdict: %+v", unjudged.Change)
	}
	facts := diff(attemptsAt("P", "P", "P"), attemptsAt("F", "P", "P"))
	if facts.Change.Status != stats.StatusOK || differ(facts.Change.Point, -1./3) || facts.Verdict != ChangeWorse {
		t.Errorf("facts: %s %+v", facts.Verdict, facts.Change)
	}
	if got := ThisSuite.Sentence(); !strings.Contains(got, "about this suite") {
		t.Error(got)
	}
	if got := TasksLikeThese.Sentence(); !strings.Contains(got, "about tasks like these") {
		t.Error(got)
	}
}

// TestSlicesOfPassRate: a tag of fewer than five compared cases has no line, another key has one.
func TestSlicesOfPassRate(t *testing.T) {
	t.Parallel()
	l := NewLedger("r", []string{"m"}, []string{"kind", "tag"})
	for i := range 20 {
		c := callvet.Case{ID: fmt.Sprint("c", i), Fields: map[string]string{}}
		if i < 5 {
			c.Tags = append(c.Tags, "five")
		}
		if i < 4 {
			c.Tags, c.Fields["kind"] = append(c.Tags, "four"), "rare"
		}
		l.Add(&c, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
	}
	var got []string
	for _, s := range Diff(l, l, 0).Targets[0].Slices {
		got = append(got, fmt.Sprintf("%s=%s %d", s.Key, s.Value, s.Cases))
	}
	if d := cmp.Diff([]string{"kind=rare 4", "tag=five 5"}, got); d != "" {
		t.Error(d)
	}
}

// TestSlicesOfParts: the slices of a case hold what its own part measured, those of another part only that.
func TestSlicesOfParts(t *testing.T) {
	t.Parallel()
	l := NewLedger("r", []string{"m"}, []string{"kind"})
	l.Measure("arg_em")
	for i := range 3 {
		c := callvet.Case{ID: fmt.Sprint("c", i), Fields: map[string]string{"kind": "read"}}
		l.Add(&c, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
		l.Observe(0, c.ID, nil, []Observation{{Sum: 1, N: 1}})
		l.Observe(0, c.ID, []SliceID{{"called_tool", "pay"}}, []Observation{{Sum: 0, N: 2}})
	}
	m := Diff(l, l, 0).Targets[0].Measured[0]
	got := []string{fmt.Sprint("all ", m.Overall.Baseline.N, m.Overall.Candidate.N)}
	for _, s := range m.Slices {
		got = append(got, fmt.Sprint(s.Value, " ", s.Baseline.N, s.Candidate.N))
	}
	if d := cmp.Diff([]string{"all 9 9", "pay 6 6", "read 3 3"}, got); d != "" {
		t.Error(d)
	}
}
