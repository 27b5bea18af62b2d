// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/bm25"
	"github.com/callvet/callvet/retrieve/text"
	"github.com/callvet/callvet/retrieve/vector"
)

// Index is a catalog made ready for questions. Any number of goroutines may search
// and update it.
type Index struct {
	mu        sync.RWMutex
	options   Options
	analyzer  *text.Analyzer
	lexical   *bm25.Index
	vectors   vector.Matrix
	entries   []Entry
	languages []text.Language // of each entry
	spoken    []text.Language // of the catalog, English first
	additive  []additiveEntry
	buffers   sync.Pool // of *buffer
}

// buffer is what one search needs and the next can use again: a number for each entry.
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

// New makes an index of entries. Errors: options that make no sense, two entries of
// one name, an embedder that fails.
func New(ctx context.Context, o Options, entries []Entry) (*Index, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	k1 := o.K1
	if o.Formula == Additive { // the words are kept for explanations only
		k1 = 1
	}
	lexical, err := bm25.New(bm25.Options{K1: k1, Fields: o.fields()})
	if err != nil {
		return nil, err
	}
	x := &Index{options: o, analyzer: text.NewAnalyzer(), lexical: lexical, spoken: []text.Language{text.English}}
	if o.Embedder == nil && o.Offline > 0 && len(entries) > 0 {
		x.options.Embedder = vector.FitNGram(o.Offline, x.analyzer.Content, sample(entries))
	}
	if err := x.Update(ctx, entries, nil); err != nil {
		return nil, err
	}
	return x, nil
}

// fitOn is the most texts on which vectors are fitted: how rare words are shows in
// that many.
const fitOn = 10_000

// sample gives the texts of entries, evenly spread where there are many.
func sample(entries []Entry) []string {
	texts := make([]string, min(len(entries), fitOn))
	for i := range texts {
		texts[i] = entries[i*len(entries)/len(texts)].EmbeddingText()
	}
	return texts
}

// Len is the number of entries.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.entries)
}

// Update takes entries out by their names and adds others at the end; all or
// nothing. To change an entry, remove and add it in one call. An index after an
// update equals one built of what it then holds.
func (x *Index) Update(ctx context.Context, add []Entry, remove []string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var vectors [][]float32
	var failed error
	done := make(chan struct{})
	go func() { // an embedder may take long, and a second core is seldom busy
		defer close(done)
		vectors, failed = x.embedEntries(ctx, add)
	}()
	documents := make([]bm25.Document, len(add))
	languages := make([]text.Language, len(add))
	for i := range add {
		documents[i], languages[i] = x.document(&add[i])
	}
	if len(x.entries) > 0 { // nothing changes until all vectors are there
		<-done
	}
	if len(x.entries) > 0 && failed != nil {
		return fmt.Errorf("embed tools: %w", failed)
	}
	err := x.lexical.Update(documents, remove)
	<-done
	switch {
	case err != nil:
		return err
	case failed != nil: // the index was empty, and is again
		x.lexical, err = bm25.New(x.lexical.Options())
		return errors.Join(fmt.Errorf("embed tools: %w", failed), err)
	}
	x.keep(remove)
	for i := range add {
		x.entries = append(x.entries, add[i])
		x.languages = append(x.languages, languages[i])
		if x.options.Formula == Additive {
			x.additive = append(x.additive, newAdditive(&add[i]))
		}
	}
	if len(vectors) > 0 {
		x.vectors.Grow(len(vectors), len(vectors[0]))
	}
	for _, v := range vectors {
		if err := x.vectors.Append(v); err != nil {
			return err // embedEntries has checked them
		}
	}
	x.listLanguages()
	return nil
}

func (x *Index) document(e *Entry) (bm25.Document, text.Language) {
	texts := e.texts()
	var words [numFields][]string
	var all []string
	for f, s := range texts {
		words[f] = text.Words(s)
		if f != fieldName && f != fieldParameters {
			all = append(all, words[f]...)
		}
	}
	l, _ := x.analyzer.Detect(all)
	d := bm25.Document{ID: e.id(), Fields: make([][]string, numFields)}
	for f := range words {
		if n := len(words[f]); n > 0 {
			d.Fields[f] = x.analyzer.Document(make([]string, 0, n), l, words[f])
		}
	}
	return d, l
}

// keep drops what belongs to removed entries.
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
	has := map[text.Language]bool{}
	for _, l := range x.languages {
		has[l] = true
	}
	x.spoken = []text.Language{text.English}
	for _, l := range text.Languages()[1:] {
		if has[l] {
			x.spoken = append(x.spoken, l)
		}
	}
}

// embedEntries gives the vectors of entries, from the cache where it has them.
func (x *Index) embedEntries(ctx context.Context, add []Entry) ([][]float32, error) {
	e := x.options.Embedder
	if e == nil || len(add) == 0 {
		return nil, nil
	}
	texts := make([]string, len(add))
	for i := range add {
		texts[i] = add[i].EmbeddingText()
	}
	out := make([][]float32, len(texts))
	var missing []int
	var ask []string
	for i, t := range texts {
		if x.options.Cache != nil {
			if v, ok := x.options.Cache.Get(vector.KeyOf(e.Model(), t)); ok {
				out[i] = v
				continue
			}
		}
		missing, ask = append(missing, i), append(ask, t)
	}
	if len(ask) > 0 {
		made, err := e.Embed(ctx, ask)
		if err != nil {
			return nil, err
		}
		if len(made) != len(ask) {
			return nil, fmt.Errorf("%d vectors for %d texts: %w", len(made), len(ask), callvet.ErrInvalid)
		}
		for k, i := range missing {
			out[i] = made[k]
			if x.options.Cache != nil {
				x.options.Cache.Put(vector.KeyOf(e.Model(), texts[i]), made[k])
			}
		}
	}
	width := x.vectors.Width()
	for _, v := range out {
		if width == 0 {
			width = len(v)
		}
		if err := vector.Check(v, width); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EmbeddingText is the text of which the entry's vector is made: name, description,
// keywords and examples.
func (e *Entry) EmbeddingText() string {
	var b strings.Builder
	b.WriteString(e.Tool.Name + "\n" + e.Tool.Description)
	if len(e.Keywords) > 0 {
		b.WriteString("\nKeywords: " + strings.Join(e.Keywords, ", "))
	}
	if len(e.Examples) > 0 {
		b.WriteString("\nExamples: " + strings.Join(e.Examples, "; "))
	}
	return b.String()
}
