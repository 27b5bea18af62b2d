// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// plane are the points of two parameters, one with numbers and one with words, after the base.
func plane(numbers, words int) (points [][]json.RawMessage) {
	points = append(points, []json.RawMessage{[]byte("null"), []byte("null")})
	for i := range numbers {
		for j := range words {
			points = append(points, []json.RawMessage{
				[]byte(strconv.Itoa(i)), []byte(strconv.Quote(fmt.Sprint("word ", j))),
			})
		}
	}
	return points
}

// search is one whole search.
func search(t *testing.T, cfg SearchConfig, x func(candidate, task int) panel.TaskMean) (s *Search, rounds []Round) {
	t.Helper()
	s, err := NewSearch(cfg)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[[2]int]bool{}
	for round, ok := s.Next(); ok; round, ok = s.Next() {
		rounds = append(rounds, round)
		for _, c := range round.Candidates {
			for _, task := range round.Tasks {
				if at := [2]int{c, task}; asked[at] {
					t.Fatalf("%s: candidate %d is asked about task %d twice", cfg.Mode, c, task)
				} else {
					asked[at] = true
				}
				s.Take(c, task, x(c, task))
			}
		}
		s.Look()
	}
	return s, rounds
}

func TestSearches(t *testing.T) {
	points := plane(8, 4)
	chances := make([]float64, len(points))
	for c := range chances {
		chances[c] = 0.3 + 0.5*float64(c)/float64(len(points))
	}
	for _, mode := range Modes() {
		for _, trials := range []int{0, 1, 2, 12, 1000} {
			cfg := SearchConfig{Mode: Mode(mode), Points: points, Trials: trials, Seed: 5, Race: RaceConfig{Tasks: 60}}
			x := drawn(rand.New(rand.NewPCG(9, 9)), chances, 60)
			s, rounds := search(t, cfg, x)
			chosen := s.Chosen()
			want := len(points)
			if trials > 0 && trials < len(points) && cfg.Mode != Grid {
				want = trials + 1
			}
			if len(chosen) != want || chosen[0] != 0 {
				t.Errorf("%s, %d trials: %d chosen, the first %d", mode, trials, len(chosen), chosen[0])
			}
			if slices.Sort(chosen); len(slices.Compact(chosen)) != want {
				t.Errorf("%s, %d trials: a candidate was chosen twice", mode, trials)
			}
			if base := s.Standing(0); !base.In() || base.Asked != 60 {
				t.Errorf("%s, %d trials: the base has %+v", mode, trials, base)
			}
			lead := s.Leader()
			if st := s.Standing(lead); !st.In() || st.Asked != 60 || s.Alike()[0] != lead {
				t.Errorf("%s, %d trials: leader %d, %+v, alike %v", mode, trials, lead, st, s.Alike())
			}
			again, rounds2 := search(t, cfg, x)
			if d := cmp.Diff(rounds, rounds2); d != "" || again.Leader() != lead {
				t.Errorf("%s, %d trials: the second time another search: %s", mode, trials, d)
			}
			cfg.Seed++
			other, _ := search(t, cfg, x)
			if mode != string(Grid) && trials == 12 && slices.Equal(s.Chosen(), other.Chosen()) {
				t.Errorf("%s: another seed, the same candidates", mode)
			}
		}
	}
}

func TestEqualCandidatesAreWonByTheBase(t *testing.T) {
	for _, mode := range Modes() {
		s, _ := search(t, SearchConfig{Mode: Mode(mode), Points: plane(5, 2), Seed: 1, Race: RaceConfig{Tasks: 30}},
			func(_, task int) panel.TaskMean { return sure(float64(task%3) / 2) })
		if s.Leader() != 0 {
			t.Errorf("%s: candidate %d wins", mode, s.Leader())
		}
		if got := len(s.Alike()); mode != string(Halving) && got != 11 {
			t.Errorf("%s: %d alike", mode, got)
		}
	}
}

func TestACandidateThatBreaksAConstraintCannotWin(t *testing.T) {
	for _, mode := range Modes() {
		s, err := NewSearch(SearchConfig{Mode: Mode(mode), Points: plane(4, 2), Seed: 2, Race: RaceConfig{Tasks: 30}})
		if err != nil {
			t.Fatal(err)
		}
		for round, ok := s.Next(); ok; round, ok = s.Next() {
			for _, c := range round.Candidates {
				for _, task := range round.Tasks {
					s.Take(c, task, sure(float64(c)/8))
				}
				if c > 5 {
					s.Break(c, "a regression case fails")
				}
			}
			s.Look()
		}
		if lead := s.Leader(); lead != 5 {
			t.Errorf("%s: candidate %d wins", mode, lead)
		}
		if st := s.Standing(8); st.Broken == "" || st.Asked != 5 {
			t.Errorf("%s: %+v", mode, st)
		}
	}
}

func TestHalvingRunsFewOnManyTasks(t *testing.T) {
	s, rounds := search(t,
		SearchConfig{Mode: Halving, Points: plane(27, 1), Race: RaceConfig{Tasks: 90, Block: 100, NoRace: true}},
		func(c, _ int) panel.TaskMean { return sure(float64(c) / 27) })
	var got [][2]int
	for _, r := range rounds {
		got = append(got, [2]int{len(r.Candidates), len(r.Tasks)})
	}
	if d := cmp.Diff([][2]int{{28, 10}, {10, 20}, {4, 60}}, got); d != "" { // the base is one of them
		t.Error(d)
	}
	if d := s.Standing(1).Dropped; s.Leader() != 27 || d == nil || !d.Ranked || d.By != 27 || d.After != 10 {
		t.Errorf("leader %d, %+v", s.Leader(), d)
	}
	for _, tt := range []struct {
		candidates, tasks int
		want              []int
	}{{27, 90, []int{10, 30, 90}}, {3, 90, []int{90}}, {50, 14, []int{14}}, {50, 20, []int{7, 20}}} {
		if d := cmp.Diff(tt.want, rungsOf(tt.candidates, tt.tasks)); d != "" {
			t.Error(tt, d)
		}
	}
}

func TestWrongSearchesAreRefused(t *testing.T) {
	good := SearchConfig{Points: plane(2, 2), Race: RaceConfig{Tasks: 10}}
	if _, err := NewSearch(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*SearchConfig){
		"mode":   func(c *SearchConfig) { c.Mode = "bayes" },
		"trials": func(c *SearchConfig) { c.Trials = -1 },
		"space":  func(c *SearchConfig) { c.Points = c.Points[:1] },
		"cases":  func(c *SearchConfig) { c.Race.Tasks = 0 },
	} {
		cfg := good
		change(&cfg)
		_, err := NewSearch(cfg)
		var field *callvet.FieldError
		if !errors.As(err, &field) || field.Field != want || !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
