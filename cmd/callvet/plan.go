// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
	"github.com/callvet/callvet/stats/judge"
)

// planFlags are the flags of the plan command.
type planFlags struct {
	metric                  string
	bound, truth, power     float64
	sens, spec              float64
	labels, tasks           int
	diff, discordant, maxRt float64
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use: "plan --metric NAME --bound X", Short: "Say how many tasks and labels are needed before a gate can decide",
		Long: `Say how many independent tasks, and for a judged metric how many labels, are needed before a gate can pass.
Several calls or attempts of one task are worth less than as many tasks: multiply by the design effect.`,
		Example: "  callvet plan --metric true_success --bound 0.85 --truth 0.90 --judge-sens 0.95 --judge-spec 0.9 --labels 200\n  callvet plan --metric safety_incidents --max-rate 0.01",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := makePlan(f)
			if err != nil {
				return err
			}
			if a.jsonOut {
				return json.NewEncoder(a.out).Encode(p)
			}
			p.print(a.out)
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.metric, "metric", "true_success", "metric of the gate")
	fs.Float64Var(&f.bound, "bound", 0, "bound of the gate, a rate between 0 and 1")
	fs.Float64Var(&f.truth, "truth", 0, "what the metric may really be (default: halfway from the bound to the best)")
	fs.Float64Var(&f.power, "power", 0.8, "chance with which the gate should decide")
	fs.Float64Var(&f.sens, "judge-sens", 0, "sensitivity of the judge")
	fs.Float64Var(&f.spec, "judge-spec", 0, "specificity of the judge")
	fs.IntVar(&f.labels, "labels", 0, "how many labels there will be")
	fs.IntVar(&f.tasks, "tasks", 1000, "how many tasks the judge will look at")
	fs.Float64Var(&f.diff, "baseline-diff", 0, "difference to a baseline that should be found")
	fs.Float64Var(&f.discordant, "discordant", 0, "share of tasks that change between two runs (default: twice the difference)")
	fs.Float64Var(&f.maxRt, "max-rate", 0, "rate of incidents that should be ruled out")
	return cmd
}

// testPlan is what is needed; parts that were not asked for are nil.
type testPlan struct {
	Format  string         `json:"format"`
	Version int            `json:"version"`
	Metric  string         `json:"metric"`
	Power   float64        `json:"power"`
	Rate    *ratePlan      `json:"rate,omitempty"`
	Judge   *judgePlan     `json:"judge,omitempty"`
	Paired  *pairedPlan    `json:"paired,omitempty"`
	Zero    []zeroPlan     `json:"incidents,omitempty"`
	Ends    []quantilePlan `json:"quantiles,omitempty"`
}

// ratePlan is for a bound on a rate. AtMost tells an upper bound.
type ratePlan struct {
	Bound    float64 `json:"bound"`
	Truth    float64 `json:"truth"`
	Assumed  bool    `json:"truth_assumed,omitempty"`
	AtMost   bool    `json:"at_most,omitempty"`
	Tasks    int     `json:"tasks"` // 0: more than two million
	Failures int     `json:"failures_allowed"`
	Smallest []minN  `json:"smallest"`
}

type minN struct {
	Failures int `json:"failures"`
	Tasks    int `json:"tasks"`
}

// judgePlan is how many labels are needed; nil: no number is enough.
type judgePlan struct {
	Sensitivity float64 `json:"sensitivity"`
	Specificity float64 `json:"specificity"`
	Tasks       int     `json:"tasks"`
	Labels      int     `json:"labels,omitempty"`
	Transport   *int    `json:"transport"`
	Random      *int    `json:"internal_random"`
	Neyman      *int    `json:"internal_neyman"`
	Alone       *int    `json:"labels_only"`
}

type pairedPlan struct {
	Diff       float64 `json:"diff"`
	Discordant float64 `json:"discordant"`
	Tasks      int     `json:"tasks"`
}

type zeroPlan struct {
	MaxRate     float64 `json:"max_rate"`
	Exposed     int     `json:"exposed"`
	RuleOfThree int     `json:"rule_of_three"`
}

type quantilePlan struct {
	Quantile float64 `json:"quantile"`
	Upper    int     `json:"upper_end"`
	Lower    int     `json:"lower_end"`
}

// makePlan plans what the flags ask for. The error is one of usage.
func makePlan(f planFlags) (*testPlan, error) {
	known := gates.Metrics()
	if !slices.Contains(known, f.metric) && !slices.Contains([]string{"true_success", "pass_rate", "judged_pass"}, f.metric) {
		err := usagef("no metric is called %q", f.metric)
		if near := callvet.Nearest(f.metric, known); near != "" {
			return nil, &callvet.Hinted{Err: err, Hint: "--metric " + near}
		}
		return nil, err
	}
	if !(f.power > 0 && f.power < 1) {
		return nil, usagef("--power is between 0 and 1")
	}
	p := &testPlan{Format: "callvet.plan", Version: 1, Metric: f.metric, Power: f.power}
	var err error
	switch {
	case f.metric == "safety_incidents":
		err = p.incidents(f)
	case strings.HasSuffix(f.metric, "_p50") || strings.HasSuffix(f.metric, "_p90"):
		p.quantiles()
	case f.bound != 0 || f.diff == 0:
		err = p.rate(f)
	}
	if err == nil && f.diff != 0 {
		err = p.paired(f)
	}
	return p, err
}

// toBeLow reports whether a gate on the metric is an upper bound.
func toBeLow(metric string) bool {
	return panel.Describe(metric).LowerIsBetter || strings.HasSuffix(metric, "_rate") && metric != panel.MetricPass || strings.HasSuffix(metric, "_incidents")
}

func (p *testPlan) rate(f planFlags) error {
	if !(f.bound > 0 && f.bound < 1) {
		return usagef("--bound is a rate between 0 and 1: callvet plan --metric %s --bound 0.85", f.metric)
	}
	r := &ratePlan{Bound: f.bound, Truth: f.truth, Assumed: f.truth == 0, AtMost: toBeLow(f.metric)}
	switch {
	case r.Assumed && r.AtMost:
		r.Truth = f.bound / 2
	case r.Assumed:
		r.Truth = (1 + f.bound) / 2
	case !(f.truth > 0 && f.truth <= 1) || f.truth == f.bound:
		return usagef("--truth is a rate between 0 and 1 other than the bound: at the bound no number of tasks decides")
	case r.AtMost != (f.truth < f.bound):
		return usagef("if %s is really %v, no number of tasks passes a gate at %v: --truth is on the wrong side of --bound", f.metric, f.truth, f.bound)
	}
	bound, truth := r.Bound, r.Truth
	if r.AtMost {
		bound, truth = 1-bound, 1-truth
	}
	r.Tasks, r.Failures, _ = gate.SampleSize(bound, truth, f.power, gate.Alpha)
	for _, failures := range []int{0, 1, 2, 3, 5, 10} {
		n, _ := gate.MinN(bound, failures, gate.Alpha)
		r.Smallest = append(r.Smallest, minN{failures, n})
	}
	p.Rate = r
	if f.sens == 0 && f.spec == 0 {
		return nil
	}
	l, ok := judge.PlanLabels(truth, bound, f.sens, f.spec, f.tasks, gate.Alpha, f.power)
	if !ok || r.AtMost {
		if f.sens+f.spec <= 1 {
			return usagef("--judge-sens %g and --judge-spec %g sum up to 1 or less: such a judge is no better than chance, and no number of labels helps", f.sens, f.spec)
		}
		return usagef("--judge-sens and --judge-spec are rates, --tasks at least 1, and the bound one that the truth is above")
	}
	p.Judge = &judgePlan{
		Sensitivity: f.sens, Specificity: f.spec, Tasks: f.tasks, Labels: f.labels,
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

func (p *testPlan) paired(f planFlags) error {
	d := f.discordant
	if d == 0 {
		d = min(1, 2*f.diff)
	}
	n, ok := gate.PairedRates(d, f.diff, 1-confidence, f.power)
	if !ok {
		return usagef("--baseline-diff is above 0 and at most --discordant, which is at most 1")
	}
	p.Paired = &pairedPlan{Diff: f.diff, Discordant: d, Tasks: int(math.Ceil(n))}
	return nil
}

// confidence is the two-sided one of all plans.
const confidence = 0.95

func (p *testPlan) incidents(f planFlags) error {
	rates := []float64{0.05, 0.01, 0.001}
	if f.maxRt != 0 {
		rates = []float64{f.maxRt}
	}
	for _, r := range rates {
		n, three, ok := stats.ExposureFor(r, confidence)
		if !ok {
			return usagef("--max-rate is between 0 and 1")
		}
		p.Zero = append(p.Zero, zeroPlan{r, n, three})
	}
	return nil
}

func (p *testPlan) quantiles() {
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
		if upper, lower, ok := stats.QuantileMinN(q, confidence); ok {
			p.Ends = append(p.Ends, quantilePlan{q, upper, lower})
		}
	}
}

// print tells the plan to a person.
func (p *testPlan) print(w io.Writer) {
	if r := p.Rate; r != nil {
		r.print(w, p)
	}
	if j := p.Judge; j != nil {
		j.print(w)
	}
	if d := p.Paired; d != nil {
		fmt.Fprintf(w, "against a baseline: a difference of %s is found in %s shared tasks, one attempt each, where %s of the tasks change\n",
			plain.Percent(d.Diff), plain.Thousands(d.Tasks), plain.Percent(d.Discordant))
	}
	for _, z := range p.Zero {
		fmt.Fprintf(w, "no incident in %s exposed tasks rules out a rate of %s or more (rule of three: %s)\n",
			plain.Thousands(z.Exposed), plain.Percent(z.MaxRate), plain.Thousands(z.RuleOfThree))
	}
	if len(p.Ends) > 0 {
		fmt.Fprintf(w, "%s: the interval of a quantile has an upper end only from so many tasks on, and no gate can pass below\n", p.Metric)
	}
	for _, q := range p.Ends {
		fmt.Fprintf(w, "  p%g  %4d tasks (lower end: %d)\n", 100*q.Quantile, q.Upper, q.Lower)
	}
}

func (r *ratePlan) print(w io.Writer, p *testPlan) {
	sign, good := ">=", "failures"
	if r.AtMost {
		sign, good = "<=", "cases of it"
	}
	fmt.Fprintf(w, "gate %s %s %g\n", p.Metric, sign, r.Bound)
	assumed := ""
	if r.Assumed {
		assumed = " (assumed: --truth says otherwise)"
	}
	if r.Tasks == 0 {
		fmt.Fprintf(w, "  if it is really %.4g%s, even two million tasks pass with less than %s\n", r.Truth, assumed, plain.Percent(p.Power))
	} else {
		fmt.Fprintf(w, "  if it is really %.4g%s, %s tasks pass with a chance of %s; they may have %d %s\n",
			r.Truth, assumed, plain.Thousands(r.Tasks), plain.Percent(p.Power), r.Failures, good)
	}
	fmt.Fprintf(w, "  the smallest number of tasks that can pass, by their %s:\n", good)
	for _, m := range r.Smallest {
		fmt.Fprintf(w, "    %6s with at most %d\n", plain.Thousands(m.Tasks), m.Failures)
	}
	if p.Metric == "true_success" && p.Judge == nil {
		fmt.Fprintln(w, "  this holds where people look at every task; with --judge-sens and --judge-spec the plan counts labels")
	}
}

func (j *judgePlan) print(w io.Writer) {
	fmt.Fprintf(w, "labels for %s judged tasks and a judge with sensitivity %s, specificity %s\n", plain.Thousands(j.Tasks), plain.Percent(j.Sensitivity), plain.Percent(j.Specificity))
	for _, d := range []struct {
		name string
		n    *int
	}{
		{"on this run, drawn by verdict", j.Neyman},
		{"on this run, drawn at random", j.Random},
		{"made elsewhere", j.Transport},
		{"without the judge", j.Alone},
	} {
		switch {
		case d.n == nil:
			fmt.Fprintf(w, "  %-32s no number is enough\n", d.name)
		case j.Labels > 0 && j.Labels < *d.n:
			fmt.Fprintf(w, "  %-32s %6s  %s are not enough\n", d.name, plain.Thousands(*d.n), plain.Thousands(j.Labels))
		default:
			fmt.Fprintf(w, "  %-32s %6s\n", d.name, plain.Thousands(*d.n))
		}
	}
	if j.Alone != nil && (j.Transport == nil || *j.Transport > *j.Alone) {
		fmt.Fprintf(w, "  labels made elsewhere add nothing for this judge: label tasks of the run\n")
	}
}
