// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/report/plain"
)

// eventPrinter shows the events of one request on standard error.
type eventPrinter struct {
	a *cli
	// quiet omits progress, and notes without an effect.
	quiet bool
	// lint is the command that lints the suite of the request; "" where none is read.
	lint string
	// warnings: also print the warnings among problems.
	warnings bool
	progress *report.Progress
	of       string // what progress counts
	used     []callvet.ModelUse
}

// eventPrinter shows events; lint is the command that lints the files.
func (a *cli) eventPrinter(quiet bool, lint string) *eventPrinter {
	return &eventPrinter{a: a, quiet: quiet, lint: lint}
}

// events are shown as they arrive.
func (a *cli) events() app.Events { return a.eventPrinter(false, "").print }

func (t *eventPrinter) print(ev app.Event) {
	switch {
	case ev.Progress != nil:
		t.draw(ev.Progress)
		return
	case ev.Note != nil && t.quiet && slices.Contains([]string{"withheld", "redacted", "default"}, ev.Note.Code):
		return
	}
	t.finish()
	switch {
	case ev.Note != nil:
		fmt.Fprintf(t.a.err, "note: %s%s\n", t.a.shortened(ev.Note.Text), console.FlagNotes(ev.Note.Code))
	case ev.Warning != nil:
		t.a.notice(callvet.Notice{Code: ev.Warning.Code, Text: t.a.shortened(ev.Warning.Text)})
	case ev.Problems != nil:
		t.problems(ev.Problems)
	case ev.Catalogue != nil:
		t.a.printProblems(ev.Catalogue, t.a.verbose)
	case ev.Lines != nil:
		console.BadLines(t.a.err, ev.Lines)
	case ev.Lost != nil:
		t.lost("not carried", ev.Lost.Read)
		t.lost("not written", ev.Lost.Written)
	case ev.Session != nil:
		t.session(ev.Session)
	case ev.Ended != nil:
		t.ended(ev.Ended)
	case ev.Used != nil:
		t.used = append(t.used, ev.Used...)
	}
}

// tellUsed prints the usage of embedders and rerankers.
func (t *eventPrinter) tellUsed() { report.Used(t.a.err, t.used) }

// shortened is a text of a file or a model on one line, with paths relative to the working
// directory.
func (a *cli) shortened(text string) string {
	return plain.Line(strings.TrimPrefix(text, a.dir+string(os.PathSeparator)))
}

// problems prints the findings of lint.
func (t *eventPrinter) problems(problems []callvet.Problem) {
	left := 0
	for i := range problems {
		if problems[i].Code == app.CodeNotEvaluated {
			left++
		}
	}
	if left > 0 && t.lint != "" && !t.quiet {
		fmt.Fprintf(t.a.err,
			"note: %s assertions that nothing here evaluates: they count as not evaluated, and --require-pass does not accept them\n", plain.Count(left, "case has", "cases have"))
	}
	errs, warns := t.a.printProblems(problems, t.warnings || t.a.verbose)
	if errs == 0 && warns > 0 && t.lint != "" && !t.a.verbose && !t.quiet {
		fmt.Fprintf(t.a.err, "note: lint has %s: %s\n", plain.Count(warns, "warning", "warnings"), t.lint)
	}
}

// lost prints the counts of data that could not be converted.
func (t *eventPrinter) lost(how string, count map[string]int64) {
	for _, what := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(t.a.err, "%s: %s (%d)\n", how, what, count[what])
	}
}

// session sets the message of an interrupt from now on, and prints the owner of the run.
func (t *eventPrinter) session(s *app.SessionEvent) {
	switch {
	case s.Follows == "":
		t.a.process.OnInterrupt("interrupted; what was received is stored; go on with: " +
			t.a.hints().Text(s.Resume, nil))
	case s.Gone:
		fmt.Fprintf(t.a.err, "note: %s is gone; going on with run %s\n", s.Follows, s.Run)
	default:
		fmt.Fprintf(t.a.err,
			"note: run %s is being carried out by %s; following it. Its own limits hold. --no-wait fails instead, and Ctrl-C leaves it alone\n", s.Run, s.Follows)
		t.a.process.OnInterrupt(fmt.Sprintf("interrupted; run %s is not followed any more, and %s goes on with it",
			s.Run, s.Follows))
	}
}

// ended sets the message of an interrupt while the results are printed.
func (t *eventPrinter) ended(e *app.EndedEvent) {
	next := t.a.hints().Text(e.Next, nil)
	if e.Next.Verb == app.VerbShow {
		t.a.process.OnInterrupt("interrupted; the run is done and stored; see: " + next)
		return
	}
	t.a.process.OnInterrupt(fmt.Sprintf("interrupted: %d of %d attempts are done and stored; go on with: %s",
		e.Summary.Done, e.Summary.Total, next))
}

// draw draws the progress of the attempts, or of the steps before them; the latter on a terminal
// only.
func (t *eventPrinter) draw(p *app.ProgressEvent) {
	if t.of != p.Of {
		t.finish()
	}
	if t.progress == nil {
		t.of, t.progress = p.Of, &report.Progress{W: t.a.err, TTY: t.a.errTTY, Width: t.a.width, Now: t.a.now}
		if t.quiet || p.Of != "" && !t.a.errTTY {
			t.progress.W, t.progress.TTY = io.Discard, false
		}
	}
	t.progress.Update(*p)
	if p.Of != "" && p.Done == p.Total {
		t.finish()
	}
}

// finish removes the progress line; another one may follow.
func (t *eventPrinter) finish() {
	if t.progress != nil {
		t.progress.Finish()
		t.progress = nil
	}
}
