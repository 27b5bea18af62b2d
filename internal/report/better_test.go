// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report_test

import (
	"io"
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve/learn"
)

const stranger = "x\x1b[31m"

// Texts of files, models and services reach no terminal unchanged, and each face shows the
// important parts of its result.
func TestFaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(io.Writer) error
		say   []string
	}{
		"tuning": {func(w io.Writer) error {
			return console.Tuning(w,
				&catalog.Tuning{
					File: stranger, Weights: map[string]float64{"name": 1},
					Tuned: learn.Tuned{
						Goal: "mrr", Preset: "default", Folds: 4,
						Held: learn.TunePart{Cases: 40, Clusters: 40}, BeyondChance: true,
					},
				})
		}, []string{"4 folds of 40 sets", "beyond chance. The weights are proposed", "holds the weights; --weights"}},
		"lesson": {func(w io.Writer) error {
			return console.Lesson(w, &catalog.Lesson{
				Examples: 4, Routes: []string{"a"}, File: stranger,
				Held: catalog.TuningMeasured{Questions: 2, InScope: 2, Route: 1},
			})
		}, []string{"4 examples of 1 route learned", "1 of 2, 50.0 %", "no question will be refused"}},
		"what if": {func(w io.Writer) error {
			return console.WhatIf(w,
				&catalog.WhatIfResult{
					Edits: []string{stranger}, Cases: 2,
					Comparisons: []*catalog.Comparison{{
						By: "retriever", Sentence: "better",
						Tools: []catalog.ToolEffect{{Tool: "t", Edited: true, Cases: 1}},
						Usage: &catalog.EffectUsage{Requests: 2},
					}},
				})
		}, []string{"over 2 cases", "better", "tokens not known", "Fewer than 5 cases ask for t"}},
		"suggestions": {func(w io.Writer) error {
			return console.Suggestions(w,
				&catalog.Suggestions{
					Model: stranger, Usage: &catalog.EffectUsage{Known: true, InputTokens: 7},
					Tools: []catalog.Suggestion{{
						Tool: "t", Status: learn.Rejected,
						Reasons: []string{"it repeats a question"},
					}},
				})
		}, []string{"7 tokens in", "it repeats a question", "0 proposed, 1 rejected"}},
		"coverage": {func(w io.Writer) error {
			some := 0.25
			return console.Coverage(w,
				&suite.CoverageReport{
					Cases: 4, Skipped: 1, NoTool: 1, NoToolShare: &some,
					Tools: []suite.CoverageTool{{Name: stranger}, {Name: "b"}}, WithoutGolden: []string{stranger},
					Tiers:    []suite.CoverageCount{{Name: stranger, Cases: 3}, {Cases: 1}},
					Overlaps: make([]suite.CoverageOverlap, 21), NotCompared: 2, Output: stranger,
				})
		}, []string{
			"1 need no tool (25.0 %)", "1 case is not run", "none said 1", "no golden case: 1 of 2 tools: ",
			"no case at all: 0 of 2 tools\n", "and 1 pair more", "2 tools were not compared", "written to",
		}},
		"prompts": {func(w io.Writer) error {
			return console.Prompts(w,
				&catalog.Prompts{System: "s", Prompts: []catalog.Prompt{{Tool: stranger, Text: "write"}}})
		}, []string{"system\ns", "write"}},
		"applied": {func(w io.Writer) error {
			return console.Applied(w, &catalog.Applied{
				Catalogue: stranger, Tools: []string{"t"}, Left: 1, Form: "YAML",
				Renamed: []string{"t"},
			})
		}, []string{"1 edit in", "another status left out", "was YAML", "called otherwise now"}},
	} {
		var b strings.Builder
		if err := c.write(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, say := range c.say {
			if !strings.Contains(b.String(), say) {
				t.Errorf("%s: %q is not in\n%s", name, say, b.String())
			}
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: what a stranger wrote went through", name)
		}
	}
}
