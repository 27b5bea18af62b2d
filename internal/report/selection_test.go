// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

const hostile = "<script>x</script>\x1b[31m|`@team`"

func TestParts(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]callvet.Part{
		"no terms":     nil,
		"a 1 + b -0.5": {{Name: "a", Value: 1}, {Name: "b", Value: -0.5}},
		"reranked 2; before: a 1, rank 3": {
			{Name: "reranked", Value: 2},
			{Name: "before a", Value: 1},
			{Name: "before rank", Value: 3},
		},
	} {
		if got := report.QuestionParts(parts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func sample(n int) *panel.RoutingSection {
	t := panel.RoutingTarget{
		Name: hostile, Cases: n, Failures: n,
		Layers: []panel.RoutingLayer{{
			Layer: callvet.SelectRoute,
			Metric: panel.Metric{
				Name: "route", Unit: panel.UnitRate,
				Interval: stats.Wilson(3, 4, 0.95, stats.TwoSided),
			},
		}},
		Matches: []panel.Count{{Name: "exact", N: 3}, {Name: "none", N: 1}}, Unequal: 1,
		Recommendations: []panel.RoutingRecommendation{{Text: hostile, Evidence: "3 of 4", Certain: true}},
	}
	for range n {
		t.Routes = append(t.Routes, panel.Confused{Expected: hostile, Called: "b", N: 1})
		t.Tools = append(t.Tools, panel.Confused{Expected: hostile, Called: "c", N: 1})
		t.Failed = append(t.Failed, panel.RoutingFailure{
			Case: hostile, Query: hostile, Class: callvet.ClassSelected, Reason: "tools: expected x, got y",
			Got: callvet.Decision{Tools: []callvet.Ranked{{Tool: "y", Score: 2}}},
			Diagnose: []panel.RoutingDiagnosis{{
				Tool: callvet.Ranked{
					Tool: "x", Score: 1,
					Parts: []callvet.Part{{Name: "lexical", Value: 1}},
				}, Rank: 3,
				Winner: callvet.Ranked{Tool: "y", Score: 2}, Reasons: []string{hostile},
			}},
		})
	}
	return &panel.RoutingSection{Targets: []panel.RoutingTarget{t}}
}

// Every face prints the same tables, escapes untrusted texts, and names what it leaves out.
func TestSelectionFaces(t *testing.T) {
	t.Parallel()
	s := sample(40)
	var term, md strings.Builder
	if err := report.SelectionTerminal(&term, s, 2); err != nil {
		t.Fatal(err)
	}
	if err := report.SelectionMarkdown(&md, s); err != nil {
		t.Fatal(err)
	}
	html, err := report.SelectionHTML(s)
	if err != nil {
		t.Fatal(err)
	}
	for face, text := range map[string]string{
		"terminal": term.String(), "markdown": md.String(),
		"html": string(html),
	} {
		for _, want := range []string{"75.0", "3 of 4", "beyond chance", "… and 25 more pairs"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", face, want, text)
			}
		}
		if strings.Contains(text, "\x1b") || face != "terminal" && strings.Contains(text, "<script>") ||
			face == "markdown" && strings.Contains(text, " @team") {
			t.Errorf("%s lets through what a stranger wrote:\n%s", face, text)
		}
	}
	for _, want := range []string{"(2 of 40 shown)", "expected x: rank 3, 1 (lexical 1)", "winner   y: 2 (no terms)"} {
		if !strings.Contains(term.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, term.String())
		}
	}
	if n := len(report.FailedSelections(&s.Targets[0], -1)); n != 40 {
		t.Errorf("%d failures, want all", n)
	}
}

// On every face a count of attempts is labelled so, and a matrix has routes on both sides. A capped
// composite and strange answers are reported.
func TestRepeatedAndStrange(t *testing.T) {
	t.Parallel()
	rate := func(name string, p float64) panel.Metric {
		return panel.Metric{
			Name: name, Title: name, Unit: panel.UnitRate,
			Interval: stats.Interval{Point: p, Lower: p / 2, Upper: 1, N: 6, Status: stats.StatusOK},
		}
	}
	best := rate("composite_best", 0.7)
	s := &panel.RoutingSection{Targets: []panel.RoutingTarget{{
		Name: "r", Cases: 2, Attempts: 6, Unequal: 4, Notes: []string{"4 of 6 answers: odd " + hostile},
		Matches:    []panel.Count{{Name: "exact", N: 2}, {Name: "partial", N: 4}},
		Layers:     []panel.RoutingLayer{{Layer: callvet.SelectTools, Metric: rate("tools_right", 0.5)}},
		FirstWrong: []panel.Count{{Name: "wrong_selection", N: 3}},
		Metrics:    []panel.Metric{rate("composite", 0.5)}, CompositeBest: &best,
		Weights:         []panel.RoutingWeight{{Layer: "sub_route", Weight: 0.25}},
		Routes:          []panel.Confused{{Expected: "a", Called: "a", N: 5}, {Expected: "b", Called: "a", N: 1}},
		Unexplained:     "the catalogue changed",
		Slices:          []panel.RoutingSlice{{Key: "k", Value: "v", Cases: 2, Metrics: []panel.Metric{rate("mrr", 0.5)}}},
		TagsLeftOut:     3,
		Recommendations: []panel.RoutingRecommendation{{Text: "t", Evidence: "e", Counted: true}},
	}}}
	var term, md strings.Builder
	if err := report.SelectionTerminal(&term, s, 2); err != nil {
		t.Fatal(err)
	}
	if err := report.SelectionMarkdown(&md, s); err != nil {
		t.Fatal(err)
	}
	html, err := report.SelectionHTML(s)
	if err != nil {
		t.Fatal(err)
	}
	for face, text := range map[string]string{
		"terminal": term.String(), "markdown": md.String(),
		"html": string(html),
	} {
		for _, want := range []string{
			"attempts", "First wrong layer, by attempts: selection 3",
			"4 of 6 attempts another number of different tools", "4 of 6 answers: odd",
			"a composite of 70.0 % was within reach",
			"0.25, of the layers judged", "Columns are what was chosen, by attempts", "3 tags of fewer than 5 cases",
			"why tools lost: the catalogue changed", "counted",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", face, want, text)
			}
		}
	}
	for _, want := range []string{
		`<td>50.0 %<small>25.0–100.0</small></td>`, `class="scroll prose"`,
		"2 cases, 6 attempts",
	} {
		if !strings.Contains(string(html), want) {
			t.Errorf("html does not have %q:\n%s", want, html)
		}
	}
	if !strings.Contains(term.String(), "  expected  a\n  a         5\n  b         1\n") {
		t.Errorf("no matrix:\n%s", term.String())
	}
	s.Targets[0].Agents = []panel.Confused{{Expected: "x", Called: "y", N: 2}}
	for i := range 9 {
		s.Targets[0].Agents = append(s.Targets[0].Agents,
			panel.Confused{Expected: string(rune('a' + i)), Called: string(rune('a' + i)), N: 7})
	}
	term.Reset()
	if err := report.SelectionTerminal(&term, s, 2); err != nil ||
		!strings.Contains(term.String(), "Agents taken for others\n  expected  got  attempts\n  x         y    2\n") {
		t.Errorf("too many for a matrix:\n%s", term.String())
	}
}

// Tools beyond those asked for are reported separately, and so is what is odd.
func TestDecision(t *testing.T) {
	t.Parallel()
	d := callvet.Decision{
		Asked: 1, Odd: []string{"upside down"},
		Tools:  []callvet.Ranked{{Tool: "a", Score: 2}, {Tool: "b", Score: 1}},
		Layers: []callvet.LayerTime{{Layer: callvet.SelectTools}},
	}
	var b strings.Builder
	report.WriteDecision(&b, &d)
	for _, want := range []string{"1.  a", "asked for 1; 1 more given that do not count: b 1", "strange: upside down"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	f := report.FailedSelections(&panel.RoutingTarget{Failed: []panel.RoutingFailure{{Case: "c", Got: d}}}, -1)
	if got := strings.Join(f[0].Lines, "\n"); !strings.Contains(got,
		"given: a 2; 1 more that were not asked for do not count") {
		t.Error(got)
	}
}
