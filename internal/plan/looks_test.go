// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// anyLook is a request for both designs.
func anyLook(metric string, flags map[string]float64, attempts ...int) plan.Ask {
	q := ask(metric, flags)
	q.Looks, q.Attempts = plan.LooksAny, attempts
	q.Given = append(q.Given, "looks")
	return q
}

// drawTask draws the mean of the attempts at a task, one by one.
func drawTask(rng *rand.Rand, attempts int, rate, icc float64) float64 {
	of, sum := stats.DrawRate(rng, rate, icc), 0.0
	for range attempts {
		if rng.Float64() < of {
			sum++
		}
	}
	return sum / float64(attempts)
}

// asked simulates a gate that is looked at after each task, up to most.
func asked(rule gate.SequenceRule, most int, draw func() float64) (gate.Verdict, int) {
	rule.MinUnits = gate.MinUnits
	s, ok := gate.NewSequence(rule)
	if !ok {
		panic("refused")
	}
	for s.N() < most && !s.Decided() {
		x := draw()
		s.Add(gate.Task{Low: x, High: x})
	}
	return s.Decision().Verdict, s.N()
}

// TestUnracedLooksKeepTheirPromise: drawn anew, attempt by attempt, gates are decided with the promised
// chance and after the promised number of tasks. With a tenth fewer tasks at most the chance is less.
func TestUnracedLooksKeepTheirPromise(t *testing.T) {
	t.Parallel()
	const trials = 600
	for _, tc := range []struct {
		metric              string
		bound, truth, power float64
		icc                 float64
		attempts            int
	}{
		{"pass_rate", 0.85, 0.95, 0.91, 0.3, 1},
		{"pass_rate", 0.85, 0.92, 0.8, 0.5, 3},
		{"schema_valid", 0.9, 0.97, 0.9, 0, 5},
		{"error_rate", 0.1, 0.04, 0.8, 0.3, 1},
	} {
		p, err := plan.Make(anyLook(tc.metric, map[string]float64{
			"bound": tc.bound, "truth": tc.truth, "power": tc.power, "correlation": tc.icc,
		}, tc.attempts))
		if err != nil || p.Looks == nil || len(p.Looks.Designs) != 1 {
			t.Fatalf("%+v: %+v %v", tc, p, err)
		}
		d := p.Looks.Designs[0]
		direction := gate.AtLeast
		if tc.truth < tc.bound {
			direction = gate.AtMost
		}
		rule, flip := gate.Bounded(direction, tc.bound)
		rng := rand.New(rand.NewPCG(5, 6))
		run := func(most int, truth float64) (chance, mean float64) {
			for range trials {
				v, n := asked(rule, most, func() float64 {
					x := drawTask(rng, tc.attempts, truth, tc.icc)
					if flip {
						return 1 - x
					}
					return x
				})
				if mean += float64(n) / float64(trials); v == gate.Pass {
					chance += 1 / float64(trials)
				}
			}
			return chance, mean
		}
		slack := 0.01 + 3*math.Sqrt(tc.power*(1-tc.power)/float64(trials))
		chance, mean := run(d.Until.Most, tc.truth)
		if math.Abs(chance-tc.power) > slack || d.Until.Chance < tc.power || d.Until.Chance > tc.power+slack {
			t.Errorf("%+v: %d tasks pass with a chance of %.3f, promised %.3f", tc, d.Until.Most, chance, d.Until.Chance)
		}
		if math.Abs(mean/d.Until.Mean-1) > 0.1 {
			t.Errorf("%+v: %.1f tasks on average, promised %.1f", tc, mean, d.Until.Mean)
		}
		if fewer, _ := run(d.Until.Most*4/5, tc.truth); fewer > tc.power-slack/4 {
			t.Errorf("%+v: four fifths of the tasks pass with a chance of %.3f", tc, fewer)
		}
		for i, e := range d.Until.Elsewhere {
			if _, mean := run(d.Until.Most, e.Truth); math.Abs(mean/e.Mean-1) > 0.2 {
				t.Errorf("%+v: %.1f tasks on average at %g, promised %.1f", tc, mean, e.Truth, e.Mean)
			}
			if i == 0 && (e.Truth != tc.bound || e.Mean < d.Until.Mean) {
				t.Errorf("%+v: at the bound %+v", tc, e)
			}
		}
		if u := d.Until; !(u.Mean < float64(u.NineInTen) && u.NineInTen <= u.Most) || d.Attempts != tc.attempts {
			t.Errorf("%+v: %+v", tc, d)
		}
	}
}

// TestUnracedLooksAtABaseline: the same for pairs, whose changes are drawn from the rates of tasks.
func TestUnracedLooksAtABaseline(t *testing.T) {
	t.Parallel()
	const trials = 500
	const rate, icc, loss, margin = 0.9, 0.5, 0.2, 0.2
	for metric, truth := range map[string]float64{"pass_rate": rate, "error_rate": 1 - rate} {
		attempts, want := []int{1, 3}, "[1 FAIL false 1 PASS false 3 FAIL false 3 FAIL true 3 PASS false]"
		if metric == "error_rate" {
			attempts, want = attempts[1:], "[3 FAIL false 3 FAIL true 3 PASS false]"
		}
		q := anyLook(metric, map[string]float64{
			"truth": truth, "baseline-diff": loss, "margin": margin, "correlation": icc,
		}, attempts...)
		p, err := plan.Make(q)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, d := range p.Looks.Designs {
			kinds = append(kinds, fmt.Sprint(d.Attempts, " ", d.Verdict, " ", d.Breaks))
			rng := rand.New(rand.NewPCG(7, 8))
			chance := 0.0
			for range trials {
				v, _ := asked(gate.Paired(margin, gate.MinEffect), d.Until.Most, func() float64 {
					before := stats.DrawRate(rng, rate, icc)
					after := before
					switch {
					case d.Verdict == gate.Pass:
					case d.Breaks:
						if rng.Float64() < loss/rate {
							after = 0
						}
					default:
						after *= 1 - loss/rate
					}
					return (1 + drawTask(rng, d.Attempts, after, 0) - drawTask(rng, d.Attempts, before, 0)) / 2
				})
				if v == d.Verdict {
					chance += 1 / float64(trials)
				}
			}
			if math.Abs(chance-0.8) > 0.01+3*math.Sqrt(0.16/float64(trials)) {
				t.Errorf("%s: %+v: a chance of %.3f", metric, d, chance)
			}
		}
		if fmt.Sprint(kinds) != want {
			t.Errorf("%s: %v, want %s", metric, kinds, want)
		}
		requireText(t, p, "points fails, 3 attempts at each task: one look: ", "some tasks break, 3 attempts",
			"no change passes, 3 attempts")
	}
}

// TestUnracedLooksOfBoth: a plan for a bound and a baseline names the gate of each number.
func TestUnracedLooksOfBoth(t *testing.T) {
	t.Parallel()
	p, err := plan.Make(anyLook("pass_rate", map[string]float64{
		"bound": 0.7, "truth": 0.9, "baseline-diff": 0.2, "margin": 0.2, "correlation": 0.5,
	}, 1))
	if err != nil {
		t.Fatal(err)
	}
	requireText(t, p, "  1 attempt at each task: one look: ", "if it is at the bound 0.7,",
		"  a loss of 20.0 points fails, 1 attempt at each task: one look: ", "if it is 40.0 points\n",
		"  no change passes, 1 attempt at each task: one look: ")
}

// TestUnracedLooksTake: which design is taken for which request.
func TestUnracedLooksTake(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string]map[string]float64{
		plan.LooksAny:   {"bound": 0.85, "truth": 0.95, "power": 0.95},
		plan.TakeEither: {"bound": 0.85, "truth": 0.92},
		plan.LooksOnce:  {"bound": 0.8, "truth": 0.95, "power": 0.6},
		"":              {"bound": 0.9, "truth": 0.9001},
	} {
		p, err := plan.Make(anyLook("pass_rate", flags, 1))
		if err != nil {
			t.Fatal(err)
		}
		d := p.Looks.Designs[0]
		if want == "" {
			requireText(t, p, "After each task: more than 20,000 tasks. No number of tasks up to 20,000 is enough")
		}
		if d.Take != want || d.Once != p.Rate.Tasks {
			t.Errorf("%v: %+v, want %s", flags, d, want)
		}
	}
}

// TestUnracedLooksOfEveryMetric: each metric with a plan has both designs, or a reason for no early decision.
func TestUnracedLooksOfEveryMetric(t *testing.T) {
	t.Parallel()
	early := map[string]bool{}
	for _, m := range gates.Metrics() {
		flags := map[string]float64{"bound": 0.5, "truth": 0.99, "power": 0.5, "min-n": 5}
		switch {
		case strings.HasSuffix(m, "_p50"), strings.HasSuffix(m, "_p90"), strings.HasSuffix(m, "_incidents"):
			flags = nil
		case strings.HasSuffix(m, "_per_attempt"), m == "cost_per_pass":
			flags = map[string]float64{"bound": 20, "truth": 1, "sd": 0.1, "min-n": 5}
		case strings.HasSuffix(m, "_mean"):
			flags = map[string]float64{"baseline-diff": 5, "margin": 5, "sd": 0.3, "min-n": 5}
		}
		q := anyLook(m, flags)
		if flags["power"] > 0 {
			q.Attempts = []int{1}
		}
		p, err := plan.Make(q)
		if err != nil && flags["power"] > 0 { // less is better
			q.Truth = 0.01
			p, err = plan.Make(q)
		}
		if err != nil || p.Looks == nil || (p.Looks.NoEarly == "") != (len(p.Looks.Designs) > 0) {
			t.Errorf("%s: %+v %v", m, p, err)
			continue
		}
		if early[m] = p.Looks.NoEarly == ""; !early[m] {
			requireText(t, p, m+" has no early decision, because it")
		}
	}
	for m, want := range map[string]bool{
		"pass_rate": true, "judged_pass": true, "schema_valid": true, "error_rate": true, "abstention_accuracy": true,
		"over_call_rate_by_task": true, "over_call_rate": false, "schema_valid_by_call": false, "true_success": false,
		"arg_f1_micro": false, "execution_success": false, "timeout_rate": false, "safe_calls_by_task": true,
		"miss_rate": false, "latency_p90": false, "cost_per_attempt": false, "safety_incidents": false,
	} {
		if early[m] != want {
			t.Errorf("%s has an early decision: %t", m, early[m])
		}
	}
	judged := anyLook("judged_pass", map[string]float64{
		"bound": 0.5, "truth": 0.9, "judge-sens": 1, "judge-spec": 1, "tasks": 60,
	})
	if p, err := plan.Make(judged); err != nil || p.Looks.NoEarly == "" {
		t.Errorf("a judge that is corrected: %+v %v", p, err)
	}
	if p, err := plan.Make(ask("pass_rate", map[string]float64{"bound": 0.5})); err != nil || p.Looks != nil {
		t.Errorf("not asked for: %+v %v", p, err)
	}
}

// TestLooksRefused: other values, and fields that belong to one gate.
func TestLooksRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"metric": "pass_rate", "bound": 0.9, "looks": "often"}`: `looks is once or any, and not "often"`,
		`{"gates": "g.yaml", "bound": 0.9}`:                       "bound is of no use with gates",
		`{"gates": "g.yaml", "metric": "pass_rate"}`:              "metric is of no use with gates",
		`{"gates": "g.yaml", "power": 1}`:                         "power is a chance",
		`{"gates": "g.yaml", "look": "any"}`:                      "look is of no use",
		`{"metric": "pass_rate", "bound": 0.9, "look": "any"}`:    "look is of no use",
	} {
		var q plan.Ask
		if err := json.Unmarshal([]byte(body), &q); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Make(q); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

const gateFile = `gates:
  - pass_rate >= 0.85
  - {metric: pass_rate, baseline: {margin: 0.2}}
  - {metric: safety_incidents, zero: true, max_rate: 0.01}
  - {metric: blocked_incidents, zero: true}
  - {metric: cost_per_attempt, at_most: 0.05}
  - {metric: "judged_pass:strict", at_least: 0.8, slice: language=*}
  - {newly_failing: 0}
  - {name: errors, gate: error_rate <= 0.1, min_n: 50}
  - over_call_rate <= 0.2
  - {metric: pass_rate, at_least: 1, slice: case=*}
  - latency_p90 <= 800 ms
  - {name: least loss, metric: pass_rate, baseline: {margin: 0.2, min_effect: 0.17}}
  - {metric: timeout_rate, baseline: {margin: 0.2}}
  - {metric: calls_per_attempt, baseline: {margin: 0.2}}
`

// TestUnracedLooksOfGateFile: every gate of a file has a plan or a reason.
func TestUnracedLooksOfGateFile(t *testing.T) {
	t.Parallel()
	file, problems := suite.ReadGates("g.yaml", []byte(gateFile))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	make := func(flags map[string]float64, looks string) *plan.Plan {
		q := ask("true_success", flags)
		q.Gates, q.File, q.Looks, q.Given = "g.yaml", file.Gates, looks, append(q.Given, "gates")
		p, err := plan.Make(q)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := make(map[string]float64{"truth": 0.95, "discordant": 0.05}, "")
	var planned []string
	for i := range p.Gates {
		g := &p.Gates[i]
		if (g.Plan == nil) != (g.NoPlan != "") {
			t.Errorf("%s: %+v", g.Gate, g)
		}
		if g.Plan != nil {
			planned = append(planned, g.Gate+" "+g.Slice)
		}
	}
	want := []string{
		"pass_rate >= 0.85 ", "pass_rate against the baseline ", "safety_incidents = 0 ",
		"judged_pass:strict >= 0.80 language=*", "errors ", "over_call_rate <= 0.20 ",
		"least loss ", "timeout_rate against the baseline ",
	}
	if !slices.Equal(planned, want) {
		t.Errorf("planned are %q, want %q", planned, want)
	}
	rate := p.Gates[0].Plan
	alone, err := plan.Make(anyLook("pass_rate", map[string]float64{"bound": 0.85, "truth": 0.95}, 1))
	if err != nil || rate.Looks.Designs[0].Until.Most != alone.Looks.Designs[0].Until.Most || rate.Rate.Tasks != 75 {
		t.Errorf("alone it is another plan: %+v and %+v", rate.Looks, alone.Looks)
	}
	if c := p.Gates[1].Plan.Paired; c.Margin != 0.2 || c.Diff != 0.2 || c.Rate != 0.95 {
		t.Errorf("%+v", c)
	}
	if errs := p.Gates[7].Plan; errs.Rate.Truth != 0.05 || errs.MinUnits != 50 {
		t.Errorf("%+v", errs.Rate)
	}
	usual, least := p.Gates[1].Plan, p.Gates[11].Plan
	if least.Paired.Rows[0].Fails < 2*usual.Paired.Rows[0].Fails ||
		least.Looks.Designs[0].Until.Most <= usual.Looks.Designs[0].Until.Most {
		t.Errorf("the least loss of a failure is not in the plan: %+v and %+v", least.Paired, usual.Paired)
	}
	if c := p.Gates[12].Plan.Paired; c.Rate != 0.05 || !c.LowerIsBetter {
		t.Errorf("less is better: %+v", c)
	}
	requireText(t, p, "14 gates, each planned for a chance of 80.0 %",
		"  pass_rate >= 0.85, if it is really 0.95: one look: 75 tasks. After each task: ",
		"judged_pass:strict >= 0.80 [tasks of each language], if it is really 0.95: one look: ",
		"pass_rate against the baseline, a loss of 20.0 points fails: one look: ",
		"safety_incidents = 0: 299 exposed tasks without an incident", "latency_p90 <= 800 ms: no plan: it is a quantile",
		"if it is really 0.05: one look: 41 tasks. No early decision: it is a rate of calls; over_call_rate_by_task can be decided early")
	if once := make(map[string]float64{"truth": 0.95}, plan.LooksOnce); once.Gates[0].Plan.Looks != nil ||
		!strings.Contains(once.Gates[1].NoPlan, "needs the baseline's rate") {
		t.Errorf("%+v", once.Gates)
	}
}

// TestLooksJSON: a body of JSON is equivalent to flags, and its answer has all numbers.
func TestLooksJSON(t *testing.T) {
	t.Parallel()
	var q plan.Ask
	body := `{"metric": "pass_rate", "bound": 0.85, "truth": 0.97, "power": 0.95, "attempts": [1], "looks": "any"}`
	if err := json.Unmarshal([]byte(body), &q); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"looks":{"designs":[{"attempts":1,"verdict":"PASS","one_look":66,"after_each_task":{"most":`, `"chance":0.9`,
		`"mean":`, `"nine_in_ten":`, `"elsewhere":[{"truth":0.85,"mean":`, `"take":"any"`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}
