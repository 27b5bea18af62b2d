// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// resolved sends combinations through a table like a provider's: the temperature is at most 1, and top_p is not
// sent with a temperature.
func resolved(t *testing.T, src string, over Combination) (base callvet.Target, all []Resolved) {
	t.Helper()
	s := readSpace(t, src)
	list, err := s.Combinations("m", over)
	if err != nil {
		t.Fatal(err)
	}
	send := func(c Combination) callvet.Target {
		target := callvet.Target{Model: "m", Params: c.Params, ToolChoice: c.ToolChoice}
		p := &target.Params
		note := func(param, action, from, to, why string) {
			a := callvet.Adjustment{Param: param, Action: action, From: from, To: to, Reason: why}
			target.Adjustments = append(target.Adjustments, a)
		}
		if p.Temperature != nil && *p.Temperature > 1 {
			one := 1.0
			note("temperature", "clamp", fmt.Sprint(*p.Temperature), "1", "allowed: 0 to 1")
			p.Temperature = &one
		}
		if p.TopP != nil && p.Temperature != nil {
			note("top_p", "drop", fmt.Sprint(*p.TopP), "", "temperature is kept")
			p.TopP = nil
		}
		note("max_tokens", "warn", "", "4096", "the API demands a limit")
		note("stop", "rename", "", "stop_sequences", "its name")
		return target
	}
	for _, c := range list {
		all = append(all, Resolved{Combination: c, Target: send(c)})
	}
	return send(over), all
}

func TestEachRequestIsAskedOnce(t *testing.T) {
	base, all := resolved(t, "params: {temperature: [null, 1, 1.5, 2], top_p: [null, 0.5]}", Combination{})
	m := Dedupe(base, all)
	var got []string
	for _, r := range m.Rows {
		line := fmt.Sprintf("%s %s", r.Values, r.Status)
		if r.Candidate != nil {
			line += fmt.Sprintf(" %d", *r.Candidate)
		}
		for _, a := range r.Adjustments {
			line += ", " + a.Param + " " + a.Action
		}
		if r.Why != "" {
			line += ": " + r.Why
		}
		got = append(got, line)
	}
	want := []string{
		"[null null] dropped 0: the same request as the base",
		"[null 0.5] kept 1",
		"[1 null] kept 2",
		"[1 0.5] dropped 2, top_p drop: the same request as candidate 2",
		"[1.5 null] dropped 2, temperature clamp: the same request as candidate 2",
		"[1.5 0.5] dropped 2, temperature clamp, top_p drop: the same request as candidate 2",
		"[2 null] dropped 2, temperature clamp: the same request as candidate 2",
		"[2 0.5] dropped 2, temperature clamp, top_p drop: the same request as candidate 2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if m.Kept != 2 || m.Clamped != 0 || m.Dropped != 6 || cmp.Diff([]int{1, 2}, m.Candidates) != "" {
		t.Errorf("%+v", m)
	}
	if got := fmt.Sprintf("%s",
		m.Points([]json.RawMessage{[]byte("7"), []byte("8")})); got != "[[7 8] [null 0.5] [1 null]]" {
		t.Error(got)
	}
}

func TestAClampedCombinationIsMarked(t *testing.T) {
	base, all := resolved(t, "params: {temperature: [0.5, 3]}", Combination{})
	m := Dedupe(base, all)
	if m.Rows[0].Status != StatusKept || m.Rows[1].Status != StatusClamped || m.Clamped != 1 {
		t.Errorf("%+v", m)
	}
	if text, _ := json.Marshal(m.Rows[1]); !strings.Contains(string(text), `"reason":"allowed: 0 to 1"`) {
		t.Errorf("no reason: %s", text)
	}
}

func TestARefusedCombinationIsDroppedWithItsReason(t *testing.T) {
	base, all := resolved(t, "extra: {model: [a, b], top_k: [1]}", Combination{})
	all[0].Refused = "model is set by callvet"
	m := Dedupe(base, all)
	if r := m.Rows[0]; r.Status != StatusDropped || r.Why != "model is set by callvet" || r.Candidate != nil {
		t.Errorf("%+v", r)
	}
	if m.Rows[1].Status != StatusKept {
		t.Errorf("%+v", m.Rows[1])
	}
}

func TestSpellingsOfOneExtraValueAreOneRequest(t *testing.T) {
	as := func(raw string) callvet.Target {
		return callvet.Target{Params: callvet.Params{Extra: map[string]json.RawMessage{"x": json.RawMessage(raw)}}}
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`20`, `20.0`, true},
		{`{"a": 1, "b": [2e0]}`, `{"b":[2],"a":1}`, true},
		{`20`, `21`, false},
		{`"20"`, `20`, false},
		{`9007199254740992`, `9007199254740993`, false},
		{`null`, `0`, false},
	} {
		a, b := as(tt.a), as(tt.b)
		if got := requestOf(&a) == requestOf(&b); got != tt.same {
			t.Errorf("%s and %s: the same request %v", tt.a, tt.b, got)
		}
	}
	named := callvet.Target{Name: "other", ToolChoice: "auto"}
	if requestOf(&named) != requestOf(&callvet.Target{ToolChoice: "auto"}) {
		t.Error("a name makes another request")
	}
	if requestOf(&named) == requestOf(&callvet.Target{ToolChoice: "required"}) {
		t.Error("the tool choice is not part of the request")
	}
}
