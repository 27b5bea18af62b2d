// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// maxMeasures is how many measures a short table has, apart from measures that are never hidden.
const maxMeasures = 10

// fewHidden is the number of measures up to which none is hidden, because a line about them takes
// as much room.
const fewHidden = 2

// mainMeasures are the most important measures: of each entry, the first name that the table has.
var mainMeasures = [...][]string{
	{panel.MetricPass},
	{"overall"},
	{"tool_selection_by_call", "tool_selection"},
	{"arg_em_by_call", "arg_accuracy", "arg_em"},
	{panel.MetricAbstention},
	{"safety_incidents", "safe_calls"},
	{panel.MetricLatencyP50},
	{panel.MetricLatencyP90},
	{panel.MetricCost},
	{panel.MetricTokens},
}

// nextMeasures take the places of main measures that the table does not have; after them come the
// others, in the order of the table.
var nextMeasures = [...][]string{
	{"schema_valid_by_call", "schema_valid"},
	{panel.MetricOverCall, "over_call"},
	{panel.MetricMiss, "miss"},
	{"execution_success"},
	{"tool_latency_p90"},
}

// lossMeasures describe losses, errors and safety: they are hidden only at their best value.
var lossMeasures = [...]string{
	panel.MetricError, panel.MetricUnparseable, panel.MetricMiss, panel.MetricRateLimited, "timeout_rate",
	"rejected_rate", "unknown_tool_rate", "execution_success", "result_consistency", "postconditions", "safe_calls",
	"safety_incidents", "blocked_incidents", "attack_success", "attack_exposed", "hallucinated_args",
}

// shortMeasures returns the names of the measures in a short table of these slices. They are the
// ten most important ones, and each measure that must be shown in one of the slices.
func shortMeasures(of ...*panel.Slice) map[string]bool {
	shown, known := map[string]bool{}, map[string]bool{}
	for _, s := range of {
		for i := range s.Metrics {
			if m := &s.Metrics[i]; !companion(m) {
				known[m.Name] = true
			}
		}
	}
	fill := func(names []string) {
		if i := slices.IndexFunc(names, func(n string) bool { return known[n] }); i >= 0 && len(shown) < maxMeasures {
			shown[names[i]] = true
		}
	}
	for _, names := range slices.Concat(mainMeasures[:], nextMeasures[:]) {
		fill(names)
	}
	for _, s := range of {
		for i := range s.Metrics {
			if m := &s.Metrics[i]; !substituted(m.Name, shown) {
				fill([]string{m.Name})
			}
		}
	}
	for _, s := range of {
		for i := range s.Metrics {
			if m := &s.Metrics[i]; known[m.Name] && mustShow(m) {
				shown[m.Name] = true
			}
		}
	}
	if len(known)-len(shown) <= fewHidden {
		return known
	}
	return shown
}

// hiddenMeasures are the measures that a short table leaves out, by name: true where there are data for one.
type hiddenMeasures map[string]bool

func (h hiddenMeasures) add(m *panel.Metric) { h[m.Name] = h[m.Name] || m.Interval.Defined() }

// String counts them: 25 more measures, 3 of them without data.
func (h hiddenMeasures) String() string {
	out, empty := plain.Count(len(h), "more measure", "more measures"), 0
	for _, known := range h {
		if !known {
			empty++
		}
	}
	if empty > 0 {
		out += fmt.Sprintf(", %d of them without data", empty)
	}
	return out
}

// substituted reports whether a table already has the measure under another name.
func substituted(name string, shown map[string]bool) bool {
	for _, names := range slices.Concat(mainMeasures[:], nextMeasures[:]) {
		if slices.Contains(names, name) && slices.ContainsFunc(names, func(n string) bool { return shown[n] }) {
			return true
		}
	}
	return false
}

// companion reports whether a metric is a column of another one, not a row.
func companion(m *panel.Metric) bool { return strings.HasSuffix(m.Name, panel.ByTask("")) }

// mustShow reports whether a measure may not be hidden: something was lost, a warning is about it, or
// the user asked for it with a judge or labels.
func mustShow(m *panel.Metric) bool {
	best := 1.0
	if m.LowerIsBetter {
		best = 0
	}
	if slices.Contains(lossMeasures[:], m.Name) && m.Interval.Defined() && m.Interval.Point != best {
		return true
	}
	return panel.OfJudge(m.Name) || judgedPart(m.Name) ||
		slices.ContainsFunc(m.Warnings, func(w string) bool { return !panel.Routine(w) })
}

// MetricRow is one metric of all targets.
type MetricRow struct {
	Title  string
	Values []*panel.Metric
}

// metricRows are the metrics of the targets, in the order of the first target that has them.
// short leaves out the measures that a short table does not have; these are hidden.
func (v *View) metricRows(short bool) (rows []MetricRow, hidden hiddenMeasures) {
	at := map[string]int{}
	hidden = hiddenMeasures{}
	ps := v.panels()
	overall := make([]*panel.Slice, len(ps))
	for i := range ps {
		overall[i] = &ps[i].Overall
	}
	shown := shortMeasures(overall...)
	for i, s := range overall {
		for j := range s.Metrics {
			m := &s.Metrics[j]
			k, known := at[m.Name]
			switch {
			case short && !shown[m.Name]:
				k = -1
				hidden.add(m)
			case known:
			default:
				k = len(rows)
				rows = append(rows, MetricRow{Title: m.Title, Values: make([]*panel.Metric, len(ps))})
			}
			if at[m.Name] = k; k >= 0 {
				rows[k].Values[i] = m
			}
		}
	}
	return rows, hidden
}

// below are the notes under a table of metrics.
func below(rows []MetricRow) []plain.Shared {
	var ms []*panel.Metric
	for _, r := range rows {
		ms = append(ms, r.Values...)
	}
	return plain.SharedNotes(ms)
}

// measures is the table of the measures of all targets.
func (s *screen) measures(v *View) {
	rows, hidden := v.metricRows(!s.opt.All)
	if len(rows) == 0 {
		return
	}
	t := Table{Columns: texts("measure")}
	ps, notes, noted := v.panels(), below(rows), false
	for i := range ps {
		c := Column{Title: "value [" + plain.Confidence(v.Panels.Confidence) + "]", Rank: min(i, maxRank)}
		if len(ps) > 1 {
			c.Title = targetNumber(i)
		}
		t.Columns = append(t.Columns, c)
	}
	if len(ps) == 1 {
		t.Columns = append(t.Columns, Column{Title: "n", Rank: 1}, Column{Title: "notes", Rank: 2})
	}
	for _, r := range rows {
		cells := []string{plain.Line(r.Title)}
		for _, m := range r.Values {
			cells = append(cells, plain.Amount(m))
		}
		if len(ps) == 1 {
			one := row{Metric: r.Values[0]}
			own := plain.Line(strings.Join(one.Notes(notes), "; "))
			cells, noted = append(cells, one.N(), own), noted || own != ""
		}
		t.Rows = append(t.Rows, cells)
	}
	if len(ps) == 1 && !noted {
		t.Columns = t.Columns[:len(t.Columns)-1]
	}
	s.heading("Measures")
	t.grid(s)
	for _, n := range notes {
		s.wrap("", plain.Line(n.String()))
	}
	if len(hidden) > 0 {
		s.line("%s: --all", hidden)
	}
}
