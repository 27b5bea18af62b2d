// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"errors"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/curve"
	"github.com/callvet/callvet/internal/report"
)

func expanded(t *testing.T) *callvet.Suite {
	t.Helper()
	c := SweepConfig{
		Catalogue: sampleTools(), Configurations: []Configuration{{Name: "base", Settings: Settings{K: 2}}}, Distractors: []int{5, 1, 5}, Draws: 2, Seed: 1, Now: time.Now,
	}
	x, err := c.Expand(t.Context(), &callvet.Suite{Name: "s", SystemPrompt: "be brief", Tools: []callvet.Tool{{Name: "other"}}, Cases: []callvet.Case{
		ask("1", "trains to Lund", "trains"), ask("2", "books by Strindberg", "books"), ask("3", "x", "no_such_tool"),
	}}, 5)
	if err != nil || x.LeftOut != 1 {
		t.Fatalf("%d left out, %v", x.LeftOut, err)
	}
	return x.Suite
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
		a, err := curve.Read(c)
		if err != nil || !a.Present || a.Searched != a.Size+1 || a.Bytes == 0 {
			t.Errorf("%s: %+v %v", c.ID, a, err)
		}
		switch a.Given {
		case curve.Retrieved:
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

// view is a run of a model that calls the first tool it is given, of prompts that have
// 10 tokens and one for each two bytes of tools; its third attempt cannot be read, the
// fourth is an error.
func view(s *callvet.Suite) *report.View {
	v := &report.View{Targets: []callvet.Target{{Name: "m"}}}
	v.Cells = func(...callvet.Verdict) iter.Seq2[report.Row, error] {
		return func(yield func(report.Row, error) bool) {
			for i := range s.Cases {
				c := &s.Cases[i]
				a, _ := curve.Read(c)
				name, cost := "trains", 0.25
				if len(c.Tools) > 0 {
					name = c.Tools[0].Name
				}
				cell := &callvet.Cell{Case: i, Result: callvet.Result{Verdict: callvet.VerdictFail}, Trace: callvet.Trace{
					Outcome: callvet.OutcomeCalled, Usage: callvet.Usage{Known: true, InputTokens: 10 + a.Bytes/2, CostUSD: &cost},
					Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: name}}}},
				}}
				switch i {
				case 2:
					cell.Trace.Outcome, cell.Trace.Turns = callvet.OutcomeUnparseable, nil
				case 3:
					cell.Result.Verdict = callvet.VerdictError
				}
				if !yield(report.Row{Case: c, Cell: cell}, nil) {
					return
				}
			}
		}
	}
	return v
}

func TestReadCurve(t *testing.T) {
	t.Parallel()
	c, err := curve.Of(view(expanded(t)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Cases != 2 || len(c.Retrieval) != 2 || c.Retrieval[0].Distractors != 1 || c.Retrieval[1].Hit.Point != 1 || !cmp.Equal(c.Skipped, []int{5}) || len(c.Models) != 1 {
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
		if p.CostUSD == nil || *p.CostUSD != 0.25 || p.PromptTokens == nil || math.Abs(*p.PromptTokens-10-p.ToolTokens) > 1 {
			t.Errorf("%+v", p)
		}
	}
	// Cases come size by size, case by case, draw by draw, retrieved before all.
	want := []counts{{1, "retrieved", 3, 0, 0, 0, 1, 0}, {5, "retrieved", 4, 0, 0, 0, 0, 0}, {1, "all", 1, 0, 2, 0, 0, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var pairs []string
	for _, p := range c.Pairs {
		pairs = append(pairs, p.Of+": "+p.Baseline+" → "+p.Candidate)
	}
	if diff := cmp.Diff([]string{"retrieval: + 1 → + 5", "m: all + 1 → retrieved + 1", "m: retrieved + 1 → retrieved + 5"}, pairs); diff != "" {
		t.Error(diff)
	}
	if d := c.Pairs[1].Change; d.Point != 0.5 || d.Clusters != 0 && d.Clusters != 2 { // draws 1 and, of the second case, both
		t.Errorf("%+v", d)
	}
	foreign := expanded(t)
	foreign.Cases[0].Fields = nil
	if _, err := curve.Of(view(foreign)); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("a run that is no curve: %v", err)
	}
}
