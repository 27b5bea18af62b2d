// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math/bits"

	"github.com/callvet/callvet/panel/slicing"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats/exact"
)

// brief is what the slices need to know of the steps of a task of up to tally.MaxFew.
type brief struct {
	signs               [tally.MaxFew]uint64 // by step
	cut                 uint64               // the steps whose time was cut off, as bits
	exec, queue, accept tally.Few
	late                tally.Sample
}

// share adds the task to its slices, those that have the same steps together, and
// tells how good all steps are.
func (s *Sums) share(t *task) quality {
	shape := s.shape()
	n, ok := s.sort(t)
	if !ok {
		return s.shareLong(t, shape)
	}
	all := s.read(t)
	for i := range n {
		places, parts := s.parts.Split(i)
		for _, e := range parts {
			if to := s.groups.Find(places, e.Slices, s.group); to != nil {
				to.addFew(t, s, e.Steps, shape)
				continue
			}
			for m := e.Slices; m != 0; m &= m - 1 {
				s.slice(slicing.At(places, bits.TrailingZeros64(m))).addFew(t, s, e.Steps, shape)
			}
		}
	}
	return all
}

// sort gives the sets of the task to s.parts; n is how often these are to be Split, and ok is
// false when there are too many.
func (s *Sums) sort(t *task) (n int, ok bool) {
	if len(t.steps) > tally.MaxFew {
		return 0, false
	}
	s.parts.Reset()
	for i := range t.steps {
		set := t.steps[i].set
		if len(t.records) > 0 {
			set = s.set(&t.steps[i])
		}
		if !s.parts.Add(set, 1<<i) {
			return 0, false
		}
	}
	for i := range t.records {
		if !s.parts.Add(t.records[i].set, 0) {
			return 0, false
		}
	}
	return s.parts.Len()
}

// read reads the steps and tells how good they are.
func (s *Sums) read(t *task) (all quality) {
	b := &s.brief
	b.cut = 0
	b.exec.Reset(len(t.steps))
	b.queue.Reset(len(t.steps))
	b.accept.Reset(len(t.steps))
	for i := range t.steps {
		st := &t.steps[i]
		b.signs[i&(tally.MaxFew-1)] = st.sign()
		all.step(st)
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

// plus is the kind of some steps, at least one.
func (s *Sums) plus(t *task, steps uint64) uint32 {
	key := uint64(0)
	for m := steps; m != 0; m &= m - 1 {
		key += s.brief.signs[bits.TrailingZeros64(m)&(tally.MaxFew-1)]
	}
	return s.kind(t.steps, steps, key)
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
		if kind := of.kind(t.steps, steps, b.signs[i&(tally.MaxFew-1)]); !s.kinds.Add(kind) {
			s.addKind(kind, of)
		}
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
	if kind := of.plus(t, steps); !s.kinds.Add(kind) {
		s.addKind(kind, of)
	}
	if b.cut&steps == 0 {
		s.exec.AddFew(&b.exec, steps)
	} else {
		b.late.Reset()
		for m := steps; m != 0; m &= m - 1 {
			st := &t.steps[bits.TrailingZeros64(m)]
			b.late.Time(st.exec, st.timeout)
		}
		s.exec.Add(&b.late)
	}
	if s.waits {
		s.queue.AddFew(&b.queue, steps)
		s.accept.AddFew(&b.accept, steps)
	}
}

// addKind adds steps by their kind, which is not counted yet or never.
func (s *sliceSums) addKind(n uint32, of *Sums) {
	if !of.kinds.Count(&s.kinds, n) {
		addFacts(s, of.kinds.At(n), 1)
	}
}
