// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestToolNames holds what is read of the names that count as one tool, and where a wrong one stands.
func TestToolNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in       string
		want     *callvet.ToolNames
		problems []string // codes with lines
	}{
		"nothing": {"null", nil, nil},
		"prefixes": {
			"{strip_prefixes: [a__, b__]}",
			&callvet.ToolNames{StripPrefixes: []string{"a__", "b__"}}, nil,
		},
		"aliases": {
			"{aliases: {read: read_file, open: read_file}}",
			&callvet.ToolNames{Aliases: map[string]string{"read": "read_file", "open": "read_file"}}, nil,
		},
		"an empty prefix":      {"\n      strip_prefixes:\n      - ''\n      - b__", nil, []string{"empty-prefix 7"}},
		"a second prefix":      {"\n      strip_prefixes:\n      - b__\n      - ''", nil, []string{"empty-prefix 8"}},
		"an alias without end": {"\n      aliases:\n        a: ' '", nil, []string{"empty-alias 7"}},
		"an alias of nothing":  {"\n      aliases:\n        ' ': a", nil, []string{"empty-alias 7"}},
		"a chain":              {"\n      aliases:\n        a: b\n        b: c", nil, []string{"alias-of-alias 7"}},
	} {
		text := "callvet: 1\nname: n\ndefaults:\n  scoring:\n    tool_names: " + c.in +
			"\ntools: [{name: read_file, parameters: {}}]\ncases: [{prompt: p, expected_tool: read_file}]\n"
		s, problems, err := parse([]byte(text), "x.yaml", Options{})
		var got []string
		for _, p := range problems {
			if !p.Warning {
				got = append(got, fmt.Sprint(p.Code, " ", p.Line))
			}
		}
		if d := cmp.Diff(c.problems, got, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Errorf("%s: %v, %s", name, err, d)
		}
		if c.problems != nil {
			continue
		}
		if d := cmp.Diff(c.want, s.Defaults.Scoring.ToolNames, cmpopts.IgnoreFields(callvet.ToolNames{}, "At"),
			cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestBedrockTools holds that tools in the form of Amazon Bedrock are read.
func TestBedrockTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.json": `{"toolConfig": {"tools": [{"toolSpec": {"name": "a", "inputSchema": {"json": {"type": "object"}}}}]}}`,
		"empty.json": `{"toolConfig": {}, "tools": [{"name": "b", "parameters": {"json": {"type": "object"}, "x": 1}}, {"name": "c", "parameters": {"json": true}}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string][]string{
		"tools.json": {`a {"type":"object"}`},
		"empty.json": {`b {"json":{"type":"object"},"x":1}`, `c {"json":true}`},
	} {
		text := "callvet: 1\nname: n\ntools_from: " + file + "\ncases: [{prompt: p, expected_tool: a}]\n"
		if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := Load(filepath.Join(dir, "x.yaml"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range s.Tools {
			got = append(got, tool.Name+" "+string(tool.Parameters))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}
