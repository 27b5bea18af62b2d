// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console_test

import (
	"io"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/console"
	"github.com/callvet/callvet/panel"
)

const catalogsStranger = "x\x1b[31m"

// Texts of files, models and services reach no terminal unchanged, and each face shows the
// important parts of its result.
func TestCatalogsFaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(io.Writer) error
		say   []string
	}{
		"curve": {func(w io.Writer) error {
			return console.Curve(w, &catalog.Curve{
				Run: catalogsStranger, Status: "interrupted", Skipped: []int{-1},
				Models: []catalog.ModelCurve{
					{
						Model: "m", TokensPerByte: 0.25,
						Points: []catalog.CurvePoint{{
							Given: catalog.AllRetrieved, Distractors: -1, Hits: 1,
							Wrong: 1,
						}},
					},
				},
			})
		}, []string{"not all attempts were made (interrupted)", "1 of 2", "are estimated", "With distractors all "}},
		"sweep": {func(w io.Writer) error {
			return console.Sweep(w, &catalog.Sweep{
				Cases: 2, LeftOut: 1,
				Points: []catalog.SweepPoint{{Configuration: catalogsStranger, Distractors: 9, Tools: 3}},
			})
		}, []string{"2 cases expect a tool", "1 left out", "fewer other tools than asked for"}},
		"findings": {func(w io.Writer) error {
			return console.CatalogFindings(w,
				&catalog.Findings{
					Tools:    2,
					Problems: []callvet.Problem{{Code: "no-description", Message: catalogsStranger}},
				})
		}, []string{"error: no-description", "2 tools, 1 error, 0 warnings"}},
		"confusable": {func(w io.Writer) error {
			return console.Confusable(w,
				&catalog.Confusable{
					Observed: true, Left: 1,
					Pairs: []catalog.ConfusedPair{{A: catalogsStranger, B: "b", Confused: 3}},
				})
		}, []string{"confused in the run", "were not compared"}},
		"answer": {func(w io.Writer) error {
			return console.CatalogAnswer(w,
				&catalog.QueryAnswer{
					Query: catalogsStranger, Verdict: callvet.VerdictFail, Reason: "no",
					Route:   &catalog.RouteReason{Text: "none"},
					Matched: []catalog.Matched{{Tool: "t", Keywords: []string{"a", "b", "c", "d"}}, {Tool: "u"}},
					Why:     []panel.RoutingDiagnosis{{Rank: 2, Reasons: []string{"why"}}},
				})
		}, []string{
			"the route is none", "keywords: a, b, c and 1 more", "u shares no word", "has rank 2",
			"because why", "fail:",
		}},
		"vectors": {func(w io.Writer) error {
			return report.Vectors(w, &provider.EmbedCacheListing{
				File: catalogsStranger, Bytes: 1500,
				Models: []provider.CachedModel{{Model: "m", Vectors: 2, Bytes: 1_500_000}},
			})
		}, []string{"1.5 kB", "1.5 MB"}},
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
