// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/conform"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// trialRun draws the data of gates. Unlike plans it draws task by task, and it checks whole panels
// with whole gates.
type trialRun struct{ *rand.Rand }

func trialOf(do func(t *trialRun) bool) func(*rand.Rand) bool {
	return func(rng *rand.Rand) bool { return do(&trialRun{rng}) }
}

// rate is the interval of a rate over tasks with this number of attempts.
func (t *trialRun) rate(tasks, attempts int, truth, icc float64) stats.Interval {
	var c stats.Clusters
	for range tasks {
		passes := stats.DrawPasses(t.Rand, attempts, stats.DrawRate(t.Rand, truth, icc))
		c.AddAttempts(float64(passes), attempts, true, stats.AttemptsOf(passes, attempts))
	}
	return c.Interval(confidence, stats.DefaultRho0)
}

// held returns the verdict of one gate on one metric.
func held(g gates.Gate, unit panel.Unit, iv stats.Interval) *gates.Verdict {
	m := panel.Metric{Name: g.Metric, Unit: unit, Of: "attempts", Interval: iv}
	return decided(&gates.Input{Panels: panelsOf(m)}, g)
}

func panelsOf(ms ...panel.Metric) *panel.Panels {
	return &panel.Panels{
		Confidence: confidence,
		Targets:    []panel.TargetPanel{{Name: "t", Overall: panel.Slice{Metrics: ms}}},
	}
}

func decided(in *gates.Input, g gates.Gate) *gates.Verdict {
	r, problems := gates.Evaluate(*in, []gates.Gate{g})
	if len(problems) > 0 {
		panic(problems[0].Message) // the gates are made in this file
	}
	return &r.Verdicts[0]
}

// changed returns the verdict of a gate with a baseline on a change.
func changed(metric string, d panel.Difference) *gates.Verdict {
	p, _ := panel.PairingOf(metric)
	c := panel.TargetComparison{Candidate: "t"}
	if metric == panel.MetricPass {
		c.Overall = d
	} else {
		c.Measured = []panel.Measured{{Pairing: p, Overall: d}}
	}
	in := gates.Input{Panels: panelsOf(), Comparison: &panel.Comparison{Targets: []panel.TargetComparison{c}}}
	return decided(&in, gates.Gate{Metric: metric, Kind: gates.Regression})
}

// question is a question to a plan, by the flags of its command line.
type question struct {
	metric string
	power  float64
	flags  map[string]float64
	// attempts is the question to a plan of attempts.
	attempts []int
	// looks is how often the gate is checked.
	looks string
}

func (q question) ask() (*plan.Plan, error) {
	a := plan.Ask{
		Metric: q.metric, Power: 0.8, Tasks: 1000, Attempts: q.attempts,
		Bound: q.flags["bound"], Truth: q.flags["truth"], SD: q.flags["sd"], Sens: q.flags["judge-sens"],
		Spec:   q.flags["judge-spec"],
		Labels: int(q.flags["labels"]), Diff: q.flags["baseline-diff"], Discordant: q.flags["discordant"],
		Correlation: q.flags["correlation"], MaxRate: q.flags["max-rate"],
	}
	if n := q.flags["tasks"]; n > 0 {
		a.Tasks = int(n)
	}
	if q.power > 0 {
		a.Power, a.Given = q.power, append(a.Given, "power")
	}
	if a.Looks = q.looks; q.looks != "" {
		a.Given = append(a.Given, "looks")
	}
	for name := range q.flags {
		a.Given = append(a.Given, strings.ReplaceAll(name, "-", "_"))
	}
	p, err := plan.Make(a)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", q.metric, err)
	}
	return p, nil
}

// sized checks the promise of a number in a plan. Gates of that size decide with at least the
// chance less three points; gates of the size before it on the grid with at most the chance and
// three points. least is the smallest possible size.
func sized(name string, n, least int, chance float64, gateOf func(t *trialRun, n int) bool) []conform.Study {
	out := []conform.Study{strictly(fmt.Sprintf("%s: %d", name, n), chance-bar, 1,
		func(t *trialRun) bool { return n > 0 && gateOf(t, n) })}
	before := n - 1
	if sizes := gates.Sizes(); n <= gates.MostTasks {
		if i := slices.Index(sizes, n); i > 0 {
			before = sizes[i-1]
		}
	}
	if before >= least {
		out = append(out, strictly(fmt.Sprintf("%s: %d, one size less", name, before), 0, chance+bar,
			func(t *trialRun) bool { return gateOf(t, before) }))
	}
	return out
}

// plannedStudies compare the numbers of plans with simulated gates.
func plannedStudies() ([]conform.Study, error) {
	var out []conform.Study
	for _, part := range []func() ([]conform.Study, error){
		plannedRates, plannedLabels, plannedChanges,
		plannedAmounts, plannedLooks,
	} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	for _, rate := range []float64{0.05, 0.01} {
		q := question{metric: "safety_incidents", flags: map[string]float64{"max-rate": rate}}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		n := p.Zero[0].Exposed
		out = append(out,
			strictly(fmt.Sprintf("plan safety_incidents, %g at the rate to rule out passes falsely: %d", rate, n), 0,
				0.05+bar, func(t *trialRun) bool {
					iv := t.rate(n, 1, rate, 0)
					return held(gates.Gate{Metric: q.metric, Kind: gates.Zero, MaxRate: rate}, panel.UnitRate,
						iv).Verdict == gate.Pass
				}))
	}
	return out, nil
}

func plannedRates() ([]conform.Study, error) {
	var out []conform.Study
	for _, c := range []struct {
		metric                   string
		bound, truth, power, icc float64
		attempts                 []int
	}{
		{metric: "pass_rate", bound: 0.85, truth: 0.9, icc: 0.3, attempts: []int{3, 5}},
		{metric: "schema_valid", bound: 0.98, truth: 0.995, icc: 0.1, attempts: []int{3}},
		{metric: "arg_em", bound: 0.9, truth: 0.95, power: 0.9, icc: 0.6, attempts: []int{3}},
		{metric: "over_call_rate", bound: 0.1, truth: 0.05, icc: 0.4, attempts: []int{5}},
		{metric: "pass_rate", bound: 0.8, truth: 0.95, icc: 0.3, attempts: []int{3}},
		{metric: "pass_rate", bound: 0.95, truth: 0.97, power: 0.5, icc: 0.2, attempts: []int{2}},
	} {
		q := question{
			metric: c.metric, power: c.power, attempts: c.attempts,
			flags: map[string]float64{"bound": c.bound, "truth": c.truth, "correlation": c.icc},
		}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		g := gates.Gate{Metric: c.metric, Kind: gates.Bound, Direction: gate.AtLeast, Bound: c.bound}
		if p.Rate.AtMost {
			g.Direction = gate.AtMost
		}
		passes := func(attempts int) func(t *trialRun, n int) bool {
			return func(t *trialRun, n int) bool {
				return held(g, panel.UnitRate, t.rate(n, attempts, c.truth, c.icc)).Verdict == gate.Pass
			}
		}
		name := fmt.Sprintf("plan %s, %g at %g", c.metric, c.bound, c.truth)
		// An exact size has no grid: the size before it is one task less.
		n := p.Rate.Tasks
		out = append(out, promised(fmt.Sprintf("%s: %d, chance reported", name, n), p.Rate.Chance,
			func(t *trialRun) bool { return passes(1)(t, n) }))
		if n > p.MinUnits {
			out = append(out, strictly(fmt.Sprintf("%s: %d, one size less", name, n-1), 0, p.Power+bar,
				func(t *trialRun) bool { return passes(1)(t, n-1) }))
		}
		for _, s := range p.Rate.Several {
			out = append(out, sized(fmt.Sprintf("%s, %d attempts", name, s.Attempts), s.Tasks, p.MinUnits, p.Power,
				passes(s.Attempts))...)
		}
	}
	return out, nil
}

// plannedLooks measure the chance of gates that are checked after each task, at most as often as
// planned.
func plannedLooks() ([]conform.Study, error) {
	var out []conform.Study
	for _, c := range []struct {
		metric                   string
		bound, truth, power, icc float64
		attempts                 []int
	}{
		{"pass_rate", 0.85, 0.95, 0.9, 0.3, []int{1, 3}},
		{"over_call_rate_by_task", 0.1, 0.05, 0.8, 0.5, []int{1, 5}},
	} {
		q := question{
			metric: c.metric, power: c.power, attempts: c.attempts, looks: plan.LooksAny,
			flags: map[string]float64{"bound": c.bound, "truth": c.truth, "correlation": c.icc},
		}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		direction := gate.AtLeast
		if p.Rate.AtMost {
			direction = gate.AtMost
		}
		for _, d := range p.Looks.Designs {
			rule, flip := gate.Bounded(direction, c.bound)
			rule.MinUnits = p.MinUnits
			name := fmt.Sprintf("plan %s, %g at %g, %d attempts, a look after each task of %d: chance reported", c.metric,
				c.bound, c.truth, d.Attempts, d.Until.Most)
			out = append(out, promised(name, d.Until.Chance, func(t *trialRun) bool {
				s, _ := gate.NewSequence(rule) // the plan has accepted the bound
				for s.N() < d.Until.Most && !s.Decided() {
					passes := stats.DrawPasses(t.Rand, d.Attempts, stats.DrawRate(t.Rand, c.truth, c.icc))
					x := float64(passes) / float64(d.Attempts)
					task := gate.Task{Low: x, High: x}
					if flip {
						task = task.Flipped()
					}
					s.Add(task)
				}
				return s.Decision().Verdict == gate.Pass
			}))
		}
	}
	return out, nil
}

func plannedLabels() ([]conform.Study, error) {
	var out []conform.Study
	for _, c := range []struct{ bound, truth, sens, spec, tasks, labels float64 }{
		{0.85, 0.9, 0.95, 0.9, 1000, 200},
		{0.8, 0.9, 0.9, 0.8, 400, 100},
	} {
		q := question{metric: "true_success", flags: map[string]float64{
			"bound": c.bound, "truth": c.truth, "judge-sens": c.sens, "judge-spec": c.spec, "tasks": c.tasks,
			"labels": c.labels,
		}}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		g := gates.Gate{Metric: q.metric, Kind: gates.Bound, Direction: gate.AtLeast, Bound: c.bound}
		j := judgedTasks{tasks: int(c.tasks), truth: c.truth, sens: c.sens, spec: c.spec}
		for _, d := range []struct {
			name string
			l    plan.Labels
			iv   func(t *trialRun, n int) stats.Interval
		}{
			{
				"at random", p.Judge.Random,
				func(t *trialRun, n int) stats.Interval { return j.internal(t, n, labels.AtRandom, c.bound) },
			},
			{
				"by verdict", p.Judge.ByVerdict,
				func(t *trialRun, n int) stats.Interval { return j.internal(t, n, labels.Neyman, c.bound) },
			},
			{"elsewhere", p.Judge.Elsewhere, j.elsewhere},
		} {
			passes := func(t *trialRun, n int) bool { return held(g, panel.UnitRate, d.iv(t, n)).Verdict == gate.Pass }
			name := fmt.Sprintf("plan true_success, %g at %g, judge %g/%g, labels %s", c.bound, c.truth, c.sens,
				c.spec, d.name)
			if d.l.Needed != nil {
				out = append(out, sized(name, *d.l.Needed, 1, p.Power, passes)...)
			}
			out = append(out, promised(fmt.Sprintf("%s: %g, chance reported", name, c.labels), *d.l.Chance,
				func(t *trialRun) bool { return passes(t, int(c.labels)) }))
		}
	}
	return out, nil
}

// judgedTasks are tasks with a verdict of a judge, one attempt each.
type judgedTasks struct {
	tasks             int
	truth, sens, spec float64
}

// one draws a task: whether it truly passed, and the judge's verdict.
func (j *judgedTasks) one(t *trialRun) (truly, judged bool) {
	truly = t.Float64() < j.truth
	if truly {
		return truly, t.Float64() < j.sens
	}
	return truly, t.Float64() >= j.spec
}

// internal labels tasks of the run, drawn as callvet label next draws them. Its interval is
// judge.Stratified's, computed only so far that it is below bound or not.
func (j *judgedTasks) internal(t *trialRun, n int, how labels.Strategy, bound float64) stats.Interval {
	truth := map[string]bool{}
	items := make([]labels.CalibrationItem, j.tasks)
	s := judge.Strata{N: j.tasks}
	for i := range items {
		id := fmt.Sprintf("t%d", i)
		truly, judged := j.one(t)
		truth[id] = truly
		if judged {
			s.JudgePass++
		}
		items[i] = labels.CalibrationItem{
			Key:    labels.Key{TaskID: id},
			Judged: []labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: &judged}},
		}
	}
	drawn, err := labels.Queue{Strategy: how, N: n, By: "a", Seed: t.Uint64()}.Next(items, nil)
	if err != nil {
		panic(err) // the queue is made in this file
	}
	for _, l := range drawn {
		hit := 0
		if truth[l.TaskID] {
			hit = 1
		}
		if *l.Judged[0].Pass {
			s.LabelledPass++
			s.TruePassInPass += hit
		} else {
			s.LabelledFail++
			s.TruePassInFail += hit
		}
	}
	iv := stats.Interval{Point: 0.5, Upper: 1, N: s.N, Clusters: s.N, Confidence: confidence, Status: stats.StatusOK}
	if below := judge.StratifiedBelow(s, bound); below <= (1-confidence)/2 {
		iv.Lower = bound
	} else if math.IsNaN(below) {
		iv.Status = judge.MissingStratum
	}
	if min(s.LabelledPass, s.LabelledFail) < judge.MinStratum && s.LabelledFail < s.N-s.JudgePass {
		iv.Status = judge.TooFewUnits
	}
	return iv
}

// elsewhere labels other tasks, from the same distribution as the tasks of the run.
func (j *judgedTasks) elsewhere(t *trialRun, n int) stats.Interval {
	var run stats.Clusters
	for range j.tasks {
		_, judged := j.one(t)
		run.Add(asNumber(judged), 1, true)
	}
	var c judge.Calibration
	for range n {
		switch truly, judged := j.one(t); {
		case truly && judged:
			c.LabelledPass, c.TruePositive = c.LabelledPass+1, c.TruePositive+1
		case truly:
			c.LabelledPass++
		case !judged:
			c.LabelledFail, c.TrueNegative = c.LabelledFail+1, c.TrueNegative+1
		default:
			c.LabelledFail++
		}
	}
	return judge.TrueSuccess(run.Interval(confidence, stats.DefaultRho0), c, confidence)
}

func asNumber(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func plannedChanges() ([]conform.Study, error) {
	var out []conform.Study
	for _, c := range []struct {
		metric                 string
		rate, discordant, loss float64
		attempts               []int
	}{
		{"pass_rate", 0.9, 0.1, 0.05, []int{1, 3}},
		{"pass_rate", 0.8, 0.2, 0.1, []int{1, 5}},
		{"over_call_rate", 0.1, 0.06, 0.05, []int{1, 2}},
	} {
		q := question{
			metric: c.metric, attempts: c.attempts,
			flags: map[string]float64{"truth": c.rate, "discordant": c.discordant, "baseline-diff": c.loss},
		}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		pairing, _ := panel.PairingOf(c.metric)
		good := c.rate
		if pairing.LowerIsBetter {
			good = 1 - c.rate
		}
		icc := 1 - c.discordant/(2*good*(1-good))
		decides := func(want gate.Verdict, of sides) func(t *trialRun, n int) bool {
			return func(t *trialRun, n int) bool {
				return changed(c.metric, compared(t.Rand, &pairing, n, of)).Verdict == want
			}
		}
		for _, row := range p.Paired.Rows {
			name := fmt.Sprintf("plan %s against a baseline of %g, %d attempts", c.metric, c.rate, row.Attempts)
			of := func(broken, loss float64) sides {
				return turned(steady(row.Attempts, good, icc, broken, loss), pairing.LowerIsBetter)
			}
			out = append(out, sized(fmt.Sprintf("%s, loss of %g found", name, c.loss), row.Fails, p.MinUnits, p.Power,
				decides(gate.Fail, of(0, c.loss)))...)
			out = append(out,
				sized(name+", no change passes", row.Passes, p.MinUnits, p.Power, decides(gate.Pass, of(0, 0)))...)
			broken := row.Breaks
			if row.Attempts == 1 {
				broken = row.Fails
			}
			out = append(out, sized(fmt.Sprintf("%s, breaks worth %g found", name, c.loss), broken, p.MinUnits, p.Power,
				decides(gate.Fail, of(c.loss, 0)))...)
		}
	}
	return out, nil
}

// turned counts failures instead of passes.
func turned(of sides, lowerIsBetter bool) sides {
	if !lowerIsBetter {
		return of
	}
	return func(rng *rand.Rand) (before, after panel.Share) {
		before, after = of(rng)
		before.Sum, after.Sum = float64(before.N)-before.Sum, float64(after.N)-after.Sum
		return before, after
	}
}

func plannedAmounts() ([]conform.Study, error) {
	var out []conform.Study
	for _, c := range []struct {
		metric           string
		bound, truth, sd float64
	}{
		{"cost_per_attempt", 0.05, 0.04, 0.02},
		{"cost_per_attempt", 0.05, 0.04, 0.06},
		{"tokens_per_attempt", 1000, 900, 500},
		{"calls_per_attempt", 3.3, 3, 1.5},
		{"unneeded_calls_per_attempt", 0.1, 0.05, 0.3},
	} {
		q := question{metric: c.metric, flags: map[string]float64{"bound": c.bound, "truth": c.truth, "sd": c.sd}}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		g := gates.Gate{Metric: c.metric, Kind: gates.Bound, Direction: gate.AtMost, Bound: c.bound}
		one := q.amount()
		out = append(out, sized(fmt.Sprintf("plan %s, %g at %g ± %g", c.metric, c.bound, c.truth, c.sd), p.Mean.Tasks,
			p.MinUnits, p.Power, func(t *trialRun, n int) bool {
				if panel.Describe(c.metric).Unit == panel.UnitRate { // a count
					var sum stats.Counts
					for range n {
						sum.Add(one(t.Rand, c.truth, c.sd), 1, true)
					}
					return held(g, panel.UnitCount, sum.Interval(confidence)).Verdict == gate.Pass
				}
				var sum stats.Ratio
				for range n {
					sum.Add(one(t.Rand, c.truth, c.sd), 1)
				}
				return held(g, panel.Describe(c.metric).Unit, sum.Interval(confidence)).Verdict == gate.Pass
			})...)
	}
	for _, c := range []struct {
		metric         string
		mean, rise, sd float64
	}{{"cost_per_attempt", 1, 0.1, 0.3}, {"latency_mean", 1, 0.2, 0.8}, {"calls_per_attempt", 2, 0.15, 0.5}} {
		q := question{metric: c.metric, flags: map[string]float64{"baseline-diff": c.rise, "sd": c.sd}}
		if c.mean != 1 {
			q.flags["truth"] = c.mean
		}
		p, err := q.ask()
		if err != nil {
			return nil, err
		}
		pairing, _ := panel.PairingOf(c.metric)
		one := q.amount()
		decides := func(want gate.Verdict, rise float64) func(t *trialRun, n int) bool {
			side := func(rng *rand.Rand, mean float64) panel.Share {
				return panel.Share{Sum: one(rng, mean, c.sd*mean/math.Sqrt2), N: 1}
			}
			return func(t *trialRun, n int) bool {
				return changed(c.metric,
					compared(t.Rand, &pairing, n, func(rng *rand.Rand) (before, after panel.Share) {
						return side(rng, c.mean), side(rng, c.mean*(1+rise))
					})).Verdict == want
			}
		}
		name := fmt.Sprintf("plan %s against a baseline, ± %g", c.metric, c.sd)
		out = append(out, sized(fmt.Sprintf("%s, rise of %g found", name, c.rise), p.Paired.Rows[0].Fails, p.MinUnits,
			p.Power, decides(gate.Fail, c.rise))...)
		out = append(out,
			sized(name+", no change passes", p.Paired.Rows[0].Passes, p.MinUnits, p.Power, decides(gate.Pass, 0))...)
	}
	return out, nil
}

// amount draws the value of a task.
func (q question) amount() func(rng *rand.Rand, mean, sd float64) float64 {
	if q.metric == "calls_per_attempt" || q.metric == "unneeded_calls_per_attempt" {
		return func(rng *rand.Rand, mean, sd float64) float64 { return float64(stats.DrawCount(rng, mean, sd)) }
	}
	return stats.DrawAmount
}
