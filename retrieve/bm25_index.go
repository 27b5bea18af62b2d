// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// BM25Field is the weight of one field of the documents.
type BM25Field struct {
	// Name is for explanations.
	Name string
	// Weight multiplies the field's term counts; 0 leaves the field out.
	Weight float64
	// B in [0,1] is the penalty for a field that is longer than the mean.
	B float64
}

// BM25Options are the constants of the formula.
type BM25Options struct {
	// K1 > 0 is the saturation of repetitions of a term.
	K1     float64
	Fields []BM25Field
}

// MaxFields is how many fields an index can have.
const MaxFields = 16

// BM25Document is a searchable text: the terms of each field, in the order of Options.Fields.
type BM25Document struct {
	ID     string
	Fields [][]string
}

// BM25Index is an inverted index of documents. Any number of goroutines may read it while none
// updates it. Documents are numbered from 0 in the order of their addition.
type BM25Index struct {
	options BM25Options
	ids     []string
	byID    map[string]int
	lengths []uint32  // of document d's field f: lengths[d*fields+f]
	means   []float64 // lengths of each field
	terms   map[string]int
	lists   []list
	words   vocabulary
	scratch sync.Pool
}

// list is the postings list of one term, in the order of documents.
type list struct {
	term string
	raw  []occurrence
	docs []uint32  // distinct documents of raw
	gain []float64 // of each, the score of the term in it
	idf  float64
}

// occurrence is how often one field of one document has a term.
type occurrence struct {
	doc   uint32
	count uint16
	field uint16
}

// NewBM25 makes an empty index.
func NewBM25(o BM25Options) (*BM25Index, error) {
	if !(o.K1 > 0) || math.IsInf(o.K1, 0) || len(o.Fields) == 0 || len(o.Fields) > MaxFields {
		return nil, fmt.Errorf("make index: k1 must be positive and there must be 1 to %d fields: %w", MaxFields,
			callvet.ErrInvalid)
	}
	for _, f := range o.Fields {
		if !(f.Weight >= 0) || math.IsInf(f.Weight, 0) || !(f.B >= 0 && f.B <= 1) {
			return nil, fmt.Errorf("make index: field %s: weight must be at least 0 and b in [0,1]: %w", f.Name,
				callvet.ErrInvalid)
		}
	}
	o.Fields = slices.Clone(o.Fields)
	return &BM25Index{options: o, byID: map[string]int{}, terms: map[string]int{}}, nil
}

// Options are the options of NewBM25.
func (x *BM25Index) Options() BM25Options { return x.options }

// Len is the number of documents.
func (x *BM25Index) Len() int { return len(x.ids) }

// ID names document doc.
func (x *BM25Index) ID(doc int) string { return x.ids[doc] }

// Doc returns the number of the document of that name.
func (x *BM25Index) Doc(id string) (doc int, ok bool) {
	doc, ok = x.byID[id]
	return doc, ok
}

// Update removes documents and adds others at the end, all or nothing. After a removal the index
// equals one that never had the document. It is an error to remove an unknown document, or to add
// one twice. The time is proportional to the whole index: put many changes into one call.
func (x *BM25Index) Update(add []BM25Document, remove []string) error {
	gone, err := x.check(add, remove)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		x.drop(gone)
	}
	x.append(add)
	var g sys.Group
	g.Go(func() { x.words = newVocabulary(x.lists) })
	x.weigh()
	g.Wait()
	return nil
}

func (x *BM25Index) check(add []BM25Document, remove []string) (gone map[int]bool, err error) {
	gone = make(map[int]bool, len(remove))
	for _, id := range remove {
		d, ok := x.byID[id]
		if !ok || gone[d] {
			return nil, fmt.Errorf("remove document %q: %w", id, callvet.ErrNotFound)
		}
		gone[d] = true
	}
	seen := make(map[string]bool, len(add))
	for _, d := range add {
		old, ok := x.byID[d.ID]
		if ok && !gone[old] || seen[d.ID] {
			return nil, fmt.Errorf("add document %q: there is one of that name: %w", d.ID, callvet.ErrConflict)
		}
		if len(d.Fields) != len(x.options.Fields) {
			return nil, fmt.Errorf("add document %q: %d fields, want %d: %w", d.ID, len(d.Fields),
				len(x.options.Fields), callvet.ErrInvalid)
		}
		seen[d.ID] = true
	}
	return gone, nil
}

// drop renumbers the remaining documents.
func (x *BM25Index) drop(gone map[int]bool) {
	n := len(x.options.Fields)
	number := make([]uint32, len(x.ids))
	ids, lengths := x.ids[:0:0], x.lengths[:0:0]
	clear(x.byID)
	for d, id := range x.ids {
		if gone[d] {
			continue
		}
		number[d] = uint32(len(ids))
		x.byID[id] = len(ids)
		ids = append(ids, id)
		lengths = append(lengths, x.lengths[d*n:(d+1)*n]...)
	}
	x.ids, x.lengths = ids, lengths
	lists := x.lists[:0:0]
	clear(x.terms)
	for _, l := range x.lists {
		raw := l.raw[:0]
		for _, o := range l.raw {
			if !gone[int(o.doc)] {
				o.doc = number[o.doc]
				raw = append(raw, o)
			}
		}
		if len(raw) > 0 {
			x.terms[l.term] = len(lists)
			lists = append(lists, list{term: l.term, raw: raw})
		}
	}
	x.lists = lists
}

// append adds documents in two passes, so that every list is allocated once.
func (x *BM25Index) append(add []BM25Document) {
	numbers, more := x.number(add)
	room := 0
	for i := range x.lists {
		if l := &x.lists[i]; more[i] > cap(l.raw)-len(l.raw) {
			room += len(l.raw) + more[i]
		}
	}
	arena := make([]occurrence, room)
	for i := range x.lists {
		if l := &x.lists[i]; more[i] > cap(l.raw)-len(l.raw) {
			n := len(l.raw) + more[i]
			l.raw, arena = append(arena[:0:n], l.raw...), arena[n:]
		}
	}
	for d := range add {
		doc := uint32(len(x.ids))
		x.byID[add[d].ID] = len(x.ids)
		x.ids = append(x.ids, add[d].ID)
		for f, terms := range add[d].Fields {
			x.lengths = append(x.lengths, uint32(len(terms)))
			for range terms {
				l := &x.lists[numbers[0]]
				numbers = numbers[1:]
				if k := len(l.raw) - 1; k >= 0 && l.raw[k].doc == doc && l.raw[k].field == uint16(f) {
					if l.raw[k].count < math.MaxUint16 {
						l.raw[k].count++
					}
					continue
				}
				l.raw = append(l.raw, occurrence{doc: doc, count: 1, field: uint16(f)})
			}
		}
	}
}

// number returns the list number of every term in turn, with new lists for new terms, and how many
// occurrences each list will get.
func (x *BM25Index) number(add []BM25Document) (numbers []uint32, more []int) {
	total := 0
	for d := range add {
		for _, terms := range add[d].Fields {
			total += len(terms)
		}
	}
	numbers, more = make([]uint32, 0, total), make([]int, len(x.lists))
	last := make([]int, len(x.lists)) // the field that had each term last, from 1
	field := 0
	for d := range add {
		for _, terms := range add[d].Fields {
			field++
			for _, t := range terms {
				i, ok := x.terms[t]
				if !ok {
					i = len(x.lists)
					x.terms[t] = i
					x.lists = append(x.lists, list{term: t})
					more, last = append(more, 0), append(last, 0)
				}
				if last[i] != field {
					last[i] = field
					more[i]++
				}
				numbers = append(numbers, uint32(i))
			}
		}
	}
	return numbers, more
}

// weigh computes the gain of every term in every document.
func (x *BM25Index) weigh() {
	norms := x.norms()
	n := len(x.options.Fields)
	all := 0
	for i := range x.lists {
		all += x.lists[i].documents()
	}
	docs, gain := make([]uint32, 0, all), make([]float64, 0, all)
	for i := range x.lists {
		l := &x.lists[i]
		from := len(docs)
		l.idf = idf(len(x.ids), l.documents())
		for k := 0; k < len(l.raw); {
			doc, weight := l.raw[k].doc, 0.0
			for ; k < len(l.raw) && l.raw[k].doc == doc; k++ {
				weight += float64(l.raw[k].count) * norms[int(doc)*n+int(l.raw[k].field)]
			}
			docs = append(docs, doc)
			gain = append(gain, l.idf*weight/(weight+x.options.K1))
		}
		l.docs, l.gain = docs[from:len(docs):len(docs)], gain[from:len(gain):len(gain)]
	}
}

// documents counts the documents with the term.
func (l *list) documents() int {
	n := 0
	for k, o := range l.raw {
		if k == 0 || o.doc != l.raw[k-1].doc {
			n++
		}
	}
	return n
}

// norms returns the weight of one occurrence of a term, for each field of each document.
func (x *BM25Index) norms() []float64 {
	n := len(x.options.Fields)
	x.means = make([]float64, n)
	for i, l := range x.lengths {
		x.means[i%n] += float64(l)
	}
	for f := range x.means {
		x.means[f] /= float64(max(1, len(x.ids)))
	}
	out := make([]float64, len(x.lengths))
	for i := range x.lengths {
		out[i] = x.norm(i/n, i%n)
	}
	return out
}

// norm is weight / (1 - b + b·length/mean) of a field of a document.
func (x *BM25Index) norm(doc, field int) float64 {
	f, l := x.options.Fields[field], x.lengths[doc*len(x.options.Fields)+field]
	if l == 0 {
		return 0
	}
	return f.Weight / (1 - f.B + f.B*float64(l)/x.means[field])
}

// idf is Lucene's: never negative, ln(1 + (n-df+½)/(df+½)).
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5))
}
