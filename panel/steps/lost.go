// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// maxEach bounds how many lost records a quantile takes one by one.
const maxEach = 1 << 16

// Lose sets how many records of the files could not be read. They have no fields: each of them
// may be an attempt of any target.
func (s *Sheet) Lose(records int64) { s.lost = records }

// ranges gives the metrics of the table of all tasks what their intervals would be with every lost
// record at its worst and at its best.
// Source: Statistics specification, section 16.2.
func (t *teller) ranges(lost int64, metrics []panel.Metric) {
	if lost <= 0 || t.s.attempts == 0 {
		return
	}
	worst, best := t.with(lost, false), t.with(lost, true)
	for i := range metrics {
		m := &metrics[i]
		a, b := intervalOf(worst, m.Name), intervalOf(best, m.Name)
		if a == nil || b == nil || a.N == m.Interval.N && b.N == m.Interval.N {
			continue // an amount: what a lost record cost cannot be bounded
		}
		if m.LowerIsBetter {
			a, b = b, a
		}
		m.Lost = &panel.LostRange{Low: ended(*a), High: ended(*b)}
	}
}

// ended is an interval in which what is not over has no end.
func ended(iv stats.Interval) stats.Interval {
	for _, x := range []*float64{&iv.Point, &iv.Lower, &iv.Upper} {
		if *x > never/2 {
			*x = math.Inf(1)
		}
	}
	return iv
}

// never is a time after all that quantiles have.
const never = math.MaxFloat64

func (t *teller) with(lost int64, good bool) []panel.Metric {
	other := *t
	other.s = t.s.with(lost, good)
	return other.metrics()
}

func intervalOf(metrics []panel.Metric, name string) *stats.Interval {
	for i := range metrics {
		if metrics[i].Name == name {
			return &metrics[i].Interval
		}
	}
	return nil
}

// with are the sums with so many attempts more, each a task of its own with as many calls as the
// others have on average, in which all is good or nothing is.
func (s *sliceSums) with(lost int64, good bool) *sliceSums {
	out := &sliceSums{waits: s.waits}
	out.merge(s)
	l := losing{times: uint64(lost), of: s.attempts, good: good}
	for i := range stepMetrics {
		d := &stepMetrics[i]
		l.rate(&out.rates[d.step], d.lower && !d.inverse)
	}
	for _, x := range []*exact.Mean{&out.keys, &out.precision, &out.recall, &out.f1} {
		l.mean(x)
	}
	l.rate(&out.micro, false)
	l.rate(&out.exposed, true)
	l.rate(&out.stopped, true)
	for _, q := range []*exact.Quantiles{out.exec.Quantiles(), out.toolTime.Quantiles(), out.queue.Quantiles(), out.accept.Quantiles()} {
		l.quantiles(q)
	}
	if out.told != nil {
		l.told(out.told)
	}
	return out
}

// losing adds lost attempts to sums.
type losing struct {
	times uint64
	of    int64 // attempts that are there
	good  bool
}

// calls is how many of n things a lost attempt has.
func (l *losing) calls(n int) int {
	return max(1, int(math.Round(float64(n)/float64(l.of))))
}

// rate adds to a rate. bad: its successes are bad.
func (l *losing) rate(r *exact.Rate, bad bool) {
	if n := l.calls(r.N()); r.N() > 0 {
		r.AddTimes(n*one(l.good != bad), n, l.times)
	}
}

func (l *losing) mean(x *exact.Mean) {
	if n := l.calls(x.N()); x.N() > 0 {
		x.AddTimes(int64(n*one(l.good))*exact.Scale, n, l.times)
	}
}

// quantiles adds what took no time, or is not over yet.
func (l *losing) quantiles(q *exact.Quantiles) {
	n := l.calls(q.N())
	if q.N() == 0 {
		return
	}
	values, late := make([]float64, n), 0
	if !l.good {
		late = n
		for i := range values {
			values[i] = never
		}
	}
	for range min(l.times, maxEach) {
		q.Add(values, late)
	}
}

func (l *losing) told(t *toldSums) {
	l.rate(&t.pass, false)
	l.rate(&t.fault, true)
	l.rate(&t.miss, true)
	for i := range t.judged {
		l.rate(&t.judged[i], false)
	}
	for i := range t.at {
		l.mean(&t.at[i])
		l.mean(&t.hat[i])
	}
	for _, q := range []*exact.Quantiles{&t.wall, &t.tokenQuantiles, &t.costQuantiles} {
		l.quantiles(q)
	}
	x := t.scored
	if x == nil {
		return
	}
	l.rate(&x.unparseable, true)
	l.rate(&x.repaired, true)
	l.rate(&x.native, false)
	for i := range x.means {
		l.mean(&x.means[i])
	}
	l.quantiles(&x.first)
}
