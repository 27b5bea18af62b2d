// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// side is a run of g cases with attempts that pass with a chance, with so many calls each.
func side(rng *rand.Rand, name string, g, attempts int, chance func() float64, metrics ...string) *Ledger {
	l := NewLedger(name, []string{"m"}, []string{"language"})
	l.Measure(metrics...)
	for i := range g {
		p, id := chance(), fmt.Sprint(name, i)
		c := &callvet.Case{ID: id, Fields: map[string]string{"language": []string{"de", "sv"}[i%2]}}
		passes, calls := 0, 1+rng.IntN(4)
		for k := range attempts {
			cell := &callvet.Cell{
				Repeat: k, Result: callvet.Result{Verdict: callvet.VerdictFail},
				Trace: callvet.Trace{Outcome: callvet.OutcomeCalled},
			}
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

// TestUnracedUnpairedCoverage: of sides without a case in common the interval of the change holds the truth.
func TestUnracedUnpairedCoverage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a simulation, and nothing in it is shared")
	}
	const runs = 200
	rng := rand.New(rand.NewPCG(16, 4))
	metrics := []string{"arg_em", "calls_per_attempt", MetricCost}
	for name, c := range map[string]struct {
		before, after, attempts int
		was, is                 func() float64
		truth                   [4]float64 // of the pass rate and of the metrics
	}{
		"the same": {
			120, 90, 1, func() float64 { return 0.8 }, func() float64 { return 0.8 },
			[4]float64{0, 0, 0, 0},
		},
		"worse": {
			120, 120, 1, func() float64 { return 0.9 }, func() float64 { return 0.8 },
			[4]float64{-0.1, -0.1, 0, -0.1 / 1.4},
		},
		"cases differ": {100, 150, 3, rng.Float64, rng.Float64, [4]float64{0, 0, 0, 0}},
		"better, mixed": {
			150, 150, 2, func() float64 { return rng.Float64() / 2 }, rng.Float64,
			[4]float64{0.25, 0.25, 0, 0.25 / 0.75},
		},
	} {
		var held [4]int
		for range runs {
			a, b := side(rng, "a", c.before, c.attempts, c.was, metrics...),
				side(rng, "b", c.after, c.attempts, c.is, metrics...)
			d := DiffWith(a, b, DiffConfig{Unpaired: Disjoint(a, b)})
			tc := &d.Targets[0]
			if !d.Unpaired || *tc.Overall.Unpaired != [2]int{c.before, c.after} ||
				!strings.Contains(strings.Join(d.Warnings, " "), "not paired") || len(d.OnlyBaseline) > 0 {
				t.Fatalf("%s: %+v", name, d)
			}
			for i, x := range []*Difference{
				&tc.Overall, &tc.Measured[0].Overall, &tc.Measured[1].Overall,
				&tc.Measured[2].Overall,
			} {
				if !x.Change.Usable() || x.Change.Lower > x.Change.Point || x.Change.Upper < x.Change.Point {
					t.Fatalf("%s, %d: %+v", name, i, x.Change)
				}
				if x.Change.Lower <= c.truth[i] && c.truth[i] <= x.Change.Upper {
					held[i]++
				}
			}
		}
		for i, n := range held {
			if share := float64(n) / runs; share < 0.91 {
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
	if o := d.Targets[0].Overall; !d.Unpaired || o.Verdict != ChangeWorse || o.Change.Point != -1 ||
		len(d.Targets[0].Slices) != 2 {
		t.Errorf("unpaired: %+v", o)
	}
	empty := side(rng, "b", 0, 1, sure)
	if none := Diff(a, empty, 0); Disjoint(a, empty) || Disjoint(empty, a) || Disjoint(a, b) ||
		none.Targets[0].Overall.Verdict != ChangeNone {
		t.Errorf("nothing: %+v", none)
	}
}

// unpairedOf compares the cases of both sides by a metric, as if they were others.
func unpairedOf(metric string, before, now []values) (*TargetComparison, *Difference) {
	d := DiffWith(measuredLedger(metric, true, before), measuredLedger(metric, true, now), DiffConfig{Unpaired: true})
	return &d.Targets[0], &d.Targets[0].Measured[0].Overall
}

// TestUnpairedChanges: a change between other cases is that of two independent estimates, by hand.
func TestUnpairedChanges(t *testing.T) {
	t.Parallel()
	// 4 of 8 cases and 7 of 10: the exact intervals are [0.1570, 0.8430] and [0.3475, 0.9333], and the
	// standard errors the roots of 0.25 / 7 and of 0.21 / 9. t is 0.2 / 0.24300 with 7 degrees of freedom.
	_, d := unpairedOf("judged_pass", append(same(4, values{1, 1}), same(4, values{0, 1})...),
		append(same(7, values{1, 1}), same(3, values{0, 1})...))
	if differ(d.Change.Point, 0.2) || differ(d.Change.Lower, -0.2917959445993619) ||
		differ(d.Change.Upper, 0.6147899411202807) {
		t.Errorf("a rate: %+v", d.Change)
	}
	if differ(d.P, 0.43761351740792787) || differ(d.Change.SE, 0.24299715851758236) {
		t.Errorf("a rate: p %v, standard error %v", d.P, d.Change.SE)
	}
	if *d.Unpaired != [2]int{8, 10} || d.Cases != 8 || d.Verdict != ChangeUnclear {
		t.Errorf("a rate: %+v", d)
	}
	// Twelve cases of one call and twelve of two calls, as in TestChangeOfCounts.
	_, d = unpairedOf("calls_per_attempt", same(12, values{1, 1}), same(12, values{2, 1}))
	if d.Change.Point != 1 || differ(d.Change.Lower, -0.6176904322080468) ||
		differ(d.Change.Upper, 2.733877806288892) || d.Verdict != ChangeUnclear {
		t.Errorf("a count: %+v", d)
	}
	// Three calls in two attempts: these differ. No call in two attempts: they agree, and count once.
	_, d = unpairedOf("calls_per_attempt", same(12, values{3, 2}), same(12, values{0, 2}))
	if d.Baseline.Status != stats.StatusZeroVariance || d.Candidate.N != 12 {
		t.Errorf("counts of two attempts: %+v, %+v", d.Baseline, d.Candidate)
	}
	// A mean cost of 2 and of 3: half more. The ends are those of the ratio, less 1.
	_, d = unpairedOf(MetricCost, append(same(10, values{1, 1}), same(10, values{3, 1})...),
		append(same(10, values{2, 1}), same(10, values{4, 1})...))
	ratio := stats.CombineRatio(d.Candidate, d.Baseline)
	if differ(d.Change.Point, 0.5) || differ(d.Change.Lower, ratio.Lower-1) || differ(d.Change.Upper, ratio.Upper-1) ||
		d.Verdict != ChangeWorse || d.Change.Method != "unpaired_mover" {
		t.Errorf("an amount: %+v", d)
	}
}

// TestUnpairedWithoutSpread: where no side varies the change is as certain as its interval, and no more.
func TestUnpairedWithoutSpread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		metric      string
		before, now values
		cases       int
		want        Change
	}{
		"all pass, then none of 60":      {"judged_pass", values{1, 1}, values{0, 1}, 60, ChangeWorse},
		"none passes, then all of 60":    {"judged_pass", values{0, 1}, values{1, 1}, 60, ChangeBetter},
		"all pass before and now":        {"judged_pass", values{1, 1}, values{1, 1}, 60, ChangeUnclear},
		"two pass, then none":            {"judged_pass", values{1, 1}, values{0, 1}, 2, ChangeUnclear},
		"one passes, then none":          {"judged_pass", values{1, 1}, values{0, 1}, 1, ChangeUnclear},
		"one call, then three, of 60":    {"calls_per_attempt", values{1, 1}, values{3, 1}, 60, ChangeWorse},
		"one call, then three, of three": {"calls_per_attempt", values{1, 1}, values{3, 1}, 3, ChangeUnclear},
	} {
		_, d := unpairedOf(c.metric, same(c.cases, c.before), same(c.cases, c.now))
		if d.Verdict != c.want || d.Cases != c.cases || d.P < 0 || d.P > 1 ||
			(c.want != ChangeUnclear) != (d.P < 0.05) {
			t.Errorf("%s: %s, p %v, %+v", name, d.Verdict, d.P, d.Change)
		}
	}
}

// TestUnpairedSlices: a slice is compared where both sides have cases of it. The slices of a case hold all
// that it did, those of a part of it that part; a metric is compared that both sides were asked for.
func TestUnpairedSlices(t *testing.T) {
	t.Parallel()
	sides := [2]*Ledger{}
	for i := range sides {
		l := NewLedger("r", []string{"m"}, []string{"language"})
		l.Measure([][]string{{MetricCost, "arg_em"}, {"arg_em", MetricTokens}}[i]...)
		for k := range 4 {
			c := &callvet.Case{
				ID:     fmt.Sprint(i, k),
				Fields: map[string]string{"language": []string{"de", []string{"sv", "fr"}[i]}[k%2]},
			}
			l.Add(c, &callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictPass}})
			em := 1 - i // its position
			l.Observe(0, c.ID, nil, []Observation{{Metric: em, Sum: 1, N: 1}})
			l.Observe(0, c.ID, []SliceID{{"called_tool", "pay"}}, []Observation{{Metric: em, Sum: 0, N: 2}})
		}
		sides[i] = l
	}
	d := DiffWith(sides[0], sides[1], DiffConfig{Unpaired: Disjoint(sides[0], sides[1])})
	if m := d.Targets[0].Measured; !d.Unpaired || len(m) != 1 || m[0].Metric != "arg_em" {
		t.Fatalf("unpaired %t: %d metrics", d.Unpaired, len(m))
	}
	var got []string
	for _, s := range d.Targets[0].Measured[0].Slices {
		got = append(got, fmt.Sprintf("%s=%s: %d of %d and %d cases, %d and %d calls", s.Key, s.Value, s.Cases,
			s.Unpaired[0], s.Unpaired[1], s.Baseline.N, s.Candidate.N))
	}
	want := []string{
		"called_tool=pay: 4 of 4 and 4 cases, 8 and 8 calls",
		"language=de: 2 of 2 and 2 cases, 2 and 2 calls",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
