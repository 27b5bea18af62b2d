// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

func powerAtLeast(bound float64) gates.Gate {
	return gates.Gate{Kind: gates.Bound, Direction: gate.AtLeast, Bound: bound}
}

func powerAtMost(bound float64) gates.Gate {
	return gates.Gate{Kind: gates.Bound, Direction: gate.AtMost, Bound: bound}
}

// TestFewest: a gate that passes with a chance of n in 1,000 needs 800 tasks for 0.8. The
// size found is on the grid, and no farther away than the noise of the simulation.
func TestFewest(t *testing.T) {
	t.Parallel()
	linear := func(rng *rand.Rand, n int) gate.Verdict {
		if rng.Float64() < float64(n)/1000 {
			return gate.Pass
		}
		return gate.Inconclusive
	}
	n, ok := gates.Fewest(linear, gate.Pass, 0.8, 30)
	if !ok || n < 780 || n > 820 || !slices.Contains(gates.Sizes(), n) {
		t.Errorf("%d %v", n, ok)
	}
	if again, _ := gates.Fewest(linear, gate.Pass, 0.8, 30); again != n {
		t.Errorf("%d, and then %d", n, again)
	}
	if n, ok := gates.Fewest(linear, gate.Pass, 0.02, 30); !ok || n != 30 {
		t.Errorf("less than least: %d %v", n, ok)
	}
	never := func(*rand.Rand, int) gate.Verdict { return gate.Inconclusive }
	if n, ok := gates.Fewest(never, gate.Pass, 0.8, 30); ok {
		t.Errorf("never: %d", n)
	}
	always := func(*rand.Rand, int) gate.Verdict { return gate.Pass }
	for least, want := range map[int]int{0: 1, gates.MostTasks: gates.MostTasks, gates.MostTasks + 1: 0} {
		if n, ok := gates.Fewest(always, gate.Pass, 0.8, least); n != want || ok != (want > 0) {
			t.Errorf("from %d tasks on: %d %v, want %d", least, n, ok, want)
		}
	}
	for i, n := range gates.Sizes()[1:] {
		if before := gates.Sizes()[i]; before >= n || n > 40 && float64(n) > 1.051*float64(before) {
			t.Errorf("%d stands behind %d", n, before)
		}
	}
}

// TestExactRate compares the exact chance with simulated gates, and the smallest number of
// tasks with its neighbour.
func TestExactRate(t *testing.T) {
	t.Parallel()
	for _, r := range []gates.RateTrial{
		{Gate: powerAtLeast(0.85), Truth: 0.9, Attempts: 1},
		{Gate: powerAtMost(0.1), Truth: 0.05, Attempts: 1},
		{Gate: powerAtLeast(0.8), Truth: 0.95, Attempts: 1},
	} {
		n, wrong, ok := r.Fewest(0.8)
		chance, allowed := r.Exact(n)
		if !ok || chance < 0.8 || allowed != wrong || n < gate.MinUnits {
			t.Errorf("%+v: %d tasks, %d wrong, %v", r, n, wrong, chance)
		}
		if before, _ := r.Exact(n - 1); before >= 0.8 {
			t.Errorf("%+v: %d tasks would do", r, n-1)
		}
		if simulated := gates.Chance(r.Trial, n, gate.Pass); math.Abs(simulated-chance) > 0.02 {
			t.Errorf("%+v: %v simulated, %v added up", r, simulated, chance)
		}
		if least, ok := r.Smallest(2); !ok || r.Allowed(least) < 2 || least > gate.MinUnits && r.Allowed(least-1) >= 2 {
			t.Errorf("%+v: %d tasks with 2 wrong", r, least)
		}
	}
	// By the table of the Statistics specification, section 8.
	if n, _, _ := (&gates.RateTrial{Gate: powerAtLeast(0.85), Truth: 0.9, Attempts: 1}).Fewest(0.8); n != 356 {
		t.Errorf("0.85 at 0.9: %d", n)
	}
	if n, _ := (&gates.RateTrial{Gate: powerAtLeast(0.98), Attempts: 1}).Smallest(3); n != 436 {
		t.Errorf("0.98 with 3 failures: %d", n)
	}
}

// TestAttempts: attempts that have nothing in common are worth as many tasks, attempts
// that are all the same are worth one.
func TestAttempts(t *testing.T) {
	t.Parallel()
	need := func(attempts int, alike float64) int {
		r := gates.RateTrial{Gate: powerAtLeast(0.85), Truth: 0.9, Attempts: attempts, Correlation: alike}
		n, ok := gates.Fewest(r.Trial, gate.Pass, 0.8, gate.MinUnits)
		if !ok {
			t.Error("none")
		}
		return n
	}
	if one, three, same := need(1, 0), need(3, 0),
		need(3, 0.95); math.Abs(float64(one)-356) > 30 || math.Abs(float64(three)-356./3) > 15 || same < one*9/10 {
		t.Errorf("%d tasks of one attempt, %d of three that have nothing in common, %d of three that are the same", one,
			three, same)
	}
}

// TestDiscordant: as many tasks change between single attempts as the correlation predicts.
func TestDiscordant(t *testing.T) {
	t.Parallel()
	icc, ok := gates.CorrelationOf(0.9, 0.1)
	if !ok || math.Abs(gates.Discordant(0.9, icc)-0.1) > 1e-12 || math.Abs(icc-(1-0.1/0.18)) > 1e-12 {
		t.Errorf("%v %v", icc, ok)
	}
	if _, ok := gates.CorrelationOf(0.9, 0.2); ok {
		t.Error("more tasks change than by chance alone")
	}
}

// TestUnracedPaired: a gate finds a loss more often in more tasks and in more attempts, whole
// breaks are harder to find than a part of every task, and what is found does not depend on
// which way is good.
func TestUnracedPaired(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("draws too much for the race detector; other tests here use the same goroutines")
	}
	pass := panel.Pairing{Metric: "pass_rate", Unit: panel.UnitRate}
	base := gates.PairedRateTrial{
		Gate: gates.Gate{Kind: gates.Regression}, Pairing: pass, Rate: 0.9, Correlation: 0.5,
		Attempts: 1, Loss: 0.05,
	}
	chance := func(n int, change func(*gates.PairedRateTrial)) float64 {
		p := base
		change(&p)
		return gates.Chance(p.Trial, n, gate.Fail)
	}
	one := chance(100, func(*gates.PairedRateTrial) {})
	many := chance(400, func(*gates.PairedRateTrial) {})
	four := chance(100, func(p *gates.PairedRateTrial) { p.Attempts = 4 })
	breaks := chance(100, func(p *gates.PairedRateTrial) { p.Attempts, p.Breaks = 4, true })
	if !(one+0.2 < four && breaks+0.05 < four && one+0.2 < many) {
		t.Errorf("one %v, in 400 %v, four attempts %v, breaking %v", one, many, four, breaks)
	}
	mirrored := chance(100, func(p *gates.PairedRateTrial) { p.Rate, p.Pairing.LowerIsBetter = 0.1, true })
	if math.Abs(mirrored-one) > 0.03 {
		t.Errorf("a loss is found with %v, a rise with %v", one, mirrored)
	}
	none := chance(100, func(p *gates.PairedRateTrial) { p.Loss = 0 })
	if none > 0.03 {
		t.Errorf("a loss of nothing is found with %v", none)
	}
}

// TestJudged: labels of a judge that never errs are worth the tasks they are on, and those
// of one that errs are worth less elsewhere than on the run.
func TestJudged(t *testing.T) {
	t.Parallel()
	chance := func(from gates.LabelDraw, sens, spec float64, labels int) float64 {
		j := gates.JudgedTrial{
			Gate: powerAtLeast(0.85), Truth: 0.9, Sensitivity: sens, Specificity: spec, Tasks: 1000,
			Labels: from,
		}
		return gates.Chance(j.Trial, labels, gate.Pass)
	}
	if perfect := chance(gates.Random, 1, 1, 200); perfect < 0.95 {
		t.Errorf("a perfect judge of 1,000 tasks passes with %v", perfect)
	}
	random, elsewhere := chance(gates.Random, 0.95, 0.9, 200), chance(gates.Elsewhere, 0.95, 0.9, 200)
	// The Statistics specification, section 4.7, has 0.86 and 0.48.
	if math.Abs(random-0.86) > 0.03 || math.Abs(elsewhere-0.48) > 0.03 {
		t.Errorf("on the run %v, elsewhere %v", random, elsewhere)
	}
}

// TestUnracedAmounts: twice the spread takes four times the tasks.
func TestUnracedAmounts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("draws too much for the race detector; other tests here use the same goroutines")
	}
	for _, counted := range []bool{false, true} {
		need := func(sd float64) int {
			a := gates.AmountTrial{Gate: powerAtMost(3.3), Mean: 3, SD: sd, Counted: counted}
			n, _ := gates.Fewest(a.Trial, gate.Pass, 0.8, gate.MinUnits)
			return n
		}
		once, twice := need(1), need(2)
		if ratio := float64(twice) / float64(once); ratio < 3.6 || ratio > 5.2 {
			t.Errorf("counted %v: %d and %d tasks", counted, once, twice)
		}
	}
}
