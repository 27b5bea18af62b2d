// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func sweepSampleTools() *retrieve.Catalogue {
	c := &retrieve.Catalogue{}
	for _, w := range []string{"weather", "trains", "ferries", "roads", "companies", "prices", "jobs", "books"} {
		c.Entries = append(c.Entries,
			retrieve.Entry{Tool: callvet.Tool{Name: w, Description: "Answers questions about " + w + " in Sweden."}})
	}
	return c
}

func sweepAsk(id, text string, tools ...string) callvet.Case {
	return callvet.Case{
		ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		Expect: callvet.Expect{Selection: &callvet.Selection{Tools: tools}},
	}
}

// The same seed gives the same draws, sizes are nested, and cases that cannot be
// right are left out.
func TestSweep(t *testing.T) {
	t.Parallel()
	cases := []callvet.Case{
		sweepAsk("1", "trains to Lund", "trains"), sweepAsk("2", "books by Strindberg", "books"),
		sweepAsk("3", "x", "no_such_tool"), sweepAsk("4", "nothing"),
	}
	run := func(seed uint64) *Sweep {
		c := sweeper{
			Env:          &Env{Now: time.Now},
			SweepRequest: &SweepRequest{Distractors: []int{100, 0, 3}, Draws: 2, Seed: seed},
			catalogue:    sweepSampleTools(), cases: cases,
			configurations: []Configuration{{Name: "a"}, {Name: "b", Settings: Settings{Preset: "bigtool"}}},
		}
		s, err := c.sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := run(1)
	if s.Cases != 2 || s.LeftOut != 2 || len(s.Points) != 6 || len(s.Pairs) != 3+4 {
		t.Fatalf("%d cases, %d left out, %d points, %d pairs", s.Cases, s.LeftOut, len(s.Points), len(s.Pairs))
	}
	var sizes []int
	for _, p := range s.Points {
		sizes = append(sizes, p.Tools)
		if p.First.Point != 1 {
			t.Errorf("%s + %d: first tool right in %v", p.Configuration, p.Distractors, p.First.Point)
		}
	}
	if diff := cmp.Diff([]int{1, 1, 4, 4, 8, 8}, sizes); diff != "" {
		t.Error(diff)
	}
	if first := s.Pairs[1]; first.Baseline != "a + 0" || first.Candidate != "b + 3" && first.Candidate != "a + 3" {
		t.Errorf("%s against %s: sizes are held against the smallest", first.Candidate, first.Baseline)
	}
	for _, p := range s.Pairs { // two cases of which none changes are no proof that none does
		if p.P != 1 || p.Change.Upper-p.Change.Lower < 1 {
			t.Errorf("%s against %s: %+v, p %v", p.Candidate, p.Baseline, p.Change, p.P)
		}
	}
	c := sweeper{SweepRequest: &SweepRequest{Seed: 5}, catalogue: sweepSampleTools()}
	k := &Wanted{ID: "1", Gold: []int{1}}
	names := func(n int, seed uint64) map[string]bool {
		c.Seed = seed
		out := map[string]bool{}
		for _, e := range c.draw(k, n, 0) {
			out[e.Tool.Name] = true
		}
		return out
	}
	small, large := names(2, 5), names(4, 5)
	for n := range small {
		if !large[n] {
			t.Errorf("the larger draw lacks %s", n)
		}
	}
	if len(small) != 3 || len(large) != 5 || !small["trains"] || !cmp.Equal(small, names(2, 5)) {
		t.Errorf("%v %v", small, large)
	}
	if _, err := (&sweeper{SweepRequest: &SweepRequest{}, catalogue: sweepSampleTools(), cases: cases[2:]}).sweep(
		t.Context()); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a sweep over nothing: %v", err)
	}
}

func TestReadConfiguration(t *testing.T) {
	t.Parallel()
	read := func(s string, base Settings) (Configuration, error) {
		c, err := ReadConfiguration(s)
		if err == nil {
			err = c.over(&base)
		}
		return c, err
	}
	got, err := read("old=preset:bigtool,k:3,token:0", Settings{K: 7})
	want := Configuration{"old", Settings{Preset: "bigtool", K: 3, Weights: map[string]float64{"token": 0}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"", "x", "=vector:1", "a=color:1", "a=routes:r.json", "a=abstain_route:smalltalk"} {
		if _, err := read(bad, Settings{}); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	// Weights are those of the preset that the configuration will have.
	big := Settings{Preset: "bigtool"}
	got, err = read("less=token:0.5", big)
	if diff := cmp.Diff(Configuration{"less", Settings{Preset: "bigtool", Weights: map[string]float64{"token": 0.5}}},
		got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err = read("a=compound:1", big); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a weight of another preset: %v", err)
	}
}

// A request is as good in JSON as in Go.
func TestRequestInJSON(t *testing.T) {
	t.Parallel()
	var s SweepRequest
	if err := json.Unmarshal(
		[]byte(
			`{"suite": "s", "tools": "c.json", "preset": "bigtool", "configurations": [{"name": "more", "settings": {"k": 3, "retrieval": {"token": 2}}}]}`), &s); err != nil {
		t.Fatal(err)
	}
	if s.Preset != "bigtool" || s.Configurations[0].Settings.K != 3 ||
		s.Configurations[0].Settings.Weights["token"] != 2 {
		t.Errorf("%+v", s)
	}
}
