// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// TestChangeNextToBound: next to a bound is how its metric changed from the baseline; one without a
// name is the only one of its file.
func TestChangeNextToBound(t *testing.T) {
	t.Parallel()
	const change = "arg_em changed by -0.10 [-0.20, -0.01], by 60 tasks measured in both runs"
	unnamed := func(p *panel.Panels, c *panel.Comparison) {
		p.Targets[0].Name, c.Targets[0].Candidate = "", "after.jsonl"
	}
	for name, tc := range map[string]struct {
		oneSided int
		change   func(p *panel.Panels, c *panel.Comparison)
		want     string
	}{
		"on both sides": {0, nil, change + "; no gate is about the change"},
		"on one side":   {2, nil, change + ", 2 tasks without it on one side; no gate is about the change"},
		"no estimate": {0, func(_ *panel.Panels, c *panel.Comparison) {
			c.Targets[0].Measured[0].Overall.Change.Status = stats.StatusNoData
		}, ""},
		"without names": {0, unnamed, change + "; no gate is about the change"},
		"another name":  {0, func(_ *panel.Panels, c *panel.Comparison) { c.Targets[0].Candidate = "other" }, ""},
		"without names, two here": {0, func(p *panel.Panels, c *panel.Comparison) {
			unnamed(p, c)
			p.Targets = append(p.Targets, panel.TargetPanel{Name: "floor", Floor: true})
		}, ""},
		"without names, two compared": {0, func(p *panel.Panels, c *panel.Comparison) {
			unnamed(p, c)
			c.Targets = append(c.Targets, c.Targets[0])
		}, ""},
	} {
		p := over(share("arg_em", interval(0.91, 0.95, 0.98, 60)))
		c := against("arg_em", difference(-0.2, -0.1, -0.01, 60), tc.oneSided)
		if tc.change != nil {
			tc.change(p, c)
		}
		v := one(t, gates.Input{Panels: p, Comparison: c}, atLeast("arg_em", 0.9))
		if v.Verdict != gate.Pass || v.Against != tc.want || (v.Change != nil) != (tc.want != "") {
			t.Errorf("%s: %s, %q %v", name, v.Verdict, v.Against, v.Change)
		}
	}
}

// TestLost: too many errors are not reported as a missing baseline.
func TestLost(t *testing.T) {
	t.Parallel()
	g := gates.Gate{Metric: "pass_rate", Kind: gates.Regression}
	for name, tc := range map[string]struct {
		lost panel.Verdicts
		want reading
	}{
		"errors": {
			panel.Verdicts{Pass: 10, Error: 10},
			reading{
				Verdict: gate.Inconclusive, Reason: gates.ReasonErrors,
				Sentence: "pass_rate: 10 of 20 attempts ended in an error and are in no mean, more than 5 %: inconclusive", Cure: "run those attempts again",
			},
		},
		"no errors": {
			panel.Verdicts{Pass: 20},
			reading{
				Verdict: gate.Inconclusive, Reason: gates.ReasonNoBaseline,
				Sentence: "pass_rate: there is no baseline to compare with: inconclusive",
				Cure:     "a baseline with the same tasks: --baseline",
			},
		},
	} {
		p := over()
		p.Targets[0].Overall.Verdicts = tc.lost
		if d := cmp.Diff(tc.want, readingOf(one(t, gates.Input{Panels: p}, g))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestAClaimAtTheLevel: of one comparison the p value itself is adjusted, and a claim
// stands only below the level.
func TestAClaimAtTheLevel(t *testing.T) {
	t.Parallel()
	confidence := 0.95
	for p, want := range map[float64]gate.Verdict{1 - confidence: gate.Inconclusive, 0.0499: gate.Fail} {
		d := difference(-0.2, -0.1, -0.01, 60)
		d.P = p
		in := gates.Input{Panels: over(), Comparison: against("arg_em", d, 0), Correction: gates.Holm}
		if v := one(t, in, gates.Gate{Metric: "arg_em", Kind: gates.Regression}); v.Verdict != want ||
			*v.PAdjusted != p {
			t.Errorf("p %v: %s", p, v.Sentence)
		}
	}
}

// TestWhatGatesMayName: the problems of gates, at the limits of what is allowed.
func TestWhatGatesMayName(t *testing.T) {
	t.Parallel()
	lean := over(rate("arg_em", 50, 1, 0), rate("judged_pass:a", 50, 1, 0))
	lean.Targets[0].Slices = []panel.Slice{{
		Key: "language", Value: "de",
		Metrics: []panel.Metric{rate("schema_valid", 50, 1, 0)},
	}}
	nameless := over(rate("arg_em", 50, 1, 0))
	nameless.Targets[0].Name = ""
	many := func(n int) *panel.Panels {
		p := over(rate("arg_em", 50, 1, 0))
		for i := range n - 1 {
			p.Targets = append(p.Targets, panel.TargetPanel{Name: fmt.Sprintf("model-%02d", i)})
		}
		return p
	}
	on := func(target string) gates.Gate { g := atLeast("arg_em", 0.5); g.Target = target; return g }
	judged := func(kind gates.Kind, judge string) gates.Gate {
		g := atLeast("judged_pass:"+judge, 0.5)
		g.Kind = kind
		return g
	}
	twelve := "known: agent, model-00, model-01, model-02, model-03, model-04, model-05, model-06, model-07, model-08, model-09, model-10"
	for name, tc := range map[string]struct {
		p    *panel.Panels
		gate gates.Gate
		want string // the start of the problem
		fix  string
	}{
		"a bound of 0": {lean, atLeast("arg_em", 0), "", ""},
		"a bound of 1": {lean, atLeast("arg_em", 1), "", ""},
		"a bound below 0": {
			lean, atLeast("arg_em", -0.1),
			"arg_em is a share from 0 to 1, the bound is -0.1", "",
		},
		"a bound in per cent": {
			lean, atLeast("arg_em", 1.5), "arg_em is a share from 0 to 1, the bound is 1.5",
			"did you mean 1.5%?",
		},
		"a bound of 100": {
			lean, atLeast("arg_em", 100), "arg_em is a share from 0 to 1, the bound is 100",
			"did you mean 100%?",
		},
		"a bound beyond it": {
			lean, atLeast("arg_em", 101),
			"arg_em is a share from 0 to 1, the bound is 101", "",
		},
		"measured in a slice only": {
			lean, atLeast("schema_valid", 98),
			"schema_valid is a share from 0 to 1, the bound is 98", "did you mean 98%?",
		},
		"not measured":         {lean, atLeast("execution_success", 98), "", ""},
		"a judge that is here": {lean, judged(gates.Bound, "a"), "", ""},
		"a judge that is not": {
			lean, judged(gates.Bound, "b"), `there is no metric "judged_pass:b"`,
			"did you mean judged_pass:a?",
		},
		"a judge of the baseline":     {lean, judged(gates.Regression, "b"), "", ""},
		"a target where none has one": {nameless, on("gpt"), `there is no target "gpt"`, "there is none here"},
		"a target of twelve":          {many(12), on("gpt"), `there is no target "gpt"`, twelve},
		"a target of thirteen":        {many(13), on("gpt"), `there is no target "gpt"`, twelve + ", …"},
	} {
		var got, fix string
		if _, problems := gates.Evaluate(gates.Input{Panels: tc.p}, []gates.Gate{tc.gate}); len(problems) > 0 {
			got, fix = problems[0].Message, problems[0].Fix
		}
		if got != tc.want || fix != tc.fix {
			t.Errorf("%s: %q (%s)", name, got, fix)
		}
	}
}

// TestWhatIsMeasuredInstead: for a missing metric the measured ones are named.
func TestWhatIsMeasuredInstead(t *testing.T) {
	t.Parallel()
	var names []string
	p := over()
	for i := range 13 {
		names = append(names, fmt.Sprintf("m%02d", i))
		p.Targets[0].Overall.Metrics = append(p.Targets[0].Overall.Metrics, rate(names[i], 50, 1, 0))
	}
	measured := func(n int) *panel.Panels {
		return over(p.Targets[0].Overall.Metrics[:n]...)
	}
	for name, tc := range map[string]struct {
		p      *panel.Panels
		metric string
		want   string
	}{
		"nothing": {
			measured(0), "completion",
			"record what the metric needs, or drop the gate; measured are: nothing",
		},
		"twelve": {
			measured(12), "completion",
			"record what the metric needs, or drop the gate; measured are: " + strings.Join(names[:12], ", "),
		},
		"thirteen": {
			measured(13), "completion",
			"record what the metric needs, or drop the gate; measured are: " + strings.Join(names[:12], ", ") + ", …",
		},
		"a near one": {
			over(rate("tokens_p90", 50, 1, 0)), "tokens_p50",
			"it has tokens_p90; otherwise record what the metric needs, or drop the gate",
		},
		"what it needs": {measured(2), "schema_valid_by_task", "no data: give the tools with their schemas (--tools)"},
		"one of judges": {
			over(rate("judged_pass:a", 50, 1, 0), rate("judged_pass:b", 50, 1, 0)), "judged_pass",
			"name the judge: judged_pass:a, judged_pass:b",
		},
		"a calibration": {
			measured(2), "true_success",
			"no data: it needs people's labels (callvet label next, then --labels), or verdicts of a judge and a calibration of that judge (callvet calibrate, then --calibration)",
		},
		"what is safe": {
			measured(2), "safe_calls",
			"no data: say what is safe, in the tools' schemas (--tools), or record incidents",
		},
	} {
		if v := one(t, gates.Input{Panels: tc.p}, atLeast(tc.metric, 0.5)); v.Cure != tc.want ||
			v.Reason != gates.ReasonNoMetric {
			t.Errorf("%s: %q", name, v.Cure)
		}
	}
}

// TestWhatToOpen: a gate that did not pass names at most three tasks: those that pass no
// longer, the examples of the finding about its metric, or else the weakest.
func TestWhatToOpen(t *testing.T) {
	t.Parallel()
	example := func(kind, target, task string) panel.Example {
		return panel.Example{Kind: kind, Target: target, Task: task, File: "t.jsonl", Line: 7, Why: "why"}
	}
	several := func(kind, target string, tasks ...string) []panel.Example {
		var out []panel.Example
		for _, task := range tasks {
			out = append(out, example(kind, target, task))
		}
		return out
	}
	weak := append(several("strongest", "agent", "s1"), several("weakest", "agent", "w1", "w2")...)
	schema := panel.Finding{Code: "S1", Examples: several("", "", "a1")}
	arguments := panel.Finding{
		Code: "S3",
		Examples: append(several("weakest", "", "no"),
			append(several("", "other", "o1"), several("", "agent", "b1", "b2", "b3", "b4")...)...),
	}
	lost := func(kinds ...string) []panel.CaseChange {
		var out []panel.CaseChange
		for i, k := range kinds {
			out = append(out, panel.CaseChange{
				Case: fmt.Sprint("c", i), Kind: k, BaselinePasses: 2, BaselineN: 3,
				CandidatePasses: 1, CandidateN: 4,
			})
		}
		return out
	}
	regression := gates.Gate{Metric: "pass_rate", Kind: gates.Regression}
	slice := atLeast("arg_em", 0.9)
	slice.Key, slice.Value = "language", "de"
	failing := interval(0.4, 0.5, 0.6, 60)
	for name, tc := range map[string]struct {
		gate     gates.Gate
		iv       stats.Interval
		findings []panel.Finding
		changes  []panel.CaseChange
		want     []string
	}{
		"the finding about it": {
			atLeast("arg_em", 0.9), failing,
			[]panel.Finding{schema, arguments},
			nil,
			[]string{"b1", "b2", "b3"},
		},
		"no finding about it": {
			atLeast("arg_em", 0.9), failing,
			[]panel.Finding{schema},
			nil,
			[]string{"w1", "w2"},
		},
		"of any target": {
			atLeast("schema_valid", 0.9), failing,
			[]panel.Finding{schema, arguments},
			nil,
			[]string{"a1"},
		},
		"it passed": {atLeast("arg_em", 0.3), failing, []panel.Finding{schema, arguments}, nil, nil},
		"there is no number": {
			atLeast("arg_em", 0.9),
			stats.Interval{Status: stats.StatusNoData},
			[]panel.Finding{arguments},
			nil, nil,
		},
		"a slice has no examples": {slice, failing, []panel.Finding{arguments}, nil, nil},
		"passes no longer": {
			regression, failing,
			[]panel.Finding{arguments},
			lost(panel.NewlyPassing, panel.NewlyFailing, panel.LessOften, panel.NewlyFailing),
			[]string{"c1", "c3"},
		},
		"many pass no longer": {
			regression, failing, nil,
			lost(panel.NewlyFailing, panel.NewlyFailing, panel.NewlyFailing, panel.NewlyFailing),
			[]string{"c0", "c1", "c2"},
		},
		"none passes no longer": {regression, failing, nil, nil, []string{"w1", "w2"}},
		"not about passing": {
			gates.Gate{Metric: "arg_em", Kind: gates.Regression},
			failing, nil,
			lost(panel.NewlyFailing),
			[]string{"w1", "w2"},
		},
	} {
		p := over(share("arg_em", tc.iv), share("schema_valid", tc.iv), share("pass_rate", tc.iv))
		p.Targets[0].Slices = []panel.Slice{{Key: "language", Value: "de", Metrics: p.Targets[0].Overall.Metrics}}
		p.Findings, p.Examples = tc.findings, weak
		c := against("arg_em", difference(-0.2, -0.1, -0.01, 60), 0)
		c.Targets[0].Changes = tc.changes
		var got []string
		for _, o := range one(t, gates.Input{Panels: p, Comparison: c}, tc.gate).Open {
			got = append(got, o.Task)
			want := gates.Place{Task: o.Task, File: "t.jsonl", Line: 7, Why: "why"}
			if strings.HasPrefix(o.Task, "c") {
				want = gates.Place{Task: o.Task, Why: "passed 2 of 3, now 1 of 4"}
			}
			if d := cmp.Diff(want, o); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestWhichTargets: a gate is about all targets but mere floors, unless there is nothing
// else, and the sentence on the whole names the target where there are several.
func TestWhichTargets(t *testing.T) {
	t.Parallel()
	target := func(name string, floor bool, fails int) panel.TargetPanel {
		return panel.TargetPanel{
			Name: name, Floor: floor,
			Overall: panel.Slice{
				Cases: 60, Verdicts: panel.Verdicts{Pass: 60},
				Metrics: []panel.Metric{rate("arg_em", 60, 1, fails)},
			},
		}
	}
	soft := atLeast("arg_em", 0.99)
	soft.Severity = gates.Soft
	hard := atLeast("arg_em", 0.9)
	for name, tc := range map[string]struct {
		targets []panel.TargetPanel
		gates   []gates.Gate
		want    string
	}{
		"a floor alone": {
			[]panel.TargetPanel{target("floor", true, 0)},
			[]gates.Gate{hard},
			"passed: 1 of 1 check passed",
		},
		"no target": {
			nil,
			[]gates.Gate{hard},
			"inconclusive: 1 of 1 check cannot be decided; arg_em: there are no results to check it against: inconclusive",
		},
		"the second fails": {
			[]panel.TargetPanel{target("a", false, 0), target("b", false, 60)},
			[]gates.Gate{hard},
			"failed: 1 of 2 checks failed; b: arg_em 0.00 [0.00, 0.06], by 60 calls of 60 tasks: the upper end 0.06 is below the bound 0.90: failed",
		},
		"one without a name": {
			[]panel.TargetPanel{target("", false, 60), target("b", false, 0)},
			[]gates.Gate{hard},
			"failed: 1 of 2 checks failed; arg_em 0.00 [0.00, 0.06], by 60 calls of 60 tasks: the upper end 0.06 is below the bound 0.90: failed",
		},
		"one alone": {
			[]panel.TargetPanel{target("b", false, 60)},
			[]gates.Gate{hard, soft},
			"failed: 1 of 2 checks failed; arg_em 0.00 [0.00, 0.06], by 60 calls of 60 tasks: the upper end 0.06 is below the bound 0.90: failed (1 soft check not passed)",
		},
		"open next to passed": {
			[]panel.TargetPanel{target("a", false, 0), target("b", false, 3)},
			[]gates.Gate{hard},
			"inconclusive: 1 of 2 checks cannot be decided; b: arg_em 0.95 [0.86, 0.99], by 60 calls of 60 tasks: the bound 0.90 lies within the interval: inconclusive",
		},
		"soft checks": {
			[]panel.TargetPanel{target("a", false, 60)},
			[]gates.Gate{soft},
			"inconclusive: no gate is hard, so that nothing can pass or fail (1 soft check not passed)",
		},
		"nothing is asked": {
			[]panel.TargetPanel{target("a", false, 60)},
			nil,
			"inconclusive: no gate was checked",
		},
	} {
		r, problems := gates.Evaluate(
			gates.Input{Panels: &panel.Panels{Confidence: 0.95, Targets: tc.targets}, Task: "task"}, tc.gates)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if d := cmp.Diff(tc.want, r.Sentence); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestSlicesThatAreNotKept: where a panel has as many slices as it keeps, one that is not
// among them may still have attempts.
func TestSlicesThatAreNotKept(t *testing.T) {
	t.Parallel()
	g := atLeast("arg_em", 0.5)
	g.Key, g.Value = "user", "kim"
	for n, want := range map[int]string{
		999:  "arg_em of user=kim: no attempt has user=kim: inconclusive",
		1000: "arg_em of user=kim: user=kim is not among the most frequent slices, which alone are kept: inconclusive",
	} {
		p := over(rate("arg_em", 50, 1, 0))
		for i := range n {
			p.Targets[0].Slices = append(p.Targets[0].Slices, panel.Slice{Key: "user", Value: fmt.Sprint("u", i)})
		}
		if v := one(t, gates.Input{Panels: p}, g); v.Sentence != want || v.Reason != gates.ReasonNoSlice {
			t.Errorf("%d slices: %s", n, v.Sentence)
		}
	}
}

// TestExploratory: a difference of a slice from the rest is reported where the gate checks each
// value of the key, not for a single chosen value.
func TestExploratory(t *testing.T) {
	t.Parallel()
	de := table("de", 60, 0)
	de.Metrics[0].Versus = &panel.Versus{Adjusted: 0.03}
	for value, want := range map[string]bool{gates.Every: true, "de": false} {
		g := atLeast("arg_em", 0.5)
		g.Key, g.Value = "language", value
		if v := one(t, gates.Input{Panels: sliced(de)}, g); (v.Exploratory != nil) != want || want &&
			*v.Exploratory != 0.03 {
			t.Errorf("language=%s: %v", value, v.Exploratory)
		}
	}
}

// TestWarningsOfTheWhole: only where a gate is about passing are cases without a verdict reported,
// and only where there are any.
func TestWarningsOfTheWhole(t *testing.T) {
	t.Parallel()
	passing, arguments := gates.Gate{Metric: "pass_rate", Kind: gates.Regression},
		gates.Gate{Metric: "arg_em", Kind: gates.Regression}
	for name, tc := range map[string]struct {
		gate     gates.Gate
		unjudged int
		want     []string
	}{
		"some":               {passing, 2, []string{"2 tasks of agent without a verdict on one side and not compared"}},
		"none":               {passing, 0, nil},
		"not about verdicts": {arguments, 2, nil},
	} {
		c := against("arg_em", difference(-0.04, 0, 0.04, 60), 0)
		c.Targets[0].Unjudged = make([]panel.UnjudgedCase, tc.unjudged)
		r, problems := gates.Evaluate(gates.Input{Panels: over(), Comparison: c, Task: "task"}, []gates.Gate{tc.gate})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if d := cmp.Diff(tc.want, r.Warnings); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
