// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"cmp"
	"math"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// maxEach bounds how many lost records are added to a quantile one by one.
const maxEach = 1 << 16

// Lose sets how many records of the files could not be read. They have no fields: each of them
// may be an attempt of any target.
func (s *Sheet) Lose(records int64) { s.lost = records }

// shortTask counts the attempts of a task that has attempts without an outcome.
type shortTask struct{ passes, trials, lost int }

func compareShort(a, b shortTask) int {
	return cmp.Or(cmp.Compare(a.passes, b.passes), cmp.Compare(a.trials, b.trials), cmp.Compare(a.lost, b.lost))
}

// shorten adds n such tasks.
func (t *recordSums) shorten(k shortTask, n int64) {
	if t.short == nil {
		t.short = map[shortTask]int64{}
	}
	t.short[k] += n
}

// ranges adds to the metrics of a table the range of their intervals: with every lost attempt, and
// each of the lost records, at its worst and at its best. Source: Statistics specification, section
// 16.2.
func (t *tabler) ranges(out *panel.Slice, records int64) {
	l := losing{
		attempts: int64(out.Verdicts.Lost()), unrun: int64(out.Verdicts.NotRun - out.Verdicts.Skipped),
		records: records, of: t.s.attempts, torn: t.s.torn,
	}
	var silent int64
	if x := t.s.fromRecords; x != nil {
		for i := range x.judged {
			l.silent = append(l.silent, t.silent(&x.judged[i]))
			silent += l.silent[i]
		}
	}
	if l.of -= int64(out.Verdicts.Lost() + out.Verdicts.Skipped); l.attempts+l.torn+l.records+silent <= 0 ||
		t.s.attempts == 0 {
		return
	}
	worst, best := t.with(l, false), t.with(l, true)
	for i := range out.Metrics {
		m := &out.Metrics[i]
		a, b := intervalOf(worst, m.Name), intervalOf(best, m.Name)
		if a == nil || b == nil || *a == m.Interval && *b == m.Interval {
			continue // an amount: the cost of a lost attempt has no bound
		}
		if m.LowerIsBetter {
			a, b = b, a
		}
		n, of := out.Lost(m.Name, records)
		if panel.OfJudge(m.Name) {
			n += m.Excluded
		}
		m.Lost = &panel.LostRange{N: n, Of: of, Low: ended(*a), High: ended(*b)}
	}
}

// ended replaces ends at never by infinity.
func ended(iv stats.Interval) stats.Interval {
	for _, x := range []*float64{&iv.Point, &iv.Lower, &iv.Upper} {
		if *x > never/2 {
			*x = math.Inf(1)
		}
	}
	return iv
}

// never is a time later than all times in quantiles.
const never = math.MaxFloat64

func (t *tabler) with(l losing, good bool) []panel.Metric {
	other := *t
	l.good = good
	other.s = t.s.with(l)
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

// with are the sums with the lost attempts added, all good or all bad, each with the average number
// of calls. Except for the pass rate each lost attempt is a task of its own.
func (s *sliceSums) with(l losing) *sliceSums {
	out := &sliceSums{waits: s.waits}
	out.merge(s)
	if out.fromRecords != nil {
		l.fromRecords(out.fromRecords)
	}
	l = *l.ofCalls()
	if out.fromRecords != nil {
		l.rate(&out.fromRecords.miss, true)
	}
	for i := range stepMetrics {
		d := &stepMetrics[i]
		each := &l
		if panel.CountsErrors(d.name) {
			each = l.whereErrorsCount()
		}
		each.rate(&out.rates[d.step], d.lower && !d.inverse)
	}
	for _, x := range []*exact.Mean{&out.keys, &out.precision, &out.recall, &out.f1} {
		l.mean(x)
	}
	l.rate(&out.micro, false)
	l.rate(&out.spared, false)
	l.rate(&out.exposed, true)
	l.rate(&out.stopped, true)
	for _, q := range []*exact.Quantiles{&out.exec, &out.toolTime, &out.queue, &out.accept} {
		l.quantiles(q)
	}
	return out
}

// losing adds lost attempts to sums.
type losing struct {
	attempts, unrun int64   // without an outcome; those that did not run
	torn            int64   // with an outcome, and without some of their calls
	records         int64   // that could not be read
	of              int64   // attempts that have an outcome
	silent          []int64 // those without a verdict of a judge, by judge
	good            bool
}

// ofCalls is the losing for what is counted over calls.
func (l *losing) ofCalls() *losing {
	out := *l
	out.attempts, out.unrun, out.of = out.attempts+out.torn, out.unrun+out.torn, max(0, out.of-out.torn)
	return &out
}

// whereErrorsCount is the losing for a metric where an error is an outcome.
func (l *losing) whereErrorsCount() *losing {
	out := *l
	out.attempts = l.unrun
	return &out
}

// byJudge is the losing for the verdicts of a judge that has n verdicts.
func (l *losing) byJudge(i, n int) *losing {
	out := *l
	out.attempts, out.of = out.attempts+l.silent[i], int64(n)
	return &out
}

// calls is how many of n things each lost attempt has, and for how many tasks.
func (l *losing) calls(n int) (each int, times uint64) {
	lost := l.attempts + l.records
	mean := float64(n) / float64(max(1, l.of))
	if mean >= 1 || lost == 0 {
		return int(math.Round(mean)), uint64(lost)
	}
	return 1, uint64(max(1, math.Round(float64(lost)*mean)))
}

// rate adds the lost attempts to a rate. bad: its successes are bad.
func (l *losing) rate(r *exact.Rate, bad bool) {
	if n, times := l.calls(r.N()); r.N() > 0 {
		r.AddTimes(n*one(l.good != bad), n, times)
	}
}

func (l *losing) mean(x *exact.Mean) {
	if n, times := l.calls(x.N()); x.N() > 0 {
		x.AddTimes(int64(n*one(l.good))*exact.Scale, n, times)
	}
}

// quantiles adds lost attempts with the time 0, or never.
func (l *losing) quantiles(q *exact.Quantiles) {
	n, times := l.calls(q.N())
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
	for range min(times, maxEach) {
		q.Add(values, late)
	}
}

// pass adds each lost attempt to its task.
func (l *losing) pass(t *recordSums) {
	t.pass = t.complete
	for k, n := range t.short {
		passes, trials := k.passes+k.lost*one(l.good), k.trials+k.lost
		t.pass.AddAttemptsTimes(passes, trials, stats.AttemptsOf(passes, trials), uint64(n))
	}
	t.pass.AddTimes(one(l.good), 1, uint64(l.records))
}

func (l *losing) fromRecords(t *recordSums) {
	l.pass(t)
	l.whereErrorsCount().rate(&t.fault, true)
	for i := range t.judged {
		l.byJudge(i, t.judged[i].N()).rate(&t.judged[i], false)
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
	l.whereErrorsCount().rate(&x.unparseable, true)
	l.rate(&x.repaired, true)
	l.rate(&x.native, false)
	for i := range x.means {
		l.mean(&x.means[i])
	}
	l.quantiles(&x.first)
}
