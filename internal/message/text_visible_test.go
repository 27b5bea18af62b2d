// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"testing"

	"github.com/callvet/callvet"
)

// TestThoughts: a text that is nothing but thoughts is reasoning, and no answer.
func TestThoughts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ content, reasoning, wantContent, wantReasoning string }{
		{"Hello.", "", "Hello.", ""},
		{"<think>Hm.</think>Hello.", "", "<think>Hm.</think>Hello.", ""},
		{"<think>Hm.</think>\n", "", "", "<think>Hm.</think>\n"},
		{"<think>Should I call", "", "", "<think>Should I call"},
		{"[THINK]Hm.", "before", "", "before\n[THINK]Hm."},
		{"`<think>` begins a thought.", "", "`<think>` begins a thought.", ""},
		{"", "", "", ""},
	} {
		turn := callvet.Turn{Role: callvet.RoleAssistant, Content: tt.content, Reasoning: tt.reasoning}
		Thoughts(&turn)
		if turn.Content != tt.wantContent || turn.Reasoning != tt.wantReasoning {
			t.Errorf("%q, %q: %q, %q", tt.content, tt.reasoning, turn.Content, turn.Reasoning)
		}
	}
	called := callvet.Turn{
		Role: callvet.RoleAssistant, Content: "<think>Hm.</think>",
		Calls: []callvet.Call{{Tool: "f"}},
	}
	if Thoughts(&called); called.Content == "" {
		t.Error("the text next to a call stays where it is")
	}
}
