// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
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

// TestUnracedPairedCoverage simulates a loss that is just the margin: a gate that compares the
// worse end with it may pass in 2.5 % of the runs (and what chance adds to it in 250 of them). With
// amounts it may in up to 5 %, because their ratio is only nearly normal. make verify-coverage
// simulates 10,000.
func TestUnracedPairedCoverage(t *testing.T) {
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
	const margin, runs, noise = 0.05, 250, 0.02
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
		"every case loses 5 %": {
			"arg_em",
			func() (a, b Observation) { return binomial(3, 0.95), binomial(3, 0.90) }, 0.035,
		},
		"cases differ": {
			"arg_em",
			func() (a, b Observation) {
				p := 0.5 +
					r.Float64()/2
				return binomial(4, p), binomial(4, p-margin)
			}, 0.035,
		},
		"one call a case": {
			"arg_em",
			func() (a, b Observation) { return binomial(1, 0.9), binomial(1, 0.85) }, 0.035,
		},
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
		"5 % more, unlike cost": {
			MetricTokens,
			func() (a, b Observation) { return size(100 + 900*r.Float64()), size((100 + 900*r.Float64()) * 1.05) },
			0.05,
		},
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
			if share := float64(passed) / runs; share > tc.most+noise {
				t.Errorf("%s, %d cases: %.1f %% pass that should not", name, g, 100*share)
			}
			if share := float64(wrong) / runs; share > 0.075+noise {
				t.Errorf("%s, %d cases: the interval misses the truth in %.1f %%", name, g, 100*share)
			}
		}
	}
}
