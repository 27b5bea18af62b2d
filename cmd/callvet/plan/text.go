// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plan

import (
	"fmt"
	"io"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/gate"
)

// Print tells the plan to a person.
func (p *Plan) Print(w io.Writer) {
	if r := p.Rate; r != nil {
		r.print(w, p)
	}
	if m := p.Mean; m != nil {
		m.print(w, p)
	}
	if j := p.Judge; j != nil {
		j.print(w)
	}
	switch d := p.Paired; {
	case d == nil:
	case d.SD > 0:
		fmt.Fprintf(w, "against a baseline: a difference of %.4g is found with a chance of %s in %s shared tasks, where their differences have a standard deviation of %.4g\n",
			d.Diff, plain.Percent(p.Power), plain.Thousands(d.Tasks), d.SD)
	default:
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

func (r *Rate) print(w io.Writer, p *Plan) {
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

func (j *Judge) print(w io.Writer) {
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

func (m *Mean) print(w io.Writer, p *Plan) {
	u := unit(p.Metric)
	fmt.Fprintf(w, "gate %s <= %s\n", p.Metric, amount(u, m.Bound))
	from := ""
	if m.FromPilot {
		from = " (the pilot's mean: --truth says otherwise)"
	}
	fmt.Fprintf(w, "  if it is really %s%s and varies from task to task by a standard deviation of %s, %s tasks pass with a chance of %s\n",
		amount(u, m.Truth), from, amount(u, m.SD), plain.Thousands(m.Tasks), plain.Percent(p.Power))
	if m.Pilot != "" {
		fmt.Fprintf(w, "  the spread is that of %s in %s\n", plain.Count(m.PilotTasks, "task", "tasks"), plain.Line(m.Pilot))
	}
	if m.Pilot != "" && m.PilotTasks < fewTasks {
		fmt.Fprintf(w, "  %d tasks tell a spread only roughly: plan for half as many again\n", m.PilotTasks)
	}
	if m.Tasks < fewTasks {
		fmt.Fprintf(w, "  a gate wants %d tasks by default, whatever they say\n", fewTasks)
	}
}

// fewTasks is below which a gate does not decide by default.
const fewTasks = gate.MinUnits

func amount(u panel.Unit, x float64) string {
	switch u {
	case panel.UnitUSD:
		return fmt.Sprintf("$%.4g", x)
	case panel.UnitTokens:
		return fmt.Sprintf("%.4g tokens", x)
	}
	return fmt.Sprintf("%.4g", x)
}
