// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats/gate"
)

// Plan writes how many tasks and labels a gate needs.
func Plan(w io.Writer, p *plan.Plan) error {
	var b strings.Builder
	if p.Gates != nil {
		planGates(&b, p)
	}
	if p.Rate != nil {
		planRate(&b, p.Rate, p)
	}
	if p.Mean != nil {
		planMean(&b, p.Mean, p)
	}
	if p.Judge != nil {
		planJudge(&b, p.Judge, p)
	}
	if p.Paired != nil {
		planPaired(&b, p.Paired, p)
	}
	for _, z := range p.Zero {
		fmt.Fprintf(&b,
			"no incident in %s exposed tasks rules out a rate of %s or more with a confidence of 95 %%, one-sided (rule of three: %s)\n",
			plain.Thousands(z.Exposed), plain.Percent(z.MaxRate), plain.Thousands(z.RuleOfThree))
	}
	if len(p.Ends) > 0 {
		fmt.Fprintf(&b,
			"%s: the interval of a quantile has an upper end only from so many tasks on, and no gate can pass below\n",
			p.Metric)
	}
	for _, q := range p.Ends {
		fmt.Fprintf(&b, "  p%g  %4d tasks (lower end: %d)\n", 100*q.Quantile, q.Upper, q.Lower)
	}
	if p.Looks != nil {
		planLooks(&b, p.Looks, p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func planRate(w io.Writer, r *plan.Rate, p *plan.Plan) {
	sign, one, many := ">=", "failure", "failures"
	if r.AtMost {
		sign, one, many = "<=", "case of it", "cases of it"
	}
	fmt.Fprintf(w, "gate %s %s %g\n", p.Metric, sign, r.Bound)
	assumed := assumedBy(r)
	if r.Tasks == 0 {
		fmt.Fprintf(w, "  if it is really %.4g%s, even two million tasks pass with less than %s\n", r.Truth, assumed,
			plain.Percent(p.Power))
	} else {
		fmt.Fprintf(w, "  if it is really %.4g%s, %s tasks pass with a chance of %s; they may have %s\n",
			r.Truth, assumed, plain.Thousands(r.Tasks), plain.Percent(r.Chance), plain.Count(r.Failures, one, many))
	}
	if p.Metric == "true_success" {
		fmt.Fprintln(w,
			"  this is for people who look at every task, or for a judge that never errs: --judge-sens and --judge-spec plan for one that does")
	}
	planAttempts(w, r, p)
	fmt.Fprintf(w, "  the smallest number of tasks that can pass, by their %s (a gate wants %s):\n", many,
		plain.Thousands(p.MinUnits))
	for _, m := range r.Smallest {
		fmt.Fprintf(w, "    %6s with at most %d\n", plain.Thousands(m.Tasks), m.Failures)
	}
}

// assumedBy is the source of the true rate, unless the user set it.
func assumedBy(r *plan.Rate) string {
	switch {
	case r.Assumed:
		return " (assumed: --truth says otherwise)"
	case r.FromPilot:
		return " (the pilot's: --truth says otherwise)"
	}
	return ""
}

// planAttempts prints the effect of several attempts at each task.
func planAttempts(w io.Writer, r *plan.Rate, p *plan.Plan) {
	if len(r.Several) > 0 {
		var of []string
		for _, s := range r.Several {
			of = append(of, tasksOf(s.Tasks, s.Attempts))
		}
		from := ""
		if r.Alike.Assumed {
			from = ", which is assumed: --correlation, or --from a run with several attempts, says otherwise"
		}
		fmt.Fprintf(w,
			"  with several attempts at each task, for a chance of %s: %s (a task's attempts are alike by %.2g%s)\n",
			plain.Percent(p.Power), strings.Join(of, ", "), r.Alike.Correlation, from)
		fmt.Fprintf(w, "  the gate: %s\n", r.Repeats)
	}
	switch {
	case r.Pilot == nil:
	case r.Pilot.Tasks < p.MinUnits:
		fmt.Fprintf(w, "  the %s of %s are fewer than the %s that the gate wants\n",
			plain.Count(r.Pilot.Tasks, "task", "tasks"), plain.Line(r.Pilot.File), plain.Thousands(p.MinUnits))
	default:
		fmt.Fprintf(w, "  the %s of %s pass with a chance of %s\n", plain.Count(r.Pilot.Tasks, "task", "tasks"),
			plain.Line(r.Pilot.File), chances(r.Pilot.Chances))
	}
}

// simulated writes a simulated chance as a whole percent: simulations can show neither that
// something never happens nor that it always does.
func simulated(chance float64) string {
	switch p := math.Round(100 * chance); p {
	case 0:
		return "under 1 %"
	case 100:
		return "over 99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// chances returns the chances by the number of attempts at each task.
func chances(of []plan.Chance) string {
	var out []string
	for _, c := range of {
		out = append(out, simulated(c.Chance)+" by "+plain.Count(c.Attempts, "attempt", "attempts"))
	}
	return strings.Join(out, ", ") + " at each"
}

// tasksOf writes a number of tasks with the attempts at each.
func tasksOf(tasks, attempts int) string {
	return enough(tasks) + " of " + plain.Count(attempts, "attempt", "attempts")
}

// enough writes a number of tasks; 0 means that it is too large.
func enough(tasks int) string {
	if tasks == 0 {
		return "more than " + plain.Thousands(plan.Most) + " tasks"
	}
	return plain.Count(tasks, "task", "tasks")
}

func planJudge(w io.Writer, j *plan.Judge, p *plan.Plan) {
	fmt.Fprintf(w,
		"labels for a chance of %s, where a judge with sensitivity %s and specificity %s looks at %s tasks\n",
		plain.Percent(p.Power), plain.Percent(j.Sensitivity), plain.Percent(j.Specificity), plain.Thousands(j.Tasks))
	for _, d := range []struct {
		name string
		l    plan.Labels
	}{
		{"on this run, drawn by verdict", j.ByVerdict},
		{"on this run, drawn at random", j.Random},
		{"made elsewhere", j.Elsewhere},
	} {
		needed, given := "no number is enough", ""
		if d.l.Needed != nil {
			needed = plain.Thousands(*d.l.Needed)
		}
		if d.l.Chance != nil {
			given = fmt.Sprintf("  %s labels: a chance of %s", plain.Thousands(j.Given), simulated(*d.l.Chance))
		}
		fmt.Fprintf(w, "  %-32s %6s%s\n", d.name, needed, given)
	}
	if n := p.Rate.Tasks; n > 0 && (j.Elsewhere.Needed == nil || *j.Elsewhere.Needed > n) {
		fmt.Fprintf(w,
			"  labels made elsewhere add nothing for this judge: label tasks of the run, or look at the %s above without a judge\n", plain.Count(n, "task", "tasks"))
	}
}

func planPaired(w io.Writer, d *plan.Paired, p *plan.Plan) {
	in := func(x float64) string { // of amounts a share, of rates points
		if d.SD > 0 {
			return plain.Percent(x) + " of the baseline"
		}
		return plain.Decimals(x) + " points"
	}
	loss, way, share := "a loss of "+in(d.Diff), "loses", in(d.Margin)
	if d.LowerIsBetter {
		loss, way = "a rise of "+in(d.Diff), "rises"
	}
	if d.SD > 0 {
		row := d.Rows[0]
		fmt.Fprintf(w,
			"%s against a baseline, where the tasks' differences have a standard deviation of %s of its mean (chances of %s)\n", p.Metric, plain.Percent(d.SD), plain.Percent(p.Power))
		fmt.Fprintf(w, "  %s fails the gate in %s\n", loss, shared(row.Fails))
		fmt.Fprintf(w, "  a candidate that changes nothing passes it (margin %s) in %s\n", share, shared(row.Passes))
		return
	}
	fmt.Fprintf(w,
		"%s against a baseline of %.4g, where %s of the tasks change between two attempts by chance (chances of %s)\n",
		p.Metric, d.Rate, plain.Percent(d.Discordant), plain.Percent(p.Power))
	fmt.Fprintf(w, "  %-24s %-34s %-34s %s\n", "attempts at each task", loss+" fails: all alike", "some tasks break",
		"no change passes (margin "+share+")")
	for _, r := range d.Rows {
		broken := "the same"
		if r.Attempts > 1 {
			broken = enough(r.Breaks)
		}
		fmt.Fprintf(w, "  %-24d %-34s %-34s %s\n", r.Attempts, enough(r.Fails), broken, enough(r.Passes))
	}
	switch o := d.Pilot; {
	case o == nil:
	case o.Tasks < p.MinUnits:
		fmt.Fprintf(w, "  the %s of %s are fewer than the %s that the gate wants\n",
			plain.Count(o.Tasks, "task", "tasks"), plain.Line(o.File), plain.Thousands(p.MinUnits))
	default:
		fmt.Fprintf(w,
			"  the %s of %s: one that %s %s in every task alike fails with a chance of %s; one that changes nothing passes with a chance of %s\n",
			plain.Count(o.Tasks, "task", "tasks"), plain.Line(o.File), way, in(d.Diff), chances(o.Fails),
			chances(o.Passes))
	}
}

// shared writes a number of shared tasks.
func shared(n int) string { return strings.Replace(enough(n), " task", " shared task", 1) }

func planMean(w io.Writer, m *plan.Mean, p *plan.Plan) {
	u := plan.Unit(p.Metric)
	fmt.Fprintf(w, "gate %s <= %s\n", p.Metric, amount(u, m.Bound))
	from := ""
	if m.FromPilot {
		from = " (the pilot's mean: --truth says otherwise)"
	}
	fmt.Fprintf(w,
		"  if it is really %s%s and varies from task to task by a standard deviation of %s, %s pass with a chance of %s\n",
		amount(u, m.Truth), from, amount(u, m.SD), enough(m.Tasks), plain.Percent(p.Power))
	if m.Pilot != "" {
		fmt.Fprintf(w, "  the spread is that of %s in %s\n", plain.Count(m.PilotTasks, "task", "tasks"),
			plain.Line(m.Pilot))
	}
	if m.Pilot != "" && m.PilotTasks < gate.MinUnits {
		fmt.Fprintf(w, "  %d tasks give a spread only roughly: plan for half as many again\n", m.PilotTasks)
	}
	if m.Tasks == p.MinUnits {
		fmt.Fprintf(w, "  fewer might do, but the gate wants %s\n", plain.Thousands(p.MinUnits))
	}
}

func amount(u panel.Unit, x float64) string {
	switch u {
	case panel.UnitUSD:
		return fmt.Sprintf("$%.4g", x)
	case panel.UnitTokens:
		return fmt.Sprintf("%.4g tokens", x)
	}
	return fmt.Sprintf("%.4g", x)
}
