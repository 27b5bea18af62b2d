// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalogs_test

import (
	"io"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/catalog/edit"
	"github.com/callvet/callvet/internal/embed/disk"
	"github.com/callvet/callvet/internal/report/catalogs"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve/revise"
	"github.com/callvet/callvet/retrieve/tune"
)

const stranger = "x\x1b[31m"

// What files, models and services say goes to no terminal as it is, and each face tells
// what matters about its result.
func TestFaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(io.Writer) error
		say   []string
	}{
		"curve": {func(w io.Writer) error {
			return catalogs.Curve(w, &catalog.Curve{Run: stranger, Status: "interrupted", Skipped: []int{-1}, Models: []catalog.ModelCurve{
				{Model: "m", TokensPerByte: 0.25, Points: []catalog.CurvePoint{{Given: catalog.All, Distractors: -1, Hits: 1, Wrong: 1}}},
			}})
		}, []string{"not all attempts were made (interrupted)", "1 of 2", "are estimated", "With distractors all "}},
		"sweep": {func(w io.Writer) error {
			return catalogs.Sweep(w, &catalog.Sweep{Cases: 2, LeftOut: 1, Points: []catalog.Point{{Configuration: stranger, Distractors: 9, Tools: 3}}})
		}, []string{"2 cases expect a tool", "1 left out", "fewer other tools than asked for"}},
		"tuning": {func(w io.Writer) error {
			return catalogs.Tuning(w, &catalog.Tuning{File: stranger, Weights: map[string]float64{"name": 1}, Tuned: catalog.Tuned{Goal: "mrr", Preset: "default", Folds: 4, Held: tune.Part{Cases: 40, Clusters: 40}, BeyondChance: true}})
		}, []string{"4 folds of 40 sets", "beyond chance. The weights are proposed", "holds the weights; --weights"}},
		"lesson": {func(w io.Writer) error {
			return catalogs.Lesson(w, &catalog.Lesson{Examples: 4, Routes: []string{"a"}, File: stranger, Held: catalog.Measured{Questions: 2, InScope: 2, Route: 1}})
		}, []string{"4 examples of 1 route learned", "1 of 2, 50.0 %", "no question will be refused"}},
		"findings": {func(w io.Writer) error {
			return catalogs.Findings(w, &catalog.Findings{Tools: 2, Problems: []callvet.Problem{{Code: "no-description", Message: stranger}}})
		}, []string{"error: no-description", "2 tools, 1 error, 0 warnings"}},
		"confusable": {func(w io.Writer) error {
			return catalogs.Confusable(w, &catalog.Confusable{Observed: true, Left: 1, Pairs: []catalog.ConfusedPair{{A: stranger, B: "b", Confused: 3}}})
		}, []string{"confused in the run", "were not compared"}},
		"answer": {func(w io.Writer) error {
			return catalogs.Answer(w, &catalog.Answer{Query: stranger, Verdict: callvet.VerdictFail, Reason: "no", Route: &catalog.RouteReason{Text: "none"}, Matched: []catalog.Matched{{Tool: "t", Keywords: []string{"a", "b", "c", "d"}}, {Tool: "u"}}, Why: []routing.Diagnosis{{Rank: 2, Reasons: []string{"why"}}}})
		}, []string{"the route is none", "keywords: a, b, c and 1 more", "u shares no word", "has rank 2", "because why", "fail:"}},
		"vectors": {func(w io.Writer) error {
			return catalogs.Vectors(w, &disk.Listing{File: stranger, Bytes: 1500, Models: []disk.Kept{{Model: "m", Vectors: 2, Bytes: 1_500_000}}})
		}, []string{"1.5 kB", "1.5 MB"}},
		"what if": {func(w io.Writer) error {
			return catalogs.WhatIf(w, &edit.WhatIfResult{Edits: []string{stranger}, Cases: 2, Comparisons: []*edit.Comparison{{By: "retriever", Sentence: "better", Tools: []edit.ToolEffect{{Tool: "t", Edited: true, Cases: 1}}, Usage: &edit.Usage{Requests: 2}}}})
		}, []string{"over 2 cases", "better", "tokens not known", "Fewer than 5 cases ask for t"}},
		"suggestions": {func(w io.Writer) error {
			return catalogs.Suggestions(w, &edit.Suggestions{Model: stranger, Usage: &edit.Usage{Known: true, InputTokens: 7}, Tools: []edit.Suggestion{{Tool: "t", Status: revise.Rejected, Reasons: []string{"it repeats a question"}}}})
		}, []string{"7 tokens in", "it repeats a question", "0 proposed, 1 rejected"}},
		"prompts": {func(w io.Writer) error {
			return catalogs.Prompts(w, &edit.Prompts{System: "s", Prompts: []edit.Prompt{{Tool: stranger, Text: "write"}}})
		}, []string{"system\ns", "write"}},
		"applied": {func(w io.Writer) error {
			return catalogs.Applied(w, &edit.Applied{Catalogue: stranger, Tools: []string{"t"}, Left: 1, Form: "YAML", Renamed: []string{"t"}})
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
