// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// nameless is an attempt with calls that name no tool between others, and turns of roles that
// the contract does not have.
func nameless() Attempt {
	return Attempt{Trace: callvet.Trace{CaseID: "a", Outcome: callvet.OutcomeUnparseable, Turns: []callvet.Turn{
		{Role: "critic", Content: "No."},
		{Role: callvet.RoleAssistant, Calls: []callvet.Call{
			{Tool: "f", Args: json.RawMessage(`{}`)},
			{ArgsRaw: "x"},
			{Tool: "g", Args: json.RawMessage(`{}`)},
			{ID: "y", ArgsRaw: "z"},
		}},
		{Role: "planner", Calls: []callvet.Call{{Tool: "h", Args: json.RawMessage(`{}`)}}},
	}}}
}

// read returns the attempts of a file.
func read(t *testing.T, text string) (all []Attempt) {
	t.Helper()
	r, err := Open(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for a, err := range r.Attempts(NewGrouper(0)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

func TestNamelessCallsInLines(t *testing.T) {
	t.Parallel()
	a := nameless()
	steps, task := a.Lines()
	var ids []string
	for i := range steps {
		ids = append(ids, steps[i].CallID+" "+steps[i].Tool)
	}
	want := []string{"a#0#1 f", "a#0#3 g", "a#1#1 h"}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
	if len(task.Conversation) != 2 || *task.Steps != 3 || task.Conversation[1].Role != callvet.RoleAssistant {
		t.Errorf("%d steps, %+v", *task.Steps, task.Conversation)
	}
	if d := cmp.Diff([]string{"a#0#1", "a#0#2", "a#0#3", "y"}, task.Conversation[0].CallIDs); d != "" {
		t.Error(d)
	}

	ids = nil
	for s := range a.Named {
		ids = append(ids, s.CallID+" "+s.Tool)
	}
	if d := cmp.Diff(want, ids); d != "" {
		t.Errorf("the steps alone: %s", d)
	}
	if n := a.Records(); n != int64(len(want)+1) {
		t.Errorf("%d records", n)
	}

	// Two calls of one message without a name may have one id, or none in the list of ids.
	back := join(steps, &task)
	var calls []string
	for _, c := range back.Trace.Calls() {
		calls = append(calls, c.ID+" "+c.Tool+c.ArgsRaw)
	}
	if d := cmp.Diff([]string{"a#0#1 f", "a#0#2 x", "a#0#3 g", "y z", "a#1#1 h"}, calls); d != "" {
		t.Errorf("read again: %s", d)
	}
	task.Conversation[0].CallIDs = []string{"a#0#3", "a#0#1"}
	back = join(steps, &task)
	calls = nil
	for _, c := range back.Trace.Turns[0].Calls {
		calls = append(calls, c.Tool+c.ArgsRaw)
	}
	if d := cmp.Diff([]string{"g", "f", "x", "z"}, calls); d != "" {
		t.Errorf("without their ids: %s", d)
	}
	if d := cmp.Diff([]int{1, 0, -1, -1, 2}, back.Order); d != "" {
		t.Error(d)
	}
}

// TestMissingSteps: a task record that counts calls without their lines is no abstention.
func TestMissingSteps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines string
		want  callvet.Outcome
	}{
		"none counted": {`{"type":"task","task_id":"a","steps":0}`, callvet.OutcomeAbstained},
		"counted":      {`{"type":"task","task_id":"a","steps":1}`, callvet.OutcomeError},
		"counted, and there": {`{"type":"step","task_id":"a","tool":"f","args":{}}` + "\n" +
			`{"type":"task","task_id":"a","steps":2}`, callvet.OutcomeCalled},
		"an id in a message": {`{"type":"task","task_id":"a","conversation":[{"role":"user"},{"role":"assistant","call_ids":["x"]}]}`, callvet.OutcomeError},
		"no id in a message": {`{"type":"task","task_id":"a","conversation":[{"role":"assistant","call_ids":[],"content":"Hi."}]}`, callvet.OutcomeAbstained},
		"counted, an outcome": {
			`{"type":"task","task_id":"a","steps":1,"outcome":"abstained"}`,
			callvet.OutcomeAbstained,
		},
		"counted, a fault": {
			`{"type":"task","task_id":"a","steps":1,"fault":{"kind":"timeout","message":"late"}}`,
			callvet.OutcomeError,
		},
		"only a step of no id": {`{"type":"step","task_id":"a","tool":"f","args":{}}`, callvet.OutcomeCalled},
	} {
		all := read(t, tt.lines+"\n")
		if len(all) != 1 || all[0].Trace.Outcome != tt.want {
			t.Errorf("%s: %+v, want %s", name, all, tt.want)
			continue
		}
		if f := all[0].Trace.Fault; name == "counted, a fault" && f.Kind != callvet.FaultTimeout {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestTimes: a time that no attempt can have is not known.
func TestTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ms            float64
		start, length bool
	}{
		{-1, false, false},
		{0, true, false},
		{1, true, true},
		{maxMS, true, true},
		{maxMS + 1, false, false},
		{math.NaN(), false, false},
		{math.Inf(1), false, false},
	} {
		if got := start(&tt.ms) != nil; got != tt.start {
			t.Errorf("start %v: %t", tt.ms, got)
		}
		if got := positive(tt.ms) != nil; got != tt.length {
			t.Errorf("length %v: %t", tt.ms, got)
		}
	}
	if start(nil) != nil {
		t.Error("no start became one")
	}
}

// TestUsageIsKnown where a record has any number of tokens.
func TestUsageIsKnown(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]bool{
		`{}`: false, `{"reasoning_tokens":0,"cached_tokens":0,"cache_write_tokens":0}`: false,
		`{"input_tokens":0}`: true, `{"output_tokens":0}`: true,
		`{"reasoning_tokens":1}`: true, `{"cached_tokens":1}`: true, `{"cache_write_tokens":1}`: true,
	} {
		var task Task
		if err := json.Unmarshal([]byte(`{"task_id":"a","usage":`+usage+`}`), &task); err != nil {
			t.Fatal(err)
		}
		a := task.attempt()
		if a.Trace.Usage.Known != want {
			t.Errorf("%s: %+v", usage, task.Usage)
		}
	}
}

// TestRepairsAreCounted: the first line is the one with the lowest number, whatever order the
// parts of a file come in.
func TestRepairsAreCounted(t *testing.T) {
	t.Parallel()
	var l Log
	l.Repairs(&Log{})
	l.Repair(7, value.NUL)
	l.Repair(3, value.Surrogate)
	l.Repair(5, value.NUL)
	if l.Repaired != 3 || l.RepairedFirst != 3 || l.Made != value.NUL|value.Surrogate {
		t.Errorf("%+v", l)
	}
}

// TestScoredValues keeps the scores that are shares, and notes a name that another tool's stood
// for.
func TestScoredValues(t *testing.T) {
	t.Parallel()
	r := &callvet.Result{
		Scores: []callvet.Score{
			{Name: "zero", Scored: true},
			{Name: "one", Scored: true, Value: 1},
			{Name: "over", Scored: true, Value: 1.5},
			{Name: "under", Scored: true, Value: -0.5},
			{Name: "nan", Scored: true, Value: math.NaN()},
			{Name: "none", Value: 1},
		},
		Calls: []callvet.CallMatch{
			{Want: []string{"get_time"}, Got: "Get_Time"},
			{Want: []string{"f"}, Got: "f"},
			{Want: []string{"f"}, Got: "F", Actual: -1},
		},
	}
	a := Attempt{Trace: callvet.Trace{Outcome: callvet.OutcomeError}}
	a.Annotate(&callvet.Case{}, &callvet.Target{}, r, &callvet.Scoring{})
	if d := cmp.Diff(map[string]float64{"zero": 0, "one": 1}, a.Scored.Scores); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{callvet.Misnamed("Get_Time", "get_time")}, a.Trace.Notes); d != "" {
		t.Error(d)
	}
}

// TestLongRole shortens the name of a role in a report.
func TestLongRole(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		strings.Repeat("x", 40): strings.Repeat("x", 40), strings.Repeat("x", 41): strings.Repeat("x", 40) + "…",
		strings.Repeat("x", 39) + "é": strings.Repeat("x", 39) + "…",
	} {
		var s Sink
		s.Give(
			Attempt{Trace: callvet.Trace{Turns: []callvet.Turn{
				{Role: callvet.Role(name)},
				{Role: callvet.RoleAssistant, Content: "Hi."},
			}}})
		if s.Lost[`a message of the role "`+want+`"`] != 1 {
			t.Errorf("%s: %v", name, s.Lost)
		}
	}
}
