// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Shared is a warning of N of Rows metrics of a table, which is said once below it.
type Shared struct {
	Text    string
	N, Rows int
}

func (s Shared) String() string {
	if s.N == s.Rows {
		return "all values: " + s.Text
	}
	return fmt.Sprintf("%d of %d values: %s", s.N, s.Rows, s.Text)
}

// manyRows is from how many metrics on a warning is said below the table, also where
// these are fewer than half.
const manyRows = 4

// SharedNotes are the warnings that several metrics of a table have: more than half of
// them, or four. Nil metrics are passed over.
func SharedNotes(ms []*panel.Metric) []Shared {
	ms = slices.DeleteFunc(slices.Clone(ms), func(m *panel.Metric) bool { return m == nil })
	var all []Shared
	for _, m := range ms {
		for _, w := range m.Warnings {
			if shows(m, w) {
				continue
			}
			f := family(w)
			i := slices.IndexFunc(all, func(s Shared) bool { return s.Text == f })
			if i < 0 {
				i = len(all)
				all = append(all, Shared{Text: f, Rows: len(ms)})
			}
			all[i].N++
		}
	}
	return slices.DeleteFunc(all, func(s Shared) bool { return s.N < 2 || s.N < manyRows && 2*s.N <= s.Rows })
}

// OwnNotes are the warnings of a metric without those that stand below the table, and
// without those that repeat the interval beside it.
func OwnNotes(m *panel.Metric, below []Shared) []string {
	var out []string
	for _, w := range m.Warnings {
		if !shows(m, w) && !slices.ContainsFunc(below, func(s Shared) bool { return s.Text == family(w) }) {
			out = append(out, w)
		}
	}
	return out
}

// shows reports whether the interval of a metric says what its warning says: that of a
// rate of none or all.
func shows(m *panel.Metric, warning string) bool {
	return m.Interval.Status == stats.StatusBoundary && strings.HasPrefix(warning, "none of ")
}

// family is what warnings have in common that differ in a number of cases, which stands
// beside the metric.
func family(warning string) string {
	if strings.HasPrefix(warning, "only ") &&
		(strings.HasSuffix(warning, " cases") || strings.HasSuffix(warning, " case")) {
		return "few cases, so that intervals are wide"
	}
	return warning
}
