// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestStepsTwice: copies of a step count once, a contradiction or a step that cannot be read leaves
// the attempt unknown, and the id of a call may come again in another turn.
func TestStepsTwice(t *testing.T) {
	t.Parallel()
	const record = `{"type":"task","task_id":"t","pass":true,"final_answer":"Done."}`
	step := func(turn int, id, more string) string {
		return fmt.Sprintf(`{"task_id":"t","turn_id":%d,"call_id":%q,"tool":"f"%s}`, turn, id, more)
	}
	type outcome struct {
		Outcomes, Calls      string
		Copies, Contradicted int64
	}
	for name, tt := range map[string]struct {
		lines []string
		want  outcome
	}{
		"one":                  {[]string{step(0, "c", ""), record}, outcome{"called", "1", 0, 0}},
		"a copy":               {[]string{step(0, "c", ""), step(0, "c", ""), record}, outcome{"called", "1", 1, 0}},
		"a copy, spelled anew": {[]string{step(0, "c", ""), step(0, "c", ` `), record}, outcome{"called", "1", 1, 0}},
		"all delivered twice": {
			[]string{step(0, "c", ""), record, step(0, "c", ""), record},
			outcome{"called", "1", 1, 0},
		},
		"without ids":            {[]string{step(0, "", ""), step(0, "", ""), record}, outcome{"called", "2", 0, 0}},
		"the id in another turn": {[]string{step(0, "c", ""), step(1, "c", ""), record}, outcome{"called", "2", 0, 0}},
		"a contradiction": {[]string{
			step(0, "c", ""), step(0, "c", `,"args":{"a":1}`), step(0, "d", ""),
			record,
		}, outcome{"error", "1", 0, 1}},
		"a copy of one of them": {[]string{
			step(0, "c", ""), step(0, "c", `,"args":{"a":1}`), step(0, "c", ""),
			record,
		}, outcome{"error", "0", 1, 1}},
		"corrected": {[]string{
			step(0, "c", ""), step(0, "c", `,"args":{"a":1},"corrects":true`),
			step(0, "d", ""), record,
		}, outcome{"called", "2", 0, 0}},
		"a step without a tool": {
			[]string{`{"task_id":"t","call_id":"c","args":{}}`, record},
			outcome{"error", "0", 0, 0},
		},
		"a tool of another type": {
			[]string{`{"task_id":"t","call_id":"c","tool":7}`, record},
			outcome{"error", "0", 0, 0},
		},
		"one of two": {
			[]string{step(0, "c", ""), `{"task_id":"t","call_id":"d","tool":null}`, record},
			outcome{"called", "1", 0, 0},
		},
		"of another task": {
			[]string{`{"task_id":"u","call_id":"c","tool":null}`, record},
			outcome{"abstained", "0", 0, 0},
		},
		"of another attempt": {
			[]string{`{"task_id":"t","attempt":1,"call_id":"c","tool":null}`, record},
			outcome{"abstained", "0", 0, 0},
		},
		"not a step": {
			[]string{`{"type":"task","task_id":"t","pass":7}`, record},
			outcome{"abstained", "0", 0, 0},
		},
		"with an outcome": {[]string{
			`{"task_id":"t","call_id":"c","tool":null}`,
			strings.Replace(record, `"pass"`, `"outcome":"unparseable","pass"`, 1),
		}, outcome{"unparseable", "0", 0, 0}},
	} {
		r, err := Open(strings.NewReader(strings.Join(tt.lines, "\n")+"\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := NewGrouper(0)
		var outcomes, calls []string
		for a, err := range r.Attempts(g) {
			if err != nil {
				t.Fatal(err)
			}
			outcomes, calls = append(outcomes, string(a.Trace.Outcome)), append(calls, fmt.Sprint(len(a.Trace.Calls())))
			if broken := a.Trace.Outcome == callvet.OutcomeError; broken == (a.Pass != nil) {
				t.Errorf("%s: an attempt of which nothing is known has a verdict, or another has none", name)
			}
		}
		got := outcome{strings.Join(outcomes, " "), strings.Join(calls, " "), g.Copies, g.Contradicted}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestOneIDTwice: two calls of a turn with one id are written as two calls.
func TestOneIDTwice(t *testing.T) {
	t.Parallel()
	a := Attempt{Trace: callvet.Trace{
		CaseID: "t",
		Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{ID: "c", Tool: "f"}, {ID: "c", Tool: "g"},
		}}},
	}}
	var out strings.Builder
	w := NewWriter(&out)
	if err := w.Attempt(&a); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(strings.NewReader(out.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for a, err := range r.Attempts(NewGrouper(0)) {
		if err != nil {
			t.Fatal(err)
		}
		if calls := a.Trace.Calls(); len(calls) != 2 || calls[0].Tool != "f" || calls[1].Tool != "g" ||
			calls[1].ID != "c#2" {
			t.Errorf("%+v", calls)
		}
	}
}
