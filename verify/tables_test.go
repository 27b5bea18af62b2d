// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/provider"
)

// cellsOf returns the cells of a table in a page.
func cellsOf(t *testing.T, page string, tb *table) [][]string {
	t.Helper()
	from, to, err := tb.place(page)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(page[from:to]) {
		var row []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		out = append(out, row)
	}
	return out
}

// namesIn lists the names of a row of merged rows. A later name that is not in all lacks the beginning of
// the first, up to its comma.
func namesIn(cell string, all []string) []string {
	parts := strings.Split(cell, "; ")
	before, _, _ := strings.Cut(parts[0], ", ")
	for i, name := range parts {
		if i > 0 && all != nil && !slices.Contains(all, name) {
			parts[i] = before + ", " + name
		}
	}
	return parts
}

// TestReadsPage: the tables of the page have the columns that the commands write, and a row for each agent,
// SDK and provider.
func TestReadsPage(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "docs", "reference", "reads.md"))
	if err != nil {
		t.Fatal(err)
	}
	var agents, recorded []string
	for _, s := range shapes() {
		agents = append(agents, s.name)
	}
	for _, r := range sdks() {
		recorded = append(recorded, r.name)
	}
	for _, tt := range []struct {
		table *table
		rows  []string // nil: each names a provider
	}{{httpTable(nil), agents}, {telemetryTable(nil), recorded}, {wireTable(nil), nil}} {
		rows := cellsOf(t, string(b), tt.table)
		if len(rows) < 3 {
			t.Errorf("%s: %d lines", tt.table.name, len(rows))
			continue
		}
		if d := cmp.Diff(tt.table.head, rows[0]); d != "" {
			t.Errorf("%s: %s", tt.table.name, d)
		}
		var names []string
		for _, row := range rows[2:] {
			these := namesIn(row[0], tt.rows)
			names = append(names, these...)
			if len(row) != len(rows[0]) {
				t.Errorf("%s: %s has %d cells of %d", tt.table.name, row[0], len(row), len(rows[0]))
			}
			if strings.Contains(strings.Join(row, " "), " ?") {
				t.Errorf("%s: a version is not known: %v", tt.table.name, row)
			}
			for _, name := range these {
				if _, _, err := provider.Open(name+"/m",
					provider.Config{BaseURL: "http://127.0.0.1", APIKey: "k"}); tt.rows == nil && err != nil {
					t.Errorf("%s: %v", tt.table.name, err)
				}
			}
		}
		slices.Sort(names)
		if d := cmp.Diff(slices.Sorted(slices.Values(tt.rows)), names); tt.rows != nil && d != "" {
			t.Errorf("%s: make docs-tables writes others: %s", tt.table.name, d)
		}
	}
}

// TestTables: a table is written into its place, and nowhere else.
func TestTables(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	const text = "before\n<!-- table: a -->\nold\n<!-- end of table -->\nafter\n<!-- table: b -->\n<!-- end of table -->\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&table{"a", []string{"x", "y"}, [][]string{{"1", "2 | 3"}, {"4", ""}}}).write(page); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Replace(text, "old\n", "| x | y |\n|---|---|\n| 1 | 2 \\| 3 |\n| 4 |  |\n", 1),
		string(got)); d != "" {
		t.Error(d)
	}
	if err := (&table{name: "c"}).write(page); err == nil || !strings.Contains(err.Error(), `no "<!-- table: c -->"`) {
		t.Error(err)
	}
	if err := (&table{name: "c"}).write(""); err != nil {
		t.Error(err)
	}
}

// TestWireRows: a row has the compared values of the answers of its provider and API.
func TestWireRows(t *testing.T) {
	t.Parallel()
	got := wireRows(map[[2]string]*wireRead{
		{"openai", "Responses"}:        {answers: 3, agree: [4]int{2, 1, 0, 1}, compared: [4]int{2, 2, 0, 1}},
		{"openai", "Chat Completions"}: {answers: 1, agree: [4]int{0, 0, 1}, compared: [4]int{0, 0, 1}},
		{"gemini", "generateContent"}:  {answers: 1, agree: [4]int{1, 1}, compared: [4]int{1, 1}},
	})
	want := [][]string{
		{"gemini", "generateContent", "1", "1 of 1", "1 of 1", "-", "-"},
		{"openai", "Chat Completions", "1", "-", "-", "1 of 1", "-"},
		{"openai", "Responses", "3", "2 of 2", "1 of 2", "-", "1 of 1"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestMerged joins rows with the same figures, and keeps the others in their order.
func TestMerged(t *testing.T) {
	t.Parallel()
	got := merged([][]string{
		{"Agent 1, stream", "3 of 3"}, {"Agent 2", "1 of 3"}, {"Agent 1, items", "3 of 3"}, {"Other", "3 of 3"},
	})
	want := [][]string{{"Agent 1, stream; items; Other", "3 of 3"}, {"Agent 2", "1 of 3"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
