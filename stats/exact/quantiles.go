// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package exact

import (
	"math"
	"slices"
	"sort"

	"github.com/callvet/callvet/stats"
)

// Quantiles is a histogram of numbers >= 0, for example latencies, with the correlation of values
// within tasks. Numbers are kept to 11 significant bits: to 1/2048 of their size, whole numbers up
// to 2048 exactly. Its size grows with the number of different values, not with their count; the
// empty one has no table. It is exact as long as the squares of the tasks' sizes sum to less than
// 2^64.
type Quantiles struct {
	cases, n int64
	table    histogram
	cut      bin     // the values that were cut off, later than all others
	limit    float64 // the smallest of them
	keys     []uint32
}

// Add adds one task with its values; the last censored of them were cut off, so
// that the truth is at least the value. Values below 0, infinite ones and NaN are
// left out, and so is a task without others. The values are not kept.
func (q *Quantiles) Add(values []float64, censored int) {
	if len(values) == 1 && censored <= 0 {
		if x := values[0]; x >= 0 && x <= math.MaxFloat64 {
			q.cases++
			q.n++
			q.table.bump(codeOf(x), 0, 0)
		}
		return
	}
	q.addTask(values, len(values)-min(max(censored, 0), len(values)))
}

// addTask adds a task; its values from index whole on were cut off.
func (q *Quantiles) addTask(values []float64, whole int) {
	q.keys = q.keys[:0]
	cut := uint64(0)
	for i, x := range values {
		switch {
		case !(x >= 0 && x <= math.MaxFloat64):
		case i < whole:
			q.keys = append(q.keys, keyOf(x))
		default:
			if cut++; q.cut.n == 0 && cut == 1 || x < q.limit {
				q.limit = x + 0 // -0 becomes 0, so that the order of 0 and -0 does not matter
			}
		}
	}
	s := uint64(len(q.keys))
	m := s + cut
	if m == 0 {
		return
	}
	q.cases++
	q.n += int64(m)
	sortFew(q.keys)
	for r, key := range q.keys {
		q.table.bump(codeOf(valueOf(key)), uint64(r), m-1)
	}
	// The values that were cut off come last: those with r = s to m-1.
	q.cut.n += cut
	q.cut.ss += cut * (m + s - 1)
	q.cut.sm += cut * (m - 1)
}

// sortFew is an insertion sort for the few calls that a task has.
func sortFew(keys []uint32) {
	if len(keys) > 64 {
		slices.Sort(keys)
		return
	}
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// Merge adds the tasks of o, which must be other tasks than those of q.
func (q *Quantiles) Merge(o *Quantiles) {
	q.cases += o.cases
	q.n += o.n
	q.table.merge(&o.table)
	if o.cut.n > 0 && (q.cut.n == 0 || o.limit < q.limit) {
		q.limit = o.limit
	}
	q.cut.n += o.cut.n
	q.cut.ss += o.cut.ss
	q.cut.sm += o.cut.sm
}

// N is the number of values, with those cut off.
func (q *Quantiles) N() int { return int(q.n) }

// Cases is the number of tasks with at least one value.
func (q *Quantiles) Cases() int { return int(q.cases) }

// Intervals equal stats.CaseIntervals over the same tasks, with values rounded to their bins.
func (q *Quantiles) Intervals(conf float64, qs ...float64) []stats.Interval {
	out := make([]stats.Interval, len(qs))
	for i, x := range stats.CaseQuantiles(q.inOrder(), conf, qs...) {
		out[i] = x.Interval
	}
	return out
}

// ordered is a stats.Sample: bin i has the values of ranks up to upTo[i].n.
type ordered struct {
	q      *Quantiles
	values []float64
	upTo   []running
}

// running are the sums up to a bin of s, s*s and s*m. s is the number of a task's values up to the
// bin and m the number of all its values.
type running struct{ n, ss, sm uint64 }

func (r running) plus(b bin) running {
	return running{n: r.n + b.n, ss: r.ss + b.ss + b.n, sm: r.sm + b.sm + b.n}
}

func (q *Quantiles) inOrder() *ordered {
	n := q.table.size() + 1
	o := &ordered{q: q, values: make([]float64, 0, n), upTo: make([]running, 0, n)}
	var sums running
	add := func(x float64, b bin) {
		sums = sums.plus(b)
		o.values, o.upTo = append(o.values, x), append(o.upTo, sums)
	}
	q.table.ascending(func(b bin) { add(valueOf(b.key), b) })
	add(math.Inf(1), q.cut)
	return o
}

func (o *ordered) N() int     { return int(o.q.n) }
func (o *ordered) Cases() int { return int(o.q.cases) }

func (o *ordered) Value(rank int) float64 {
	return o.values[sort.Search(len(o.upTo)-1, func(i int) bool { return o.upTo[i].n >= uint64(rank) })]
}

func (o *ordered) Limit() float64 {
	if o.q.cut.n == 0 {
		return math.Inf(1)
	}
	return o.q.limit
}

func (o *ordered) AtMost(x float64) stats.Clusters {
	i := sort.Search(len(o.values), func(i int) bool { return o.values[i] > x })
	if i == 0 {
		return stats.Clusters{}
	}
	// At the last bin s = m, so that the last sum is the sum of m*m.
	at, squares := o.upTo[i-1], wide{lo: o.upTo[len(o.upTo)-1].ss}
	m := moments{xx: wide{lo: at.ss}, xy: wide{lo: at.sm}, yy: squares}
	s := stats.Sums{Cases: o.Cases(), N: o.N(), Sum: float64(at.n), Sizes2: squares.float()}
	s.SS, s.SM, s.MM = m.central(s.Cases, wide{lo: at.n}, integer(o.q.n))
	return s.Clusters()
}
