// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"

	"github.com/callvet/callvet/panel/tally"
)

// mark is which steps of the task being folded are in a slice, if it is of this round:
// bits, or for a long task the place of the list of their indices.
type mark struct {
	steps uint64
	round uint32
}

// place notes that a step is in these slices.
func (s *Sums) place(i int, ids []uint32) {
	if s.long {
		for _, id := range ids {
			s.put(id, i)
		}
		return
	}
	marks, round, bit := s.marks, s.round, uint64(1)<<(i&(tally.MaxFew-1))
	for _, id := range ids {
		if int(id) < len(marks) {
			if m := &marks[id]; m.round == round {
				m.steps |= bit
			} else {
				m.steps, m.round = bit, round
				s.ids = append(s.ids, id)
			}
			continue
		}
		s.mark(id).steps |= bit
		marks = s.marks
	}
}

// put notes that a step is in a slice.
func (s *Sums) put(id uint32, i int) {
	m := s.mark(id)
	if !s.long {
		m.steps |= 1 << i
		return
	}
	if list := &s.lists[m.steps]; len(*list) == 0 || (*list)[len(*list)-1] != int32(i) {
		*list = append(*list, int32(i))
	}
}

// mark gives that of a slice, which the task is in.
func (s *Sums) mark(id uint32) *mark {
	for int(id) >= len(s.marks) {
		s.marks = append(s.marks, mark{})
	}
	m := &s.marks[id]
	if m.round == s.round {
		return m
	}
	*m = mark{round: s.round}
	s.ids = append(s.ids, id)
	if s.long {
		m.steps = uint64(s.listed)
		if s.listed == len(s.lists) {
			s.lists = append(s.lists, nil)
		}
		s.lists[s.listed] = s.lists[s.listed][:0]
		s.listed++
	}
	return m
}

// extent is certain steps of a task, and the slices that have just these: the slices
// of a task are many, the ways to take some of its steps are few.
type extent struct {
	steps uint64
	group *group
	round uint32 // the one it is of
}

// maxExtents bounds the extents of a task.
const maxExtents = 64

// extents are those of the task being folded: places by hash, one after the other
// where they collide, and which of them are in use.
type extents struct {
	places [4 * maxExtents]extent
	used   []uint8
}

// brief is what the slices need to know of the steps of a task that is not long.
type brief struct {
	kinds               [tally.MaxFew]uint32
	all                 uint32 // the kind of all steps
	cut                 uint64 // the steps whose time was cut off
	exec, queue, accept tally.Few
	sample              tally.Sample
}

// read reads the steps.
func (b *brief) read(t *task, k *kinds) {
	b.cut, b.all = 0, 0
	b.exec.Reset()
	b.queue.Reset()
	b.accept.Reset()
	for i := range t.steps[:min(len(t.steps), tally.MaxFew)] {
		st := &t.steps[i]
		kind := k.step(st)
		b.kinds[i&(tally.MaxFew-1)] = kind
		if b.all != 0 {
			kind = k.plus(b.all, kind)
		}
		b.all = kind
		b.exec.Set(i, st.exec)
		b.queue.Set(i, float64(st.queue))
		b.accept.Set(i, float64(st.accept))
		if st.timeout && st.exec >= 0 {
			b.cut |= 1 << i
		}
	}
}

// kind is that of some steps.
func (b *brief) kind(steps uint64, k *kinds) uint32 {
	if steps == 0 {
		return 0
	}
	kind := b.kinds[bits.TrailingZeros64(steps)&(tally.MaxFew-1)]
	for steps &= steps - 1; steps != 0; steps &= steps - 1 {
		kind = k.plus(kind, b.kinds[bits.TrailingZeros64(steps)&(tally.MaxFew-1)])
	}
	return kind
}

// late are the times of steps some of which were cut off.
func (b *brief) late(t *task, steps uint64) *tally.Sample {
	b.sample.Reset()
	for ; steps != 0; steps &= steps - 1 {
		b.sample.Time(t.steps[bits.TrailingZeros64(steps)].time())
	}
	return &b.sample
}

// share adds the steps to their slices, those that have the same ones together,
// and gives what all of them are.
func (s *Sums) share(t *task) *facts {
	if s.long {
		return s.shareLong(t)
	}
	b := &s.brief
	b.read(t, &s.kinds)
	shape := s.kinds.shape(s.sum.shape)
	s.gather()
	for _, i := range s.extents.used {
		e := &s.extents.places[i]
		if to := s.together(e.group); to != nil {
			to.addFew(t, s, e.steps, shape)
			continue
		}
		for _, id := range s.ids {
			if s.marks[id].steps == e.steps {
				s.slice(id).addFew(t, s, e.steps, shape)
			}
		}
	}
	if len(s.extents.used) == maxExtents { // those of the others
		for _, id := range s.ids {
			if steps := s.marks[id].steps; s.extent(steps) == nil {
				s.slice(id).addFew(t, s, steps, shape)
			}
		}
	}
	return &s.kinds.facts[b.all]
}

// gather finds the extents of the task, and which slices they are of.
func (s *Sums) gather() {
	for _, id := range s.ids {
		steps := s.marks[id].steps
		e := &s.extents.places[steps*0x9E3779B97F4A7C15>>(64-8)]
		if e.steps != steps || e.round != s.round {
			if e = s.extent(steps); e == nil {
				continue
			}
		}
		e.group = s.groups.with(e.group, id)
	}
}

// extent gives that of certain steps; nil when the task has too many.
func (s *Sums) extent(steps uint64) *extent {
	x := &s.extents
	for i := uint8(steps * 0x9E3779B97F4A7C15 >> (64 - 8)); ; i++ {
		e := &x.places[i]
		if e.round != s.round {
			if len(x.used) == maxExtents {
				return nil
			}
			x.used = append(x.used, i)
			*e = extent{steps, &s.groups.none, s.round}
			return e
		}
		if e.steps == steps {
			return e
		}
	}
}

// addFew adds some steps of a task that is not long, and the task as a whole.
func (s *sliceSums) addFew(t *task, of *Sums, steps uint64, shape uint32) {
	s.tell(&of.sum, of.tries, shape)
	if steps == 0 {
		return
	}
	b := &of.brief
	kind := b.all
	if steps&(steps-1) == 0 {
		kind = b.kinds[bits.TrailingZeros64(steps)&(tally.MaxFew-1)]
	} else if bits.OnesCount64(steps) < len(t.steps) {
		kind = b.kind(steps, &of.kinds)
	}
	s.kinds.Add(kind)
	if b.cut&steps == 0 {
		s.exec.AddFew(&b.exec, steps)
	} else {
		s.exec.Add(b.late(t, steps))
	}
	if s.waits {
		s.queue.AddFew(&b.queue, steps)
		s.accept.AddFew(&b.accept, steps)
	}
}
