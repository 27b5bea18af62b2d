// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

// Reranker scores texts for a question by reading both together.
type Reranker interface {
	// Rerank returns one score for each text, in order: the higher, the better it fits. Scores are
	// finite; they need not be comparable between questions.
	Rerank(ctx context.Context, question string, texts []string) ([]float64, error)
}

// rerankDepth is the default number of tools for a reranker.
const rerankDepth = 50

// depth is the least number of hits for the reranker; 0 without one.
func (x *Index) depth() int {
	switch {
	case x.options.Reranker == nil:
		return 0
	case x.options.RerankTop > 0:
		return x.options.RerankTop
	}
	return rerankDepth
}

// texts are the texts of hits for the reranker; none without one.
func (x *Index) texts(hits []Hit) []string {
	if x.options.Reranker == nil {
		return nil
	}
	out := make([]string, len(hits))
	for i, h := range hits {
		out[i] = x.entries[h.entry].EmbeddingText()
	}
	return out
}

// rerank reorders the first hits, those with a text, by the reranker's scores; equal ones keep the
// formula's order. Further hits keep their places after them.
func (x *Index) rerank(ctx context.Context, question string, hits []Hit, texts []string) ([]Hit, error) {
	if len(texts) == 0 {
		return hits, nil
	}
	scores, err := x.options.Reranker.Rerank(ctx, question, texts)
	if err != nil {
		return nil, fmt.Errorf("rerank tools: %w", err)
	}
	if len(scores) != len(texts) {
		return nil, fmt.Errorf("rerank tools: %d scores for %d texts: %w", len(scores), len(texts), callvet.ErrInvalid)
	}
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("rerank tools: the score of %s is not finite: %w", hits[i].ID, callvet.ErrInvalid)
		}
		hits[i].Parts.Reranked = &Reranked{Score: s, Before: hits[i].Score, Rank: i + 1}
		hits[i].Score = s
	}
	slices.SortStableFunc(hits[:len(texts)], func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, nil
}
