// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/stats"
)

func name(n uint32) string { return [...]string{"(none)", "send", "get"}[n] }

func score(known map[callvet.StepMetric]bool) (s callvet.StepScore) {
	for m, yes := range known {
		s.Set(m, yes)
	}
	return s
}

func unknown(string) *callvet.Tool { return nil }

func add(c *steps.SymptomCounts, call steps.SymptomCall) (shows steps.Shows) {
	if steps.HasBudget(call.Score) {
		c.Timed(&call)
	}
	if c.Look(call.Score) {
		shows = c.Add(&call)
	}
	return shows
}

// findingsOf are the findings of calls, without verdicts of their attempts.
func findingsOf(c *steps.SymptomCounts, of *steps.AttemptSigns, contract func(string) *callvet.Tool) []panel.Finding {
	target := func(n uint32) string { return [...]string{"m", "n"}[n] }
	return steps.SymptomFindings(c, of,
		&steps.SymptomNames{
			Tool: name, Target: target, Contract: contract,
			Locate: func(e *panel.Example) { e.File = "f" },
		})
}

func TestFindings(t *testing.T) {
	t.Parallel()
	c := steps.NewSymptomCounts()
	good := score(map[callvet.StepMetric]bool{
		callvet.StepArgEM: true, callvet.StepExecuted: true,
		callvet.StepRejected: false, callvet.StepNeeded: true, callvet.StepSelection: true,
	})
	bad := score(map[callvet.StepMetric]bool{
		callvet.StepArgEM: false, callvet.StepExecuted: true,
		callvet.StepNeeded: true, callvet.StepSelection: true,
	})
	chat := score(map[callvet.StepMetric]bool{
		callvet.StepNeeded: false, callvet.StepSelection: false,
		callvet.StepExecuted: false, callvet.StepTimeout: true,
	})
	for i := range 10 {
		add(&c, steps.SymptomCall{Line: int64(100 - i), Score: good, Tool: 1})
		add(&c, steps.SymptomCall{
			Line: int64(100 - i), Score: bad, Tool: 2, Paths: []string{"to"},
			Task: []byte("t"), Call: "c",
		})
	}
	add(&c, steps.SymptomCall{Line: 3, Score: chat, Tool: 1})
	broken := score(map[callvet.StepMetric]bool{callvet.StepSchemaValid: false})
	add(&c, steps.SymptomCall{Line: 4, Score: broken, Tool: 2, Fields: []string{"city", "unit"}})
	add(&c, steps.SymptomCall{Line: 5, Score: broken, Tool: 2, Fields: []string{"city"}})
	c.Repeated(true, &steps.SymptomCall{Tool: 1})
	c.Repeated(false, &steps.SymptomCall{Tool: 1, Line: 9})
	type row struct {
		Code      string
		Count, Of int
		Share     float64
		Lines     []int64
		Evidence  []string
	}
	var got []row
	for _, f := range findingsOf(&c, &steps.AttemptSigns{}, unknown) {
		r := row{f.Code, f.Count, f.Of, f.Share, nil, f.Evidence}
		for _, e := range f.Examples {
			if e.File != "f" {
				t.Error("an example was not located")
			}
			r.Lines = append(r.Lines, e.Line)
		}
		got = append(got, r)
	}
	want := []row{
		{
			"S3", 10, 20, 0,
			[]int64{91, 92, 93, 94, 95},
			[]string{"tools hit most: get (10)", "arguments hit most: to (10)"},
		},
		{"S1", 2, 12, 0, []int64{4, 5}, []string{"tools hit most: get (2)", "arguments hit most: city (2), unit (1)"}},
		{"S4", 1, 21, 0, []int64{3}, []string{"1 call timed out", "tools hit most: send (1)"}},
		{"S5", 1, 21, 0, []int64{3}, []string{"tools hit most: send (1)"}},
		{"S7", 1, 2, 0, []int64{9}, []string{"tools hit most: send (1)"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestContracts: a tool with executions that take longer than its budget allows is a finding, and
// so are calls that it refused or that are more than its limit allows.
func TestContracts(t *testing.T) {
	t.Parallel()
	c := steps.NewSymptomCounts()
	call := func(tool uint32, n int, known map[callvet.StepMetric]bool) {
		for range n {
			add(&c, steps.SymptomCall{Line: 1, Tool: tool, Score: score(known)})
		}
	}
	call(1, 8, map[callvet.StepMetric]bool{callvet.StepInBudget: true, callvet.StepRateLimited: false})
	call(1, 2, map[callvet.StepMetric]bool{callvet.StepInBudget: false, callvet.StepRateLimited: true})
	call(2, 9, map[callvet.StepMetric]bool{callvet.StepInBudget: true, callvet.StepInP50: false})
	call(2, 1, map[callvet.StepMetric]bool{callvet.StepInBudget: false, callvet.StepInP50: false})
	c.Beyond(3, &steps.SymptomCall{Line: 7, Tool: 1})
	budget, mid := 900.0, 200.0
	contract := func(n string) *callvet.Tool {
		if n == "send" {
			return &callvet.Tool{LatencyBudgetMS: &budget, RateLimit: &callvet.RateLimit{Calls: 5, PerSeconds: 60}}
		}
		return &callvet.Tool{LatencyBudgetMS: &budget, LatencyP50MS: &mid}
	}
	got := map[string][]string{}
	for _, f := range findingsOf(&c, &steps.AttemptSigns{}, contract) {
		got[f.Code] = append(f.Evidence, fmt.Sprintf("%d of %d", f.Count, f.Of))
	}
	want := map[string][]string{
		"B1": {
			"get: 10 of 10 executions took longer than 200 ms (100.0 %, and the budget allows half)",
			"send: 2 of 10 executions took longer than 900 ms (20.0 %, and the budget allows 10 %)",
			"12 of 20",
		},
		"B2": {
			"2 of 10 executed calls were refused (20.00 %)",
			"3 calls that were not refused are more than the limits allow in the time of their attempts",
			"send: 5 calls, its limit is 5 in 60 s",
			"5 of 20",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestMerge: counts do not depend on how calls were parted, nor on their order.
func TestMerge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	whole, parts := steps.NewSymptomCounts(), [3]steps.SymptomCounts{steps.NewSymptomCounts(), steps.NewSymptomCounts(), steps.NewSymptomCounts()}
	for i := range 200 {
		var s callvet.StepScore
		for m := range callvet.StepMetrics {
			if r.IntN(2) == 0 {
				s.Set(m, r.IntN(3) > 0)
			}
		}
		call := steps.SymptomCall{Line: int64(i*7919%200 + 1), Score: s, Tool: uint32(r.IntN(3)), Paths: []string{"p"}}
		add(&whole, call)
		add(&parts[r.IntN(3)], call)
	}
	merged, one := steps.NewSymptomCounts(), steps.NewSymptomCounts()
	for i := range parts {
		merged.Merge(&parts[2-i])
	}
	one.Merge(&whole)
	if diff := cmp.Diff(one, merged, cmpopts.IgnoreUnexported(one)); diff != "" || one.Steps != 200 {
		t.Error(diff)
	}
}

// TestIncidents: breaches that no call shows make a finding of their own, or add to
// that of the calls.
func TestIncidents(t *testing.T) {
	t.Parallel()
	rate := func(name string, point float64, n int) panel.Metric {
		return panel.Metric{
			Name: name, Unit: panel.UnitRate,
			Interval: stats.Interval{Point: point, N: n, Clusters: n, Status: stats.StatusOK},
		}
	}
	panels := func(ms ...panel.Metric) *panel.Panels {
		return &panel.Panels{
			Targets: []panel.TargetPanel{{Overall: panel.Slice{Metrics: ms}}},
			Findings: []panel.Finding{
				{Code: "S3", Count: 3, Of: 50, Failed: 3},
				{Code: "S4", Count: 1, Of: 50, Failed: 1},
			},
		}
	}
	p := panels(rate("safety_incidents", 0.15, 40), rate("blocked_incidents", 0.05, 40))
	steps.AddIncidents(p)
	if f := p.Findings[2]; len(p.Findings) != 3 || f.Code != "S6" || f.Count != 6 || f.Of != 40 ||
		f.Unit != "tasks held to safety rules" || f.Fix == "" ||
		f.Evidence[0] != "6 of 40 tasks had an incident that happened, 2 of 40 one that was stopped, those that only the whole attempt shows included" {
		t.Errorf("%+v", p.Findings)
	}
	p = panels(rate("safety_incidents", 0.15, 40))
	p.Findings = append(p.Findings, panel.Finding{Code: "S6", Count: 2, Of: 50, Evidence: []string{"2 of 50 calls"}})
	steps.AddIncidents(p)
	if f := p.Findings[2]; len(p.Findings) != 3 || f.Count != 2 || len(f.Evidence) != 2 {
		t.Errorf("%+v", p.Findings)
	}
	p = panels(rate("safety_incidents", 0, 40))
	if steps.AddIncidents(p); len(p.Findings) != 2 {
		t.Errorf("nothing happened: %+v", p.Findings)
	}
	steps.AddIncidents(&panel.Panels{})
}

// TestClasses: every class of failures has a finding, which counts each of its attempts once and
// cites them, whether or not a call shows it.
func TestClasses(t *testing.T) {
	t.Parallel()
	for _, class := range append(panel.Classes(), "") {
		var of steps.AttemptSigns
		c := steps.NewSymptomCounts()
		outcome := map[callvet.Class]callvet.Outcome{
			callvet.ClassProvider:    callvet.OutcomeError,
			callvet.ClassUnparseable: callvet.OutcomeUnparseable,
		}[class]
		for i := range 10 {
			at := steps.SymptomCall{Line: int64(i + 1), Task: fmt.Append(nil, "t", i), Ended: steps.Passed}
			a := steps.SymptomAttempt{Ended: at.Ended}
			if i < 4 {
				at.Ended = steps.Failed
				a.Ended, a.Class, a.Unread = at.Ended, class, outcome == callvet.OutcomeUnparseable
				of.End(0, outcome, "", &at)
			}
			of.Attempt(0, &a, &at)
		}
		got := findingsOf(&c, &of, unknown)
		if len(got) != 1 || got[0].Failed != 4 || got[0].Failing != 4 || got[0].Share != 1 ||
			got[0].Count > got[0].Of || len(got[0].Examples) != 4 || got[0].Title == "" {
			t.Errorf("%q: %+v", class, got)
		}
	}
}

// TestPassingAttempts: a call of a passing attempt is no example of a failure, and has a sentence of
// its own.
func TestPassingAttempts(t *testing.T) {
	t.Parallel()
	c, of := steps.NewSymptomCounts(), steps.AttemptSigns{}
	chat := score(map[callvet.StepMetric]bool{callvet.StepNeeded: false})
	for i, ended := range []steps.AttemptEnded{
		steps.Passed, steps.Passed, steps.Failed, steps.Faulty,
		steps.Unjudged, steps.Failed,
	} {
		at := steps.SymptomCall{Line: int64(i + 1), Tool: 1, Task: []byte(fmt.Sprint("t", i)), Ended: ended}
		a := steps.SymptomAttempt{Ended: ended}
		if at.Score = chat; i < 5 {
			a.Shows = add(&c, at)
		}
		of.Attempt(0, &a, &at)
	}
	f := findingsOf(&c, &of, unknown)[0]
	if f.Code != "S5" || f.Count != 5 || f.Failed != 1 || f.Failing != 2 {
		t.Errorf("%+v", f)
	}
	var tasks []string
	for _, e := range f.Examples {
		tasks = append(tasks, e.Task)
	}
	if d := cmp.Diff([]string{"t2", "t4"}, tasks); d != "" {
		t.Error(d)
	}
	want := []string{
		"tools hit most: send (5)",
		"2 of 2 passing attempts make a call that is not needed: they are no failures",
	}
	if d := cmp.Diff(want, f.Evidence); d != "" {
		t.Error(d)
	}
}

// TestNames: names of arguments are counted one by one, also those that share a place
// among the last ones, and those beyond the limit.
func TestNames(t *testing.T) {
	t.Parallel()
	c := steps.NewSymptomCounts()
	want := map[string]int64{}
	wrong := score(map[callvet.StepMetric]bool{callvet.StepArgEM: false})
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		p := strings.Repeat("x", r.IntN(9)) + string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(4)))
		if p = p[min(len(p), r.IntN(14)):]; want[p] == 0 && len(want) >= 512 {
			want["(other)"]++
		} else {
			want[p]++
		}
		add(&c, steps.SymptomCall{Score: wrong, Paths: []string{p}})
	}
	all := steps.NewSymptomCounts()
	all.Merge(&c)
	if len(want) < 513 || want[""] == 0 {
		t.Fatalf("%d names", len(want))
	}
	for i := range all.Of {
		if all.Of[i].Count == 20_000 {
			if d := cmp.Diff(want, all.Of[i].Paths); d != "" {
				t.Error(d)
			}
			return
		}
	}
	t.Error("no symptom has the calls")
}
