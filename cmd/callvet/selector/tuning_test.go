// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

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
)

// misleading is a catalog whose keywords say less than its descriptions, and
// questions that have a word of each: the preset trusts the keywords.
func misleading() (*retrieve.Catalogue, []callvet.Case) {
	c := &retrieve.Catalogue{}
	var cases []callvet.Case
	const n = 40
	for i := range n {
		next := (i + 1) % n
		c.Entries = append(c.Entries, retrieve.Entry{
			Tool: callvet.Tool{Name: fmt.Sprintf("t%d", i), Description: "zu" + word(i) + " zu" + word(i)}, Keywords: []string{"qo" + word(next)},
		})
		cases = append(cases, ask(fmt.Sprintf("c%02d", i), "zu"+word(i)+" qo"+word(i), fmt.Sprintf("t%d", i)))
	}
	return c, append(cases, ask("none", "hello"), ask("ghost", "x", "no_such_tool"))
}

// word is a number in letters, so that no two are spelled alike.
func word(i int) string {
	return strings.Repeat(string(rune('a'+i%20)), 3) + string(rune('b'+i/20)) + "xy"
}

func TestTune(t *testing.T) {
	t.Parallel()
	cat, cases := misleading()
	run := func(c TuneConfig) *Tuning {
		t.Helper()
		c.Catalogue, c.Cases, c.Seed, c.Rounds = cat, cases, 1, 4
		o, err := c.Settings.Options(cat)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, goal := range Goals() {
		c := TuneConfig{Goal: goal, Holdout: 0.5, Settings: Settings{K: 1}}
		got := run(c)
		if got.Cases != 40 || got.LeftOut != 2 || !got.Tuned.BeyondChance || got.Tuned.After != 1 || len(got.Weights) == 0 {
			t.Errorf("%s: %+v", goal, got)
		}
		if again := run(c); !cmp.Equal(got.Weights, again.Weights) || got.Tried != again.Tried {
			t.Errorf("%s: not the same twice: %v %v", goal, got.Weights, again.Weights)
		}
	}
	folds := run(TuneConfig{Goal: "mrr", Folds: 4})
	if len(folds.FoldChanges) != 4 || folds.Tuned.Held.Cases != 40 || !folds.Tuned.BeyondChance {
		t.Errorf("folds: %+v", folds)
	}
	var b strings.Builder
	if err := errors.Join(folds.Text(&b), folds.JSON(&b)); err != nil || !strings.Contains(b.String(), "beyond chance. The weights are proposed") {
		t.Errorf("%v\n%s", err, b.String())
	}
	// What is written is what is read, and gives the same tools.
	data, err := folds.file()
	if err != nil {
		t.Fatal(err)
	}
	w, err := ReadWeights("w.json", data)
	if diff := cmp.Diff(folds.Weights, w.Retrieval); diff != "" || err != nil || w.Tuned.Suite != SuiteHash(cases) {
		t.Errorf("%v %+v\n%s", err, w.Tuned, diff)
	}
	if (&TuneConfig{}).Folds != 0 || SuiteHash(cases) == SuiteHash(cases[1:]) {
		t.Error("two suites of one hash")
	}
	if _, err := (&TuneConfig{Catalogue: cat, Cases: cases[40:]}).Run(t.Context(), retrieve.Default()); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("nothing to tune on: %v", err)
	}
}

// Weights are warned of on the suite that they were tuned on, and refused under
// another preset.
func TestCaution(t *testing.T) {
	t.Parallel()
	cat, cases := misleading()
	file, err := json.Marshal(weightsFile{map[string]float64{"keywords": 1}, Tuned{Suite: SuiteHash(cases), Preset: "default", Goal: "mrr"}})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := json.Marshal(Tools(cat))
	if err != nil {
		t.Fatal(err)
	}
	e := &Env{
		Read: func(name string) ([]byte, error) {
			return map[string][]byte{"w.json": file, "c.json": tools}[name], nil
		},
	}
	suite := cases
	e.Suite = suiteOf(&suite)
	var told strings.Builder
	f := Flags{Tools: "c.json", Weights: "w.json"}
	if _, err := f.Ready(e.Read); err != nil {
		t.Fatal(err)
	}
	if err := f.Caution(t.Context(), e, &told, "s.json"); err != nil || !strings.Contains(told.String(), "w.json was tuned on this suite") {
		t.Errorf("%v: %s", err, told.String())
	}
	told.Reset()
	suite = cases[1:]
	if err := f.Caution(t.Context(), e, &told, "s.json"); err != nil || told.Len() > 0 {
		t.Errorf("another suite: %v %s", err, told.String())
	}
	f.Settings.Embed = "ollama:m"
	if err := f.Caution(t.Context(), e, &told, "s.json"); err != nil || !strings.Contains(told.String(), "vectors of ollama:m") {
		t.Errorf("other vectors: %v %s", err, told.String())
	}
	f = Flags{Tools: "c.json", Weights: "w.json", Settings: Settings{Preset: "bigtool"}}
	if _, err := f.Ready(e.Read); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("another preset: %v", err)
	}
	f = Flags{Tools: "c.json"}
	if err := f.Caution(t.Context(), e, &told, "s.json"); err != nil {
		t.Error(err)
	}
}

func suiteOf(cases *[]callvet.Case) func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
	return func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
		return &callvet.Suite{Cases: *cases}, nil
	}
}
