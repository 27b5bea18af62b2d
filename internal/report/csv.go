// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// CSV writes one row per attempt, with a column for each score of the run. If a target selects
// tools, it adds the question, and the expected and the chosen tools. Texts that a spreadsheet
// would take for a formula begin with an apostrophe.
func CSV(w io.Writer, v *View) error {
	scores := v.scoreNames()
	out := csv.NewWriter(w)
	head := []string{
		"run", "suite", "case", "target", "repeat", "tier", "tags", "outcome", "verdict", "class", "reason",
		"called", "format", "repairs", "input_tokens", "output_tokens", "cost_usd", "wall_ms", "requests",
		"not_evaluated",
		"ended", "notes",
	}
	selects := v.selects()
	if selects {
		head = append(head, SelectionColumns()...)
	}
	if err := out.Write(append(head, scores...)); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	for r, err := range v.cells() {
		if err != nil {
			return fmt.Errorf("read attempts: %w", err)
		}
		if err := out.Write(v.csvRow(r, selects, scores)); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// scoreNames are the scores of the run in the order of the panels.
func (v *View) scoreNames() []string {
	var names []string
	for _, p := range v.panels() {
		for _, m := range p.Overall.Metrics {
			name := m.Name
			if name == panel.MetricAbstention {
				name = "abstention" // the score behind it
			}
			if m.Unit == panel.UnitRate && !panel.BuiltIn(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// selects reports whether a target makes decisions.
func (v *View) selects() bool {
	return slices.ContainsFunc(v.Targets, func(t callvet.Target) bool { return t.Selects })
}

func (v *View) csvRow(r Row, selects bool, scores []string) []string {
	t, res := &r.Cell.Trace, &r.Cell.Result
	var called []string
	for _, c := range t.Calls() {
		called = append(called, callText(&c))
	}
	row := []string{
		cell(v.ID), cell(v.Suite.Name), cell(r.Case.ID), cell(v.targetName(r.Cell.Target)), strconv.Itoa(r.Cell.Repeat),
		cell(string(r.Case.Tier)), cell(strings.Join(r.Case.Tags, " ")), string(t.Outcome), string(verdictOf(r)),
		string(res.Class),
		cell(because(r)), cell(strings.Join(called, "; ")), string(t.Format), cell(strings.Join(repairs(t), " ")), "",
		"", "", "", strconv.Itoa(t.Attempts), strconv.Itoa(res.NotEvaluated),
		cell(ended(t)), cell(strings.Join(t.Notes, "; ")),
	}
	if t.Usage.Known {
		row[14], row[15] = strconv.Itoa(t.Usage.InputTokens), strconv.Itoa(t.Usage.OutputTokens)
	}
	if t.Usage.CostUSD != nil {
		row[16] = number(*t.Usage.CostUSD)
	}
	if t.WallMS > 0 {
		row[17] = number(t.WallMS)
	}
	if selects {
		for _, text := range SelectionCells(r.Case, r.Cell) {
			row = append(row, cell(text))
		}
	}
	for _, name := range scores {
		s := ""
		if x := res.Score(name); x.Scored {
			s = number(x.Value)
		}
		row = append(row, s)
	}
	return row
}

// ended is why the attempt is unparseable, or the kind of its error.
func ended(t *callvet.Trace) string {
	if t.Fault != nil {
		return string(t.Fault.Kind)
	}
	return string(t.Reason)
}

// number is empty for a value that JSON cannot write.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// cell makes a text safe for a spreadsheet.
func cell(s string) string { return plain.Cell(plain.Clean(s)) }
