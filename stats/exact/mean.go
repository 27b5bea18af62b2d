// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import "github.com/callvet/callvet/stats"

// Mean is a mean of fractions in [0,1] in units of 1/Scale, counted by task. It is
// exact for up to 2^42 values.
type Mean struct {
	cases, n, sum int64
	failing       int64 // tasks with a value below 1
	succeeding    int64 // tasks with a value above 0
	fractional    bool
	m             moments // x: sum of a task, y: its values
	again         *repeats
}

// Add adds one task with n values that sum up to sum, which is limited to
// 0..n*Scale. A task without values is left out.
func (x *Mean) Add(sum int64, n int) {
	if n <= 0 {
		return
	}
	m := int64(n)
	sum = min(max(sum, 0), m*Scale)
	x.cases++
	x.n += m
	x.sum += sum
	if sum < m*Scale {
		x.failing++
	}
	if sum > 0 {
		x.succeeding++
	}
	x.fractional = x.fractional || sum%Scale != 0
	x.m.add(&moments{xx: mul(sum, sum), xy: mul(sum, m), yy: mul(m, m)})
}

// AddTimes adds times equal tasks.
func (x *Mean) AddTimes(sum int64, n int, times uint64) {
	if times == 1 { // nearly always
		x.Add(sum, n)
		return
	}
	if n <= 0 || times == 0 {
		return
	}
	m, k := int64(n), int64(times)
	sum = min(max(sum, 0), m*Scale)
	x.cases += k
	x.n += m * k
	x.sum += sum * k
	if sum < m*Scale {
		x.failing += k
	}
	if sum > 0 {
		x.succeeding += k
	}
	x.fractional = x.fractional || sum%Scale != 0
	x.m.xx.add(mul(sum, sum).times(times))
	x.m.xy.add(mul(sum, m).times(times))
	x.m.yy.add(mul(m, m).times(times))
}

// AddAttempts adds times equal tasks with n values of several attempts.
func (x *Mean) AddAttempts(sum int64, n int, of stats.Attempts, times uint64) {
	if n <= 0 || times == 0 {
		return
	}
	x.AddTimes(sum, n, times)
	x.again = x.again.add(min(max(sum, 0), int64(n)*Scale), int64(n), of, times)
}

// Merge adds the tasks of o, which must be other tasks than those of x.
func (x *Mean) Merge(o *Mean) {
	x.cases += o.cases
	x.n += o.n
	x.sum += o.sum
	x.failing += o.failing
	x.succeeding += o.succeeding
	x.fractional = x.fractional || o.fractional
	x.m.add(&o.m)
	x.again = x.again.merge(o.again)
}

// N is the number of values.
func (x *Mean) N() int { return int(x.n) }

// Cases is the number of tasks with at least one value.
func (x *Mean) Cases() int { return int(x.cases) }

// Fractional reports that some task's sum is no whole number.
func (x *Mean) Fractional() bool { return x.fractional }

// Interval equals stats.Clusters.Interval over the same tasks. Values are taken for yes and no
// where every task's sum is a whole number.
func (x *Mean) Interval(conf, rho0 float64) stats.Interval {
	s := stats.Sums{
		Cases: int(x.cases), N: int(x.n), Sizes2: x.m.yy.float(),
		Failing: int(x.failing), Succeeding: int(x.succeeding), Fractional: x.fractional,
	}
	n, sum, m := x.n, x.sum, x.m
	x.again.once(&s, &n, &sum, &m)
	s.Sum = float64(sum) / Scale
	s.SS, s.SM, s.MM = m.central(s.Cases, integer(sum), integer(n))
	s.SS, s.SM = s.SS/(Scale*Scale), s.SM/Scale
	c := s.Clusters()
	return c.Interval(conf, rho0)
}
