// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, want := range []Settings{
		{}, {Preset: "bigtool", K: 3, Weights: map[string]float64{"token": 0, "vector": 2.5}}, {Threshold: 0.25, Routes: "none"}, {Abstain: 0.25}, {AgentGate: 0.5, Agents: 2}, {Embed: "openai:m@http://127.0.0.1:1/v1", Rerank: "tei:http://h"}, {Fusion: "reciprocal_rank", Routes: "none"}, {Preset: "bigtool", Primary: "a/b,c", Fallback: "d"}, {Routes: "a b.json", Weights: map[string]float64{"k1": 0.9}},
	} {
		rest, _ := strings.CutPrefix(want.Target("dir/c.json"), "retrieve:")
		file, got, err := Parse(rest)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || file != "dir/c.json" {
			t.Errorf("%s: %q %v\n%s", rest, file, err, diff)
		}
	}
	for _, bad := range []string{"", "?k=1", "c?k=0", "c?k=x", "c?k=1001", "c?preset=best", "c?color=1", "c?vector=x", "c?vector=-1", "c?preset=bigtool&compound=1", "c?%zz", "c?abstain=1", "c?threshold=NaN", "c?threshold=-1", "c?vector=2", "c?fusion=x", "c?agent_gate=2", "c?agent_gate=-1", "c?agents=0", "c?agents=101", "c?agent_gate=1&abstain=0.2", "c?abstain=NaN", "c?abstain=0.2&preset=bigtool", "c?abstain=0.2&vector=0.3", "c?abstain=0.2&embed=ollama:m"} {
		if _, _, err := Parse(bad); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("c.json?preset=bigtool&k=2")
	f.Fuzz(func(t *testing.T, rest string) {
		file, s, err := Parse(rest)
		if err != nil {
			return
		}
		again, _ := strings.CutPrefix(s.Target(file), "retrieve:")
		file2, s2, err := Parse(again)
		if err != nil || file != file2 || !cmp.Equal(s, s2) {
			t.Errorf("%q became %q: %v", rest, again, err)
		}
	})
}

func TestDepths(t *testing.T) {
	t.Parallel()
	for k, want := range map[int]string{1: "[1]", 2: "[1 2]", 5: "[1 3 5]", 7: "[1 3 5 7]", 10: "[1 3 5 10]", 50: "[1 3 5 10 50]"} {
		if got := fmt.Sprint(Depths(k)); got != want {
			t.Errorf("k %d: %s, want %s", k, got, want)
		}
	}
	if s := (Settings{Preset: "bigtool"}); s.Depth() != 2 || (&Settings{}).Depth() != 5 {
		t.Errorf("depths %d and %d", s.Depth(), (&Settings{}).Depth())
	}
}

func TestReadWeights(t *testing.T) {
	t.Parallel()
	half, fifth := 0.5, 0.2
	for body, want := range map[string]*callvet.SelectionScoring{
		`{}`: nil, "\ufeff{}\n": nil, `{"composite":{"route":0.5}}`: {Route: &half}, `{"route_correct_weight":0.5,"exact_match_weight":0.5,"acceptable_match_weight":0.2}`: {Route: &half, Exact: &half, Acceptable: &fifth},
		`{"composite":{"exact":0.5}}`: {Exact: &half},
	} {
		got, err := ReadWeights("w.json", []byte(body))
		if diff := cmp.Diff(want, got.Composite); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	for bad, say := range map[string]string{
		"": "unexpected end", "[]": "the value is an array, not an object", `{"color":1}`: `w.json:1:10: unknown key "color"`, `{"composite":{"ruote":1}}`: `unknown key "composite.ruote" (did you mean "route"?)`,
		`{} x`: "data after the value", `{"composite":{"tools":"1"}}`: `"composite.tools" is a string, not a number`, `{"retrieval":{"vector":[]}}`: `"retrieval.vector" is an array, not a number`,
		`{"composite":{"tools":-1}}`: "composite.tools is -1: weights are numbers from 0", `{"composite":{"acceptable":-1}}`: "composite.acceptable is -1: weights", `{"composite":{"tools":1,"exact":1}}`: "write it, or these two", `{"composite":{"route":0,"sub_route":0,"agents":0,"tools":0}}`: "all weights are 0", `{"composite":{"k":[0]}}`: "composite.k has 0",
	} {
		if _, err := ReadWeights("w.json", []byte(bad)); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "w.json") || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Numbers that mean nothing are refused with what they may be.
func TestSettingsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s   Settings
		say string
	}{
		{Settings{K: -5}, "from 1 to 1000"},
		{Settings{K: 100_000}, "from 1 to 1000"},
		{Settings{Threshold: math.NaN()}, "from 0"},
		{Settings{Threshold: -1}, "from 0"},
		{Settings{Threshold: math.Inf(1)}, "from 0"},
		{Settings{Weights: map[string]float64{"vector": 2}}, "set weight vector to 2: invalid: it is a number from 0 to 1"},
		{Settings{Weights: map[string]float64{"k1": math.NaN()}}, "number from 0"},
		{Settings{Weights: map[string]float64{"rerank_top": 2.5}}, "whole number"},
		{Settings{Weights: map[string]float64{"vectr": 1}}, "none of that name"},
		{Settings{Fusion: "best"}, "best"},
		{Settings{Fusion: "mixed", Preset: "bigtool"}, "no two orders"},
		{Settings{Primary: "tools"}, "under the preset default"},
	} {
		if _, err := c.s.Options(&retrieve.Catalogue{}); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

// Settings reach the options.
func TestSettingsOptions(t *testing.T) {
	t.Parallel()
	s := Settings{Fusion: "reciprocal_rank", Weights: map[string]float64{"rerank_top": 24, "description_b": 0.9}}
	o, err := s.Options(&retrieve.Catalogue{})
	if err != nil || o.Formula != retrieve.ReciprocalRank || o.RerankTop != 24 || o.Description.B != 0.9 || o.Confidence != nil {
		t.Errorf("%+v, %v", o, err)
	}
	s = Settings{Preset: "bigtool", Primary: "tools/trafik,tools/bolag", Fallback: "tools", Weights: map[string]float64{"agent_keyword": 7, "candidates": 9}}
	o, err = s.Options(&retrieve.Catalogue{Primary: [][]string{{"x"}}})
	if d := cmp.Diff([][][]string{{{"tools", "trafik"}, {"tools", "bolag"}}, {{"tools"}}}, [][][]string{o.Primary, o.Fallback}); d != "" || err != nil || o.Agents.Keyword != 7 || o.Additive.Candidates != 9 {
		t.Errorf("%s %+v, %v", d, o, err)
	}
}

func sampleTools() *retrieve.Catalogue {
	c := &retrieve.Catalogue{}
	for _, w := range []string{"weather", "trains", "ferries", "roads", "companies", "prices", "jobs", "books"} {
		c.Entries = append(c.Entries, retrieve.Entry{Tool: callvet.Tool{Name: w, Description: "Answers questions about " + w + " in Sweden."}})
	}
	return c
}

func ask(id, text string, tools ...string) callvet.Case {
	return callvet.Case{ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}}, Expect: callvet.Expect{Selection: &callvet.Selection{Tools: tools}}}
}

// The same seed gives the same draws, sizes are nested, and cases that cannot be
// right are left out.
func TestSweep(t *testing.T) {
	t.Parallel()
	cases := []callvet.Case{ask("1", "trains to Lund", "trains"), ask("2", "books by Strindberg", "books"), ask("3", "x", "no_such_tool"), ask("4", "nothing")}
	run := func(seed uint64) *Sweep {
		c := sweeper{Env: &Env{Now: time.Now}, SweepRequest: &SweepRequest{Distractors: []int{100, 0, 3}, Draws: 2, Seed: seed}, catalogue: sampleTools(), cases: cases, configurations: []Configuration{{Name: "a"}, {Name: "b", Settings: Settings{Preset: "bigtool"}}}}
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
	c := sweeper{SweepRequest: &SweepRequest{Seed: 5}, catalogue: sampleTools()}
	k := &sweepCase{id: "1", gold: []int{1}}
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
	if _, err := (&sweeper{SweepRequest: &SweepRequest{}, catalogue: sampleTools(), cases: cases[2:]}).sweep(t.Context()); !errors.Is(err, callvet.ErrInvalid) {
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
	if diff := cmp.Diff(Configuration{"less", Settings{Preset: "bigtool", Weights: map[string]float64{"token": 0.5}}}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err = read("a=compound:1", big); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a weight of another preset: %v", err)
	}
}
