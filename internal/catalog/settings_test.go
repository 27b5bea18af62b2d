// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, want := range []Settings{
		{},
		{Preset: "bigtool", K: 3, Weights: map[string]float64{"token": 0, "vector": 2.5}},
		{Threshold: 0.25, Routes: "none"},
		{Abstain: 0.25},
		{AgentGate: 0.5, Agents: 2},
		{Embed: "openai:m@http://127.0.0.1:1/v1", Rerank: "tei:http://h"},
		{Fusion: "reciprocal_rank", Routes: "none"},
		{Preset: "bigtool", Primary: "a/b,c", Fallback: "d"},
		{Routes: "a b.json", Weights: map[string]float64{"k1": 0.9}},
	} {
		rest, _ := strings.CutPrefix(want.Target("dir/c.json"), "retrieve:")
		file, got, err := Parse(rest)
		if diff := cmp.Diff(want, got); diff != "" || err != nil || file != "dir/c.json" {
			t.Errorf("%s: %q %v\n%s", rest, file, err, diff)
		}
	}
	for _, bad := range []string{
		"", "?k=1", "c?k=0", "c?k=x", "c?k=1001", "c?preset=best", "c?color=1", "c?vector=x",
		"c?vector=-1", "c?preset=bigtool&compound=1", "c?%zz", "c?abstain=1", "c?threshold=NaN", "c?threshold=-1",
		"c?vector=2", "c?fusion=x", "c?agent_gate=2", "c?agent_gate=-1", "c?agents=0", "c?agents=101",
		"c?agent_gate=1&abstain=0.2", "c?abstain=NaN", "c?abstain=0.2&preset=bigtool", "c?abstain=0.2&vector=0.3",
		"c?abstain=0.2&embed=ollama:m",
	} {
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
	for k, want := range map[int]string{
		1: "[1]", 2: "[1 2]", 5: "[1 3 5]", 7: "[1 3 5 7]", 10: "[1 3 5 10]",
		50: "[1 3 5 10 50]",
	} {
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
		`{}`: nil, "\ufeff{}\n": nil, `{"composite":{"route":0.5}}`: {Route: &half},
		`{"route_correct_weight":0.5,"exact_match_weight":0.5,"acceptable_match_weight":0.2}`: {
			Route: &half,
			Exact: &half, Acceptable: &fifth,
		},
		`{"composite":{"exact":0.5}}`: {Exact: &half},
	} {
		got, err := ReadWeights("w.json", []byte(body))
		if diff := cmp.Diff(want, got.Composite); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	for bad, say := range map[string]string{
		"": "unexpected end", "[]": "the value is an array, not an object",
		`{"color":1}`:                         `w.json:1:10: unknown key "color"`,
		`{"composite":{"ruote":1}}`:           `unknown key "composite.ruote" (did you mean "route"?)`,
		`{} x`:                                "data after the value",
		`{"composite":{"tools":"1"}}`:         `"composite.tools" is a string, not a number`,
		`{"retrieval":{"vector":[]}}`:         `"retrieval.vector" is an array, not a number`,
		`{"composite":{"tools":-1}}`:          "composite.tools is -1: weights are numbers from 0",
		`{"composite":{"acceptable":-1}}`:     "composite.acceptable is -1: weights",
		`{"composite":{"tools":1,"exact":1}}`: "write it, or these two",
		`{"composite":{"route":0,"sub_route":0,"agents":0,"tools":0}}`: "all weights are 0",
		`{"composite":{"k":[0]}}`:                                      "composite.k has 0",
	} {
		if _, err := ReadWeights("w.json", []byte(bad)); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), "w.json") || !strings.Contains(err.Error(), say) {
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
		{
			Settings{Weights: map[string]float64{"vector": 2}},
			"set weight vector to 2: invalid: it is a number from 0 to 1",
		},
		{Settings{Weights: map[string]float64{"k1": math.NaN()}}, "number from 0"},
		{Settings{Weights: map[string]float64{"rerank_top": 2.5}}, "whole number"},
		{Settings{Weights: map[string]float64{"vectr": 1}}, "none of that name"},
		{Settings{Fusion: "best"}, "best"},
		{Settings{Fusion: "mixed", Preset: "bigtool"}, "no two orders"},
		{Settings{Primary: "tools"}, "under the preset default"},
	} {
		if _, err := c.s.Options(&retrieve.Catalogue{}); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
}

// Settings reach the options.
func TestSettingsOptions(t *testing.T) {
	t.Parallel()
	s := Settings{Fusion: "reciprocal_rank", Weights: map[string]float64{"rerank_top": 24, "description_b": 0.9}}
	o, err := s.Options(&retrieve.Catalogue{})
	if err != nil || o.Formula != retrieve.ReciprocalRank || o.RerankTop != 24 || o.Description.B != 0.9 ||
		o.Confidence != nil {
		t.Errorf("%+v, %v", o, err)
	}
	s = Settings{
		Preset: "bigtool", Primary: "tools/trafik,tools/bolag", Fallback: "tools",
		Weights: map[string]float64{"agent_keyword": 7, "candidates": 9},
	}
	o, err = s.Options(&retrieve.Catalogue{Primary: [][]string{{"x"}}})
	if d := cmp.Diff([][][]string{{{"tools", "trafik"}, {"tools", "bolag"}}, {{"tools"}}},
		[][][]string{o.Primary, o.Fallback}); d != "" || err != nil || o.Agents.Keyword != 7 ||
		o.Additive.Candidates != 9 {
		t.Errorf("%s %+v, %v", d, o, err)
	}
}
