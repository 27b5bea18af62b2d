// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel/steps"
)

// TestSlicesByExpectedTool: a task is in the slice of each tool that it expects with all its attempts
// and calls, whichever line names the tool; a call is in the slice of the tool that it calls.
func TestSlicesByExpectedTool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines []string
		want  string // slice: tasks, attempts, passed and failed, calls
	}{
		"a record names the tools, and an attempt calls nothing": {
			[]string{
				`{"type":"task","task_id":"1","attempt":0,"pass":false,"gold":{"steps":[{"tool":"a@v2"}]}}`,
				`{"task_id":"2","attempt":0,"tool":"b","args":{},"status":"ok"}`,
				`{"type":"task","task_id":"2","attempt":0,"pass":true,"expected_tools":["a","b"],"gold":{"steps":[{"tool":"c"}]}}`,
			},
			"expected_tool=a 2 2 1/1 1; expected_tool=b 1 1 1/0 1; called_tool=b 1 1 1/0 1",
		},
		"a label of a call names it for all attempts": {
			[]string{
				`{"task_id":"1","attempt":0,"call_id":"x","tool":"b","args":{},"status":"ok","gold":{"needed":true,"tool":"a"}}`,
				`{"type":"task","task_id":"1","attempt":0,"pass":true}`,
				`{"type":"task","task_id":"1","attempt":1,"pass":false}`,
				`{"type":"task","task_id":"2","attempt":0,"pass":false}`,
			},
			"expected_tool=a 1 2 1/1 1; called_tool=b 1 2 1/1 1",
		},
		"two labels, and a call that was not needed": {
			[]string{
				`{"task_id":"1","attempt":0,"call_id":"x","tool":"a","args":{},"status":"ok","gold":{"needed":true,"tool":"a"}}`,
				`{"task_id":"1","attempt":0,"call_id":"y","tool":"a","args":{},"status":"ok","gold":{"needed":true,"tool":"b"}}`,
				`{"task_id":"1","attempt":0,"call_id":"z","tool":"a","args":{},"status":"ok","gold":{"needed":false,"tool":"c"}}`,
			},
			"expected_tool=a 1 1 0/0 3; expected_tool=b 1 1 0/0 3; called_tool=a 1 1 0/0 3",
		},
		"calls of the user are not expected of the target": {
			[]string{`{"type":"task","task_id":"1","attempt":0,"pass":true,"gold":{"steps":[{"tool":"a","by":"user"}]}}`},
			"",
		},
	} {
		res := run(t, steps.Config{SliceBy: []string{"expected_tool", "called_tool"}}, 2, 4000,
			strings.Join(tt.lines, "\n")+"\n")
		var got []string
		for _, s := range res.Sheet.Panels().Targets[0].Slices {
			calls := 0
			if m := s.Metric("execution_success"); m != nil {
				calls = m.Interval.N
			}
			got = append(got, fmt.Sprintf("%s=%s %d %d %d/%d %d", s.Key, s.Value, s.Cases, s.Cells, s.Verdicts.Pass,
				s.Verdicts.Fail, calls))
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "; ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
