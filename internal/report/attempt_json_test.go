// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// TestAttemptJSON: every attempt is short, and what is left out is counted.
func TestAttemptJSON(t *testing.T) {
	t.Parallel()
	turns := func(n int, content string) (out []callvet.Turn) {
		for range n {
			out = append(out, callvet.Turn{Role: callvet.RoleAssistant, Content: content})
		}
		return out
	}
	var members []string
	for i := range 100 {
		members = append(members, fmt.Sprintf(`"member %d":[[{"a":%d}]]`, i, i))
	}
	wide := json.RawMessage("{" + strings.Join(members, ",") + "}")
	calls := make([]callvet.Call, 60)
	for i := range calls {
		calls[i] = callvet.Call{ID: fmt.Sprint("call ", i), Tool: strings.Repeat("tool", 40), Args: wide, Result: wide}
	}
	failed := callvet.Result{
		Verdict: callvet.VerdictFail, Class: "wrong_tool", Reason: "it is wrong",
		Scores: []callvet.Score{
			{Name: "arg_em", Scored: true},
			{Name: "format", Scored: true, Value: 1},
			{Name: "miss", Scored: true},
			{Name: "overall", Scored: true, Value: 0.5},
		},
	}
	for name, c := range map[string]struct {
		cell callvet.Cell
		has  []string
	}{
		"small": {callvet.Cell{Result: failed}, []string{
			`"scores":[{"name":"overall","value":0.5},{"name":"arg_em","value":0}]`, `"left_out":{"best scores":2}`,
		}},
		"a long text": {
			callvet.Cell{Result: failed, Trace: callvet.Trace{Turns: turns(1, strings.Repeat("å", 5000))}},
			[]string{"å… [9600 more bytes]"},
		},
		"many turns": {
			callvet.Cell{Result: failed, Trace: callvet.Trace{Turns: turns(1000, "some words")}},
			[]string{`"content":"some words"`, `"elements of lists":9`},
		},
		"wide calls": {
			callvet.Cell{
				Result: failed,
				Trace:  callvet.Trace{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: calls}}},
			},
			[]string{`"members of objects":`},
		},
		"long names": {callvet.Cell{Result: failed, Trace: callvet.Trace{
			Target: strings.Repeat("t", 9000),
			Notes:  []string{strings.Repeat("n", 9000)}, Model: strings.Repeat("m", 9000),
		}}, []string{"more bytes]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Row{Case: &callvet.Case{ID: "c1", Description: "of the suite"}, Cell: &c.cell}
			var b bytes.Buffer
			if err := AttemptJSON(&b, "model", r, false); err != nil {
				t.Fatal(err)
			}
			var back attemptJSON
			if err := json.Unmarshal(b.Bytes(), &back); err != nil {
				t.Fatalf("%v in %s", err, b.String())
			}
			if b.Len() > maxAttempt || back.Result.Verdict != callvet.VerdictFail || back.Case.ID != "c1" ||
				back.Target != "model" || strings.Contains(b.String(), "of the suite") {
				t.Errorf("%d bytes: %s", b.Len(), b.String())
			}
			for _, part := range c.has {
				if !strings.Contains(b.String(), part) {
					t.Errorf("no %s in %s", part, b.String())
				}
			}
			b.Reset()
			if err := AttemptJSON(&b, "model", r, true); err != nil || !strings.Contains(b.String(), "of the suite") {
				t.Errorf("all of it: %v, %.500s", err, b.String())
			}
		})
	}
}

// TestAttemptJSONLast: names that are too long for every limit leave the verdict.
func TestAttemptJSONLast(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	c := callvet.Cell{Result: callvet.Result{Verdict: callvet.VerdictFail}}
	args := strings.Repeat(`{"`+long[:80]+`":`, 60) + "1" + strings.Repeat("}", 60)
	c.Trace.Turns = []callvet.Turn{{Calls: []callvet.Call{{Tool: long, Args: json.RawMessage(args)}}}}
	var b bytes.Buffer
	if err := AttemptJSON(&b, long, Row{Case: &callvet.Case{ID: long}, Cell: &c}, false); err != nil {
		t.Fatal(err)
	}
	if b.Len() > maxAttempt || !strings.Contains(b.String(), `"verdict":"fail"`) || !strings.Contains(b.String(), `"turns":1`) {
		t.Errorf("%d bytes: %s", b.Len(), b.String())
	}
}
