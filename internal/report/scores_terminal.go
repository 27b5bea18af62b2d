// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Limits of the terminal's tables; what is beyond is counted.
const (
	maxSlices   = 30
	maxConfused = 12
)

// ScoresTerminal writes plain text for people: nothing is said by color alone.
func ScoresTerminal(w io.Writer, v *ScoresView) error {
	t := &text{w: bufio.NewWriter(w), width: v.Width, all: v.All, interval: "[" + plain.Confidence(v.Panels.Confidence) + "]"}
	t.wrapped(plain.Line(strings.Join(v.Files, ", ")) + ": " + v.sentence())
	for _, x := range v.Panels.Warnings {
		t.wrapped("warning: " + plain.Line(x))
	}
	t.findings(v)
	t.examples(v)
	for i := range v.Panels.Targets {
		t.target(&v.Panels.Targets[i], len(v.Panels.Targets) > 1)
	}
	t.line("")
	t.wrapped(v.Population())
	for _, n := range v.Notes() {
		t.wrapped(n)
	}
	return t.w.Flush()
}

type text struct {
	w     *bufio.Writer
	width int // in columns; 0: no limit
	all   bool
	// interval heads the columns of intervals: "[95 %]".
	interval string
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

func (t *text) target(p *panel.TargetPanel, several bool) {
	if several || p.Name != "" {
		t.line("\n%s", plain.Line(p.Name))
	}
	for _, x := range p.Overall.Warnings {
		t.wrapped("warning: " + plain.Line(x))
	}
	calls, tasks, hidden := shortRows(&p.Overall)
	if t.all {
		calls, tasks = sheetSteps(&p.Overall)
		hidden = 0
	}
	below := sharedNotes(slices.Concat(calls, tasks))
	t.rows("Steps, by call", calls, below, true)
	t.rows("Tasks", tasks, below, false)
	for _, n := range below {
		t.wrapped(plain.Line(n.String()))
	}
	if hidden > 0 {
		t.line("%s", hiddenMeasures(hidden))
	}
	t.slices(p)
	t.confusion(p)
}

func (t *text) rows(title string, rows []row, below []plain.Shared, companion bool) {
	if len(rows) == 0 {
		return
	}
	head := []string{title, "value " + t.interval, "n"}
	if companion {
		head = append(head, "tasks all right")
	}
	out := [][]string{append(head, "")}
	for _, r := range rows {
		c := []string{plain.Line(r.Metric.Title), r.Amount(), r.N()}
		if companion {
			c = append(c, r.Companion())
		}
		out = append(out, append(c, plain.Line(strings.Join(r.Notes(below), "; "))))
	}
	t.line("")
	t.noted(out)
}

// wrapped writes a text in lines of the width, if there is one.
func (t *text) wrapped(s string) {
	if t.width == 0 {
		t.line("%s", s)
		return
	}
	for i, l := range wrap(s, t.width-gap) {
		if i > 0 {
			l = strings.Repeat(" ", gap) + l
		}
		t.line("%s", l)
	}
}

func (t *text) slices(p *panel.TargetPanel) {
	names := sliced(p)
	if len(p.Slices) == 0 || len(names) == 0 {
		return
	}
	out := [][]string{{"Slices", "tasks"}}
	for _, n := range names {
		out[0] = append(out[0], p.Overall.Metric(n).Title)
	}
	for i := range p.Slices[:min(len(p.Slices), maxSlices)] {
		s := &p.Slices[i]
		r := []string{sheetShort(plain.Line(s.Key) + "=" + plain.Line(s.Value)), plain.Thousands(s.Cases)}
		for _, n := range names {
			m := s.Metric(n)
			r = append(r, plain.Amount(m)+mark(m))
		}
		out = append(out, r)
	}
	t.line("")
	out, left := t.fitting(t.known(t.unmarked(out)))
	t.table(out)
	if left > 0 {
		t.line("… and %d more columns: a wider terminal, or -o report.html", left)
	}
	if n := len(p.Slices) - maxSlices; n > 0 {
		t.line("… and %d more slices: --json, or -o report.html", n)
	}
	t.wrapped(sheetDiffers)
}

// sheetShort keeps the name of a slice within 40 columns.
func sheetShort(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

func (t *text) confusion(p *panel.TargetPanel) {
	rows := confused(p)
	if len(rows) == 0 {
		return
	}
	out := [][]string{{"Confused tools: expected", "called", "calls"}}
	for _, c := range rows[:min(len(rows), maxConfused)] {
		out = append(out, []string{plain.Line(c.Expected), plain.Line(c.Called), plain.Thousands(c.N)})
	}
	t.line("")
	t.table(out)
	if n := len(rows) - maxConfused; n > 0 {
		t.line("… and %d more pairs", n)
	}
}

func (t *text) findings(v *ScoresView) {
	for i := range v.Panels.Findings {
		f := &v.Panels.Findings[i]
		if i == 0 {
			t.line("\nFindings, those in most failing attempts first")
		}
		if v.Verbose {
			for _, l := range plain.FindingText(f, v.Where) {
				t.line("%s", l)
			}
			continue
		}
		t.wrapped(f.Code + " " + plain.FindingLine(f, v.Where))
	}
	if len(v.Panels.Findings) > 0 && !v.Verbose {
		t.line("how to check and mend them: -v, or -o report.html")
	}
}

func (t *text) examples(v *ScoresView) {
	for i, e := range v.Panels.Examples {
		if i == 0 {
			t.line("\nHighest and lowest tasks")
		}
		l, why := fmt.Sprintf("  %-9s %7s  %s", e.Kind, plain.Percent(e.Score), v.Where(e)), plain.Line(e.Why)
		if t.width == 0 || utf8.RuneCountInString(l+why)+gap <= t.width {
			t.line("%s  %s", l, why)
			continue
		}
		t.line("%s", l)
		for _, w := range wrap(why, t.width-2*gap) {
			t.line("%s%s", strings.Repeat(" ", 2*gap), w)
		}
	}
}
