// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/callvet/callvet/internal/plan"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// planLooks compares one look with a look after each task.
func planLooks(w io.Writer, l *plan.Looks, p *plan.Plan) {
	if l.NoEarly != "" {
		fmt.Fprintln(w, noEarly(p.Metric, l))
		return
	}
	fmt.Fprintf(w, "one look at a fixed number of tasks, or a look after each task (chances of %s)\n",
		plain.Percent(p.Power))
	early := false
	for i := range l.Designs {
		d := &l.Designs[i]
		what := plain.Count(d.Attempts, "attempt", "attempts") + " at each task"
		if d.Change {
			what = changeOf(d, p.Paired) + ", " + what
		}
		fmt.Fprintf(w, "  %s: %s\n", what, designs(d))
		if text := elsewhere(d); text != "" {
			fmt.Fprintf(w, "    %s\n", text)
		}
		early = early || d.Take == plan.LooksAny || d.Take == plan.TakeEither
	}
	if early {
		fmt.Fprintln(w,
			"  looks: any goes with `callvet run --until-decided`, which asks the tasks in a random order and stops"+
				" when the gate is decided; plan as many tasks as it needs at most")
	}
}

// noEarly is the sentence of a metric without an early decision.
func noEarly(metric string, l *plan.Looks) string {
	return fmt.Sprintf("%s has no early decision, because %s: look at its gate once, when all tasks are done", metric,
		l.NoEarly)
}

// changeOf names the decision of a design with a baseline.
func changeOf(d *plan.Designs, c *plan.Paired) string {
	loss := "loss"
	if c.LowerIsBetter {
		loss = "rise"
	}
	switch {
	case d.Verdict == gate.Pass:
		return "no change passes"
	case d.Breaks:
		return fmt.Sprintf("a %s of %s points fails, some tasks break", loss, plain.Decimals(c.Diff))
	}
	return fmt.Sprintf("a %s of %s points fails", loss, plain.Decimals(c.Diff))
}

// designs writes the numbers of both designs, and which one to take.
func designs(d *plan.Designs) string {
	u := &d.Until
	if u.Most == 0 {
		return fmt.Sprintf("one look: %s. After each task: %s. %s", enough(d.Once), enough(0), take(d))
	}
	return fmt.Sprintf("one look: %s. After each task: %s on average, %s at most (90 %% of the decisions by %s). %s",
		enough(d.Once), plain.Thousands(rounded(u.Mean)), plain.Thousands(u.Most), plain.Thousands(u.NineInTen),
		take(d))
}

func rounded(x float64) int { return int(math.Round(x)) }

// elsewhere writes how many tasks other truths need on average; "" without them.
func elsewhere(d *plan.Designs) string {
	var of []string
	for i, m := range d.Until.Elsewhere {
		at := fmt.Sprintf("%.4g", m.Truth)
		switch {
		case d.Change:
			at = plain.Decimals(m.Truth) + " points"
		case i == 0:
			at = "at the bound " + at
		}
		of = append(of, fmt.Sprintf("%s if it is %s", plain.Thousands(rounded(m.Mean)), at))
	}
	if of == nil {
		return ""
	}
	return "after each task on average " + strings.Join(of, ", ")
}

// take is the advice.
func take(d *plan.Designs) string {
	switch d.Take {
	case plan.LooksAny:
		return fmt.Sprintf("Take looks: any: %.0f %% fewer tasks on average", 100*(1-d.Until.Mean/float64(d.Once)))
	case plan.LooksOnce:
		return "Take one look"
	case plan.TakeEither:
		if d.Change {
			return "About as many: looks: any pays where the change is larger"
		}
		return "About as many: looks: any pays where it is further from the bound"
	}
	return "No number of tasks up to " + plain.Thousands(plan.Most) + " is enough"
}

// planGates writes a line for each gate of a file.
func planGates(w io.Writer, p *plan.Plan) {
	fmt.Fprintf(w, "%s, each planned for a chance of %s\n", plain.Count(len(p.Gates), "gate", "gates"),
		plain.Percent(p.Power))
	for i := range p.Gates {
		g := &p.Gates[i]
		name := plain.Line(g.Gate)
		switch _, value, _ := strings.Cut(g.Slice, "="); {
		case value == gates.Every:
			name += fmt.Sprintf(" [tasks of each %s]", plain.Line(strings.TrimSuffix(g.Slice, "="+gates.Every)))
		case g.Slice != "":
			name += fmt.Sprintf(" [tasks of %s]", plain.Line(g.Slice))
		}
		if g.Plan == nil {
			fmt.Fprintf(w, "  %s: no plan: %s\n", name, g.NoPlan)
			continue
		}
		for _, line := range planLines(g.Plan) {
			fmt.Fprintf(w, "  %s%s\n", name, line)
		}
	}
}

// several names the attempts at each task; "" for one.
func several(d *plan.Designs) string {
	if d.Attempts == 1 {
		return ""
	}
	return fmt.Sprintf(", %d attempts at each task", d.Attempts)
}

// planLines are the lines of a gate, after its name.
func planLines(p *plan.Plan) (lines []string) {
	early := p.Looks != nil && p.Looks.NoEarly == ""
	late := ""
	if p.Looks != nil && !early {
		late = fmt.Sprintf(". No early decision: %s", p.Looks.NoEarly)
	}
	for _, z := range p.Zero {
		lines = append(lines, fmt.Sprintf(": %s without an incident%s", plain.Count(z.Exposed, "exposed task",
			"exposed tasks"), late))
	}
	if r := p.Rate; r != nil {
		if !early {
			of := enough(r.Tasks)
			for _, s := range r.Several {
				of += ", " + tasksOf(s.Tasks, s.Attempts)
			}
			lines = append(lines, fmt.Sprintf(", if it is really %.4g: one look: %s%s", r.Truth, of, late))
		} else {
			for i := range p.Looks.Designs {
				d := &p.Looks.Designs[i]
				lines = append(lines, fmt.Sprintf(", if it is really %.4g%s: %s", r.Truth, several(d), designs(d)))
			}
		}
	}
	if c := p.Paired; c != nil {
		if early {
			for i := range p.Looks.Designs {
				d := &p.Looks.Designs[i]
				lines = append(lines, fmt.Sprintf(", %s%s: %s", changeOf(d, c), several(d), designs(d)))
			}
			return lines
		}
		for _, row := range c.Rows {
			lines = append(lines, fmt.Sprintf(": one look: %s, or %s if nothing changed%s", enough(row.Fails),
				enough(row.Passes), late))
		}
	}
	return lines
}
