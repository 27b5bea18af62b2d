// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestOutputsAreNoInputs: of every command that writes files it is known which of its flags name
// files, and every such flag names files somewhere.
func TestOutputsAreNoInputs(t *testing.T) {
	t.Parallel()
	// The values of these flags are no files.
	words := strings.Fields(
		`world record on-miss abstain-route accept agent allow-host api-key-env base-url bug by cancel case command description difficulty embed embedder exec-env expect experiment failed-from fallback
		filter format from fusion goal header http judge judge-base-url judge-model keep name of policy prefix preset primary protocol reasoning-effort
		notes remote rerank resume role roots run-tag set slice status strategy target-version task tier to tool tool-choice transport unit via watch world`)
	root, seen := new(cli).rootCommand(), map[string]bool{}
	for _, verb := range verbs(root, nil) {
		cmd, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		fs := cmd.LocalNonPersistentFlags()
		if fs.Lookup("output") == nil {
			continue
		}
		fs.VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "string", "stringArray", "stringSlice":
			default:
				return
			}
			seen[f.Name] = true
			if f.Name != "output" && f.Name != "partial" && readsFile(f.Name) == slices.Contains(words, f.Name) {
				t.Errorf("%s: --%s: does it name a file? Say so in readsFile, or here", verb, f.Name)
			}
		})
	}
	for _, w := range words {
		if !seen[w] {
			t.Errorf("no command that writes a file has --%s", w)
		}
	}
}
