// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// side is a run of g cases whose attempts pass with a chance, with so many calls each.
func side(rng *rand.Rand, name string, g, attempts int, chance func() float64, metrics ...string) *Ledger {
	l := NewLedger(name, []string{"m"}, []string{"language"})
	l.Measure(metrics...)
	for i := range g {
		p, id := chance(), fmt.Sprint(name, i)
		c := &callvet.Case{ID: id, Fields: map[string]string{"language": []string{"de", "sv"}[i%2]}}
		passes, calls := 0, 1+rng.IntN(4)
		for k := range attempts {
			cell := &callvet.Cell{Repeat: k, Result: callvet.Result{Verdict: callvet.VerdictFail}, Trace: callvet.Trace{Outcome: callvet.OutcomeCalled}}
			if rng.Float64() < p {
				cell.Result.Verdict = callvet.VerdictPass
				passes++
			}
			l.Add(c, cell)
		}
		right := 0
		for range calls {
			if rng.Float64() < p {
				right++
			}
		}
		for k := range metrics {
			o := Observation{Metric: k, Sum: float64(right), N: calls}
			switch metrics[k] {
			case "calls_per_attempt":
				o = Observation{Metric: k, Sum: float64(calls), N: 1, Fractional: true, Each: true}
			case MetricCost:
				o = Observation{Metric: k, Sum: (0.5 + p) * (0.5 + rng.Float64()), N: 1, Fractional: true, Each: true}
			}
			l.Observe(0, id, nil, []Observation{o})
		}
	}
	return l
}

// TestUnpairedCoverage: of sides without a case in common the interval of the change holds the truth.
func TestUnpairedCoverage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a simulation, and nothing in it is shared")
	}
	const runs = 600
	rng := rand.New(rand.NewPCG(16, 4))
	metrics := []string{"arg_em", "calls_per_attempt", MetricCost}
	for name, c := range map[string]struct {
		before, after, attempts int
		was, is                 func() float64
		truth                   [4]float64 // of the pass rate and of the metrics
	}{
		"the same":      {120, 90, 1, func() float64 { return 0.8 }, func() float64 { return 0.8 }, [4]float64{0, 0, 0, 0}},
		"worse":         {120, 120, 1, func() float64 { return 0.9 }, func() float64 { return 0.8 }, [4]float64{-0.1, -0.1, 0, -0.1 / 1.4}},
		"cases differ":  {100, 150, 3, rng.Float64, rng.Float64, [4]float64{0, 0, 0, 0}},
		"better, mixed": {150, 150, 2, func() float64 { return rng.Float64() / 2 }, rng.Float64, [4]float64{0.25, 0.25, 0, 0.25 / 0.75}},
	} {
		var held [4]int
		for range runs {
			a, b := side(rng, "a", c.before, c.attempts, c.was, metrics...), side(rng, "b", c.after, c.attempts, c.is, metrics...)
			d := DiffWith(a, b, DiffConfig{Unpaired: Disjoint(a, b)})
			tc := &d.Targets[0]
			if !d.Unpaired || *tc.Overall.Unpaired != [2]int{c.before, c.after} || !strings.Contains(strings.Join(d.Warnings, " "), "not paired") || len(d.OnlyBaseline) > 0 {
				t.Fatalf("%s: %+v", name, d)
			}
			for i, x := range []*Difference{&tc.Overall, &tc.Measured[0].Overall, &tc.Measured[1].Overall, &tc.Measured[2].Overall} {
				if !x.Change.Usable() || x.Change.Lower > x.Change.Point || x.Change.Upper < x.Change.Point {
					t.Fatalf("%s, %d: %+v", name, i, x.Change)
				}
				if x.Change.Lower <= c.truth[i] && c.truth[i] <= x.Change.Upper {
					held[i]++
				}
			}
		}
		for i, n := range held {
			if share := float64(n) / runs; share < 0.925 {
				t.Errorf("%s, metric %d: held in %.1f %%", name, i, 100*share)
			}
		}
	}
}

// TestUnpaired: it is asked for, or there is nothing to pair; a slice that one side lacks is left out.
func TestUnpaired(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	sure := func() float64 { return 1 }
	a, b := side(rng, "a", 60, 1, sure), side(rng, "a", 60, 1, func() float64 { return 0 })
	if d := Diff(a, b, 0); d.Unpaired || d.Targets[0].Overall.Cases != 60 {
		t.Errorf("paired: %+v", d)
	}
	d := DiffWith(a, b, DiffConfig{Unpaired: true})
	if o := d.Targets[0].Overall; !d.Unpaired || o.Verdict != ChangeWorse && o.P < 0.05 || o.Change.Point != -1 || len(d.Targets[0].Slices) != 2 {
		t.Errorf("unpaired: %+v", o)
	}
	empty := side(rng, "b", 0, 1, sure)
	if none := Diff(a, empty, 0); Disjoint(a, empty) || Disjoint(a, b) || none.Targets[0].Overall.Verdict != ChangeNone {
		t.Errorf("nothing: %+v", none)
	}
}
