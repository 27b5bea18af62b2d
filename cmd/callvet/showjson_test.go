// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// TestShowJSONIsShort: of every attempt at the shipped suites, show CASE --json is at most 2,000 bytes, and is
// JSON of the same result; --full has all of it.
func TestShowJSONIsShort(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(examples, "scripts", "*-*.yaml"))
	if err != nil || len(scripts) < 8 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	type attempt struct {
		Case   struct{ ID string }
		Result callvet.Result
		Trace  callvet.Trace
		Left   map[string]int `json:"left_out"`
	}
	attempts := func(t *testing.T, text string, longest int) (all []attempt) {
		for l := range strings.Lines(text) {
			if len(l) > longest {
				t.Errorf("%d bytes: %s", len(l), l)
			}
			var a attempt
			if err := json.Unmarshal([]byte(l), &a); err != nil {
				t.Fatalf("%v: %s", err, l)
			}
			all = append(all, a)
		}
		return all
	}
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".yaml")
		suite, _, _ := strings.Cut(name, "-")
		if suite == "smart" {
			suite = "smart-home"
		}
		if suite == "describe" { // no suite's own
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runApp(t, dir, nil, exitOK, "run", filepath.Join(examples, suite+".yaml"), "-m", "script:"+script, "-q",
				"--repeat", "2", "--no-cache")
			runApp(t, dir, nil, exitOK, "report", "last", "-o", "r.jsonl")
			text, err := os.ReadFile(filepath.Join(dir, "r.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for l := range strings.Lines(string(text)) {
				var c struct {
					Case string `json:"task_id"`
				}
				if err := json.Unmarshal([]byte(l), &c); err != nil {
					t.Fatal(err)
				}
				if c.Case == "" || seen[c.Case] {
					continue
				}
				seen[c.Case] = true
				short := attempts(t, runApp(t, dir, nil, exitOK, "show", "last", c.Case, "--json"), 2000)
				full := attempts(t, runApp(t, dir, nil, exitOK, "show", "last", c.Case, "--json", "--full"), 1<<20)
				if len(short) != 2 || len(full) != 2 {
					t.Fatalf("%s: %d and %d attempts", c.Case, len(short), len(full))
				}
				for i := range short {
					s, f := &short[i], &full[i]
					if s.Case.ID != c.Case || s.Result.Verdict != f.Result.Verdict || s.Result.Class != f.Result.Class ||
						s.Trace.Outcome != f.Trace.Outcome || len(s.Left) == 0 || f.Left != nil ||
						len(s.Result.Calls) != len(f.Result.Calls) {
						t.Errorf("%s: short\n%+v\nfull\n%+v", c.Case, s, f)
					}
				}
			}
			if len(seen) == 0 {
				t.Error("no attempt")
			}
		})
	}
}
