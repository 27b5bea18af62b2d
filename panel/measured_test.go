// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// paired simulates one comparison of a metric over g cases.
func paired(metric string, g int, value func() (before, after Observation)) *Difference {
	var leds [2]*Ledger
	for i := range leds {
		leds[i] = NewLedger("run", []string{"m"}, []string{})
		leds[i].Measure(metric)
	}
	for i := range g {
		a, b := value()
		leds[0].Observe(0, fmt.Sprint(i), nil, []Observation{a})
		leds[1].Observe(0, fmt.Sprint(i), nil, []Observation{b})
	}
	return &Diff(leds[0], leds[1], 0).Targets[0].Measured[0].Overall
}

// TestPairedCoverage simulates a loss that is just the margin: a gate that holds the
// worse end against it may pass in 2.5 % of the runs (and what chance adds to it in 1,000
// of them); with amounts, whose ratio is only nearly normal, in up to 5 %.
func TestPairedCoverage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a simulation, and nothing in it is shared")
	}
	r := rand.New(rand.NewPCG(9, 1))
	binomial := func(n int, p float64) Observation {
		k := 0
		for range n {
			if r.Float64() < p {
				k++
			}
		}
		return Observation{Sum: float64(k), N: n}
	}
	size := func(x float64) Observation { return Observation{Sum: x, N: 1, Fractional: true} }
	const margin, runs = 0.05, 1000
	for name, tc := range map[string]struct {
		metric string
		value  func() (a, b Observation)
		most   float64 // of false passes
	}{
		"5 % of the cases break": {"arg_em", func() (a, b Observation) {
			if r.Float64() < margin {
				return binomial(3, 1), binomial(3, 0)
			}
			return binomial(3, 1), binomial(3, 1)
		}, 0.035},
		"every case loses 5 %": {"arg_em", func() (a, b Observation) { return binomial(3, 0.95), binomial(3, 0.90) }, 0.035},
		"cases differ":         {"arg_em", func() (a, b Observation) { p := 0.5 + r.Float64()/2; return binomial(4, p), binomial(4, p-margin) }, 0.035},
		"one call a case":      {"arg_em", func() (a, b Observation) { return binomial(1, 0.9), binomial(1, 0.85) }, 0.035},
		"5 % break, half are wrong anyway": {"arg_em", func() (a, b Observation) {
			switch x := r.Float64(); {
			case x < margin:
				return binomial(1, 1), binomial(1, 0)
			case x < (1+margin)/2:
				return binomial(1, 0), binomial(1, 0)
			}
			return binomial(1, 1), binomial(1, 1)
		}, 0.035},
		"5 % dearer": {MetricCost, func() (a, b Observation) {
			x := math.Exp(0.4 * r.NormFloat64())
			return size(x), size(x * 1.05 * (1 + 0.2*r.NormFloat64()))
		}, 0.05},
		"5 % more, unlike cost": {MetricTokens, func() (a, b Observation) { return size(100 + 900*r.Float64()), size((100 + 900*r.Float64()) * 1.05) }, 0.05},
	} {
		r = rand.New(rand.NewPCG(9, 1)) // whatever the order of the scenarios
		for _, g := range []int{40, 300} {
			passed, wrong := 0, 0
			for range runs {
				d := paired(tc.metric, g, tc.value)
				if !d.Change.Usable() {
					continue
				}
				loss, truth := d.Change.Lower > -margin, -margin
				if d.relative {
					loss, truth = d.Change.Upper < margin, margin
				}
				if loss {
					passed++
				}
				if truth < d.Change.Lower || truth > d.Change.Upper {
					wrong++
				}
			}
			if share := float64(passed) / runs; share > tc.most {
				t.Errorf("%s, %d cases: %.1f %% pass that should not", name, g, 100*share)
			}
			if share := float64(wrong) / runs; share > 0.075 {
				t.Errorf("%s, %d cases: the interval misses the truth in %.1f %%", name, g, 100*share)
			}
		}
	}
}

// TestRunsAreSampled: the metrics of a run's attempts are those of its panels.
func TestRunsAreSampled(t *testing.T) {
	t.Parallel()
	cost := 0.25
	c := &callvet.Case{ID: "a", Fields: map[string]string{"language": "de"}}
	cell := func(pass bool, em float64) *callvet.Cell {
		v := callvet.VerdictFail
		if pass {
			v = callvet.VerdictPass
		}
		return &callvet.Cell{
			Trace:  callvet.Trace{Outcome: callvet.OutcomeAbstained, WallMS: 40, Usage: callvet.Usage{Known: true, InputTokens: 7, OutputTokens: 3, CostUSD: &cost}},
			Result: callvet.Result{Verdict: v, Scores: []callvet.Score{{Name: "arg_em", Value: em, Scored: true}}},
		}
	}
	metrics := []string{"arg_em", MetricError, MetricCost, MetricTokens, MetricLatencyMean, "nothing_has_this", MetricLatencyP90}
	led := func(em ...float64) *Ledger {
		l := NewLedger("run", []string{"m"}, []string{"language"})
		l.Measure(metrics...)
		l.Sample(nil)
		for _, x := range em {
			l.Add(c, cell(x == 1, x))
		}
		return l
	}
	d := Diff(led(1, 1), led(0, 1), 0).Targets[0]
	got := map[string][3]float64{}
	for _, m := range d.Measured {
		got[m.Metric] = [3]float64{m.Overall.Baseline.Point, m.Overall.Candidate.Point, float64(len(m.Slices))}
	}
	for name, want := range map[string][3]float64{
		"arg_em": {1, 0.5, 1}, MetricError: {0, 0, 1}, MetricCost: {0.25, 0.25, 1}, MetricTokens: {10, 10, 1}, MetricLatencyMean: {40, 40, 1},
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if _, ok := got[MetricLatencyP90]; ok || d.Overall.Cases != 1 {
		t.Errorf("%+v", d.Overall)
	}
	if m := Diff(led(1), led(1), 0).Targets[0].Measured[0]; m.Overall.Change.Status == stats.StatusOK && m.Overall.Change.Lower == 0 {
		t.Errorf("one case proves nothing: %+v", m.Overall.Change)
	}
}
