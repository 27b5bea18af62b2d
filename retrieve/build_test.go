// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// TestOfflineIsAnEmbedder: the vectors that New makes of words cut once are, to the last
// bit, those that the same embedder gives for the texts.
func TestOfflineIsAnEmbedder(t *testing.T) {
	t.Parallel()
	es, questions := retrieveCatalog(300)
	es = append(es, entries()...)
	es[7].Title, es[9].Title = "Something else", "of the"
	es[8].Tool.Name, es[8].Tool.Description = "the_and", "of it" // nothing but function words
	texts := make([]string, len(es))
	for i := range es {
		texts[i] = es[i].EmbeddingText()
	}
	apart := retrieve.Default()
	apart.Embedder = retrieve.FitNGram(retrieve.NGramWidth, retrieve.NewAnalyzer().Content, texts)
	x, y := newIndex(t, retrieve.Default(), es), newIndex(t, apart, es)
	for _, q := range append(questions, "störningar på vägar", "the and", "something") {
		if d := cmp.Diff(describe(search(t, y, q, 40)), describe(search(t, x, q, 40))); d != "" {
			t.Fatalf("%s: %s", q, d)
		}
	}
}

// TestFitsOnTheFirst: an index that begins empty fits its vectors on the first entries
// that it gets, and keeps that fit.
func TestFitsOnTheFirst(t *testing.T) {
	t.Parallel()
	es := entries()
	whole, x := newIndex(t, retrieve.Default(), es), newIndex(t, retrieve.Default(), nil)
	if r := search(t, x, "störningar på vägar", 3); len(r.Hits) > 0 {
		t.Errorf("nothing holds %v", r)
	}
	if _, err := x.Sync(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"störningar på vägar", "stock price", "vaderprognosen"} {
		r := search(t, x, q, 9)
		if d := cmp.Diff(describe(search(t, whole, q, 9)), describe(r)); d != "" {
			t.Errorf("%s: %s", q, d)
		}
		if len(r.Hits) == 0 || r.Hits[0].Parts.Semantic == 0 {
			t.Errorf("%s: no vectors: %+v", q, r)
		}
	}
}

// TestExplainAgrees: the rank and score of a hit are those that Explain counts among
// all.
func TestExplainAgrees(t *testing.T) {
	t.Parallel()
	es, questions := retrieveCatalog(400)
	for _, weight := range []float64{0.1, 0.5, 1} {
		o := retrieve.Default()
		o.VectorWeight = weight
		x := newIndex(t, o, es)
		for _, q := range questions[:40] {
			for i, h := range search(t, x, q, 5).Hits {
				e, err := x.Explain(t.Context(), q, h.ID)
				if err != nil || e.Tool.Rank != i+1 || e.Tool.Score != h.Score ||
					e.Tool.Parts.Semantic != h.Parts.Semantic {
					t.Fatalf("weight %v, %q: %+v is number %d, explained as %+v: %v", weight, q, h, i+1, e.Tool, err)
				}
			}
		}
	}
}

// counting embeds by NGram and counts the texts.
type counting struct {
	*retrieve.NGram
	mu    sync.Mutex
	texts []string
}

func (c *counting) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	c.texts = append(c.texts, texts...)
	c.mu.Unlock()
	return c.NGram.Embed(ctx, texts)
}

func (c *counting) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts := c.texts
	c.texts = nil
	return texts
}

func TestSyncEmbedsWhatChanged(t *testing.T) {
	t.Parallel()
	c := &counting{NGram: retrieve.NewNGram(64, strings.Fields)}
	o := retrieve.Default()
	o.Embedder = c
	x := newIndex(t, o, entries())
	if n := len(c.take()); n != 5 {
		t.Fatalf("%d texts were embedded, want 5", n)
	}
	next := entries()
	for _, step := range []struct {
		name string
		do   func()
		want retrieve.Change
		ask  int
	}{
		{"nothing", func() {}, retrieve.Change{}, 0},
		{"a description", func() { next[1].Tool.Description += " Nytt." }, retrieve.Change{Changed: 1}, 1},
		{
			"parameters, which have no part in the vector",
			func() { next[2].Tool.Parameters = []byte(`{"type":"object"}`) },
			retrieve.Change{Changed: 1},
			0,
		},
		{"a tool more and one less", func() {
			next = append(next[1:], retrieve.Entry{Tool: callvet.Tool{Name: "new", Description: "Something new."}})
		}, retrieve.Change{Added: 1, Removed: 1}, 1},
	} {
		step.do()
		got, err := x.Sync(t.Context(), next)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("%s: %s", step.name, d)
		}
		if asked := c.take(); len(asked) != step.ask {
			t.Errorf("%s: embedded %q, want %d texts", step.name, asked, step.ask)
		}
		y := newIndex(t, o, next)
		c.take()
		for _, q := range []string{"trafik på E4", "väder nytt", "something new", "organisationsnummer"} {
			a, b := search(t, y, q, 9), search(t, x, q, 9)
			if d := cmp.Diff(describe(a), describe(b)); d != "" {
				t.Errorf("%s, %q: %s", step.name, q, d)
			}
		}
		c.take()
	}
	if _, err := x.Sync(t.Context(), append(next, next[0])); !errors.Is(err, callvet.ErrConflict) || x.Len() != 5 {
		t.Errorf("two of a name: %v", err)
	}
}

// likes is a reranker that likes texts with a word, and keeps what it was asked.
type likes struct {
	word  string
	asked []string
	err   error
	wrong []float64
}

func (l *likes) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	l.asked = texts
	if l.err != nil || l.wrong != nil {
		return l.wrong, l.err
	}
	out := make([]float64, len(texts))
	for i, s := range texts {
		if strings.Contains(s, l.word) {
			out[i] = 0.9
		}
	}
	return out, nil
}

func TestRerank(t *testing.T) {
	t.Parallel()
	const q = "väder och trafikstörningar på vägarna"
	l := &likes{word: "smhi"}
	o := retrieve.Default()
	before := names(search(t, newIndex(t, o, entries()), q, 5))
	o.Reranker, o.RerankTop = l, 3
	x := newIndex(t, o, entries())
	r := search(t, x, q, 2)
	if len(l.asked) != min(3, len(before)) || before[1] != "smhi_vader" {
		t.Fatalf("the reranker saw %q of %q", l.asked, before)
	}
	if d := cmp.Diff([]string{before[1], before[0]}, names(r)); d != "" {
		t.Fatal(d)
	}
	if p := r.Hits[0].Parts.Reranked; p == nil || p.Score != 0.9 || r.Hits[0].Score != 0.9 || p.Rank != 2 ||
		p.Before <= 0 {
		t.Errorf("the first hit is %+v", r.Hits[0])
	}
	e, err := x.Explain(t.Context(), q, before[0])
	if err != nil || e.Winner.ID != "smhi_vader" || e.Tool.Rank != 2 ||
		!strings.Contains(strings.Join(e.Reasons(), "\n"),
			"the reranker put smhi_vader, number 2 before, above it, number 1") {
		t.Errorf("explained as %+v: %q, %v", e, e.Reasons(), err)
	}
	sums := 0.0
	for _, w := range e.Words {
		sums += w.Winner.Score
	}
	if math.Abs(sums-e.Winner.Parts.Lexical) > 1e-9 {
		t.Errorf("the words of the winner add up to %v, want %v", sums, e.Winner.Parts.Lexical)
	}
	search(t, x, q, 5) // asks for more than RerankTop
	if len(l.asked) != len(before) {
		t.Errorf("of %d hits the reranker saw %d", len(before), len(l.asked))
	}
	for _, wrong := range [][]float64{{1}, {math.NaN(), 0, 0}} {
		l.wrong = wrong
		if _, err := x.Search(t.Context(), q, 2); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("scores %v: %v", wrong, err)
		}
	}
	l.wrong, l.err = nil, callvet.ErrUnavailable
	if _, err := x.Search(t.Context(), q, 2); !errors.Is(err, callvet.ErrUnavailable) {
		t.Errorf("a reranker that fails gives %v", err)
	}
	if _, err := x.Search(t.Context(), "", 2); err != nil {
		t.Errorf("no question, nothing to rerank: %v", err)
	}
	o.RerankTop = -1
	if _, err := retrieve.New(t.Context(), o, nil); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("rerank the best -1: %v", err)
	}
}

// slow embeds when it is let.
type slow struct {
	*retrieve.NGram
	started, let chan struct{}
}

func (s *slow) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, "getStockPrice") }) {
		close(s.started)
		<-s.let
	}
	return s.NGram.Embed(ctx, texts)
}

// TestSearchDuringASlowUpdate: questions do not wait for the vectors of an update.
func TestSearchDuringASlowUpdate(t *testing.T) {
	t.Parallel()
	o := retrieve.Default()
	s := &slow{NGram: retrieve.NewNGram(64, strings.Fields), started: make(chan struct{}), let: make(chan struct{})}
	o.Embedder = s
	x := newIndex(t, o, entries()[:4])
	done := make(chan error, 1)
	go func() { done <- x.Update(context.Background(), entries()[4:], nil) }()
	<-s.started
	if got := names(search(t, x, "väder", 1)); fmt.Sprint(got) != "[smhi_vader]" || x.Len() != 4 {
		t.Errorf("during the update: %v of %d", got, x.Len())
	}
	close(s.let)
	if err := <-done; err != nil || x.Len() != 5 {
		t.Errorf("then %v, %d entries", err, x.Len())
	}
}
