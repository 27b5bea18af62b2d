// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import "slices"

// TaskSum is the sum of the attempts at a task for a metric with values in [0,1]. Values values
// have the sum Sum; Lost attempts were planned and have no value.
type TaskSum struct {
	Task string `json:"task"`
	// Asks identifies the question of the task; "": not known.
	Asks   string  `json:"asks,omitempty"`
	Sum    float64 `json:"sum"`
	Values float64 `json:"n"`
	Lost   float64 `json:"lost,omitempty"`
	// Cached reports that all attempts used an earlier answer.
	Cached bool `json:"-"`
}

// TaskMean is the mean of a metric over the attempts at a task, or a change of it, at its lowest and at its
// highest. The two differ where attempts are lost: by the share of these.
type TaskMean struct{ Low, High float64 }

// Mean is the mean of the task, in [0,1].
func (t *TaskSum) Mean() TaskMean {
	n := t.Values + t.Lost
	return TaskMean{Low: t.Sum / n, High: (t.Sum + t.Lost) / n}
}

// Valid reports whether values in [0,1] can have this sum.
func (t *TaskSum) Valid() bool {
	return t.Sum >= 0 && t.Sum <= t.Values && t.Lost >= 0 && t.Values+t.Lost > 0
}

// Pool adds up sums of the same tasks, in the order of their first appearance. Of a task that was
// changed since, the last one counts; reused answers add nothing.
func Pool(lists ...[]TaskSum) []TaskSum {
	var out []TaskSum
	at := map[string]int{}
	for _, list := range lists {
		for _, t := range list {
			i, known := at[t.Task]
			switch {
			case !known:
				at[t.Task], out = len(out), append(out, t)
			case out[i].Asks != t.Asks:
				out[i] = t
			case t.Cached:
			default:
				out[i].Sum, out[i].Values, out[i].Lost = out[i].Sum+t.Sum, out[i].Values+t.Values, out[i].Lost+t.Lost
			}
		}
	}
	return out
}

// MeanChange is the difference of the means of a task on two sides, now - before, in [-1,1]. lowerIsBetter turns
// the sign, so that more is better. ok is false where the task was changed.
func MeanChange(before, now *TaskSum, lowerIsBetter bool) (d TaskMean, ok bool) {
	x, y := before.Mean(), now.Mean()
	d = TaskMean{Low: y.Low - x.High, High: y.High - x.Low}
	if lowerIsBetter {
		d.Low, d.High = -d.High, -d.Low
	}
	return d, before.Asks == now.Asks
}

// Sums lists the sums of the attempts of a target for a metric, task by task in the given order.
// It has the tasks of a slice that were planned and can have the metric; the zero SliceID is all
// tasks. why is not empty for amounts, quantiles and rates of calls, which have no value in [0,1]
// for each attempt. Source: Statistics specification, section 16.6.
func (l *Ledger) Sums(target, metric string, in SliceID, order []string) (list []TaskSum, why string) {
	p, k, why := l.byAttempt(metric)
	t := slices.Index(l.targets, target)
	if why != "" || t < 0 {
		return nil, why
	}
	for _, id := range order {
		i, known := l.index[id]
		if !known || in != (SliceID{}) && !slices.Contains(l.slicesOf(t, i), sliceID{in.Key, in.Value}) {
			continue
		}
		s, why := l.sumAt(t, i, k, &p, in)
		if why != "" {
			return nil, why
		}
		if s.Values+s.Lost > 0 {
			list = append(list, s)
		}
	}
	return list, ""
}

// byAttempt finds a metric with values in [0,1]; the position is -1 for verdicts.
func (l *Ledger) byAttempt(metric string) (p Pairing, at int, why string) {
	p, why = TaskMeans(metric)
	switch at = l.metric(metric); {
	case why != "":
	case metric == MetricPass:
		at = -1
	case at < 0:
		why = "it was not measured"
	}
	return p, at, why
}

// askedDigits is the number of digits of a task's hash that identify its question.
const askedDigits = 16

// Asks returns TaskSum.Asks for a task with this hash.
func Asks(hash string) string { return hash[:min(len(hash), askedDigits)] }

// sumAt is the sum of a metric at a case.
func (l *Ledger) sumAt(target, i, metric int, p *Pairing, in SliceID) (s TaskSum, why string) {
	all, hash := l.at(target, i), l.cases[i].hash
	of, lost := all.moment(), float64(all.lost)
	if !CountsErrors(p.Metric) {
		lost += float64(all.errors)
	}
	if metric >= 0 {
		id := sliceID{in.Key, in.Value}
		of = l.seen(target, i).total(metric, p, id, slices.Contains(l.cases[i].slices, id))
	}
	switch {
	case of.n > 0 && !of.each:
		return s, ofCalls(p.Metric)
	case of.n > 0 && !(of.mean() >= 0 && of.mean() <= 1):
		return s, "its values are not between 0 and 1"
	}
	s = TaskSum{
		Task: l.cases[i].id, Asks: Asks(hash), Sum: of.sum, Values: float64(of.n), Lost: lost,
		Cached: all.fact(),
	}
	if p.byTask() && of.n > 0 && lost > 0 { // the attempts that are not lost decide it together
		known := float64(max(1, all.judged))
		s.Sum, s.Values = of.sum*known, known
	}
	return s, ""
}
