// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats/exact"
)

// The measurements of a step whose good answer is no.
const badWhenTrue = 1<<callvet.StepRateLimited | 1<<callvet.StepTimeout | 1<<callvet.StepRejected | 1<<callvet.StepRepaired

// counter counts up to 255 of each of 16 kinds at once: kind i in byte i.
type counter struct{ lo, hi uint64 }

// spread moves bit i of a byte to the lowest bit of byte i: the multiplication
// copies the byte to all eight, the mask leaves one bit in each, and the sum
// carries it to the top of its byte.
func spread(bits uint16) uint64 {
	const each, low = 0x0101010101010101, 0x7F7F7F7F7F7F7F7F
	x := uint64(bits) * each & 0x8040201008040201
	return (x&low + low | x) >> 7 & each
}

func spreadOut(bits uint16) counter { return counter{spread(bits & 0xFF), spread(bits >> 8)} }

func (c *counter) add(o counter) {
	c.lo += o.lo
	c.hi += o.hi
}

func (c counter) at(i int) int {
	if i < 8 {
		return int(c.lo >> (8 * i) & 0xFF)
	}
	return int(c.hi >> (8 * (i - 8)) & 0xFF)
}

// cell is what one task adds to one slice; it is scratch.
type cell struct {
	id                    uint32
	pending               int // steps in the counters
	steps                 int
	first                 *step
	known, right          counter
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

func (c *cell) add(s *step, known, right counter) {
	if c.steps++; c.steps == 1 {
		c.first = s
	}
	if c.pending++; c.pending == 256 {
		c.flush()
		c.pending = 1
	}
	c.known.add(known)
	c.right.add(right)
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
		c.wide[0][i] += c.right.at(i)
		c.wide[1][i] += c.known.at(i)
	}
	c.known, c.right = counter{}, counter{}
}

// count gives how many of the measurements of a metric were yes, and were known.
func (c *cell) count(i int) (yes, n int) {
	yes, n = c.right.at(i), c.known.at(i)
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

// tally is an exact.Rate that counts tasks of few steps by what they are.
type tally struct {
	small [36]uint64 // of n steps yes were: at n(n+1)/2+yes, for n up to 7
	rest  exact.Rate
}

func (t *tally) add(yes, n int) {
	if n < 8 {
		t.small[n*(n+1)/2+yes]++
		return
	}
	t.rest.Add(yes, n)
}

func (t *tally) merge(o *tally) {
	for i, n := range o.small {
		t.small[i] += n
	}
	t.rest.Merge(&o.rest)
}

// rate is all of it.
func (t *tally) rate() exact.Rate {
	r := t.rest
	for n := 1; n < 8; n++ {
		for yes := 0; yes <= n; yes++ {
			times := t.small[n*(n+1)/2+yes]
			if times == 0 {
				continue
			}
			var one exact.Rate
			one.Add(yes, n)
			for ; times > 0; times >>= 1 {
				if times&1 == 1 {
					r.Merge(&one)
				}
				twice := one
				one.Merge(&twice)
			}
		}
	}
	return r
}

// share is an exact.Mean that counts tasks whose few values are all 1.
type share struct {
	full [8]uint64
	rest exact.Mean
}

func (s *share) add(sum int64, n int) {
	if n < 8 && sum == int64(n)*exact.Scale {
		s.full[n]++
		return
	}
	s.rest.Add(sum, n)
}

func (s *share) merge(o *share) {
	for i, n := range o.full {
		s.full[i] += n
	}
	s.rest.Merge(&o.rest)
}

func (s *share) mean() exact.Mean {
	m := s.rest
	for n := 1; n < 8; n++ {
		var one exact.Mean
		one.Add(int64(n)*exact.Scale, n)
		for times := s.full[n]; times > 0; times >>= 1 {
			if times&1 == 1 {
				m.Merge(&one)
			}
			twice := one
			one.Merge(&twice)
		}
	}
	return m
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
				s.rates[i].small[1+int(x.right>>i&1)] += x.times
			}
		}
		if x.known&x.right>>callvet.StepArgEM&1 == 1 {
			s.precision.full[1] += x.times
			s.recall.full[1] += x.times
			s.f1.full[1] += x.times
		}
	}
	s.singles = s.singles[:0]
}
