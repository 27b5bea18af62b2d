// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func expanded(t *testing.T) *callvet.Suite {
	t.Helper()
	c := sweeper{
		Env:          &Env{Now: time.Now},
		SweepRequest: &SweepRequest{Distractors: []int{5, 1, 5}, Draws: 2, Seed: 1, MaxTools: 5},
		catalogue:    sweepSampleTools(), configurations: []Configuration{{Name: "base", Settings: Settings{K: 2}}},
	}
	made, err := c.expand(t.Context(),
		&callvet.Suite{
			Name: "s", SystemPrompt: "be brief", Tools: []callvet.Tool{{Name: "other"}},
			Cases: []callvet.Case{
				sweepAsk("1", "trains to Lund", "trains"), sweepAsk("2", "books by Strindberg", "books"),
				sweepAsk("3", "x", "no_such_tool"),
			},
		})
	if err != nil || !strings.Contains(made.Description, "1 left out") {
		t.Fatalf("%+v, %v", made, err)
	}
	return made
}

// Retrieved tools come best first and all of them in the catalog's order, and all are
// only given where they are not too many.
func TestExpand(t *testing.T) {
	t.Parallel()
	s := expanded(t)
	if len(s.Cases) != 2*2*(2+1) || s.SystemPrompt != "be brief" || len(s.Tools) != 8 {
		t.Fatalf("%d cases, %+v", len(s.Cases), s)
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		a, err := readAsked(c)
		if err != nil || !a.Present || a.Searched != a.Size+1 || a.Bytes == 0 {
			t.Errorf("%s: %+v %v", c.ID, a, err)
		}
		switch a.Given {
		case SweepRetrieved:
			if len(c.Tools) == 0 || len(c.Tools) > 2 || c.Tools[0].Name != c.Expect.Plans[0].Calls[0].Tools[0] {
				t.Errorf("%s: %v", c.ID, c.Tools)
			}
		default:
			at := -1
			for _, name := range c.ToolNames {
				next := slices.IndexFunc(s.Tools, func(t callvet.Tool) bool { return t.Name == name })
				if next <= at {
					t.Errorf("%s: %v is not in the order of the catalogue", c.ID, c.ToolNames)
				}
				at = next
			}
			if a.Size != 1 || len(c.ToolNames) != 2 {
				t.Errorf("%s: size %d, %v", c.ID, a.Size, c.ToolNames)
			}
		}
	}
	if !cmp.Equal(s, expanded(t)) {
		t.Error("another expansion of the same seed differs")
	}
}

// answered is a run of a model that calls the first tool it is given, of prompts that have
// 10 tokens and one for each two bytes of tools; its third attempt cannot be read, the
// fourth is an error.
func answered(s *callvet.Suite) *Answers {
	return &Answers{Targets: []string{"m"}, Attempts: func(yield func(Attempt, error) bool) {
		for i := range s.Cases {
			c := &s.Cases[i]
			a, _ := readAsked(c)
			name, cost := "trains", 0.25
			if len(c.Tools) > 0 {
				name = c.Tools[0].Name
			}
			cell := &callvet.Cell{Case: i, Result: callvet.Result{Verdict: callvet.VerdictFail}, Trace: callvet.Trace{
				Outcome: callvet.OutcomeCalled,
				Usage:   callvet.Usage{Known: true, InputTokens: 10 + a.Bytes/2, CostUSD: &cost},
				Turns:   []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: name}}}},
			}}
			switch i {
			case 2:
				cell.Trace.Outcome, cell.Trace.Turns = callvet.OutcomeUnparseable, nil
			case 3:
				cell.Result.Verdict = callvet.VerdictError
			}
			if !yield(Attempt{Case: c, Cell: cell}, nil) {
				return
			}
		}
	}}
}

func TestReadCurve(t *testing.T) {
	t.Parallel()
	c, err := CurveOf(answered(expanded(t)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Cases != 2 || len(c.Retrieval) != 2 || c.Retrieval[0].Distractors != 1 || c.Retrieval[1].Hit.Point != 1 ||
		!cmp.Equal(c.Skipped, []int{5}) || len(c.Models) != 1 {
		t.Fatalf("%+v", c)
	}
	m := c.Models[0]
	if !m.Measured || math.Abs(m.TokensPerByte-0.5) > 0.01 {
		t.Errorf("%v tokens a byte, measured %v", m.TokensPerByte, m.Measured)
	}
	type counts struct {
		Size                                          int
		Given                                         string
		Right, Missed, Wrong, Silent, Unreadable, Err int
	}
	var got []counts
	for _, p := range m.Points {
		got = append(got, counts{p.Distractors, p.Given, p.Hits, p.Missed, p.Wrong, p.Silent, p.Unreadable, p.Errors})
		if p.CostUSD == nil || *p.CostUSD != 0.25 || p.PromptTokens == nil ||
			math.Abs(*p.PromptTokens-10-p.ToolTokens) > 1 {
			t.Errorf("%+v", p)
		}
	}
	// Cases come size by size, case by case, draw by draw, retrieved before all.
	want := []counts{
		{1, "retrieved", 3, 0, 0, 0, 1, 0},
		{5, "retrieved", 4, 0, 0, 0, 0, 0},
		{1, "all", 1, 0, 2, 0, 0, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var pairs []string
	for _, p := range c.Pairs {
		pairs = append(pairs, p.Of+": "+p.Baseline+" → "+p.Candidate)
	}
	if diff := cmp.Diff([]string{
		"retrieval: + 1 → + 5", "m: all + 1 → retrieved + 1",
		"m: retrieved + 1 → retrieved + 5",
	}, pairs); diff != "" {
		t.Error(diff)
	}
	// draws 1 and, of the second case, both
	if d := c.Pairs[1].Change; d.Point != 0.5 || d.Clusters != 0 && d.Clusters != 2 {
		t.Errorf("%+v", d)
	}
	foreign := expanded(t)
	foreign.Cases[0].Fields = nil
	if _, err := CurveOf(answered(foreign)); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a run that is no curve: %v", err)
	}
}

// What mark writes readAsked reads, and a case that lacks any of it is none of a curve.
func TestAsked(t *testing.T) {
	t.Parallel()
	plan := []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{"b"}}}}}
	for _, want := range []askedCase{
		{Of: "1", Given: SweepRetrieved, Size: 10, Draw: 2, Searched: 11, Bytes: 300, Tools: 2, Present: true},
		{Of: "a/b", Given: AllRetrieved, Size: -1, Draw: 1, Searched: 80, Bytes: 9000, Tools: 1},
	} {
		c := callvet.Case{
			ID: want.id(), Fields: map[string]string{"kept": "x"}, Expect: callvet.Expect{Plans: plan},
			ToolNames: []string{"x"},
		}
		if want.Present {
			c.ToolNames, c.Tools = nil, []callvet.Tool{{Name: "x"}, {Name: "B"}}
		}
		want.mark(c.Fields)
		if got, err := readAsked(&c); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v\n%s", err, cmp.Diff(want, got))
		}
		for field, v := range c.Fields {
			delete(c.Fields, field)
			if _, err := readAsked(&c); errors.Is(err, callvet.ErrInvalid) == (field == "kept") {
				t.Errorf("without %s: %v", field, err)
			}
			c.Fields[field] = v
		}
	}
	if a, b := (&askedCase{Of: "1", Size: -1, Draw: 1, Given: AllRetrieved}).id(), "1/all/1/all"; a != b {
		t.Errorf("%s, want %s", a, b)
	}
}

// The slope is that within cases: how long the questions are does not count, and prompts that do
// not grow show nothing.
func TestPerByte(t *testing.T) {
	t.Parallel()
	s := slope{}
	for _, p := range [][3]float64{{0, 100, 50}, {0, 300, 110}, {1, 100, 5050}, {1, 500, 5170}} {
		s.add(string(rune('a'+int(p[0]))), p[1], p[2])
	}
	if v, ok := s.perByte(); !ok || math.Abs(v-0.3) > 1e-9 {
		t.Errorf("%v %v", v, ok)
	}
	for name, s := range map[string]slope{
		"none": {}, "one size": {"a": {{100, 30}, {100, 40}}},
		"shrinking": {"a": {{100, 40}, {200, 30}}},
	} {
		if v, ok := s.perByte(); ok || v != assumedPerByte {
			t.Errorf("%s: %v %v", name, v, ok)
		}
	}
}

// Three cases that all change are few, not certain; attempts that one side lacks do
// not count.
func TestChangeOfFew(t *testing.T) {
	t.Parallel()
	before, after := attempts{}, attempts{}
	for _, of := range []string{"a", "b", "c"} {
		before.add(of, 1, 0, true)
		after.add(of, 1, 0, false)
		after.add(of, 1, 1, true)
	}
	before.add("d", 1, 0, true)
	iv, p := after.change(before)
	if iv.Point != -1 || iv.Upper < -0.9 || math.Abs(p-0.125) > 1e-12 {
		t.Errorf("%+v, p %v", iv, p)
	}
}
