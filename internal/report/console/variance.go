// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report/plain"
)

// Variance writes the shares of each target, and what to measure next.
func Variance(out io.Writer, v *traces.VarianceReport, h Hints) error {
	w := &bytes.Buffer{}
	for i := range v.Targets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		printVaried(w, v, &v.Targets[i], h)
	}
	for _, n := range v.Notes {
		fmt.Fprintf(w, "note: %s\n", plain.Line(n))
	}
	_, err := w.WriteTo(out)
	return err
}

func printVaried(w io.Writer, v *traces.VarianceReport, t *traces.TargetVariance, h Hints) {
	by := ""
	if v.Judge != nil {
		by = fmt.Sprintf(", %s of judge %s by %s", plain.Count(t.Verdicts, "verdict", "verdicts"),
			plain.Line(v.Judge.Name),
			plain.Line(v.Judge.Model))
	}
	fmt.Fprintf(w, "%s: %s pass, by %s at %s%s\n", plain.Line(t.Target), plain.Rate(t.Mean),
		plain.Count(t.Attempts, "attempt", "attempts"), plain.Count(t.Tasks, "task", "tasks"), by)
	if r := t.Recorded; r != nil {
		fmt.Fprintf(w, "compared with %s at these tasks where mocks or recordings answered for the tools\n",
			plain.Count(r.Attempts, "attempt", "attempts"))
	}
	for _, why := range slices.Sorted(maps.Keys(t.Lost)) {
		fmt.Fprintf(w, "not counted: %d %s\n", t.Lost[why], why)
	}
	if t.Facts > 0 {
		fmt.Fprintf(w, "not counted as attempts: %d that repeat an earlier answer\n", t.Facts)
	}
	if t.SE == nil {
		fmt.Fprintf(w,
			"no verdict differs from another: two attempts at a task may still differ in up to %s of pairs\n",
			plain.Percent(t.TargetFlips.Upper))
	} else {
		printSources(w, t)
	}
	for _, u := range t.Unknown {
		fmt.Fprintf(w, "  %-8s unknown: %s\n", u.Source, plain.Line(u.Why))
		if u.Action != nil {
			fmt.Fprintf(w, "           to see it: %s\n", plain.Line(h.Text(*u.Action, v.Manifest)))
		}
	}
	if len(t.Next) > 0 {
		printNext(w, v, t, h)
	}
}

// printSources prints the table of the sources that are known.
func printSources(w io.Writer, t *traces.TargetVariance) {
	fmt.Fprintf(w, "\n  %-8s %-27s %-27s %s\n", "source", "variance of one verdict", "variance of the mean",
		"pairs that differ")
	for i := range t.Sources {
		s := &t.Sources[i]
		if !s.Known() {
			continue
		}
		flips := ""
		if s.Source == "target" {
			flips = plain.Rate(t.TargetFlips) + " of attempts at a task"
		} else if s.Source == "judge" {
			flips = plain.Rate(t.JudgeFlips) + " of verdicts on an attempt"
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-8s %-27s %-27s %s", s.Source, plain.Rate(*s.Share),
			plain.Rate(*s.OfMean), flips), " "))
	}
}

// printNext prints the further measurements, and the most useful one.
func printNext(w io.Writer, v *traces.VarianceReport, t *traces.TargetVariance, h Hints) {
	fmt.Fprintf(w, "\nstandard error of the mean: %.1f points for %s, %.1f for this suite\n", 100**t.SE, v.Population,
		100**t.SuiteSE)
	for i := range t.Next {
		m := &t.Next[i]
		cost := "cost not known"
		switch {
		case m.CostUSD != nil:
			cost = plain.Dollars(*m.CostUSD)
		case m.Labels > 0:
			cost = "a label's cost is not known: --label-cost"
		}
		fmt.Fprintf(w, "  %-51s %5.1f points  %s\n", measurement(m), 100*m.SE, cost)
	}
	best, per := &t.Next[0], "dollar"
	if !t.ByCost {
		per = "attempt and verdict"
	}
	fmt.Fprintf(w, "next: %s: the largest reduction per %s\n", measurement(best), per)
	if best.Action != nil {
		fmt.Fprintf(w, "  %s\n", plain.Line(h.Text(*best.Action, v.Manifest)))
	} else if len(t.Next) > 1 {
		fmt.Fprintf(w, "  without new tasks: %s\n", measurement(&t.Next[1]))
	}
}

// measurement is a further measurement in words.
func measurement(m *traces.Measurement) string {
	var more []string
	if m.Attempts > 0 {
		more = append(more, plain.Count(m.Attempts, "attempt", "attempts"))
	}
	if m.Verdicts > 0 {
		more = append(more, plain.Count(m.Verdicts, "verdict", "verdicts"))
	}
	switch what := strings.Join(more, ", ") + " more"; m.What {
	case "tasks":
		return "twice the tasks (" + what + ")"
	case "attempts":
		return "twice the attempts (" + what + ")"
	case "verdicts":
		return "twice the samples (" + what + ")"
	}
	return "a label on each of " + plain.Count(m.Labels, "attempt", "attempts")
}
