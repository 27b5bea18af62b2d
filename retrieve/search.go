// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet"
)

// Hit is a tool that was found.
type Hit struct {
	// ID names the entry. Score is the score of the formula: in [0,1] for Mixed, where 1 is a tool
	// that consists of the question only. With a Reranker it is the reranker's score.
	ID    string
	Score float64
	Parts Parts
	entry int
}

// Parts are the terms of a score. Lexical and Semantic are the two weighted sides of Mixed; the
// others are points of the additive formula.
type Parts struct {
	Lexical, Semantic                                float64
	Name, Keywords, Description, Examples, Namespace float64
	// Gate is the deduction because none of the tool's agents was chosen; at most 0.
	Gate float64
	// Matched lists the keywords within the question (Additive).
	Matched []string
	// Reranked is nil for tools that were not reranked.
	Reranked *Reranked
}

// Reranked is the effect of a reranker on a tool. Its Score is the hit's.
type Reranked struct {
	// Score is the reranker's, in its own range; Before is the score of the formula and Rank its
	// rank, from 1.
	Score, Before float64
	Rank          int
}

// Result is the result of a search.
type Result struct {
	// Hits are the tools, best first; none when nothing fits.
	Hits []Hit
	// Confidence is the probability that a tool of the catalog fits, when Calibrated; otherwise 0
	// without a meaning.
	Confidence float64
	Calibrated bool
	// Abstained: there were tools, and none was good enough.
	Abstained bool
}

// Search returns the limit best tools for a question; 0 for the limit of the options. A question
// without words returns nothing. Errors come from the embedder and the reranker only; the index is
// not locked while they work.
func (x *Index) Search(ctx context.Context, question string, limit int) (Result, error) {
	return x.search(ctx, question, nil, limit)
}

func (x *Index) search(ctx context.Context, question string, agents []string, limit int) (Result, error) {
	if limit <= 0 {
		limit = x.options.Limit
	}
	limit = max(limit, 1)
	q, err := x.embedQuestion(ctx, question)
	if err != nil {
		return Result{}, err
	}
	f, err := x.found(question, q, agents, max(limit, 2), x.options.Confidence != nil)
	if err != nil {
		return Result{}, err
	}
	hits, err := x.rerank(ctx, question, f.hits, f.texts)
	if err != nil {
		return Result{}, err
	}
	return x.result(f, hits, limit), nil
}

// found is the result of the formula alone: the k best hits, or the number for the reranker, their
// texts, and, where requested, the evidence of the first one.
type found struct {
	hits     []Hit
	texts    []string
	evidence Evidence
}

func (x *Index) found(question string, q []float32, agents []string, k int, weigh bool) (found, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if q != nil && x.vectors.Len() > 0 {
		if err := CheckVector(q, x.vectors.Width()); err != nil {
			return found{}, fmt.Errorf("embed question: %w", err)
		}
	}
	b := x.buffer()
	defer x.buffers.Put(b)
	var groups []TermGroup
	if x.options.Formula != Additive || weigh {
		groups = x.groups(question)
	}
	k = max(k, x.depth())
	hits := x.ranked(question, groups, q, agents, b, k)
	f := found{hits: hits, texts: x.texts(hits[:min(len(hits), k)])}
	if weigh && len(hits) > 0 {
		f.evidence = x.matched(groups, &hits[0])
	}
	return f, nil
}

// ranked returns the k best tools by the formula of the options, with the gate of agents; q is the
// question's vector, nil for none.
func (x *Index) ranked(question string, groups []TermGroup, q []float32, agents []string, b *buffer, k int) []Hit {
	if x.options.Formula != Additive && x.behind(agents) {
		return x.gated(x.ranked(question, groups, q, nil, b, len(x.entries)), agents, k)
	}
	switch x.options.Formula {
	case Additive:
		return x.searchAdditive(question, agents, x.cosines(q, b))
	case ReciprocalRank:
		return x.searchRanks(groups, x.cosines(q, b), k)
	default:
		return x.searchMixed(groups, q, b, k)
	}
}

// result applies the threshold and the confidence.
func (x *Index) result(f found, hits []Hit, limit int) Result {
	r := Result{}
	if len(hits) == 0 {
		return r
	}
	if c := x.options.Confidence; c != nil {
		r.Confidence, r.Calibrated = c.Probability(evidenceOf(f, hits)), true
		if r.Confidence < x.options.MinConfidence {
			r.Abstained = true
			return r
		}
	}
	for _, h := range hits[:min(limit, len(hits))] {
		if x.options.Threshold > 0 && h.Score < x.options.Threshold {
			break
		}
		r.Hits = append(r.Hits, h)
	}
	r.Abstained = len(r.Hits) == 0
	return r
}

// groups returns the words of a question in all their forms.
func (x *Index) groups(question string) []TermGroup {
	words := x.analyzer.Query(question, x.spoken)
	groups := make([]TermGroup, len(words))
	for i, stems := range words {
		groups[i] = x.lexical.Expand(stems, x.options.Forms)
	}
	return groups
}

// embedQuestion returns the question's vector, of length 1 or 0; nil where vectors do not count.
func (x *Index) embedQuestion(ctx context.Context, question string) ([]float32, error) {
	e := x.embedder()
	if e == nil || x.options.VectorWeight == 0 || x.Len() == 0 {
		return nil, nil
	}
	vs, err := e.Embed(ctx, []string{question})
	if err != nil {
		return nil, fmt.Errorf("embed question: %w", err)
	}
	if len(vs) != 1 {
		return nil, fmt.Errorf("embed question: %d vectors for one text: %w", len(vs), callvet.ErrInvalid)
	}
	if err := CheckVector(vs[0], len(vs[0])); err != nil {
		return nil, fmt.Errorf("embed question: %w", err)
	}
	q := slices.Clone(vs[0]) // the embedder may keep its own
	NormalizeVector(q)
	return q, nil
}

// embedder is the present embedder; nil for none.
func (x *Index) embedder() Embedder {
	if x.options.Embedder != nil {
		return x.options.Embedder
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.offline == nil {
		return nil
	}
	return x.offline
}

// cosines returns the question's cosine with every entry, in the buffer; nil without vectors.
func (x *Index) cosines(q []float32, b *buffer) []float32 {
	if q == nil || x.vectors.Len() == 0 {
		return nil
	}
	x.vectors.Cosines(q, b.cosines)
	return b.cosines
}

// semantic is the term of a cosine in the score of Mixed.
func (x *Index) semantic(cosine float32) float64 {
	return x.options.VectorWeight * max(0, float64(cosine))
}

// searchMixed is the weighted sum of the lexical score, divided by the highest possible score for
// the question, and the cosine, at least 0.
//
// Reading vectors takes most of the time. A tool that cannot be among the k best even with its
// highest possible cosine is skipped before its vector is read. The hits are the same as without
// skipping.
func (x *Index) searchMixed(groups []TermGroup, q []float32, b *buffer, k int) []Hit {
	mixed := q != nil && x.vectors.Len() > 0
	share := x.lexicalShare(groups, mixed)
	if !mixed {
		found := x.lexical.Search(groups, k)
		for i := range found {
			found[i].Score *= share
		}
		return x.hits(found, nil)
	}
	x.lexical.Scores(groups, b.scores)
	for i := range b.scores {
		b.scores[i] *= share
	}
	top := NewTop(k)
	if candidates, few := x.candidates(q, b, k); few {
		for _, i := range candidates {
			top.Offer(i, b.scores[i]+x.semantic(x.vectors.Cosine(q, i)))
		}
	} else {
		for i, c := range x.cosines(q, b) {
			top.Offer(i, b.scores[i]+x.semantic(c))
		}
	}
	return x.hits(top.Sorted(), func(doc int) float64 { return x.semantic(x.vectors.Cosine(q, doc)) })
}

// With more candidates than one in manyCandidates it is faster to read all vectors in order. slack
// is larger than any rounding error of a score.
const (
	manyCandidates = 8
	slack          = 1e-6
)

// candidates returns the tools that can be among the k best, and whether they are few. A tool is a
// candidate if its lexical score with its highest possible cosine reaches the k-th score of the
// lexically best tools.
func (x *Index) candidates(q []float32, b *buffer, k int) (out []int, few bool) {
	if x.sketch == nil || k > len(b.scores)/manyCandidates {
		return nil, false
	}
	best := NewTop(k)
	for i, s := range b.scores {
		best.Offer(i, s)
	}
	lexical := best.Sorted()
	if len(lexical) < k {
		return nil, false
	}
	floor := math.Inf(1)
	for _, h := range lexical {
		floor = min(floor, h.Score+x.semantic(x.vectors.Cosine(q, h.Doc)))
	}
	x.sketch.Bounds(q, b.cosines)
	for i, s := range b.scores {
		if s+x.semantic(b.cosines[i])+slack < floor {
			continue
		}
		if out = append(out, i); len(out) > len(b.scores)/manyCandidates {
			return nil, false
		}
	}
	return out, true
}

// lexicalShare is the factor of a lexical score.
func (x *Index) lexicalShare(groups []TermGroup, mixed bool) float64 {
	ceiling := 0.0
	for _, g := range groups {
		ceiling += x.lexical.Ceiling(g)
	}
	if ceiling == 0 {
		return 0
	}
	if mixed {
		return (1 - x.options.VectorWeight) / ceiling
	}
	return 1 / ceiling
}

func (x *Index) hits(found []BM25Hit, semantic func(doc int) float64) []Hit {
	out := make([]Hit, len(found))
	for i, h := range found {
		near := 0.0
		if semantic != nil {
			near = semantic(h.Doc)
		}
		out[i] = Hit{
			ID: x.lexical.ID(h.Doc), Score: h.Score, Parts: Parts{Lexical: h.Score - near, Semantic: near},
			entry: h.Doc,
		}
	}
	return out
}

// rankDepth is how deep both orders are read for reciprocal ranks, and rankConstant
// what is added to each rank (Cormack, Clarke and Büttcher 2009).
const (
	rankDepth    = 200
	rankConstant = 60
)

func (x *Index) searchRanks(groups []TermGroup, cosines []float32, k int) []Hit {
	parts := map[int]Parts{}
	for rank, h := range x.lexical.Search(groups, rankDepth) {
		parts[h.Doc] = Parts{Lexical: (1 - x.options.VectorWeight) / float64(rankConstant+rank+1)}
	}
	near := NewTop(rankDepth)
	for i, c := range cosines {
		near.Offer(i, float64(c))
	}
	for rank, h := range near.Sorted() {
		p := parts[h.Doc]
		p.Semantic = x.options.VectorWeight / float64(rankConstant+rank+1)
		parts[h.Doc] = p
	}
	top := NewTop(k)
	for doc, p := range parts {
		top.Offer(doc, p.Lexical+p.Semantic)
	}
	var out []Hit
	for _, h := range top.Sorted() {
		out = append(out, Hit{ID: x.lexical.ID(h.Doc), Score: h.Score, Parts: parts[h.Doc], entry: h.Doc})
	}
	return out
}
