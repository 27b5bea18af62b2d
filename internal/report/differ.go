// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// diffLine is one line of the comparison of expected with actual calls, in words that every face
// can show. Mark is "+" for extra, "-" for missing, "!" for different and "=" for equal.
type diffLine struct {
	Mark     string
	Path     string
	Expected string
	Actual   string
	Rule     string
	Note     string
	// Whole marks a line about the call itself, which may repeat a title.
	Whole bool
}

// callDiff is the comparison of one call.
type callDiff struct {
	Title      string
	State      callvet.MatchState
	Lines      []diffLine
	Violations []string
	Note       string
	// More names the omitted parts of Lines and Violations; "" for none.
	More string
}

// Limits of the parts of one attempt that a face shows. It counts the omitted parts, which the
// JSON of the attempt contains.
const (
	maxCalls      = 50 // that are compared, and of one turn
	maxArguments  = 100
	maxViolations = 20
	maxTurns      = 200
)

const nothing = "(nothing)"

// diffs returns the calls of an attempt compared with the expected ones, and how many more there
// are. Where the result has no comparison but calls were made, the list is empty.
func diffs(r Row) (out []callDiff, more int) {
	matches, more := firstOf(r.Cell.Result.Calls, maxCalls,
		func(m *callvet.CallMatch) bool { return m.State != callvet.StateMatched })
	for i := range matches {
		if m := &matches[i]; m.State == callvet.StateExtra && allowed(r.Case.MultiTurn, m.Got) {
			out = append(out,
				callDiff{Title: plain.Line(m.Got) + ": an allowed step on the way", State: callvet.StateMatched})
			continue
		}
		out = append(out, diffCall(&matches[i]))
	}
	return out, more
}

// firstOf picks at most n elements in their order, those that match before the others, and counts
// the rest.
func firstOf[T any](list []T, n int, tells func(*T) bool) (picked []T, left int) {
	if len(list) <= n {
		return list, 0
	}
	others := n
	for i := range list {
		if others > 0 && tells(&list[i]) {
			others--
		}
	}
	for i := range list {
		switch {
		case len(picked) == n:
		case tells(&list[i]):
			picked = append(picked, list[i])
		case others > 0:
			picked, others = append(picked, list[i]), others-1
		}
	}
	return picked, len(list) - n
}

// moreOf names how much a list was cut by; empty for nothing.
func moreOf(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return "… and " + plain.Count(n, "more "+one, "more "+many)
}

// allowed reports whether a multi-turn case lists the call as a prerequisite.
func allowed(mt *callvet.MultiTurn, name string) bool {
	if mt == nil {
		return false
	}
	list := slices.Concat(mt.ValidPrerequisites, mt.RequiredPrerequisites)
	return len(list) > 0 && named(list, name)
}

func diffCall(m *callvet.CallMatch) callDiff {
	want, got := plain.Line(strings.Join(m.Want, " or ")), plain.Line(callvet.ToolName(m.Got))
	d := callDiff{State: m.State, Note: plain.Line(m.Note)}
	switch m.State {
	case callvet.StateMissing:
		d.Title = want + ": not called"
		d.Lines = []diffLine{{
			Mark: "-", Whole: true, Path: "call",
			Expected: want + "(" + plain.Compact(m.WantArgs, "") + ")", Actual: nothing,
		}}
	case callvet.StateExtra:
		d.Title = got + ": called but not expected"
		d.Lines = []diffLine{{
			Mark: "+", Whole: true, Path: "call", Expected: nothing,
			Actual: got + "(" + plain.Compact(m.GotArgs, "") + ")",
		}}
	default:
		d.Title = got
		if m.State == callvet.StateMatched && len(m.Violations) == 0 {
			d.Title += ": the expected call"
		}
		if !named(m.Want, cmp.Or(m.As, m.Got)) {
			d.Title = got + " instead of " + want
			d.Lines = append(d.Lines, diffLine{Mark: "!", Whole: true, Path: "tool", Expected: want, Actual: got})
		}
		args, left := firstOf(m.Args, maxArguments, func(a *callvet.ArgDiff) bool { return !a.Matched })
		for i := range args {
			d.Lines = append(d.Lines, diffArg(&args[i]))
		}
		d.More = moreOf(left, "argument", "arguments")
	}
	for _, v := range m.Violations[:min(len(m.Violations), maxViolations)] {
		d.Violations = append(d.Violations, violation(v))
	}
	if left := len(m.Violations) - maxViolations; left > 0 {
		d.More = strings.TrimSpace(d.More + " " + moreOf(left, "violation of the schema", "violations of the schema"))
	}
	return d
}

func named(names []string, name string) bool {
	for _, n := range names {
		if callvet.SameName(n, name) {
			return true
		}
	}
	return len(names) == 0
}

func diffArg(a *callvet.ArgDiff) diffLine {
	l := diffLine{
		Mark: "!", Path: plain.Line(a.Path), Expected: plain.Compact(a.Expected, nothing),
		Actual: plain.Compact(a.Actual, nothing),
		Rule:   plain.Line(a.Rule), Note: plain.Line(a.Note),
	}
	switch {
	case a.Matched:
		l.Mark = "="
	case a.Actual == nil:
		l.Mark = "-"
	case a.Expected == nil:
		l.Mark = "+"
	}
	if a.Similarity != nil {
		l.Rule += fmt.Sprintf(" (similarity %.2f)", *a.Similarity)
	}
	return l
}

func violation(v callvet.Violation) string {
	path := v.Path
	if path == "" {
		path = "/"
	}
	s := path + ": " + v.Message
	if v.Message == "" {
		s = fmt.Sprintf("%s: %s: expected %s, got %s", path, v.Keyword, v.Expected, v.Actual)
	}
	return plain.Line(s)
}

// word returns the word for a mark, so that color or sign is not the only difference.
func word(mark string) string {
	switch mark {
	case "=":
		return "ok"
	case "-":
		return "missing"
	case "+":
		return "extra"
	}
	return "wrong"
}

// repairs of an attempt, made before it was scored.
func repairs(t *callvet.Trace) []string {
	var out []string
	for _, r := range t.Mended() {
		out = append(out, plain.Line(r))
	}
	return out
}

// failedAssertions are the assertions that did not hold.
func failedAssertions(r *callvet.Result) []callvet.Assertion {
	var out []callvet.Assertion
	for _, a := range r.Assertions {
		if a.State == callvet.AssertFailed {
			out = append(out, a)
		}
	}
	return out
}

// allFull reports whether every class has as many rows as it may show.
func allFull(by map[string]*failureGroup, perClass int) bool {
	for _, g := range by {
		if len(g.Rows) < min(perClass, g.N) {
			return false
		}
	}
	return true
}

// sampleFailures picks up to perClass failed attempts of each class and at most total, spread
// over the classes. Of the repeats of a case that failed for the same reason it picks one. It
// reads at most scan attempts. rest is the number of failed attempts that are neither picked nor
// such repeats.
func sampleFailures(v *View, perClass, total, scan int) (groups []failureGroup, rest int, err error) {
	sums, classes := v.totals()
	by := map[string]*failureGroup{}
	for _, c := range classes {
		by[c.Name] = &failureGroup{Class: c.Name, N: c.N}
	}
	seen := 0
	for row, e := range v.counting(callvet.VerdictFail, callvet.VerdictError) {
		if e != nil {
			return nil, 0, e
		}
		if seen++; seen > scan {
			break
		}
		class := classOf(row)
		if by[class] == nil {
			by[class] = &failureGroup{Class: class}
			classes = append(classes, panel.Count{Name: class})
		}
		by[class].take(row, perClass)
		if v.repeats() == 1 && len(by[class].Rows) >= perClass && allFull(by, perClass) {
			break // without repeats no later attempt is a repeat of a shown one
		}
	}
	kept := 0
	for depth, more := 0, true; more && kept < total; depth++ {
		more = false
		for _, c := range classes {
			if g := by[c.Name]; depth < len(g.Rows) && kept < total {
				g.shown, more = depth+1, true
				kept++
			}
		}
	}
	rest = sums.Fail + sums.Error
	for _, c := range classes {
		g := by[c.Name]
		g.Rows, g.Repeats = g.Rows[:g.shown], g.Repeats[:g.shown]
		for _, n := range g.Repeats {
			rest -= 1 + n
		}
		if g.shown > 0 {
			groups = append(groups, *g)
		}
	}
	return groups, max(0, rest), nil
}

// failureGroup are failed attempts of one error class.
type failureGroup struct {
	Class string
	N     int // in the whole run
	Rows  []Row
	// Repeats counts for each row the further attempts of the same case by the
	// same target that failed in this class.
	Repeats []int
	shown   int
	total   int
}

func (g *failureGroup) take(r Row, limit int) {
	g.total++
	g.N = max(g.N, g.total)
	for i, x := range g.Rows {
		if x.Cell.Case == r.Cell.Case && x.Cell.Target == r.Cell.Target {
			g.Repeats[i]++
			return
		}
	}
	if len(g.Rows) < limit {
		g.Rows, g.Repeats = append(g.Rows, r), append(g.Repeats, 0)
	}
}

// classOf returns the error class of a failed attempt, or its verdict if it has no class.
func classOf(r Row) string {
	if c := r.Cell.Result.Class; c != "" {
		return string(c)
	}
	return string(verdictOf(r))
}
