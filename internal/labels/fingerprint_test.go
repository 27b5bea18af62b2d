// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/labels"
)

// TestFingerprint: what a person sees of an output is part of its fingerprint, and nothing else.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	type attempt struct {
		goal  string
		input []callvet.Turn
		trace callvet.Trace
	}
	made := func(change func(*attempt)) string {
		a := attempt{
			input: []callvet.Turn{
				{Role: callvet.RoleSystem, Content: "be brief"},
				{Role: callvet.RoleUser, Content: "weather of Oslo"},
			},
			trace: callvet.Trace{
				CaseID: "c", Target: "m", Answer: "rain",
				Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{
					{
						ID: "1", Tool: "weather", Args: json.RawMessage(`{"city": "Oslo", "days": 1.0}`),
						Result: json.RawMessage(`{"sky":"rain"}`), Status: callvet.StatusOK,
					},
				}}},
			},
		}
		change(&a)
		return labels.Fingerprint(a.goal, a.input, &a.trace)
	}
	call := func(a *attempt) *callvet.Call { return &a.trace.Turns[0].Calls[0] }
	first := made(func(*attempt) {})
	if len(first) != 64 || strings.Trim(first, "0123456789abcdef") != "" {
		t.Fatal(first)
	}
	for name, change := range map[string]func(*attempt){
		"target": func(a *attempt) { a.trace.Target = "n" }, "attempt": func(a *attempt) { a.trace.Repeat = 2 },
		"id":                    func(a *attempt) { call(a).ID = "x" },
		"system prompt":         func(a *attempt) { a.input[0].Content = "be long" },
		"time":                  func(a *attempt) { a.trace.WallMS = 9 },
		"form of the arguments": func(a *attempt) { call(a).Args = json.RawMessage(`{"days":1,"city":"\u004fslo"}`) },
	} {
		if made(change) != first {
			t.Errorf("%s: another fingerprint", name)
		}
	}
	for name, change := range map[string]func(*attempt){
		"task":     func(a *attempt) { a.trace.CaseID = "d" },
		"question": func(a *attempt) { a.input[1].Content = "weather of Rome" },
		"goal":     func(a *attempt) { a.goal = "weather" }, "tool": func(a *attempt) { call(a).Tool = "rain" },
		"version":    func(a *attempt) { call(a).Version = "2" },
		"arguments":  func(a *attempt) { call(a).Args = json.RawMessage(`{"city":"Rome","days":1}`) },
		"answer":     func(a *attempt) { a.trace.Answer = "sun" },
		"result":     func(a *attempt) { call(a).Result = json.RawMessage(`{"sky":"sun"}`) },
		"no result":  func(a *attempt) { call(a).Result = nil },
		"status":     func(a *attempt) { call(a).Status = callvet.StatusRejected },
		"error":      func(a *attempt) { call(a).Error = "no" },
		"unreadable": func(a *attempt) { call(a).Args, call(a).ArgsRaw = nil, `{"city"` },
		"calls":      func(a *attempt) { a.trace.Turns = nil },
	} {
		if made(change) == first {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
}

// TestFingerprintOfForms holds which records of one output have one fingerprint.
func TestFingerprintOfForms(t *testing.T) {
	t.Parallel()
	with := func(goal string, asked []string, args, raw string) string {
		var input []callvet.Turn
		for _, q := range asked {
			input = append(input, callvet.Turn{Role: callvet.RoleUser, Content: q})
		}
		c := callvet.Call{Tool: "weather", ArgsRaw: raw}
		if args != "" {
			c.Args = json.RawMessage(args)
		}
		return labels.Fingerprint(goal, input,
			&callvet.Trace{CaseID: "c", Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{c}}}})
	}
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"a goal and a question":           {with("rain?", nil, "{}", ""), with("", []string{"rain?"}, "{}", ""), true},
		"no question and an empty one":    {with("", nil, "{}", ""), with("", []string{""}, "{}", ""), false},
		"arguments and how they came":     {with("", nil, `{"a":1}`, ""), with("", nil, `{"a":1}`, `{"a": 1}`), true},
		"unreadable arguments":            {with("", nil, "", `{"a`), with("", nil, "", `{"b`), false},
		"no arguments and unreadable":     {with("", nil, "", ""), with("", nil, "", `{"b`), false},
		"unreadable and the text as JSON": {with("", nil, "", `x`), with("", nil, `"y"`, ""), false},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: the same is %t", name, !c.same)
		}
	}
}

// TestThings holds which labels are about one thing.
func TestThings(t *testing.T) {
	t.Parallel()
	key := labels.Key{TaskID: "a", Target: "m", Attempt: 2}
	other := key
	other.Target, other.Attempt = "n", 1
	if labels.ThingOf(key, "f") != labels.ThingOf(other, "f") || labels.ThingOf(key, "f") == labels.ThingOf(key, "g") {
		t.Error("an output is not one thing")
	}
	if labels.ThingOf(key, "") == labels.ThingOf(other, "") {
		t.Error("attempts of two targets are one thing, and nothing shows that they are the same")
	}
	unit := key
	unit.Unit = labels.Task
	if labels.ThingOf(key, "f") != labels.ThingOf(unit, "f") {
		t.Error("a label without a unit is not about the task")
	}
	if unit.Unit = labels.Call; labels.ThingOf(key, "f") == labels.ThingOf(unit, "f") {
		t.Error("a task and a call are one thing")
	}
}

// TestPerson: one person is one, however the name is written.
func TestPerson(t *testing.T) {
	t.Parallel()
	for a, b := range map[string]string{
		"ana": " ana\u00a0", "an\u200ba": "ana", "\ufeffana\u2060": "ana", "ｂｏ": "bo", "e\u0301ve": "\u00e9ve",
		"b\u00ado": "bo",
	} {
		if labels.Person(a) != labels.Person(b) {
			t.Errorf("%q and %q are two", a, b)
		}
	}
	if labels.Person("ana") == labels.Person("bo") || labels.Person("Ana") == labels.Person("ana") {
		t.Error("two are one")
	}
	ls, _ := labelsRead(t, `{"task_id":"a","by":"ana","pass":true}
{"task_id":"a","by":"an\u200ba","pass":false}`)
	if last, n := labels.Latest(ls); len(last) != 1 || *last[0].Pass || n.Changed != 1 {
		t.Errorf("%+v %+v", last, n)
	}
}
