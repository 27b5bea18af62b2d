// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
)

// manyCases writes a suite of small cases; offline targets find some of their tools.
func manyCases(t testing.TB, path string, n int) {
	t.Helper()
	type fields = map[string]any
	tool := func(name string) fields {
		return fields{
			"name": name, "description": "Looks up the " + name,
			"parameters": fields{"type": "object", "properties": fields{"city": fields{"type": "string"}}},
		}
	}
	cases := make([]fields, n)
	for i := range cases {
		prompt, right := fmt.Sprintf("Tell me a joke, number %d.", i), "traffic"
		if i%2 == 1 {
			prompt = fmt.Sprintf("What is the weather in town %d?", i)
		}
		if i%3 > 0 {
			right = "weather"
		}
		cases[i] = fields{
			"id": fmt.Sprintf("c%05d", i), "prompt": prompt, "multi_turn": true,
			"expect": fields{"calls": []fields{{"tool": right}}},
		}
	}
	b, err := json.Marshal(fields{
		"callvet": 1, "name": "many", "tools": []fields{tool("weather"), tool("traffic")},
		"mocks": []fields{{"tool": "weather", "result": "rain"}}, "cases": cases,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkLists measures the lists of a run of 100,000 attempts, as the page asks for them: 25,000 cases by
// four targets.
func BenchmarkLists(b *testing.B) {
	a, files := server(b, app.Permit{})
	manyCases(b, filepath.Join(files.dir, "many.json"), 25_000)
	files.known["many"] = "many.json"
	s, err := runs.Start(b.Context(), a,
		as[app.RunRequest](b, `{"suite": "many", "targets": [{"target": "offline/lexical", "name": "one"},
		{"target": "offline/lexical", "name": "two", "tool_choice": "none"}, {"target": "offline/lexical", "name": "three"}, {"target": "offline/lexical", "name": "four"}]}`), nil)
	if err != nil {
		b.Fatal(err)
	}
	done, err := s.Do(b.Context())
	if err = errors.Join(err, s.Close()); err != nil {
		b.Fatal(err)
	}
	id := done.Stored.ID
	attempts := func(q results.AttemptsRequest) func() (string, error) {
		q.Run = id
		return func() (string, error) {
			page, err := results.Attempts(b.Context(), a, q)
			if err != nil {
				return "", err
			}
			if len(page.Items) == 0 {
				return "", errors.New("nothing is listed")
			}
			return page.Next, nil
		}
	}
	calls := func(after string) func() (string, error) {
		return func() (string, error) {
			page, err := results.Recordings(b.Context(), a, results.CallsRequest{Run: id, Limit: 50, After: after})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		}
	}
	middle := ""
	for range 50 {
		var err error
		if middle, err = attempts(results.AttemptsRequest{Limit: results.MaxAttempts, After: middle})(); err != nil {
			b.Fatal(err)
		}
	}
	for _, one := range []struct {
		name string
		ask  func() (string, error)
	}{
		{"attempts", attempts(results.AttemptsRequest{})},
		{"attempts-score", attempts(results.AttemptsRequest{Sort: "score"})},
		{"attempts-score-200", attempts(results.AttemptsRequest{Sort: "score", Limit: 200})},
		{"attempts-scattered", attempts(results.AttemptsRequest{Case: "123", Targets: []string{"one"}, Limit: 200})},
		{"attempts-middle", attempts(results.AttemptsRequest{After: middle})},
		{"attempts-confused", attempts(results.AttemptsRequest{Expected: "traffic", Called: "weather"})},
		{"grid", func() (string, error) {
			page, err := results.NewGrid(b.Context(), a, results.GridRequest{Run: id})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		}},
		{"recordings", calls("")},
		{"recordings-middle", calls(`[12500,0,0,0]`)},
		{"incidents", func() (string, error) {
			page, err := results.Incidents(b.Context(), a, results.CallsRequest{Run: id, Limit: 50})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		}},
	} {
		start := time.Now()
		if _, err := one.ask(); err != nil {
			b.Fatal(err)
		}
		b.Logf("%s: %v the first time", one.name, time.Since(start).Round(time.Millisecond))
		b.Run(one.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := one.ask(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			for _, p := range []int{50, 95} {
				b.ReportMetric(float64(took[(len(took)-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
			}
		})
	}
}
