// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"slices"
)

// TaskMean is the mean of a metric over the attempts at a task, at its lowest and at its highest. The
// two differ where attempts are lost: by the share of these.
type TaskMean struct {
	Task      string
	Low, High float64
	// Values is how many values the mean is of; 0 where all attempts are lost.
	Values int
}

// Means lists the means of a metric at the tasks of a slice, in the given order: those of a target
// that were planned and can have the metric. The zero SliceID is all tasks. why is not empty where the
// metric has no mean in [0,1] over attempts: amounts, quantiles and rates of calls.
// Source: Statistics specification, section 16.6.
func (l *Ledger) Means(target, metric string, in SliceID, order []string) (list []TaskMean, why string) {
	p, k, why := l.meanOf(metric)
	t := slices.Index(l.targets, target)
	if why != "" || t < 0 {
		return nil, why
	}
	for _, id := range order {
		i, known := l.index[id]
		if !known || !l.isIn(t, i, in) {
			continue
		}
		m, why := l.meanAt(t, i, k, &p, in)
		if why != "" {
			return nil, why
		}
		if m.High > m.Low || m.Values > 0 {
			list = append(list, m)
		}
	}
	return list, ""
}

// MeanChanges lists the differences of the means of a metric at the tasks that both sides have, now -
// before, with the sign such that more is better: in [-1,1]. A task that the baseline does not have is
// left out.
func MeanChanges(base, cand *Ledger, before, now, metric string, in SliceID, order []string) ([]TaskMean, string) {
	p, _, _ := cand.meanOf(metric)
	was, why := base.Means(before, metric, SliceID{}, order)
	if why != "" {
		return nil, why
	}
	is, why := cand.Means(now, metric, in, order)
	if why != "" {
		return nil, why
	}
	of := make(map[string]TaskMean, len(was))
	for _, m := range was {
		of[m.Task] = m
	}
	var out []TaskMean
	for _, m := range is {
		b, known := of[m.Task]
		if !known || base.asks(m.Task) != cand.asks(m.Task) {
			continue
		}
		d := TaskMean{Task: m.Task, Low: m.Low - b.High, High: m.High - b.Low, Values: min(m.Values, b.Values)}
		if p.LowerIsBetter {
			d.Low, d.High = -d.High, -d.Low
		}
		out = append(out, d)
	}
	return out, ""
}

// asks is the hash of what a task asks.
func (l *Ledger) asks(id string) string { return l.cases[l.index[id]].hash }

// meanOf finds a metric with a mean in [0,1] over attempts; the position is -1 for verdicts.
func (l *Ledger) meanOf(metric string) (p Pairing, at int, why string) {
	p, why = PairingOf(metric)
	switch at = l.metric(metric); {
	case why != "":
		return p, at, why
	case p.Unit != UnitRate:
		return p, at, "it is an amount"
	case metric == MetricPass:
		return p, -1, ""
	case at < 0:
		return p, at, "it was not measured"
	}
	return p, at, ""
}

// isIn reports whether a case, or a part of it, is in a slice.
func (l *Ledger) isIn(target, i int, in SliceID) bool {
	return in == SliceID{} || slices.Contains(l.slicesOf(target, i), sliceID{in.Key, in.Value})
}

// meanAt is the mean of a metric at a case. The case has none where nothing is lost and nothing has a
// value.
func (l *Ledger) meanAt(target, i, metric int, p *Pairing, in SliceID) (m TaskMean, why string) {
	all := l.at(target, i)
	of := all.moment()
	lost := int(all.lost)
	if !CountsErrors(p.Metric) {
		lost += int(all.errors)
	}
	if metric >= 0 {
		id := sliceID{in.Key, in.Value}
		of = l.seen(target, i).total(metric, p, id, slices.Contains(l.cases[i].slices, id))
	}
	m = TaskMean{Task: l.cases[i].id, Values: of.n}
	mean := of.mean()
	switch {
	case of.n > 0 && !of.each:
		return m, fmt.Sprintf("it is a rate of calls; %s can be decided early", ByTask(p.Metric))
	case of.n > 0 && !(mean >= 0 && mean <= 1):
		return m, "its values are not between 0 and 1"
	case of.n+lost == 0:
		return m, ""
	}
	known := float64(of.n) / float64(of.n+lost)
	if p.byTask() && of.n > 0 { // the attempts that are not lost decide it together
		known = float64(all.judged) / float64(max(1, int(all.judged)+lost))
	}
	m.Low, m.High = mean*known, mean*known+1-known
	return m, ""
}
