// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// TestBrief: a run is short only where every planned attempt of its one target passed.
func TestBrief(t *testing.T) {
	t.Parallel()
	cases := sampleCases()
	passing := func() (cells []callvet.Cell) {
		for i := range cases {
			cells = append(cells, callvet.Cell{
				Case:   i,
				Trace:  callvet.Trace{CaseID: cases[i].ID, Outcome: callvet.OutcomeCalled, Attempts: 1, WallMS: 200},
				Result: callvet.Result{Verdict: callvet.VerdictPass, Scores: scored("overall", 1.0)},
			})
		}
		return cells
	}
	with := func(edit func(*callvet.Cell)) []callvet.Cell {
		cells := passing()
		edit(&cells[1])
		return cells
	}
	one := []callvet.Target{{Name: "openai/demo", Provider: "openai", Model: "demo"}}
	for _, c := range []struct {
		name    string
		cells   []callvet.Cell
		targets []callvet.Target
		opt     TerminalOptions
		brief   bool
		has     []string
	}{
		{
			"all passed", passing(), one,
			TerminalOptions{Brief: true},
			true,
			[]string{"The true rate may be as low as ", "Measured: latency p50 200 ms"},
		},
		{
			"one case", passing()[:1], one,
			TerminalOptions{Brief: true},
			true,
			[]string{"The only judged attempt passed. So few cases bound no rate."},
		},
		{"none", nil, one, TerminalOptions{Brief: true}, false, []string{"Nothing was judged."}},
		{"not asked for", passing(), one, TerminalOptions{}, false, nil},
		{"verbose", passing(), one, TerminalOptions{Brief: true, Verbose: true}, false, nil},
		{
			"one failed", with(func(c *callvet.Cell) { c.Result.Verdict = callvet.VerdictFail }), one,
			TerminalOptions{Brief: true},
			false, nil,
		},
		{"one error", with(func(c *callvet.Cell) {
			c.Trace.Outcome, c.Result = callvet.OutcomeError, callvet.Result{Verdict: callvet.VerdictError}
		}), one, TerminalOptions{Brief: true}, false, nil},
		{"one did not run", with(func(c *callvet.Cell) {
			c.Trace.Outcome, c.Result = callvet.OutcomeNotRun, callvet.Result{Verdict: callvet.VerdictNotRun}
		}), one, TerminalOptions{Brief: true}, false, nil},
		{
			"two targets", passing(), append(one[:1:1], callvet.Target{Name: "other"}),
			TerminalOptions{Brief: true},
			false, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := &View{
				ID: "r1", Targets: c.targets, Panels: panelsOf(c.targets, nil, cases, c.cells),
				Suite: SuiteMeta{Name: "travel", Cases: len(cases)},
				Next:  []string{"callvet show r1", "callvet report r1"},
				Cells: viewOf(cases, c.cells).Cells,
			}
			var b strings.Builder
			if err := Terminal(&b, v, c.opt); err != nil {
				t.Fatal(err)
			}
			short := !strings.Contains(b.String(), "───") && strings.HasSuffix(b.String(), "\nNext: callvet show r1\n")
			if short != c.brief {
				t.Errorf("brief: %t, want %t:\n%s", short, c.brief, b.String())
			}
			for _, part := range c.has {
				if !strings.Contains(b.String(), part) {
					t.Errorf("no %q in:\n%s", part, b.String())
				}
			}
		})
	}
}
