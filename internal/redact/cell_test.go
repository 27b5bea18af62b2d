// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// attempt is an attempt at a case with an address and a test user's password, by a target that
// also says other values.
func attempt() (callvet.Case, callvet.Cell) {
	c := callvet.Case{
		ID: "c", Tags: []string{"ana@example.com"}, Fields: map[string]string{"user": "ana@example.com"},
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Mail ana@example.com, password: hunter2a"}},
		Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
			Tools: []string{"mail"},
			Args:  json.RawMessage(`{"to":"ana@example.com","password":"hunter2a","n":4111111111111111}`),
		}}}}},
	}
	got := json.RawMessage(
		`{"to":"bob@example.com","cc":"ana@example.com","password":"hunter9z","pin":"x","n":5500005555555559,"lat":59.4111111111111111}`)
	cell := callvet.Cell{
		Trace: callvet.Trace{
			CaseID: "c", Answer: "sent to bob@example.com",
			Turns: []callvet.Turn{{
				Role: callvet.RoleAssistant, Content: "ok",
				Calls: []callvet.Call{{ID: "4111111111111111", Tool: "mail", Args: got}},
			}},
			Exchanges: []callvet.Exchange{{
				Request:  json.RawMessage(`{"m":"Mail ana@example.com"}`),
				Response: "data: {\"a\":\"bob@ex\"}\n\ndata: {\"a\":\"ample.com\"}\n",
			}},
		},
		Result: callvet.Result{
			Verdict: callvet.VerdictFail,
			Reason:  `to expected "ana@example.com", got "bob@example.com"; password got "hunter9z"`,
			Scores:  []callvet.Score{{Name: "arguments", Value: 0.4, Scored: true, Reason: "hunter9z"}},
			Calls: []callvet.CallMatch{{
				WantArgs: c.Expect.Plans[0].Calls[0].Args, GotArgs: got,
				Args: []callvet.ArgDiff{
					{
						Path: "to", Expected: json.RawMessage(`"ana@example.com"`),
						Actual: json.RawMessage(`"bob@example.com"`),
					},
					{Path: "password", Expected: json.RawMessage(`"hunter2a"`), Actual: json.RawMessage(`"hunter9z"`)},
					{Path: "lat", Actual: json.RawMessage(`59.4111111111111111`)},
				},
				Violations: []callvet.Violation{
					{
						Path: "/password", Keyword: "enum", Expected: "geheim",
						Actual: "hunter9z", Message: "hunter9z is not geheim",
					},
					{Path: "/to", Keyword: "maxLength", Message: "bob@example.com is too long"},
				},
			}},
			Assertions: []callvet.Assertion{{
				Name: "answer contains", Expected: "ana@example.com",
				Actual: "sent to bob@example.com",
			}},
		},
	}
	return c, cell
}

// TestCell: received values are removed, values of the case stay; verdict and figures do not
// change.
func TestCell(t *testing.T) {
	t.Parallel()
	c, cell := attempt()
	before, err := json.Marshal([]any{c, cell})
	if err != nil {
		t.Fatal(err)
	}
	of, kept := attempt()
	r := newRedactor(t, Config{Values: []string{"ana@example.com-not"}})
	if !r.Cell(&of, nil, &kept) {
		t.Error("nothing was said to have changed")
	}
	all, err := json.Marshal([]any{kept, kept.Trace.Exchanges})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"bob@example.com", "hunter9z", "5500005555555559", "ample.com\\\"}\\n", "geheim"} {
		if strings.Contains(string(all), gone) {
			t.Errorf("%s is in %s", gone, all)
		}
	}
	for _, stays := range []string{
		"ana@example.com", "hunter2a", "4111111111111111", "59.4111111111111111",
		"[REDACTED:stream]", `expected \"ana@example.com\", got \"[REDACTED:email#2]\"`, `"pin":"x"`,
	} {
		if !strings.Contains(string(all), stays) {
			t.Errorf("%s is not in %s", stays, all)
		}
	}
	if kept.Result.Verdict != cell.Result.Verdict || kept.Result.Scores[0].Value != 0.4 {
		t.Error("the verdict changed")
	}
	if again, err := json.Marshal([]any{c, cell}); err != nil || string(again) != string(before) {
		t.Error("another attempt was changed")
	}
	// Text of the rest of the suite stays, too; a known secret never stays.
	of, kept = attempt()
	r = newRedactor(t, Config{Values: []string{"hunter2a"}})
	if r.Cell(&of, []byte(`{"mocks":["bob@example.com hunter9z 5500005555555559"]}`), &kept) {
		t.Error("what the suite says was taken out of the turns")
	}
	all, err = json.Marshal(kept)
	if err != nil || !strings.Contains(string(all), "bob@example.com") || strings.Contains(string(all), "hunter2a") {
		t.Errorf("%v: %s", err, all)
	}
	// What was kept is shown with the words that it has, and what the case says with others.
	of, kept = attempt()
	newRedactor(t, Config{}).Cell(&of, nil, &kept)
	if _, shown := newRedactor(t, Config{}).Row(&of,
		&kept); shown.Result.Reason != `to expected "[REDACTED:email]", got "[REDACTED:email#2]"; password got "[REDACTED:secret#2]"` {
		t.Errorf("shown: %s", shown.Result.Reason)
	}
	// Nothing to hide: no change is reported.
	of, kept = attempt()
	kept.Trace.Turns[0].Calls[0].Args, kept.Trace.Answer = of.Expect.Plans[0].Calls[0].Args, "done"
	if newRedactor(t, Config{}).Cell(&of, nil, &kept) {
		t.Errorf("what the case says was taken out: %+v", kept.Trace)
	}
}

func TestReplaceApart(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"card 4111111111111111, lat 59.4111111111111111": "card X, lat 59.4111111111111111",
		"4111111111111111.": "X.", "a4111111111111111b": "aXb", "14111111111111111": "14111111111111111",
		"4111111111111111.5":                "4111111111111111.5",
		"4111111111111111 4111111111111111": "X X", "": "",
	} {
		if got := replaceApart(s, "4111111111111111", "X"); got != want {
			t.Errorf("%q gives %q, want %q", s, got, want)
		}
	}
}

// TestRow: nothing that was found is shown, equal values have equal marks in the case and in
// its attempts, and a second look shows the same.
func TestRow(t *testing.T) {
	t.Parallel()
	c, cell := attempt()
	r := newRedactor(t, Config{})
	of, shown := r.Row(&c, &cell)
	all, err := json.Marshal([]any{of.Input, of.Expect, shown})
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{
		"bob@example.com", "ana@example.com", "hunter", "5500005555555559",
		`:4111111111111111`,
	} {
		if strings.Contains(string(all), gone) {
			t.Errorf("%s is in %s", gone, all)
		}
	}
	if d := cmp.Diff(`to expected "[REDACTED:email]", got "[REDACTED:email#2]"; password got "[REDACTED:secret#2]"`,
		shown.Result.Reason); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(`{"to":"[REDACTED:email]","password":"[REDACTED:secret]","n":9999999999999999}`,
		string(of.Expect.Plans[0].Calls[0].Args)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(
		`{"to":"[REDACTED:email#2]","cc":"[REDACTED:email]","password":"[REDACTED:secret#2]","pin":"x","n":9999999999999998,"lat":59.4111111111111111}`, string(shown.Trace.Calls()[0].Args)); d != "" {
		t.Error(d)
	}
	if of.ID != "c" || of.Tags[0] != "ana@example.com" || of.Fields["user"] != "ana@example.com" ||
		shown.Trace.Calls()[0].ID != "4111111111111111" {
		t.Errorf("what tells rows apart was changed: %+v", of)
	}
	of2, shown2 := r.Row(&c, &cell) // from memory
	of3, shown3 := newRedactor(t, Config{}).Row(&of, &shown)
	for i, other := range []any{[]any{of2, shown2}, []any{of3, shown3}} {
		if d := cmp.Diff([]any{of, shown}, other); d != "" {
			t.Errorf("look %d: %s", i, d)
		}
	}
}
