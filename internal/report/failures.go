// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// maxScan bounds how many failed attempts are read to choose some.
const maxScan = 5000

func (s *screen) failures(v *View) error {
	limit, each := s.opt.MaxFailures, 3
	switch {
	case limit == 0:
		limit = 10
	case limit < 0:
		limit, each = maxScan, maxScan
	case limit > 20: // a user who requests many expects them, not a few of each class
		each = limit
	}
	groups, rest, err := sampleFailures(v, each, limit, maxScan)
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return nil
	}
	s.heading("What failed")
	for _, g := range groups {
		s.line("\n%s", s.bold(className(g.Class))+s.dim(fmt.Sprintf("  %s", plain.Count(g.N, "attempt", "attempts"))))
		for i, r := range g.Rows {
			s.failure(v, r, g.Repeats[i])
		}
	}
	switch {
	case rest > 0 && v.All == "": // there is no command line that shows them
		s.line("\n… and %s more", plain.Thousands(rest))
	case rest > 0:
		s.line("\n… and %s more: %s", plain.Thousands(rest), plain.Line(v.All))
	}
	return nil
}

// findings prints the issues that most runs share, with their fixes.
func (s *screen) findings(v *View) {
	for i, f := range v.findings() {
		if i == 0 {
			s.heading("Findings")
		}
		if !s.opt.Verbose {
			s.wrap("  "+f.Code+"  ", plain.FindingLine(&f, v.briefly))
			continue
		}
		for _, l := range plain.FindingText(&f, v.Where) {
			text := strings.TrimLeft(l, " ")
			s.wrap(l[:len(l)-len(text)]+"  ", strings.TrimRight(text, " "))
		}
	}
	if len(v.findings()) > 0 && !s.opt.Verbose {
		s.wrapAs("  ", "how to check and mend them: -v, or a report", s.dim)
	}
}

func (v *View) findings() []panel.Finding {
	if v.Panels == nil {
		return nil
	}
	return v.Panels.Findings
}

// Where is the attempt that an example points at.
func (v *View) Where(e panel.Example) string {
	s := e.Task
	if v.repeats() > 1 {
		s += fmt.Sprintf(" #%d", e.Attempt+1)
	}
	if len(v.Targets) > 1 {
		s += " of " + e.Target
	}
	return plain.Line(s)
}

// briefly is Where with the number of the target for its name.
func (v *View) briefly(e panel.Example) string {
	i := slices.IndexFunc(v.Targets, func(t callvet.Target) bool { return t.Name == e.Target })
	if i < 0 || len(v.Targets) < 2 {
		return v.Where(e)
	}
	e.Target = targetNumber(i)
	return v.Where(e)
}

func (s *screen) failure(v *View, r Row, more int) {
	word, paint := "FAIL", s.red
	if verdictOf(r) == callvet.VerdictError {
		word, paint = "ERROR", s.yellow
	}
	title, target := fmt.Sprintf("  %s  %s", paint(word), s.bold(attemptName(r, v.repeats()))), ""
	if len(v.Targets) > 1 {
		target = "  " + targetNumber(r.Cell.Target) + " " + plain.Line(v.targetName(r.Cell.Target))
	}
	if rest := target + alike(more); lipgloss.Width(title+rest) <= s.width {
		s.line("%s%s%s", title, target, s.dim(alike(more)))
	} else {
		s.line("%s", title)
		s.wrap("        ", strings.TrimLeft(rest, " "))
	}
	if q := plain.Line(question(r.Case)); q != "" {
		s.line("        %s", s.dim("“"+short(q, s.width-12)+"”"))
	}
	s.details(r)
}

// details explains an attempt that did not pass.
func (s *screen) details(r Row) {
	if b := because(r); b != "" && !alreadyShown(r) {
		s.wrap("        ", b)
	}
	s.callDiffs(r, false)
	s.failedAssertions(r)
	for _, n := range r.Cell.Trace.Notes {
		s.wrap("        ", "note: "+plain.Line(n))
	}
	if m := repairs(&r.Cell.Trace); len(m) > 0 {
		s.line("        repaired before scoring: %s", strings.Join(m, ", "))
	}
	if len(r.Cell.Trace.Calls()) == 0 && r.Cell.Trace.Answer != "" {
		s.line("        answered: %s", short(plain.Line(r.Cell.Trace.Answer), s.width-18))
	}
}

// alreadyShown reports whether the comparison of calls or the assertions already contain the
// whole reason of the verdict.
func alreadyShown(r Row) bool {
	reason := because(r)
	for _, a := range failedAssertions(&r.Cell.Result) {
		if strings.HasPrefix(reason, plain.Line(a.Name)+":") {
			return true
		}
	}
	ds, _ := diffs(r)
	switch r.Cell.Result.Class {
	case callvet.ClassMissedCall, callvet.ClassUnneededCall, callvet.ClassWrongTool, callvet.ClassUnknownTool,
		callvet.ClassIncomplete:
		return slices.ContainsFunc(ds, func(d callDiff) bool {
			return d.State == callvet.StateMissing || d.State == callvet.StateExtra ||
				d.State == callvet.StatePartial && differs(d)
		})
	case callvet.ClassContract, callvet.ClassWrongArgs, callvet.ClassUnknownArg:
		return slices.ContainsFunc(ds, differs)
	}
	return false
}

// differs reports whether a comparison shows more than equal arguments.
func differs(d callDiff) bool {
	return len(d.Violations) > 0 || d.Note != "" ||
		slices.ContainsFunc(d.Lines, func(l diffLine) bool { return l.Mark != "=" })
}

// alike prints the number of further repeats like a shown attempt.
func alike(more int) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("  (and %s)", plain.Count(more, "other repeat", "other repeats"))
}

// butUnevaluated follows a verdict with assertions that were not evaluated.
func butUnevaluated(r Row) string {
	if n := r.Cell.Result.NotEvaluated; n > 0 {
		return fmt.Sprintf(", %s not evaluated", plain.Count(n, "assertion", "assertions"))
	}
	return ""
}

// open lists the assertions that were not evaluated, for each target.
func (s *screen) open(v *View) {
	for i, p := range v.Open() {
		if i == 0 {
			s.heading("Not evaluated")
		}
		title := ""
		if len(v.Targets) > 1 {
			title = targetNumber(p.Target) + " "
		}
		for j, k := range p.NotEvaluated {
			if j == maxKinds {
				s.line("  %s%s", title, moreOf(len(p.NotEvaluated)-j, "kind", "kinds"))
				break
			}
			s.wrap("  "+title, kindText(k))
		}
	}
}

// maxKinds bounds the kinds of assertions, and the pieces of evidence, that a report lists.
const maxKinds = 20

// Open are the targets with assertions that were not evaluated.
func (v *View) Open() []panel.TargetPanel {
	return slices.DeleteFunc(slices.Clone(v.panels()),
		func(p panel.TargetPanel) bool { return len(p.NotEvaluated) == 0 })
}

func kindText(k panel.UnevaluatedKind) string {
	return fmt.Sprintf("%s: %s (%s)", plain.Line(k.Name), plain.Line(k.Reason), plain.Count(k.N, "time", "times"))
}

// unevaluatedText names an assertion that was not evaluated, with the reason.
func unevaluatedText(a callvet.Assertion) string {
	t := plain.Line(a.Name) + ": " + plain.Line(a.Reason)
	if a.Expected != "" {
		t += " (" + plain.Limited(plain.Line(a.Expected), 200) + ")"
	}
	return t
}

func assertionText(a callvet.Assertion) string {
	t := plain.Line(a.Name)
	if a.Expected != "" || a.Actual != "" {
		t += fmt.Sprintf(": expected %s, got %s", orNothing(a.Expected), orNothing(a.Actual))
	}
	return t
}

func orNothing(s string) string {
	if s = plain.Line(s); s != "" {
		return s
	}
	return nothing
}

// failedAssertions draws the assertions that failed, expected above actual. A value that several
// share is printed once.
func (s *screen) failedAssertions(r Row) {
	list := failedAssertions(&r.Cell.Result)
	wide := 0
	for _, a := range list {
		wide = max(wide, lipgloss.Width(plain.Line(a.Name)))
	}
	for i, a := range list {
		s.wrap(fmt.Sprintf("        %s %-*s  expected ", s.red("!"), wide, plain.Line(a.Name)),
			short(orNothing(a.Expected), maxShown))
		if i+1 == len(list) || list[i+1].Actual != a.Actual {
			s.wrap(strings.Repeat(" ", 12+wide)+"got      ", short(orNothing(a.Actual), maxShown))
		}
	}
}

// maxShown bounds a value on the terminal, in columns.
const maxShown = 600

// callDiffs draws expected above actual; equal arguments and the default rule only when all is
// set.
func (s *screen) callDiffs(r Row, all bool) {
	list, more := diffs(r)
	for _, d := range list {
		s.callTitle(d)
		wide := 0
		for _, l := range d.Lines {
			if !l.Whole && (all || l.Mark != "=" || l.Note != "") {
				wide = min(24, max(wide, lipgloss.Width(l.Path)))
			}
		}
		for _, l := range d.Lines {
			if !l.Whole && (l.Mark != "=" || all || l.Note != "") {
				s.argDiff(l, wide, all)
			}
		}
		for _, v := range d.Violations {
			if d.Note == "" || !strings.Contains(v, strings.SplitN(d.Note, ":", 2)[0]) {
				s.wrap("          "+s.red("!")+" schema ", v)
			}
		}
		if d.Note != "" {
			s.wrap("            ", d.Note)
		}
		if d.More != "" {
			s.wrap("          ", d.More)
		}
	}
	if more > 0 {
		s.line("        %s", moreOf(more, "call", "calls"))
	}
}

func (s *screen) callTitle(d callDiff) {
	mark, text, after := s.red("!"), d.Title, ""
	switch d.State {
	case callvet.StateMatched:
		mark = s.green("=")
	case callvet.StateMissing:
		mark, text, after = s.red("-"), d.Lines[0].Expected, "  not called"
	case callvet.StateExtra:
		mark, text, after = s.red("+"), d.Lines[0].Actual, "  not expected"
	}
	s.wrap("        "+mark+" ", short(text, maxShown)+after)
}

func (s *screen) argDiff(l diffLine, wide int, all bool) {
	mark := s.red(l.Mark)
	if l.Mark == "=" {
		mark = s.green(l.Mark)
	}
	head := fmt.Sprintf("          %s %-*s  ", mark, wide, l.Path)
	extra := ruleText(l, all)
	switch l.Mark {
	case "=":
		s.wrap(head, short(l.Actual, maxShown)+extra)
	case "-":
		s.wrap(head+"expected ", short(l.Expected, maxShown)+", not given"+extra)
	case "+":
		s.wrap(head+"not expected: ", short(l.Actual, maxShown)+extra)
	default:
		s.wrap(head+"expected ", short(l.Expected, maxShown))
		s.wrap(strings.Repeat(" ", lipgloss.Width(head))+"got      ", short(l.Actual, maxShown)+extra)
	}
}

// ruleText is the rule and the note of a line in brackets; the default rule only when all is set.
func ruleText(l diffLine, all bool) string {
	var parts []string
	if l.Rule != "" && (all || l.Rule != "exact") {
		parts = append(parts, l.Rule)
	}
	if l.Note != "" {
		parts = append(parts, l.Note)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}
