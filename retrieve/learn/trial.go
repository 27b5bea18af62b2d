// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
)

// TuneOutcome is the outcome of one question: Score is its term in the mean that is the goal, Right
// whether it is right.
type TuneOutcome struct {
	Score float64
	Right bool
}

// Judge searches for the questions with these numbers under options and returns their outcomes,
// in the order of the numbers.
type Judge func(ctx context.Context, o retrieve.Options, questions []int) ([]TuneOutcome, error)

// Trial is a search with an unbiased measurement at its end.
type Trial struct {
	Search Search
	// Keys name the right tools of each question: questions of one key stay together.
	Keys  []string
	Judge Judge
	// Holdout in (0,1) is the share of keys, by hash, that the search does not see. It is ignored
	// with Folds (at least 2), where each key is held out once.
	Holdout float64
	Folds   int
	// Seed is part of the hash.
	Seed uint64
}

// TunePart is how many questions and keys a part has.
type TunePart struct {
	Cases    int `json:"cases"`
	Clusters int `json:"clusters"`
}

// TuneResult is what a trial found. With folds, Train is everything and Found is searched on
// everything; each question is held out from the search of its fold.
type TuneResult struct {
	Train, Held TunePart
	Found       Found
	// Preset and Tuned are the mean scores of the questions held out.
	Preset, Tuned float64
	// Change is the mean of their differences with its interval; its units are keys. P is
	// two-sided, and Exact is true where it counts all patterns of signs.
	Change stats.Interval
	P      float64
	Exact  bool
	// NewlyRight and NewlyWrong are numbers of questions held out.
	NewlyRight, NewlyWrong []int
	// FoldChanges are the mean differences of each fold.
	FoldChanges []float64
	// BeyondChance: the whole interval is above 0 and P below 0.05.
	BeyondChance bool
	// Tried is how many options all searches tried.
	Tried int
}

const (
	confidence = 0.95
	alpha      = 1 - confidence
)

// Run searches on one part and compares once on the other. The error wraps ErrInvalid
// where a part would have fewer than two keys.
func (t *Trial) Run(ctx context.Context) (TuneResult, error) {
	parts, err := t.split()
	if err != nil {
		return TuneResult{}, err
	}
	r := TuneResult{}
	diffs, held := []float64{}, []int{}
	for fold := range parts.n {
		train, test := parts.of(func(f int) bool { return f != fold }), parts.of(func(f int) bool { return f == fold })
		f, err := t.Search.Run(ctx, t.goal(train))
		if err != nil {
			return r, err
		}
		r.Found, r.Train, r.Tried = f, parts.count(train), r.Tried+f.Tried
		d, err := t.compare(ctx, &r, f.Options, test)
		if err != nil {
			return r, err
		}
		diffs, held = append(diffs, d...), append(held, test...)
		if t.Folds > 0 {
			r.FoldChanges = append(r.FoldChanges, mean(d))
		}
	}
	if t.Folds > 0 {
		all := parts.of(func(int) bool { return true })
		if r.Found, err = t.Search.Run(ctx, t.goal(all)); err != nil {
			return r, err
		}
		r.Train, r.Tried = parts.count(all), r.Tried+r.Found.Tried
	}
	r.Held = parts.count(held)
	r.Preset /= float64(len(held))
	r.Tuned /= float64(len(held))
	r.conclude(diffs, parts.clusters(held))
	slices.Sort(r.NewlyRight)
	slices.Sort(r.NewlyWrong)
	return r, nil
}

// goal is the mean score of some questions.
func (t *Trial) goal(questions []int) Goal {
	return func(ctx context.Context, o retrieve.Options) (float64, error) {
		out, err := t.Judge(ctx, o, questions)
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for i := range out {
			sum += out[i].Score
		}
		return sum / float64(len(out)), nil
	}
}

// compare adds both sums of scores, and the changes, to the result.
func (t *Trial) compare(ctx context.Context, r *TuneResult, tuned retrieve.Options,
	questions []int,
) ([]float64, error) {
	before, err := t.Judge(ctx, t.Search.Start, questions)
	if err != nil {
		return nil, err
	}
	after, err := t.Judge(ctx, tuned, questions)
	if err != nil {
		return nil, err
	}
	diffs := make([]float64, len(questions))
	for i, q := range questions {
		diffs[i] = after[i].Score - before[i].Score
		r.Preset, r.Tuned = r.Preset+before[i].Score, r.Tuned+after[i].Score
		switch {
		case after[i].Right && !before[i].Right:
			r.NewlyRight = append(r.NewlyRight, q)
		case before[i].Right && !after[i].Right:
			r.NewlyWrong = append(r.NewlyWrong, q)
		}
	}
	return diffs, nil
}

// conclude computes the interval and the p value of the change. With few keys the p value is
// exact, over all patterns of signs.
func (r *TuneResult) conclude(diffs []float64, clusters []int) {
	r.Change, r.P = stats.PairedMeanClustered(diffs, clusters, confidence)
	sums := make([]float64, slices.Max(clusters)+1)
	for i, d := range diffs {
		sums[clusters[i]] += d
	}
	if p, ok := stats.SignFlip(sums); ok {
		r.P, r.Exact = p, true
	}
	r.BeyondChance = r.Change.Lower > 0 && r.P < alpha
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// parts is a fold for every question.
type parts struct {
	keys []string
	fold []int
	n    int // how many folds are held out
}

// split divides keys into parts by their hash: of two parts, part 0 is held out by its share;
// folds differ by at most one key.
func (t *Trial) split() (parts, error) {
	p := parts{keys: t.Keys, fold: make([]int, len(t.Keys)), n: 1}
	type hashed struct {
		key string
		at  float64
	}
	var keys []hashed
	seen := map[string]int{}
	for _, k := range t.Keys {
		if _, ok := seen[k]; !ok {
			seen[k] = 0
			keys = append(keys, hashed{k, t.place(k)})
		}
	}
	slices.SortFunc(keys, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
	count := map[int]int{}
	for i, k := range keys {
		switch {
		case t.Folds > 0:
			seen[k.key] = i % t.Folds
		case k.at >= t.Holdout:
			seen[k.key] = 1
		}
		count[seen[k.key]]++
	}
	for i, k := range t.Keys {
		p.fold[i] = seen[k]
	}
	switch {
	case t.Folds != 0 && (t.Folds < 2 || len(keys) < 2*t.Folds):
		return p,
			fmt.Errorf(
				"split questions: %w: %d folds of %d different sets of right tools; at least 2 folds, with 2 sets each",
				callvet.ErrInvalid, t.Folds, len(keys))
	case t.Folds == 0 && !(t.Holdout > 0 && t.Holdout < 1):
		return p, fmt.Errorf("split questions: %w: hold out %v of them; a share between 0 and 1",
			callvet.ErrInvalid, t.Holdout)
	case t.Folds == 0 && (count[0] < 2 || count[1] < 2):
		return p,
			fmt.Errorf(
				"split questions: %w: of %d different sets of right tools %d would be held out; both parts need 2",
				callvet.ErrInvalid, len(keys), count[0])
	}
	if t.Folds > 0 {
		p.n = t.Folds
	}
	return p, nil
}

// place is the position of a key in [0,1).
func (t *Trial) place(key string) float64 {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, t.Seed), key...))
	return math.Ldexp(float64(binary.LittleEndian.Uint64(sum[:])>>11), -53)
}

func (p *parts) of(in func(fold int) bool) []int {
	var out []int
	for i, f := range p.fold {
		if in(f) {
			out = append(out, i)
		}
	}
	return out
}

func (p *parts) clusters(questions []int) []int {
	numbers := map[string]int{}
	out := make([]int, len(questions))
	for i, q := range questions {
		n, ok := numbers[p.keys[q]]
		if !ok {
			n = len(numbers)
			numbers[p.keys[q]] = n
		}
		out[i] = n
	}
	return out
}

func (p *parts) count(questions []int) TunePart {
	if len(questions) == 0 {
		return TunePart{}
	}
	return TunePart{Cases: len(questions), Clusters: slices.Max(p.clusters(questions)) + 1}
}
