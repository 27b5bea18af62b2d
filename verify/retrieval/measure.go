// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/stats"
)

// depth is the number of judged tools of each ranking.
const depth = 10

// half returns the half of the questions that a question belongs to. Weights are chosen on the
// train half only. Questions with the same right tools are in the same half.
type half string

const (
	train   half = "train"
	holdout half = "holdout"
)

func (q *question) goldKey() string {
	s := slices.Clone(q.relevant)
	slices.Sort(s)
	return strings.Join(s, "\x00")
}

func (q *question) half() half {
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.goldKey()))
	if h.Sum32()>>7&1 == 0 {
		return train
	}
	return holdout
}

// part returns the questions of one half, all of them for "".
func (b *benchmark) part(h half) []question {
	var out []question
	for _, q := range b.questions {
		if h == "" || q.half() == h {
			out = append(out, q)
		}
	}
	return out
}

// rankings judges one list of tools per question.
func rankings(questions []question, find func(q question) ([]string, error)) ([]stats.Ranking, error) {
	out := make([]stats.Ranking, len(questions))
	for i, q := range questions {
		found, err := find(q)
		if err != nil {
			return nil, err
		}
		out[i], _ = stats.Rank(q.relevant, found, depth)
	}
	return out, nil
}

func byReference(q question) ([]string, error) { return q.reference, nil }

// byIndex searches an index, ignoring its threshold.
func byIndex(ctx context.Context, x *retrieve.Index) func(question) ([]string, error) {
	return func(q question) ([]string, error) {
		r, err := x.Search(ctx, q.text, depth)
		if err != nil {
			return nil, err
		}
		out := make([]string, len(r.Hits))
		for i, h := range r.Hits {
			out[i] = h.ID
		}
		return out, nil
	}
}
