// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package callvet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

func TestNaming(t *testing.T) {
	t.Parallel()
	set := &callvet.ToolNames{
		StripPrefixes: []string{"mcp__", "mcp__github__", "functions."},
		Aliases:       map[string]string{"open": "read_file", "mcp__old__read": "functions.read_file"},
	}
	for _, tt := range []struct {
		set        *callvet.ToolNames
		exact      bool
		offered    []string
		name, want string
	}{
		{nil, false, []string{"read_file"}, "mcp__github__read_file", "mcp__github__read_file"},
		{nil, false, []string{"read_file"}, " read_file", " read_file"},
		{set, false, []string{"read_file "}, "mcp__ read_file", "read_file "},
		{set, false, nil, "  ", "  "},
		{set, true, []string{"read_file"}, " read_file", " read_file"},
		{set, false, []string{"read_file"}, "mcp__github__read_file", "read_file"},
		{set, false, []string{"read_file"}, "MCP__GitHub__Read_File", "read_file"},
		{set, true, []string{"read_file"}, "MCP__GitHub__read_file", "MCP__GitHub__read_file"},
		{set, true, []string{"read_file"}, "functions.mcp__github__read_file", "read_file"},
		{set, false, []string{"read_file"}, "open", "read_file"},
		{set, false, []string{"read_file"}, "functions.Open", "read_file"},
		{set, false, []string{"read_file"}, "mcp__old__read", "read_file"},
		{set, false, []string{"mcp__github__read_file"}, "read_file", "mcp__github__read_file"},
		{set, false, []string{"mcp__github__read_file"}, "mcp__github__read_file", "mcp__github__read_file"},
		{set, false, nil, "mcp__github__read_file", "read_file"},
		{set, false, nil, "functions.", "functions."},
		{set, false, nil, "mcp__*", "mcp__*"},
		{set, false, nil, callvet.NoTools, callvet.NoTools},
	} {
		n := callvet.NewNaming(tt.set, tt.exact, tt.offered)
		if got := n.Of(tt.name); got != tt.want {
			t.Errorf("%q of %q, exact %v: %q, want %q", tt.name, tt.offered, tt.exact, got, tt.want)
		}
		if got := n.Of(n.Of(tt.name)); got != tt.want {
			t.Errorf("%q twice: %q, want %q", tt.name, got, tt.want)
		}
	}
	n := callvet.NewNaming(set, false, []string{"read_file", "Read_File", "mcp__github__read_file", "write"})
	var messages []string
	for _, p := range n.Problems() {
		messages = append(messages, p.Message)
	}
	if d := cmp.Diff([]string{`the tools "read_file" and "mcp__github__read_file" would be one tool, "read_file"`},
		messages); d != "" {
		t.Error(d)
	}
}

// TestNamingKeeps: what was called stays in the attempt, and an attempt without such a name is not copied.
func TestNamingKeeps(t *testing.T) {
	t.Parallel()
	n := callvet.NewNaming(&callvet.ToolNames{StripPrefixes: []string{"a."}}, false, nil)
	at := &callvet.Trace{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{Tool: "x"}, {Tool: "a.y"}},
	}, {Role: callvet.RoleTool, Tool: "a.y"}}}
	got := n.Trace(at)
	if got.Turns[0].Calls[1].Tool != "y" || got.Turns[1].Tool != "y" || at.Turns[0].Calls[1].Tool != "a.y" ||
		at.Turns[1].Tool != "a.y" {
		t.Errorf("%+v of %+v", got, at)
	}
	if n.Trace(got) != got {
		t.Error("an attempt without such a name was copied")
	}
	none := callvet.NewNaming(nil, false, []string{"x"})
	if none.Trace(at) != at || none.Problems() != nil {
		t.Error("no naming changes names")
	}
}
