// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// attempt is an attempt at a case that was judged so.
func attempt(target, repeat int, v callvet.Verdict, cost *float64) *callvet.Cell {
	c := &callvet.Cell{
		Target: target, Repeat: repeat,
		Trace: callvet.Trace{WallMS: 2, Answer: "a", Usage: callvet.Usage{CostUSD: cost}},
	}
	c.Trace.Turns = []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "t"}}}}
	c.Trace.Outcome = callvet.OutcomeCalled
	c.Result.Verdict = v
	if v == callvet.VerdictFail {
		c.Result.Reason, c.Result.Class = "why", callvet.ClassWrongTool
		c.Result.Assertions = []callvet.Assertion{
			{Name: "tools_called", State: callvet.AssertFailed, Expected: "x"},
			{Name: "tools_not_called", State: callvet.AssertPassed},
		}
	}
	if v == callvet.VerdictNotRun {
		c.Trace.Outcome, c.Result.NotEvaluated = callvet.OutcomeNotRun, 2
	}
	return c
}

func builder() *EvalBuilder {
	return &EvalBuilder{
		RunID: "r2", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Suite: "s", Targets: []string{"m", "n"},
		Tools:    []callvet.Tool{{Name: "get_weather", Version: "2.1", Description: "d"}},
		FileHash: func(ix int) string { return "f" },
		Stale:    map[string][]string{"": {"for all"}, "get_weather": {"for one"}},
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	pass, fail, none := callvet.VerdictPass, callvet.VerdictFail, callvet.VerdictNotRun
	cost := 0.5
	b := builder()
	add := func(id string, tier callvet.Tier, verdicts ...callvet.Verdict) {
		for i, v := range verdicts {
			b.Add(&callvet.Case{ID: id, Tier: tier, Description: "of " + id}, attempt(0, i, v, &cost))
		}
	}
	add("gs-get-weather-001", callvet.TierGolden, pass, fail, pass)
	add("gs-get-weather-002", callvet.TierGolden, fail, fail, pass)
	add("gs-get-weather-003", callvet.TierGolden, none, none, none)
	add("ls-other-tool-001", callvet.TierLabeled, pass)
	add("free", "", pass)
	got := b.Results(nil)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	g := got[0]
	if d := cmp.Diff(EvalMetadata{
		ToolVersion: "2.1", DescriptionHash: "18ac3e7343f0", RegistrySize: 1,
		EvalFileHash: "f",
	}, g.Metadata); d != "" {
		t.Error(d)
	}
	total := 4.5
	if d := cmp.Diff(EvalSummary{
		Total: 3, Passed: 1, Failed: 1, Unjudged: 1, SkippedAssertions: 6, TotalDurationMS: 18,
		EstimatedCostUSD: &total,
	}, g.Summary); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"for all", "for one"}, g.StalenessWarnings); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"gs-get-weather-001", "gs-get-weather-002"}, g.Flaky); d != "" {
		t.Error(d)
	}
	first := g.Cases[0]
	if !first.Passed || first.Error != "why; tools_called: expected x" || first.Details.Verdict != fail ||
		first.Details.Passes != 2 || first.Details.Judged != 3 {
		t.Errorf("%+v %+v", first, first.Details)
	}
	if last := g.Cases[2]; last.Passed || last.Error != "not_run" || last.Details.SkippedAssertions != 6 {
		t.Errorf("%+v", last)
	}
	for i, want := range []struct {
		tier callvet.Tier
		tool string
	}{{callvet.TierGolden, "get_weather"}, {callvet.TierLabeled, "other_tool"}, {"", "s"}} {
		if got[i].Tier != want.tier || got[i].ToolName != want.tool || got[i].Target != "m" ||
			got[i].RunID != EvalUUID("r2") || got[i].Run != "r2" || got[i].Timestamp != "2026-01-02T03:04:05Z" {
			t.Errorf("%+v", got[i])
		}
	}
	b = builder()
	b.Add(&callvet.Case{ID: "a"}, attempt(0, 0, pass, nil))
	if s := b.Results(nil)[0].Summary; s.EstimatedCostUSD != nil {
		t.Errorf("a cost that nobody knows is %v", *s.EstimatedCostUSD)
	}
}

func TestAgainst(t *testing.T) {
	t.Parallel()
	b := builder()
	for _, id := range []string{"gs-a-001", "gs-a-002", "gs-a-003", "gs-a-004", "gs-a-005", "gs-a-006", "gs-a-007"} {
		b.Add(&callvet.Case{ID: id, Tier: callvet.TierGolden}, attempt(0, 0, callvet.VerdictPass, nil))
	}
	base := &EvalBaseline{
		RunID: "r1", Repeats: true,
		Tiers: map[string]callvet.Tier{
			"gs-a-009": callvet.TierGolden, "ls-a-009": callvet.TierLabeled,
			"gs-b-009": callvet.TierGolden,
		},
		Comparison: &panel.Comparison{
			OnlyCandidate: []string{"gs-a-001"}, OnlyBaseline: []string{"gs-a-009", "ls-a-009", "gs-b-009"},
			Changed: []string{"gs-a-002"},
			Targets: []panel.TargetComparison{{
				Baseline: "old", Candidate: "m", Unjudged: []panel.UnjudgedCase{{Case: "gs-a-003"}},
				Changes: []panel.CaseChange{
					{Case: "gs-a-004", Kind: panel.NewlyFailing},
					{Case: "gs-a-005", Kind: panel.NewlyPassing},
					{Case: "gs-a-006", Kind: panel.LessOften},
				},
			}},
		},
		Before: func(target, id string) (int, int) {
			if target != "old" {
				t.Errorf("asked for %s", target)
			}
			return 5, 5
		},
		Now: func(_, id string) (int, int) {
			return map[string]int{"gs-a-004": 0, "gs-a-005": 5, "gs-a-006": 4, "gs-a-007": 5}[id], 5
		},
	}
	r := b.Results(base)[0]
	type lists struct{ Regressions, NewPasses, Unchanged, Added, Removed, Changed, Unjudged, Flaky []string }
	if d := cmp.Diff(lists{
		[]string{"gs-a-004"},
		[]string{"gs-a-005"},
		[]string{"gs-a-006", "gs-a-007"},
		[]string{"gs-a-001"},
		[]string{"gs-a-009"},
		[]string{"gs-a-002"},
		[]string{"gs-a-003"},
		[]string{"gs-a-006"},
	}, lists{r.Regressions, r.NewPasses, r.Unchanged, r.Added, r.Removed, r.Changed, r.Unjudged, r.Flaky}); d != "" {
		t.Error(d)
	}
	var verdicts []string
	for _, v := range r.Verdicts {
		verdicts = append(verdicts, v.Verdict)
	}
	if d := cmp.Diff([]string{panel.CaseWorse, panel.CaseUnchanged, panel.CaseFlaky, panel.CaseUnchanged},
		verdicts); d != "" {
		t.Error(d)
	}
}

func TestToolOfID(t *testing.T) {
	t.Parallel()
	b := builder()
	for id, want := range map[string]string{
		"gs-get-weather-001": "get_weather", "sp-get-weather-same-001": "get_weather",
		"sp-get-weather-diff-002": "get_weather", "rg-new-tool-12": "new_tool",
		"gs-001": "s", "weather": "s", "xx-get-weather-001": "s", "": "s",
	} {
		if got := b.tool(id); got != want {
			t.Errorf("%s is of %s, not of %s", id, got, want)
		}
	}
}

// TestUnlooked: a case that passed with an assertion that was not evaluated has not passed.
func TestUnlooked(t *testing.T) {
	t.Parallel()
	b := builder()
	for repeat := range 2 {
		cell := attempt(0, repeat, callvet.VerdictPass, nil)
		cell.Result.NotEvaluated = 1
		cell.Result.Assertions = []callvet.Assertion{{
			Name: "response_contains", State: callvet.AssertNotEvaluated,
			Reason: "there was no answer",
		}}
		b.Add(&callvet.Case{ID: "gs-a-001", Tier: callvet.TierGolden}, cell)
	}
	r := b.Results(nil)[0]
	c := r.Cases[0]
	if c.Passed || c.Error != "response_contains was not evaluated: there was no answer" || c.Details.Passes != 2 ||
		c.Details.Whole != 0 {
		t.Errorf("%+v %+v", c, c.Details)
	}
	if s := r.Summary; s.Passed != 0 || s.Failed != 0 || s.Unjudged != 1 {
		t.Errorf("%+v", s)
	}
}
