// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// bigSuite writes n cases in the short form, on one line, as machines do.
func bigSuite(tb testing.TB, n int, native bool) string {
	tb.Helper()
	type m = map[string]any
	var tools, cases []any
	for i := range 8 {
		tools = append(tools, m{
			"type": "function",
			"function": m{"name": fmt.Sprintf("tool_%d", i), "description": "does a thing", "parameters": m{
				"type": "object", "properties": m{
					"city": m{"type": "string"}, "days": m{"type": "integer"},
					"units": m{"enum": []string{"c", "f"}},
				}, "required": []string{"city"},
			}},
		})
	}
	for i := range n {
		cases = append(cases, m{
			"prompt": fmt.Sprintf(
				"What will the weather be like in town number %d for the next %d days, in celsius please?", i, i%9),
			"expected_tool":   fmt.Sprintf("tool_%d", i%8),
			"expected_params": m{"city": fmt.Sprintf("Town %d", i), "days": i % 9, "units": "c"},
			"param_scoring":   "exact",
		})
	}
	suite := m{"name": "bench", "tools": tools, "test_cases": cases}
	if native {
		suite["callvet"] = 1
	}
	b, err := json.Marshal(suite)
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "suite.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func BenchmarkLoad(b *testing.B) {
	for name, native := range map[string]bool{"toolsuite": false, "native": true} {
		b.Run(name, func(b *testing.B) {
			path := bigSuite(b, 100_000, native)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				s, problems, err := Load(path, Options{})
				if err != nil || len(problems) > 0 || len(s.Cases) != 100_000 {
					b.Fatal(err, problems[:min(3, len(problems))])
				}
			}
		})
	}
}

func BenchmarkLint(b *testing.B) {
	s, _, err := Load(bigSuite(b, 100_000, true), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if problems := lint(b.Context(), s, LintOptions{}); len(problems) > 0 {
			b.Fatal(problems[:min(3, len(problems))])
		}
	}
}

// TestLoadBig holds the bar on time and memory with room for a busy machine.
func TestLoadBig(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100,000 cases")
	}
	path := bigSuite(t, 100_000, true)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	s, problems, err := Load(path, Options{})
	took := time.Since(start)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems[:min(3, len(problems))])
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	t.Logf("100,000 cases in %v, %.0f MiB held", took, held)
	if held > 220 {
		t.Errorf("%.0f MiB held", held)
	}
	if last := s.Cases[99_999]; last.ID != "case-100000" || last.Position.Line != 1 ||
		last.Position.Column < 20_000_000 {
		t.Errorf("last case is %s at %d:%d", last.ID, last.Position.Line, last.Position.Column)
	}
}
