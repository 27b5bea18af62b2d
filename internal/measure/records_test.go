// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/mutate"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score/step"
)

// TestBadLines changes the lines of a trace file: the file is summed up, each line is a record or
// a lost one, and an attempt whose step cannot be read is no abstention.
func TestBadLines(t *testing.T) {
	t.Parallel()
	lines := [][]byte{
		[]byte(`{"task_id":"t","attempt":0,"target":"m","turn_id":0,"call_id":"c1","tool":"get_weather@v2","args":{"city":"Oslo"},"args_raw":"{\"city\":\"Oslo\"}","start_ms":1,"accept_time_ms":2,"result":{"t":3},"error":null,"latency_ms":{"queue":1,"exec":2},"status":"ok","env":"mock","guard":[{"rule":"size","action":"flag"}],"gold":{"needed":true,"tool":"get_weather","args":{"city":"Oslo"},"result_check":"t == 3"},"tags":["a"],"fields":{"lang":"en"}}`),
		[]byte(`{"type":"task","version":1,"task_id":"t","attempt":0,"target":"m","model":"x","goal":"g","outcome":"called","termination":"answered","finish_reason":"stop","notes":["n"],"tags":["a"],"fields":{"lang":"en"},"final_answer":"Cold.","usage":{"input_tokens":9,"output_tokens":4},"cost_usd":0.01,"wall_ms":12,"started":"2026-01-02T03:04:05Z","steps":1,"pass":true,"reward":1,"scored":{"scores":{"overall":1},"signs":[{"code":"T1"}]},"format":"PASS","requests":1,"judged":[{"judge":"j","pass":true}],"labels":[{"by":"p","pass":true}],"gold":{"steps":[{"tool":"get_weather"}]},"safety":[],"input":[{"role":"user","content":"Q"}],"conversation":[{"role":"assistant","call_ids":["c1"],"unreadable":[{"tool":"","id":"c0","args_raw":"null"}]},{"role":"tool","call_id":"c1"},{"role":"assistant","content":"Cold."}]}`),
	}
	count := mutate.Count(os.Getenv, 600)
	scorer, _ := step.New(step.Config{Tools: []callvet.Tool{{Name: "get_weather"}}})
	for i, line := range lines {
		for c := range mutate.Some(line, count/2, mutate.Huge(count), uint64(i)) {
			changed := [][]byte{lines[0], lines[1]}
			changed[i] = c.Text
			file := append(bytes.Join(changed, []byte("\n")), '\n')
			open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
			res, err := measure.Run(t.Context(), []measure.Source{{Name: "f", Open: open}}, measure.Config{Steps: steps.Config{}, Scorer: scorer})
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
