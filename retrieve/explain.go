// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/bm25"
)

// Explanation says why a tool has the place it has for a question.
type Explanation struct {
	Question string
	// Tool is the one asked about and Winner the first tool; they may be the same.
	// Winner is nil when no tool has a score.
	Tool   Standing
	Winner *Standing
	// Words holds every word of the question beside what it gives both.
	Words []Word
}

// Standing is a tool's rank, from 1, and its score with its parts. Rank 0 is for tools
// that were not ranked: no score, or, under the additive formula, no candidate.
type Standing struct {
	ID    string
	Rank  int
	Score float64
	Parts Parts
}

// Word is what one word of the question gives the tool and the winner. Under Mixed
// the Scores of the parts add up to Parts.Lexical; under the other formulas, which do
// not use them so, they are those of BM25F.
type Word struct {
	// Forms are the forms looked for, the word's own stems first; none when no tool
	// has anything like it.
	Forms        []bm25.Term
	Tool, Winner bm25.Part
}

// Explain holds a tool against the winner. The error wraps ErrNotFound for a tool
// that the index does not have.
func (x *Index) Explain(ctx context.Context, question, id string) (Explanation, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	doc, ok := x.lexical.Doc(id)
	if !ok {
		return Explanation{}, fmt.Errorf("explain tool %q: it is not in the catalog: %w", id, callvet.ErrNotFound)
	}
	b := x.buffer()
	defer x.buffers.Put(b)
	cosines, err := x.cosines(ctx, question, b)
	if err != nil {
		return Explanation{}, err
	}
	groups := x.groups(question)
	hits := x.ranked(question, groups, cosines, b, len(x.entries))
	e := Explanation{Question: question, Tool: Standing{ID: id}}
	for i, h := range hits {
		if h.entry == doc {
			e.Tool = Standing{ID: id, Rank: i + 1, Score: h.Score, Parts: h.Parts}
		}
	}
	if e.Tool.Rank == 0 && x.options.Formula == Additive {
		p := x.points(doc, additiveForm(question), additiveTokens(question), at(cosines, doc))
		e.Tool.Parts, e.Tool.Score = p, p.Lexical+p.Semantic+p.Namespace
	}
	if len(hits) == 0 {
		e.Words = x.words(groups, doc, -1, cosines != nil)
		return e, nil
	}
	w := hits[0]
	e.Winner = &Standing{ID: w.ID, Rank: 1, Score: w.Score, Parts: w.Parts}
	e.Words = x.words(groups, doc, w.entry, cosines != nil)
	return e, nil
}

func (x *Index) words(groups []bm25.Group, tool, winner int, mixed bool) []Word {
	share := 1.0
	if x.options.Formula == Mixed {
		share = x.lexicalShare(groups, mixed)
	}
	out := make([]Word, len(groups))
	for i, p := range x.lexical.Explain(groups, tool) {
		out[i] = Word{Forms: groups[i], Tool: scaled(p, share)}
	}
	if winner >= 0 {
		for i, p := range x.lexical.Explain(groups, winner) {
			out[i].Winner = scaled(p, share)
		}
	}
	return out
}

func scaled(p bm25.Part, by float64) bm25.Part {
	p.Score *= by
	for i := range p.Fields {
		p.Fields[i].Score *= by
	}
	return p
}

// Reasons says in sentences why the tool is not first, the largest loss first; none
// when it is.
func (e Explanation) Reasons() []string {
	if e.Tool.Rank == 1 || e.Winner == nil {
		return nil
	}
	var out []string
	if e.Tool.Rank == 0 {
		out = append(out, fmt.Sprintf("%s was not ranked at all", e.Tool.ID))
	}
	type loss struct {
		by  float64
		say string
	}
	losses := []loss{{e.Winner.Parts.Semantic - e.Tool.Parts.Semantic, "its text is farther from the question as a vector"}}
	if d := e.Winner.Parts.Namespace - e.Tool.Parts.Namespace; d > 0 {
		losses = append(losses, loss{d, "it is in no primary namespace"})
	}
	for _, w := range e.Words {
		if w.Winner.Score <= w.Tool.Score {
			continue
		}
		say := fmt.Sprintf("it has no form of %q, which %s has in %s", w.Winner.Term, e.Winner.ID, fieldsOf(w.Winner))
		if w.Tool.Score > 0 {
			say = fmt.Sprintf("%q counts less in its %s than in the %s of %s", w.Winner.Term, fieldsOf(w.Tool), fieldsOf(w.Winner), e.Winner.ID)
		}
		losses = append(losses, loss{w.Winner.Score - w.Tool.Score, say})
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range losses {
		if l.by > 0 {
			out = append(out, l.say)
		}
	}
	return out
}

func fieldsOf(p bm25.Part) string {
	names := make([]string, len(p.Fields))
	for i, f := range p.Fields {
		names[i] = f.Field
	}
	return strings.Join(names, ", ")
}
