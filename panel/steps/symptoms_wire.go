// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"maps"
	"slices"

	"github.com/callvet/callvet/stats"
)

// SymptomWriter appends numbers and texts to a partial result; SymptomReader reads them.
type SymptomWriter interface {
	Uint(n uint64)
	Int(n int64)
	Bool(v bool)
	Text(s string)
}

// SymptomReader reads what a SymptomWriter wrote, in the same order. After the first error, which it keeps, it
// returns zeros. Count is the length of a list, Number the entry of list at the written position.
type SymptomReader interface {
	Count() int
	Int() int64
	Bool() bool
	Text() string
	Number(list []uint32) uint32
}

// Write appends what Read reads.
func (s *SymptomCounts) Write(w SymptomWriter) {
	s.tally()
	w.Int(s.Steps)
	for i := range s.Of {
		x := &s.Of[i]
		for _, n := range []int64{x.Count, x.Of, x.Timeouts, x.Unnamed, x.Beyond} {
			w.Int(n)
		}
		used := 0
		for _, n := range x.Tools {
			used += int(oneSymptom(n != 0))
		}
		w.Uint(uint64(used))
		for k, n := range x.Tools {
			if n != 0 {
				w.Uint(uint64(k))
				w.Int(n)
			}
		}
		writeCounts(w, x.Paths)
		writeFirst(w, x.First)
	}
	used := 0
	for _, t := range s.times {
		used += int(oneSymptom(t != timed{}))
	}
	w.Uint(uint64(used))
	for k, t := range s.times {
		if t != (timed{}) {
			w.Uint(uint64(k))
			for _, n := range []int64{t.of, t.over, t.ofMid, t.overMid} {
				w.Int(n)
			}
		}
	}
}

// Read fills empty SymptomCounts with what was written. It adds shift to lines, and maps written numbers
// of tools by the list tools. r keeps errors.
func (s *SymptomCounts) Read(r SymptomReader, shift int64, tools []uint32) {
	s.Steps = r.Int()
	for i := range s.Of {
		x := &s.Of[i]
		for _, n := range []*int64{&x.Count, &x.Of, &x.Timeouts, &x.Unnamed, &x.Beyond} {
			*n = r.Int()
		}
		for range r.Count() {
			x.count(r.Number(tools), r.Int())
		}
		for range r.Count() {
			x.Paths[r.Text()] += r.Int()
		}
		readFirst(r, &x.First, shift, tools)
	}
	for range r.Count() {
		s.at(int(r.Number(tools))).add(timed{r.Int(), r.Int(), r.Int(), r.Int()})
	}
}

func writeFirst(w SymptomWriter, first []Sighting) {
	w.Uint(uint64(len(first)))
	for _, f := range first {
		w.Int(f.Line)
		w.Text(f.Target)
		w.Text(f.Task)
		w.Text(f.Call)
		w.Int(int64(f.Attempt))
		w.Uint(uint64(f.Tool))
		w.Bool(f.Passed)
	}
}

func readFirst(r SymptomReader, first *[]Sighting, shift int64, tools []uint32) {
	for range r.Count() {
		keep(first, Sighting{
			Line: r.Int() + shift, Target: r.Text(), Task: r.Text(), Call: r.Text(), Attempt: int(r.Int()),
			Tool: r.Number(tools), Passed: r.Bool(),
		})
	}
}

func writeCounts(w SymptomWriter, m map[string]int64) {
	w.Uint(uint64(len(m)))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		w.Text(k)
		w.Int(m[k])
	}
}

// Write appends what Read reads.
func (r *Ranking) Write(w SymptomWriter) {
	for _, list := range [][]Ranked{r.Strongest, r.Weakest} {
		w.Uint(uint64(len(list)))
		for _, x := range list {
			w.Int(x.Good)
			w.Int(x.Of)
			w.Int(x.Calls)
			w.Int(x.Failed)
			w.Int(x.Judged)
			writeCount(w, x.Seen)
			w.Int(x.Line)
			w.Text(x.Target)
			w.Text(x.Task)
		}
	}
	w.Uint(uint64(len(r.tasks)))
	byCount := func(a, b stats.Count) int { return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Passed, b.Passed)) }
	for _, c := range slices.SortedFunc(maps.Keys(r.tasks), byCount) {
		writeCount(w, c)
		w.Int(r.tasks[c])
	}
}

func writeCount(w SymptomWriter, c stats.Count) {
	w.Int(int64(c.Passed))
	w.Int(int64(c.N))
}

// readCount reads a number of passed attempts; the zero value for an impossible one.
func readCount(r SymptomReader) stats.Count {
	c := stats.Count{Passed: float64(r.Int()), N: float64(r.Int())}
	if c.Passed < 0 || c.Passed > c.N || c.N > maxAttempts {
		return stats.Count{}
	}
	return c
}

// Read adds what was written, with shift added to its lines.
func (r *Ranking) Read(from SymptomReader, shift int64) {
	for _, top := range []bool{true, false} {
		for range from.Count() {
			at := Ranked{
				Good: from.Int(), Of: from.Int(), Calls: from.Int(), Failed: from.Int(), Judged: from.Int(),
				Seen: readCount(from),
			}
			at.Line, at.Target, at.Task = from.Int()+shift, from.Text(), from.Text()
			r.Keep(at, top, !top)
		}
	}
	for range from.Count() {
		c := stats.Count{Passed: float64(from.Int()), N: float64(from.Int())}
		if n := from.Int(); n > 0 && 0 <= c.Passed && c.Passed <= c.N && c.N <= maxAttempts {
			r.Add(c, n)
		}
	}
}
