// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// peak is a goal that is largest where a number is what it should be.
func peak(at func(*retrieve.Options) *float64, best float64) learn.Goal {
	return func(_ context.Context, o retrieve.Options) (float64, error) {
		return -math.Abs(math.Log(*at(&o) / best)), nil
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	name := func(o *retrieve.Options) *float64 { return &o.Name.Weight }
	s := learn.Search{Start: retrieve.Default(), Knobs: learn.Weights(retrieve.Mixed), Rounds: 9}
	f, err := s.Run(t.Context(), peak(name, 6))
	if err != nil || math.Abs(*name(&f.Options)-6) > 1.2 || f.Goal <= f.Start || f.Cut {
		t.Fatalf("%+v %v", f, err)
	}
	if diff := cmp.Diff(map[string]float64{"name": *name(&f.Options)},
		learn.Changed(s.Start, f.Options, s.Knobs)); diff != "" {
		t.Error(diff)
	}
	for _, m := range f.Moves {
		if m.Knob != "name" {
			t.Errorf("kept %+v", m)
		}
	}
	again, err := s.Run(t.Context(), peak(name, 6))
	if diff := cmp.Diff(f.Moves, again.Moves); diff != "" || err != nil || again.Tried != f.Tried {
		t.Errorf("not the same twice: %v\n%s", err, diff)
	}
	s.Most = 7
	if f, err := s.Run(t.Context(), peak(name, 6)); err != nil || f.Tried != 7 || !f.Cut {
		t.Errorf("at most 7: %+v %v", f, err)
	}
	s.Most, s.Least = 0, 99
	if f, err := s.Run(t.Context(), peak(name, 6)); err != nil || len(f.Moves) > 0 {
		t.Errorf("nothing is that much better: %+v %v", f, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, peak(name, 6)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	s.Rounds = -1
	if _, err := s.Run(t.Context(), peak(name, 6)); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("rounds: %v", err)
	}
}

// trial has 120 questions for 40 tools. Under a name weight of 2 and more the questions
// of helped tools become right.
func trial(helped func(key int) bool) learn.Trial {
	keys := make([]string, 120)
	for i := range keys {
		keys[i] = fmt.Sprint(i % 40)
	}
	return learn.Trial{
		Search: learn.Search{Start: retrieve.Default(), Knobs: learn.Weights(retrieve.Mixed)}, Keys: keys,
		Holdout: 0.5, Seed: 1,
		Judge: func(_ context.Context, o retrieve.Options, questions []int) ([]learn.TuneOutcome, error) {
			out := make([]learn.TuneOutcome, len(questions))
			for i, q := range questions {
				if right := q%3 == 0 || o.Name.Weight >= 2 && helped(q%40); right {
					out[i] = learn.TuneOutcome{Score: 1, Right: true}
				}
			}
			return out, nil
		},
	}
}

func TestTrial(t *testing.T) {
	t.Parallel()
	good := trial(func(key int) bool { return key%4 > 0 })
	seen := map[int]bool{}
	judge := good.Judge
	good.Judge = func(ctx context.Context, o retrieve.Options, questions []int) ([]learn.TuneOutcome, error) {
		if o.Name.Weight != good.Search.Start.Name.Weight && len(seen) == 0 { // a part that is searched on
			for _, q := range questions {
				seen[q%40] = true
			}
		}
		return judge(ctx, o, questions)
	}
	r, err := good.Run(t.Context())
	if err != nil || !r.BeyondChance || r.Tuned <= r.Preset || len(r.NewlyRight) == 0 || len(r.NewlyWrong) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	if r.Train.Cases+r.Held.Cases != 120 || r.Train.Clusters+r.Held.Clusters != 40 || r.Train.Clusters != len(seen) {
		t.Errorf("parts %+v and %+v, searched on %d", r.Train, r.Held, len(seen))
	}
	for _, q := range r.NewlyRight {
		if seen[q%40] {
			t.Errorf("question %d is held out, and one of its tool was searched on", q)
		}
	}
	folds := trial(func(key int) bool { return key%4 > 0 })
	folds.Folds = 5
	r, err = folds.Run(t.Context())
	if err != nil || len(r.FoldChanges) != 5 || r.Held.Cases != 120 || r.Train.Cases != 120 || !r.BeyondChance {
		t.Errorf("folds: %+v %v", r, err)
	}
	// What holds for the train part alone is not beyond chance on the other one.
	luck := trial(func(key int) bool { return seen[key] })
	if r, err = luck.Run(t.Context()); err != nil || len(r.Found.Moves) == 0 || r.BeyondChance || r.Change.Point != 0 {
		t.Errorf("luck: %+v %v", r, err)
	}
	for name, change := range map[string]func(*learn.Trial){
		"no share":    func(t *learn.Trial) { t.Holdout = 0 },
		"all":         func(t *learn.Trial) { t.Holdout = 1 },
		"one tool":    func(t *learn.Trial) { t.Keys = strings.Split(strings.Repeat("a,", 119)+"a", ",") },
		"one fold":    func(t *learn.Trial) { t.Folds = 1 },
		"empty folds": func(t *learn.Trial) { t.Folds = 21 },
		"nothing":     func(t *learn.Trial) { t.Keys = nil },
	} {
		b := trial(func(int) bool { return true })
		change(&b)
		if _, err := b.Run(t.Context()); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// counting counts the texts that an embedder is asked for.
type counting struct {
	retrieve.Embedder
	asked int
}

// Embed counts.
func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.asked += len(texts)
	return c.Embedder.Embed(ctx, texts)
}

// Indexes of remembered vectors find what others find, and ask for each text once.
func TestRemember(t *testing.T) {
	t.Parallel()
	var es []retrieve.Entry
	for _, w := range []string{"weather", "trains", "ferries"} {
		es = append(es, retrieve.Entry{Tool: callvet.Tool{Name: w, Description: "Answers questions about " + w + "."}})
	}
	c := &counting{Embedder: retrieve.NewNGram(32, strings.Fields)}
	own := retrieve.Default()
	own.Embedder = c
	for _, o := range []retrieve.Options{retrieve.Default(), own} {
		kept := learn.Remember(o, es)
		for range 2 {
			x, err := retrieve.New(t.Context(), o, es)
			if err != nil {
				t.Fatal(err)
			}
			c.asked = 0
			y, err := retrieve.New(t.Context(), kept, es)
			if err != nil {
				t.Fatal(err)
			}
			a, err := x.Search(t.Context(), "trains to Lund", 3)
			b, err2 := y.Search(t.Context(), "trains to Lund", 3)
			if err != nil || err2 != nil || len(a.Hits) == 0 || a.Hits[0].Score != b.Hits[0].Score {
				t.Errorf("%+v %+v", a, b)
			}
		}
		if c.asked > 1 { // the second time, by the index that remembers nothing
			t.Errorf("asked for %d texts again", c.asked)
		}
	}
	lexical := retrieve.Default()
	lexical.Offline = 0
	if o := learn.Remember(lexical, es); o.Embedder != nil {
		t.Error("vectors where none are wanted")
	}
}
