// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// TestConfirmMeans: the means of both sides are over the cases where both are known.
func TestConfirmMeans(t *testing.T) {
	t.Parallel()
	cases := held(100, 30, 2)
	c := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 50})
	if math.Abs(c.Base-0.7) > 1e-9 || math.Abs(c.Candidate-0.98) > 1e-9 || math.Abs(c.Gain.Point-0.28) > 1e-9 {
		t.Errorf("%+v", c)
	}
	cases[0].Candidate = panel.TaskMean{Low: 0, High: 1} // lost
	c = Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 50})
	if math.Abs(c.Base-70./99) > 1e-9 || math.Abs(c.Candidate-97./99) > 1e-9 || math.Abs(c.Lost-0.005) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

// TestConfirmAtItsBounds: twenty families are enough, and a loss of 5 % is allowed.
func TestConfirmAtItsBounds(t *testing.T) {
	t.Parallel()
	if c := Confirm(ConfirmConfig{Cases: held(MinFamilies, MinFamilies, 0), TrainFamilies: MinFamilies}); c.Outcome != Promoted {
		t.Errorf("%+v", c)
	}
	cases := held(80, 30, 0)
	for i := range 8 {
		cases[79-i].Candidate = panel.TaskMean{Low: 0, High: 1}
	}
	if c := Confirm(ConfirmConfig{Cases: cases, TrainFamilies: 50}); math.Abs(c.Lost-MaxLost) > 1e-9 ||
		c.Outcome == TooMuchLost {
		t.Errorf("%v lost: %+v", c.Lost, c)
	}
}

// TestUnlike: families of different sizes with the same mean are alike.
func TestUnlike(t *testing.T) {
	t.Parallel()
	var d differences
	for family, values := range map[string][]float64{"a": {0.1, 0.2, 0.3}, "b": {0.2}, "c": {0.2, 0.2}, "d": {0.5, 0.1}, "e": {-1}} {
		for _, v := range values {
			d.add(family, v)
		}
	}
	if usual, below, above := d.unlike(); math.Abs(usual-0.2) > 1e-6 || below != 1 || above != 1 {
		t.Errorf("usual %v, %d below, %d above", usual, below, above)
	}
}

// TestEvolveBounds: the ends of the ranges are allowed, and no search has more candidates than it announces.
func TestEvolveBounds(t *testing.T) {
	t.Parallel()
	for _, cfg := range []EvolveConfig{
		{Population: MinPopulation},
		{Population: MaxPopulation},
		{Generations: 1},
		{Generations: MaxGenerations},
		{Selection: MinSelection},
		{Selection: MaxSelection},
	} {
		evolution(t, cfg)
	}
	e := evolution(t, EvolveConfig{Mode: Evolve, Population: 5, Generations: 3})
	if prompts, racing := e.MostCandidates(); prompts != 1+3*4 || racing != 3*6 {
		t.Errorf("%d prompts, %d racing", prompts, racing)
	}
	if n := e.MostQuestions(); n != 2*3*4 {
		t.Errorf("%d questions", n)
	}
	if long := evolution(t, EvolveConfig{Base: strings.Repeat("å", 6000)}); long.limit != 12_000 {
		t.Errorf("limit %d characters", long.limit)
	}
	e = evolution(t, EvolveConfig{Mode: Reflect, Population: 5, Generations: 3})
	if prompts, racing := e.MostCandidates(); prompts != 1+3*4 || racing != 3*6+1 {
		t.Errorf("reflect: %d prompts, %d racing", prompts, racing)
	}
}

// TestFoundIsBounded: each sentence appears once, and there are at most eight.
func TestFoundIsBounded(t *testing.T) {
	t.Parallel()
	var e Evidence
	for i := range 20 {
		e.found(fmt.Sprint("sentence ", i/2))
	}
	if len(e.Found) != evidenceFound || e.Found[7] != "sentence 7" {
		t.Errorf("%q", e.Found)
	}
}

// TestPartialCalls: a call with wrong arguments is described by their names, or as a whole where no name is its own.
func TestPartialCalls(t *testing.T) {
	t.Parallel()
	const whole = "call 1: an argument is missing or not right"
	calls := []callvet.Call{{Tool: "get_weather", Args: json.RawMessage(`{"city":"Lund"}`)}}
	for path, named := range map[string]bool{"city": true, "country": false} {
		for _, state := range []callvet.MatchState{callvet.StatePartial, callvet.StateMatched} {
			var e Evidence
			e.findCalls(&callvet.Result{Calls: []callvet.CallMatch{{
				State: state, Args: []callvet.ArgDiff{{Path: path}},
			}}}, calls)
			if got := slices.Contains(e.Found, whole); got != (state == callvet.StatePartial && !named) {
				t.Errorf("%s, %s: %q", path, state, e.Found)
			}
			if got := strings.Contains(strings.Join(e.Found, ";"), `the value of "city" is not right`); got != named {
				t.Errorf("%s, %s: %q", path, state, e.Found)
			}
		}
	}
}

// TestSearchOfOne: one combination next to the base can be searched.
func TestSearchOfOne(t *testing.T) {
	t.Parallel()
	for _, mode := range Modes() {
		if _, err := NewSearch(SearchConfig{
			Mode: Mode(mode), Points: plane(1, 1), Race: RaceConfig{Tasks: 10},
		}); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestMostParameters: a space has 32 parameters at most.
func TestMostParameters(t *testing.T) {
	t.Parallel()
	read := func(n int) error {
		extra := map[string][]int{}
		for i := range n {
			extra[fmt.Sprint("p", i)] = []int{1}
		}
		b, err := json.Marshal(map[string]any{"extra": extra})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ReadSpace("space.json", b)
		return err
	}
	if err := read(maxDimensions); err != nil {
		t.Error(err)
	}
	if err := read(maxDimensions + 1); err == nil || !strings.Contains(err.Error(), "at most 32 parameters") {
		t.Error(err)
	}
}

// TestHalvesSame: a suite is recognized by half of its questions, and cases without a question do not count.
func TestHalvesSame(t *testing.T) {
	t.Parallel()
	h := &Halves{}
	for i := range 10 {
		h.Cases = append(h.Cases, Assigned{Case: fmt.Sprint(i), Asks: fmt.Sprint("question ", i)})
	}
	members := func(from, to int, more ...string) (out []Member) {
		for i := from; i < to; i++ {
			out = append(out, Member{Case: &callvet.Case{ID: fmt.Sprint("new ", i)}, Asks: fmt.Sprint("question ", i)})
		}
		for _, asks := range more {
			out = append(out, Member{Case: &callvet.Case{ID: asks}, Asks: asks})
		}
		return out
	}
	for name, tt := range map[string]struct {
		members []Member
		want    bool
	}{
		"all":               {members(0, 10), true},
		"half of a larger":  {members(5, 25), true},
		"less than half":    {members(6, 26), false},
		"half of a smaller": {members(9, 10, "other"), true},
		"none":              {members(10, 20), false},
		"no question":       {members(0, 0, ""), false},
		"no case":           {nil, false},
	} {
		if got := h.Same(tt.members); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	before := []Assigned{
		{Case: "kept", Asks: "a", Side: Holdout},
		{Case: "renamed", Asks: "b", Side: Holdout},
		{Case: "gone", Asks: "c", Side: Holdout},
		{Case: "seen", Asks: "d", Side: Train},
		{Case: "seen too", Asks: "e", Side: Train},
	}
	now := []Member{{Case: &callvet.Case{ID: "kept"}, Asks: "a"}, {Case: &callvet.Case{ID: "anew"}, Asks: "b"}}
	if n := LeftOut(now, before); n != 1 {
		t.Errorf("%d left out, want that which is gone", n)
	}
}

func TestCommonest(t *testing.T) {
	t.Parallel()
	for want, counts := range map[string]map[string]int{
		"": {}, "a": {"a": 2, "b": 2, "c": 1}, "c": {"a": 1, "b": 1, "c": 2},
	} {
		for range 20 { // maps have no order
			if got := commonest(counts); got != want {
				t.Errorf("%v: %q", counts, got)
			}
		}
	}
}

// TestNeededAboveMargin: a gain that is only a little above the margin needs more cases.
func TestNeededAboveMargin(t *testing.T) {
	t.Parallel()
	needed := func(margin float64) int {
		return Confirm(ConfirmConfig{Cases: held(100, 15, 5), TrainFamilies: 50, Margin: margin, Use: 3}).Needed
	}
	if none, some := needed(0), needed(0.05); none <= 100 || some < 3*none {
		t.Errorf("%d cases, and %d above 5 points", none, some)
	}
}

// TestPairedPOfFew: a few differences are tested exactly, many by their mean.
func TestPairedPOfFew(t *testing.T) {
	t.Parallel()
	few := []float64{1, 1, 1, 1, 1}
	if p := pairedP(few); math.Abs(p-2./32) > 1e-9 {
		t.Errorf("five gains: p = %v, want 2 of 32 patterns of signs", p)
	}
}

func TestDistinctive(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Lund7": false, "Lund77": true, "a_bc_d": true, "a@b.se": true, "weather": false, "in Lund": false, "now in Lund": true,
	} {
		if got := distinctive(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestWindow: each question about a candidate has other attempts, while there are.
func TestWindow(t *testing.T) {
	t.Parallel()
	all := make([]Evidence, 2*questionAttempts)
	for i := range all {
		all[i].Answered = fmt.Sprint(i)
	}
	first, second := window(all, 0), window(all, 1)
	for i := range questionAttempts {
		if first[i].Answered != fmt.Sprint(i) || second[i].Answered != fmt.Sprint(questionAttempts+i) {
			t.Errorf("%v, %v", first[i], second[i])
		}
	}
	if got := window(all[:2], 3); len(got) != 2 {
		t.Errorf("%v", got)
	}
}
