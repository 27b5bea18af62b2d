// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Limits of the terminal's tables; the rest is counted.
const (
	maxSlices   = 30
	maxConfused = 12
)

// ScoresTerminal writes plain text for people: color is never the only sign.
func ScoresTerminal(w io.Writer, v *ScoresView) error {
	t := &text{w: bufio.NewWriter(w), width: v.Width}
	t.wrapped(plain.Line(strings.Join(v.Files, ", ")) + ": " + v.sentence())
	for _, x := range v.Panels.Warnings {
		t.wrapped("warning: " + plain.Line(x))
	}
	t.findings(v)
	t.examples(v)
	for i := range v.Panels.Targets {
		t.target(v, &v.Panels.Targets[i])
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
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

func (t *text) target(v *ScoresView, p *panel.TargetPanel) {
	if len(v.Panels.Targets) > 1 || p.Name != "" {
		t.line("\n%s", plain.Line(p.Name))
	}
	for _, x := range p.Overall.Warnings {
		t.wrapped("warning: " + plain.Line(x))
	}
	calls, tasks, hidden := shortRows(&p.Overall)
	if v.All {
		calls, tasks = sheetSteps(&p.Overall)
		hidden = nil
	}
	tables, below := v.measureTables(calls, tasks)
	for i := range tables {
		t.show(&tables[i])
	}
	for _, n := range below {
		t.wrapped(plain.Line(n.String()))
	}
	if len(hidden) > 0 {
		t.line("%s: --all", hidden)
	}
	for _, x := range []Table{slicesTable(p, maxSlices), confusedTable(p, maxConfused)} {
		t.show(&x)
	}
}

// show writes a table that fits the width, and its note.
func (t *text) show(x *Table) {
	if len(x.Rows) == 0 {
		return
	}
	t.line("")
	rows := x.lines(true)
	if x.Columns[len(x.Columns)-1].Kind == NoteColumn {
		t.noted(rows)
		return
	}
	rows, left := t.fitting(t.known(t.unmarked(rows)))
	t.table(rows)
	if left > 0 {
		t.line("… and %d more columns: a wider terminal, or -o report.html", left)
	}
	if x.Note != "" {
		t.wrapped(x.Note)
	}
}

// wrapped writes a text in lines of the width, if there is one.
func (t *text) wrapped(s string) {
	t.line("%s", hanging("", strings.Repeat(" ", gap), s, t.width))
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
		t.line("%s", hanging(noteIndent, noteIndent, why, t.width))
	}
}
