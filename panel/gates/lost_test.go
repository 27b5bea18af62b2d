// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gates_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// TestLostRecords: records that cannot be read make no gate pass and no gate fail.
func TestLostRecords(t *testing.T) {
	t.Parallel()
	least := gates.Gate{Metric: "arg_em", Kind: gates.Bound, Direction: gate.AtLeast, Bound: 0.8}
	most := gates.Gate{Metric: "arg_em", Kind: gates.Bound, Direction: gate.AtMost, Bound: 0.95}
	ofSlice := least
	ofSlice.Key, ofSlice.Value = "language", "de"
	for name, tt := range map[string]struct {
		gate      gates.Gate
		cells     int
		lost      int64
		low, high float64 // the interval with each lost record at its lowest, and at its highest
		want      gate.Verdict
		sentence  string
	}{
		"a slice, 5 %":              {ofSlice, 100, 5, 0, 0, gate.Pass, ""},
		"a slice, more":             {ofSlice, 119, 6, 0, 0, gate.Inconclusive, "6 records could not be read, next to 119 attempts, more than 5 %"},
		"5 %, at worst still right": {least, 95, 5, 0.85, 0.95, gate.Pass, "5 of 100 attempts lost, 0.85 at worst"},
		"5 %, at worst not right":   {least, 95, 5, 0.7, 0.95, gate.Inconclusive, "5 records could not be read, next to 95 attempts, and the verdict depends on them"},
		"one, at worst not right":   {least, 95, 1, 0.7, 0.95, gate.Inconclusive, "1 record could not be read, next to 95 attempts, and the verdict depends on them"},
		"more than 5 %":             {least, 95, 6, 0.85, 0.95, gate.Inconclusive, "6 records could not be read, next to 95 attempts, more than 5 %"},
		"at most, still right":      {most, 95, 5, 0.8, 0.94, gate.Pass, "5 of 100 attempts lost, 0.94 at worst"},
		"at most, not right":        {most, 95, 5, 0.8, 0.99, gate.Inconclusive, "and the verdict depends on them"},
		"none":                      {least, 95, 0, 0.85, 0.95, gate.Pass, ""},
	} {
		m := panel.Metric{Name: "arg_em", Unit: panel.UnitRate, Of: "calls", Interval: interval(0.88, 0.9, 0.92, 95)}
		p := over(m)
		if tt.lost > 0 {
			p.Lost = &panel.Lost{Count: tt.lost}
		}
		if tt.gate.Key != "" {
			p.Targets[0].Slices = []panel.Slice{{Key: "language", Value: "de", Cells: tt.cells, Metrics: []panel.Metric{m}}}
		} else {
			own := &p.Targets[0].Overall
			own.Cells = tt.cells
			if tt.lost > 0 {
				own.Metrics[0].Lost = &panel.LostRange{Low: interval(tt.low, tt.low, tt.low, 100), High: interval(tt.high, tt.high, tt.high, 100)}
			}
		}
		v := one(t, gates.Input{Panels: p}, tt.gate)
		if v.Verdict != tt.want || !strings.Contains(v.Sentence, tt.sentence) || tt.lost == 0 && strings.Contains(v.Sentence, "lost") {
			t.Errorf("%s: %s (%s), want %s with %q", name, v.Sentence, v.Verdict, tt.want, tt.sentence)
		}
	}
}

// TestLostIncidents: a record that cannot be read may hold an incident. Where no record is named,
// none is the first.
func TestLostIncidents(t *testing.T) {
	t.Parallel()
	p := over(panel.Metric{Name: "safety_incidents", Unit: panel.UnitRate, Of: "tasks", Interval: interval(0, 0, 0, 100)})
	p.Targets[0].Overall.Cells = 100
	for _, tt := range []struct {
		lost panel.Lost
		cure string
	}{
		{panel.Lost{Count: 1}, "mend the lines that cannot be read"},
		{panel.Lost{Count: 1, First: []panel.LostRecord{{Line: 7}}}, "mend the lines that cannot be read, the first is line 7"},
		{panel.Lost{Count: 1, First: []panel.LostRecord{{File: "a.jsonl", Line: 7}}}, "mend the lines that cannot be read, the first is line 7 of a.jsonl"},
	} {
		p.Lost = &tt.lost
		v := one(t, gates.Input{Panels: p}, gates.Gate{Metric: "safety_incidents", Kind: gates.Zero})
		if v.Verdict != gate.Inconclusive || !strings.Contains(v.Sentence, "each may hold an incident") || v.Cure != tt.cure {
			t.Errorf("%s; %s", v.Sentence, v.Cure)
		}
	}
}

// TestLostChanges: each lost record of either side may be a task that fell, or that rose.
func TestLostChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		margin   float64
		baseline int64
		lost     int64
		want     gate.Verdict
	}{
		"none":                   {0.05, 0, 0, gate.Pass},
		"three":                  {0.05, 0, 3, gate.Pass},
		"four":                   {0.05, 0, 4, gate.Pass},
		"four, a smaller margin": {0.045, 0, 4, gate.Inconclusive},
		"five":                   {0.05, 0, 5, gate.Inconclusive},
		"five of both sides":     {0.05, 2, 3, gate.Inconclusive},
	} {
		p := over()
		p.Targets[0].Overall.Cells = 1000
		cmp := against("arg_em", difference(-0.01, 0, 0.06, 100), 0)
		cmp.LostBaseline, cmp.LostCandidate = lostOf(tt.baseline), lostOf(tt.lost)
		v := one(t, gates.Input{Panels: p, Comparison: cmp}, gates.Gate{Metric: "arg_em", Kind: gates.Regression, Margin: &tt.margin})
		if v.Verdict != tt.want || (v.Reason == gates.ReasonLost) != (tt.want == gate.Inconclusive) {
			t.Errorf("%s: %s (%s)", name, v.Sentence, v.Reason)
		}
	}
}

func lostOf(n int64) *panel.Lost {
	if n == 0 {
		return nil
	}
	return &panel.Lost{Count: n}
}
