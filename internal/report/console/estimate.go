// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

// RunEstimate prints the size and the cost of a planned run; warnings are written to notes.
func RunEstimate(out, notes io.Writer, d *runs.DryRun) {
	of := ""
	if d.Cases < d.All {
		of = fmt.Sprintf(" of %d", d.All)
	}
	repeats := plain.Count(d.Repeats, "repeat", "repeats")
	if d.MostRepeats > d.Repeats {
		repeats = fmt.Sprintf("%d to %d repeats", d.Repeats, d.MostRepeats)
	}
	fmt.Fprintf(out, "%s would be made: %d%s cases, %s, %s; nothing was asked or kept\n",
		plain.Count(d.Attempts, "attempt", "attempts"),
		d.Cases, of, plain.Count(len(d.Targets), "target", "targets"), repeats)
	for _, t := range d.Targets {
		fmt.Fprintf(out, "  %s\n", t)
	}
	printUsage(out, &d.Usage, "")
	if d.OfJudges != nil {
		printUsage(out, d.OfTargets, "of targets: ")
		printUsage(out, d.OfJudges, "of judges: ")
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(notes, "warning: %s: %s\n", w.Code, w.Text)
	}
	for _, u := range d.Unkeyed {
		fmt.Fprintf(notes, "  try: %s\n", callvet.Unset(nil, u.Variable).Hint)
	}
	if d.Rubrics > 0 {
		fmt.Fprintf(out, "%s of rubrics among them, which run where all others pass\n",
			plain.Count(d.Rubrics, "attempt", "attempts"))
	}
	if d.Skipped > 0 {
		fmt.Fprintf(out, "%s skipped, as the suite says\n", plain.Count(d.Skipped, "attempt is", "attempts are"))
	}
}

// printUsage prints the usage of a part of a run; of names the part, "" for the whole.
func printUsage(out io.Writer, u *runs.Usage, of string) {
	requests := fmt.Sprintf("%s or more", plain.Count(u.RequestsLeast, "request", "requests"))
	if u.RequestsMost != nil {
		requests = fmt.Sprintf("%d to %d requests", u.RequestsLeast, *u.RequestsMost)
		if *u.RequestsMost == u.RequestsLeast {
			requests = plain.Count(u.RequestsLeast, "request", "requests")
		}
	}
	fmt.Fprintf(out, "%s%s, without retries and answers that are used again\n", of, requests)
	printFigure(out, of+"input tokens", "about %.0f", &u.InputTokens)
	printFigure(out, of+"output tokens", "about %.0f", &u.OutputTokens)
	printFigure(out, of+"cost", "about $%.4f", &u.CostUSD)
	printFigure(out, of+"time", "about %.0f s", &u.Seconds)
}

// Prices writes the table of the prices of models.
func Prices(w io.Writer, p *app.Prices) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "model\tinput\tcached\tcache write\toutput\tsince")
	for i := range p.Rows {
		r := &p.Rows[i]
		fmt.Fprintf(t, "%s/%s\t%g\t%s\t%s\t%g\t%s\n",
			r.Provider, r.Model, r.Input, priceOr(r.Cached), priceOr(r.CacheWrite), r.Output, r.Effective)
	}
	return t.Flush()
}

func priceOr(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return fmt.Sprintf("%g", *usd)
}
