// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/exact"
)

// described is how a yes-or-no measurement of steps is reported.
type described struct {
	step        callvet.StepMetric
	name, title string
	lower       bool
	// inverse metrics are the share of "no".
	inverse bool
	// gold metrics need a label.
	gold bool
	// byTask metrics are reported by task as well.
	byTask bool
	// scored metrics have the name of a score of attempts.
	scored bool
}

// metric is the name of the metric over calls.
func (d *described) metric() string {
	if d.scored {
		return d.name + panel.ByCall
	}
	return d.name
}

var stepMetrics = [...]described{
	{step: callvet.StepSchemaValid, name: "schema_valid", title: "schema validity", byTask: true, scored: true},
	{step: callvet.StepKnownTool, name: "unknown_tool_rate", title: "unknown tools", lower: true, inverse: true},
	{
		step: callvet.StepSelection, name: "tool_selection", title: "tool selection", gold: true, byTask: true,
		scored: true,
	},
	{step: callvet.StepNeeded, name: "over_call_rate", title: "unneeded calls", lower: true, inverse: true, gold: true},
	{step: callvet.StepArgEM, name: "arg_em", title: "arguments exact", gold: true, byTask: true, scored: true},
	{step: callvet.StepExecuted, name: "execution_success", title: "executed", byTask: true},
	{step: callvet.StepRateLimited, name: "rate_limited_rate", title: "rate limited", lower: true},
	{step: callvet.StepTimeout, name: "timeout_rate", title: "timeouts", lower: true},
	{step: callvet.StepRejected, name: "rejected_rate", title: "rejected by contract", lower: true},
	{step: callvet.StepEqual, name: "result_consistency", title: "results as expected", gold: true},
	{step: callvet.StepHolds, name: "postconditions", title: "post-conditions hold", gold: true},
	{step: callvet.StepSafe, name: "safe_calls", title: "safe calls", byTask: true},
	{step: callvet.StepRepaired, name: panel.MetricRepaired, title: "repaired payloads", lower: true, scored: true},
	{step: callvet.StepInBudget, name: panel.MetricInBudget, title: "within latency budget"},
	{step: callvet.StepInP50, name: panel.MetricInP50, title: "within p50 budget"},
}

// tabler fills the table of one slice.
type tabler struct {
	cfg     *Config
	names   *SliceNames
	s       *sliceSums
	overall bool
	out     []panel.Metric
}

// ofRun reports whether the attempts come from a run, or were scored like those of a run.
func (t *tabler) ofRun() bool {
	return t.s.steps == 0 && t.s.fromRecords == nil || t.s.fromRecords != nil && t.s.fromRecords.scored != nil &&
		t.s.fromRecords.scored.attempts > 0
}

// always are the metrics that the table of all tasks has even without data.
func always(name string) bool {
	switch name {
	case "schema_valid", "tool_selection", "over_call_rate", "arg_em", "execution_success":
		return true
	}
	return false
}

func (t *tabler) metrics() []panel.Metric {
	t.out = make([]panel.Metric, 0, 40)
	t.verdicts()
	for i := range stepMetrics {
		t.stepRate(&stepMetrics[i])
	}
	t.latency("tool_latency", "tool latency", "calls", &t.s.exec, panel.UnitMS, 1)
	t.latency("tool_queue", "queue before the tool", "calls", &t.s.queue, panel.UnitMS, 1)
	t.latency("accept", "time to emit the call", "calls", &t.s.accept, panel.UnitMS, 1)
	t.fromRecords()
	t.count("calls_per_attempt", "calls", &t.s.calls, true)
	if t.s.labelled > 0 {
		t.count("unneeded_calls_per_attempt", "unneeded calls per attempt", &t.s.unneeded, true)
	}
	t.latency("tool_time", "tool time of an attempt", "attempts", &t.s.toolTime, panel.UnitMS, 1)
	t.incidents()
	return t.out
}

// unnamed is how many needed calls have a label that names no tool.
func (t *tabler) unnamed() int {
	return t.s.rates[callvet.StepNeeded].N() - t.s.rates[callvet.StepSelection].N()
}

// known is the rate of a measurement, or nil. Labels that only mark calls as needed or not show
// only wrong selections: the mean would be 0.
func (t *tabler) known(d *described) *exact.Rate {
	r := &t.s.rates[d.step]
	needed := &t.s.rates[callvet.StepNeeded]
	if d.step == callvet.StepSelection && t.unnamed() > 0 && r.N() == needed.N()-needed.Yes() {
		return &exact.Rate{}
	}
	return r
}

func (t *tabler) stepRate(d *described) {
	r := t.known(d)
	if r.N() == 0 && !(t.overall && always(d.name) && !t.ofRun()) {
		return
	}
	m := panel.Metric{Name: d.metric(), Title: d.title, Unit: panel.UnitRate, Of: "calls", LowerIsBetter: d.lower}
	m.Interval = r.Interval(t.cfg.Confidence, stats.DefaultRho0)
	m.Agree(r.N())
	if d.inverse {
		m.Interval = m.Interval.Complement()
	}
	if d.gold {
		m.NotApplicable = int(t.moot(d.step))
		if r.N() == 0 && int64(m.NotApplicable) < t.s.steps {
			m.Interval.Status = stats.StatusNoGold
		}
		m.Coverage = share1(int64(r.N()+m.NotApplicable), t.s.steps)
	}
	t.rateWarnings(d, &m, r)
	t.out = append(t.out, m)
	switch {
	case r.N() == 0:
	case d.byTask:
		t.byTask(d, r.ByCase(t.cfg.Confidence))
	case d.step == callvet.StepNeeded: // also over tasks without a call
		t.byTask(d, t.s.spared.Interval(t.cfg.Confidence, stats.DefaultRho0).Complement())
	}
	if d.step == callvet.StepArgEM && r.N() > 0 {
		t.fidelity(&m)
	}
}

// rateWarnings adds warnings about the rate.
func (t *tabler) rateWarnings(d *described, m *panel.Metric, r *exact.Rate) {
	m.Warnings = panel.RateWarnings(m, 0)
	if n := t.unnamed(); d.step == callvet.StepSelection && n > 0 && t.overall {
		m.Warnings = append(m.Warnings,
			fmt.Sprintf(
				"%d calls are labelled as needed, but no gold.tool says which tool is right: they are not in the rate",
				n))
	}
	if r.Informative() {
		m.Informative = true
		m.Warnings = append(m.Warnings, "tasks that fail more make more calls: watch the rate by task too")
	}
	if d.step == callvet.StepSchemaValid && !t.cfg.Catalogue && t.overall {
		m.Warnings = append(m.Warnings, "no tools were given: whether arguments keep a schema is not known")
	}
}

// byTask adds the metric by task for a measurement of calls.
func (t *tabler) byTask(d *described, iv stats.Interval) {
	by := panel.Metric{
		Name: panel.ByTask(d.name), Title: d.title + ", by task", Unit: panel.UnitRate, Of: "tasks",
		LowerIsBetter: d.lower, Interval: iv,
	}
	by.Warnings = panel.RateWarnings(&by, 0)
	t.out = append(t.out, by)
}

// moot is the number of calls with a label that the measurement does not apply.
func (t *tabler) moot(step callvet.StepMetric) int64 {
	if i := slices.Index(mootOf[:], step); i >= 0 {
		return t.s.moot[i]
	}
	return 0
}

// share1 is n/of; nil where of is 0.
func share1(n, of int64) *float64 {
	if of == 0 {
		return nil
	}
	f := float64(n) / float64(of)
	return &f
}

func (t *tabler) fidelity(em *panel.Metric) {
	add := func(name, title string, x *exact.Mean) {
		m := panel.Metric{
			Name: name + panel.ByCall, Title: title, Unit: panel.UnitRate, Of: "calls",
			Fractional: x.Fractional(), Coverage: em.Coverage, NotApplicable: em.NotApplicable,
		}
		m.Interval = x.Interval(t.cfg.Confidence, stats.DefaultRho0)
		m.Agree(x.N())
		m.Warnings = panel.RateWarnings(&m, 0)
		t.out = append(t.out, m)
	}
	add("arg_em_keys", "argument keys exact", &t.s.keys)
	add("arg_precision", "argument precision", &t.s.precision)
	add("arg_recall", "argument recall", &t.s.recall)
	add("arg_f1", "argument F1", &t.s.f1)
	m := panel.Metric{
		Name: "arg_f1_micro", Title: "argument F1, over all keys", Unit: panel.UnitRate, Of: "keys",
		Coverage: em.Coverage, NotApplicable: em.NotApplicable,
	}
	if m.Interval = t.s.micro.Interval(t.cfg.Confidence, stats.DefaultRho0); m.Interval.Defined() {
		m.Warnings = panel.RateWarnings(&m, 0)
		t.out = append(t.out, m)
	}
}

// latency adds the p50 and the p90, in units of a scale-th.
func (t *tabler) latency(name, title, of string, q *exact.Quantiles, unit panel.Unit, scale float64) {
	if q.N() == 0 {
		return
	}
	for i, iv := range q.Intervals(t.cfg.Confidence, 0.5, 0.9) {
		p := [...]string{"p50", "p90"}[i]
		m := panel.Metric{
			Name: name + "_" + p, Title: title + ", " + p, Unit: unit, Of: of, LowerIsBetter: true,
			Interval: scaled(iv, scale),
		}
		if iv.Status == stats.StatusCensored {
			m.Warnings = append(m.Warnings, "lies among the timeouts: the value is a lower limit")
		}
		if iv.Status == stats.StatusSingleCluster {
			m.Warnings = append(m.Warnings, "one task only: no interval")
		}
		t.out = append(t.out, m)
	}
}

func scaled(iv stats.Interval, by float64) stats.Interval {
	iv.Point, iv.Lower, iv.Upper, iv.SE = iv.Point*by, iv.Lower*by, iv.Upper*by, iv.SE*by
	return iv
}

// count adds a mean count of events by attempt.
func (t *tabler) count(name, title string, c *exact.Count, lower bool) {
	iv := c.Interval(t.cfg.Confidence)
	if !iv.Defined() {
		return
	}
	m := panel.Metric{
		Name: name, Title: title, Unit: panel.UnitCount, Of: "attempts", LowerIsBetter: lower,
		Interval: iv,
	}
	m.Warnings = panel.AmountWarnings(&m, "task")
	t.out = append(t.out, m)
}

// ratio adds an amount by attempt or by pass.
func (t *tabler) ratio(name, title string, unit panel.Unit, r *exact.Ratio, scale float64, lower bool) {
	iv := r.Interval(t.cfg.Confidence)
	if !iv.Defined() {
		return
	}
	iv = scaled(iv, scale)
	iv.Lower = max(iv.Lower, 0)
	m := panel.Metric{Name: name, Title: title, Unit: unit, Of: "tasks", LowerIsBetter: lower, Interval: iv}
	m.Warnings = panel.AmountWarnings(&m, "task")
	t.out = append(t.out, m)
}

func (t *tabler) rate(name, title, of string, r *exact.Rate, lower bool) *panel.Metric {
	if r.N() == 0 {
		return nil
	}
	m := panel.Metric{Name: name, Title: title, Unit: panel.UnitRate, Of: of, LowerIsBetter: lower}
	m.Interval = r.Interval(t.cfg.Confidence, stats.DefaultRho0)
	m.Agree(r.N())
	m.Warnings = panel.RateWarnings(&m, 0)
	t.out = append(t.out, m)
	return &t.out[len(t.out)-1]
}

// verdicts adds the metrics of passes and of scorers.
func (t *tabler) verdicts() {
	x := t.s.fromRecords
	if t.ofRun() && (x == nil || x.pass.N() == 0) {
		m := panel.Describe(panel.MetricPass)
		m.Interval = new(exact.Rate).Interval(t.cfg.Confidence, stats.DefaultRho0)
		m.Warnings = panel.RateWarnings(&m, 0)
		t.out = append(t.out, m)
	}
	if x == nil {
		return
	}
	if m := t.rate(panel.MetricPass, "pass", "attempts", &x.pass, false); m != nil {
		m.Coverage = t.verdictShare(x.pass.N())
	}
	for _, i := range t.names.Judges.Sorted() { // the order of arrival depends on the workers
		if int(i) < len(x.judged) {
			t.judged(int(i), &x.judged[i])
		}
	}
	t.rate(panel.MetricError, "errors", "attempts", &x.fault, true)
	if x.scored != nil {
		t.scored(x.scored, x.pass.N())
	}
	t.chances(x)
}

// ended is how many attempts ran and ended without a fault, so that they can have a verdict.
func (t *tabler) ended() int64 { return t.s.attempts - t.s.fromRecords.errors - t.s.fromRecords.notRun }

// verdictShare is the share of attempts with a verdict, which are n; nil where all have one.
func (t *tabler) verdictShare(n int) *float64 {
	of := t.ended()
	if x := t.s.fromRecords.scored; x != nil {
		of -= x.unjudged // these are lost
	}
	if int64(n) >= of {
		return nil
	}
	return share1(int64(n), of)
}

// silent is the number of attempts without a verdict of a judge.
func (t *tabler) silent(r *exact.Rate) int64 { return max(0, t.ended()-int64(r.N())) }

// fromRecords adds the metrics of task records.
func (t *tabler) fromRecords() {
	x := t.s.fromRecords
	if x == nil {
		return
	}
	t.rate(panel.MetricMiss, "missed calls", "needed calls", &x.miss, true)
	t.latency("latency", "wall time", "attempts", &x.wall, panel.UnitMS, 1)
	if x.scored != nil && x.scored.first.N() > 0 {
		t.latency("first_token", "first token", "attempts", &x.scored.first, panel.UnitMS, 1)
	}
	t.ratio(panel.MetricTokens, "tokens", panel.UnitTokens, &x.tokens, 1, true)
	t.latency("tokens", "tokens", "attempts", &x.tokenQuantiles, panel.UnitTokens, 1)
	t.ratio(panel.MetricCost, "cost", panel.UnitUSD, &x.costs, 1e-9, true)
	t.ratio(panel.MetricCostPerPass, "cost per pass", panel.UnitUSD, &x.perPass, 1e-9, true)
	t.latency("cost", "cost", "attempts", &x.costQuantiles, panel.UnitUSD, 1e-9)
}

// chances adds pass@k and pass^k for k up to 4, powers of two and the greatest k.
func (t *tabler) chances(x *recordSums) {
	for k := 1; k <= len(x.at); k++ {
		if k > 4 && k&(k-1) != 0 && k != len(x.at) || len(x.at) == 1 {
			continue
		}
		for _, c := range []struct {
			name string
			mean *exact.Mean
		}{{panel.MetricPassAt, &x.at[k-1]}, {panel.MetricPassHat, &x.hat[k-1]}} {
			m := panel.Metric{
				Name: fmt.Sprint(c.name, k), Title: fmt.Sprint(c.name, k), Unit: panel.UnitRate,
				Of: "tasks", Fractional: c.mean.Fractional(),
			}
			m.Interval = c.mean.Interval(t.cfg.Confidence, stats.DefaultRho0)
			m.Warnings = panel.RateWarnings(&m, 0)
			if short := x.at[0].N() - c.mean.N(); short > 0 {
				m.Warnings = append(m.Warnings,
					fmt.Sprintf("%d tasks have fewer than %d attempts and are left out", short, k))
			}
			t.out = append(t.out, m)
		}
	}
}

// judged adds the rate of one judge, followed by true success. With several judges the metrics have
// the judge's name after a colon.
func (t *tabler) judged(i int, r *exact.Rate) {
	name, suffix := t.names.Judges.All[i], ""
	if len(t.names.Judges.All) > 1 {
		suffix = ":" + name
	}
	m := t.rate("judged_pass"+suffix, "judged pass"+suffix, "attempts", r, false)
	if m == nil {
		return
	}
	m.Excluded = int(t.silent(r))
	for j := range t.cfg.Calibrations {
		c := &t.cfg.Calibrations[j]
		if c.Judge != name {
			continue
		}
		ts := panel.Metric{
			Name: "true_success" + suffix, Title: "true success" + suffix, Unit: panel.UnitRate,
			Of: panel.OfLabels, Excluded: m.Excluded,
		}
		ts.Labelled = &panel.Labelled{Of: m.Of, N: m.Seen(), Tasks: m.Interval.Clusters, Elsewhere: true}
		var why string
		if ts.Interval, why = c.TrueSuccess(m.Interval, t.cfg.Confidence); why != "" {
			ts.Warnings = append(ts.Warnings, why)
		}
		t.out = append(t.out, ts)
		return
	}
}

// incidents adds the rate of tasks with a breach of safety; stopped breaches are counted
// separately.
func (t *tabler) incidents() {
	if t.s.exposed.N() == 0 {
		return
	}
	m := t.breaches("safety_incidents", "tasks with a safety incident", &t.s.exposed)
	if k := t.s.exposed.Yes(); t.s.incidents > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%d incidents in %d of %d tasks", t.s.incidents, k, m.Interval.N))
	} else {
		n := m.Interval.N
		m.Warnings = append(m.Warnings,
			fmt.Sprintf("none in %d tasks: the rate is below %.3g %% (one-sided, with a confidence of 95 %%)", n,
				100*stats.IncidentUpper(0, n, 0.95)))
	}
	t.out = append(t.out, m)
	if t.s.blocked > 0 {
		m := t.breaches("blocked_incidents", "tasks with a blocked incident", &t.s.stopped)
		m.Warnings = append(m.Warnings,
			fmt.Sprintf("%d attempts were stopped, in %d of %d tasks", t.s.blocked, t.s.stopped.Yes(), m.Interval.N))
		t.out = append(t.out, m)
	}
}

func (t *tabler) breaches(name, title string, r *exact.Rate) panel.Metric {
	return panel.Metric{
		Name: name, Title: title, Unit: panel.UnitRate, Of: "tasks", LowerIsBetter: true,
		Interval: r.Interval(t.cfg.Confidence, stats.DefaultRho0),
	}
}
