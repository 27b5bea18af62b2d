// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// surface is a response to two parameters in [0,1] and a word.
type surface func(x, y float64, word int) float64

// over lists the points of a surface, 11 × 11 × 2, after a base in the middle, with the chance at each.
func over(f surface) (points [][]json.RawMessage, chances []float64) {
	add := func(x, y float64, word int) {
		number := func(v float64) json.RawMessage { return strconv.AppendFloat(nil, v, 'g', -1, 64) }
		points = append(points,
			[]json.RawMessage{number(x), number(y), []byte(strconv.Quote("w" + strconv.Itoa(word)))})
		chances = append(chances, f(x, y, word))
	}
	add(0.5, 0.5, 0)
	for i := range 11 {
		for j := range 11 {
			for w := range 2 {
				if i != 5 || j != 5 || w != 0 {
					add(float64(i)/10, float64(j)/10, w)
				}
			}
		}
	}
	return points, chances
}

// regret is how much worse than the best the winners of many searches are, on average.
func regret(t *testing.T, mode Mode, f surface, runs int) (mean float64) {
	t.Helper()
	points, chances := over(f)
	best := 0.0
	for _, c := range chances {
		best = max(best, c)
	}
	for seed := range uint64(runs) {
		x := drawn(rand.New(rand.NewPCG(seed, 8)), chances, 60)
		cfg := SearchConfig{Mode: mode, Points: points, Trials: 30, Seed: seed, Race: RaceConfig{Tasks: 60}}
		s, _ := search(t, cfg, x)
		mean += (best - chances[s.Leader()]) / float64(runs)
	}
	return mean
}

func TestBayesianFindsAPeakBetterThanChance(t *testing.T) {
	peak := func(x, y float64, word int) float64 {
		return 0.3 + 0.1*float64(word) + 0.4*math.Exp(-((x-0.2)*(x-0.2)+(y-0.9)*(y-0.9))/0.05)
	}
	random := regret(t, Random, peak, 30)
	bayesian := regret(t, Bayesian, peak, 30)
	t.Logf("regret %.3f at random, %.3f bayesian", random, bayesian)
	if bayesian > 0.7*random {
		t.Error("the scores do not help")
	}
}

func TestNoModeFallsOffACliff(t *testing.T) {
	cliff := func(x, _ float64, word int) float64 {
		if x > 0.65 || word == 1 && x > 0.35 {
			return 0.1
		}
		return 0.7
	}
	for _, mode := range Modes() {
		if mode == string(Grid) {
			continue // 241 candidates, which the next test asks
		}
		if r := regret(t, Mode(mode), cliff, 20); r > 0.001 {
			t.Errorf("%s: regret %.3f", mode, r)
		}
	}
}

func TestAFlatSurfaceHasNoRegret(t *testing.T) {
	flat := func(_, _ float64, _ int) float64 { return 0.6 }
	for _, mode := range Modes() {
		if r := regret(t, Mode(mode), flat, 2); r != 0 {
			t.Errorf("%s: regret %.3f", mode, r)
		}
	}
}

func TestKernelsAreDistributions(t *testing.T) {
	for _, values := range [][]string{
		{"0"}, {"null"}, {"0", "1", "2"}, {`"a"`, `"b"`}, {"256", "null", "4096", "1024", `"auto"`, "true"},
	} {
		axis := axisOf(values)
		for at := range values {
			for _, width := range []float64{0.01, 0.2, 1} {
				sum, row := 0.0, axis.around(at, width)
				for b, w := range row {
					if sum += w; !(w >= 0 && w <= row[at]+1e-12) {
						t.Errorf("%v: %v around %d: %d has more than itself", values, row, at, b)
					}
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("%v: %v around %d add up to %v", values, row, at, sum)
				}
			}
		}
	}
	axis := axisOf([]string{"256", "4096", "1024", "null"})
	if row := axis.around(0, 0.2); !(row[2] > row[1] && row[1] > row[3]) {
		t.Errorf("1024 is nearer to 256 than 4096, and 4096 nearer than null: %v", row)
	}
}

func TestProposedTogetherAreApart(t *testing.T) {
	points, _ := over(func(_, _ float64, _ int) float64 { return 0 })
	space, order := newTPE(points), []int{}
	for c := range points[1:] {
		order = append(order, c+1)
	}
	seen := []scored{{0, 0.5}, {10, 0.9}, {100, 0.1}, {200, 0.2}, {240, 0.3}}
	next := space.propose(seen, order, 4)
	if len(next) != 4 {
		t.Fatal(next)
	}
	for i, c := range next {
		for _, other := range next[:i] {
			if c == other {
				t.Errorf("%v: one twice", next)
			}
		}
		for _, s := range seen {
			if c == s.candidate {
				t.Errorf("%v: %d was tried", next, c)
			}
		}
	}
	if got := space.propose(seen, []int{10, 240, 3}, 4); len(got) != 1 || got[0] != 3 {
		t.Errorf("of one that is left: %v", got)
	}
	if got := space.propose([]scored{{0, math.Inf(-1)}}, []int{1}, 1); len(got) != 1 {
		t.Errorf("after a broken one: %v", got)
	}
}

// A candidate that was dropped on hard tasks is scored by its distance to the leader.
func TestTheScoreOfADroppedCandidateIsComparable(t *testing.T) {
	s, err := NewSearch(SearchConfig{
		Mode: Bayesian, Points: plane(4, 1), Trials: 4, Race: RaceConfig{Tasks: 100, Block: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	hard := func(task int) float64 { // the first half is hard
		return float64(task / 50)
	}
	for round, ok := s.Next(); ok; round, ok = s.Next() {
		for _, c := range round.Candidates {
			for _, task := range round.Tasks {
				x := hard(task)
				if c == 4 && task%2 == 0 { // fails half of what the others pass
					x = 0
				}
				if c != 4 {
					x = max(x, 0.5)
				}
				s.Take(c, task, sure(x))
			}
		}
		s.Look()
	}
	st := s.Standing(4)
	if st.Dropped == nil || st.Mean > 0.1 {
		t.Fatalf("%+v", st)
	}
	if got := s.score(s.entry[4]); math.Abs(got-(0.75-0.5)) > 0.02 {
		t.Errorf("the score is %.3f, with a mean of %.3f", got, st.Mean)
	}
}
