// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/panel/gates"
)

// ask takes flags as a command line has them.
func ask(metric string, flags map[string]float64) plan.Ask {
	q := plan.Ask{Metric: metric, Power: 0.8, Tasks: 1000}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		x := flags[name]
		q.Given = append(q.Given, strings.ReplaceAll(name, "-", "_"))
		switch name {
		case "bound":
			q.Bound = x
		case "truth":
			q.Truth = x
		case "power":
			q.Power = x
		case "sd":
			q.SD = x
		case "judge-sens":
			q.Sens = x
		case "judge-spec":
			q.Spec = x
		case "labels":
			q.Labels = int(x)
		case "tasks":
			q.Tasks = int(x)
		case "baseline-diff":
			q.Diff = x
		case "discordant":
			q.Discordant = x
		case "margin":
			q.Margin = x
		case "correlation":
			q.Correlation = x
		case "attempts":
			q.Attempts = []int{int(x)}
		case "min-n":
			q.MinUnits = int(x)
		case "max-rate":
			q.MaxRate = x
		default:
			panic(name)
		}
	}
	return q
}

// TestUnracedMeans compares the number of tasks with the least n with n >= ((t(0.975) + t(0.8)) sd
// / distance)^2, n-1 degrees of freedom, computed by hand for normal amounts. Amounts with a tail
// need more, because their interval is wider.
func TestUnracedMeans(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many simulated gates")
	}
	p, err := plan.Make(ask("cost_per_attempt", map[string]float64{"bound": 0.05, "truth": 0.04, "sd": 0.02}))
	if err != nil || p.Mean == nil || p.Rate != nil {
		t.Fatal(p, err)
	}
	if n := p.Mean.Tasks; n < 34 || n > 60 { // (2.0345 + 0.8530)^2 * 4 = 33.4
		t.Errorf("%d tasks", n)
	}
	for metric, want := range map[string][2]int{
		"cost_per_attempt": {46, 62}, // (2.0086 + 0.8489)^2 * 6.25 = 51.0
		"latency_mean":     {32, 45}, // (2.0345 + 0.8530)^2 * 4 = 33.4
	} {
		diff := 0.08
		if metric == "latency_mean" {
			diff = 0.1
		}
		p, err = plan.Make(ask(metric, map[string]float64{"baseline-diff": diff, "margin": diff, "sd": 0.2}))
		if err != nil || p.Rate != nil || len(p.Paired.Rows) != 1 {
			t.Fatal(p, err)
		}
		if row := p.Paired.Rows[0]; row.Fails < want[0] || row.Fails > want[1] || row.Passes < want[0] ||
			row.Passes > want[1] {
			t.Errorf("%s: %+v", metric, row)
		}
	}
	q := ask("calls_per_attempt", map[string]float64{"bound": 1.5})
	q.Given, q.Pilot = append(q.Given, "from"), &plan.Pilot{File: "pilot.jsonl", Mean: 1.2, SD: 0.6, Tasks: 20}
	if p, err = plan.Make(q); err != nil || p.Mean.Tasks < 34 || p.Mean.Tasks > 45 || !p.Mean.FromPilot {
		t.Errorf("pilot: %+v %v", p.Mean, err)
	}
	requireText(t, p, "gate calls_per_attempt <= 1.5", "pass with a chance of 80.0 %", "the pilot's mean",
		"20 tasks give a spread only roughly")
}

func requireText(t *testing.T, p *plan.Plan, want ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := report.Plan(&out, p); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("%q is not in\n%s", w, &out)
		}
	}
}

// TestUnracedOneAnswer: the number of tasks for people without a judge is on the screen once, and
// equals the number of the gate. A note states that it holds only for a perfect judge.
func TestUnracedOneAnswer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many simulated gates")
	}
	p, err := plan.Make(ask("true_success",
		map[string]float64{"bound": 0.85, "truth": 0.9, "judge-sens": 0.95, "judge-spec": 0.9, "labels": 200}))
	if err != nil {
		t.Fatal(err)
	}
	j := p.Judge
	if p.Rate.Tasks != 356 || j.Random.Needed == nil || j.ByVerdict.Needed == nil || j.Elsewhere.Needed == nil {
		t.Fatalf("%+v %+v", p.Rate, j)
	}
	// 149, 91 and 457 by the normal approximation.
	if r, v, e := *j.Random.Needed, *j.ByVerdict.Needed,
		*j.Elsewhere.Needed; r < 160 || r > 200 || v < 150 || v > 190 || e < 600 || e > 760 {
		t.Errorf("%d at random, %d by verdict, %d elsewhere", r, v, e)
	}
	if *j.Random.Chance < 0.8 || *j.Elsewhere.Chance > 0.55 {
		t.Errorf("with 200 labels %v and %v", *j.Random.Chance, *j.Elsewhere.Chance)
	}
	var out bytes.Buffer
	if err := report.Plan(&out, p); err != nil {
		t.Fatal(err)
	}
	requireText(t, p, "356 tasks pass with a chance of 80.8 %", "for a judge that never errs",
		"labels made elsewhere add nothing for this judge")
	if strings.Contains(out.String(), "283") {
		t.Errorf("two answers to one question:\n%s", &out)
	}
}

// TestMinUnits: the plan names no number of tasks that is too small for the gate to decide.
func TestMinUnits(t *testing.T) {
	t.Parallel()
	p, err := plan.Make(ask("pass_rate", map[string]float64{"bound": 0.8, "truth": 0.99}))
	if err != nil || p.Rate.Tasks != 30 || p.Rate.Smallest[0] != (plan.MinN{Failures: 1, Tasks: 30}) ||
		p.Rate.Smallest[1].Failures != 2 {
		t.Errorf("%+v %v", p.Rate, err)
	}
	p, err = plan.Make(ask("pass_rate", map[string]float64{"bound": 0.8, "truth": 0.99, "min-n": 10}))
	if err != nil || p.Rate.Tasks != 17 || p.Rate.Smallest[0] != (plan.MinN{Failures: 0, Tasks: 17}) {
		t.Errorf("min_n 10: %+v %v", p.Rate, err)
	}
}

// TestUnracedBaseline: a difference is planned from the run's own discordance, and otherwise from
// the given value. More attempts need fewer tasks.
func TestUnracedBaseline(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many simulated gates")
	}
	icc := 0.5
	q := ask("pass_rate", map[string]float64{"baseline-diff": 0.1, "margin": 0.1})
	q.Attempts = []int{1, 3}
	q.Given, q.Pilot = append(q.Given, "from"), &plan.Pilot{File: "r1", Mean: 0.9, Tasks: 40, Correlation: &icc}
	p, err := plan.Make(q)
	if err != nil {
		t.Fatal(err)
	}
	d := p.Paired
	if d.Rate != 0.9 || math.Abs(d.Discordant-0.09) > 1e-12 || len(d.Rows) != 2 ||
		d.Rows[0].Fails < 2*d.Rows[1].Fails || d.Rows[1].Breaks < d.Rows[1].Fails {
		t.Errorf("%+v", d)
	}
	if one, three := d.Pilot.Fails[0].Chance, d.Pilot.Fails[1].Chance; !(one < 0.4 && three > 0.6) {
		t.Errorf("the run's own tasks: %v by one attempt, %v by three", one, three)
	}
	requireText(t, p, "against a baseline of 0.9, where 9.0 % of the tasks change between two attempts by chance",
		"the 40 tasks of r1", "by 3 attempts")

	given, err := plan.Make(ask("pass_rate",
		map[string]float64{"baseline-diff": 0.1, "margin": 0.1, "truth": 0.9, "discordant": 0.09, "attempts": 1}))
	if err != nil || given.Paired.Rows[0] != d.Rows[0] {
		t.Errorf("as given: %+v %v", given.Paired, err)
	}
	rise, err := plan.Make(ask("over_call_rate",
		map[string]float64{"baseline-diff": 0.1, "margin": 0.1, "truth": 0.1, "discordant": 0.09, "attempts": 1}))
	if err != nil || !rise.Paired.LowerIsBetter || len(rise.Paired.Rows) != 1 ||
		math.Abs(float64(rise.Paired.Rows[0].Fails-d.Rows[0].Fails)) > 25 {
		t.Errorf("a rise: %+v %v", rise, err)
	}
}

// TestRefused: a field that a metric does not use is an error that names the right one.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		metric        string
		flags         map[string]float64
		message, hint string
	}{
		"no spread": {
			"cost_per_attempt",
			map[string]float64{"bound": 0.05, "truth": 0.04},
			"how many tasks it needs depends on its spread", "--sd",
		},
		"no truth": {"cost_per_attempt", map[string]float64{"bound": 0.05, "sd": 1}, "--truth: what", ""},
		"mean on the wrong side": {
			"tokens_per_attempt",
			map[string]float64{"bound": 5, "truth": 6, "sd": 1},
			"wrong side", "",
		},
		"a judge of amounts": {
			"cost_per_pass",
			map[string]float64{"bound": 1, "judge-sens": 0.9},
			"--judge-sens is of no use for cost_per_pass, which is a mean amount", "true_success",
		},
		"paired amounts": {
			"cost_per_attempt",
			map[string]float64{"baseline-diff": 0.05},
			"spread of the tasks' differences", "--sd",
		},
		"bound of mean times": {
			"latency_mean",
			map[string]float64{"bound": 800},
			"which is a mean that is known only against a baseline", "latency_p50",
		},
		"bound of incidents": {
			"safety_incidents",
			map[string]float64{"bound": 0.1},
			"--bound is of no use for safety_incidents, which is a count of incidents", "--max-rate",
		},
		"rate with max-rate": {
			"pass_rate",
			map[string]float64{"max-rate": 0.1},
			"--max-rate is of no use for pass_rate, which is a rate", "--bound",
		},
		"over-call, max-rate": {
			"over_call_rate",
			map[string]float64{"bound": 0.1, "max-rate": 0.1},
			"--max-rate is of no use", "--bound: the most",
		},
		"quantile with a bound": {
			"latency_p90",
			map[string]float64{"bound": 800},
			"which is a quantile",
			"--metric pass_rate --bound 0.90",
		},
		"sd of a rate": {
			"pass_rate",
			map[string]float64{"bound": 0.8, "sd": 1},
			"--sd is of no use",
			"the spread of a rate follows",
		},
		"labels without a judge": {
			"true_success",
			map[string]float64{"bound": 0.8, "labels": 100},
			"--labels is of no use", "--judge-sens",
		},
		"discordance unknown": {
			"pass_rate",
			map[string]float64{"baseline-diff": 0.05},
			"how many tasks change although nothing changed", "--repeat 2",
		},
		"too much discordance": {
			"pass_rate",
			map[string]float64{"baseline-diff": 0.05, "truth": 0.9, "discordant": 0.5},
			"at most 0.18", "",
		},
		"more than all": {
			"pass_rate",
			map[string]float64{"baseline-diff": 0.95, "truth": 0.9, "discordant": 0.1},
			"no more than there is to lose: 0.9", "",
		},
		"no paired test": {
			"true_success",
			map[string]float64{"baseline-diff": 0.05, "truth": 0.9, "discordant": 0.1},
			"judged_pass can be", "",
		},
		"paired counts": {
			"calls_per_attempt",
			map[string]float64{"baseline-diff": 0.05, "sd": 0.2},
			"depends on how many there are", "",
		},
		"attempts of amounts": {
			"cost_per_attempt",
			map[string]float64{"bound": 1, "truth": 0.5, "sd": 1, "attempts": 3},
			"--attempts is of no use", "--sd",
		},
		"discordant alone": {
			"pass_rate",
			map[string]float64{"bound": 0.8, "discordant": 0.1},
			"--discordant is of no use", "--baseline-diff",
		},
		"half a judge": {
			"true_success",
			map[string]float64{"bound": 0.8, "judge-sens": 0.9},
			"a judge has both", "",
		},
		"judge of an upper one": {
			"over_call_rate",
			map[string]float64{"bound": 0.1, "judge-sens": 0.9, "judge-spec": 0.9},
			"held from above", "",
		},
		"no better than chance": {
			"true_success",
			map[string]float64{"bound": 0.8, "judge-sens": 0.5, "judge-spec": 0.5},
			"no better than chance", "",
		},
		"misspelt": {
			"tokens_per_atempt", nil, `no metric is called "tokens_per_atempt"`,
			"--metric tokens_per_attempt",
		},
	} {
		_, err := plan.Make(ask(tc.metric, tc.flags))
		var f *callvet.FieldError
		if !errors.As(err, &f) || !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// A command line names flags where JSON has fields.
		text, fix := f.Named(func(field string) string { return "--" + strings.ReplaceAll(field, "_", "-") })
		if !strings.Contains(text, tc.message) || !strings.Contains(fix, tc.hint) || strings.Contains(err.Error(), "--") {
			t.Errorf("%s: %s (%s), as JSON %v", name, text, fix, err)
		}
	}
}

// TestEveryMetric: each metric of gates has a plan or a reason, and only rates are planned as
// rates.
func TestEveryMetric(t *testing.T) {
	t.Parallel()
	for _, m := range gates.Metrics() {
		flags := map[string]float64{"bound": 0.5}
		if !strings.Contains(m, "_per_") && !strings.HasSuffix(m, "_mean") {
			flags["attempts"] = 1
		}
		p, err := plan.Make(ask(m, flags))
		switch amount := strings.HasSuffix(m, "_per_attempt") || m == "cost_per_pass" || strings.HasSuffix(m, "_p50") ||
			strings.HasSuffix(m, "_p90") || strings.HasSuffix(m, "_incidents") || strings.HasSuffix(m, "_mean"); {
		case amount && err == nil:
			t.Errorf("%s is planned as a rate: %+v", m, p.Rate)
		case !amount && (err != nil || p.Rate == nil):
			t.Errorf("%s: %v", m, err)
		}
	}
	if p, err := plan.Make(ask("native_format_rate", map[string]float64{"bound": 0.9})); err != nil || p.Rate.AtMost {
		t.Errorf("native format is better when it is higher: %+v %v", p, err)
	}
}

// TestSimulatedChances: no number of draws shows that a gate always or never passes.
func TestSimulatedChances(t *testing.T) {
	t.Parallel()
	for chance, want := range map[float64]string{
		1: "over 99 %", 0.996: "over 99 %", 0.994: "99 %", 0.27: "27 %",
		0.004: "under 1 %", 0: "under 1 %",
	} {
		needed := 9
		p := plan.Plan{
			Metric: "true_success", Rate: &plan.Rate{Tasks: 35, Failures: 1},
			Judge: &plan.Judge{Tasks: 100, Given: 50, Elsewhere: plan.Labels{Needed: &needed, Chance: &chance}},
		}
		var out bytes.Buffer
		if err := report.Plan(&out, &p); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, "50 labels: a chance of "+want+"\n") ||
			!strings.Contains(text, "they may have 1 failure\n") {
			t.Errorf("%v: %s", chance, text)
		}
	}
}

// TestAskJSON: a request is equivalent to a command line. Its keys count as given, also with the
// value zero.
func TestAskJSON(t *testing.T) {
	t.Parallel()
	var q plan.Ask
	if err := json.Unmarshal([]byte(`{"metric": "over_call_rate", "bound": 0.1, "truth": 0, "attempts": [1]}`),
		&q); err != nil {
		t.Fatal(err)
	}
	got, err := plan.Make(q)
	want, werr := plan.Make(ask("over_call_rate", map[string]float64{"bound": 0.1, "truth": 0, "attempts": 1}))
	if err != nil || werr != nil || got.Rate.Assumed || got.Power != 0.8 || got.Rate.Tasks != want.Rate.Tasks {
		t.Errorf("%+v %v, want %+v %v", got, err, want, werr)
	}
	if err := json.Unmarshal([]byte(`{"metric": "pass_rate", "bound": "x"}`), &q); !errors.Is(err, callvet.ErrInvalid) {
		t.Error(err)
	}
}
