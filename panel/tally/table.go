// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tally

// Table finds things by their hash: a table with linear probing, where the place
// for a hash is nearly always in one line of the processor's cache.
type Table[T any] struct {
	slots []entry[T]
	used  int
}

type entry[T any] struct {
	hash  uint64
	thing *T // nil: free
}

// NewTable makes a Table that holds that many without growing.
func NewTable[T any](n int) Table[T] {
	size := 16
	for size < 2*(n+1) {
		size *= 2
	}
	o := Table[T]{slots: make([]entry[T], size)}
	for i := 0; i < size; i += 256 { // in each page: those that are new and read first are slow
		o.slots[i].hash = 0
	}
	return o
}

func (o *Table[T]) mask() uint64 { return uint64(len(o.slots) - 1) }

// home is where a hash is looked for first. Low bits may have chosen the Table.
func (o *Table[T]) home(h uint64) uint64 { return h >> 20 & o.mask() }

// place is where a hash is, or the free slot where it would be.
func (o *Table[T]) place(h uint64) uint64 {
	i := o.home(h)
	for o.slots[i].thing != nil && o.slots[i].hash != h {
		i = (i + 1) & o.mask()
	}
	return i
}

// Get is the thing of a hash; nil when there is none.
func (o *Table[T]) Get(h uint64) *T { return o.slots[o.place(h)].thing }

// Len is how many things there are.
func (o *Table[T]) Len() int { return o.used }

// Look reads where a hash is looked for, so that it is near when it is needed.
func (o *Table[T]) Look(h uint64) uint64 { return o.slots[o.home(h)].hash }

// Put enters a thing, not nil; one of the same hash is replaced.
func (o *Table[T]) Put(h uint64, t *T) {
	i := o.place(h)
	if o.slots[i].thing == nil {
		o.used++
	}
	o.slots[i] = entry[T]{h, t}
	if 4*o.used <= 3*len(o.slots) {
		return
	}
	old := o.slots
	o.slots = make([]entry[T], 2*len(old))
	for _, s := range old {
		if s.thing != nil {
			o.slots[o.place(s.hash)] = s
		}
	}
}

// Remove takes the thing of a hash out, and moves those after it that it was in the
// way of.
func (o *Table[T]) Remove(h uint64) {
	i := o.place(h)
	if o.slots[i].thing == nil {
		return
	}
	o.used--
	for j := (i + 1) & o.mask(); o.slots[j].thing != nil; j = (j + 1) & o.mask() {
		if home := o.home(o.slots[j].hash); (j-home)&o.mask() >= (j-i)&o.mask() {
			o.slots[i] = o.slots[j]
			i = j
		}
	}
	o.slots[i] = entry[T]{}
}
