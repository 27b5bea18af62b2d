// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/stats/gate"
)

const traceText = `{"task_id":"oslo","call_id":"c1","tool":"weather_now","args":{"city":"Oslo"},"status":"ok","gold":{"tool":"weather_now","args":{"city":"Oslo"}}}
{"type":"task","task_id":"oslo","pass":true,"judged":[{"judge":"j","pass":true}],"labels":[{"by":"ana","pass":true}]}
{"task_id":"rome","call_id":"c2","tool":"weather_now","args":{"city":"Rom"},"status":"ok","gold":{"tool":"weather_now","args":{"city":"Rome"}}}
{"type":"task","task_id":"rome","pass":false,"judged":[{"judge":"j","pass":true}]}
no record
`

// as reads a request as a server gets it.
func as[T any](t testing.TB, text string) (req T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		t.Fatal(err)
	}
	return req
}

// TestTracesWithoutATerminal: trace files are scored, compared, held against gates, labelled and
// calibrated with by requests in JSON, under the names of a server.
func TestTracesWithoutATerminal(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, files := server(t, app.Permit{})
	for id, text := range map[string]string{
		"traces": traceText, "better": strings.ReplaceAll(strings.ReplaceAll(traceText, "Rom\"", "Rome\""),
			`"pass":false`, `"pass":true`),
		"gates": "- pass_rate >= 0.9\n",
	} {
		files.known[id] = id
		if err := os.WriteFile(filepath.Join(files.dir, id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var lines []callvet.Problem
	events := func(ev app.Event) {
		if ev.Lines != nil {
			lines = append(lines, ev.Lines.Problems...)
		}
	}
	s, err := traces.Score(ctx, a,
		as[traces.ScoreRequest](t, `{"traces": ["traces"], "outputs": ["report.md"], "slices": ["called_tool"]}`),
		events)
	if err != nil {
		t.Fatal(err)
	}
	if s.View.Steps != 2 || s.View.Tasks != 2 || s.View.Panels.Lost.Records() != 1 || len(lines) != 1 ||
		lines[0].Line != 5 || !strings.Contains(files.written["report.md"], "weather_now") {
		t.Errorf("steps %d, tasks %d, bad %d, told %v, report:\n%s", s.View.Steps, s.View.Tasks,
			s.View.Panels.Lost.Records(), lines, files.written["report.md"])
	}
	c, err := traces.Diff(ctx, a,
		as[traces.DiffRequest](t, `{"base": {"traces": "traces"}, "candidate": {"traces": "better"}}`),
		nil)
	if err != nil || len(c.Targets) != 1 || len(c.Targets[0].Changes) != 1 || c.Targets[0].Changes[0].Case != "rome" {
		t.Fatalf("changes: %+v (%v)", c, err)
	}
	g, err := traces.Gate(ctx, a,
		as[traces.GateRequest](t, `{"traces": "traces", "gates": "gates", "baseline": {"traces": "better"}}`), nil)
	if err != nil || g.Report.Verdict == gate.Pass || len(g.Look) != len(g.Report.Verdicts) ||
		g.Report.Baseline != "better" {
		t.Fatalf("gate: %+v (%v)", g, err)
	}
	for i, v := range g.Report.Verdicts {
		if len(g.Look[i]) != len(v.Open) {
			t.Errorf("%d actions for %d places", len(g.Look[i]), len(v.Open))
		}
		for _, p := range v.Open {
			if p.Command != "" {
				t.Errorf("a line for a shell: %s", p.Command)
			}
		}
	}
	var out strings.Builder
	imp, err := traces.OpenImport(ctx, a, as[traces.ImportRequest](t, `{"traces": "traces"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := imp.Do(&out)
	if err = errors.Join(err, imp.Close()); err != nil || res.Read.Attempts != 2 || res.Whole() ||
		strings.Count(out.String(), `"type":"task"`) != 2 {
		t.Errorf("imported %+v (%v):\n%s", res.Read, err, out.String())
	}
	if _, err := a.Check(as[app.CheckRequest](t, `{"traces": "traces"}`), nil); !errors.Is(err, callvet.ErrInvalid) ||
		!strings.Contains(err.Error(), "none of its 2 attempts") {
		t.Errorf("checked what has no gold of tasks: %v", err)
	}
	todo, err := runs.LabelNext(t.Context(), a,
		as[runs.LabelNextRequest](t,
			`{"traces": "traces", "n": 5, "strategy": "random", "role": "calibration", "by": "ana"}`), nil)
	if err != nil || len(todo) != 1 || todo[0].Label.TaskID != "rome" || len(todo[0].Shown.Steps) != 1 {
		t.Errorf("to label: %+v (%v)", todo, err)
	}
}

// TestTraceRequestsAreRefused: a mistake names its field, before anything is written.
func TestTraceRequestsAreRefused(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	files.known["traces"] = "blob"
	score := func(text string) error {
		_, err := traces.Score(t.Context(), a, as[traces.ScoreRequest](t, text), nil)
		return err
	}
	imported := func(text string) error {
		_, err := traces.OpenImport(t.Context(), a, as[traces.ImportRequest](t, text), nil)
		return err
	}
	held := func(text string) error {
		_, err := traces.Gate(t.Context(), a, as[traces.GateRequest](t, text), nil)
		return err
	}
	for _, c := range []struct {
		err   error
		field string
	}{
		{score(`{}`), "traces"},
		{score(`{"run": "last", "traces": ["traces"]}`), "traces"},
		{score(`{"traces": ["traces", "traces"]}`), "traces"},
		{score(`{"traces": ["traces"], "confidence": 1.5}`), "confidence"},
		{score(`{"traces": ["traces"], "outputs": ["traces"]}`), "outputs"},
		{score(`{"run": "last", "strict": true}`), "strict"},
		{score(`{"run": "last", "suite": "s"}`), "suite"},
		{score(`{"traces": ["traces"], "allow_exec": true}`), "allow_exec"},
		{imported(`{"traces": "traces", "keep": ["everything"]}`), "keep"},
		{imported(`{"traces": "-", "follow": true}`), "follow"},
		{held(`{}`), "run"},
		{held(`{"run": "last", "tools": ["traces"]}`), "tools"},
		{held(`{"traces": "traces", "policy": "kind"}`), "policy"},
		{held(`{"traces": "traces"}`), "gates"},
		{held(`{"traces": "traces", "baseline": {"run": "a", "traces": "b"}}`), "baseline"},
	} {
		var field *callvet.FieldError
		if !errors.As(c.err, &field) || field.Field != c.field || !errors.Is(c.err, callvet.ErrInvalid) {
			t.Errorf("%v is not about %s", c.err, c.field)
		}
	}
	if len(files.written) > 0 {
		t.Errorf("written: %v", files.written)
	}
}

// TestCalibrationTooLong: a file over the limit is refused as one, and not as bad JSON.
func TestCalibrationTooLong(t *testing.T) {
	t.Parallel()
	a, files := server(t, app.Permit{})
	put := func(id string, text []byte) {
		files.known[id] = id
		if err := os.WriteFile(filepath.Join(files.dir, id), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("traces", []byte(traceText))
	for size, kind := range map[int]error{
		labels.MaxCalibrationBytes:     callvet.ErrInvalid,
		labels.MaxCalibrationBytes + 1: callvet.ErrLimited,
	} {
		put("c", bytes.Repeat([]byte(" "), size))
		if _, err := traces.Score(t.Context(), a,
			as[traces.ScoreRequest](t, `{"traces": ["traces"], "calibrations": ["c"]}`),
			nil); !errors.Is(err, kind) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
