// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import "sort"

// BM25Part is the contribution of one word of a question to the score of one document.
type BM25Part struct {
	// Group is the number of the word in the question. Term is the counted form, "" when the
	// document has none; Weight is the form's own weight.
	Group  int
	Term   string
	Weight float64
	// IDF is how rare the form is; Score = Weight · IDF · tf/(tf+k1), where tf sums
	// the fields' weighted counts.
	IDF, Score float64
	// Fields are the fields with the form. Their Scores sum to Score.
	Fields []BM25FieldPart
}

// BM25FieldPart is how often a form occurs in one field and its part of the score.
type BM25FieldPart struct {
	Field string
	Count int
	Score float64
}

// Explain splits the score of a document into one part for each group of the question, in order.
// The sum of the Scores is the score of Search, up to rounding.
func (x *BM25Index) Explain(q []TermGroup, doc int) []BM25Part {
	out := make([]BM25Part, len(q))
	for i, g := range q {
		out[i].Group = i
		for _, t := range g {
			if p, ok := x.part(t, doc); ok && p.Score > out[i].Score {
				p.Group = i
				out[i] = p
			}
		}
	}
	return out
}

// part is the contribution of one form to a document.
func (x *BM25Index) part(t Term, doc int) (BM25Part, bool) {
	i, ok := x.terms[t.Text]
	if !ok || t.Weight <= 0 {
		return BM25Part{}, false
	}
	l := &x.lists[i]
	k := sort.Search(len(l.docs), func(k int) bool { return int(l.docs[k]) >= doc })
	if k == len(l.docs) || int(l.docs[k]) != doc {
		return BM25Part{}, false
	}
	p := BM25Part{Term: t.Text, Weight: t.Weight, IDF: l.idf, Score: t.Weight * l.gain[k]}
	from := sort.Search(len(l.raw), func(k int) bool { return int(l.raw[k].doc) >= doc })
	total := 0.0
	for _, o := range l.raw[from:] {
		if int(o.doc) != doc {
			break
		}
		w := float64(o.count) * x.norm(doc, int(o.field))
		total += w
		p.Fields = append(p.Fields, BM25FieldPart{Field: x.options.Fields[o.field].Name, Count: int(o.count), Score: w})
	}
	for f := range p.Fields {
		if total > 0 {
			p.Fields[f].Score *= p.Score / total
		}
	}
	return p, true
}
