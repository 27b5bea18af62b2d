// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
)

// duplicates counts records of attempts or calls that have several records.
type duplicates struct {
	merged, replaced, conflicts int64      // task records
	copies, corrected           int64      // steps
	first                       []Conflict // of the conflicts, by line, at most maxConflicts
}

// maxConflicts bounds the conflicts that are named.
const maxConflicts = 100

// Conflict is a record that contradicts an earlier one of the same attempt, or of the same call
// where Call is true, with the lines of both: neither counts.
type Conflict struct {
	Line, Of int64
	Call     bool
}

func (a *duplicates) conflict(c Conflict) {
	a.conflicts++
	a.name(c)
}

func (a *duplicates) name(c Conflict) {
	i, _ := slices.BinarySearchFunc(a.first, c, func(x, y Conflict) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Of, y.Of))
	})
	if i < maxConflicts {
		a.first = slices.Insert(a.first, i, c)
		a.first = a.first[:min(len(a.first), maxConflicts)]
	}
}

func (a *duplicates) merge(o *duplicates) {
	a.merged, a.replaced, a.conflicts = a.merged+o.merged, a.replaced+o.replaced, a.conflicts+o.conflicts
	a.copies, a.corrected = a.copies+o.copies, a.corrected+o.corrected
	for _, c := range o.first {
		a.name(c)
	}
}

// Conflicts are the attempts and calls with records that contradict each other: how many, and the first ones.
// The Sheet must be closed.
func (s *Sheet) Conflicts() (n int64, first []Conflict) {
	a := s.settled().duplicates
	return a.conflicts, a.first
}

// repeated reports whether an attempt has several records.
func repeated(list []record) bool {
	if len(list) > fewTries {
		return true // deliver checks exactly
	}
	for i := range list {
		for j := range i {
			if list[j].attempt == list[i].attempt {
				return true
			}
		}
	}
	return false
}

// deliver leaves each attempt the record that counts.
func (s *Sums) deliver(t *task) {
	of := map[uint32]*callvet.Deliveries{}
	at := map[uint32][]int{}
	for i := range t.records {
		r := &t.records[i]
		if of[r.attempt] == nil {
			of[r.attempt] = &callvet.Deliveries{}
		}
		of[r.attempt].Add(r.content, r.corrects)
		at[r.attempt] = append(at[r.attempt], i)
	}
	if len(of) == len(t.records) { // nearly always
		return
	}
	var kept []record
	for i := range t.records {
		n := t.records[i].attempt
		d, own := of[n], at[n]
		if own[0] == i { // once for each attempt
			s.duplicates.merged, s.duplicates.replaced = s.duplicates.merged+int64(d.Merged), s.duplicates.replaced+int64(d.Replaced)
			if d.Conflict() {
				s.duplicates.conflict(Conflict{Line: t.records[own[d.Against]].line, Of: t.records[own[d.Of]].line})
			}
		}
		if !d.Conflict() && own[d.Counts] == i {
			kept = append(kept, t.records[i])
		}
	}
	t.records = kept
}

func (w *writer) duplicates(a *duplicates) {
	for _, n := range []int64{a.merged, a.replaced, a.conflicts, a.copies, a.corrected} {
		w.Int(n)
	}
	w.Uint(uint64(len(a.first)))
	for _, c := range a.first {
		w.Int(c.Line)
		w.Int(c.Of)
		w.Bool(c.Call)
	}
}

func (r *reader) duplicates(a *duplicates) {
	for _, n := range []*int64{&a.merged, &a.replaced, &a.conflicts, &a.copies, &a.corrected} {
		*n = max(0, r.Int())
	}
	for range r.Count() {
		a.name(Conflict{Line: r.line(), Of: r.line(), Call: r.Bool()})
	}
}
