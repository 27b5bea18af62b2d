// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Rate is a share of calls, counted by task. It is exact for up to 2^53 calls.
type Rate struct {
	cases, n, yes int64
	failing       int64   // tasks with fewer yes than calls
	succeeding    int64   // tasks with at least one yes
	most          int64   // the calls of the biggest task
	m             moments // x: yes of a task, y: its calls
	again         *repeats
}

// Add adds one task with yes (limited to 0..n) of n calls. A task without calls
// is left out.
func (r *Rate) Add(yes, n int) {
	if n <= 0 {
		return
	}
	y, m := int64(min(max(yes, 0), n)), int64(n)
	r.cases++
	r.n += m
	r.yes += y
	r.most = max(r.most, m)
	// The sign bits of differences: a branch would often be mispredicted.
	r.failing += int64(uint64(y-m) >> 63)
	r.succeeding += int64(uint64(-y) >> 63)
	if m < 1<<32 {
		r.m.xx.addSmall(uint64(y * y))
		r.m.xy.addSmall(uint64(y * m))
		r.m.yy.addSmall(uint64(m) * uint64(m))
		return
	}
	r.m.add(&moments{xx: mul(y, y), xy: mul(y, m), yy: mul(m, m)})
}

// AddTimes adds times equal tasks.
func (r *Rate) AddTimes(yes, n int, times uint64) {
	if times == 1 { // nearly always
		r.Add(yes, n)
		return
	}
	if n <= 0 || times == 0 {
		return
	}
	y, m, k := int64(min(max(yes, 0), n)), int64(n), int64(times)
	r.cases += k
	r.n += m * k
	r.yes += y * k
	r.most = max(r.most, m)
	if y < m {
		r.failing += k
	}
	if y > 0 {
		r.succeeding += k
	}
	if m < 1<<16 && times < 1<<32 { // nearly always
		r.m.xx.addSmall(uint64(y*y) * times)
		r.m.xy.addSmall(uint64(y*m) * times)
		r.m.yy.addSmall(uint64(m*m) * times)
		return
	}
	r.m.add(&moments{xx: mul(y, y).times(times), xy: mul(y, m).times(times), yy: mul(m, m).times(times)})
}

// AddAttempts adds one task with yes of n calls in several attempts.
func (r *Rate) AddAttempts(yes, n int, of stats.Attempts) { r.AddAttemptsTimes(yes, n, of, 1) }

// AddAttemptsTimes adds times equal such tasks.
func (r *Rate) AddAttemptsTimes(yes, n int, of stats.Attempts, times uint64) {
	if n <= 0 || times == 0 {
		return
	}
	r.AddTimes(yes, n, times)
	r.again = r.again.add(int64(min(max(yes, 0), n)), int64(n), of, times)
}

// Merge adds the tasks of o, which must be other tasks than those of r.
func (r *Rate) Merge(o *Rate) {
	r.cases += o.cases
	r.n += o.n
	r.yes += o.yes
	r.failing += o.failing
	r.succeeding += o.succeeding
	r.most = max(r.most, o.most)
	r.m.add(&o.m)
	r.again = r.again.merge(o.again)
}

// N is the number of calls.
func (r *Rate) N() int { return int(r.n) }

// Yes is the number of calls that were yes.
func (r *Rate) Yes() int { return int(r.yes) }

// Cases is the number of tasks with at least one call.
func (r *Rate) Cases() int { return int(r.cases) }

// Interval equals stats.Clusters.Interval over the same tasks.
func (r *Rate) Interval(conf, rho0 float64) stats.Interval {
	s := stats.Sums{
		Cases: int(r.cases), N: int(r.n), Sizes2: r.m.yy.float(), Failing: int(r.failing),
		Succeeding: int(r.succeeding),
	}
	n, yes, m := r.n, r.yes, r.m
	r.again.once(&s, &n, &yes, &m)
	s.Sum = float64(yes)
	s.SS, s.SM, s.MM = m.central(s.Cases, integer(yes), integer(n))
	c := s.Clusters()
	return c.Interval(conf, rho0)
}

// ByCase is the share of tasks where all calls were yes, one value a task.
func (r *Rate) ByCase(conf float64) stats.Interval {
	good := r.cases - r.failing
	s := stats.Sums{
		Cases: int(r.cases), N: int(r.cases), Sum: float64(good), Sizes2: float64(r.cases),
		Failing: int(r.failing), Succeeding: int(good),
	}
	s.SS = mul(good, r.failing).float() / float64(r.cases)
	c := s.Clusters()
	return c.Interval(conf, stats.DefaultRho0)
}

// informativeAbove is the correlation from which call counts are informative.
const informativeAbove = 0.3

// Informative reports whether tasks that fail more often make more calls, as with retries: then the
// rate by call and the rate by task differ, and both should be watched. The excess of a task is its
// failures beyond the overall rate; failures in proportion to the calls have no excess. Informative
// is true where the correlation of calls and excess is above 0.3. Few tasks or one big task may
// correlate by chance. The correlation must therefore also be above 2/sqrt(tasks), and above the
// root of the biggest task's share in the variance of the calls. Fewer than 10 tasks, or tasks of
// one size or without excess: false. Source: Statistics specification, section 2; the two guards by
// simulation.
func (r *Rate) Informative() bool {
	if r.cases < 10 {
		return false
	}
	yy, ym, mm := r.m.central(int(r.cases), integer(r.yes), integer(r.n))
	// The excess of a task is e = f - q*m = p*m - y, so that its products follow
	// from those of y and m.
	g, p := float64(r.cases), float64(r.yes)/float64(r.n)
	em, ee := p*mm-ym, yy-2*p*ym+p*p*mm
	if mm <= 0 || ee <= 1e-13*(yy+p*p*mm) {
		return false
	}
	biggest := (float64(r.most) - float64(r.n)/g) / math.Sqrt(mm)
	return em/math.Sqrt(ee*mm) > max(informativeAbove, 2/math.Sqrt(g), biggest)
}
