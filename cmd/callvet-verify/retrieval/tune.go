// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/text"
	"github.com/callvet/callvet/retrieve/vector"
)

// knob is one number of the options, with the factors or steps by which it is tried.
type knob struct {
	name     string
	at       func(*retrieve.Options) *float64
	steps    []float64
	factor   bool
	low, top float64
}

func knobs() []knob {
	factors, steps := []float64{0.5, 0.7, 1.4, 2}, []float64{-0.3, -0.1, 0.1, 0.3}
	out := []knob{
		{"k1", func(o *retrieve.Options) *float64 { return &o.K1 }, factors, true, 0.3, 5},
		{"vector", func(o *retrieve.Options) *float64 { return &o.VectorWeight }, []float64{-0.1, -0.05, 0.05, 0.1}, false, 0, 0.6},
		{"inflection", func(o *retrieve.Options) *float64 { return &o.Forms.Inflection }, steps, false, 0.1, 1},
		{"compound", func(o *retrieve.Options) *float64 { return &o.Forms.Compound }, steps, false, 0.1, 1},
		{"misspelling", func(o *retrieve.Options) *float64 { return &o.Forms.Misspelling }, steps, false, 0.1, 1},
	}
	for _, f := range []struct {
		name string
		at   func(*retrieve.Options) *retrieve.Weight
	}{
		{"name", func(o *retrieve.Options) *retrieve.Weight { return &o.Name }},
		{"description", func(o *retrieve.Options) *retrieve.Weight { return &o.Description }},
		{"keywords", func(o *retrieve.Options) *retrieve.Weight { return &o.Keywords }},
		{"parameters", func(o *retrieve.Options) *retrieve.Weight { return &o.Parameters }},
		{"details", func(o *retrieve.Options) *retrieve.Weight { return &o.Details }},
		{"examples", func(o *retrieve.Options) *retrieve.Weight { return &o.Examples }},
		{"group", func(o *retrieve.Options) *retrieve.Weight { return &o.Group }},
	} {
		out = append(out,
			knob{f.name, func(o *retrieve.Options) *float64 { return &f.at(o).Weight }, factors, true, 0.05, 8},
			knob{f.name + " b", func(o *retrieve.Options) *float64 { return &f.at(o).B }, steps, false, 0, 1})
	}
	return out
}

// perSet is how many questions of the train half of each set the search looks at.
const perSet = 150

// Tune looks for better weights, one number at a time, on the train half of the
// questions, and prints every step that is kept. The goal is the mean over the six
// sources of NDCG@10 in percent; where a set is less than 2 over its reference, what
// is missing is subtracted.
func Tune(ctx context.Context, out io.Writer, data string, rounds int) error {
	sets, err := benchmarks(data)
	if err != nil {
		return err
	}
	trials := make([]*trial, len(sets))
	for i := range sets {
		if trials[i], err = newTrial(sets[i]); err != nil {
			return err
		}
	}
	best := retrieve.Default()
	goal, err := score(ctx, trials, best)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "start %.3f\n", goal)
	for round := range rounds {
		before := goal
		for _, k := range knobs() {
			for _, step := range k.steps {
				o := best
				if v := k.at(&o); k.factor {
					*v = min(k.top, max(k.low, *v*step))
				} else {
					*v = min(k.top, max(k.low, *v+step))
				}
				g, err := score(ctx, trials, o)
				if err != nil {
					return err
				}
				if g > goal+0.02 {
					goal, best = g, o
					fmt.Fprintf(out, "round %d %.3f %s = %.3g\n", round+1, g, k.name, *k.at(&o))
				}
			}
		}
		if goal == before {
			break
		}
	}
	o := best
	o.Embedder, o.Cache = nil, nil
	fmt.Fprintf(out, "%+v\n", o)
	return nil
}

// trial is one set made ready to be asked under many options: vectors are made once.
type trial struct {
	benchmark
	asked     []question
	embedder  vector.Embedder
	reference float64
}

func newTrial(b benchmark) (*trial, error) {
	if err := addReference(&b); err != nil {
		return nil, err
	}
	t := &trial{benchmark: b, asked: b.part(train)}
	if n := len(t.asked); n > perSet {
		var some []question
		for i := range perSet {
			some = append(some, t.asked[i*n/perSet])
		}
		t.asked = some
	}
	texts := make([]string, len(b.entries))
	for i := range b.entries {
		texts[i] = b.entries[i].EmbeddingText()
	}
	t.embedder = &remembering{Embedder: vector.FitNGram(vector.NGramWidth, text.NewAnalyzer().Content, texts), made: map[string][]float32{}}
	var err error
	t.reference, err = meanNDCG(t.asked, byReference)
	return t, err
}

// remembering makes each vector once.
type remembering struct {
	vector.Embedder
	made map[string][]float32
}

func (r *remembering) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if _, ok := r.made[t]; !ok {
			vs, err := r.Embedder.Embed(ctx, []string{t})
			if err != nil {
				return nil, err
			}
			r.made[t] = vs[0]
		}
		out[i] = r.made[t]
	}
	return out, nil
}

func meanNDCG(questions []question, find func(question) ([]string, error)) (float64, error) {
	rs, err := rankings(questions, find)
	sum := 0.0
	for _, r := range rs {
		sum += 100 * r.NDCG
	}
	return sum / float64(max(1, len(rs))), err
}

// score is the goal of Tune for one choice of options.
func score(ctx context.Context, trials []*trial, o retrieve.Options) (float64, error) {
	sum, sets, penalty := map[string]float64{}, map[string]float64{}, 0.0
	for _, t := range trials {
		o.Embedder = t.embedder
		x, err := retrieve.New(ctx, o, t.entries)
		if err != nil {
			return 0, err
		}
		ndcg, err := meanNDCG(t.asked, byIndex(ctx, x))
		if err != nil {
			return 0, err
		}
		source, _, _ := strings.Cut(t.name, "/")
		sum[source] += ndcg
		sets[source]++
		penalty += max(0, t.reference+2-ndcg)
	}
	mean := 0.0
	for s := range sum {
		mean += sum[s] / sets[s] / float64(len(sum))
	}
	return mean - penalty, nil
}
