// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"math"
)

// Evidence is the input for the probability that a tool of the catalog fits a question.
type Evidence struct {
	// Score is the score of the first tool, Lead its difference from the second's.
	Score, Lead float64
	// Semantic is the vector part of the first tool's score before reranking.
	Semantic float64
	// Matched is how much of the question matches the formula's first tool. It is the BM25F score
	// of its words, divided by the score of a word that only one tool has.
	Matched float64
	// Words is how many words the question has, function words left out.
	Words int
}

func evidenceOf(f found, hits []Hit) Evidence {
	e := f.evidence
	if len(hits) > 0 {
		e.Score, e.Lead = hits[0].Score, hits[0].Score
	}
	if len(hits) > 1 {
		e.Lead -= hits[1].Score
	}
	return e
}

// matched returns the Evidence about the words of a question in the formula's first hit.
func (x *Index) matched(groups []TermGroup, h *Hit) Evidence {
	e := Evidence{Semantic: h.Parts.Semantic, Words: len(groups)}
	for _, p := range x.lexical.Explain(groups, h.entry) {
		e.Matched += p.Score
	}
	e.Matched /= x.lexical.Ceiling(nil)
	return e
}

// Logistic turns evidence into the probability that something fits, 1/(1+exp(-z)) with
//
//	z = Bias + Score·score + Lead·lead + Semantic·semantic + Matched·ln(0.05+matched) + Words·ln(1+words)
//
// The probability of the zero value is one half.
type Logistic struct{ Bias, Score, Lead, Semantic, Matched, Words float64 }

// Probability is in [0,1].
func (l Logistic) Probability(e Evidence) float64 {
	z := 0.0
	for i, v := range e.Features() {
		z += v * [NumFeatures]float64{l.Bias, l.Score, l.Lead, l.Semantic, l.Matched, l.Words}[i]
	}
	return 1 / (1 + math.Exp(-z))
}

// Question is a text with the tools that fit it; none where nothing does.
type Question struct {
	Text  string
	Tools []string
}

// Observation is the evidence of one question with the truth.
type Observation struct {
	Evidence
	// Fits: a tool of the catalog fits the question.
	Fits bool
	// Source names the catalog that was asked.
	Source string
}

// Observe searches for every question, in their order, without abstaining. Errors are errors of
// Search.
func (x *Index) Observe(ctx context.Context, source string, questions []Question) ([]Observation, error) {
	out := make([]Observation, len(questions))
	for i, q := range questions {
		e, err := x.Evidence(ctx, q.Text)
		if err != nil {
			return nil, err
		}
		out[i] = Observation{Evidence: e, Fits: len(q.Tools) > 0, Source: source}
	}
	return out, nil
}

// Evidence is the evidence of a search for a question, zero where it finds nothing. Errors are
// those of Search.
func (x *Index) Evidence(ctx context.Context, question string) (Evidence, error) {
	q, err := x.embedQuestion(ctx, question)
	if err != nil {
		return Evidence{}, err
	}
	f, err := x.found(question, q, nil, 2, true)
	if err != nil {
		return Evidence{}, err
	}
	hits, err := x.rerank(ctx, question, f.hits, f.texts)
	return evidenceOf(f, hits), err
}

// NumFeatures is the length of Evidence.Features.
const NumFeatures = 6

// Features are the inputs of a Logistic: 1 for the bias, then the terms of its formula in order.
func (e Evidence) Features() [NumFeatures]float64 {
	return [NumFeatures]float64{
		1, e.Score, e.Lead, e.Semantic, math.Log(0.05 + max(0, e.Matched)),
		math.Log(1 + float64(e.Words)),
	}
}
