// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selection_test

import (
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/selection"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/stats"
)

const hostile = "<script>x</script>\x1b[31m|`@team`"

func TestParts(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][]callvet.Part{
		"no terms":                        nil,
		"a 1 + b -0.5":                    {{Name: "a", Value: 1}, {Name: "b", Value: -0.5}},
		"reranked 2; before: a 1, rank 3": {{Name: "reranked", Value: 2}, {Name: "before a", Value: 1}, {Name: "before rank", Value: 3}},
	} {
		if got := selection.Parts(parts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func sample(n int) *routing.Section {
	t := routing.Target{
		Name: hostile, Cases: n, Failures: n,
		Layers:  []routing.Layer{{Layer: callvet.SelectRoute, Metric: panel.Metric{Name: "route", Unit: panel.UnitRate, Interval: stats.Wilson(3, 4, 0.95, stats.TwoSided)}}},
		Matches: []panel.Count{{Name: "exact", N: 3}, {Name: "none", N: 1}}, Unequal: 1,
		Recommendations: []routing.Recommendation{{Text: hostile, Evidence: "3 of 4", Certain: true}},
	}
	for range n {
		t.Routes = append(t.Routes, panel.Confused{Expected: hostile, Called: "b", N: 1})
		t.Failed = append(t.Failed, routing.Failure{
			Case: hostile, Query: hostile, Class: callvet.ClassSelected, Reason: "tools: expected x, got y",
			Got:      callvet.Decision{Tools: []callvet.Ranked{{Tool: "y", Score: 2}}},
			Diagnose: []routing.Diagnosis{{Tool: callvet.Ranked{Tool: "x", Score: 1, Parts: []callvet.Part{{Name: "lexical", Value: 1}}}, Rank: 3, Winner: callvet.Ranked{Tool: "y", Score: 2}, Reasons: []string{hostile}}},
		})
	}
	return &routing.Section{Targets: []routing.Target{t}}
}

// Every face tells the same tables, escapes what strangers wrote, and says what it
// leaves out.
func TestFaces(t *testing.T) {
	t.Parallel()
	s := sample(40)
	var term, md strings.Builder
	if err := selection.Terminal(&term, s, 2); err != nil {
		t.Fatal(err)
	}
	if err := selection.Markdown(&md, s); err != nil {
		t.Fatal(err)
	}
	html, err := selection.HTML(s)
	if err != nil {
		t.Fatal(err)
	}
	for face, text := range map[string]string{"terminal": term.String(), "markdown": md.String(), "html": string(html)} {
		for _, want := range []string{"75.0", "3 of 4", "beyond chance", "… and 25 more pairs"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", face, want, text)
			}
		}
		if strings.Contains(text, "\x1b") || face != "terminal" && strings.Contains(text, "<script>") || face == "markdown" && strings.Contains(text, " @team") {
			t.Errorf("%s lets through what a stranger wrote:\n%s", face, text)
		}
	}
	for _, want := range []string{"(2 of 40 shown)", "expected x: rank 3, 1 (lexical 1)", "winner   y: 2 (no terms)"} {
		if !strings.Contains(term.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, term.String())
		}
	}
	if n := len(selection.Failed(&s.Targets[0], -1)); n != 40 {
		t.Errorf("%d failures, want all", n)
	}
}
