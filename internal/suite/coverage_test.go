// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
)

func tools(names ...string) (out []callvet.Tool) {
	for _, n := range names {
		out = append(out, callvet.Tool{Name: n})
	}
	return out
}

func TestReport(t *testing.T) {
	t.Parallel()
	none := 0
	k := suite.NewCoverageCounter()
	k.Offer(tools("weather", "forecast", "air", "tax"))
	k.Offer(tools("Weather")) // the same, as scoring has it
	for _, c := range []callvet.Case{
		{ID: "golden", Tier: callvet.TierGolden, Expect: callvet.Expect{ToolsCalled: []string{"WEATHER"}}},
		{
			ID: "either", Tier: callvet.TierLabeled, Fields: map[string]string{"difficulty": "ambiguous"},
			Expect: callvet.Expect{ToolsAcceptable: [][]string{{"weather"}, {"weather", "forecast"}}},
		},
		{
			ID: "forbidden", Tier: callvet.TierLabeled, Fields: map[string]string{"difficulty": "ambiguous"},
			Expect: callvet.Expect{ToolsCalled: []string{"air"}, ToolsNotCalled: []string{"weather", "forecast"}},
		},
		{
			ID: "hard to take for ambiguous", Fields: map[string]string{"difficulty": "straightforward"},
			Expect: callvet.Expect{ToolsCalled: []string{"weather", "tax"}},
		},
		{
			ID: "plans",
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{Tools: []string{
				"fore*",
				"air",
			}}}}}},
		},
		{
			ID: "nothing", Fields: map[string]string{"difficulty": "edge"},
			Expect: callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}}},
		},
		{ID: "at most none", Expect: callvet.Expect{MaxToolCalls: &none}},
		{ID: "none or one", Expect: callvet.Expect{ToolsAcceptable: [][]string{{callvet.NoTools}, {"air"}}}},
		{
			ID: "skipped", Skip: "archived", Tier: callvet.TierGolden,
			Expect: callvet.Expect{ToolsCalled: []string{"tax"}},
		},
	} {
		k.Add(&c)
	}
	share := 2.0 / 8
	want := &suite.CoverageReport{
		Format: "callvet.coverage", Version: 1, Cases: 8, Skipped: 1, NoTool: 2, NoToolShare: &share,
		Tiers: []suite.CoverageCount{
			{Name: "", Cases: 5},
			{Name: "labeled", Cases: 2},
			{Name: "golden", Cases: 1},
		},
		Difficulties: []suite.CoverageCount{
			{Name: "", Cases: 4},
			{Name: "ambiguous", Cases: 2},
			{Name: "edge", Cases: 1},
			{Name: "straightforward", Cases: 1},
		},
		Tools: []suite.CoverageTool{
			{Name: "weather", Cases: 3, Golden: 1},
			{Name: "forecast", Cases: 2},
			{Name: "air", Cases: 3},
			{Name: "tax", Cases: 1},
		},
		WithoutGolden: []string{"forecast", "air", "tax"}, WithoutCase: []string{}, Least: 0.2, Uncovered: 1,
		Overlaps: []suite.CoverageOverlap{
			// not "forbidden", where neither is right
			{CoveragePair: suite.CoveragePair{A: "forecast", B: "weather", Similarity: 0.5, Confused: 3}, Ambiguous: 1},
			{CoveragePair: suite.CoveragePair{A: "air", B: "weather", Similarity: 0.4}, Ambiguous: 1},
			{CoveragePair: suite.CoveragePair{A: "air", B: "forecast", Similarity: 0.15}, Ambiguous: 2},
			{CoveragePair: suite.CoveragePair{A: "tax", B: "weather", Similarity: 0.25}},
		},
	}
	var pairs []suite.CoveragePair
	for _, o := range want.Overlaps {
		pairs = append(pairs, o.CoveragePair)
	}
	got := k.Report(pairs, 0.2)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b, err := got.MapFile()
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]suite.CoverageNeighbours
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	near := func(tool string, similarity float64, weight string, confused int) suite.CoverageNeighbour {
		n := suite.CoverageNeighbour{
			Tool: tool, Reason: fmt.Sprintf("similarity of the texts %.2f", similarity),
			Weight: weight, Similarity: similarity, Confused: confused,
		}
		if confused > 0 {
			n.Reason += fmt.Sprintf(", taken for one another %d times", confused)
		}
		return n
	}
	wantMap := map[string]suite.CoverageNeighbours{
		"weather": {
			Overlaps: []suite.CoverageNeighbour{
				near("forecast", 0.5, "high", 3), near("air", 0.4, "high", 0),
				near("tax", 0.25, "medium", 0),
			},
			Clusters: [][]string{{"weather", "air", "forecast"}, {"weather", "tax"}},
			Reason:   "forecast: similarity of the texts 0.50, taken for one another 3 times; air: similarity of the texts 0.40; tax: similarity of the texts 0.25",
		},
		"forecast": {
			Overlaps: []suite.CoverageNeighbour{near("weather", 0.5, "high", 3), near("air", 0.15, "low", 0)},
			Clusters: [][]string{{"forecast", "air", "weather"}},
			Reason:   "weather: similarity of the texts 0.50, taken for one another 3 times; air: similarity of the texts 0.15",
		},
		"air": {
			Overlaps: []suite.CoverageNeighbour{near("weather", 0.4, "high", 0), near("forecast", 0.15, "low", 0)},
			Clusters: [][]string{{"air", "forecast", "weather"}},
			Reason:   "weather: similarity of the texts 0.40; forecast: similarity of the texts 0.15",
		},
		"tax": {
			Overlaps: []suite.CoverageNeighbour{near("weather", 0.25, "medium", 0)},
			Clusters: [][]string{{"tax", "weather"}}, Reason: "weather: similarity of the texts 0.25",
		},
	}
	if diff := cmp.Diff(wantMap, m); diff != "" {
		t.Error(diff)
	}
}

func TestReportOfNothing(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(suite.NewCoverageCounter().Report(nil, 0.2))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":"callvet.coverage","version":1,"cases":0,"no_tool":0,"no_tool_share":null,"tiers":[],"difficulties":[],"tools":[],"without_golden":[],"without_case":[],"overlaps":[],"least":0.2,"uncovered":0}`
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}
