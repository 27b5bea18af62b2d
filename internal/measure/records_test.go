// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/mutate"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
)

// TestBadLines changes the lines of a trace file: the file is summed up, each line is a record or a
// lost one, and an attempt with an unreadable step is no abstention.
func TestBadLines(t *testing.T) {
	t.Parallel()
	lines := [][]byte{
		[]byte(
			`{"task_id":"t","attempt":0,"target":"m","turn_id":0,"call_id":"c1","tool":"get_weather@v2","args":{"city":"Oslo"},"args_raw":"{\"city\":\"Oslo\"}","start_ms":1,"accept_time_ms":2,"result":{"t":3},"error":null,"latency_ms":{"queue":1,"exec":2},"status":"ok","env":"mock","guard":[{"rule":"size","action":"flag"}],"gold":{"needed":true,"tool":"get_weather","args":{"city":"Oslo"},"result_check":"t == 3"},"tags":["a"],"fields":{"lang":"en"}}`),
		[]byte(
			`{"type":"task","version":1,"task_id":"t","attempt":0,"target":"m","model":"x","goal":"g","outcome":"called","termination":"answered","finish_reason":"stop","notes":["n"],"tags":["a"],"fields":{"lang":"en"},"final_answer":"Cold.","usage":{"input_tokens":9,"output_tokens":4},"cost_usd":0.01,"wall_ms":12,"started":"2026-01-02T03:04:05Z","steps":1,"pass":true,"reward":1,"scored":{"scores":{"overall":1},"signs":[{"code":"T1"}]},"format":"PASS","requests":1,"judged":[{"judge":"j","pass":true}],"labels":[{"by":"p","pass":true}],"gold":{"steps":[{"tool":"get_weather"}]},"safety":[],"input":[{"role":"user","content":"Q"}],"conversation":[{"role":"assistant","call_ids":["c1"],"unreadable":[{"tool":"","id":"c0","args_raw":"null"}]},{"role":"tool","call_id":"c1"},{"role":"assistant","content":"Cold."}]}`),
	}
	count := mutate.Count(os.Getenv, 600)
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: []callvet.Tool{{Name: "get_weather"}}})
	for i, line := range lines {
		for c := range mutate.Some(line, count/2, mutate.Huge(count), uint64(i)) {
			changed := [][]byte{lines[0], lines[1]}
			changed[i] = c.Text
			file := append(bytes.Join(changed, []byte("\n")), '\n')
			open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
			res, err := measure.Run(t.Context(), []measure.Source{{Name: "f", Open: open}},
				measure.Config{Steps: steps.Config{}, Scorer: scorer})
			if err != nil {
				t.Errorf("line %d, %s: %v", i+1, c.String(), err)
				continue
			}
			if res.Sheet.Panels() == nil || res.Log.Lines != 2 {
				t.Errorf("line %d, %s: %d lines", i+1, c.String(), res.Log.Lines)
			}
			r, err := trace.Open(bytes.NewReader(file), trace.Options{})
			if err != nil {
				t.Errorf("line %d, %s: %v", i+1, c.String(), err)
				continue
			}
			for a, err := range r.Attempts(trace.NewGrouper(0)) {
				if err != nil {
					t.Errorf("line %d, %s: %v", i+1, c.String(), err)
				}
				if i == 0 && a.Trace.Outcome == callvet.OutcomeAbstained {
					t.Errorf("line %d, %s: abstained", i+1, c.String())
				}
			}
		}
	}
}

// TestStepsTwice: two lines of one call count once where they are the same, and not at all where they
// contradict each other, with a judge of attempts and without one.
func TestStepsTwice(t *testing.T) {
	t.Parallel()
	const record = `{"type":"task","task_id":"t","pass":true}`
	const one, other, next = `{"task_id":"t","call_id":"a","tool":"f","status":"ok"}`,
		`{"task_id":"t","call_id":"a","tool":"f","status":"timeout"}`,
		`{"task_id":"t","call_id":"b","tool":"f","status":"ok"}`
	const corrects = `{"task_id":"t","call_id":"a","tool":"f","status":"timeout","corrects":true}`
	for name, tt := range map[string]struct {
		lines            []string
		calls, conflicts int
	}{
		"copies":          {[]string{one, one, next, record}, 2, 0},
		"a contradiction": {[]string{one, next, other, record}, 1, 1},
		"corrected":       {[]string{one, next, corrects, record}, 2, 0},
		"another turn":    {[]string{one, `{"task_id":"t","turn_id":3,` + one[len(`{"task_id":"t",`):], record}, 2, 0},
	} {
		for judged, judge := range map[string]func(*trace.Attempt) bool{
			"":        nil,
			"judged ": func(*trace.Attempt) bool { return false },
		} {
			scorer, _ := score.NewStepScorer(score.StepConfig{})
			open := func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(strings.Join(tt.lines, "\n") + "\n")), nil
			}
			res, err := measure.Run(t.Context(), []measure.Source{{Name: "f", Open: open}},
				measure.Config{Steps: steps.Config{}, Scorer: scorer, Attempts: judge})
			if err != nil {
				t.Fatal(err)
			}
			n, _ := res.Sheet.Conflicts()
			m := res.Sheet.Panels().Targets[0].Overall.Metric("execution_success")
			if m == nil || m.Interval.N != tt.calls || int(n) != tt.conflicts {
				t.Errorf("%s%s: %+v, %d conflicts", judged, name, m, n)
			}
		}
	}
}
