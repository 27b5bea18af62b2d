// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/steps"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
)

// panelsOf sums the cells of a run up.
func panelsOf(targets []callvet.Target, tools []callvet.Tool, cases []callvet.Case,
	cells []callvet.Cell,
) *panel.Panels {
	set := steps.Config{Tools: tools, Catalogue: len(tools) > 0}
	for i := range targets {
		set.Targets = append(set.Targets, targets[i].Name)
	}
	scorer, _ := score.NewStepScorer(score.StepConfig{Tools: tools})
	source := measure.Source{Name: "run", Attempts: measure.Cells(func(yield func(measure.Row, error) bool) {
		for i := range cells {
			if !yield(measure.Row{Case: &cases[cells[i].Case], Cell: &cells[i]}, nil) {
				return
			}
		}
	}, targets, &callvet.Scoring{})}
	res, err := measure.Run(context.Background(), []measure.Source{source}, measure.Config{Steps: set, Scorer: scorer})
	if err != nil {
		panic(err) // cells of tests can be read
	}
	return res.Sheet.Panels()
}

// suite makes 20 cases; the first ten have the tag hard; decide returns the tools and the route of
// each.
func section(t *testing.T, decide func(i int) callvet.Decision) panel.RoutingTarget {
	t.Helper()
	cases := make([]callvet.Case, 20)
	for i := range cases {
		c := &cases[i]
		*c = callvet.Case{
			ID: fmt.Sprint(i), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "q"}},
			Expect: callvet.Expect{Selection: &callvet.Selection{Route: "a", Tools: []string{"x"}}},
			Tags:   []string{"all"},
		}
		if i < 10 {
			c.Tags = append(c.Tags, "hard", "hard") // written twice, counted once
		}
		if i == 19 {
			c.Tags = append(c.Tags, "lone")
		}
	}
	var cells []callvet.Cell
	var col panel.RoutingCollector
	for i := range cases {
		d := decide(i)
		d.Layers = []callvet.LayerTime{
			{Layer: callvet.SelectRoute, MS: 1},
			{Layer: callvet.SelectTools, MS: float64(i + 1)},
		}
		cell := callvet.Cell{
			Case: i, Trace: callvet.Trace{CaseID: cases[i].ID, Decision: &d, WallMS: 900},
			Result: score.JudgeSelection(cases[i].Expect.Selection, &d, score.SelectionDefaults()),
		}
		cell.Trace.Classify("")
		cells = append(cells, cell)
		col.Add(&cases[i], &cell)
	}
	s := col.Section(panelsOf([]callvet.Target{{Name: "r", Selects: true}}, nil, cases, cells))
	if s == nil || len(s.Targets) != 1 {
		t.Fatalf("%+v", s)
	}
	return s.Targets[0]
}

func TestSection(t *testing.T) {
	t.Parallel()
	got := section(t, func(i int) callvet.Decision {
		d := callvet.Decision{Route: "a", Tools: []callvet.Ranked{{Tool: "x"}, {Tool: "y"}}}
		if i < 6 { // all of them hard
			d.Tools = d.Tools[1:]
		}
		if i < 2 {
			d.Route = "b"
		}
		return d
	})
	if got.Cases != 20 || got.Failures != 6 || len(got.Failed) != 6 || got.Unequal != 14 {
		t.Errorf("%d cases, %d failures, %d unequal", got.Cases, got.Failures, got.Unequal)
	}
	if diff := cmp.Diff([]panel.Count{
		{Name: "exact"},
		{Name: "acceptable"},
		{Name: "partial", N: 14},
		{Name: "none", N: 6},
	}, got.Matches); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]panel.Count{{Name: "wrong_route", N: 2}, {Name: "wrong_selection", N: 4}},
		got.FirstWrong); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]panel.Count{{Name: "route", N: 2}, {Name: "tools", N: 4}}, got.ToolMisses); diff != "" {
		t.Error(diff)
	}
	if len(got.Layers) != 2 || got.Layers[1].Metric.Interval.Point != 0.7 || got.Layers[1].P50.Point < 10 ||
		got.Layers[1].P50.Point > 11 {
		t.Errorf("layers %+v", got.Layers)
	}
	// The tag of every case and that of one case are no patterns.
	p := stats.Fisher(6, 10, 0, 10)
	want := []panel.RoutingPattern{{Tag: "hard", Failed: 6, Of: 10, Rest: 10, Lift: 2, P: p, Adjusted: p}}
	if diff := cmp.Diff(want, got.Patterns); diff != "" {
		t.Error(diff)
	}
	var codes []string
	for _, r := range got.Recommendations {
		codes = append(codes, r.Code)
		if r.Evidence == "" || r.Text == "" {
			t.Errorf("%+v", r)
		}
	}
	// 70 % first tools are not under 70 %, 90 % routes not under 80 %
	if diff := cmp.Diff([]string{"set-size", "latency", "tag"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestNothingWrong(t *testing.T) {
	t.Parallel()
	got := section(t, func(int) callvet.Decision {
		return callvet.Decision{Route: "a", Tools: []callvet.Ranked{{Tool: "x"}}}
	})
	// latency
	if got.Failures != 0 || got.Patterns != nil || got.FirstWrong != nil || got.Unequal != 0 ||
		len(got.Recommendations) != 1 {
		t.Errorf("%+v", got)
	}
	if !math.IsInf(got.Layers[0].P50.Upper, 1) && got.Layers[0].P50.Point != 1 {
		t.Errorf("%+v", got.Layers[0].P50)
	}
	var none panel.RoutingCollector
	if none.Section(&panel.Panels{}) != nil {
		t.Error("a run without decisions has a section")
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	got := section(t, func(i int) callvet.Decision {
		d := callvet.Decision{Route: "b", Tools: []callvet.Ranked{{Tool: "y"}}}
		if i == 0 {
			d = callvet.Decision{Route: "a", Tools: []callvet.Ranked{{Tool: "x"}}}
		}
		return d
	})
	certain := map[string]bool{}
	for _, r := range got.Recommendations {
		certain[r.Code] = r.Certain
		if r.Counted {
			t.Errorf("%+v is no count", r)
		}
	}
	if diff := cmp.Diff(map[string]bool{"routes": true, "tools": true, "latency": true}, certain); diff != "" {
		t.Error(diff)
	}
}

// collect judges decisions as they are, with so many attempts a case.
func collect(t *testing.T, col *panel.RoutingCollector, attempts int,
	decide func(i, repeat int) callvet.Decision,
) panel.RoutingTarget {
	t.Helper()
	cases := make([]callvet.Case, 4)
	for i := range cases {
		cases[i] = callvet.Case{
			ID:     fmt.Sprint(i),
			Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"x"}}},
			Tags:   []string{fmt.Sprint("tag", i/2)},
		}
	}
	var cells []callvet.Cell
	for i := range cases {
		for k := range attempts {
			d := decide(i, k)
			d.Layers = []callvet.LayerTime{{Layer: callvet.SelectTools}}
			cell := callvet.Cell{
				Case: i, Repeat: k, Trace: callvet.Trace{CaseID: cases[i].ID, Decision: &d},
				Result: score.JudgeSelection(cases[i].Expect.Selection, &d, score.SelectionDefaults()),
			}
			cell.Trace.Classify("")
			cells = append(cells, cell)
			col.Add(&cases[i], &cell)
		}
	}
	return col.Section(panelsOf([]callvet.Target{{Name: "r", Selects: true}}, nil, cases, cells)).Targets[0]
}

// Every count is of attempts, as rates are; tags are held against one another by case.
func TestRepeats(t *testing.T) {
	t.Parallel()
	got := collect(t, &panel.RoutingCollector{}, 3, func(i, k int) callvet.Decision {
		switch {
		case i == 0 && k == 0: // one attempt of three
			return callvet.Decision{Tools: []callvet.Ranked{{Tool: "y"}}}
		case i == 3 && k > 0: // two of three
			return callvet.Decision{Tools: []callvet.Ranked{{Tool: "y"}, {Tool: "z"}}}
		}
		return callvet.Decision{Tools: []callvet.Ranked{{Tool: "x"}}}
	})
	if got.Cases != 4 || got.Attempts != 12 || got.Failures != 2 || got.Unequal != 2 ||
		got.Layers[0].Metric.Interval.N != 12 || got.Unit() != "attempts" {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]panel.Count{
		{Name: "exact", N: 9},
		{Name: "acceptable"},
		{Name: "partial"},
		{Name: "none", N: 3},
	}, got.Matches); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]panel.Count{{Name: "wrong_selection", N: 3}}, got.FirstWrong); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]panel.Count{{Name: "tools", N: 3}}, got.ToolMisses); diff != "" {
		t.Error(diff)
	}
	failed := map[string]int{}
	for _, p := range got.Patterns {
		failed[p.Tag] = p.Failed
	}
	if diff := cmp.Diff(map[string]int{"tag0": 0, "tag1": 1}, failed); diff != "" {
		t.Error(diff)
	}
}

// A name that is repeated is one tool, and a retriever that gives nothing has no size:
// neither keeps an answer from matching exactly.
func TestUnequal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tools   []callvet.Ranked
		unequal int
	}{
		"twice": {[]callvet.Ranked{{Tool: "x"}, {Tool: "x"}}, 0}, "none": {nil, 0},
		"two": {[]callvet.Ranked{{Tool: "x"}, {Tool: "y"}}, 4},
	} {
		got := collect(t, &panel.RoutingCollector{}, 1,
			func(int, int) callvet.Decision { return callvet.Decision{Tools: c.tools} })
		sizes := 0
		for _, r := range got.Recommendations {
			if r.Code == "set-size" {
				sizes++
				if !r.Counted || r.Certain {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
		if got.Unequal != c.unequal || (sizes > 0) != (c.unequal > 0) {
			t.Errorf("%s: %d unequal, %d recommendations", name, got.Unequal, sizes)
		}
	}
}

// What is strange about answers is counted and named.
func TestStrange(t *testing.T) {
	t.Parallel()
	got := collect(t,
		&panel.RoutingCollector{Known: func(target int, name string) bool {
			return target == 0 &&
				(name == "x" || name == "y")
		}}, 1, func(i, _ int) callvet.Decision {
			switch i {
			case 0:
				return callvet.Decision{Asked: 1, Tools: []callvet.Ranked{{Tool: "x"}, {Tool: "beyond"}, {Tool: "y"}}}
			case 1:
				return callvet.Decision{
					Asked: 3, Tools: []callvet.Ranked{{Tool: "new"}, {Tool: "x"}, {Tool: "gone"}},
					Odd: []string{"upside down"},
				}
			case 2:
				return callvet.Decision{Asked: 1, Tools: []callvet.Ranked{{Tool: "new"}}}
			}
			return callvet.Decision{Tools: []callvet.Ranked{{Tool: "x"}, {Tool: "y"}}}
		})
	want := []string{
		"1 of 4 answers: the service gave up to 3 tools where 1 were asked for; those behind do not count",
		"2 of 4 answers: they name 2 tools that the catalogue does not have (gone, new)",
		"1 of 4 answers: upside down",
	}
	if diff := cmp.Diff(want, got.Notes); diff != "" {
		t.Error(diff)
	}
}

// Agents are taken for others as sets.
func TestAgents(t *testing.T) {
	t.Parallel()
	c := callvet.Case{ID: "a", Expect: callvet.Expect{Selection: &callvet.Selection{Agents: []string{"x", "y"}}}}
	var col panel.RoutingCollector
	var cells []callvet.Cell
	for k, agents := range [][]string{{"y", "x"}, {"x", "y", "x"}, nil, {"y"}} {
		d := callvet.Decision{Agents: agents, Layers: []callvet.LayerTime{{Layer: callvet.SelectAgents}}}
		cell := callvet.Cell{
			Repeat: k, Trace: callvet.Trace{Decision: &d},
			Result: score.JudgeSelection(c.Expect.Selection, &d, score.SelectionDefaults()),
		}
		cells = append(cells, cell)
		col.Add(&c, &cell)
	}
	want := []panel.Confused{
		{Expected: "x, y", Called: "x, y", N: 2},
		{Expected: "x, y", Called: panel.None, N: 1},
		{Expected: "x, y", Called: "y", N: 1},
	}
	if diff := cmp.Diff(want,
		col.Section(panelsOf([]callvet.Target{{Name: "r", Selects: true}}, nil, []callvet.Case{c},
			cells)).Targets[0].Agents); diff != "" {
		t.Error(diff)
	}
}

// TestOnePart: a suite that is one category has that slice; where cases differ, or one has none, the
// slices are those of the panels.
func TestOnePart(t *testing.T) {
	t.Parallel()
	right := callvet.Decision{
		Tools:  []callvet.Ranked{{Tool: "x"}},
		Layers: []callvet.LayerTime{{Layer: callvet.SelectTools, MS: 1}},
	}
	for name, c := range map[string]struct {
		categories []string
		want       []string
	}{
		"one":  {[]string{"roads", "roads"}, []string{"category=roads, 2"}},
		"two":  {[]string{"roads", "rails"}, []string{"category=rails, 1", "category=roads, 1"}},
		"some": {[]string{"roads", ""}, []string{"category=roads, 1"}},
		"none": {[]string{"", ""}, nil},
	} {
		var cases []callvet.Case
		var cells []callvet.Cell
		var col panel.RoutingCollector
		for i, category := range c.categories {
			cases = append(cases, callvet.Case{
				ID: fmt.Sprint(i), Fields: map[string]string{"category": category},
				Expect: callvet.Expect{Selection: &callvet.Selection{Tools: []string{"x"}}},
			})
			d := right
			cell := callvet.Cell{
				Case: i, Trace: callvet.Trace{CaseID: cases[i].ID, Decision: &d},
				Result: score.JudgeSelection(cases[i].Expect.Selection, &d, score.SelectionDefaults()),
			}
			cell.Trace.Classify("")
			cells = append(cells, cell)
			col.Add(&cases[i], &cell)
		}
		var got []string
		for _, s := range col.Section(
			panelsOf([]callvet.Target{{Name: "r", Selects: true}}, nil, cases, cells)).Targets[0].Slices {
			if s.Key == "category" {
				got = append(got, fmt.Sprintf("%s=%s, %d", s.Key, s.Value, s.Cases))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestMatchOf: acceptable tools with others are partial here, and none where only expected ones
// count.
func TestMatchOf(t *testing.T) {
	t.Parallel()
	want := callvet.Selection{Tools: []string{"x"}, Acceptable: []string{"y"}}
	for name, c := range map[string]struct {
		given           []string
		own, byExpected string
	}{
		"exact":                  {[]string{"x"}, "exact", "exact"},
		"acceptable":             {[]string{"y"}, "acceptable", "acceptable"},
		"expected with others":   {[]string{"x", "z"}, "partial", "partial"},
		"acceptable with others": {[]string{"y", "z"}, "partial", "none"},
		"none":                   {[]string{"z"}, "none", "none"},
		"nothing":                {nil, "none", "none"},
	} {
		d := callvet.Decision{Layers: []callvet.LayerTime{{Layer: callvet.SelectTools, MS: 1}}}
		for _, tool := range c.given {
			d.Tools = append(d.Tools, callvet.Ranked{Tool: tool})
		}
		r := score.JudgeSelection(&want, &d, score.SelectionDefaults())
		if own, byExpected := panel.RoutingMatch(r.Scores); own != c.own || byExpected != c.byExpected {
			t.Errorf("%s: %s, %s", name, own, byExpected)
		}
	}
}
