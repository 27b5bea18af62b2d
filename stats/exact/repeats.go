// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"encoding/binary"

	"github.com/callvet/callvet/stats"
)

// repeats are the tasks with several attempts in a Rate or a Mean: the sums minus those of one
// attempt a task. They are integers, so that they merge in any order. Source: Statistics
// specification, section 16.1.
type repeats struct {
	cases, differ int64 // tasks with several attempts, and those with attempts that differ
	k             int64 // attempts of each of these tasks; -1 where the numbers differ
	// The differences in values, their sum and their products, for tasks with attempts that agree.
	n, sum int64
	m      moments
	// The differences in values, in 1/Scale, and in squares of values, in 1/Scale², for all these
	// tasks.
	size    int64
	squares wide
}

// maxRepeated bounds the values of one task of several attempts, so that its sums fit.
const maxRepeated = 1 << 42

// add adds times tasks with n values that sum to sum. r may be nil: add returns it, or a new one.
func (r *repeats) add(sum, n int64, of stats.Attempts, times uint64) *repeats {
	if of.N <= 1 {
		return r
	}
	if r == nil {
		r = &repeats{}
	}
	k, t := int64(of.N), int64(times)
	r.cases += t
	r.k = same(r.k, k)
	agree := of.Alike && n%k == 0 && sum%k == 0
	whole := min(n, maxRepeated)
	once := whole * Scale / k
	r.size += (whole*Scale - once) * t
	less := mul(whole*Scale, whole*Scale)
	less.sub(mul(once, once))
	r.squares.add(less.times(times))
	if !agree {
		r.differ += t
		return r
	}
	s, m := sum/k, n/k
	r.n += (n - m) * t
	r.sum += (sum - s) * t
	all := moments{xx: mul(sum, sum), xy: mul(sum, n), yy: mul(n, n)}
	all.sub(&moments{xx: mul(s, s), xy: mul(s, m), yy: mul(m, m)})
	r.m.add(&moments{xx: all.xx.times(times), xy: all.xy.times(times), yy: all.yy.times(times)})
	return r
}

// same is a where a and b are equal, else -1; 0 means that there is no number yet.
func same(a, b int64) int64 {
	if a == 0 || a == b {
		return b
	}
	return -1
}

// merge returns r with the tasks of o; both may be nil.
func (r *repeats) merge(o *repeats) *repeats {
	if o == nil {
		return r
	}
	if r == nil {
		r = &repeats{}
	}
	r.k = same(r.k, o.k)
	r.cases, r.differ, r.n, r.sum, r.size = r.cases+o.cases, r.differ+o.differ, r.n+o.n, r.sum+o.sum, r.size+o.size
	r.m.add(&o.m)
	r.squares.add(o.squares)
	return r
}

// once reduces the sums to those of one attempt a task, where the attempts of each task agree and
// all tasks have equally many. Otherwise it sets how many values one attempt a task has.
func (r *repeats) once(s *stats.Sums, n, sum *int64, m *moments) {
	switch {
	case r == nil:
	case r.differ > 0 || r.k < 0 || r.cases < int64(s.Cases):
		s.OnceN = float64(*n) - float64(r.size)/Scale
		s.OnceSizes2 = m.yy.float() - r.squares.float()/(Scale*Scale)
	default:
		*n, *sum = *n-r.n, *sum-r.sum
		m.sub(&r.m)
		s.N, s.Sizes2 = int(*n), m.yy.float()
	}
}

func (r *repeats) append(b []byte) []byte {
	if r == nil {
		return append(b, 0)
	}
	for _, x := range [...]int64{r.cases, r.differ, r.k + 1, r.n, r.sum, r.size} {
		b = binary.AppendUvarint(b, uint64(x))
	}
	return r.squares.append(r.m.append(b))
}

// repeats reads what append wrote, for cases tasks with n values that sum up to sum and have the
// products m.
func (r *reader) repeats(cases, n, sum int64, m *moments) *repeats {
	o := repeats{cases: r.count(cases)}
	if o.cases == 0 {
		return nil
	}
	o.differ = r.count(o.cases)
	o.k = r.count(maxCount) - 1
	o.n = r.count(n)
	total := r.uint64()
	o.sum = int64(total)
	size := r.uint64()
	o.size = int64(size)
	o.m, o.squares = r.moments(), r.wide()
	rest := *m
	rest.sub(&o.m)
	ok := (o.k == -1 || o.k > 1) && total <= uint64(sum) && size <= uint64(n)*Scale && (n > o.n || n == 0) &&
		int64(o.squares.hi) >= 0 &&
		float64(o.squares.float())/(Scale*Scale) < m.yy.float() &&
		rest.possible(cases, integer(sum-o.sum), integer(n-o.n))
	r.bad = r.bad || !ok
	return &o
}
