// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// misleading is a catalog with keywords that contain less than its descriptions, and questions that
// have a word of each: the preset trusts the keywords.
func misleading() (*retrieve.Catalogue, []callvet.Case) {
	c := &retrieve.Catalogue{}
	var cases []callvet.Case
	const n = 40
	for i := range n {
		next := (i + 1) % n
		c.Entries = append(c.Entries, retrieve.Entry{
			Tool:     callvet.Tool{Name: fmt.Sprintf("t%d", i), Description: "zu" + word(i) + " zu" + word(i)},
			Keywords: []string{"qo" + word(next)},
		})
		cases = append(cases, learnAsk(fmt.Sprintf("c%02d", i), "zu"+word(i)+" qo"+word(i), fmt.Sprintf("t%d", i)))
	}
	return c, append(cases, learnAsk("none", "hello"), learnAsk("ghost", "x", "no_such_tool"))
}

// word is a number in letters, so that no two are spelled alike.
func word(i int) string {
	return strings.Repeat(string(rune('a'+i%20)), 3) + string(rune('b'+i/20)) + "xy"
}

func TestUnracedTune(t *testing.T) {
	t.Parallel()
	cat, cases := misleading()
	run := func(q TuneRequest) *Tuning {
		t.Helper()
		q.Seed, q.Rounds = 1, 4
		o, err := q.Options(cat)
		if err != nil {
			t.Fatal(err)
		}
		out, err := (&tuner{&q, cat, cases}).run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, goal := range TuningGoals() {
		c := TuneRequest{Goal: goal, Holdout: 0.5, Settings: Settings{K: 1}}
		got := run(c)
		if got.Cases != 40 || got.LeftOut != 2 || !got.Tuned.BeyondChance || got.Tuned.After != 1 ||
			len(got.Weights) == 0 {
			t.Errorf("%s: %+v", goal, got)
		}
		if again := run(c); !cmp.Equal(got.Weights, again.Weights) || got.Tried != again.Tried {
			t.Errorf("%s: not the same twice: %v %v", goal, got.Weights, again.Weights)
		}
	}
	folds := run(TuneRequest{Goal: "mrr", Folds: 4})
	if len(folds.FoldChanges) != 4 || folds.Tuned.Held.Cases != 40 || !folds.Tuned.BeyondChance {
		t.Errorf("folds: %+v", folds)
	}
	// What is written is what is read, and gives the same tools.
	data, err := folds.Text()
	if err != nil {
		t.Fatal(err)
	}
	w, err := ReadWeights("w.json", data)
	if diff := cmp.Diff(folds.Weights, w.Retrieval); diff != "" || err != nil || w.Tuned.Suite != SuiteHash(cases) {
		t.Errorf("%v %+v\n%s", err, w.Tuned, diff)
	}
	if SuiteHash(cases) == SuiteHash(cases[1:]) {
		t.Error("two suites of one hash")
	}
	if _, err := (&tuner{&TuneRequest{}, cat, cases[40:]}).run(t.Context(), retrieve.Default()); !errors.Is(err,
		callvet.ErrInvalid) {
		t.Errorf("nothing to tune on: %v", err)
	}
}

// Weights are warned of on the suite that they were tuned on, and refused under
// another preset.
func TestCaution(t *testing.T) {
	t.Parallel()
	cat, cases := misleading()
	file, err := json.Marshal(weightsFile{
		map[string]float64{"keywords": 1},
		learn.Tuned{Suite: SuiteHash(cases), Preset: "default", Goal: "mrr"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := json.Marshal(Tools(cat))
	if err != nil {
		t.Fatal(err)
	}
	e := &Env{Files: learnMemory{"w.json": string(file), "c.json": string(tools)}}
	suite := cases
	e.Suite = learnSuiteOf(&suite)
	f := Search{Tools: "c.json", WeightsFile: "w.json"}
	if _, err := e.Ready(t.Context(), &f, ""); err != nil {
		t.Fatal(err)
	}
	if c, err := Caution(t.Context(), e, &f, "s.json"); err != nil || c.Same != f.Tuned || c.Other != nil {
		t.Errorf("%v: %+v", err, c)
	}
	suite = cases[1:]
	if c, err := Caution(t.Context(), e, &f, "s.json"); err != nil || c.Same != nil || c.Other != nil {
		t.Errorf("another suite: %v %+v", err, c)
	}
	f.Embed = "ollama:m"
	if c, err := Caution(t.Context(), e, &f, "s.json"); err != nil || c.Other != f.Tuned {
		t.Errorf("other vectors: %v %+v", err, c)
	}
	f = Search{Tools: "c.json", WeightsFile: "w.json", Settings: Settings{Preset: "bigtool"}}
	if _, err := e.Ready(t.Context(), &f, ""); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("another preset: %v", err)
	}
	f = Search{Tools: "c.json"}
	if _, err := Caution(t.Context(), e, &f, "s.json"); err != nil {
		t.Error(err)
	}
}

func learnSuiteOf(cases *[]callvet.Case) func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
	return func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
		return &callvet.Suite{Cases: *cases}, nil
	}
}

func learnAsk(id, text string, tools ...string) callvet.Case {
	return callvet.Case{
		ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		Expect: callvet.Expect{Selection: &callvet.Selection{Tools: tools}},
	}
}
