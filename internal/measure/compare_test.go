// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// lines makes a trace file with everything that can be measured, each now and then: labels,
// results, incidents, faults, corrected records, steps without records.
func lines(seed uint64, tasks int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	chance := func(p float64) bool { return r.Float64() < p }
	pick := func(list ...any) any { return list[r.IntN(len(list))] }
	var out bytes.Buffer
	write := func(m map[string]any) {
		b, _ := json.Marshal(m)
		out.Write(append(b, '\n'))
	}
	for t := range tasks {
		id := fmt.Sprint("t", t)
		for n := range 1 + r.IntN(2) {
			for k := range r.IntN(4) {
				m := map[string]any{
					"task_id": id, "attempt": n, "call_id": fmt.Sprint(id, n, k),
					"tool": pick("pay@v1", "find@v2", "odd@v1"), "args": map[string]any{"a": r.IntN(2)},
				}
				if chance(0.3) {
					m["args"] = map[string]any{"a": "x", "b": 1}
				}
				if chance(0.9) {
					m["status"] = pick("ok", "ok", "ok", "timeout", "rejected_by_contract", "exec_error")
				}
				if chance(0.8) {
					m["result"] = map[string]any{"n": r.IntN(2)}
				}
				if chance(0.7) {
					m["latency_ms"] = map[string]any{"exec": r.IntN(500)}
				}
				if chance(0.8) {
					gold := map[string]any{"needed": chance(0.8)}
					if chance(0.6) {
						gold["tool"] = "pay"
					}
					if chance(0.8) {
						gold["args"] = map[string]any{"a": r.IntN(2)}
					}
					if chance(0.5) {
						gold["result"] = map[string]any{"n": 1}
					}
					if chance(0.5) {
						gold["result_check"] = "n == 1"
					}
					m["gold"] = gold
				}
				if chance(0.5) {
					m["tags"] = []any{pick("es-AR", "sv-SE"), "kind:x"}
				}
				write(m)
			}
			if chance(0.1) {
				continue
			}
			intent := pick("a", "b")
			for range 1 + r.IntN(8)/7 { // some records are corrected
				m := map[string]any{
					"type": "task", "corrects": true, "task_id": id, "attempt": n,
					"cost_usd": float64(r.IntN(1000)) / 1e5, "wall_ms": r.IntN(9000),
					"fields": map[string]any{"intent": intent},
				}
				if chance(0.9) {
					m["pass"] = chance(0.7)
				} else if chance(0.5) {
					m["fault"] = map[string]any{"kind": "timeout", "message": "x"}
				}
				if chance(0.8) {
					m["usage"] = map[string]any{"input_tokens": r.IntN(500), "output_tokens": r.IntN(500)}
					switch r.IntN(10) { // none of these has known tokens
					case 0:
						m["usage"] = map[string]any{"reasoning_tokens": 3}
					case 1:
						m["usage"] = map[string]any{"output_tokens": 3}
					case 2:
						m["usage"] = map[string]any{"input_tokens": 5, "output_tokens": 1 << 50}
					}
				}
				switch r.IntN(12) { // none of these verdicts counts
				case 0:
					m["outcome"] = "error"
				case 1:
					m["fault"] = map[string]any{"kind": "server"}
				case 2:
					m["outcome"] = "not_run"
				}
				if chance(0.05) {
					m["cost_usd"] = 1e12
				}
				if chance(0.7) {
					m["judged"] = []any{map[string]any{"judge": "j", "score": r.Float64(), "threshold": 0.4}}
				}
				if chance(0.5) {
					m["gold"] = map[string]any{"steps": []any{
						map[string]any{"tool": "pay"},
						map[string]any{"tool": "find@v2"},
						map[string]any{"tool": "odd", "by": "user"},
					}}
				}
				if chance(0.5) {
					list := []any{}
					if chance(0.3) {
						list = append(list, map[string]any{"rule": "r", "blocked": chance(0.5)})
					}
					m["safety"] = list
				}
				write(m)
			}
		}
	}
	return out.Bytes()
}

func tools() []callvet.Tool {
	schema := json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)
	mid, budget := 100.0, 400.0
	return []callvet.Tool{{
		Name: "pay", Version: "v1", Parameters: schema, LatencyP50MS: &mid,
		LatencyBudgetMS: &budget,
	}, {Name: "find", Version: "v2", Parameters: schema}}
}

// read returns the panels of a file and its ledger for a comparison.
func read(t *testing.T, text []byte, by, metrics []string) (*panel.Panels, *measure.Side) {
	t.Helper()
	side, err := measure.NewSide("file", measure.SideConfig{By: by, Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	scorer, problems := score.NewStepScorer(score.StepConfig{Tools: tools()})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	res, err := measure.Run(t.Context(),
		[]measure.Source{{
			Name: "file",
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		}},
		measure.Config{
			Steps:  steps.Config{SliceBy: by, Catalogue: true, MinTagTasks: 1, MaxValues: 100},
			Scorer: scorer, Jobs: 2, Each: side.Steps,
		})
	if err != nil {
		t.Fatal(err)
	}
	if res.Log.Bad > 0 {
		t.Fatal(res.Log.List[0])
	}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`"type":"task"`)) {
			var rec trace.Task
			if err := json.Unmarshal(line, &rec); err != nil {
				t.Fatal(err)
			}
			side.Record(&rec)
		}
	}
	return res.Sheet.Panels(), side
}

// TestComparisonEqualsPanels: every metric that can be compared has the same numbers as in the
// panels, overall and by slice.
func TestComparisonEqualsPanels(t *testing.T) {
	t.Parallel()
	by := []string{"called_tool", "expected_tool", "language", "intent", "kind", "language*intent"}
	metrics := slices.DeleteFunc(panel.Comparable(), func(m string) bool { return m == panel.MetricPass })
	seen := map[string]bool{}
	for seed := range uint64(5) {
		text := lines(seed, 120)
		panels, side := read(t, text, by, metrics)
		led := side.Ledger("file")
		c := panel.Diff(led, led, 0)
		if len(c.Targets) != 1 || len(panels.Targets) != 1 {
			t.Fatal(len(c.Targets), len(panels.Targets))
		}
		target := &panels.Targets[0]
		if shown, d := target.Overall.Metric(panel.MetricPass),
			&c.Targets[0].Overall; math.Abs(shown.Interval.Point-d.Baseline.Point) > 1e-9 ||
			shown.Interval.N != d.Baseline.N {
			t.Errorf("seed %d: the panel has %+v passed, the comparison %+v", seed, shown.Interval, d.Baseline)
		}
		for _, m := range c.Targets[0].Measured {
			check := func(s *panel.Slice, d *panel.Difference) {
				shown := s.Metric(m.Metric)
				switch {
				case shown == nil:
				case math.Abs(shown.Interval.Point-d.Baseline.Point) > 1e-6*max(1, math.Abs(shown.Interval.Point)):
					t.Errorf("seed %d, %s of %s=%s: the panel has %v, the comparison %v", seed, m.Metric, s.Key,
						s.Value, shown.Interval.Point, d.Baseline.Point)
				case d.Change.Point != 0:
					t.Errorf("%s differs from itself by %v", m.Metric, d.Change.Point)
				default:
					seen[m.Metric] = true
				}
			}
			check(&target.Overall, &m.Overall)
			for i := range m.Slices {
				d := &m.Slices[i]
				for j := range target.Slices {
					if s := &target.Slices[j]; s.Key == d.Key && s.Value == d.Value {
						check(s, d)
					}
				}
			}
		}
	}
	for _, m := range metrics { // the rest is measured in runs, or needs rules of safety
		odd := strings.HasSuffix(m, "_mean") ||
			slices.Contains([]string{
				"safe_calls", "safe_calls_by_task", panel.MetricUnparseable, panel.MetricNative,
				panel.MetricAbstention,
			}, m)
		if !seen[m] && !odd {
			t.Errorf("%s was never compared", m)
		}
	}
}

// TestChange: a comparison with a file in which arguments got worse reports that, for the tool that
// did.
func TestChange(t *testing.T) {
	t.Parallel()
	text := lines(7, 200)
	worse := bytes.ReplaceAll(text, []byte(`"gold":{"args":{"a":1}`), []byte(`"gold":{"args":{"a":2}`))
	_, a := read(t, text, []string{"called_tool"}, []string{"arg_em", panel.MetricCost})
	_, b := read(t, worse, []string{"called_tool"}, []string{"arg_em", panel.MetricCost})
	c := panel.Diff(a.Ledger("a"), b.Ledger("b"), 0)
	for _, m := range c.Targets[0].Measured {
		want := panel.ChangeUnclear
		if m.Metric == "arg_em" {
			want = panel.ChangeWorse
		}
		if m.Overall.Verdict != want || m.Metric == "arg_em" && len(m.Slices) != 3 {
			t.Errorf("%s: %s %+v, %d slices", m.Metric, m.Overall.Verdict, m.Overall.Change, len(m.Slices))
		}
	}
}
