// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// measuredNote is below the changes of metrics.
const measuredNote = "Metrics are paired by case, repeats averaged first; their p values are not adjusted for the number of metrics."

// measuredTable contains the changes of the requested metrics of both runs, without metrics that
// no case has on both sides.
func measuredTable(t *panel.TargetComparison) Table {
	out := Table{Title: "Changes of metrics", Note: measuredNote, Columns: []Column{
		{Title: "metric"},
		{Title: "cases", Kind: CountColumn, Rank: 3},
		{Title: "baseline", Kind: TextColumn, Rank: 2},
		{Title: "now", Kind: TextColumn, Rank: 2},
		{Title: "change"},
		{Title: "p", Kind: CountColumn, Rank: 1},
		{Title: "verdict", Kind: TextColumn, Rank: 1},
	}}
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
		out.Rows = append(out.Rows, []string{
			plain.Line(panel.Describe(m.Metric).Title), plain.Thousands(d.Cases),
			plain.Amount(&panel.Metric{Unit: m.Unit, Interval: d.Baseline}),
			plain.Amount(&panel.Metric{Unit: m.Unit, Interval: d.Candidate}), change, plain.P(d.P), string(d.Verdict),
		})
	}
	return out
}

// Measured are the changes of other metrics than the pass rate.
func (p *page) Measured(t panel.TargetComparison) Table { return measuredTable(&t) }
