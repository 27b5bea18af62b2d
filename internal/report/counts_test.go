// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

func panelsWith(ps ...panel.TargetPanel) *View {
	return &View{Panels: &panel.Panels{Repeats: 1, Targets: ps}}
}

// TestReused: answers are those attempts that did not end in an error and did run. The command
// is named if there is one.
func TestReused(t *testing.T) {
	t.Parallel()
	with := func(cached int, outcomes ...panel.Count) panel.TargetPanel {
		return panel.TargetPanel{Overall: panel.Slice{Usage: panel.Usage{Cached: cached}, Outcomes: outcomes}}
	}
	some := with(2, panel.Count{Name: "called", N: 3}, panel.Count{Name: "abstained", N: 1},
		panel.Count{Name: "error", N: 7}, panel.Count{Name: "not_run", N: 9})
	for _, c := range []struct {
		view      *View
		all, want string
	}{
		{panelsWith(some), "", " 2 of 4 answers reused."},
		{
			panelsWith(some, with(1, panel.Count{Name: "called", N: 1})), "callvet show",
			" 3 of 5 answers reused; --no-cache to ask again.",
		},
		{panelsWith(with(0, panel.Count{Name: "called", N: 3})), "callvet show", ""},
		{&View{}, "callvet show", ""},
	} {
		c.view.All = c.all
		if got := c.view.cached(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestRepeatText: two attempts at a case are printed, and one is not.
func TestRepeatText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      int
		uneven bool
		want   string
	}{{1, false, ""}, {2, false, "2 repeats"}, {3, true, "up to 3 repeats"}} {
		if got := (&View{Panels: &panel.Panels{Repeats: c.n, Uneven: c.uneven}}).RepeatText(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestReasonsAreCounted: the first reason counts as each other one, over all targets.
func TestReasonsAreCounted(t *testing.T) {
	t.Parallel()
	first, last := panel.Reasons()[0], panel.Reasons()[len(panel.Reasons())-1]
	first.N, last.N = 2, 1
	got := panelsWith(panel.TargetPanel{Overall: panel.Slice{Reasons: []panel.Reasoned{first, last}}},
		panel.TargetPanel{Overall: panel.Slice{Reasons: []panel.Reasoned{first}}}).reasons()
	if s := got.list(first.Outcome); s != " (token limit: 4)" {
		t.Errorf("%q", s)
	}
	if s := got.list(last.Outcome); s != " (lost record: 1)" {
		t.Errorf("%q", s)
	}
}

// TestDistinctSlices: a slice of one case, or of all cases, has no line on a terminal. Their number
// is printed.
func TestDistinctSlices(t *testing.T) {
	t.Parallel()
	screenOf := func(cases ...int) string {
		p := panel.TargetPanel{Name: "agent", Overall: panel.Slice{Cases: 10}}
		for i, n := range cases {
			p.Slices = append(p.Slices, panel.Slice{Key: "tag", Value: string(rune('a' + i)), Cases: n})
		}
		s := newScreen(TerminalOptions{Width: 100})
		s.slices(panelsWith(p))
		return s.String()
	}
	const left = "of one case or of all cases left out"
	if s := screenOf(2, 9); !strings.Contains(s, "tag=a") || !strings.Contains(s, "tag=b") ||
		strings.Contains(s, left) {
		t.Error(s)
	}
	if s := screenOf(2, 1, 10, 3); strings.Contains(s, "tag=b") || strings.Contains(s, "tag=c") ||
		!strings.Contains(s, "tag=d") || !strings.Contains(s, "2 slices "+left) {
		t.Error(s)
	}
}

// TestExpectedCall: only a call that matched and violates no schema is the expected one.
func TestExpectedCall(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]callvet.CallMatch{
		"pay: the expected call": {State: callvet.StateMatched},
		"pay":                    {State: callvet.StateMatched, Violations: []callvet.Violation{{Path: "/x"}}},
		"pay ":                   {State: callvet.StatePartial},
	} {
		m.Want, m.Got = []string{"pay"}, "pay"
		if got := diffCall(&m).Title; got != strings.TrimSpace(want) {
			t.Errorf("%s: %q", m.State, got)
		}
	}
}

// TestRulesOfAnAttempt: the version of the rules is printed if it differs from that of this
// callvet.
func TestRulesOfAnAttempt(t *testing.T) {
	t.Parallel()
	for rules, want := range map[int]bool{0: false, callvet.RulesVersion: false, callvet.RulesVersion - 1: true} {
		r := Row{Cell: &callvet.Cell{
			Trace:  callvet.Trace{Outcome: callvet.OutcomeCalled},
			Result: callvet.Result{Rules: rules},
		}}
		if s := attemptMeta(r); strings.Contains(s, "of the rules") != want {
			t.Errorf("%d: %s", rules, s)
		}
	}
}

// TestNotRunInJUnit: an attempt that was planned and did not run is an error, one that its case leaves out
// is skipped.
func TestNotRunInJUnit(t *testing.T) {
	t.Parallel()
	cells := []callvet.Cell{{
		Trace:  callvet.Trace{Outcome: callvet.OutcomeNotRun},
		Result: callvet.Result{Verdict: callvet.VerdictNotRun},
	}}
	for _, c := range []struct{ skip, want, not string }{{"", "<error", "<skipped"}, {"later", "<skipped", "<error"}} {
		cases := []callvet.Case{{ID: "a", Skip: c.skip}}
		cells[0].Trace.CaseID = "a"
		var b bytes.Buffer
		if err := JUnit(&b, viewOf(cases, cells)); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); !strings.Contains(s, c.want) || strings.Contains(s, c.not) {
			t.Errorf("skip %q:\n%s", c.skip, s)
		}
	}
}
