// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// ScoresCSV writes one row for each target, slice and metric. Ends that do not exist
// are empty. Texts that a spreadsheet would take for a formula begin with an
// apostrophe.
func ScoresCSV(w io.Writer, v *ScoresView) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"target", "slice", "value", "metric", "unit", "of", "n", "tasks", "n_eff", "estimate", "lower", "upper",
		"confidence",
		"method", "status", "coverage", "p_adjusted", "worst", "best", "warnings",
	}}
	for i := range v.Panels.Targets {
		t := &v.Panels.Targets[i]
		rows = sheetSliceRows(rows, t.Name, &t.Overall)
		for j := range t.Slices {
			rows = sheetSliceRows(rows, t.Name, &t.Slices[j])
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func sheetSliceRows(rows [][]string, target string, s *panel.Slice) [][]string {
	for i := range s.Metrics {
		m := &s.Metrics[i]
		iv := m.Interval
		r := []string{
			sheetCell(target), sheetCell(s.Key), sheetCell(s.Value), sheetCell(m.Name), string(m.Unit), m.Of,
			strconv.Itoa(iv.N), strconv.Itoa(iv.Clusters), sheetNumber(iv.NEff),
			"", "", "", sheetNumber(iv.Confidence), iv.Method, string(iv.Status), "", "", "", "",
			sheetCell(strings.Join(m.Warnings, "; ")),
		}
		if iv.Defined() {
			r[9] = sheetNumber(iv.Point)
		}
		if iv.Usable() {
			r[10], r[11] = sheetNumber(iv.Lower), sheetNumber(iv.Upper)
		}
		if m.Coverage != nil {
			r[15] = sheetNumber(*m.Coverage)
		}
		if m.Versus != nil {
			r[16], r[17], r[18] = sheetNumber(m.Versus.Adjusted), strconv.FormatBool(m.Versus.Worst),
				strconv.FormatBool(m.Versus.Best)
		}
		rows = append(rows, r)
	}
	return rows
}

func sheetNumber(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// sheetCell keeps a text harmless, and a spreadsheet from reading it as a formula.
func sheetCell(s string) string { return plain.Cell(plain.Clean(s)) }
