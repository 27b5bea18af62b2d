// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel"
)

// writeSuite writes n cases of two categories; every third is of category rare.
func writeSuite(t *testing.T, dir string, n int) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"callvet": 1, "tools": [
{"name": "weather_now", "description": "Current weather of a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
{"name": "open_ticket", "description": "Open a support ticket.", "parameters": {"type": "object", "properties": {"subject": {"type": "string"}}}}],
"cases": [`)
	for i := range n {
		category := "usual"
		if i%3 == 0 {
			category = "rare"
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b,
			`{"id": "c%d", "category": %q, "prompt": "How is the weather in city number %d?", "expected_tool": "weather_now", "expected_params": {"city": "number %d"}}`, i, category, i, i%5)
	}
	b.WriteString("]}")
	if err := os.WriteFile(filepath.Join(dir, "suite.json"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func panelsOf(t *testing.T, out string) *panel.Panels {
	t.Helper()
	var doc struct{ Panels *panel.Panels }
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&doc); err != nil || doc.Panels == nil {
		t.Fatalf("no panels: %v\n%s", err, out)
	}
	return doc.Panels
}

// TestUnracedTally compares the sums that a run makes on the way with those read back, also for a
// part of the suite, because its cases have other positions.
func TestUnracedTally(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSuite(t, dir, 700)
	for name, more := range map[string][]string{
		"all": nil, "some": {"--filter", "category=rare,c1*"},
		"repeated": {"--repeat", "3", "-m", "offline/lexical"},
	} {
		live := runApp(t, dir, nil, exitOK,
			append([]string{"run", "suite.json", "-m", "offline/lexical", "-q", "--json", "--name", name}, more...)...)
		back := runApp(t, dir, nil, exitOK, "show", name, "--json")
		p := panelsOf(t, live)
		if d := cmp.Diff(p, panelsOf(t, back)); d != "" {
			t.Errorf("%s: live and read back differ:\n%s", name, d)
		}
		rare := 0
		for _, s := range p.Targets[0].Slices {
			if s.Key == "category" && s.Value == "rare" {
				rare = s.Cases
			}
		}
		if rare != 234 {
			t.Errorf("%s: %d rare cases, want 234", name, rare)
		}
	}
}

// TestRefusedSuiteLeavesNothing: an error on the last line stops the run before
// the store has anything of it.
func TestRefusedSuiteLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeSuite(t, dir, 600)
	path := filepath.Join(dir, "suite.json")
	b := strings.TrimSuffix(string(readFile(t, dir, "suite.json")), "]}") +
		`,{"id": "c0", "prompt": "again", "expected_tool": "weather_now"}]}`
	if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
		t.Fatal(err)
	}
	runApp(t, dir, nil, exitUsage, "run", "suite.json", "-m", "offline/lexical", "-q")
	writeSuite(t, dir, 600)
	runApp(t, dir, nil, exitUsage, "run", "suite.json", "-m", "offline/lexical", "-q", "--filter", "none-such")
	db, err := sql.Open("sqlite", filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var left int
	if err := db.QueryRowContext(t.Context(),
		"SELECT (SELECT count(*) FROM suites) + (SELECT count(*) FROM suite_chunks) + (SELECT count(*) FROM runs)").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left (%v)", left, err)
	}
}
