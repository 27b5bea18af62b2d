// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet/contract"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
	"github.com/callvet/callvet/value"
)

func made(t *testing.T, n int, seed uint64, broken int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := writeTraces(t.Context(), &b, n, seed, broken); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTracesKeepTheContract(t *testing.T) {
	t.Parallel()
	const n = 3000
	schema, err := contract.Compile(trace.Schema())
	if err != nil {
		t.Fatal(err)
	}
	text := made(t, n, 1, 0)
	if mean := len(text) / n; mean < 460 || mean > 540 {
		t.Errorf("a line has %d bytes on average, want about 500", mean)
	}
	status, slices, tools := map[string]int{}, map[string]int{}, map[string]int{}
	var doc value.Doc
	for line := range bytes.Lines(text) {
		if err := doc.Parse(bytes.TrimSuffix(line, []byte("\n"))); err != nil || !schema.Valid(doc.Root()) {
			t.Fatalf("%s is no step record: %v", line, err)
		}
		var step struct {
			Tool, Status string
			Args         json.RawMessage
			ArgsRaw      string `json:"args_raw"`
			Tags         []string
		}
		if err := json.Unmarshal(line, &step); err != nil {
			t.Fatal(err)
		}
		if string(step.Args) != step.ArgsRaw {
			t.Fatalf("args %s, args_raw %s", step.Args, step.ArgsRaw)
		}
		status[step.Status]++
		slices[strings.Join(step.Tags, " ")]++
		tools[step.Tool]++
	}
	if len(slices) != 30 || len(tools) != 12 || len(status) != 4 {
		t.Errorf("%d slices, %d tools, states %v; want 30, 12 and 4 states", len(slices), len(tools), status)
	}
}

func TestTracesAreDeterministic(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(made(t, 500, 7, 9), made(t, 500, 7, 9)) {
		t.Error("the same seed gives other lines")
	}
	if bytes.Equal(made(t, 500, 7, 9), made(t, 500, 8, 9)) {
		t.Error("another seed gives the same lines")
	}
}

func TestBrokenTraces(t *testing.T) {
	t.Parallel()
	bad := 0
	for line := range bytes.Lines(made(t, 1000, 1, 100)) {
		if !json.Valid(line) {
			bad++
		}
	}
	if bad != 10 {
		t.Errorf("%d of 1000 lines are broken, want 10", bad)
	}
}

// The tools file declares every tool of the traces. Gold arguments are valid, a few emitted arguments
// are not.
func TestTraceTools(t *testing.T) {
	t.Parallel()
	b, err := traceTools()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	tools, problems, err := suite.LoadTools(path, suite.ToolOptions{})
	if err != nil || len(problems) > 0 || len(tools) != 12 {
		t.Fatalf("%d tools, %v, %v", len(tools), problems, err)
	}
	schemas := map[string]*contract.Schema{}
	for _, tool := range tools {
		s, err := contract.Compile(tool.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		schemas[tool.Name+"@"+tool.Version] = s
	}
	var doc value.Doc
	invalid, lines := 0, 0
	for line := range bytes.Lines(made(t, 5000, 3, 0)) {
		var step struct {
			Tool, Status string
			Args         json.RawMessage
			Gold         struct{ Args json.RawMessage }
		}
		if err := json.Unmarshal(line, &step); err != nil {
			t.Fatal(err)
		}
		s := schemas[step.Tool]
		if s == nil {
			t.Fatalf("no tool %s", step.Tool)
		}
		if err := doc.Parse(step.Gold.Args); err != nil || !s.Valid(doc.Root()) {
			t.Fatalf("gold arguments %s of %s are not valid: %v", step.Gold.Args, step.Tool, err)
		}
		if err := doc.Parse(step.Args); err != nil {
			t.Fatal(err)
		}
		lines++
		if !s.Valid(doc.Root()) {
			invalid++
		} else if step.Status == "rejected_by_contract" {
			t.Fatalf("%s was rejected and is valid", line)
		}
	}
	if share := float64(invalid) / float64(lines); share < 0.01 || share > 0.03 {
		t.Errorf("%.4f of the calls break their schema, want about 0.0175", share)
	}
}
