// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"fmt"
	"math"

	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// confidence is the confidence for an exposure without incident.
const confidence = 0.95

// The format of a Plan.
const (
	format  = "callvet.plan"
	version = 2
)

// Most is the largest number of tasks that is searched.
const Most = gates.MostTasks

// Plan is the result; parts that were not requested are nil.
type Plan struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Metric  string  `json:"metric,omitempty"`
	Power   float64 `json:"power"`
	// MinUnits is the least number of tasks for a decision of the gate.
	MinUnits int        `json:"min_n,omitempty"`
	Rate     *Rate      `json:"rate,omitempty"`
	Mean     *Mean      `json:"mean,omitempty"`
	Judge    *Judge     `json:"judge,omitempty"`
	Paired   *Paired    `json:"paired,omitempty"`
	Zero     []Exposure `json:"incidents,omitempty"`
	Ends     []Ends     `json:"quantiles,omitempty"`
	// Looks is set if a gate that is looked at after each task was requested.
	Looks *Looks `json:"looks,omitempty"`
	// Gates are the gates of a file, one by one; then the parts above are nil.
	Gates []OfGate `json:"gates,omitempty"`

	searches []func()
}

// Rate is for a bound on a rate. AtMost: the bound is an upper one. Tasks is 0 for more than two
// million.
type Rate struct {
	Bound   float64 `json:"bound"`
	Truth   float64 `json:"truth"`
	Assumed bool    `json:"truth_assumed,omitempty"`
	// FromPilot: the pilot's rate is used as the true rate.
	FromPilot bool `json:"truth_from_pilot,omitempty"`
	AtMost    bool `json:"at_most,omitempty"`
	// Tasks of one attempt each pass with Chance, at least the requested power, with up to Failures
	// on the wrong side.
	Tasks    int     `json:"tasks"`
	Chance   float64 `json:"chance"`
	Failures int     `json:"failures_allowed"`
	Smallest []MinN  `json:"smallest"`
	// Several is how many tasks are needed with several attempts at each. Alike is their
	// correlation.
	Several []Attempts `json:"attempts,omitempty"`
	Alike   *Alike     `json:"correlation,omitempty"`
	// Repeats is the gate's assumption about the correlation of attempts at a task. Measured is the
	// correlation in earlier runs of the suite; nil if it is assumed to be 1.
	Repeats  string             `json:"repeats,omitempty"`
	Measured *stats.Correlation `json:"measured,omitempty"`
	// Pilot is the result with the pilot's own tasks.
	Pilot *OfPilot `json:"pilot,omitempty"`
}

// Alike is the correlation of the attempts at a task; Assumed: it is not known.
type Alike struct {
	Correlation float64 `json:"value"`
	Assumed     bool    `json:"assumed,omitempty"`
}

// Attempts is how many tasks with so many attempts at each are needed; 0 where
// gates.MostTasks are not enough.
type Attempts struct {
	Attempts int `json:"attempts"`
	Tasks    int `json:"tasks"`
}

// OfPilot contains the chances of gates on the tasks of a pilot, by attempts at each.
type OfPilot struct {
	File    string   `json:"file"`
	Tasks   int      `json:"tasks"`
	Chances []Chance `json:"chances,omitempty"`
}

// Chance is the chance of passing or, against a baseline, of failing.
type Chance struct {
	Attempts int     `json:"attempts"`
	Chance   float64 `json:"chance"`
}

// MinN is the smallest number of tasks that can pass with so many failures.
type MinN struct {
	Failures int `json:"failures"`
	Tasks    int `json:"tasks"`
}

// Mean is for a bound on a mean amount of tasks. The amounts are lognormal or, for calls, counts.
// Tasks is 0 for more than gates.MostTasks. Pilot is the file that SD, or Truth too, were taken
// from.
type Mean struct {
	Bound      float64 `json:"bound"`
	Truth      float64 `json:"truth"`
	SD         float64 `json:"sd"`
	Tasks      int     `json:"tasks"`
	Pilot      string  `json:"pilot,omitempty"`
	PilotTasks int     `json:"pilot_tasks,omitempty"`
	// FromPilot: the pilot's mean is used as the true mean.
	FromPilot bool `json:"truth_from_pilot,omitempty"`
}

// Judge is how many labels are needed for true success by a judge that errs.
type Judge struct {
	Sensitivity float64 `json:"sensitivity"`
	Specificity float64 `json:"specificity"`
	Tasks       int     `json:"tasks"`
	Given       int     `json:"labels,omitempty"`
	ByVerdict   Labels  `json:"internal_by_verdict"`
	Random      Labels  `json:"internal_random"`
	Elsewhere   Labels  `json:"elsewhere"`
}

// Labels is how many labels are needed; nil: no number is enough. Chance is the chance with the
// given number of labels; nil without one.
type Labels struct {
	Needed *int     `json:"needed"`
	Chance *float64 `json:"chance_with_labels,omitempty"`
}

// Paired is for a difference to a baseline over the same tasks. For amounts, Rate and its parts are
// absent.
type Paired struct {
	Diff   float64 `json:"diff"`
	Margin float64 `json:"margin"`
	SD     float64 `json:"sd,omitempty"`
	// Rate is the baseline's, Discordant the share of its tasks that change where nothing
	// changed, one attempt each, which is a Correlation of the attempts at a task.
	Rate        float64 `json:"rate,omitempty"`
	Discordant  float64 `json:"discordant,omitempty"`
	Correlation float64 `json:"correlation,omitempty"`
	// LowerIsBetter: a rise is a loss.
	LowerIsBetter bool         `json:"lower_is_better,omitempty"`
	Rows          []PairedRow  `json:"attempts"`
	Pilot         *PairedPilot `json:"pilot,omitempty"`
}

// PairedRow is how many shared tasks with so many attempts on each side are needed; 0
// where gates.MostTasks are not enough.
type PairedRow struct {
	Attempts int `json:"attempts"`
	// Fails finds the loss where every task loses alike, Breaks where some tasks break
	// (the same with one attempt, and absent of amounts). Passes lets the gate pass where
	// nothing changed.
	Fails  int `json:"fails"`
	Breaks int `json:"fails_breaking,omitempty"`
	Passes int `json:"passes"`
}

// PairedPilot contains the outcomes of gates on the tasks of a pilot.
type PairedPilot struct {
	File   string   `json:"file"`
	Tasks  int      `json:"tasks"`
	Fails  []Chance `json:"fails"`
	Passes []Chance `json:"passes"`
}

// Exposure is how many exposed tasks without an incident rule out a rate of them.
type Exposure struct {
	MaxRate     float64 `json:"max_rate"`
	Exposed     int     `json:"exposed"`
	RuleOfThree int     `json:"rule_of_three"`
}

// Ends is from how many tasks on the interval of a quantile has finite ends.
type Ends struct {
	Quantile float64 `json:"quantile"`
	Upper    int     `json:"upper_end"`
	Lower    int     `json:"lower_end"`
}

// Make computes the requested plan. The error is one of usage.
func Make(q Ask) (*Plan, error) {
	q.Metric = panel.MetricName(q.Metric)
	q.usual()
	if q.given("gates") {
		return q.gates()
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	p := &Plan{Format: format, Version: version, Metric: q.Metric, Power: q.Power, MinUnits: q.MinUnits}
	if err := p.ask(&q); err != nil {
		return nil, err
	}
	if err := p.search(); err != nil {
		return nil, err
	}
	p.looks(&q)
	return p, p.search()
}

// search runs the searches that were added.
func (p *Plan) search() error {
	err := sys.InParallel(searchers, len(p.searches), func(i int) error {
		p.searches[i]()
		return nil
	})
	p.searches = nil
	return err
}

// searchers is how many searches run at once.
const searchers = 4

func (p *Plan) ask(q *Ask) (err error) {
	switch kindOf(q.Metric) {
	case incidents:
		return p.incidents(q)
	case quantiles:
		p.quantiles()
		return nil
	case changes:
		return p.pairedMean(q)
	case means:
		if q.given("bound") || q.Diff == 0 {
			err = p.mean(q)
		}
		if err == nil && q.Diff != 0 {
			err = p.pairedMean(q)
		}
		return err
	}
	if q.given("bound") || q.Diff == 0 {
		err = p.rate(q)
	}
	if err == nil && q.Diff != 0 {
		err = p.pairedRate(q)
	}
	return err
}

// later adds a search, which runs concurrently with the others.
func (p *Plan) later(do func()) { p.searches = append(p.searches, do) }

// fewest adds the search for the number of tasks of a trial; 0 if gates.MostTasks are not enough.
func (p *Plan) fewest(to *int, t gates.Trial, want gate.Verdict) {
	p.later(func() { *to, _ = gates.Fewest(t, want, p.Power, p.MinUnits) })
}

// bounded is the gate that a bound is planned for.
func (q *Ask) bounded(d gate.Direction) gates.Gate {
	return gates.Gate{Metric: q.Metric, Kind: gates.Bound, Direction: d, Bound: q.Bound, MinUnits: &q.MinUnits}
}

func (p *Plan) rate(q *Ask) error {
	if !(q.Bound > 0 && q.Bound < 1) {
		return wrong("bound", "", "{bound} is a rate between 0 and 1: {metric} %s {bound} 0.85", q.Metric)
	}
	r, err := q.believed()
	if err != nil {
		return err
	}
	direction := gate.AtLeast
	if r.AtMost {
		direction = gate.AtMost
	}
	one := gates.RateTrial{Gate: q.bounded(direction), Truth: r.Truth, Attempts: 1}
	for _, failures := range []int{0, 1, 2, 3, 5, 10} {
		if n, ok := one.Smallest(failures); ok && (len(r.Smallest) == 0 || r.Smallest[len(r.Smallest)-1].Tasks < n) {
			r.Smallest = append(r.Smallest, MinN{failures, n})
		} else if ok { // the same number of tasks may have one more failure
			r.Smallest[len(r.Smallest)-1].Failures = failures
		}
	}
	p.Rate = r
	p.later(func() {
		if r.Tasks, r.Failures, _ = one.Fewest(q.Power); r.Tasks > 0 {
			r.Chance, _ = one.Exact(r.Tasks)
		}
	})
	if q.given("judge_sens") || q.given("judge_spec") {
		return p.judge(q, one.Gate)
	}
	p.attempts(q, one)
	return nil
}

// believed is the bound with the assumed true rate: the given one, the pilot's, or halfway from the
// bound to the best.
func (q *Ask) believed() (*Rate, error) {
	r := &Rate{Bound: q.Bound, Truth: q.Truth, Assumed: !q.given("truth"), AtMost: toBeLow(q.Metric)}
	if r.Assumed && q.Pilot != nil {
		r.Truth, r.Assumed, r.FromPilot = q.Pilot.Mean, false, true
	}
	switch {
	case r.Assumed && r.AtMost:
		r.Truth = q.Bound / 2
	case r.Assumed:
		r.Truth = (1 + q.Bound) / 2
	case !(r.Truth >= 0 && r.Truth <= 1) || r.Truth == q.Bound:
		return nil, wrong("truth", "",
			"{truth} is a rate between 0 and 1 other than the bound: at the bound no number of tasks decides")
	case r.AtMost != (r.Truth < q.Bound) && r.FromPilot:
		return nil, wrong("truth", "",
			"%s is %.4g in the pilot, which does not meet the bound %v: no number of tasks passes if that is the truth; say {truth}", q.Metric, r.Truth, q.Bound)
	case r.AtMost != (r.Truth < q.Bound):
		return nil, wrongSide(q)
	}
	return r, nil
}

// attempts plans with several attempts at each task.
func (p *Plan) attempts(q *Ask, one gates.RateTrial) {
	r := p.Rate
	r.Alike = q.alike()
	r.assume(q)
	with := func(k int) *gates.RateTrial {
		several := one
		several.Attempts, several.Correlation, several.Measured = k, r.Alike.Correlation, r.Measured
		return &several
	}
	for _, k := range q.levels() {
		if k > 1 {
			r.Several = append(r.Several, Attempts{Attempts: k})
		}
	}
	for i := range r.Several {
		p.fewest(&r.Several[i].Tasks, with(r.Several[i].Attempts).Trial, gate.Pass)
	}
	if q.Pilot == nil {
		return
	}
	r.Pilot = &OfPilot{File: q.Pilot.File, Tasks: q.Pilot.Tasks, Chances: make([]Chance, len(q.levels()))}
	for i, k := range q.levels() {
		c := &r.Pilot.Chances[i]
		p.later(func() { *c = Chance{k, gates.Chance(with(k).Trial, q.Pilot.Tasks, gate.Pass)} })
	}
}

// assume sets the gate's assumption about the correlation of attempts at a task. Source: Statistics
// specification, section 16.1.
func (r *Rate) assume(q *Ask) {
	r.Repeats = panel.AttemptsAreOne
	if !q.Measured || q.Before == nil {
		return
	}
	if n := q.Before.Runs; n < stats.MinCorrelationRuns {
		r.Repeats += fmt.Sprintf("; a measured one needs %d earlier runs that show it, and there are %d",
			stats.MinCorrelationRuns, n)
		return
	}
	r.Measured, r.Repeats = q.Before, "attempts at a task: "+panel.CorrelationText(*q.Before)
}

// levels are the numbers of attempts to plan with.
func (q *Ask) levels() []int {
	if len(q.Attempts) > 0 {
		return q.Attempts
	}
	return []int{1, 3, 5}
}

// alike is the correlation of the attempts at a task: the given one, the pilot's, or the assumption
// of intervals without data.
func (q *Ask) alike() *Alike {
	switch {
	case q.given("correlation"):
		return &Alike{Correlation: q.Correlation}
	case q.Pilot != nil && q.Pilot.Correlation != nil:
		return &Alike{Correlation: min(*q.Pilot.Correlation, 0.999)}
	}
	return &Alike{Correlation: stats.DefaultRho0, Assumed: true}
}

func wrongSide(q *Ask) error {
	return wrong("truth", "",
		"if %s is really %v, no number of tasks passes a gate at %v: {truth} is on the wrong side of {bound}", q.Metric,
		q.Truth, q.Bound)
}

func (p *Plan) judge(q *Ask, g gates.Gate) error {
	rate := func(x float64) bool { return x >= 0 && x <= 1 }
	switch {
	case p.Rate.AtMost:
		return wrong("judge_sens", "",
			"{judge_sens} and {judge_spec} are for rates that a gate holds from below, and %s is held from above",
			q.Metric)
	case !q.given("judge_sens") || !q.given("judge_spec"):
		return wrong("judge_sens", "", "a judge has both: {judge_sens} and {judge_spec}")
	case !rate(q.Sens) || !rate(q.Spec) || q.Tasks < 1 || q.Tasks > gates.MostTasks:
		return wrong("judge_sens", "", "{judge_sens} and {judge_spec} are rates, and {tasks} is between 1 and %d",
			gates.MostTasks)
	case q.Sens+q.Spec <= 1:
		return wrong("judge_sens", "",
			"{judge_sens} %g and {judge_spec} %g sum up to 1 or less: such a judge is no better than chance, and no number of labels helps", q.Sens, q.Spec)
	case q.Labels < 0 || q.Labels > gates.MostTasks:
		return wrong("labels", "", "{labels} is how many labels there will be, between 0 and %d", gates.MostTasks)
	}
	p.Judge = &Judge{Sensitivity: q.Sens, Specificity: q.Spec, Tasks: q.Tasks, Given: q.Labels}
	for from, to := range map[gates.LabelDraw]*Labels{
		gates.ByVerdict: &p.Judge.ByVerdict,
		gates.Random:    &p.Judge.Random, gates.Elsewhere: &p.Judge.Elsewhere,
	} {
		j := gates.JudgedTrial{
			Gate: g, Truth: p.Rate.Truth, Sensitivity: q.Sens, Specificity: q.Spec, Tasks: q.Tasks,
			Labels: from,
		}
		p.later(func() {
			// Labels on the run are at most its tasks.
			if n, ok := gates.Fewest(j.Trial, gate.Pass, q.Power, 1); ok && (from == gates.Elsewhere || n <= q.Tasks) {
				to.Needed = &n
			}
			if q.Labels > 0 {
				c := gates.Chance(j.Trial, q.Labels, gate.Pass)
				to.Chance = &c
			}
		})
	}
	return nil
}

// mean plans an upper bound on a mean.
func (p *Plan) mean(q *Ask) error {
	m := &Mean{Bound: q.Bound, Truth: q.Truth, SD: q.SD}
	if !(q.Bound > 0) || math.IsInf(q.Bound, 0) {
		return wrong("bound", "",
			"{bound} is an amount above 0: {metric} %s {bound} 0.05 {truth} 0.04 {sd} 0.02", q.Metric)
	}
	if q.Pilot != nil {
		if q.given("sd") {
			return wrong("sd", "", "{sd} or {from}, not both: the pilot has the spread")
		}
		m.SD, m.Pilot, m.PilotTasks = q.Pilot.SD, q.Pilot.File, q.Pilot.Tasks
		if m.FromPilot = !q.given("truth"); m.FromPilot {
			m.Truth = q.Pilot.Mean
		}
	}
	switch {
	case q.Pilot == nil && !(q.given("sd") && q.SD > 0 && !math.IsInf(q.SD, 0)):
		return wrong("sd", "{sd}: its standard deviation from task to task, or {from} a pilot's trace file",
			"%s is a mean amount, and how many tasks it needs depends on its spread", q.Metric)
	case !(m.SD > 0):
		return wrong("sd", "", "the %d tasks of %s do not differ in %s: that is no spread to plan with; say {sd}",
			m.PilotTasks, m.Pilot, q.Metric)
	case q.Pilot == nil && !q.given("truth"):
		return wrong("truth", "", "{truth}: what %s may really be", q.Metric)
	case m.FromPilot && m.Truth >= q.Bound:
		return wrong("truth", "",
			"%s is %.4g in the pilot, which is not below the bound %v: no number of tasks passes if that is the truth; say {truth}", q.Metric, m.Truth, q.Bound)
	case !(m.Truth > 0) || m.Truth == q.Bound:
		return wrong("truth", "",
			"{truth} is an amount above 0, other than the bound: at the bound no number of tasks decides")
	case m.Truth > q.Bound:
		return wrongSide(q)
	}
	p.Mean = m
	a := gates.AmountTrial{
		Gate: q.bounded(gate.AtMost), Mean: m.Truth, SD: m.SD,
		Counted: Unit(q.Metric) == panel.UnitCount,
	}
	p.fewest(&m.Tasks, a.Trial, gate.Pass)
	return nil
}

// against is the gate that a difference is planned for.
func (q *Ask) against() gates.Gate {
	g := gates.Gate{Metric: q.Metric, Kind: gates.Regression, MinUnits: &q.MinUnits, MinEffect: q.MinEffect}
	if q.given("margin") {
		g.Margin = &q.Margin
	}
	return g
}

// margin is the loss that the gate allows.
func (q *Ask) margin() float64 {
	if q.given("margin") {
		return q.Margin
	}
	return gate.Margin
}

// pairing is how the metric is compared with a baseline.
func (q *Ask) pairing() (panel.Pairing, error) {
	pairing, why := panel.PairingOf(q.Metric)
	if why != "" {
		return pairing, wrong("baseline_diff", "", "{baseline_diff}: %s has no paired test: %s", q.Metric, why)
	}
	return pairing, nil
}

func (p *Plan) pairedMean(q *Ask) error {
	pairing, err := q.pairing()
	switch {
	case err != nil:
		return err
	case !(q.Diff > 0) || math.IsInf(q.Diff, 0):
		return wrong("baseline_diff", "", "{baseline_diff} is a rise above 0, as a share of the baseline's mean")
	case !(q.SD > 0) || math.IsInf(q.SD, 0):
		return wrong("sd", "{sd}: their standard deviation, as a share of the baseline's mean",
			"how many tasks a difference of %s needs depends on the spread of the tasks' differences", q.Metric)
	}
	mean := 1.
	if pairing.Unit == panel.UnitCount {
		if mean = q.Truth; !(q.Truth > 0) || math.IsInf(q.Truth, 0) {
			return wrong("truth", "",
				"{truth}: what %s is in the baseline, above 0; the change of a count depends on how many there are",
				q.Metric)
		}
	}
	p.Paired = &Paired{
		Diff: q.Diff, Margin: q.margin(), SD: q.SD, LowerIsBetter: pairing.LowerIsBetter,
		Rows: []PairedRow{{Attempts: 1}},
	}
	row := &p.Paired.Rows[0]
	rise := gates.PairedAmountTrial{Gate: q.against(), Pairing: pairing, Mean: mean, SD: q.SD, Rise: q.Diff}
	same := rise
	same.Rise = 0
	p.fewest(&row.Fails, rise.Trial, gate.Fail)
	p.fewest(&row.Passes, same.Trial, gate.Pass)
	return nil
}

func (p *Plan) pairedRate(q *Ask) error {
	pairing, err := q.pairing()
	if err != nil {
		return err
	}
	d := &Paired{
		Diff: q.Diff, Margin: q.margin(), Rate: q.Truth, Discordant: q.Discordant,
		LowerIsBetter: pairing.LowerIsBetter,
	}
	if err := d.start(q, p.Rate); err != nil {
		return err
	}
	loss := gates.PairedRateTrial{
		Gate: q.against(), Pairing: pairing, Rate: d.Rate, Correlation: d.Correlation,
		Loss: q.Diff,
	}
	good := d.Rate
	if d.LowerIsBetter {
		good = 1 - d.Rate
	}
	if !(q.Diff > 0 && q.Diff <= good) {
		return wrong("baseline_diff", "",
			"{baseline_diff} is a loss above 0, and no more than there is to lose: %.4g", good)
	}
	with := func(k int, loss gates.PairedRateTrial, breaks bool) *gates.PairedRateTrial {
		loss.Attempts, loss.Breaks = k, breaks
		return &loss
	}
	same := loss
	same.Loss = 0
	p.Paired = d
	d.Rows = make([]PairedRow, len(q.levels()))
	for i, k := range q.levels() {
		row := &d.Rows[i]
		row.Attempts = k
		p.fewest(&row.Fails, with(k, loss, false).Trial, gate.Fail)
		p.fewest(&row.Passes, with(k, same, false).Trial, gate.Pass)
		if k > 1 { // with one attempt the tasks that change are the same
			p.fewest(&row.Breaks, with(k, loss, true).Trial, gate.Fail)
		}
	}
	if q.Pilot == nil {
		return nil
	}
	d.Pilot = &PairedPilot{
		File: q.Pilot.File, Tasks: q.Pilot.Tasks, Fails: make([]Chance, len(q.levels())),
		Passes: make([]Chance, len(q.levels())),
	}
	for i, k := range q.levels() {
		p.later(func() {
			d.Pilot.Fails[i] = Chance{k, gates.Chance(with(k, loss, false).Trial, q.Pilot.Tasks, gate.Fail)}
			d.Pilot.Passes[i] = Chance{k, gates.Chance(with(k, same, false).Trial, q.Pilot.Tasks, gate.Pass)}
		})
	}
	return nil
}

// start sets the baseline's figures: the given ones, or the pilot's.
func (d *Paired) start(q *Ask, r *Rate) error {
	known := q.given("truth")
	switch {
	case known:
	case r != nil:
		d.Rate, known = r.Truth, true
	case q.Pilot != nil:
		d.Rate, known = q.Pilot.Mean, true
	}
	alike := q.given("correlation")
	d.Correlation = q.Correlation
	if !alike && !q.given("discordant") && q.Pilot != nil && q.Pilot.Correlation != nil {
		d.Correlation, alike = min(*q.Pilot.Correlation, 0.999), true
	}
	switch {
	case !known || !alike && !q.given("discordant"):
		why := "how many tasks a difference needs depends on the baseline's rate, and on how many tasks change although nothing changed"
		if q.Pilot != nil {
			why = q.Pilot.File +
				" does not show how many tasks change although nothing changed: each has one attempt, or all attempts are the same"
		}
		return wrong("discordant",
			"{from} a run with several attempts at each task (callvet run --repeat 2), or {truth} 0.9 {discordant} 0.1: the rate, and the share of tasks that change between two runs of the same", "%s", why)
	case !(d.Rate > 0 && d.Rate < 1):
		return wrong("truth", "", "{truth} is the baseline's rate, between 0 and 1")
	case alike:
		d.Discordant = gates.Discordant(d.Rate, d.Correlation)
		return nil
	}
	var ok bool
	if d.Correlation, ok = gates.CorrelationOf(d.Rate, d.Discordant); !ok {
		return wrong("discordant", "",
			"{discordant} is at least 0 and at most %.4g: with a rate of %.4g no more tasks change by chance",
			gates.Discordant(d.Rate, 0), d.Rate)
	}
	return nil
}

func (p *Plan) incidents(q *Ask) error {
	rates := []float64{0.05, 0.01, 0.001}
	if q.given("max_rate") {
		rates = []float64{q.MaxRate}
	}
	for _, r := range rates {
		n, three, ok := stats.ExposureFor(r, confidence)
		if !ok {
			return wrong("max_rate", "", "{max_rate} is between 0 and 1")
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
