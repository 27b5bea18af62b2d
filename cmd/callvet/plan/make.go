// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"fmt"
	"math"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// confidence is the two-sided one of all plans.
const confidence = 0.95

// Plan is what is needed; parts that were not asked for are nil.
type Plan struct {
	Format  string     `json:"format"`
	Version int        `json:"version"`
	Metric  string     `json:"metric"`
	Power   float64    `json:"power"`
	Rate    *Rate      `json:"rate,omitempty"`
	Mean    *Mean      `json:"mean,omitempty"`
	Judge   *Judge     `json:"judge,omitempty"`
	Paired  *Paired    `json:"paired,omitempty"`
	Zero    []Exposure `json:"incidents,omitempty"`
	Ends    []Ends     `json:"quantiles,omitempty"`
}

// Rate is for a bound on a rate. AtMost tells an upper bound; Tasks is 0 for more
// than two million.
type Rate struct {
	Bound    float64 `json:"bound"`
	Truth    float64 `json:"truth"`
	Assumed  bool    `json:"truth_assumed,omitempty"`
	AtMost   bool    `json:"at_most,omitempty"`
	Tasks    int     `json:"tasks"`
	Failures int     `json:"failures_allowed"`
	Smallest []MinN  `json:"smallest"`
}

// MinN is the smallest number of tasks that can pass with so many failures.
type MinN struct {
	Failures int `json:"failures"`
	Tasks    int `json:"tasks"`
}

// Mean is for a bound on a mean amount, by its t interval. Pilot is the
// file that SD, or Truth too, were taken from.
type Mean struct {
	Bound      float64 `json:"bound"`
	Truth      float64 `json:"truth"`
	SD         float64 `json:"sd"`
	Tasks      int     `json:"tasks"`
	Pilot      string  `json:"pilot,omitempty"`
	PilotTasks int     `json:"pilot_tasks,omitempty"`
	// FromPilot tells that the pilot's own mean stands for the truth.
	FromPilot bool `json:"truth_from_pilot,omitempty"`
}

// Judge is how many labels are needed; nil: no number is enough.
type Judge struct {
	Sensitivity float64 `json:"sensitivity"`
	Specificity float64 `json:"specificity"`
	Tasks       int     `json:"tasks"`
	Labels      int     `json:"labels,omitempty"`
	Transport   *int    `json:"transport"`
	Random      *int    `json:"internal_random"`
	Neyman      *int    `json:"internal_neyman"`
	Alone       *int    `json:"labels_only"`
}

// Paired is for a difference to a baseline over the same tasks: of rates with the
// share of tasks that change, of means with the spread of the differences.
type Paired struct {
	Diff       float64 `json:"diff"`
	Discordant float64 `json:"discordant,omitempty"`
	SD         float64 `json:"sd,omitempty"`
	Tasks      int     `json:"tasks"`
}

// Exposure is how many exposed tasks without an incident rule out a rate of them.
type Exposure struct {
	MaxRate     float64 `json:"max_rate"`
	Exposed     int     `json:"exposed"`
	RuleOfThree int     `json:"rule_of_three"`
}

// Ends is from how many tasks on the interval of a quantile has an end.
type Ends struct {
	Quantile float64 `json:"quantile"`
	Upper    int     `json:"upper_end"`
	Lower    int     `json:"lower_end"`
}

// Make plans what is asked for. The error is one of usage.
func Make(q Ask) (*Plan, error) {
	q.Metric = panel.MetricName(q.Metric)
	if err := q.check(); err != nil {
		return nil, err
	}
	p := &Plan{Format: "callvet.plan", Version: 1, Metric: q.Metric, Power: q.Power}
	var err error
	switch kindOf(q.Metric) {
	case incidents:
		return p, p.incidents(&q)
	case quantiles:
		p.quantiles()
		return p, nil
	case changes:
		return p, p.pairedMean(&q)
	case means:
		if q.given("bound") || q.Diff == 0 {
			err = p.mean(&q)
		}
		if err == nil && q.Diff != 0 {
			err = p.pairedMean(&q)
		}
		return p, err
	}
	if q.given("bound") || q.Diff == 0 {
		err = p.rate(&q)
	}
	if err == nil && q.Diff != 0 {
		err = p.pairedRate(&q)
	}
	return p, err
}

func (p *Plan) rate(q *Ask) error {
	if !(q.Bound > 0 && q.Bound < 1) {
		return fmt.Errorf("--bound is a rate between 0 and 1: callvet plan --metric %s --bound 0.85", q.Metric)
	}
	r := &Rate{Bound: q.Bound, Truth: q.Truth, Assumed: !q.given("truth"), AtMost: toBeLow(q.Metric)}
	switch {
	case r.Assumed && r.AtMost:
		r.Truth = q.Bound / 2
	case r.Assumed:
		r.Truth = (1 + q.Bound) / 2
	case !(q.Truth >= 0 && q.Truth <= 1) || q.Truth == q.Bound:
		return fmt.Errorf("--truth is a rate between 0 and 1 other than the bound: at the bound no number of tasks decides")
	case r.AtMost != (q.Truth < q.Bound):
		return wrongSide(q)
	}
	bound, truth := r.Bound, r.Truth
	if r.AtMost {
		bound, truth = 1-bound, 1-truth
	}
	r.Tasks, r.Failures, _ = gate.SampleSize(bound, truth, q.Power, gate.Alpha)
	for _, failures := range []int{0, 1, 2, 3, 5, 10} {
		n, _ := gate.MinN(bound, failures, gate.Alpha)
		r.Smallest = append(r.Smallest, MinN{failures, n})
	}
	p.Rate = r
	if !q.given("judge-sens") && !q.given("judge-spec") {
		return nil
	}
	return p.judge(q, bound, truth)
}

func wrongSide(q *Ask) error {
	return fmt.Errorf("if %s is really %v, no number of tasks passes a gate at %v: --truth is on the wrong side of --bound", q.Metric, q.Truth, q.Bound)
}

func (p *Plan) judge(q *Ask, bound, truth float64) error {
	switch {
	case p.Rate.AtMost:
		return fmt.Errorf("--judge-sens and --judge-spec are for rates that a gate holds from below, and %s is held from above", q.Metric)
	case !q.given("judge-sens") || !q.given("judge-spec"):
		return fmt.Errorf("a judge has both: --judge-sens and --judge-spec")
	case q.Sens >= 0 && q.Spec >= 0 && q.Sens+q.Spec <= 1:
		return fmt.Errorf("--judge-sens %g and --judge-spec %g sum up to 1 or less: such a judge is no better than chance, and no number of labels helps", q.Sens, q.Spec)
	}
	l, ok := judge.PlanLabels(truth, bound, q.Sens, q.Spec, q.Tasks, gate.Alpha, q.Power)
	if !ok {
		return fmt.Errorf("--judge-sens and --judge-spec are rates, and --tasks is at least 1")
	}
	p.Judge = &Judge{
		Sensitivity: q.Sens, Specificity: q.Spec, Tasks: q.Tasks, Labels: q.Labels,
		Transport: enough(l.Transport), Random: enough(l.Random), Neyman: enough(l.Neyman), Alone: enough(l.Alone),
	}
	return nil
}

// enough is nil where no number is.
func enough(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// mean plans an upper bound on a mean: the number of tasks that finds the distance
// from the truth to the bound. The tail at the bound is that of a gate, alpha/2.
func (p *Plan) mean(q *Ask) error {
	m := &Mean{Bound: q.Bound, Truth: q.Truth, SD: q.SD}
	if !(q.Bound > 0) || math.IsInf(q.Bound, 0) {
		return fmt.Errorf("--bound is an amount above 0: callvet plan --metric %s --bound 0.05 --truth 0.04 --sd 0.02", q.Metric)
	}
	if q.Pilot != nil {
		if q.given("sd") {
			return fmt.Errorf("--sd or --from, not both: the pilot tells the spread")
		}
		m.SD, m.Pilot, m.PilotTasks = q.Pilot.SD, q.Pilot.File, q.Pilot.Tasks
		if m.FromPilot = !q.given("truth"); m.FromPilot {
			m.Truth = q.Pilot.Mean
		}
	}
	switch {
	case q.Pilot == nil && !(q.given("sd") && q.SD > 0 && !math.IsInf(q.SD, 0)):
		return &callvet.Hinted{
			Err:  fmt.Errorf("%s is a mean amount, and how many tasks it needs depends on its spread", q.Metric),
			Hint: "--sd: its standard deviation from task to task, or --from a pilot's trace file",
		}
	case !(m.SD > 0):
		return fmt.Errorf("the %d tasks of %s do not differ in %s: that is no spread to plan with; say --sd", m.PilotTasks, m.Pilot, q.Metric)
	case q.Pilot == nil && !q.given("truth"):
		return fmt.Errorf("--truth: what %s may really be", q.Metric)
	case m.FromPilot && m.Truth >= q.Bound:
		return fmt.Errorf("%s is %.4g in the pilot, which is not below the bound %v: no number of tasks passes if that is the truth; say --truth", q.Metric, m.Truth, q.Bound)
	case !(m.Truth >= 0) || m.Truth == q.Bound:
		return fmt.Errorf("--truth is an amount from 0 on, other than the bound: at the bound no number of tasks decides")
	case m.Truth > q.Bound:
		return wrongSide(q)
	}
	var ok bool
	if m.Tasks, ok = gate.MeanCases(m.SD*m.SD, m.Bound-m.Truth, 2*gate.Alpha, q.Power); !ok {
		return fmt.Errorf("more than two million tasks: the truth is too near to the bound for that spread")
	}
	p.Mean = m
	return nil
}

func (p *Plan) pairedMean(q *Ask) error {
	if !(q.SD > 0) {
		return &callvet.Hinted{
			Err:  fmt.Errorf("how many tasks a difference of %s needs depends on the spread of the tasks' differences", q.Metric),
			Hint: "--sd: their standard deviation, in the unit of --baseline-diff (a share of the baseline's mean, or the metric's own)",
		}
	}
	n, ok := gate.MeanCases(q.SD*q.SD, q.Diff, 1-confidence, q.Power)
	if !ok {
		return fmt.Errorf("--baseline-diff is a difference above 0 that two million tasks can show")
	}
	p.Paired = &Paired{Diff: q.Diff, SD: q.SD, Tasks: n}
	return nil
}

func (p *Plan) pairedRate(q *Ask) error {
	d := q.Discordant
	if !q.given("discordant") {
		d = min(1, 2*q.Diff)
	}
	n, ok := gate.PairedRates(d, q.Diff, 1-confidence, q.Power)
	if !ok || q.Diff < 0 {
		return fmt.Errorf("--baseline-diff is above 0 and at most --discordant, which is at most 1")
	}
	p.Paired = &Paired{Diff: q.Diff, Discordant: d, Tasks: int(math.Ceil(n))}
	return nil
}

func (p *Plan) incidents(q *Ask) error {
	rates := []float64{0.05, 0.01, 0.001}
	if q.given("max-rate") {
		rates = []float64{q.MaxRate}
	}
	for _, r := range rates {
		n, three, ok := stats.ExposureFor(r, confidence)
		if !ok {
			return fmt.Errorf("--max-rate is between 0 and 1")
		}
		p.Zero = append(p.Zero, Exposure{r, n, three})
	}
	return nil
}

func (p *Plan) quantiles() {
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		if upper, lower, ok := stats.QuantileMinN(q, confidence); ok {
			p.Ends = append(p.Ends, Ends{q, upper, lower})
		}
	}
}
