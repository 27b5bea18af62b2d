// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

const sheetHostile = "=cmd|'<script>alert(1)</script>\u202e\x1b[31m@team #1 http://evil.example"

func metric(name, of string, yes, n, perCase int) panel.Metric {
	m := panel.Metric{Name: name, Title: panel.Title(name), Unit: panel.UnitRate, Of: of}
	var c stats.Clusters
	for i := 0; i < n; i += perCase {
		s := min(perCase, max(0, yes-i))
		c.Add(float64(s), perCase, true)
	}
	m.Interval = c.Interval(0.95, stats.DefaultRho0)
	return m
}

func view() *report.ScoresView {
	half := 0.5
	selection := metric("tool_selection", "calls", 90, 100, 2)
	selection.Coverage = &half
	selection.Warnings = []string{"only half is labelled"}
	latency := panel.Metric{
		Name: "tool_latency_p90", Title: "tool latency p90", Unit: panel.UnitMS, Of: "calls",
		LowerIsBetter: true,
	}
	latency.Interval = stats.Interval{
		Point: 120, Lower: 90, Upper: math.Inf(1), N: 20, Clusters: 20,
		Status: stats.StatusOK, Confidence: 0.95,
	}
	em := metric("arg_em", "calls", 80, 100, 2)
	worst := metric("arg_em", "calls", 20, 40, 2)
	worst.Versus = &panel.Versus{Rest: 1, P: 0.0001, Adjusted: 0.0004, Worst: true}
	byName := metric("judged_pass:"+sheetHostile, "attempts", 30, 50, 1)
	byName.Title = "judged pass:" + sheetHostile // judges are named in the traces
	overall := panel.Slice{Cases: 50, Cells: 50, Metrics: []panel.Metric{
		metric("schema_valid", "calls", 98, 100, 2), metric("schema_valid_by_task", "tasks", 48, 50, 1), selection,
		em, latency,
		metric("pass_rate", "attempts", 0, 0, 1), byName,
	}}
	return &report.ScoresView{
		Files: []string{"traces.jsonl"}, Lines: 103, Steps: 100,
		Problems: []callvet.Problem{{
			Position: callvet.Position{File: "traces.jsonl", Line: 7},
			Message:  "not JSON: " + sheetHostile,
		}},
		Excerpt: func(panel.Example) string { return "user: " + sheetHostile + "\ncall: pay({})" },
		Panels: &panel.Panels{
			Lost: &panel.Lost{
				Count: 3,
				First: []panel.LostRecord{
					{File: "traces.jsonl", Line: 7, Reason: "not JSON: " + sheetHostile},
					{File: "traces.jsonl", Line: 9, Reason: "cut"},
				},
			},
			Confidence: 0.95, Repeats: 1, Warnings: []string{"no tool schemas: " + sheetHostile},
			Targets: []panel.TargetPanel{{
				Name: "agent " + sheetHostile, Overall: overall,
				Slices: []panel.Slice{
					{Key: "language", Value: "es-AR", Cases: 20, Metrics: []panel.Metric{worst}},
					{Key: "tag", Value: sheetHostile, Cases: 5},
				},
				Confusion: []panel.Confused{
					{Expected: "get_refund_policy", Called: "get_return_policy", N: 4},
					{Expected: "get_refund_policy", Called: "get_refund_policy", N: 90},
				},
			}},
			Findings: []panel.Finding{{
				Code: "S3", Title: "Bad arguments", Count: 20, Of: 100, Unit: "calls with labelled arguments",
				Failed: 4, Failing: 5, Share: 0.8, Evidence: []string{"country is wrong in 18 calls " + sheetHostile},
				Examples: []panel.Example{{
					Task: "t_1", Call: "t_1#1#1", File: "traces.jsonl", Line: 3,
					Why: "country",
				}}, Test: "look at EM", Fix: "map entities: `callvet lint SUITE`",
			}},
			Examples: []panel.Example{
				{Kind: "weakest", Task: "t_9", File: "traces.jsonl", Line: 30, Score: 0.25, Why: sheetHostile},
				{Kind: "strongest", Task: "t_2", Attempt: 1, File: "traces.jsonl", Line: 5, Score: 1},
			},
		},
	}
}

func TestSheetFaces(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sheet.html", "sheet.md", "sheet.json", "sheet.csv", "sheet.txt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			face, err := report.ScoresByPath(name)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := face(&b, view()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *report.Update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("run with -update if this is right (-want +got):\n%s", d)
			}
			harmless(t, name, b.String())
		})
	}
}

// harmless holds that no face lets a text of a trace act.
func harmless(t *testing.T, name, s string) {
	t.Helper()
	if strings.Contains(s, "\x1b") || strings.Contains(s, "\u202e") && filepath.Ext(name) != ".json" {
		t.Errorf("%s has raw control or direction characters", name)
	}
	switch filepath.Ext(name) {
	case ".html", ".md":
		if strings.Contains(s, "<script") {
			t.Errorf("%s has a script", name)
		}
	case ".json":
		if !json.Valid([]byte(s)) || strings.Contains(s, "NaN") {
			t.Errorf("%s is not valid JSON", name)
		}
	case ".csv":
		rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			for _, c := range r {
				if strings.HasPrefix(c, "=") {
					t.Errorf("%q is a formula", c)
				}
			}
		}
	}
}

func TestByPathUnknown(t *testing.T) {
	t.Parallel()
	if _, err := report.ScoresByPath("x.docx"); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("err = %v", err)
	}
}

// TestNarrowTables: the counts are shortened first, then the names. A terminal of 40 columns has no
// line that breaks.
func TestNarrowTables(t *testing.T) {
	t.Parallel()
	v := view()
	v.Panels.Warnings, v.Panels.Targets[0].Name, v.Panels.Targets[0].Slices, v.Panels.Targets[0].Confusion = nil,
		"agent", nil, nil
	v.Panels.Targets[0].Overall.Metrics = v.Panels.Targets[0].Overall.Metrics[:4]
	v.Panels.Findings, v.Panels.Examples = nil, nil
	for _, width := range []int{40, 60, 80} {
		v.Width = width
		var b bytes.Buffer
		if err := report.ScoresTerminal(&b, v); err != nil {
			t.Fatal(err)
		}
		for l := range strings.SplitSeq(b.String(), "\n") {
			if n := utf8.RuneCountInString(l); n > width {
				t.Errorf("%d columns on a terminal of %d: %q", n, width, l)
			}
		}
	}
}
