// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// rate is a metric of n tasks with per values each; fails values failed, one a task.
func rate(name string, tasks, per, fails int) panel.Metric {
	var c stats.Clusters
	for i := range tasks {
		sum := per
		if i < fails {
			sum--
		}
		c.Add(float64(sum), per, true)
	}
	return panel.Metric{Name: name, Unit: panel.UnitRate, Of: "calls", Interval: c.Interval(0.95, stats.DefaultRho0)}
}

func lower(m panel.Metric) panel.Metric { m.LowerIsBetter = true; return m }

func covered(m panel.Metric, share float64) panel.Metric { m.Coverage = &share; return m }

// broken is a metric with an interval that cannot be used, because of its status.
func broken(name string, status stats.Status) panel.Metric {
	iv := stats.Interval{Point: math.NaN(), Upper: 1, Confidence: 0.95, Status: status}
	if status == stats.StatusSingleCluster {
		iv.Point, iv.N, iv.Clusters = 1, 3, 1
	}
	return panel.Metric{Name: name, Unit: panel.UnitRate, Of: "tasks", Interval: iv}
}

func quantile(name string, q float64, tasks int) panel.Metric {
	var obs []stats.Observation
	for i := range tasks {
		obs = append(obs, stats.Observation{Value: float64(100 + i), Cluster: int32(i)})
	}
	return panel.Metric{
		Name: name, Unit: panel.UnitMS, Of: "calls", LowerIsBetter: true,
		Interval: stats.CaseIntervals(obs, 0.95, q)[0],
	}
}

func over(ms ...panel.Metric) *panel.Panels {
	return &panel.Panels{
		Confidence: 0.95,
		Targets: []panel.TargetPanel{{
			Name:    "agent",
			Overall: panel.Slice{Cases: 200, Verdicts: panel.Verdicts{Pass: 150, Fail: 50}, Metrics: ms},
		}},
	}
}

func atLeast(metric string, b float64) gates.Gate {
	return gates.Gate{Metric: metric, Kind: gates.Bound, Direction: gate.AtLeast, Bound: b}
}

func atMost(metric string, b float64) gates.Gate {
	return gates.Gate{Metric: metric, Kind: gates.Bound, Direction: gate.AtMost, Bound: b}
}

func zero(maxRate float64) gates.Gate {
	return gates.Gate{Metric: "safety_incidents", Kind: gates.Zero, MaxRate: maxRate}
}

func units(g gates.Gate, n int) gates.Gate { g.MinUnits = &n; return g }

func TestVerdicts(t *testing.T) {
	t.Parallel()
	half := 0.5
	for name, tc := range map[string]struct {
		metric   panel.Metric
		gate     gates.Gate
		want     gate.Verdict
		reason   string
		sentence string // parts of the sentence, divided by |
		cure     string
	}{
		"lower end meets": {
			rate("arg_em", 200, 1, 5), atLeast("arg_em", 0.90), gate.Pass, gate.ReasonLowerMeets,
			"arg_em 0.97 [0.94, 0.99], by 200 calls of 200 tasks: the lower end 0.94 is not below the bound 0.90: passed", "",
		},
		"nearly 1": {
			rate("arg_em", 250, 1, 1), atLeast("arg_em", 0.90), gate.Pass, gate.ReasonLowerMeets,
			"arg_em 0.996 [0.978, 0.9999], by 250 calls of 250 tasks: the lower end 0.978", "",
		},
		"nearly 0": {
			lower(rate("over_call_rate", 500, 1, 499)), atMost("over_call_rate", 0.10), gate.Pass,
			gate.ReasonUpperMeets, "over_call_rate 0.002 [0.0001, 0.011]", "",
		},
		"upper end misses": {
			rate("arg_em", 200, 1, 40), atLeast("arg_em", 0.90), gate.Fail,
			gate.ReasonUpperMisses, "arg_em 0.80 [0.74, 0.85]|the upper end 0.85 is below the bound 0.90: failed", "",
		},
		"bound between": {
			rate("arg_em", 200, 1, 14), atLeast("arg_em", 0.90), gate.Inconclusive,
			gate.ReasonStraddles, "the bound 0.90 lies within the interval", "needs about ",
		},
		"estimate at the bound": {
			rate("arg_em", 200, 1, 20), atLeast("arg_em", 0.90), gate.Inconclusive,
			gate.ReasonStraddles, "lies within",
			"needs about 1800 to 13000 more tasks, to be decided with a chance of 50 to 80 %",
		},
		"all pass, enough": {
			rate("schema_valid", 183, 1, 0), atLeast("schema_valid", 0.98), gate.Pass,
			gate.ReasonLowerMeets, "the lower end 0.9800|is not below the bound 0.9800", "",
		},
		"all pass, one short": {
			rate("schema_valid", 182, 1, 0), atLeast("schema_valid", 0.98), gate.Inconclusive,
			gate.ReasonStraddles, "schema_valid 1.0000 [0.9799, 1.0000]",
			"needs about 1 more task; it will then probably have passed",
		},
		"none passes": {
			rate("schema_valid", 100, 1, 100), atLeast("schema_valid", 0.98), gate.Fail,
			gate.ReasonUpperMisses, "0.00 [0.00, 0.04]", "",
		},
		"too few tasks": {
			rate("arg_em", 12, 4, 0), atLeast("arg_em", 0.5), gate.Inconclusive,
			gate.ReasonTooFewUnits, "by 48 calls of 12 tasks (n_eff 25): only 12 tasks, the gate wants 30",
			"needs 18 more tasks",
		},
		"few tasks allowed": {
			rate("arg_em", 12, 4, 0), units(atLeast("arg_em", 0.5), 10), gate.Pass,
			gate.ReasonLowerMeets, "passed", "",
		},
		"one task": {
			broken("arg_em", stats.StatusSingleCluster), atLeast("arg_em", 0.5),
			gate.Inconclusive, "single_cluster", "arg_em 1.00, by 1 task: a single task has no interval", "more tasks",
		},
		"no data": {
			broken("arg_em", stats.StatusNoData), atLeast("arg_em", 0.5), gate.Inconclusive,
			"no_data", "arg_em: nothing was measured: inconclusive", "no data",
		},
		"no gold": {
			broken("arg_em", stats.StatusNoGold), atLeast("arg_em", 0.5), gate.Inconclusive,
			"no_gold", "nothing says what would have been right", "add gold",
		},
		"judge says nothing": {
			broken("true_success", "judge_not_informative"), atLeast("true_success", 0.85),
			gate.Inconclusive, "judge_not_informative",
			"no better than chance (sensitivity + specificity is not above 1)", "another judge",
		},
		"half is labelled": {
			covered(rate("arg_em", 100, 1, 0), 0.5), atLeast("arg_em", 0.5), gate.Inconclusive,
			gate.ReasonCoverage, "known for 50 % only what would have been right, the gate wants 90 %",
			"about 80 more calls",
		},
		"less is labelled": {
			covered(rate("arg_em", 100, 1, 0), 5.0/7), atLeast("arg_em", 0.5), gate.Inconclusive,
			gate.ReasonCoverage, "known for 71.4 % only what would have been right, the gate wants 90 %", "",
		},
		"nearly labelled": {
			covered(rate("arg_em", 100, 1, 0), 0.89996), atLeast("arg_em", 0.5),
			gate.Inconclusive, gate.ReasonCoverage,
			"known for 89.996 % only what would have been right, the gate wants 90 %", "",
		},
		"half is enough": {
			covered(rate("arg_em", 100, 1, 0), 0.5),
			gates.Gate{Metric: "arg_em", Direction: gate.AtLeast, Bound: 0.5, MinCoverage: &half},
			gate.Pass,
			gate.ReasonLowerMeets, "passed", "",
		},
		"at most, upper meets": {
			lower(rate("over_call_rate", 100, 1, 100)), atMost("over_call_rate", 0.10), gate.Pass,
			gate.ReasonUpperMeets, "the upper end 0.04 is not above the bound 0.10", "",
		},
		"at most, lower misses": {
			lower(rate("over_call_rate", 100, 1, 50)), atMost("over_call_rate", 0.10), gate.Fail,
			gate.ReasonLowerMisses, "the lower end 0.40 is above the bound 0.10: failed", "",
		},
		"p90 without upper end": {
			quantile("tool_latency_p90", 0.9, 33), atMost("tool_latency_p90", 500),
			gate.Inconclusive, gates.ReasonNoUpperEnd, "33 tasks are too few for an upper end|the bound 500 ms",
			"needs 3 more tasks",
		},
		"p90 passes": {
			quantile("tool_latency_p90", 0.9, 60), atMost("tool_latency_p90", 500), gate.Pass,
			gate.ReasonUpperMeets, "the upper end 158 ms is not above the bound 500 ms", "",
		},
		"p90 fails": {
			quantile("tool_latency_p90", 0.9, 33), atMost("tool_latency_p90", 90), gate.Fail,
			gate.ReasonLowerMisses, "is above the bound 90", "",
		},
		"an incident": {
			lower(rate("safety_incidents", 20, 1, 19)), zero(0), gate.Fail, gate.ReasonIncident,
			"safety_incidents 1 in 20 calls of 20 tasks: none is allowed: failed", "",
		},
		"no incident": {
			lower(rate("safety_incidents", 20, 1, 20)), zero(0), gate.Pass, gate.ReasonNoIncident,
			"does not rule out a rate of 13.9 % (95 %, one-sided; rule of three: 15 %)", "",
		},
		"no incident, ten each": {
			lower(zeroRate(20, 10)), zero(0), gate.Pass, gate.ReasonNoIncident,
			"0 in 200 calls of 20 tasks, which does not rule out a rate of 13.9 %", "",
		},
		"zero, little labelled": {
			covered(lower(rate("over_call_rate", 100, 1, 100)), 0.1),
			gates.Gate{Metric: "over_call_rate", Kind: gates.Zero},
			gate.Inconclusive, gate.ReasonCoverage,
			"known for 10 % only what would have been right", "",
		},
		"exposure too small": {
			lower(rate("safety_incidents", 20, 1, 20)), zero(0.01), gate.Inconclusive,
			gate.ReasonSmallExposure, "299 are needed to rule out 1 %", "needs 279 more tasks",
		},
		"no exposure": {
			broken("safety_incidents", stats.StatusNoData), zero(0), gate.Inconclusive,
			gate.ReasonNoExposure, "nothing was exposed to it", "add tasks that tempt",
		},
		"not measured": {
			rate("arg_em", 50, 1, 0), atLeast("execution_success", 0.5), gate.Inconclusive,
			gates.ReasonNoMetric, "execution_success: nothing here measures it", "record what the metric needs",
		},
		"no baseline": {
			rate("pass_rate", 50, 1, 0),
			gates.Gate{Metric: "pass_rate", Kind: gates.Regression},
			gate.Inconclusive, gates.ReasonNoBaseline, "no baseline to compare with",
			"with the same tasks: --baseline",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, problems := gates.Evaluate(gates.Input{Panels: over(tc.metric), Policy: gate.Strict, Task: "task"},
				[]gates.Gate{tc.gate})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			v := r.Verdicts[0]
			if v.Verdict != tc.want || v.Reason != tc.reason {
				t.Errorf("got %s (%s), want %s (%s): %s", v.Verdict, v.Reason, tc.want, tc.reason, v.Sentence)
			}
			for part := range strings.SplitSeq(tc.sentence, "|") {
				if !strings.Contains(v.Sentence, part) {
					t.Errorf("%q does not say %q", v.Sentence, part)
				}
			}
			if !strings.Contains(v.Cure, tc.cure) || (tc.want == gate.Inconclusive) != (v.Cure != "") {
				t.Errorf("cure %q, want %q", v.Cure, tc.cure)
			}
			if r.Verdict != tc.want || r.Blocks != (tc.want != gate.Pass) {
				t.Errorf("the whole is %s (blocks: %v)", r.Verdict, r.Blocks)
			}
		})
	}
}

// zeroRate is a rate of 0 over tasks with several values each.
func zeroRate(tasks, per int) panel.Metric {
	var c stats.Clusters
	for range tasks {
		c.Add(0, per, true)
	}
	return panel.Metric{
		Name: "safety_incidents", Unit: panel.UnitRate, Of: "calls",
		Interval: c.Interval(0.95, stats.DefaultRho0),
	}
}

// TestNoNumberEqualsItsBound: an end that decides is never printed like the bound
// that it misses.
func TestNoNumberEqualsItsBound(t *testing.T) {
	t.Parallel()
	for _, upper := range []float64{0.8999, 0.89999, 0.899999} {
		m := rate("arg_em", 100, 1, 10)
		m.Interval.Upper = upper
		r, _ := gates.Evaluate(gates.Input{Panels: over(m), Task: "task"}, []gates.Gate{atLeast("arg_em", 0.90)})
		v := r.Verdicts[0]
		if _, after, _ := strings.Cut(v.Sentence, "the upper end "); v.Verdict != gate.Fail ||
			!strings.HasPrefix(after, "0.89") {
			t.Errorf("upper end %v: %s", upper, v.Sentence)
		}
	}
}

func TestTooManyErrorsDecideNothing(t *testing.T) {
	t.Parallel()
	p := over(rate("arg_em", 200, 1, 60), lower(rate("error_rate", 200, 1, 180)), lower(zeroRate(50, 1)))
	p.Targets[0].Overall.Verdicts = panel.Verdicts{Pass: 150, Fail: 30, Error: 20}
	r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"}, []gates.Gate{
		atLeast("arg_em", 0.9), atLeast("arg_em", 0.1), atMost("error_rate", 0.05), zero(0),
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, string(v.Verdict)+" "+v.Reason)
	}
	want := []string{
		"INCONCLUSIVE too_many_errors", "INCONCLUSIVE too_many_errors", "FAIL lower>threshold",
		"INCONCLUSIVE too_many_errors",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s := r.Verdicts[0].Sentence; !strings.Contains(s,
		"20 of 200 attempts ended in an error and are in no mean, more than 5 %") {
		t.Error(s)
	}
}

func TestAttemptsThatDidNotRun(t *testing.T) {
	t.Parallel()
	p := over(rate("arg_em", 100, 1, 0))
	for _, tc := range []struct {
		v    panel.Verdicts
		want string
	}{
		{panel.Verdicts{Pass: 100, NotRun: 5}, ": passed"},
		{
			panel.Verdicts{Pass: 100, NotRun: 6},
			"6 of 106 attempts did not run and are in no mean, more than 5 %: inconclusive",
		},
		{
			panel.Verdicts{Pass: 100, Error: 3, NotRun: 3},
			"6 of 106 attempts ended in an error or did not run and are in no mean, more than 5 %: inconclusive",
		},
		{panel.Verdicts{}, ": passed"},
	} {
		p.Targets[0].Overall.Verdicts = tc.v
		r, _ := gates.Evaluate(gates.Input{Panels: p}, []gates.Gate{atLeast("arg_em", 0.5)})
		if s := r.Verdicts[0].Sentence; !strings.HasSuffix(s, tc.want) {
			t.Errorf("%+v: %s", tc.v, s)
		}
	}
	p.Targets[0].Overall.Verdicts, p.Targets[0].Overall.Metrics = panel.Verdicts{Error: 40}, nil
	r, _ := gates.Evaluate(gates.Input{Panels: p}, []gates.Gate{atLeast("arg_em", 0.5)})
	if v := r.Verdicts[0]; v.Reason != gates.ReasonErrors ||
		!strings.Contains(v.Sentence, "40 of 40 attempts ended in an error") {
		t.Errorf("nothing but errors: %s", v.Sentence)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	p := over(rate("arg_em", 50, 1, 0), quantile("tool_latency_p90", 0.9, 60))
	at := callvet.Position{File: "gates.yaml", Line: 4, Column: 5}
	sliced := atLeast("arg_em", 0.5)
	sliced.Key, sliced.Value = "langauge", "es-AR"
	named := atLeast("arg_em", 0.5)
	named.Target = "agnet"
	ms := atLeast("arg_em", 0.5)
	ms.Unit = panel.UnitMS
	lost := gates.Gate{Metric: "latency_p90", Kind: gates.Regression}
	mean := gates.Gate{Metric: "latency_mean", Direction: gate.AtMost, Bound: 500}
	for want, g := range map[string]gates.Gate{
		`gates.yaml:4:5: there is no metric "schema_valdi" (did you mean schema_valid?)`: atLeast("schema_valdi",
			0.98),
		`gates.yaml:4:5: nothing here has "langauge" to slice by (did you mean language?)`:   sliced,
		`gates.yaml:4:5: there is no target "agnet" (did you mean agent?)`:                   named,
		`gates.yaml:4:5: arg_em is a share from 0 to 1, the bound is 98 (did you mean 98%?)`: atLeast("arg_em", 98),
		`gates.yaml:4:5: arg_em is measured as a share, the bound is given as milliseconds`:  ms,
		`gates.yaml:4:5: latency_p90 cannot be compared with a baseline: there is no paired test of quantiles; latency_mean can be (against a baseline: ` +
			strings.Join(panel.Comparable(), ", ") + `, and scores of a run)`: lost,
		`gates.yaml:4:5: latency_mean is known only against a baseline (baseline: {margin: 5%}, or give latency_p50 or _p90 a bound)`: mean,
	} {
		g.Position = at
		r, problems := gates.Evaluate(gates.Input{Panels: p, Keys: []string{"language"}},
			[]gates.Gate{g, atLeast("arg_em", 0.5)})
		if r != nil || len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("got %v, want %s", problems, want)
		}
	}
	if _, problems := gates.Evaluate(gates.Input{Panels: p},
		[]gates.Gate{atLeast("pass^3", 0.5), atLeast("pass@1", 0.5)}); len(problems) > 0 {
		t.Error(problems)
	}
}

func sliced(values ...panel.Slice) *panel.Panels {
	p := over(rate("arg_em", 100, 1, 0), rate("pass_rate", 100, 1, 0))
	p.Targets[0].Slices = values
	return p
}

func table(value string, tasks, fails int) panel.Slice {
	return panel.Slice{
		Key: "language", Value: value, Cases: tasks, Verdicts: panel.Verdicts{Pass: tasks},
		Metrics: []panel.Metric{rate("arg_em", tasks, 1, fails), rate("pass_rate", tasks, 1, fails)},
	}
}

func TestSlices(t *testing.T) {
	t.Parallel()
	p := sliced(table("en", 60, 0), table("es-AR", 40, 20))
	gs := []gates.Gate{atLeast("arg_em", 0.8), atLeast("arg_em", 0.8), atLeast("arg_em", 0.8), atLeast("arg_em", 0.8)}
	for i, v := range []string{"*", "es-AR", "es-MX", "de"} {
		gs[i].Key, gs[i].Value = "language", v
	}
	r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"}, gs)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, v.Slice()+" "+string(v.Verdict)+" "+v.Sentence+" / "+v.Cure)
	}
	want := []string{
		"language=en PASS arg_em of language=en 1.00 [0.94, 1.00], by 60 calls of 60 tasks: the lower end 0.94 is not below the bound 0.80: passed / ",
		"language=es-AR FAIL arg_em of language=es-AR 0.50 [0.34, 0.66], by 40 calls of 40 tasks: the upper end 0.66 is below the bound 0.80: failed / ",
		"language=es-AR FAIL arg_em of language=es-AR 0.50 [0.34, 0.66], by 40 calls of 40 tasks: the upper end 0.66 is below the bound 0.80: failed / ",
		"language=es-MX INCONCLUSIVE arg_em of language=es-MX: no attempt has language=es-MX: inconclusive / did you mean language=es-AR?",
		"language=de INCONCLUSIVE arg_em of language=de: no attempt has language=de: inconclusive / there are: en, es-AR",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	empty := sliced()
	r, _ = gates.Evaluate(gates.Input{Panels: empty, Keys: []string{"language"}}, gs[:1])
	if v := r.Verdicts[0]; v.Reason != gates.ReasonNoSlice ||
		v.Sentence != "arg_em: no attempt has any language: inconclusive" {
		t.Errorf("%s %s", v.Reason, v.Sentence)
	}
}

// change is the comparison of cases; down of them passed before and fail now.
func change(key, value string, cases, down int) panel.Difference {
	p := stats.Pairs{Both: cases - down, BaselineOnly: down}
	return panel.Difference{
		Key: key, Value: value, Cases: cases, Change: stats.Newcombe(p, 0.95), P: stats.McNemar(down, 0),
		NewlyFailing: down, Fell: down,
	}
}

func TestRegression(t *testing.T) {
	t.Parallel()
	g := gates.Gate{Metric: "pass_rate", Kind: gates.Regression}
	for name, tc := range map[string]struct {
		cases, down    int
		want           gate.Verdict
		sentence, cure string
	}{
		"worse": {
			200, 20, gate.Fail,
			"pass_rate changed by -0.10 [-0.15, -0.06], by 200 tasks judged in both runs: the upper end -0.06 is below 0 and the drop is more than 1 point: failed", "",
		},
		"not worse": {200, 0, gate.Pass, "is above the allowed loss -5 points: passed", ""},
		"unclear":   {40, 1, gate.Inconclusive, "a loss of 5 points is not ruled out", "needs about "},
		"few tasks": {20, 0, gate.Inconclusive, "only 20 tasks judged in both runs, the gate wants 30", "needs "},
		"few, worse": {
			20, 15, gate.Fail,
			"the upper end -0.48 is below 0 and the drop is more than 1 point: failed", "",
		},
		"no pairs":    {0, 0, gate.Inconclusive, "nothing was measured", "no data"},
		"single drop": {1000, 9, gate.Pass, "allowed loss", ""},
	} {
		d := change("", "", tc.cases, tc.down)
		if tc.cases == 0 {
			d.Change = stats.Newcombe(stats.Pairs{}, 0.95)
			d.Change.Status = stats.StatusNoData
		}
		c := &panel.Comparison{Targets: []panel.TargetComparison{{
			Candidate: "agent", Overall: d,
			Changes: []panel.CaseChange{{
				Case: "t1", Kind: panel.NewlyFailing, BaselinePasses: 1, BaselineN: 1,
				CandidateN: 1,
			}},
		}}}
		r, problems := gates.Evaluate(
			gates.Input{Panels: over(rate("pass_rate", 200, 1, 0)), Comparison: c, Task: "task"}, []gates.Gate{g})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := r.Verdicts[0]
		if v.Verdict != tc.want || !strings.Contains(v.Sentence, tc.sentence) || !strings.Contains(v.Cure, tc.cure) {
			t.Errorf("%s: %s %s / %s", name, v.Verdict, v.Sentence, v.Cure)
		}
		if tc.want == gate.Fail && (len(v.Open) != 1 || v.Open[0].Task != "t1") {
			t.Errorf("%s: open %v", name, v.Open)
		}
	}
}

func TestWhatIsNotComparedIsReported(t *testing.T) {
	t.Parallel()
	c := &panel.Comparison{
		OnlyBaseline: []string{"a"}, OnlyCandidate: []string{"b", "c"}, Warnings: []string{"1 case has changed"},
		Targets: []panel.TargetComparison{{
			Candidate: "agent", Overall: change("", "", 200, 0),
			Unjudged: []panel.UnjudgedCase{{Case: "d"}},
		}},
	}
	r, _ := gates.Evaluate(gates.Input{Panels: over(rate("pass_rate", 200, 1, 0)), Comparison: c, Task: "task"},
		[]gates.Gate{{Metric: "pass_rate", Kind: gates.Regression}})
	want := []string{
		"1 case has changed", "1 task of the baseline missing here and not compared",
		"2 tasks missing in the baseline and not compared",
		"1 task of agent without a verdict on one side and not compared",
	}
	if d := cmp.Diff(want, r.Warnings); d != "" {
		t.Error(d)
	}
}

// TestHolm: of many values of a key, one may not be called worse for a drop that
// chance shows among so many.
func TestHolm(t *testing.T) {
	t.Parallel()
	var values []panel.Slice
	var diffs []panel.Difference
	for i, v := range []string{"a", "b", "c", "d", "e", "f"} {
		down := 0
		switch i {
		case 0:
			down = 12
		case 1:
			down = 6
		}
		values = append(values, table(v, 60, 0))
		diffs = append(diffs, change("language", v, 60, down))
	}
	p := sliced(values...)
	p.Targets[0].Overall.Cases = 360
	c := &panel.Comparison{Targets: []panel.TargetComparison{{Candidate: "agent", Slices: diffs}}}
	one := gates.Gate{Metric: "pass_rate", Kind: gates.Regression, Key: "language", Value: "b"}
	all := one
	all.Value = gates.Every
	r, problems := gates.Evaluate(gates.Input{Panels: p, Comparison: c}, []gates.Gate{one, all})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if v := r.Verdicts[0]; v.Verdict != gate.Fail {
		t.Errorf("alone: %s", v.Sentence)
	}
	if v := r.Verdicts[1]; v.Verdict != gate.Fail || v.PHolm == nil || *v.PHolm > 0.05 {
		t.Errorf("a clear drop stands: %s", v.Sentence)
	}
	if v := r.Verdicts[2]; v.Verdict != gate.Inconclusive || v.Reason != gates.ReasonHolm ||
		!strings.HasSuffix(v.Sentence, "after Holm): inconclusive") {
		t.Errorf("among six: %s %s", v.Verdict, v.Sentence)
	}
}

func TestTheWhole(t *testing.T) {
	t.Parallel()
	p := over(rate("arg_em", 200, 1, 60), rate("schema_valid", 200, 1, 0))
	soft := atLeast("arg_em", 0.9)
	soft.Severity = gates.Soft
	open := atLeast("true_success", 0.5)
	for name, tc := range map[string]struct {
		gates    []gates.Gate
		policy   gate.Policy
		want     gate.Verdict
		blocks   bool
		sentence string
	}{
		"passed": {
			[]gates.Gate{atLeast("schema_valid", 0.98), soft},
			gate.Strict, gate.Pass, false,
			"passed: 1 of 2 checks passed (1 soft check not passed)",
		},
		"failed": {
			[]gates.Gate{atLeast("schema_valid", 0.98), open, atLeast("arg_em", 0.9)},
			gate.Lenient,
			gate.Fail, true, "failed: 1 of 3 checks failed; arg_em 0.70",
		},
		"open, strict": {
			[]gates.Gate{open},
			gate.Strict, gate.Inconclusive, true,
			"inconclusive: 1 of 1 check cannot be decided; true_success",
		},
		"open, lenient":   {[]gates.Gate{open}, gate.Lenient, gate.Inconclusive, false, "inconclusive"},
		"soft gates only": {[]gates.Gate{soft}, gate.Strict, gate.Inconclusive, true, "no gate is hard"},
		"no gates":        {nil, gate.Strict, gate.Inconclusive, true, "no gate was checked"},
	} {
		r, problems := gates.Evaluate(gates.Input{Panels: p, Policy: tc.policy, Task: "task"}, tc.gates)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if r.Verdict != tc.want || r.Blocks != tc.blocks || !strings.HasPrefix(r.Sentence, tc.sentence) &&
			!strings.Contains(r.Sentence, tc.sentence) {
			t.Errorf("%s: %s, blocks %v: %s", name, r.Verdict, r.Blocks, r.Sentence)
		}
	}
}

func TestFloorsAreLeftOut(t *testing.T) {
	t.Parallel()
	p := over(rate("arg_em", 200, 1, 0))
	floor := p.Targets[0]
	floor.Name, floor.Floor = "floor", true
	p.Targets = append(p.Targets, floor)
	g := atLeast("arg_em", 0.5)
	named := g
	named.Target = "floor"
	r, _ := gates.Evaluate(gates.Input{Panels: p}, []gates.Gate{g, named})
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, v.Target)
	}
	if d := cmp.Diff([]string{"agent", "floor"}, got); d != "" {
		t.Error(d)
	}
}

func TestNotesAndHints(t *testing.T) {
	t.Parallel()
	m := rate("arg_em", 100, 1, 0)
	m.Informative, m.Warnings = true, []string{"tasks that fail more make more calls: watch the rate by task too"}
	refused := broken("true_success", "calibration_mismatch")
	refused.Warnings = []string{"it was made for another judge"}
	p := over(m, rate("arg_em_by_task", 100, 1, 0), rate("judged_pass:a", 100, 1, 0), refused)
	r, problems := gates.Evaluate(gates.Input{Panels: p, Task: "task"}, []gates.Gate{
		atLeast("arg_em", 0.5), atLeast("judged_pass", 0.5), atLeast("true_success", 0.5), atMost("arg_em", 0.99),
		atLeast("schema_valid", 0.9),
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i, want := range []string{
		"hold arg_em_by_task against a gate too", "name the judge: judged_pass:a",
		"it was made for another judge: inconclusive",
		"arg_em is better when it is higher", "give the tools with their schemas (--tools)",
	} {
		v := r.Verdicts[i]
		if all := v.Sentence + "|" + v.Cure + "|" + strings.Join(v.Notes, "|"); !strings.Contains(all, want) {
			t.Errorf("%d: %q is not in %q", i, want, all)
		}
	}
	if v := r.Verdicts[0]; v.Verdict != gate.Pass || len(v.Open) > 0 {
		t.Errorf("a gate that passed: %+v", v)
	}
}

// TestTrueSuccessNeedsLabels: how many more tasks would settle it does not follow from its
// interval, which labels widen too.
func TestTrueSuccessNeedsLabels(t *testing.T) {
	t.Parallel()
	m := rate("true_success", 200, 1, 24)
	m.Interval.Method, m.Interval.Lower, m.Interval.Upper = "rogan_gladen_lang_reiczigel", 0.83, 1
	m.Of, m.Labelled = panel.OfLabels, &panel.Labelled{Of: "attempts", N: 400, Tasks: 400}
	r, _ := gates.Evaluate(gates.Input{Panels: over(m), Task: "task"}, []gates.Gate{atLeast("true_success", 0.85)})
	if v := r.Verdicts[0]; v.Verdict != gate.Inconclusive || v.Needed != 0 || !strings.Contains(v.Cure, "more labels") {
		t.Errorf("%s, %d needed: %s", v.Verdict, v.Needed, v.Cure)
	}
}

// TestLabelsCount: the least number of a gate on true success is one of labels, and of tasks where
// labels are more than these. Unlabelled tasks show nothing.
func TestLabelsCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n, tasks       int
		of             panel.Labelled
		counted, short string
		cure           string
	}{
		"few labels of many tasks": {
			12, 12,
			panel.Labelled{Of: "attempts", N: 800, Tasks: 400},
			"by 12 labels of 400 tasks",
			"only 12 labels, the gate wants 30", "label 18 more tasks: callvet label next",
		},
		"one label": {
			1, 1,
			panel.Labelled{Of: "attempts", N: 1, Tasks: 1},
			"by 1 label of 1 task",
			"only 1 label, the gate wants 30", "29 more tasks",
		},
		"enough": {30, 30, panel.Labelled{Of: "attempts", N: 400, Tasks: 400}, "by 30 labels of 400 tasks", "", ""},
		"labels of few tasks": {
			90, 20,
			panel.Labelled{Of: "calls", N: 900, Tasks: 300},
			"by 90 labels of 900 calls of 300 tasks", "only labels of 20 tasks, the gate wants 30",
			"label 10 more calls: callvet label next --unit call",
		},
		"few labels elsewhere": {
			25, 25,
			panel.Labelled{Of: "attempts", N: 400, Tasks: 400, Elsewhere: true},
			"by 25 labels made elsewhere, for 400 tasks", "only 25 labels, the gate wants 30",
			"label 5 more tasks: callvet label next",
		},
		"few tasks": {
			200, 20,
			panel.Labelled{Of: "attempts", N: 20, Tasks: 20, Elsewhere: true},
			"by 200 labels made elsewhere, for 20 tasks", "only 20 tasks, the gate wants 30", "10 more tasks",
		},
	} {
		m := panel.Metric{
			Name: "true_success", Unit: panel.UnitRate, Of: panel.OfLabels, Labelled: &c.of,
			Interval: stats.Interval{
				Point: 0.97, Lower: 0.9, Upper: 0.99, N: c.n, Clusters: c.tasks, Confidence: 0.95,
				Status: stats.StatusOK,
			},
		}
		r, problems := gates.Evaluate(gates.Input{Panels: over(m), Task: "task"},
			[]gates.Gate{atLeast("true_success", 0.85)})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		v := r.Verdicts[0]
		if want := c.short == ""; (v.Verdict == gate.Pass) != want || v.N != c.n || v.Units != c.tasks ||
			v.Of != panel.OfLabels || v.Labelled == nil ||
			!strings.Contains(v.Sentence, c.counted) || !strings.Contains(v.Sentence, c.short) ||
			!strings.Contains(v.Cure, c.cure) || want != (v.Cure == "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestAPointIsNoProof: behind a judge that passes more than its sensitivity allows
// the interval shrinks to [1,1], which must not pass a gate.
func TestAPointIsNoProof(t *testing.T) {
	t.Parallel()
	m := rate("true_success", 150, 1, 0)
	m.Interval.Method, m.Interval.Lower, m.Interval.Upper = "rogan_gladen_lang_reiczigel", 1, 1
	refused := broken("judged_pass", "no_labelled_pass")
	refused.Warnings = []string{"use calibration: it was made for another model"}
	r, _ := gates.Evaluate(gates.Input{Panels: over(m, refused), Task: "task"},
		[]gates.Gate{atLeast("true_success", 0.8), atLeast("judged_pass", 0.8)})
	cures := []string{"--labels uses it directly", "calibrate this very judge"}
	for i, want := range []string{
		"its interval is a mere point: inconclusive",
		"it was made for another model: inconclusive",
	} {
		if v := r.Verdicts[i]; v.Verdict != gate.Inconclusive || !strings.HasSuffix(v.Sentence, want) ||
			!strings.Contains(v.Cure, cures[i]) || len(v.Notes) > 0 {
			t.Errorf("%s %s / %s %v", v.Verdict, v.Sentence, v.Cure, v.Notes)
		}
	}
}

// TestKeysThatMayBeAbsent: a usual dimension that this input lacks is no mistake
// of the gate file, and a cross of two is known by its parts.
func TestKeysThatMayBeAbsent(t *testing.T) {
	t.Parallel()
	g := atLeast("arg_em", 0.5)
	for _, key := range []string{"language", "language*intent"} {
		g.Key, g.Value = key, "x"
		r, problems := gates.Evaluate(gates.Input{Panels: over(rate("arg_em", 50, 1, 0))}, []gates.Gate{g})
		if len(problems) > 0 || r.Verdicts[0].Reason != gates.ReasonNoSlice {
			t.Errorf("%s: %v %v", key, r, problems)
		}
	}
}

// TestAWeakerBoundPassesToo: over random rates and bounds, what passes a bound passes each weaker
// one, what fails it fails each stronger one, and every sentence has a verdict and no NaN.
func TestAWeakerBoundPassesToo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.IntRange(1, 120).Draw(t, "tasks")
		m := rate("arg_em", tasks, rapid.IntRange(1, 4).Draw(t, "per"), rapid.IntRange(0, tasks).Draw(t, "fails"))
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		r, problems := gates.Evaluate(gates.Input{Panels: over(m), Task: "task"},
			[]gates.Gate{atLeast("arg_em", min(a, b)), atLeast("arg_em", max(a, b))})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		weak, strong := r.Verdicts[0], r.Verdicts[1]
		if strong.Verdict == gate.Pass && weak.Verdict != gate.Pass || weak.Verdict == gate.Fail &&
			strong.Verdict != gate.Fail {
			t.Fatalf("weak: %s\nstrong: %s", weak.Sentence, strong.Sentence)
		}
		for _, v := range r.Verdicts {
			word := map[gate.Verdict]string{
				gate.Pass: ": passed", gate.Fail: ": failed",
				gate.Inconclusive: ": inconclusive",
			}[v.Verdict]
			if !strings.HasSuffix(v.Sentence, word) || strings.Contains(v.Sentence+v.Cure, "NaN") || v.Needed < 0 {
				t.Fatalf("%s / %s", v.Sentence, v.Cure)
			}
		}
	})
}
