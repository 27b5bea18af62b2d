// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report"
)

// conclude prints the result of a run and decides the exit code; show shows its attempts, and ended
// is why it ended early.
func (a *cli) conclude(out *runs.Outcome, f *runFlags, show func(*report.View, *runFlags) error, ended error) error {
	ctx := a.process.Hard // it outlives the first interrupt
	v := a.view(out.RunView)
	if err := a.heapProfile(ctx); err != nil {
		return err
	}
	if out.Gates != nil {
		a.command(out.Gates)
		v.Gates = out.Gates.Report
	}
	for _, o := range f.outputs {
		if err := a.program().WriteReport(ctx, v, o); err != nil {
			return err
		}
	}
	if err := show(v, f); err != nil {
		return err
	}
	switch {
	case out.Gates == nil:
	case f.quiet || a.jsonOut:
		fmt.Fprintln(a.err, out.Gates.Report.Sentence)
		fmt.Fprintln(a.err, out.Saved())
	default:
		if err := a.showGates(out.Gates, out.Saved()); err != nil {
			return err
		}
	}
	if !f.quiet {
		report.Used(a.err, v.Models)
	}
	for _, s := range out.Summary.Stopped {
		fmt.Fprintf(a.err, "gave up on %s\n", s)
	}
	for _, n := range out.Notes {
		fmt.Fprintf(a.err, "note: %s\n", n.Text)
	}
	for _, why := range out.Why {
		fmt.Fprintln(a.err, why)
	}
	switch {
	case ended != nil:
		return a.howToGoOn(out, ended)
	case out.Interrupted():
		a.process.WriteInterrupt() // also where another process was interrupted
		a.exitStatus = exitInterrupted
	default:
		a.exitStatus = verdictCode(out.Verdict)
	}
	return nil
}

// verdictCode is the exit code of a verdict.
func verdictCode(v runs.Verdict) int {
	switch v {
	case runs.Fail:
		return exitGateFailed
	case runs.Inconclusive:
		return exitInconclusive
	}
	return exitOK
}

// howToGoOn adds a hint after an early end of a run: the command with twice the reached limit, or
// the error's own hint.
func (a *cli) howToGoOn(out *runs.Outcome, ended error) error {
	resume, raise := a.hints().Text(out.Resume(), nil), out.Raise()
	var h *callvet.Hinted
	switch {
	case out.Failed():
		return &callvet.Hinted{Err: ended, Hint: resume}
	case !errors.Is(ended, callvet.ErrBudget):
		return ended
	case errors.As(ended, &h):
		return &callvet.Hinted{Err: ended, Hint: h.Hint + "; then " + resume}
	case len(raise.With) > 0:
		return &callvet.Hinted{Err: ended, Hint: a.hints().Text(raise, nil)}
	}
	return &callvet.Hinted{Err: ended, Hint: resume + " with a larger budget"}
}

// view is the report view of a run, with the most useful next commands.
func (a *cli) view(v *results.RunView) *report.View {
	v.View.All = a.hints().Text(app.Action{Verb: app.VerbAll, Run: v.Stored.ID}, v.Manifest)
	v.View.Next = nil
	for _, next := range v.Next {
		v.View.Next = append(v.View.Next, a.hints().Text(next, v.Manifest))
	}
	return v.View
}

// show prints the run on standard output.
func (a *cli) show(v *report.View, f *runFlags) error {
	switch {
	case f.quiet && !a.jsonOut:
		return nil
	case a.jsonOut:
		return report.JSON(a.out, v)
	}
	return report.Terminal(a.out, v,
		report.TerminalOptions{
			Width: a.width, Color: a.color(a.outTTY), MaxFailures: f.maxFailures, Verbose: a.verbose,
			Brief: !f.whole,
		})
}
