// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// prepared has the additions of an update, made before the index changes.
type prepared struct {
	documents []BM25Document
	languages []Language
	vectors   VectorMatrix
	offline   *NGram
}

// parts splits the numbers from 0 to n into ranges, one a core, and waits until work has done all.
func parts(n int, work func(from, to int)) {
	const least = 64 // entries that are worth a goroutine
	workers := min(runtime.GOMAXPROCS(0), 1+n/least)
	var g sys.Group
	for w := range workers {
		g.Go(func() { work(w*n/workers, (w+1)*n/workers) })
	}
	g.Wait()
}

// fitOn is the largest number of texts for fitting vectors: enough to estimate how rare words are.
const fitOn = 10_000

// FitOffline makes the same embedder as an index with Options.Offline makes from its first entries.
func FitOffline(width int, entries []Entry) *NGram {
	return fitOffline(width, entries, NewAnalyzer())
}

// fitOffline fits on the texts of entries, evenly spread where there are many.
func fitOffline(width int, entries []Entry, a *Analyzer) *NGram {
	words := make([][]string, min(len(entries), fitOn))
	parts(len(words), func(from, to int) {
		for i := from; i < to; i++ {
			words[i] = a.Content(entries[i*len(entries)/len(words)].EmbeddingText())
		}
	})
	return FitNGramWords(width, a.Content, words)
}

func (x *Index) prepare(ctx context.Context, add []Entry, remove []string) (prepared, error) {
	p := prepared{documents: make([]BM25Document, len(add)), languages: make([]Language, len(add))}
	p.offline = x.offline
	if o := x.options; p.offline == nil && o.Embedder == nil && o.Offline > 0 && len(add) > 0 {
		p.offline = fitOffline(o.Offline, add, x.analyzer)
	}
	own := p.offline != nil
	if own {
		if _, err := p.vectors.Extend(len(add), p.offline.Width()); err != nil {
			return p, err
		}
	}
	var failed error
	var g sys.Group
	g.Go(func() { // an embedder may take long, and a second core is seldom busy
		if !own {
			failed = x.embedEntries(ctx, add, remove, &p.vectors)
		}
	})
	parts(len(add), func(from, to int) {
		w := builder{analyzer: x.analyzer.Fork()}
		if own {
			w.batch = p.offline.Batch()
		}
		for i := from; i < to && (i%256 != 0 || ctx.Err() == nil); i++ {
			var v []float32
			if own {
				v = p.vectors.Row(i)
			}
			p.documents[i], p.languages[i] = w.document(&add[i], v)
		}
	})
	g.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		return p, fmt.Errorf("embed tools: %w", failed)
	}
	return p, nil
}

// builder makes documents in one goroutine, with reused buffers.
type builder struct {
	analyzer *Analyzer
	batch    *VectorBatch
	cut      []string
	words    []TextWord
	all      []TextWord
	kept     []TextWord
	texts    []string
	numbers  []int
}

// look cuts a text into words, which are appended to those of the builder.
func (b *builder) look(s string) {
	b.cut = AppendWords(b.cut[:0], s)
	b.words = b.analyzer.Look(b.words, b.cut)
}

// document returns the terms of an entry, and writes its vector into v unless that is nil. Both use
// the words of its name and description.
func (b *builder) document(e *Entry, v []float32) (BM25Document, Language) {
	texts := e.texts()
	var ends [numFields]int
	b.words, b.all = b.words[:0], b.all[:0]
	for f, s := range texts {
		from := len(b.words)
		b.look(s)
		ends[f] = len(b.words)
		if f != fieldName && f != fieldParameters {
			b.all = append(b.all, b.words[from:]...)
		}
	}
	l, _ := b.analyzer.DetectOf(b.all)
	d := BM25Document{ID: e.id(), Fields: make([][]string, numFields)}
	room := make([]string, 0, len(b.words))
	from := 0
	for f, end := range ends {
		n := len(room)
		room = b.analyzer.Document(room, l, b.words[from:end])
		d.Fields[f] = room[n:len(room):len(room)]
		from = end
	}
	if v != nil {
		b.embed(e, v, b.words[:ends[fieldName]], b.words[ends[fieldName]:ends[fieldDescription]])
	}
	return d, l
}

// embed makes the vector of an entry's EmbeddingText. Its words are those of the names and the
// description and some more.
func (b *builder) embed(e *Entry, v []float32, names, description []TextWord) {
	if e.Title != "" {
		names = nil
	}
	all := append(append(b.all[:0], names...), description...)
	b.words = b.words[:0] // names and description are copied
	if e.Title != "" {
		b.look(e.Tool.Name)
		all = slices.Insert(all, 0, b.words...)
		b.words = b.words[:0]
	}
	b.look(e.hints())
	b.all = append(all, b.words...)
	b.kept = b.analyzer.ContentOf(b.kept[:0], b.all)
	b.texts, b.numbers = b.texts[:0], b.numbers[:0]
	for _, w := range b.kept {
		b.texts, b.numbers = append(b.texts, w.Text), append(b.numbers, w.Number)
	}
	b.batch.Embed(v, b.texts, b.numbers)
	NormalizeVector(v) // as of any embedder: the second time can change the last bit
}

// embedAtOnce is the size of a batch for an embedder: batches before a failure are in the cache.
const embedAtOnce = 1024

// embedEntries adds the vectors of entries to m: from the index where the text is the same, else
// from the cache, else from the embedder.
func (x *Index) embedEntries(ctx context.Context, add []Entry, remove []string, m *VectorMatrix) error {
	e := x.options.Embedder
	if e == nil || len(add) == 0 {
		return nil
	}
	held := x.held(add, remove)
	made := make([][]float32, len(add))
	var missing []int
	var ask []string
	for i := range add {
		if held[i] >= 0 {
			continue
		}
		t := add[i].EmbeddingText()
		if x.options.Cache != nil {
			if v, ok := x.options.Cache.Get(VectorKeyOf(e.Model(), t)); ok {
				made[i] = v
				continue
			}
		}
		missing, ask = append(missing, i), append(ask, t)
	}
	for len(ask) > 0 {
		n := min(len(ask), embedAtOnce)
		vs, err := e.Embed(ctx, ask[:n])
		if err != nil {
			return err
		}
		if len(vs) != n {
			return fmt.Errorf("%s gave %d vectors for %d texts: %w", e.Model(), len(vs), n, callvet.ErrInvalid)
		}
		for k, v := range vs {
			if err := CheckVector(v, len(vs[0])); err != nil {
				return fmt.Errorf("%s: %w", e.Model(), err)
			}
			made[missing[k]] = v
			if x.options.Cache != nil {
				x.options.Cache.Put(ctx, VectorKeyOf(e.Model(), ask[k]), v)
			}
		}
		missing, ask = missing[n:], ask[n:]
	}
	return x.fill(m, held, made)
}

// held returns, for each entry, the number of the replaced entry with the same text, or -1.
func (x *Index) held(add []Entry, remove []string) []int {
	gone := make(map[string]bool, len(remove))
	for _, id := range remove {
		gone[id] = true
	}
	out := make([]int, len(add))
	for i := range add {
		out[i] = -1
		if old, ok := x.lexical.Doc(add[i].id()); ok && gone[add[i].id()] && x.vectors.Len() > 0 &&
			x.entries[old].EmbeddingText() == add[i].EmbeddingText() {
			out[i] = old
		}
	}
	return out
}

func (x *Index) fill(m *VectorMatrix, held []int, made [][]float32) error {
	width := x.vectors.Width()
	for _, v := range made {
		if width == 0 {
			width = len(v)
		}
	}
	if _, err := m.Extend(len(made), width); err != nil {
		return err
	}
	for i, v := range made {
		if held[i] >= 0 {
			copy(m.Row(i), x.vectors.Row(held[i]))
			continue
		}
		if err := CheckVector(v, width); err != nil {
			return fmt.Errorf("%s: %w", x.options.Embedder.Model(), err)
		}
		copy(m.Row(i), v)
		NormalizeVector(m.Row(i))
	}
	return nil
}

// EmbeddingText is the text for the entry's vector: name, description, keywords and examples.
func (e *Entry) EmbeddingText() string {
	return e.Tool.Name + "\n" + e.Tool.Description + e.hints()
}

// hints are the keywords and examples in an EmbeddingText.
func (e *Entry) hints() string {
	if len(e.Keywords)+len(e.Examples) == 0 {
		return ""
	}
	var b strings.Builder
	if len(e.Keywords) > 0 {
		b.WriteString("\nKeywords: " + strings.Join(e.Keywords, ", "))
	}
	if len(e.Examples) > 0 {
		b.WriteString("\nExamples: " + strings.Join(e.Examples, "; "))
	}
	return b.String()
}
