// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"math"
	"slices"
)

// Top keeps the k best of the documents it is offered, in a heap. Its root is the worst of them.
type Top struct {
	k    int
	heap []BM25Hit
	// floor is the score below which no document can enter.
	floor float64
}

// NewTop keeps up to k documents; none for k < 1.
func NewTop(k int) *Top {
	t := &Top{k: k, heap: make([]BM25Hit, 0, min(max(k, 0), 1024)), floor: math.SmallestNonzeroFloat64}
	if k < 1 {
		t.floor = math.Inf(1)
	}
	return t
}

// Offer keeps a document if its score is above 0 and among the best so far. Of equal scores the
// lower number is better, in any order of offers.
func (t *Top) Offer(doc int, score float64) {
	if score >= t.floor {
		t.enter(BM25Hit{Doc: doc, Score: score})
	}
}

func (t *Top) enter(h BM25Hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		t.up(len(t.heap) - 1)
	} else if t.k > 0 && compare(h, t.heap[0]) < 0 {
		t.heap[0] = h
		t.down()
	}
	if len(t.heap) == t.k && t.k > 0 {
		t.floor = t.heap[0].Score
	}
}

// Sorted returns the kept documents, best first. The Top must not be used afterwards.
func (t *Top) Sorted() []BM25Hit {
	slices.SortFunc(t.heap, compare)
	return t.heap
}

// compare is negative when a is better.
func compare(a, b BM25Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.Doc, b.Doc)
}

func (t *Top) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if compare(t.heap[i], t.heap[p]) <= 0 {
			return
		}
		t.heap[i], t.heap[p] = t.heap[p], t.heap[i]
		i = p
	}
}

func (t *Top) down() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.heap) {
			return
		}
		if c+1 < len(t.heap) && compare(t.heap[c+1], t.heap[c]) > 0 {
			c++
		}
		if compare(t.heap[c], t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
}
