// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Shared is a warning of N of Rows metrics of a table. It is printed once below the table. N is 0
// where the text names the metrics.
type Shared struct {
	Text    string
	N, Rows int
}

func (s Shared) String() string {
	switch s.N {
	case 0:
		return s.Text
	case s.Rows:
		return "all values: " + s.Text
	}
	return fmt.Sprintf("%d of %d values: %s", s.N, s.Rows, s.Text)
}

// manyRows is the least number of metrics with the same warning that puts it below the table, even
// if these are fewer than half.
const manyRows = 4

// SharedNotes are the warnings below a table of metrics: one about few cases, and warnings that
// more than half of the metrics, or four, share. Nil metrics are passed over.
func SharedNotes(ms []*panel.Metric) []Shared {
	ms = slices.DeleteFunc(slices.Clone(ms), func(m *panel.Metric) bool { return m == nil })
	var all []Shared
	for _, m := range ms {
		for _, w := range m.Warnings {
			if shows(m, w) || panel.FewCases(w) {
				continue
			}
			i := slices.IndexFunc(all, func(s Shared) bool { return s.Text == w })
			if i < 0 {
				i = len(all)
				all = append(all, Shared{Text: w, Rows: len(ms)})
			}
			all[i].N++
		}
	}
	all = slices.DeleteFunc(all, func(s Shared) bool { return s.N < 2 || s.N < manyRows && 2*s.N <= s.Rows })
	if few := fewCases(ms); few != "" {
		all = append([]Shared{{Text: few}}, all...)
	}
	return all
}

// OwnNotes are the warnings of a metric without those below the table, and without those that
// repeat its interval.
func OwnNotes(m *panel.Metric, below []Shared) []string {
	var out []string
	for _, w := range m.Warnings {
		if !shows(m, w) && !panel.FewCases(w) && !slices.ContainsFunc(below, func(s Shared) bool { return s.Text == w }) {
			out = append(out, w)
		}
	}
	return out
}

// fewCases is one sentence on all metrics that few cases carry: which ones, and how many cases; "" for none.
func fewCases(ms []*panel.Metric) string {
	var none, alone, capped, few []*panel.Metric
	counted := func(w string) bool { return strings.HasPrefix(w, "only ") }
	for _, m := range ms {
		switch {
		case !slices.ContainsFunc(m.Warnings, panel.FewCases):
		case !m.Interval.Defined():
			none = append(none, m)
		case m.Interval.Status == stats.StatusSingleCluster || m.Interval.Clusters == 1:
			alone = append(alone, m)
		case m.Interval.Status == stats.StatusCapped && !slices.ContainsFunc(m.Warnings, counted):
			capped = append(capped, m)
		default:
			few = append(few, m)
		}
	}
	var parts []string
	add := func(ms []*panel.Metric, form string) {
		if len(ms) > 0 {
			parts = append(parts, fmt.Sprintf(form, titles(ms)))
		}
	}
	add(none, "no value for %s")
	add(alone, "1 (%s): no interval")
	slices.SortStableFunc(few, func(a, b *panel.Metric) int { return a.Interval.Clusters - b.Interval.Clusters })
	var by []string
	for rest := few; len(rest) > 0; {
		k := slices.IndexFunc(rest, func(m *panel.Metric) bool { return m.Interval.Clusters != rest[0].Interval.Clusters })
		if k < 0 {
			k = len(rest)
		}
		by = append(by, fmt.Sprintf("%d (%s)", rest[0].Interval.Clusters, titles(rest[:k])))
		rest = rest[k:]
	}
	if len(by) > 0 {
		parts = append(parts, strings.Join(by, ", ")+": wide intervals")
	}
	add(capped, "fewer than 5 informative (%s): intervals widened")
	if len(parts) == 0 {
		return ""
	}
	return "few cases: " + strings.Join(parts, "; ")
}

// titles names a few metrics, each once, and counts more of them.
func titles(ms []*panel.Metric) string {
	const most = 4
	var out []string
	for _, m := range ms {
		if t := strings.ReplaceAll(m.Title, ", ", " "); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if len(out) > most {
		return Count(len(out), "measure", "measures")
	}
	return strings.Join(out, ", ")
}

// shows reports whether the warning of a metric is about the interval of a rate of none or all.
func shows(m *panel.Metric, warning string) bool {
	return m.Interval.Status == stats.StatusBoundary && strings.HasPrefix(warning, "none of ")
}
