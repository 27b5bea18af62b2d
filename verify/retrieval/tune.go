// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
	"github.com/callvet/callvet/verify/proof"
)

// perSet is the number of train questions of each set in the search.
const perSet = 150

// Tune searches for better weights, one number at a time, on the train half of the questions, and prints
// every improvement. The goal is the mean over the six sources of NDCG@10 in percent. If a set is less
// than 2 above its reference, the missing part is subtracted.
func Tune(ctx context.Context, out io.Writer, d proof.Data, rounds int) error {
	sets, err := benchmarks(d)
	if err != nil {
		return err
	}
	trials := make([]*trial, len(sets))
	for i := range sets {
		if trials[i], err = newTrial(sets[i]); err != nil {
			return err
		}
	}
	search := learn.Search{
		Start: retrieve.Default(), Knobs: append(learn.Weights(retrieve.Mixed), learn.Lengths()...), Rounds: rounds,
		Least: 0.02,
		Kept:  func(m learn.Move) { fmt.Fprintf(out, "round %d %.3f %s = %.3g\n", m.Round, m.Goal, m.Knob, m.To) },
	}
	found, err := search.Run(ctx,
		func(ctx context.Context, o retrieve.Options) (float64, error) { return score(ctx, trials, o) })
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "start %.3f, end %.3f, %d choices tried\n%v\n", found.Start, found.Goal, found.Tried,
		learn.Changed(search.Start, found.Options, search.Knobs))
	return nil
}

// trial is one set prepared for searches with many options: vectors are made once.
type trial struct {
	benchmark
	asked     []question
	embedder  retrieve.Embedder
	reference float64
}

func newTrial(b benchmark) (*trial, error) {
	if err := addReference(&b); err != nil {
		return nil, err
	}
	t := &trial{benchmark: b, asked: evenly(b.part(train), perSet)}
	t.embedder = learn.Remember(retrieve.Default(), b.entries).Embedder
	var err error
	t.reference, err = meanNDCG(t.asked, byReference)
	return t, err
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
