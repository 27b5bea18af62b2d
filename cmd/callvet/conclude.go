// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// outcome is what reports tell of a run that this process has ended.
func (a *app) outcome(ctx context.Context, db *store.DB, e *evaluation, op *opener, f *runFlags) (v *report.View, err error) {
	if e.run, err = db.Run(ctx, e.run.ID); err != nil {
		return nil, err
	}
	p := e.tally.panels()
	if p == nil {
		if p, err = e.panels(ctx, db, f.slices); err != nil {
			return nil, err
		}
	}
	red, err := a.viewer(e.man, nil)
	if err != nil {
		return nil, err
	}
	op.tellLearned(red)
	v = e.viewOf(ctx, db, p, red)
	if v.Selection, err = e.section(ctx, db, p, op, "", red); err != nil {
		return nil, err
	}
	v.Models = op.used()
	return v, a.heapProfile(ctx)
}

// conclude tells what came out of a run and decides the exit code; runErr is why it
// ended early.
func (a *app) conclude(ctx context.Context, v *report.View, e *loaded, f *runFlags, sum run.Summary, runErr error) error {
	for _, o := range f.outputs {
		if err := a.writeReport(ctx, v, o); err != nil {
			return err
		}
	}
	if err := a.show(v, f); err != nil {
		return err
	}
	if !f.quiet {
		selector.TellUse(a.err, v.Models)
	}
	for _, s := range sum.Stopped {
		fmt.Fprintf(a.err, "gave up on %s\n", s)
	}
	if n := sum.Spent.Assumed; n > 0 && f.maxCost > 0 {
		fmt.Fprintf(a.err, "note: %s told no usage that can be true: for --max-cost they were taken to cost %s at most, a token for each byte sent and received\n",
			plain.Count(n, "request", "requests"), plain.Dollars(sum.Spent.AssumedUSD))
	}
	switch {
	case sum.Status == run.StatusInterrupted:
		a.process.TellInterrupt() // also where it was another process that was interrupted
		a.exitStatus = exitInterrupted
	case runErr != nil && !errors.Is(runErr, callvet.ErrBudget):
		return runErr
	case runErr != nil:
		return &callvet.Hinted{Err: runErr, Hint: e.afterBudget(f, sum, runErr)}
	case sum.Pass+sum.Fail == 0:
		return fmt.Errorf("nothing was judged: %s ended in an error, %s did not run", plain.Count(sum.Error, "cell", "cells"), plain.Thousands(sum.NotRun))
	default:
		a.exitStatus = a.verdict(v, f, sum)
	}
	return nil
}

// interruption is what is told where the telling of a run is interrupted.
func (l *loaded) interruption(sum run.Summary) string {
	if sum.Status == run.StatusDone {
		return "interrupted; the run is done and stored; see: " + l.hints.text(action{Verb: verbShow, Run: l.run.ID}, l.man)
	}
	return fmt.Sprintf("interrupted: %d of %d cells are done and stored; go on with: %s", sum.Done, sum.Total, l.resumed())
}

// afterBudget is what helps when a budget is exhausted: the run with twice the limit
// that was reached, or what the error itself says.
func (l *loaded) afterBudget(f *runFlags, sum run.Summary, err error) string {
	var h *callvet.Hinted
	switch {
	case errors.As(err, &h):
		return h.Hint + "; then " + l.resumed()
	case f.maxCalls > 0 || f.maxCost > 0:
		return l.raised(f.maxCalls, f.maxCost, sum.Spent)
	}
	return l.resumed() + " with a larger budget"
}

// raised is the command that goes on with a run that has spent its budget: with twice the
// limit that it reached.
func (l *loaded) raised(maxCalls int, maxCost float64, spent callvet.Spent) string {
	switch {
	case maxCalls > 0 && spent.Requests >= maxCalls:
		return l.resumed(flag1("max-calls", strconv.Itoa(2*maxCalls)))
	case maxCost > 0:
		most := max(maxCost, spent.USD+spent.AssumedUSD)
		return l.resumed(flag1("max-cost", strconv.FormatFloat(2*most, 'g', 6, 64)))
	}
	return l.resumed()
}

// show prints the run on standard output.
func (a *app) show(v *report.View, f *runFlags) error {
	switch {
	case f.quiet && !a.jsonOut:
		return nil
	case f.told != nil:
		return f.told(v)
	case a.jsonOut:
		return report.JSON(a.out, v)
	}
	return report.Terminal(a.out, v, report.TerminalOptions{Width: a.width, Color: a.color(a.outTTY), MaxFailures: f.maxFailures})
}

// verdict judges the run by --require-pass and --fail-under, for each target.
func (a *app) verdict(v *report.View, f *runFlags, sum run.Summary) int {
	code := exitOK
	if f.requirePass {
		if sum.Pass != sum.Total {
			fmt.Fprintf(a.err, "required: every attempt passes; %d of %d did\n", sum.Pass, sum.Total)
			return exitGateFailed
		}
		if n := passedInPart(v.Panels); n > 0 {
			fmt.Fprintf(a.err, "required: every attempt passes; %d of %d did, %d of them with assertions that were not evaluated\n", sum.Pass, sum.Total, n)
			return exitGateFailed
		}
	}
	if f.failUnder <= 0 {
		return code
	}
	for i := range v.Panels.Targets {
		t := &v.Panels.Targets[i]
		m := t.Overall.Metric(panel.MetricPass)
		if t.Floor || m == nil || !m.Interval.Defined() {
			continue
		}
		switch iv := m.Interval; {
		case iv.Upper < f.failUnder:
			fmt.Fprintf(a.err, "failed: %s passes %s, under %s\n", t.Name, passed(iv), plain.ExactPercent(f.failUnder))
			code = exitGateFailed
		case iv.Lower < f.failUnder:
			fmt.Fprintf(a.err, "inconclusive: %s passes %s; %s cannot tell whether that is %s or more\n", t.Name, passed(iv), plain.Count(t.Overall.Cases, "case", "cases"), plain.ExactPercent(f.failUnder))
			if code == exitOK {
				code = exitInconclusive
			}
		}
	}
	return code
}

// passed is a pass rate with its interval, in a sentence.
func passed(iv stats.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", plain.Percent(iv.Point), plain.Decimals(iv.Lower), plain.Decimals(iv.Upper))
}

// passedInPart counts attempts that passed with assertions that were not evaluated.
func passedInPart(p *panel.Panels) (n int) {
	for i := range p.Targets {
		n += p.Targets[i].Overall.NotEvaluated.Passed
	}
	return n
}

// writeReport writes one report file, whole or not at all; "-" is standard output as text.
func (a *app) writeReport(ctx context.Context, v *report.View, path string) error {
	face, err := report.ByPath(path)
	if err != nil {
		return err
	}
	return a.write(ctx, path, func(w io.Writer) error { return face(w, v) })
}
