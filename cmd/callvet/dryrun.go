// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

// dryRun prints the run that the flags would start.
func (a *cli) dryRun(ctx context.Context, path string, f *runFlags, changed func(string) bool) error {
	switch {
	case f.resume != "":
		return usagef("--dry-run is of a new run: callvet show %s shows a stored one", f.resume)
	case path == "":
		return usagef("which suite? callvet run SUITE -m TARGET --dry-run")
	}
	if err := a.writable(f); err != nil {
		return err
	}
	req, err := a.request(path, f, changed)
	if err != nil {
		return err
	}
	d, err := runs.Preview(ctx, a.program(), req, a.eventPrinter(f.quiet, f.suite.lint(a.hints(), path)).print)
	if err != nil {
		return err
	}
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(d)
	}
	of := ""
	if d.Cases < d.All {
		of = fmt.Sprintf(" of %d", d.All)
	}
	repeats := plain.Count(d.Repeats, "repeat", "repeats")
	if d.MostRepeats > d.Repeats {
		repeats = fmt.Sprintf("%d to %d repeats", d.Repeats, d.MostRepeats)
	}
	fmt.Fprintf(a.out, "%s would be made: %d%s cases, %s, %s; nothing was asked or kept\n",
		plain.Count(d.Attempts, "attempt", "attempts"),
		d.Cases, of, plain.Count(len(d.Targets), "target", "targets"), repeats)
	for _, t := range d.Targets {
		fmt.Fprintf(a.out, "  %s\n", t)
	}
	a.usage(&d.Usage, "")
	if d.OfJudges != nil {
		a.usage(d.OfTargets, "of targets: ")
		a.usage(d.OfJudges, "of judges: ")
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(a.err, "warning: %s: %s\n", w.Code, w.Text)
	}
	for _, u := range d.Unkeyed {
		fmt.Fprintf(a.err, "  try: %s\n", callvet.Unset(nil, u.Variable).Hint)
	}
	if d.Rubrics > 0 {
		fmt.Fprintf(a.out, "%s of rubrics among them, which run where all others pass\n",
			plain.Count(d.Rubrics, "attempt", "attempts"))
	}
	if d.Skipped > 0 {
		fmt.Fprintf(a.out, "%s skipped, as the suite says\n", plain.Count(d.Skipped, "attempt is", "attempts are"))
	}
	return nil
}

// usage prints the usage of a part of a run; of names the part, "" for the whole.
func (a *cli) usage(u *runs.Usage, of string) {
	requests := fmt.Sprintf("%s or more", plain.Count(u.RequestsLeast, "request", "requests"))
	if u.RequestsMost != nil {
		requests = fmt.Sprintf("%d to %d requests", u.RequestsLeast, *u.RequestsMost)
		if *u.RequestsMost == u.RequestsLeast {
			requests = plain.Count(u.RequestsLeast, "request", "requests")
		}
	}
	fmt.Fprintf(a.out, "%s%s, without retries and answers that are used again\n", of, requests)
	printFigure(a.out, of+"input tokens", "about %.0f", &u.InputTokens)
	printFigure(a.out, of+"output tokens", "about %.0f", &u.OutputTokens)
	printFigure(a.out, of+"cost", "about $%.4f", &u.CostUSD)
	printFigure(a.out, of+"time", "about %.0f s", &u.Seconds)
}

// printFigure prints an estimated figure in a form with its value, or why it is not known.
func printFigure(w io.Writer, name, form string, e *runs.Estimate) {
	if e.Value != nil {
		fmt.Fprintf(w, "%s: "+form+", by %s\n", name, *e.Value, plain.Line(e.Basis))
	} else {
		fmt.Fprintf(w, "%s: not known: %s\n", name, plain.Line(e.Reason))
	}
}
