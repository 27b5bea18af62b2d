// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet/panel/steps"
)

// TestMissingStepLines: an attempt with fewer step lines than its record counts made calls that are
// not known. It is lost where calls are counted, and keeps the verdict of its record.
func TestMissingStepLines(t *testing.T) {
	t.Parallel()
	const whole = `{"task_id":"%[1]d","call_id":"c","tool":"a","args":{},"status":"ok","result":1}` + "\n" +
		`{"type":"task","task_id":"%[1]d","outcome":"called","steps":1,"pass":true,"safety":[],` +
		`"gold":{"steps":[{"tool":"a"}]}}`
	const corrected = `{"task_id":"9","call_id":"c","tool":"a","args":{},"status":"timeout"}` + "\n" +
		`{"task_id":"9","call_id":"c","tool":"a","args":{},"status":"ok","corrects":true}` + "\n" +
		`{"type":"task","task_id":"9","outcome":"called","steps":2,"pass":true,"safety":[]}`
	for name, tc := range map[string]struct {
		lines string
		torn  int
		calls string // calls_per_attempt and its attempts
		lost  string // of safety_incidents, miss_rate, pass_rate
	}{
		"called, and no line": {
			`{"type":"task","task_id":"9","outcome":"called","pass":true,"safety":[]}`, 1, "1 4", "1/5 1/5 0/5",
		},
		"three announced, one line": {
			`{"task_id":"9","call_id":"c","tool":"a","args":{},"status":"ok"}` + "\n" +
				`{"type":"task","task_id":"9","steps":3,"pass":true,"gold":{"steps":[{"tool":"b"}]}}`,
			1, "1 4", "1/5 1/5 0/5",
		},
		"all lines":                        {fmt.Sprintf(whole, 9), 0, "1 5", "0/5 0/5 0/5"},
		"a line that another one corrects": {corrected, 0, "1 5", "0/5 0/5 0/5"},
		"no outcome, and no line":          {`{"type":"task","task_id":"9","pass":true}`, 0, "0.8 5", "0/5 0/5 0/5"},
		"an error": {
			`{"type":"task","task_id":"9","outcome":"error","steps":3}`, 0, "1 4", "1/5 1/5 1/5",
		},
		"not run": {
			`{"type":"task","task_id":"9","outcome":"not_run"}`, 0, "1 4", "1/5 1/5 1/5",
		},
		"skipped": {
			`{"type":"task","task_id":"9","outcome":"not_run","skipped":true}`, 0, "1 4", "0/4 0/4 0/4",
		},
		"skipped, without an outcome": {`{"type":"task","task_id":"9","skipped":true}`, 0, "1 4", "0/4 0/4 0/4"},
		"skipped, with a call: it ran": {
			`{"task_id":"9","call_id":"c","tool":"a","args":{},"status":"ok"}` + "\n" +
				`{"type":"task","task_id":"9","skipped":true}`, 0, "1 4", "1/5 1/5 1/5",
		},
		"skipped, with a verdict: it ran": {
			`{"type":"task","task_id":"9","skipped":true,"pass":false}`, 0, "0.8 5", "0/5 0/5 0/5",
		},
		"a router's decision": {
			`{"type":"task","task_id":"9","outcome":"called","pass":true,"decision":{"tools":[{"id":"a"}]}}`,
			0, "0.8 5", "0/5 0/5 0/5",
		},
	} {
		var b strings.Builder
		for i := range 4 {
			fmt.Fprintf(&b, whole+"\n", i)
		}
		b.WriteString(tc.lines + "\n")
		all := run(t, steps.Config{}, 2, 4000, b.String()).Sheet.Panels().Targets[0].Overall
		m := all.Metric("calls_per_attempt").Interval
		if got := fmt.Sprint(m.Point, " ", m.N); got != tc.calls || all.Torn != tc.torn {
			t.Errorf("%s: %d torn, %s calls per attempt, want %d and %s", name, all.Torn, got, tc.torn, tc.calls)
		}
		var lost []string
		for _, metric := range []string{"safety_incidents", "miss_rate", "pass_rate"} {
			n, of := all.Lost(metric, 0)
			lost = append(lost, fmt.Sprintf("%d/%d", n, of))
		}
		if got := strings.Join(lost, " "); got != tc.lost {
			t.Errorf("%s: lost are %s, want %s", name, got, tc.lost)
		}
		if miss := all.Metric("miss_rate"); miss == nil || miss.Interval.Point != 0 {
			t.Errorf("%s: a call of a missing line counts as not made: %+v", name, miss)
		}
	}
}
