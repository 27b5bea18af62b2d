// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongToolsFrom: mistakes in a list of tools are reported by place, with the command that
// reports more about that very file, and without a word of the file.
func TestWrongToolsFrom(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := os.WriteFile(filepath.Join(d, "tools.json"), []byte(`[{"name": 5, "hidden words": {}}]`),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	for named, full := range map[string]string{
		"tools.json":                       filepath.Join(dir, "tools.json"),
		filepath.Join(other, "tools.json"): filepath.Join(other, "tools.json"),
	} {
		path := filepath.Join(dir, "s.yaml")
		if err := os.WriteFile(path,
			[]byte("callvet: 1\nname: s\ntools_from: "+named+"\ncases: [{prompt: p, expected_tool: a}]\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		_, problems, err := Load(path, Options{Outside: true})
		if err != nil || len(problems) == 0 {
			t.Fatalf("%s: %v, %v", named, problems, err)
		}
		p := problems[0]
		if p.Code != "tools-from" || !strings.Contains(p.Message, "1:11 wrong-type") ||
			strings.Contains(p.Message, "hidden") || p.Fix != "callvet tools lint "+full+" says what is wrong with it" {
			t.Errorf("%s: %v (%s)", named, p, p.Fix)
		}
	}
}
