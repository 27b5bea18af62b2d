// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"fmt"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// measuredNote stands under the changes of metrics.
const measuredNote = "Metrics are paired by case, repeats averaged first; their p values are not adjusted for the number of metrics."

// measuredRow is the change of one metric: its title, and a cell for each of
// measuredHead.
type measuredRow struct {
	Title string
	Cells [6]string
}

func measuredHead() [6]string {
	return [6]string{"cases", "baseline", "now", "change", "p", "verdict"}
}

// measuredRows are the changes of the metrics that both runs were asked for; those
// that no case has on both sides are left out.
func measuredRows(t *panel.TargetComparison) []measuredRow {
	var out []measuredRow
	for i := range t.Measured {
		m := &t.Measured[i]
		d := &m.Overall
		if d.Cases == 0 {
			continue
		}
		change := plain.Change(d.Change)
		if m.Relative {
			change = plain.Relative(d.Change)
		}
		side := func(of *panel.Metric) string { return plain.Amount(of) }
		out = append(out, measuredRow{plain.Line(panel.Describe(m.Metric).Title), [6]string{
			plain.Thousands(d.Cases), side(&panel.Metric{Unit: m.Unit, Interval: d.Baseline}),
			side(&panel.Metric{Unit: m.Unit, Interval: d.Candidate}), change, plain.P(d.P), string(d.Verdict),
		}})
	}
	return out
}

func (s *screen) measured(t *panel.TargetComparison) {
	rows := measuredRows(t)
	if len(rows) == 0 {
		return
	}
	label := column{title: "metric"}
	cols := make([]column, 0, 6)
	for j, title := range measuredHead() {
		c := column{title: title, right: j == 0, rank: [6]int{3, 2, 2, 0, 1, 1}[j]}
		for _, r := range rows {
			c.cells = append(c.cells, r.Cells[j])
		}
		cols = append(cols, c)
	}
	for _, r := range rows {
		label.cells = append(label.cells, r.Title)
	}
	s.hiddenColumns(s.grid(label, cols))
	s.wrapAs("  ", measuredNote, s.dim)
}

func mdMeasured(b *bytes.Buffer, t *panel.TargetComparison) {
	rows := measuredRows(t)
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n| metric |")
	for _, h := range measuredHead() {
		fmt.Fprintf(b, " %s |", h)
	}
	b.WriteString("\n|---|---:|---|---|---|---:|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s |", plain.Markdown(r.Title))
		for _, c := range r.Cells {
			fmt.Fprintf(b, " %s |", plain.Markdown(c))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%s\n\n", measuredNote)
}

// Measured are the changes of other metrics than the pass rate.
func (p *page) Measured(t panel.TargetComparison) []measuredRow { return measuredRows(&t) }

// MeasuredHead are the titles of their cells, MeasuredNote what stands under them.
func (p *page) MeasuredHead() [6]string { return measuredHead() }

// MeasuredNote says how they were tested.
func (p *page) MeasuredNote() string { return measuredNote }
