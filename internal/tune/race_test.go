// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

func sure(x float64) panel.TaskMean { return panel.TaskMean{Low: x, High: x} }

// runRace carries a race out; x returns the outcome of a candidate at a task. It returns how many were asked.
func runRace(r *Race, x func(candidate, task int) panel.TaskMean) (asked int) {
	for round, ok := r.Next(); ok; round, ok = r.Next() {
		for _, c := range round.Candidates {
			for _, t := range round.Tasks {
				r.Take(c, t, x(c, t))
				asked++
			}
		}
		r.Look()
	}
	return asked
}

// drawn are outcomes of candidates with chances of passing around the given ones, more at easy tasks.
func drawn(rng *rand.Rand, chances []float64, tasks int) func(candidate, task int) panel.TaskMean {
	x := make([][]float64, len(chances))
	for c := range x {
		x[c] = make([]float64, tasks)
	}
	for t := range tasks {
		easy := (rng.Float64() - 0.5) * 0.4
		for c := range x {
			if rng.Float64() < chances[c]+easy {
				x[c][t] = 1
			}
		}
	}
	return func(candidate, task int) panel.TaskMean { return sure(x[candidate][task]) }
}

func TestRoundsAskBlocksInOrder(t *testing.T) {
	r := NewRace(RaceConfig{Tasks: 7, Block: 3})
	r.Add(2)
	first, ok := r.Next()
	if d := cmp.Diff(Round{[]int{0, 1}, []int{0, 1, 2}}, first); !ok || d != "" {
		t.Error(d)
	}
	if again, _ := r.Next(); cmp.Diff(first, again) != "" {
		t.Error("a round that was not taken is another one the second time")
	}
	take := func(c int, tasks ...int) {
		for _, task := range tasks {
			r.Take(c, task, sure(1))
		}
	}
	take(0, 0, 1, 2)
	take(1, 1)
	if next, _ := r.Next(); cmp.Diff(Round{[]int{1}, []int{0, 1, 2}}, next) != "" {
		t.Errorf("%+v", next)
	}
	take(1, 0, 2)
	r.Add(1)
	if next, _ := r.Next(); cmp.Diff(Round{[]int{2}, []int{0, 1, 2}}, next) != "" {
		t.Errorf("a candidate that entered later: %+v", next)
	}
	take(2, 0, 1, 2)
	for c := range 3 {
		take(c, 3, 4, 5)
	}
	if next, _ := r.Next(); cmp.Diff(Round{[]int{0, 1, 2}, []int{6}}, next) != "" {
		t.Errorf("the last block: %+v", next)
	}
	r.Break(1, "a regression case")
	take(0, 6)
	take(2, 6)
	if next, ok := r.Next(); ok {
		t.Errorf("after the end: %+v", next)
	}
	if st := r.Standing(1); st.Broken != "a regression case" || st.In() || st.Asked != 6 {
		t.Errorf("%+v", st)
	}
	if r.Leader() != 0 {
		t.Error("the first of equal candidates does not lead")
	}
}

func TestWorseCandidateIsDropped(t *testing.T) {
	r := NewRace(RaceConfig{Tasks: 100})
	r.Add(3)
	good := func(c, _ int) panel.TaskMean { return sure(float64(c) / 2) } // 0, 1/2, 1
	asked := runRace(r, good)
	if r.Leader() != 2 || asked > 240 {
		t.Errorf("leader %d after %d", r.Leader(), asked)
	}
	st := r.Standing(1)
	if st.Dropped == nil || st.Dropped.By != 2 || st.Dropped.Ranked || st.Dropped.After != st.Asked || st.Asked > 60 {
		t.Errorf("%+v, %+v", st, st.Dropped)
	}
	if base := r.Standing(0); !base.In() || base.Asked != 100 {
		t.Errorf("the base left the race: %+v", base)
	}
	if cmp.Diff([]int{2}, r.Alike()) != "" {
		t.Errorf("alike: %v", r.Alike())
	}
	all := NewRace(RaceConfig{Tasks: 100, NoRace: true})
	all.Add(3)
	if asked := runRace(all, good); asked != 300 || !all.in(1) {
		t.Errorf("without a race %d are asked", asked)
	}
}

// A candidate with lost attempts is not worse: they may all have passed. It does not lead because of them either.
func TestLostAttemptsDropNothing(t *testing.T) {
	r := NewRace(RaceConfig{Tasks: 100})
	r.Add(3)
	runRace(r, func(c, _ int) panel.TaskMean {
		return [...]panel.TaskMean{sure(0.5), {Low: 0, High: 1}, sure(1)}[c]
	})
	if !r.in(1) || r.Leader() != 2 || r.Standing(1).Mean != 0 {
		t.Errorf("in the race %v, leader %d", r.in(1), r.Leader())
	}
	r = NewRace(RaceConfig{Tasks: 100})
	r.Add(3)
	runRace(r, func(c, _ int) panel.TaskMean { // what the leader lost counts against it
		return [...]panel.TaskMean{sure(0), sure(0.4), {Low: 0.45, High: 1}}[c]
	})
	if !r.in(1) || r.Leader() != 2 {
		t.Errorf("in the race %v, leader %d", r.in(1), r.Leader())
	}
}

// A candidate that is worse than one that breaks a constraint, and better than all others, stays and wins.
func TestABrokenCandidateDropsNoOther(t *testing.T) {
	r := NewRace(RaceConfig{Tasks: 100, Block: 10})
	r.Add(3)
	for round, ok := r.Next(); ok; round, ok = r.Next() {
		for _, c := range round.Candidates {
			for _, task := range round.Tasks {
				r.Take(c, task, sure([...]float64{0.5, 0.55, 1}[c]))
			}
		}
		if r.Standing(2).Asked > 20 {
			r.Break(2, "an incident")
		}
		r.Look()
	}
	if st := r.Standing(1); !st.In() || r.Leader() != 1 {
		t.Errorf("%+v, leader %d", st, r.Leader())
	}
}

// The chance to drop a candidate that is as good as the best does not grow with their number, although the leader is
// the luckiest of all: each block is compared with who led before it.
func TestEqualCandidatesStay(t *testing.T) {
	const runs = 60
	for _, n := range []int{2, 10, 40} {
		chances := make([]float64, n)
		for c := range chances {
			chances[c] = 0.6
		}
		dropped := 0
		for seed := range runs {
			r := NewRace(RaceConfig{Tasks: 120})
			r.Add(n)
			runRace(r, drawn(rand.New(rand.NewPCG(uint64(seed), 3)), chances, 120))
			for c := range n {
				if !r.in(c) {
					dropped++
				}
			}
		}
		share := float64(dropped) / float64(runs*(n-1))
		t.Logf("%.4f of %d equal candidates are dropped", share, n)
		if share > 0.03 {
			t.Errorf("%.3f of %d equal candidates are dropped", share, n)
		}
	}
}

// The best candidate is dropped rarely, and the end of the race is as good as without it.
func TestRacingSavesAtEqualQuality(t *testing.T) {
	const runs, tasks, n = 60, 150, 20
	lost, saved, regret, full := 0, 0.0, 0.0, 0.0
	for seed := range runs {
		rng := rand.New(rand.NewPCG(uint64(seed), 4))
		chances, best := make([]float64, n), 1
		for c := range chances {
			chances[c] = 0.8 * (1 - rng.Float64()*rng.Float64())
			if c > 0 && chances[c] > chances[best] {
				best = c
			}
		}
		top := max(chances[0], chances[best])
		x := drawn(rng, chances, tasks)
		r, all := NewRace(RaceConfig{Tasks: tasks}), NewRace(RaceConfig{Tasks: tasks, NoRace: true})
		r.Add(n)
		all.Add(n)
		saved += 1 - float64(runRace(r, x))/(n*tasks)
		runRace(all, x)
		regret, full = regret+top-chances[r.Leader()], full+top-chances[all.Leader()]
		if !r.in(best) {
			lost++
		}
	}
	t.Logf("saved %.2f, regret %.4f with the race and %.4f without; the best was dropped in %d of %d", saved/runs,
		regret/runs, full/runs, lost, runs)
	if lost > 3 || saved/runs < 0.2 || regret/runs > full/runs+0.005 {
		t.Error("the race is not worth it")
	}
}

func TestAlikeCannotBeDistinguishedFromLeader(t *testing.T) {
	r := NewRace(RaceConfig{Tasks: 40, NoRace: true})
	r.Add(3)
	runRace(r, func(c, task int) panel.TaskMean {
		switch {
		case c == 0: // fails half of what the others pass
			return sure(float64(task % 2))
		case c == 2 && task == 7:
			return sure(0)
		}
		return sure(1)
	})
	if d := cmp.Diff([]int{1, 2}, r.Alike()); d != "" {
		t.Error(d)
	}
}
