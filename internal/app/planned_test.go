// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/stats/gate"
)

// TestPlanned: an attempt that was planned and is not stored counts in every number and in every
// report of the run, however the run ended.
func TestPlanned(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"interrupted", "budget", "failed", "cancelled", "running"} {
		for name, c := range map[string]struct {
			query string
			gone  int
		}{
			"none":          {"UPDATE runs SET name='x'", 0},
			"the first":     {"DELETE FROM cells WHERE case_ix=0", 1},
			"some":          {"DELETE FROM cells WHERE case_ix IN (1,3,4)", 3},
			"the last ones": {"DELETE FROM cells WHERE case_ix>=2", 4},
			"all":           {"DELETE FROM cells", 6},
		} {
			t.Run(status+", "+name, func(t *testing.T) {
				t.Parallel()
				d := newDamaged(t, 6)
				d.set(t, c.query)
				d.set(t, fmt.Sprintf("UPDATE runs SET status='%s', totals=NULL", status))
				v, err := runs.View(t.Context(), d.App, results.ViewRequest{Run: d.runs[0]}, nil)
				if err != nil {
					t.Fatal(err)
				}
				s := &v.View.Panels.Targets[0].Overall
				if got := s.Verdicts; got.Planned() != 6 || got.Lost() != c.gone || got.Pass+got.Fail != 6-c.gone {
					t.Errorf("the panel: %+v", got)
				}
				_, line, err := results.Line(t.Context(), d.App, d.runs[0])
				if want := s.Verdicts; err != nil || line.Cells != want {
					t.Errorf("the line of the list: %+v, %v, want %+v", line.Cells, err, want)
				}
				rows, gone := 0, 0
				for r, err := range v.View.Cells() {
					if err != nil {
						t.Fatal(err)
					}
					rows++
					if r.Cell.Result.Verdict == callvet.VerdictNotRun {
						gone++
					}
				}
				if rows != 6 || gone != c.gone {
					t.Errorf("%d rows, %d of them did not run", rows, gone)
				}
				var xml bytes.Buffer
				if err := report.JUnit(&xml, v.View); err != nil || strings.Count(xml.String(), "<testcase") != 6 ||
					strings.Count(xml.String(), "<error") != c.gone {
					t.Errorf("JUnit, %v: %s", err, xml.String())
				}
				g, err := traces.Gate(
					t.Context(), d.With(app.Uploads{"g": []byte("- {metric: pass_rate, at_least: 0.0001, min_n: 0}")}),
					traces.GateRequest{Side: app.Side{Run: d.runs[0]}, Gates: "g"}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if v := g.Report.Verdicts[0]; v.LostAttempts != c.gone || v.Planned != 6 && c.gone < 6 ||
					(v.Verdict == gate.Pass) != (c.gone == 0) {
					t.Errorf("the gate: %+v", v)
				}
			})
		}
	}
}
