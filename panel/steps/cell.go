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
	sets   [tally.MaxFew]*slicing.Set // by step
	others []*slicing.Set             // of records
	signs  [tally.MaxFew]uint64       // by step
	cut    uint64                     // the steps whose time was cut off, as bits
	times  tally.Trio                 // exec, queue, accept
	late   tally.Sample
}

// share adds the task to its slices, those that have the same steps together, and
// tells how good all steps are.
func (s *Sums) share(t *task) quality {
	shape := s.shape()
	if len(t.steps) > tally.MaxFew || len(s.tries) > 1 {
		return s.shareLong(t, shape)
	}
	all := s.read(t)
	n, ok := s.parts.Take(s.brief.sets[:len(t.steps)], s.brief.others)
	if !ok {
		return s.shareLong(t, shape)
	}
	for i := range n {
		places, parts := s.parts.Split(i)
		for _, e := range parts {
			if to := s.groups.Find(places, e.Slices); to != nil {
				to.addFew(t, s, e.Steps, shape)
				continue
			}
			for _, to := range s.groups.Cover(places, e.Slices) {
				to.addFew(t, s, e.Steps, shape)
			}
		}
	}
	return all
}

// read reads the steps and tells how good they are.
func (s *Sums) read(t *task) (all quality) {
	b := &s.brief
	b.cut = 0
	exec, queue, accept := &b.times[0], &b.times[1], &b.times[2]
	exec.Reset(len(t.steps))
	queue.Reset(len(t.steps))
	accept.Reset(len(t.steps))
	for i := range t.steps {
		st := &t.steps[i]
		b.sets[i&(tally.MaxFew-1)] = st.set
		b.signs[i&(tally.MaxFew-1)] = st.sign()
		all.step(st)
		e, q, a := uint32(int32(st.exec)), uint32(int32(st.queue)), uint32(int32(st.accept))
		if max(e, q, a) < exact.Wholes && float64(e) == st.exec && float32(q) == st.queue && float32(a) == st.accept { // most
			exec.SetWhole(i, e)
			queue.SetWhole(i, q)
			accept.SetWhole(i, a)
		} else {
			exec.Set(i, st.exec)
			queue.Set(i, float64(st.queue))
			accept.Set(i, float64(st.accept))
		}
		if st.timeout() && st.exec >= 0 {
			b.cut |= 1 << i
		}
	}
	b.others = b.others[:0]
	if len(t.records) > 0 {
		for i := range t.steps {
			b.sets[i] = s.set(&t.steps[i])
		}
		for i := range t.records {
			b.others = append(b.others, t.records[i].set)
		}
	}
	return all
}

// few is the kind of some steps, at least one.
func (s *Sums) few(t *task, steps uint64) uint32 {
	key := uint64(0)
	for m := steps; m != 0; m &= m - 1 {
		key += s.brief.signs[bits.TrailingZeros64(m)&(tally.MaxFew-1)]
	}
	if n := s.kinds.Recent(key); n != 0 {
		return n
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
	if kind := of.few(t, steps); !s.kinds.Add(kind) {
		s.addKind(kind, of)
	}
	if steps&(steps-1) == 0 && b.cut&steps == 0 {
		i := bits.TrailingZeros64(steps)
		if p, ok := b.times[0].Alone(i); ok {
			s.exec.One(p)
		}
		if s.waits {
			if p, ok := b.times[1].Alone(i); ok {
				s.queue.One(p)
			}
			if p, ok := b.times[2].Alone(i); ok {
				s.accept.One(p)
			}
		}
		return
	}
	if b.cut&steps != 0 {
		b.late.Reset()
		for m := steps; m != 0; m &= m - 1 {
			st := &t.steps[bits.TrailingZeros64(m)]
			b.late.Time(st.exec, st.timeout())
		}
		s.exec.Add(&b.late)
		if s.waits {
			s.queue.AddFew(&b.times[1], steps)
			s.accept.AddFew(&b.times[2], steps)
		}
		return
	}
	if s.waits {
		b.times.AddTo(&s.exec, &s.queue, &s.accept, steps)
	} else {
		s.exec.AddFew(&b.times[0], steps)
	}
}

// addKind adds steps by their kind, which is not counted yet or never.
func (s *sliceSums) addKind(n uint32, of *Sums) {
	if !of.kinds.Count(&s.kinds, n) {
		addFacts(s, of.kinds.At(n), 1)
	}
}
