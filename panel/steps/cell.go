// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel/tally"
	"github.com/callvet/callvet/stats/exact"
)

// The measurements of a step whose good answer is no.
const badWhenTrue = 1<<callvet.StepRateLimited | 1<<callvet.StepTimeout | 1<<callvet.StepRejected | 1<<callvet.StepRepaired

// cell is what one task adds to one slice; it is scratch.
type cell struct {
	id                    uint32
	pending               int // steps in the counters
	steps                 int
	first                 *step
	known, right          tally.Counter
	wide                  *[2][callvet.StepMetrics]int // of tasks with many steps
	precision, recall, f1 int64
	hits, of              int64
	exec, cut             []float64
	queue, accept         []float64
}

func (c *cell) reset(id uint32) {
	*c = cell{id: id, wide: c.wide, exec: c.exec[:0], cut: c.cut[:0], queue: c.queue[:0], accept: c.accept[:0]}
	if c.wide != nil {
		*c.wide = [2][callvet.StepMetrics]int{}
	}
}

func (c *cell) add(s *step, known, right tally.Counter) {
	if c.steps++; c.steps == 1 {
		c.first = s
	}
	if c.pending++; c.pending == 256 {
		c.flush()
		c.pending = 1
	}
	c.known.Add(known)
	c.right.Add(right)
	if s.known&(1<<callvet.StepArgEM) != 0 {
		c.precision += int64(s.precision)
		c.recall += int64(s.recall)
		c.f1 += int64(s.f1)
		c.hits += int64(s.hits)
		c.of += int64(s.of)
	}
	if s.exec >= 0 {
		if s.timeout {
			c.cut = append(c.cut, s.exec)
		} else {
			c.exec = append(c.exec, s.exec)
		}
	}
	if s.queue >= 0 {
		c.queue = append(c.queue, float64(s.queue))
	}
	if s.accept >= 0 {
		c.accept = append(c.accept, float64(s.accept))
	}
}

func (c *cell) flush() {
	if c.wide == nil {
		c.wide = new([2][callvet.StepMetrics]int)
	}
	for i := range int(callvet.StepMetrics) {
		c.wide[0][i] += c.right.At(i)
		c.wide[1][i] += c.known.At(i)
	}
	c.known, c.right = tally.Counter{}, tally.Counter{}
}

// count gives how many of the measurements of a metric were yes, and were known.
func (c *cell) count(i int) (yes, n int) {
	yes, n = c.right.At(i), c.known.At(i)
	if c.steps > 255 {
		yes, n = yes+c.wide[0][i], n+c.wide[1][i]
	}
	return yes, n
}

// fidelity keeps what the argument measures need, in whole numbers.
func (s *step) fidelity(sc *callvet.StepScore) {
	if sc.Known&(1<<callvet.StepArgEM) == 0 {
		return
	}
	m, e, g := int(sc.Matched), int(sc.Emitted), int(sc.Expected)
	s.hits, s.of = uint16(min(2*m, 1<<16-1)), uint16(min(e+g, 1<<16-1))
	if m == e && m == g { // also where nothing was to be given, and nothing was
		s.precision, s.recall, s.f1 = exact.Scale, exact.Scale, exact.Scale
		return
	}
	s.precision = int32(exact.Fraction(m, e))
	s.recall = int32(exact.Fraction(m, g))
	s.f1 = int32(exact.Fraction(2*m, e+g))
}

// single is a score that single steps have, and how many.
type single struct {
	known, right uint16
	times        uint64
}

// maxSingles bounds the different scores that are counted as they are.
const maxSingles = 24

// single counts a task that has one step in the slice, by its score; false when
// it has to be added up like others.
func (s *sliceSums) single(known, right uint16) bool {
	for i := range s.singles {
		if x := &s.singles[i]; x.known == known && x.right == right {
			x.times++
			if i > 0 && x.times > s.singles[i-1].times { // the frequent ones come first
				s.singles[i-1], s.singles[i] = s.singles[i], s.singles[i-1]
			}
			return true
		}
	}
	if len(s.singles) >= maxSingles {
		return false
	}
	s.singles = append(s.singles, single{known, right, 1})
	return true
}

// enter adds the single steps to the rates.
func (s *sliceSums) enter() {
	for _, x := range s.singles {
		for i := range s.rates {
			if x.known>>i&1 == 1 {
				s.rates[i].Singles(x.right>>i&1 == 1, x.times)
			}
		}
		if x.known&x.right>>callvet.StepArgEM&1 == 1 {
			s.precision.Singles(x.times)
			s.recall.Singles(x.times)
			s.f1.Singles(x.times)
		}
	}
	s.singles = s.singles[:0]
}
