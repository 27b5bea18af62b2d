// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

// Term is one form of a word of a question.
type Term struct {
	Text string
	// Weight in (0,1] is how much this form counts; 1 for the word itself.
	Weight float64
}

// TermGroup is one word of a question in all its forms. Of the forms in a document only the one
// with the highest score counts, once.
type TermGroup []Term

// BM25Hit is a document found.
type BM25Hit struct {
	Doc   int
	Score float64
}

// WordGroups makes one group of one form from each word. A repeated word counts each time.
func WordGroups(words []string) []TermGroup {
	out := make([]TermGroup, len(words))
	for i, w := range words {
		out[i] = TermGroup{{Text: w, Weight: 1}}
	}
	return out
}

// work is the reusable memory of a search; between searches all scores are 0.
type work struct {
	scores []float64
	best   []float64 // of one group
	seen   []uint32  // by one group
	// sparse: touched lists the documents with a score. Otherwise all documents are scanned, which
	// is faster when many have a score.
	sparse  bool
	touched []uint32
}

// denseFrom is the share of the documents from which no list of them is kept.
const denseFrom = 0.1

func (x *BM25Index) take(q []TermGroup) *work {
	w, ok := x.scratch.Get().(*work)
	if !ok || len(w.scores) != len(x.ids) {
		w = &work{scores: make([]float64, len(x.ids)), best: make([]float64, len(x.ids))}
	}
	entries := 0
	for _, g := range q {
		for _, t := range g {
			if i, ok := x.terms[t.Text]; ok {
				entries += len(x.lists[i].docs)
			}
		}
	}
	w.sparse = float64(entries) < denseFrom*float64(len(x.ids))
	return w
}

func (x *BM25Index) give(w *work) {
	if w.sparse {
		for _, d := range w.touched {
			w.scores[d] = 0
		}
		w.touched = w.touched[:0]
	} else {
		clear(w.scores)
	}
	x.scratch.Put(w)
}

// Search returns the k documents with the highest scores above 0, best first; of equal ones those
// added earlier come first. The score is the sum over the groups.
func (x *BM25Index) Search(q []TermGroup, k int) []BM25Hit {
	w := x.take(q)
	defer x.give(w)
	x.score(q, w)
	t := NewTop(k)
	if w.sparse {
		for _, d := range w.touched {
			t.Offer(int(d), w.scores[d])
		}
		return t.Sorted()
	}
	floor := t.floor
	for d, s := range w.scores {
		if s >= floor {
			t.enter(BM25Hit{Doc: d, Score: s})
			floor = t.floor
		}
	}
	return t.Sorted()
}

// Visit calls yield with every document that has a term of the question and its
// score, in no particular order.
func (x *BM25Index) Visit(q []TermGroup, yield func(doc int, score float64)) {
	w := x.take(q)
	defer x.give(w)
	x.score(q, w)
	if w.sparse {
		for _, d := range w.touched {
			yield(int(d), w.scores[d])
		}
		return
	}
	for d, s := range w.scores {
		if s > 0 {
			yield(d, s)
		}
	}
}

// Scores writes the score of every document into out, which has Len numbers; 0 for
// those without a term of the question.
func (x *BM25Index) Scores(q []TermGroup, out []float64) {
	w := x.take(q)
	defer x.give(w)
	x.score(q, w)
	copy(out, w.scores)
}

func (x *BM25Index) score(q []TermGroup, w *work) {
	for _, g := range q {
		switch {
		case len(g) == 1:
			x.addTerm(g[0], w)
		case len(g) > 1:
			x.addGroup(g, w)
		}
	}
}

func (x *BM25Index) addTerm(t Term, w *work) {
	i, ok := x.terms[t.Text]
	if !ok || t.Weight <= 0 {
		return
	}
	l := &x.lists[i]
	gain, scores := l.gain[:len(l.docs)], w.scores
	if !w.sparse {
		for k, d := range l.docs {
			scores[d] += t.Weight * gain[k]
		}
		return
	}
	for k, d := range l.docs {
		if scores[d] == 0 && gain[k] > 0 {
			w.touched = append(w.touched, d)
		}
		scores[d] += t.Weight * gain[k]
	}
}

// addGroup adds, for each document, the form with the highest score.
func (x *BM25Index) addGroup(g TermGroup, w *work) {
	for _, t := range g {
		i, ok := x.terms[t.Text]
		if !ok || t.Weight <= 0 {
			continue
		}
		l := &x.lists[i]
		gain, best := l.gain[:len(l.docs)], w.best
		for k, d := range l.docs {
			if best[d] == 0 {
				w.seen = append(w.seen, d)
			}
			best[d] = max(best[d], t.Weight*gain[k])
		}
	}
	for _, d := range w.seen {
		if w.sparse && w.scores[d] == 0 && w.best[d] > 0 { // one that adds nothing is not there yet
			w.touched = append(w.touched, d)
		}
		w.scores[d] += w.best[d]
		w.best[d] = 0
	}
	w.seen = w.seen[:0]
}

// Ceiling is an upper bound of a document's score for the group: the highest weight times inverse
// document frequency of its forms. A word in no document counts like a word in one document.
func (x *BM25Index) Ceiling(g TermGroup) float64 {
	if len(g) == 0 {
		return idf(len(x.ids), 0)
	}
	best := 0.0
	for _, t := range g {
		if i, ok := x.terms[t.Text]; ok {
			best = max(best, t.Weight*x.lists[i].idf)
		}
	}
	return best
}
