// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import "github.com/callvet/callvet/stats"

// maxPart bounds one task's part of a Ratio: a million dollars in billionths,
// thirteen days in nanoseconds. The sums hold 2^27 such tasks.
const maxPart = 1 << 50

// totals are the sums of two numbers a task has, with those of their products.
type totals struct {
	cases    int64
	num, den wide
	m        moments // x: numerator, y: denominator
}

// part is one task with both numbers limited to ±2^50.
func part(num, den int64) (x, y int64, t totals) {
	x, y = min(max(num, -maxPart), maxPart), min(max(den, -maxPart), maxPart)
	return x, y, totals{
		cases: 1, num: integer(x), den: integer(y),
		m: moments{xx: mul(x, x), xy: mul(x, y), yy: mul(y, y)},
	}
}

func (t *totals) merge(o *totals) {
	t.cases += o.cases
	t.num.add(o.num)
	t.den.add(o.den)
	t.m.add(&o.m)
}

func (t *totals) times(n uint64) totals {
	return totals{
		cases: t.cases * int64(n), num: t.num.times(n), den: t.den.times(n),
		m: moments{xx: t.m.xx.times(n), xy: t.m.xy.times(n), yy: t.m.yy.times(n)},
	}
}

// sums are the sums for package stats, without the products of three.
func (t *totals) sums() stats.RatioSums {
	s := stats.RatioSums{Cases: int(t.cases), Y: t.num.float(), X: t.den.float()}
	s.YY, s.YX, s.XX = t.m.central(s.Cases, t.num, t.den)
	return s
}

// Totals are the sums of the numerators and of the denominators, or the nearest
// end of the range.
func (t *totals) Totals() (num, den int64) { return t.num.int64(), t.den.int64() }

// Cases is the number of tasks.
func (t *totals) Cases() int { return int(t.cases) }

// Ratio is a ratio of totals, for example cost per pass, with integers in any
// unit.
type Ratio struct {
	totals
	cubes cubes
}

// Add adds one task. Both numbers are limited to ±2^50.
func (r *Ratio) Add(num, den int64) {
	x, y, t := part(num, den)
	c := t.m.cube(x, y)
	r.merge(&t)
	r.cubes.add(&c)
}

// Merge adds the tasks of o, which must be other tasks than those of r.
func (r *Ratio) Merge(o *Ratio) {
	r.merge(&o.totals)
	r.cubes.add(&o.cubes)
}

// Interval equals stats.Ratio.Interval over the same tasks, in units of the numerator per unit of
// the denominator.
func (r *Ratio) Interval(conf float64) stats.Interval {
	s := r.sums()
	s.YYY, s.YYX, s.YXX, s.XXX = r.cubes.central(s.Cases, r.num, r.den, &r.m)
	ratio := s.Ratio()
	return ratio.Interval(conf)
}

// Count is a mean count of events by attempt.
type Count struct {
	totals
	having int64  // tasks with an event
	differ int64  // tasks with attempts that differ
	k      int64  // attempts of each task; -1 where the numbers differ
	less   totals // the sums minus those of one attempt a task, for tasks with attempts that agree
}

// Add adds one task with its events and attempts; neither is below 0. alike: each attempt has
// equally many events. A task without attempts is left out.
func (c *Count) Add(events, attempts int64, alike bool) { c.AddTimes(events, attempts, alike, 1) }

// AddTimes adds times equal tasks.
func (c *Count) AddTimes(events, attempts int64, alike bool, times uint64) {
	if attempts <= 0 || times == 0 {
		return
	}
	_, _, t := part(max(events, 0), attempts)
	c.k = same(c.k, attempts)
	if attempts > 1 {
		c.repeated(&t, max(events, 0), attempts, alike, times)
	}
	if times > 1 {
		t = t.times(times)
	}
	c.merge(&t)
	if events > 0 {
		c.having += int64(times)
	}
}

// repeated adds, for such tasks with the sums all, the difference to the sums of one attempt each.
func (c *Count) repeated(all *totals, events, attempts int64, alike bool, times uint64) {
	if !alike || events%attempts != 0 {
		c.differ += int64(times)
		return
	}
	_, _, once := part(events/attempts, 1)
	less := *all
	less.cases = 0
	less.num.sub(once.num)
	less.den.sub(once.den)
	less.m.sub(&once.m)
	less = less.times(times)
	c.less.merge(&less)
}

// Merge adds the tasks of o, which must be other tasks than those of c.
func (c *Count) Merge(o *Count) {
	if o.cases == 0 {
		return
	}
	c.merge(&o.totals)
	c.less.merge(&o.less)
	c.having, c.differ, c.k = c.having+o.having, c.differ+o.differ, same(c.k, o.k)
}

// Interval equals stats.Counts.Interval over the same tasks.
func (c *Count) Interval(conf float64) stats.Interval {
	t := c.totals
	one := c.differ == 0 && c.k >= 0
	if one {
		t.num.sub(c.less.num)
		t.den.sub(c.less.den)
		t.m.sub(&c.less.m)
	}
	s := stats.CountSums{RatioSums: t.sums(), Having: int(c.having), Differ: !one, Unlike: c.differ > 0}
	n := s.Counts()
	return n.Interval(conf)
}
