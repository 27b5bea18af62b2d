// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func TestSetAbstain(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]string{"0.25": "0.25", "5%": "5%", "2.5 %": "2.5%", "0": ""} {
		var s Settings
		if err := s.SetAbstain(v); err != nil || s.Refuses() != want || s.checkAbstain() != nil {
			t.Errorf("%q: %+v %v", v, s, err)
		}
	}
	for _, v := range []string{"", "x", "%", "0%", "NaN%", "1e-300%", "-1", "1", "100%", "-5%", "NaN"} {
		var s Settings
		if err := errors.Join(s.SetAbstain(v), s.checkAbstain()); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%q: %+v %v", v, s, err)
		}
	}
}

// The confidence of the questions of a suite stands in the target, and refuses about
// the share of them that was asked for.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	cat, cases := questions()
	tools, err := json.Marshal(Tools(cat))
	if err != nil {
		t.Fatal(err)
	}
	var reported strings.Builder
	e := &Env{
		Files: memory{"c.json": string(tools)}, Suite: suiteOf(&cases),
		Notify: func(n callvet.Notice) { reported.WriteString(n.Text + "\n") },
	}
	f := Search{Tools: "c.json", AbstainOn: "own.json", Settings: Settings{AbstainPercent: 20}}
	if err := e.calibrate(t.Context(), &f, "asked.json"); err != nil || f.Settings.AbstainPercent != 0 ||
		f.Settings.Abstain <= 0 {
		t.Fatalf("%+v %v", f.Settings, err)
	}
	for _, want := range []string{
		"20% of the questions of own.json (40)",
		"the very questions that are asked (42 cases)",
	} {
		if !strings.Contains(reported.String(), want) {
			t.Errorf("told %q, want %q", reported.String(), want)
		}
	}
	if n := shared(cases[3:7], cases[:5]); n != 2 {
		t.Errorf("%d of two shared cases", n)
	}
	twice, err := confidences(t.Context(), mustOptions(t, &f.Settings), cat, slices.Concat(cases, cases))
	if err != nil || len(twice) != 40 {
		t.Errorf("%d confidences of 40 questions that are there twice: %v", len(twice), err)
	}
	asked, err := confidences(t.Context(), mustOptions(t, &f.Settings), cat, cases)
	if err != nil {
		t.Fatal(err)
	}
	under := 0
	for _, c := range asked {
		if c < f.Settings.Abstain {
			under++
		}
	}
	if under > 8 {
		t.Errorf("%d of 40 are refused", under)
	}
	for name, bad := range map[string]Search{
		"few":       {Tools: "c.json", AbstainOn: "own.json", Settings: Settings{AbstainPercent: 1}},
		"no share":  {Tools: "c.json", AbstainOn: "own.json"},
		"no tools":  {AbstainOn: "own.json", Settings: Settings{AbstainPercent: 5}},
		"bigtool":   {Tools: "c.json", AbstainOn: "own.json", Settings: Settings{AbstainPercent: 5, Preset: "bigtool"}},
		"stdin":     {Tools: "c.json", AbstainOn: "-", Settings: Settings{AbstainPercent: 20}},
		"two kinds": {Tools: "c.json", AbstainOn: "own.json", Settings: Settings{AbstainPercent: 5, Abstain: 0.2}},
	} {
		if err := e.calibrate(t.Context(), &bad, ""); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without questions the catalog's examples are used; this one has none.
	s := Settings{AbstainPercent: 5}
	if _, _, err := (&Env{Now: time.Now}).Routed(t.Context(), cat, s, "x", nil); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("no examples: %v", err)
	}
}

// Questions of a route that needs no tool are given none.
func TestAbstainRoute(t *testing.T) {
	t.Parallel()
	s := Settings{AbstainRoutes: []string{"smalltalk"}}
	rules, err := retrieve.NewRules(
		retrieve.RouteSettings{
			Rules:   []retrieve.RouteRule{{Route: "smalltalk", Patterns: []string{"^hello"}}},
			Default: "action",
		})
	if err != nil {
		t.Fatal(err)
	}
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{{Tool: callvet.Tool{
		Name:        "trains",
		Description: "Answers questions about trains.",
	}}}}
	r, _, err := (&Env{Now: time.Now}).Routed(t.Context(), c, s, "x", rules)
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]int{"hello trains": 0, "trains": 1} {
		d, err := r.Decide(t.Context(), q)
		if err != nil || min(len(d.Tools), 1) != want || d.Abstained != (want == 0) {
			t.Errorf("%s: %+v %v", q, d, err)
		}
	}
	tools, err := json.Marshal(Tools(c))
	if err != nil {
		t.Fatal(err)
	}
	s.AbstainRoutes = []string{"chat"}
	if _, _, err := (&Env{Files: memory{"c.json": string(tools)}, Now: time.Now}).Open(t.Context(), "c.json",
		s); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a route that no rule leads to: %v", err)
	}
}

func mustOptions(t *testing.T, s *Settings) retrieve.Options {
	t.Helper()
	o, err := s.Options(&retrieve.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// questions are a catalogue of 40 tools with a question for each, and two that no tool answers.
func questions() (*retrieve.Catalogue, []callvet.Case) {
	c := &retrieve.Catalogue{}
	var cases []callvet.Case
	for i := range 40 {
		name, word := fmt.Sprint("t", i), strings.Repeat(string(rune('a'+i%20)), 3)+string(rune('w'+i/20))
		c.Entries = append(c.Entries, retrieve.Entry{Tool: callvet.Tool{Name: name, Description: word + " and more"}})
		cases = append(cases, ask(fmt.Sprint("c", i), word+" please", name))
	}
	return c, append(cases, ask("none", "hello"), ask("ghost", "x", "no_such_tool"))
}

func ask(id, text string, tools ...string) callvet.Case {
	return callvet.Case{
		ID: id, Input: []callvet.Turn{{Role: callvet.RoleUser, Content: text}},
		Expect: callvet.Expect{Selection: &callvet.Selection{Tools: tools}},
	}
}

func suiteOf(cases *[]callvet.Case) func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
	return func(context.Context, string, []callvet.Tool) (*callvet.Suite, error) {
		return &callvet.Suite{Cases: *cases}, nil
	}
}
