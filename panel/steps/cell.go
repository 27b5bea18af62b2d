// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"

	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats/exact"
)

// maxSets bounds the different sets of a task that is folded by bits, and maxIDs
// the slices of each.
const (
	maxSets = 16
	maxIDs  = 32
)

// brief is what the slices need to know of the steps of a task of up to tally.MaxFew.
type brief struct {
	kinds               [tally.MaxFew]uint32 // by step
	cut                 uint64               // the steps whose time was cut off, as bits
	exec, queue, accept tally.Few
	late                tally.Sample
	// The different sets of the steps and the records, the steps that have each, and which
	// of its slices, as bits, are of no set before it.
	used  int
	sets  [maxSets]*slicing.Set
	steps [maxSets]uint64
	own   [maxSets]uint32
	list  [maxIDs]extent // scratch of split
	// shared remembers which slices of a set are in another.
	shared tally.Front[overlap]
}

// overlap is which slices of two sets both have, as bits of the places in either.
type overlap struct{ a, b uint32 }

// extent is slices of a set that are in the same steps: the slices of a task are
// many, the ways to take some of its steps are few.
type extent struct {
	slices uint32
	steps  uint64
}

// share adds the task to its slices, those that have the same steps together, and
// tells how good all steps are.
func (s *Sums) share(t *task) quality {
	shape := s.kinds.shape(s.sum.shape)
	if !s.sort(t) {
		return s.shareLong(t, shape)
	}
	b := &s.brief
	all := b.read(t, &s.kinds)
	for i := range b.used {
		if b.own[i] == 0 {
			continue
		}
		for _, e := range b.split(i) {
			if to := s.together(b.sets[i], e.slices); to != nil {
				to.addFew(t, s, e.steps, shape)
				continue
			}
			for m := e.slices; m != 0; m &= m - 1 {
				s.slice(b.sets[i].IDs[bits.TrailingZeros32(m)]).addFew(t, s, e.steps, shape)
			}
		}
	}
	return all
}

// sort finds the different sets of the task; ok is false when there are too many.
func (s *Sums) sort(t *task) (ok bool) {
	b := &s.brief
	if b.used = 0; len(t.steps) > tally.MaxFew {
		return false
	}
	for i := range t.steps {
		if !b.place(s.set(t, i), 1<<i) {
			return false
		}
	}
	for i := range t.records {
		if !b.place(t.records[i].set, 0) {
			return false
		}
	}
	return true
}

// place notes steps of a set.
func (b *brief) place(set *slicing.Set, steps uint64) (ok bool) {
	for i, o := range b.sets[:b.used] {
		if o == set {
			b.steps[i] |= steps
			return true
		}
	}
	if b.used == maxSets || len(set.IDs) > maxIDs {
		return false
	}
	b.sets[b.used], b.steps[b.used], b.own[b.used] = set, steps, uint32(1<<len(set.IDs)-1)
	b.used++
	return true
}

// split parts the slices that are of no set before this one by the steps of the sets
// after it that they are in too, and takes them from these.
func (b *brief) split(i int) []extent {
	set, list := b.sets[i], b.list[:1]
	list[0] = extent{b.own[i], b.steps[i]}
	for k := i + 1; k < b.used; k++ {
		o := b.sets[k]
		key := uint64(set.Number)<<32 | uint64(o.Number)
		both := b.shared.Get(key)
		if both.a == 0 {
			both = overlapOf(set.IDs, o.IDs)
			b.shared.Put(key, both)
		}
		b.own[k] &^= both.b
		for j := range list {
			e := &list[j]
			in := e.slices & both.a
			if in == e.slices {
				e.steps |= b.steps[k]
			} else if in != 0 {
				e.slices &^= in
				list = append(list, extent{in, e.steps | b.steps[k]})
			}
		}
	}
	return list
}

func overlapOf(a, b []uint32) (both overlap) {
	for i, x := range a {
		for k, y := range b {
			if x == y {
				both.a, both.b = both.a|1<<i, both.b|1<<k
			}
		}
	}
	return both
}

// read reads the steps and tells how good they are.
func (b *brief) read(t *task, k *kinds) (all quality) {
	b.cut = 0
	b.exec.Reset(len(t.steps))
	b.queue.Reset(len(t.steps))
	b.accept.Reset(len(t.steps))
	for i := range t.steps {
		st := &t.steps[i]
		kind := k.step(st)
		b.kinds[i&(tally.MaxFew-1)] = kind
		one := k.quality[kind]
		all.known, all.good = all.known+one.known, all.good+one.good
		e, q, a := uint32(int32(st.exec)), uint32(int32(st.queue)), uint32(int32(st.accept))
		if max(e, q, a) < exact.Wholes && float64(e) == st.exec && float32(q) == st.queue && float32(a) == st.accept { // most
			b.exec.SetWhole(i, e)
			b.queue.SetWhole(i, q)
			b.accept.SetWhole(i, a)
		} else {
			b.exec.Set(i, st.exec)
			b.queue.Set(i, float64(st.queue))
			b.accept.Set(i, float64(st.accept))
		}
		if st.timeout && st.exec >= 0 {
			b.cut |= 1 << i
		}
	}
	return all
}

// kind is that of some steps.
func (b *brief) kind(steps uint64, k *kinds) uint32 {
	kind := b.kinds[bits.TrailingZeros64(steps)&(tally.MaxFew-1)]
	for steps &= steps - 1; steps != 0; steps &= steps - 1 {
		kind = k.plus(kind, b.kinds[bits.TrailingZeros64(steps)&(tally.MaxFew-1)])
	}
	return kind
}

// addFew adds some steps of the task, and the task as a whole.
func (s *sliceSums) addFew(t *task, of *Sums, steps uint64, shape uint32) {
	s.tell(of, shape)
	if steps == 0 {
		return
	}
	b := &of.brief
	if steps&(steps-1) == 0 && b.cut&steps == 0 {
		i := bits.TrailingZeros64(steps)
		s.addKind(b.kinds[i&(tally.MaxFew-1)], &of.kinds)
		if p, ok := b.exec.Alone(i); ok {
			s.exec.One(p)
		}
		if s.waits {
			if p, ok := b.queue.Alone(i); ok {
				s.queue.One(p)
			}
			if p, ok := b.accept.Alone(i); ok {
				s.accept.One(p)
			}
		}
		return
	}
	s.addKind(b.kind(steps, &of.kinds), &of.kinds)
	if b.cut&steps == 0 {
		s.exec.AddFew(&b.exec, steps)
	} else {
		b.late.Reset()
		for m := steps; m != 0; m &= m - 1 {
			b.late.Time(t.steps[bits.TrailingZeros64(m)].time())
		}
		s.exec.Add(&b.late)
	}
	if s.waits {
		s.queue.AddFew(&b.queue, steps)
		s.accept.AddFew(&b.accept, steps)
	}
}
