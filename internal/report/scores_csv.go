// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

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
			cell(target), cell(s.Key), cell(s.Value), cell(m.Name), string(m.Unit), m.Of,
			strconv.Itoa(iv.N), strconv.Itoa(iv.Clusters), number(iv.NEff),
			"", "", "", number(iv.Confidence), iv.Method, string(iv.Status), "", "", "", "",
			cell(strings.Join(m.Warnings, "; ")),
		}
		if iv.Defined() {
			r[9] = number(iv.Point)
		}
		if iv.Usable() {
			r[10], r[11] = number(iv.Lower), number(iv.Upper)
		}
		if m.Coverage != nil {
			r[15] = number(*m.Coverage)
		}
		if m.Versus != nil {
			r[16], r[17], r[18] = number(m.Versus.Adjusted), strconv.FormatBool(m.Versus.Worst),
				strconv.FormatBool(m.Versus.Best)
		}
		rows = append(rows, r)
	}
	return rows
}
