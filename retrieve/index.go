// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/callvet/callvet"
)

// Index is a searchable catalog. Any number of goroutines may search and update it. While an update
// makes its vectors, searches use the previous state.
type Index struct {
	updating sync.Mutex // one update after the other; taken before mu
	// mu guards the fields below. An update, the only writer, reads without it.
	mu        sync.RWMutex
	lexical   *BM25Index
	vectors   VectorMatrix
	sketch    *VectorSketch // of vectors, where they are many; nil otherwise
	entries   []Entry
	languages []Language // of each entry
	spoken    []Language // of the catalog, English first
	additive  []additiveEntry
	offline   *NGram // the embedder, where the first entries made it

	options  Options
	analyzer *Analyzer
	buffers  sync.Pool // of *buffer
}

// buffer is the reusable memory of a search: a number for each entry.
type buffer struct {
	cosines []float32
	scores  []float64
}

func (x *Index) buffer() *buffer {
	b, ok := x.buffers.Get().(*buffer)
	if !ok || len(b.scores) != len(x.entries) {
		b = &buffer{cosines: make([]float32, len(x.entries)), scores: make([]float64, len(x.entries))}
	}
	return b
}

// New makes an index of entries. Errors: invalid options, two entries of one name, an embedder that
// fails.
func New(ctx context.Context, o Options, entries []Entry) (*Index, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	k1 := o.K1
	if o.Formula == Additive { // the words are kept for explanations only
		k1 = 1
	}
	lexical, err := NewBM25(BM25Options{K1: k1, Fields: o.fields()})
	if err != nil {
		return nil, err
	}
	x := &Index{options: o, analyzer: NewAnalyzer(), lexical: lexical, spoken: []Language{English}}
	if err := x.Update(ctx, entries, nil); err != nil {
		return nil, err
	}
	return x, nil
}

// Len is the number of entries.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.entries)
}

// Update removes entries by name and adds others at the end; all or nothing. To change an entry,
// remove and add it in one call: its vector is recomputed only if its EmbeddingText changed. After
// an update the index equals a new index of its entries.
func (x *Index) Update(ctx context.Context, add []Entry, remove []string) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	return x.update(ctx, add, remove)
}

func (x *Index) update(ctx context.Context, add []Entry, remove []string) error {
	p, err := x.prepare(ctx, add, remove)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.lexical.Update(p.documents, remove); err != nil {
		return err
	}
	x.keep(remove)
	x.offline = p.offline
	x.entries = append(x.entries, add...)
	x.languages = append(x.languages, p.languages...)
	if x.options.Formula == Additive {
		for i := range add {
			x.additive = append(x.additive, newAdditive(&add[i]))
		}
	}
	if err := x.vectors.Join(p.vectors); err != nil {
		return err // prepare has checked them
	}
	x.listLanguages()
	x.sketch = nil
	if x.options.Formula == Mixed && x.vectors.Len() >= sketchFrom {
		x.sketch = NewVectorSketch(&x.vectors)
	}
	return nil
}

// sketchFrom is the number of vectors that no longer fit into the cache of a core, so that reading
// a sketch first is faster.
const sketchFrom = 1 << 15

// Change is how many entries an update added, changed and removed.
type Change struct{ Added, Changed, Removed int }

// Sync makes the index contain exactly these entries. Only new or changed entries cost work. Of
// equal scores those added or changed last come last. Errors are those of Update.
func (x *Index) Sync(ctx context.Context, entries []Entry) (Change, error) {
	x.updating.Lock()
	defer x.updating.Unlock()
	var c Change
	var add []Entry
	var remove []string
	stays := make(map[string]bool, len(entries))
	for i := range entries {
		id := entries[i].id()
		if stays[id] {
			return Change{}, fmt.Errorf("add document %q: there is one of that name: %w", id, callvet.ErrConflict)
		}
		stays[id] = true
		old, ok := x.lexical.Doc(id)
		switch {
		case !ok:
			c.Added++
		case reflect.DeepEqual(x.entries[old], entries[i]):
			continue
		default:
			c.Changed++
			remove = append(remove, id)
		}
		add = append(add, entries[i])
	}
	for i := range x.entries {
		if id := x.entries[i].id(); !stays[id] {
			c.Removed++
			remove = append(remove, id)
		}
	}
	if len(add)+len(remove) == 0 {
		return c, nil
	}
	if err := x.update(ctx, add, remove); err != nil {
		return Change{}, err
	}
	return c, nil
}

// keep drops the data of removed entries.
func (x *Index) keep(remove []string) {
	if len(remove) == 0 {
		return
	}
	gone := make(map[string]bool, len(remove))
	for _, id := range remove {
		gone[id] = true
	}
	stays := make([]bool, len(x.entries))
	n := 0
	for i := range x.entries {
		if stays[i] = !gone[x.entries[i].id()]; !stays[i] {
			continue
		}
		x.entries[n], x.languages[n] = x.entries[i], x.languages[i]
		if x.additive != nil {
			x.additive[n] = x.additive[i]
		}
		n++
	}
	x.entries, x.languages = x.entries[:n], x.languages[:n]
	if x.additive != nil {
		x.additive = x.additive[:n]
	}
	x.vectors.Keep(func(row int) bool { return stays[row] })
}

func (x *Index) listLanguages() {
	has := map[Language]bool{}
	for _, l := range x.languages {
		has[l] = true
	}
	x.spoken = []Language{English}
	for _, l := range Languages()[1:] {
		if has[l] {
			x.spoken = append(x.spoken, l)
		}
	}
}
