// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import "github.com/callvet/callvet/stats"

// maxPart bounds one task's part of a Ratio: a million dollars in billionths,
// thirteen days in nanoseconds. The sums hold 2^27 such tasks.
const maxPart = 1 << 50

// Ratio is a ratio of totals, for example cost per pass, with integers in any
// unit.
type Ratio struct {
	cases    int64
	num, den wide
	m        moments // x: numerator, y: denominator
}

// Add adds one task. Both numbers are limited to ±2^50.
func (r *Ratio) Add(num, den int64) {
	num, den = min(max(num, -maxPart), maxPart), min(max(den, -maxPart), maxPart)
	r.cases++
	r.num.add(integer(num))
	r.den.add(integer(den))
	r.m.add(&moments{xx: mul(num, num), xy: mul(num, den), yy: mul(den, den)})
}

// AddTimes adds so many tasks that are alike.
func (r *Ratio) AddTimes(num, den int64, times uint64) {
	num, den = min(max(num, -maxPart), maxPart), min(max(den, -maxPart), maxPart)
	r.cases += int64(times)
	r.num.add(integer(num).times(times))
	r.den.add(integer(den).times(times))
	r.m.xx.add(mul(num, num).times(times))
	r.m.xy.add(mul(num, den).times(times))
	r.m.yy.add(mul(den, den).times(times))
}

// Merge adds the tasks of o, which must be other tasks than those of r.
func (r *Ratio) Merge(o *Ratio) {
	r.cases += o.cases
	r.num.add(o.num)
	r.den.add(o.den)
	r.m.add(&o.m)
}

// Totals are the sums of the numerators and of the denominators, or the nearest
// end of the range.
func (r *Ratio) Totals() (num, den int64) { return r.num.int64(), r.den.int64() }

// Cases is the number of tasks.
func (r *Ratio) Cases() int { return int(r.cases) }

// Interval is that of stats.Ratio.Interval over the same tasks, in units of the
// numerator per unit of the denominator.
func (r *Ratio) Interval(conf float64) stats.Interval {
	s := stats.RatioSums{Cases: int(r.cases), Y: r.num.float(), X: r.den.float()}
	s.YY, s.YX, s.XX = r.m.central(s.Cases, r.num, r.den)
	ratio := s.Ratio()
	return ratio.Interval(conf)
}
