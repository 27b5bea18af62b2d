// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// Explanation explains the rank of a tool for a question.
type Explanation struct {
	Question string
	// Formula is the formula of the scores.
	Formula Formula
	// Tool is the explained tool and Winner the first tool; they may be the same. Winner is nil
	// when no tool has a score.
	Tool   Standing
	Winner *Standing
	// Gate is the effect of the gate of agents on the tool; nil for none.
	Gate *Held
	// Withheld is why the search does not return the tool, at any rank: nothing was returned, or
	// its score is below the threshold. Empty where neither applies.
	Withheld string
	// Words are the words of the question with their contributions to both tools.
	Words []Word
}

// Standing is a tool's rank, from 1, and its score with its parts. Rank 0 means not ranked: no
// score, or under the additive formula no candidate.
type Standing struct {
	ID    string
	Rank  int
	Score float64
	Parts Parts
}

// Held is a tool to which the gate of agents applies.
type Held struct {
	// Agents are the tool's agents, Chosen the chosen agents.
	Agents, Chosen []string
	// Rank and Score are the rank and score of the tool without the gate.
	Rank  int
	Score float64
}

// gate applies the gate to a tool. e contains its standing without the gate. The reduced score is
// the tool's standing until it is found among the hits.
func (x *Index) gate(e *Explanation, doc int, agents []string) *Held {
	if !x.shut(doc, agents) {
		return nil
	}
	h := Hit{ID: e.Tool.ID, Score: e.Tool.Score, Parts: e.Tool.Parts, entry: doc}
	held := &Held{Agents: x.entries[doc].Agents, Chosen: agents, Rank: e.Tool.Rank, Score: e.Tool.Score}
	x.hold(&h, agents)
	e.Tool = Standing{ID: h.ID, Score: h.Score, Parts: h.Parts}
	return held
}

// Word is the contribution of one word of the question to the tool and the winner. Under Mixed the
// Scores of the parts sum to Parts.Lexical; under the other formulas they are plain BM25F scores.
type Word struct {
	// Text is the word as the question has it.
	Text string
	// Forms are the searched forms, the word's own stems first; none when no tool has a similar
	// word.
	Forms        []Term
	Tool, Winner BM25Part
}

// Explain compares a tool with the winner. The error wraps ErrNotFound for a tool that the index
// does not have.
func (x *Index) Explain(ctx context.Context, question, id string) (Explanation, error) {
	return x.ExplainFor(ctx, question, id, nil)
}

// ExplainFor is Explain for a search with the gate of agents (SearchFor).
func (x *Index) ExplainFor(ctx context.Context, question, id string, agents []string) (Explanation, error) {
	q, err := x.embedQuestion(ctx, question)
	if err != nil {
		return Explanation{}, err
	}
	e, f, err := x.compare(question, id, q, agents)
	if err != nil {
		return e, err
	}
	if len(f.texts) == 0 {
		x.withhold(&e, f, f.hits)
		return e, nil
	}
	before := f.hits[0].ID
	hits, err := x.rerank(ctx, question, f.hits, f.texts)
	if err != nil {
		return Explanation{}, err
	}
	e.place(hits)
	x.withhold(&e, f, hits)
	if e.Winner.ID == before {
		return e, nil
	}
	return e, x.setWords(&e, question, q)
}

// withhold sets why a search does not return the tool.
func (x *Index) withhold(e *Explanation, f found, hits []Hit) {
	r := x.result(f, hits, 1)
	switch least := x.options.Threshold; {
	case r.Calibrated && r.Abstained && r.Confidence < x.options.MinConfidence:
		e.Withheld = fmt.Sprintf("nothing is given: that any tool fits has confidence %.4g, and %.4g is needed",
			r.Confidence, x.options.MinConfidence)
	case least > 0 && e.Tool.Rank > 0 && e.Tool.Score < least:
		e.Withheld = fmt.Sprintf("%s is not given: its score %.4g is under the threshold %.4g", e.Tool.ID,
			e.Tool.Score, least)
	}
}

// Lost reports whether there is anything to explain: the tool is not first, or not returned.
func (e *Explanation) Lost() bool {
	return e.Withheld != "" || e.Tool.Rank != 1 && e.Winner != nil
}

// place finds the tool and the winner among hits.
func (e *Explanation) place(hits []Hit) {
	for i, h := range hits {
		if h.ID == e.Tool.ID {
			e.Tool = Standing{ID: h.ID, Rank: i + 1, Score: h.Score, Parts: h.Parts}
		}
	}
	if len(hits) > 0 {
		w := hits[0]
		e.Winner = &Standing{ID: w.ID, Rank: 1, Score: w.Score, Parts: w.Parts}
	}
}

// compare explains by the formula alone. It also returns the formula's hits, the texts for the
// reranker, and the evidence of the first hit.
func (x *Index) compare(question, id string, q []float32, agents []string) (Explanation, found, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	doc, ok := x.lexical.Doc(id)
	if !ok {
		return Explanation{}, found{}, fmt.Errorf("explain tool %q: it is not in the catalog: %w", id,
			callvet.ErrNotFound)
	}
	if q != nil && x.vectors.Len() > 0 {
		if err := CheckVector(q, x.vectors.Width()); err != nil {
			return Explanation{}, found{}, fmt.Errorf("embed question: %w", err)
		}
	}
	b := x.buffer()
	defer x.buffers.Put(b)
	groups := x.groups(question)
	e := Explanation{Question: question, Formula: x.options.Formula, Tool: Standing{ID: id}}
	var hits []Hit
	if x.options.Formula == Mixed {
		hits, e.Tool = x.standing(groups, q, b, doc)
	} else {
		hits = x.ranked(question, groups, q, nil, b, len(x.entries))
	}
	e.place(hits)
	if e.Tool.Rank == 0 && x.options.Formula == Additive {
		cosine := 0.0
		if q != nil && x.vectors.Len() > 0 {
			cosine = float64(x.vectors.Cosine(q, doc))
		}
		p := x.points(doc, additiveForm(question), additiveTokens(question), cosine)
		e.Tool.Parts, e.Tool.Score = p, p.Lexical+p.Semantic+p.Namespace
	}
	if x.behind(agents) {
		e.Gate = x.gate(&e, doc, agents)
		hits = x.ranked(question, groups, q, agents, b, len(x.entries))
		e.Winner = nil
		e.place(hits)
	}
	winner := -1
	if len(hits) > 0 {
		winner = hits[0].entry
	}
	e.Words = x.words(question, groups, doc, winner, q != nil)
	f := found{hits: hits, texts: x.texts(hits[:min(len(hits), x.explained())])}
	if x.options.Confidence != nil && len(hits) > 0 {
		f.evidence = x.matched(groups, &hits[0])
	}
	return e, f, nil
}

// explained is how many hits an explanation needs: those of a search, and at least two for the lead
// of the first.
func (x *Index) explained() int { return max(x.depth(), x.options.Limit, 2) }

// standing returns the best hits of Mixed and the rank of one tool among all. The rank is counted:
// sorting 100,000 tools takes longer than scoring them.
func (x *Index) standing(groups []TermGroup, q []float32, b *buffer, doc int) ([]Hit, Standing) {
	cosines := x.cosines(q, b)
	share := x.lexicalShare(groups, cosines != nil)
	x.lexical.Scores(groups, b.scores)
	top := NewTop(x.explained())
	for i := range b.scores {
		b.scores[i] *= share
		if cosines != nil {
			b.scores[i] += x.semantic(cosines[i])
		}
		top.Offer(i, b.scores[i])
	}
	semantic := func(doc int) float64 { return x.semantic(cosines[doc]) }
	if cosines == nil {
		semantic = nil
	}
	own := b.scores[doc]
	h := x.hits([]BM25Hit{{Doc: doc, Score: own}}, semantic)[0]
	s := Standing{ID: h.ID, Score: own, Parts: h.Parts}
	if own > 0 {
		s.Rank = 1
		for i, other := range b.scores {
			if other > own || other == own && i < doc {
				s.Rank++
			}
		}
	}
	return x.hits(top.Sorted(), semantic), s
}

// setWords sets the words of an explanation where the reranker chose the winner.
func (x *Index) setWords(e *Explanation, question string, q []float32) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	tool, ok := x.lexical.Doc(e.Tool.ID)
	winner, too := x.lexical.Doc(e.Winner.ID)
	if !ok || !too {
		return fmt.Errorf("explain tool %q: the catalog changed meanwhile: %w", e.Tool.ID, callvet.ErrConflict)
	}
	e.Words = x.words(question, x.groups(question), tool, winner, q != nil)
	return nil
}

func (x *Index) words(question string, groups []TermGroup, tool, winner int, mixed bool) []Word {
	share := 1.0
	if x.options.Formula == Mixed {
		share = x.lexicalShare(groups, mixed)
	}
	out := make([]Word, len(groups))
	asked, written := x.analyzer.Asked(question, x.spoken), asWritten(question)
	for i, p := range x.lexical.Explain(groups, tool) {
		out[i] = Word{Text: cmp.Or(written[asked[i]], asked[i]), Forms: groups[i], Tool: scaled(p, share)}
	}
	if winner >= 0 {
		for i, p := range x.lexical.Explain(groups, winner) {
			out[i].Winner = scaled(p, share)
		}
	}
	return out
}

func scaled(p BM25Part, by float64) BM25Part {
	p.Score *= by
	for i := range p.Fields {
		p.Fields[i].Score *= by
	}
	return p
}

// Reasons are sentences on why the tool is not returned or not first, the largest loss first; none
// when it is first.
func (e Explanation) Reasons() []string {
	var out []string
	if e.Withheld != "" {
		out = append(out, e.Withheld)
	}
	if e.Tool.Rank == 1 || e.Winner == nil {
		return out
	}
	if g := e.Gate; g != nil {
		out = append(out, fmt.Sprintf("the gate of agents holds %s back: it belongs to %s, and %s was chosen%s",
			e.Tool.ID, strings.Join(g.Agents, ", "), strings.Join(g.Chosen, ", "), g.without()))
	} else if e.Tool.Rank == 0 {
		out = append(out, fmt.Sprintf("%s was not ranked at all", e.Tool.ID))
	}
	if say := e.reranked(); say != "" {
		out = append(out, say)
	}
	var losses []loss
	if e.Formula == Additive {
		losses = e.points()
	} else {
		losses = e.words()
	}
	t, w := e.Tool.Parts, e.Winner.Parts
	losses = append(losses, loss{w.Semantic - t.Semantic, "its text is farther from the question as a vector"})
	if d := w.Namespace - t.Namespace; d > 0 {
		losses = append(losses, loss{d, "it is in no primary namespace"})
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(b.by, a.by) })
	for _, l := range losses {
		if l.by > 0 && !slices.Contains(out, l.say) {
			out = append(out, l.say)
		}
	}
	return out
}

// loss is one advantage of the winner with its value in score.
type loss struct {
	by  float64
	say string
}

// words are the losses by the words of the question.
func (e *Explanation) words() (out []loss) {
	for _, w := range e.Words {
		if w.Winner.Score <= w.Tool.Score {
			continue
		}
		say := fmt.Sprintf("it has no form of %q, which %s has in %s", w.Text, e.Winner.ID, fieldsOf(w.Winner))
		if w.Tool.Score > 0 {
			say = fmt.Sprintf("%q counts less in its %s than in the %s of %s", w.Text, fieldsOf(w.Tool),
				fieldsOf(w.Winner), e.Winner.ID)
		}
		if i := slices.IndexFunc(out, func(l loss) bool { return l.say == say }); i >= 0 { // a repeated word of the question
			out[i].by += w.Winner.Score - w.Tool.Score
			continue
		}
		out = append(out, loss{w.Winner.Score - w.Tool.Score, say})
	}
	return out
}

// points are the losses under Additive.
func (e *Explanation) points() []loss {
	t, w, id := e.Tool.Parts, e.Winner.Parts, e.Winner.ID
	more := func(what string, winner, tool float64) string {
		if tool > 0 {
			return fmt.Sprintf("%s gets %.4g points for %s, and it gets %.4g", id, winner, what, tool)
		}
		return fmt.Sprintf("%s gets %.4g points for %s, and it gets none", id, winner, what)
	}
	keywords := "keywords within the question"
	if len(w.Matched) > 0 {
		keywords += " (" + strings.Join(w.Matched, ", ") + ")"
	}
	return []loss{
		{w.Name - t.Name, more("a name within the question", w.Name, t.Name)},
		{w.Keywords - t.Keywords, more(keywords, w.Keywords, t.Keywords)},
		{
			w.Description - t.Description,
			more("words of the question within a description", w.Description, t.Description),
		},
		{w.Examples - t.Examples, more("an example within the question", w.Examples, t.Examples)},
	}
}

// without is the tool's standing without the gate.
func (g *Held) without() string {
	if g.Rank == 0 {
		return "; without the gate it would not be ranked either"
	}
	return fmt.Sprintf("; without the gate it would have rank %d", g.Rank)
}

// reranked is a sentence on the reranker's effect; empty without one.
func (e Explanation) reranked() string {
	w, t := e.Winner.Parts.Reranked, e.Tool.Parts.Reranked
	switch {
	case w == nil:
		return ""
	case t == nil:
		return fmt.Sprintf("it is not among the tools that the reranker saw; %s was number %d of them",
			e.Winner.ID, w.Rank)
	case t.Rank < w.Rank:
		return fmt.Sprintf("the reranker put %s, number %d before, above it, number %d", e.Winner.ID, w.Rank, t.Rank)
	}
	return fmt.Sprintf("the reranker left it below %s, as it was", e.Winner.ID)
}

func fieldsOf(p BM25Part) string {
	names := make([]string, len(p.Fields))
	for i, f := range p.Fields {
		names[i] = f.Field
	}
	return strings.Join(names, ", ")
}
