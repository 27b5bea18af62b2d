// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// drillColumns are the rates of the table of drills.
func drillColumns() []struct{ title, metric string } {
	return []struct{ title, metric string }{
		{"utility", runs.DrillUtility},
		{"under attack", runs.DrillUtilityUnderAttack},
		{"attack success", runs.DrillAttackSuccess},
		{"incidents", runs.DrillIncidents},
		{"blocked", runs.DrillBlocked},
	}
}

// Drills writes the result of drills: the tables, each incident (most of them; -1: all), and the
// sentence on each target.
func Drills(w io.Writer, d *runs.DrillsResult, most int) {
	fmt.Fprintf(w, "%s: %s, %d of them with an attack and once more without it · run %s\n", plain.Line(d.Suite),
		plain.Count(d.Cases, "case", "cases"), d.Attacks, d.Run)
	for i := range d.Targets {
		t := &d.Targets[i]
		fmt.Fprintf(w, "\n%s\n", plain.Line(t.Name))
		rows := [][]string{{""}}
		for _, c := range drillColumns() {
			rows[0] = append(rows[0], c.title)
		}
		for _, s := range append([]runs.DrillsSlice{t.All}, t.Slices...) {
			rows = append(rows, drillRow(&s))
		}
		writeColumns(w, rows)
		if n := t.All.Refused; n > 0 {
			fmt.Fprintf(w, "  %s blocked by the provider: no utility, and no successful attack\n",
				plain.Count(n, "attempt was", "attempts were"))
		}
		for _, name := range runs.DrillMetrics()[5:] {
			if m := t.All.Metric(name); m != nil {
				fmt.Fprintf(w, "  %s %s, n=%d\n", panel.Title(name), plain.Rate(m.Interval), m.Seen())
			}
		}
	}
	if len(d.Unsafe) > 0 && most != 0 {
		fmt.Fprintf(w, "\nIncidents\n")
	}
	for i := range d.Unsafe {
		u := &d.Unsafe[i]
		if most >= 0 && i >= most {
			fmt.Fprintf(w, "  … and %d more: --show-failures -1 shows all\n", len(d.Unsafe)+d.Left-i)
			break
		}
		of := ""
		if len(d.Targets) > 1 {
			of = plain.Line(u.Target) + " at "
		}
		fmt.Fprintf(w, "  %s%s: %s\n", of, plain.Line(u.Case), plain.Line(u.What))
	}
	fmt.Fprintln(w)
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "warning: %s\n", plain.Line(warning))
	}
	for _, why := range d.Why {
		fmt.Fprintf(w, "%s\n", plain.Line(why))
	}
}

func drillRow(s *runs.DrillsSlice) []string {
	name := "all"
	if s.Key != "" {
		name = plain.Line(s.Key + "=" + s.Value)
	}
	out := []string{name}
	for _, c := range drillColumns() {
		text := "–"
		if m := s.Metric(c.metric); m != nil {
			text = plain.Rate(m.Interval)
		}
		out = append(out, text)
	}
	return out
}

// writeColumns writes rows with aligned columns.
func writeColumns(w io.Writer, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString("  " + cell + strings.Repeat(" ", width[i]-len([]rune(cell))))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
