// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func TestToolNames(t *testing.T) {
	t.Parallel()
	set := &callvet.ToolNames{StripPrefixes: []string{"mcp__shop__"}, Aliases: map[string]string{"transfer": "pay"}}
	for _, tt := range []struct {
		tool, gold             string
		set                    *callvet.ToolNames
		known, right           bool
		counted, named, ruling string
		note                   string
	}{
		{"mcp__shop__pay", "pay", set, true, true, "pay", "pay", "pay", "called mcp__shop__pay: counted as pay"},
		{"mcp__shop__pay", "pay", nil, false, false, "", "pay", "mcp__shop__pay", ""},
		{"pay", "mcp__shop__pay", set, true, true, "", "pay", "pay", ""},
		{
			"mcp__shop__get_refund_policy@v3", "get_refund_policy@v3", set, true, true, "get_refund_policy@v3",
			"get_refund_policy@v3", "get_refund_policy@v3",
			"called mcp__shop__get_refund_policy: counted as get_refund_policy",
		},
		{
			"mcp__shop__get_refund_policy@v3", "get_refund_policy@v2", set, true, false, "get_refund_policy@v3",
			"get_refund_policy@v2", "get_refund_policy@v3",
			"called mcp__shop__get_refund_policy: counted as get_refund_policy",
		},
		{"Transfer", "pay", set, true, true, "pay", "pay", "pay", "called Transfer: counted as pay"},
		{"Pay", "pay", nil, true, true, "", "pay", "Pay", ""},
		{" Pay", "pay", set, true, true, "pay", "pay", "pay", `called " Pay": the tool is pay`},
		{"pay", "pay", nil, true, true, "", "pay", "pay", ""},
	} {
		ruled := ""
		s, ps := NewStepScorer(StepConfig{
			Tools: tools(), Scoring: callvet.Scoring{ToolNames: tt.set},
			Safe: func(tool string, _ value.Value) (bool, bool) {
				ruled = tool
				return true, true
			},
		})
		if len(ps) > 0 {
			t.Fatal(ps)
		}
		in := read(t, `{"tool":"`+tt.tool+`","args":{},"gold":{"needed":true,"tool":"`+tt.gold+`"}}`)
		for range 2 { // the second time from memory
			var out callvet.StepScore
			s.Score(in, &out)
			known, _ := out.Get(callvet.StepKnownTool)
			right, _ := out.Get(callvet.StepSelection)
			if known != tt.known || right != tt.right || ruled != tt.ruling || string(s.Counted()) != tt.counted ||
				string(s.Named([]byte(tt.gold))) != tt.named {
				t.Errorf("%s for %s: known %v, right %v, rules see %q, counted as %q, label %q", tt.tool, tt.gold,
					known, right, ruled, s.Counted(), s.Named([]byte(tt.gold)))
			}
		}
		if d := cmp.Diff(tt.note, s.Explain(in).Call.Note); d != "" {
			t.Errorf("%s: %s", tt.tool, d)
		}
	}
	if _, ps := NewStepScorer(
		StepConfig{
			Tools:   tools(),
			Scoring: callvet.Scoring{ToolNames: &callvet.ToolNames{Aliases: map[string]string{"free": "pay"}}},
		}); len(
		ps) != 1 || ps[0].Code != "one-tool-name" {
		t.Errorf("%v", ps)
	}
}
