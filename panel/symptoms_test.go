// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// told are findings in short.
func told(p *Panels) []string {
	var out []string
	for _, f := range p.Findings {
		out = append(out, fmt.Sprintf("%s: %d of %d, %.2f", f.Code, f.Count, f.Of, f.Share))
		out = append(out, f.Evidence...)
		for _, e := range f.Examples {
			out = append(out, fmt.Sprintf("see %s %s %s", e.Target, e.Task, e.Why))
		}
	}
	return out
}

// TestSymptoms: a run shows the common issues, with their evidence and what helps.
func TestSymptoms(t *testing.T) {
	t.Parallel()
	silent := func(i int, choice string) *callvet.Cell {
		c := failed(attempt(i, 0, ""), callvet.ClassMissedCall, callvet.CallMatch{State: callvet.StateMissing, Actual: -1, Want: []string{"weather"}})
		c.Trace.ToolChoice = choice
		return c
	}
	called := func(i int, choice string, em float64) *callvet.Cell {
		c := attempt(i, 0, callvet.VerdictPass, "weather")
		c.Trace.ToolChoice = choice
		c.Result.Scores = []callvet.Score{{Name: "tool_selection", Value: 1, Scored: true}, {Name: "arg_em", Value: em, Scored: true}}
		if em < 1 {
			failed(c, callvet.ClassWrongArgs, callvet.CallMatch{State: callvet.StatePartial, Want: []string{"weather"}, Got: "weather", Args: []callvet.ArgDiff{
				{Path: "city", Expected: json.RawMessage(`"Lisbon"`), Actual: json.RawMessage(`"Lisboa"`)}, {Path: "days", Matched: true},
			}})
		}
		return c
	}
	with := func(c *callvet.Cell, edit func(*callvet.Trace)) *callvet.Cell {
		edit(&c.Trace)
		return c
	}
	mended := func(tr *callvet.Trace) {
		tr.Format, tr.Repairs, tr.Turns[0].Calls[0].Repairs = callvet.FormatNormalized, []string{"in_name"}, []string{"in_name", "fenced"}
	}
	untaken := func(tr *callvet.Trace) { tr.Omitted = []string{"tool_choice"} }
	for _, c := range []struct {
		name  string
		cells []*callvet.Cell
		want  []string
	}{
		{"text under auto", []*callvet.Cell{silent(0, "auto"), silent(1, "auto"), called(2, "auto", 1)}, []string{
			"T1: 2 of 3, 1.00", "m: 2 of 3 attempts that need a call and have tool_choice auto have none", "see m c0 ", "see m c1 ",
		}},
		{"text now and then is what models do", []*callvet.Cell{silent(0, "auto"), called(1, "auto", 1), called(2, "auto", 1)}, nil},
		{"none is asked for text", []*callvet.Cell{silent(0, "none"), silent(1, "none")}, nil},
		{"an older trace does not say", []*callvet.Cell{silent(0, ""), silent(1, "")}, nil},
		{"wrong values everywhere", []*callvet.Cell{called(0, "auto", 0), called(1, "auto", 0), called(2, "auto", 0)}, []string{
			"T2: 3 of 3, 1.00", "m: 3 of 3 attempts with the right tools have no call with the expected arguments", "m: arguments that differ most: weather.city (3)",
			"see m c0 weather.city", "see m c1 weather.city", "see m c2 weather.city",
		}},
		{"wrong values now and then", []*callvet.Cell{called(0, "auto", 0), called(1, "auto", 0), called(2, "auto", 1)}, nil},
		{"mended calls", []*callvet.Cell{with(called(0, "auto", 1), mended), called(1, "auto", 1), silent(2, "none")}, []string{
			"T3: 1 of 3, 0.00", "m: 1 of 3 attempts were mended before they were scored: fenced (1), in_name (1)", "see m c0 ",
		}},
		{"required is refused or ignored", []*callvet.Cell{with(called(0, "auto", 1), untaken), silent(1, "required"), called(2, "required", 1)}, []string{
			"T4: 2 of 3, 1.00", "m: 2 of 3 attempts that had to call were made under auto, or without a call", "see m c0 ", "see m c1 ",
		}},
		{"errors show nothing", []*callvet.Cell{errored(0, 0), errored(1, 0)}, nil},
	} {
		cases := []callvet.Case{oneCall("c0", "weather"), oneCall("c1", "weather"), oneCall("c2", "weather")}
		for _, cells := range [][]*callvet.Cell{c.cells, slicesReversed(c.cells)} {
			got := collect(Config{Targets: []callvet.Target{{Name: "m"}, {Name: "floor", Floor: true}}}, cases, cells...)
			if d := cmp.Diff(c.want, told(got)); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
			for _, f := range got.Findings {
				if p := Playbook(f.Code); f.Title != p.Title || f.Test == "" || f.Fix == "" {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
		}
	}
}

func slicesReversed(list []*callvet.Cell) []*callvet.Cell {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// TestContractFindings: runs tell which tools exceed their budgets and limits, as traces do.
func TestContractFindings(t *testing.T) {
	t.Parallel()
	budget := 500.0
	tools := []callvet.Tool{{Name: "weather", LatencyBudgetMS: &budget}, {Name: "pay", RateLimit: &callvet.RateLimit{Calls: 1, PerSeconds: 60}}}
	cell := attempt(0, 0, callvet.VerdictPass, "weather")
	cell.Trace.Turns[0].Calls = []callvet.Call{
		{Tool: "weather", Status: callvet.StatusOK, ExecMS: 900},
		{Tool: "weather", Status: callvet.StatusOK, ExecMS: 100},
		{Tool: "pay", Status: callvet.StatusOK},
		{Tool: "pay", Status: callvet.StatusOK},
		{Tool: "pay", Status: callvet.StatusExecErr, Error: "429 too many requests"},
	}
	got := told(collect(Config{Targets: []callvet.Target{{Name: "m"}}, Tools: tools}, []callvet.Case{oneCall("a", "weather")}, cell))
	want := []string{
		"B1: 1 of 2, 0.00", "m: weather: 1 of 2 executions took longer than 500 ms (50.0 %, and the budget allows 10 %)", "see m a weather",
		"B2: 2 of 3, 0.00", "m: 1 of 3 executed calls were refused (33.33 %)", "m: 1 call that was not refused is more than the limits allow in the time of their attempts", "m: pay: 2 calls, its limit is 1 in 60 s", "see m a pay",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestShareOfOneAttempt: an attempt that exceeds the limits of two tools explains one failure.
func TestShareOfOneAttempt(t *testing.T) {
	t.Parallel()
	limit := &callvet.RateLimit{Calls: 1, PerSeconds: 60}
	refused := func(i int) *callvet.Cell {
		c := attempt(i, 0, callvet.VerdictFail, "weather")
		c.Trace.Turns[0].Calls = []callvet.Call{
			{Tool: "weather", Status: callvet.StatusExecErr, Error: "429 too many requests"},
			{Tool: "pay", Status: callvet.StatusExecErr, Error: "429 too many requests"},
		}
		return c
	}
	p := collect(Config{Targets: []callvet.Target{{Name: "m"}}, Tools: []callvet.Tool{{Name: "weather", RateLimit: limit}, {Name: "pay", RateLimit: limit}}},
		[]callvet.Case{oneCall("a", "weather"), oneCall("b", "weather")}, refused(0), attempt(1, 0, callvet.VerdictFail, "weather"))
	if len(p.Findings) != 1 || p.Findings[0].Code != "B2" || p.Findings[0].Count != 2 || p.Findings[0].Share != 0.5 {
		t.Errorf("%+v", p.Findings)
	}
}
