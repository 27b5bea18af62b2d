// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/labels"
)

func task(id string) labels.Key { return labels.Key{TaskID: id, Unit: labels.Task} }

// TestDrawGold: strata take turns, the draw is the seed's, and drawing in two steps is drawing at
// once.
func TestDrawGold(t *testing.T) {
	t.Parallel()
	strata := map[string][]labels.Key{"few": {task("f1"), task("f2")}, "many": {}}
	for i := range 40 {
		strata["many"] = append(strata["many"], task(fmt.Sprint("m", i)))
	}
	for seed := range uint64(5) {
		all := labels.DrawGold(strata, nil, 10, seed)
		few := 0
		for _, k := range all {
			if strings.HasPrefix(k.TaskID, "f") {
				few++
			}
		}
		if len(all) != 10 || few != 2 {
			t.Errorf("seed %d: %d drawn, %d of the small stratum", seed, len(all), few)
		}
		done := map[labels.Key]bool{}
		first := labels.DrawGold(strata, done, 4, seed)
		for _, k := range first {
			done[k] = true
		}
		if d := cmp.Diff(all, append(first, labels.DrawGold(strata, done, 6, seed)...)); d != "" {
			t.Errorf("seed %d, in two steps: %s", seed, d)
		}
	}
	if cmp.Equal(labels.DrawGold(strata, nil, 10, 1), labels.DrawGold(strata, nil, 10, 2)) {
		t.Error("two seeds draw the same")
	}
	if got := labels.DrawGold(strata, nil, 100, 1); len(got) != 42 {
		t.Errorf("of 42 tasks %d were drawn", len(got))
	}
	if got := labels.DrawGold(nil, nil, 3, 1); got != nil {
		t.Errorf("of none: %v", got)
	}
}

// TestAppendGold: what is shown is read again, whatever is in it, and what is there stays.
func TestAppendGold(t *testing.T) {
	t.Parallel()
	want := []labels.GoldTask{
		{
			Task: "plain", Goal: "Was ist's?",
			Turns: []labels.GoldTurn{{Called: []string{`a {"x":"it's"} -> "#: y"`}}, {}}, Answer: "- yes: no",
		},
		{
			Task: "odd \"id\"", Attempt: 2, Target: "m", Stratum: "language=pt-BR intent=", Of: 3,
			Goal: "line\nline\ttab \x1b[31m \u202e", Turns: []labels.GoldTurn{{}},
		},
	}
	first, err := labels.AppendGold("g.yaml", nil, want[:1])
	if err != nil {
		t.Fatal(err)
	}
	both, err := labels.AppendGold("g.yaml", first, want[1:])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(both), string(first)) || strings.ContainsAny(string(both), "\x1b\u202e") {
		t.Errorf("%q", both)
	}
	g, problems, err := labels.ReadGold("g.yaml", both)
	if err != nil || len(problems) > 0 || len(g.Tasks) != 2 {
		t.Fatalf("%v %v", err, problems)
	}
	for i := range want {
		got := g.Tasks[i]
		if !got.Open() || got.Key() != want[i].Key() || got.Goal != want[i].Goal || got.Answer != want[i].Answer ||
			got.Of != want[i].Of {
			t.Errorf("%+v, want %+v", got, want[i])
		}
		for j := range want[i].Turns {
			if d := cmp.Diff(want[i].Turns[j].Called, got.Turns[j].Called); d != "" {
				t.Error(d)
			}
		}
	}
	for _, text := range []string{
		"callvet_gold: 1\ntasks: []\n", `{"callvet_gold": 1, "tasks": []}`,
		"tasks:\n  - task: a\ncallvet_gold: 1\n", "callvet_gold: 2\ntasks:\n",
	} {
		if out, err := labels.AppendGold("g.yaml", []byte(text), want[:1]); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v\n%s", text, err, out)
		}
	}
}

// TestWriteGold: a sheet that is written again is the same sheet, whatever is filled in, blank or wrong in it.
func TestWriteGold(t *testing.T) {
	t.Parallel()
	yes, no, text, none := true, false, "it's \x1b 'so'", "none"
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tasks := []labels.GoldTask{
		{Task: "blank", Turns: []labels.GoldTurn{{}}},
		{Task: "proposed", Checked: &no, Edge: "no call", Turns: []labels.GoldTurn{
			{
				Called: []string{"a {}"}, Needed: &yes,
				Calls: []labels.GoldCall{
					{Tool: &text, Args: raw(`{"x":[1,"\u202e",null,{"y":1.50}]}`), Check: &none},
					{Tool: &text, Args: labels.AnyGold(), Check: &text},
				},
			},
			{Needed: &no},
		}},
		{
			Task: "checked", Checked: &yes, Budget: raw("2"), SafetyRules: raw(`["read_only","never b"]`),
			Note: "line\nline: #", Turns: []labels.GoldTurn{{Needed: &no}},
		},
		{
			Task: "half", Budget: raw("null"), SafetyRules: raw("[]"),
			Turns: []labels.GoldTurn{{Needed: &yes, Calls: []labels.GoldCall{{Tool: &text}}}},
		},
		{
			Task: "wrong", Checked: &yes, Budget: raw("-1"),
			Turns: []labels.GoldTurn{
				{Needed: &no, Calls: []labels.GoldCall{{Args: raw("[]")}}},
				{Needed: &yes},
				{Calls: []labels.GoldCall{{Check: &none}}},
			},
		},
	}
	first, err := labels.WriteGold(tasks)
	if err != nil {
		t.Fatal(err)
	}
	read, reported, err := labels.ReadGold("g.yaml", first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := labels.WriteGold(read.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(first), string(again)); d != "" {
		t.Errorf("written again (-first +again):\n%s", d)
	}
	asJSON, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	g, same, err := labels.ReadGold("g.json", asJSON)
	if err != nil {
		t.Fatal(err)
	}
	if third, err := labels.WriteGold(g.Tasks); err != nil || !bytes.Equal(first, third) || len(same) != len(reported) ||
		len(reported) == 0 {
		t.Errorf("by way of JSON: %v, %d problems, want %d\n%s", err, len(same), len(reported),
			cmp.Diff(string(first), string(third)))
	}
}

func TestReadGold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[{needed: false, calls: []}]":                                                       "",
		"[{needed: , calls: []}]":                                                            "",
		"[{needed: true, calls: [{tool: a, args: any, check: none}]}]":                       "",
		"[{needed: true, calls: [{tool: a, args: {}, check: x == 1}]}]":                      "",
		"[{needed: true, calls: []}]":                                                        "a call is needed, and none is there",
		"[{needed: true, calls: [{tool: '', args: {}, check: none}]}]":                       "tool is blank",
		"[{needed: true, calls: [{tool: a, args: , check: none}]}]":                          "args is blank",
		"[{needed: true, calls: [{tool: a, args: all, check: none}]}]":                       "args is no mapping",
		"[{needed: true, calls: [{tool: a, args: [], check: none}]}]":                        "args is no mapping",
		"[{needed: true, calls: [{tool: a, args: {}}]}]":                                     "check is blank",
		"[{needed: false, calls: [{tool: a, args: {}, check: none}]}]":                       "no call is needed, and there is one",
		"[{needed: , calls: [{tool: a}]}]":                                                   "needed is blank",
		"[{needed: true, calls: [{tool: a, args: {}, check: none}]}, {needed: , calls: []}]": "turn 2 of t: needed is blank",
	} {
		_, problems, err := labels.ReadGold("g.yaml",
			[]byte("callvet_gold: 1\ntasks:\n  - task: t\n    turns: "+text+"\n"))
		switch {
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "" && len(problems) > 0, want != "" &&
			(len(problems) != 1 || !strings.Contains(problems[0].Message, want) || problems[0].Position.Line != 4):
			t.Errorf("%s: %v", text, problems)
		}
	}
	for text, want := range map[string]string{
		"callvet_gold: 1\ntasks: [{task: a, turns: [{neded: true}]}]\n": "neded",
		"callvet_gold: 1\ntasks: [{task: a, turns: [{needed: 5}]}]\n":   "needed",
		"tasks: []\n": "callvet_gold", "callvet_gold: 3\n": "3 is not known", "{": "g.yaml:1",
	} {
		if _, _, err := labels.ReadGold("g.yaml", []byte(text)); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGoldLimits: what a task may take and do is asked, acts, and may not contradict its calls.
func TestGoldLimits(t *testing.T) {
	t.Parallel()
	zero, two := 0, 2
	for text, c := range map[string]struct {
		most  *int
		never []string
		safe  *callvet.Safety
		want  string
	}{
		`"budget": "any", "safety_rules": []`: {},
		`"note": "neither is asked"`:          {},
		`"budget": 2, "safety_rules": ["never b", "read_only", "confirm_writes", "deny_pii"]`: {
			most: &two, never: []string{"b"}, safe: &callvet.Safety{ReadOnly: true, ConfirmWrites: true, DenyPII: true},
		},
		`"budget": null`:              {want: "budget is blank"},
		`"safety_rules": null`:        {want: "safety_rules is blank"},
		`"budget": 0`:                 {most: &zero, want: "the budget is 0, and 1 calls are right"},
		`"budget": -1`:                {want: "budget is no number"},
		`"budget": 1.5`:               {want: "budget is no number"},
		`"budget": [1]`:               {want: "budget is no number"},
		`"safety_rules": "none"`:      {want: "safety_rules is no list"},
		`"safety_rules": ["never "]`:  {want: "no safety rule"},
		`"safety_rules": ["be kind"]`: {want: "no safety rule"},
		`"safety_rules": ["never a"]`: {
			never: []string{"a"},
			want:  "a is never to be called, and a call of it is right",
		},
	} {
		g, problems, err := labels.ReadGold("g.json",
			[]byte(
				`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"needed": true, "calls": [{"tool": "a", "args": {}, "check": "none"}]}], `+text+`}]}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.want == "" && len(problems) > 0 || c.want != "" &&
			(len(problems) != 1 || !strings.Contains(problems[0].Message, c.want)) {
			t.Errorf("%s: %v, want %q", text, problems, c.want)
		}
		most, _ := g.Tasks[0].MaxCalls()
		never, safe, _ := g.Tasks[0].Rules()
		if d := cmp.Diff([]any{c.most, c.never, c.safe}, []any{most, never, safe}); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

// TestGoldSchema: the published schema takes what is drawn and what is filled in, and refuses what
// reading refuses.
func TestGoldSchema(t *testing.T) {
	t.Parallel()
	schema, err := contract.Compile(labels.GoldSchema())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"called": ["a {}"], "needed": null, "calls": [{"tool": null, "args": null, "check": null}]}], "budget": null, "safety_rules": null, "note": ""}]}`: true,
		`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"needed": true, "calls": [{"tool": "a", "args": "any", "check": "x == 1"}]}], "budget": 3, "safety_rules": ["never b", "deny_pii"]}]}`:             true,
		`{"tasks": []}`: false,
		`{"callvet_gold": 1, "tasks": [{"turns": []}]}`:                                                            false,
		`{"callvet_gold": 1, "tasks": [{"task": "t", "neded": true}]}`:                                             false,
		`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"needed": "yes"}]}]}`:                              false,
		`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"needed": false}], "safety_rules": ["be kind"]}]}`: false,
		`{"callvet_gold": 1, "tasks": [{"task": "t", "turns": [{"needed": false}], "budget": "few"}]}`:             false,
	} {
		_, problems, err := labels.ReadGold("g.json", []byte(text))
		if got := conforms(schema, []byte(text)); got != want || (err == nil && len(problems) == 0) != want {
			t.Errorf("%s: schema %t, read %v %v", text, got, problems, err)
		}
	}
}

func FuzzReadGold(f *testing.F) {
	schema, err := contract.Compile(labels.GoldSchema())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(
		[]byte(
			`{"callvet_gold": 1, "tasks": [{"task": "a", "turns": [{"needed": false}], "budget": 1, "safety_rules": ["never b"]}]}`))
	f.Add(
		[]byte(
			"callvet_gold: 1\ntasks:\n  - task: a\n    turns: [{needed: true, calls: [{tool: a, args: {}, check: none}]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, problems, err := labels.ReadGold("g.yaml", data)
		if err != nil || len(problems) > 0 {
			return
		}
		if json.Valid(data) && !conforms(schema, data) {
			t.Fatalf("accepted against the schema: %s", data)
		}
		for i := range g.Tasks {
			for j := range g.Tasks[i].Turns {
				for _, c := range g.Tasks[i].Turns[j].Right() {
					if len(c.Tools) != 1 || c.Tools[0] == "" {
						t.Errorf("%+v", c)
					}
				}
			}
		}
	})
}
