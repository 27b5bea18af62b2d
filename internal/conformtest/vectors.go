// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package conformtest holds the rooms of stats against reference values that other
// software computed, in tests of the room itself.
package conformtest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet/stats/conform"
)

// Vectors compares the files of reference values with these names, which may be patterns
// as in path/filepath, one subtest each. They are in $CALLVET_VECTORS, or next to the
// project; the test skips where there are none. $CALLVET_PART names the part that is read.
func Vectors(t *testing.T, getenv func(string) string, patterns ...string) {
	t.Helper()
	dir := cmp.Or(getenv("CALLVET_VECTORS"), filepath.Join(module(), "..", "shared", "vectors"))
	methods := conform.Methods()
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, p+".json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("SKIPPED: reference vectors not found in %s; set CALLVET_VECTORS to check against them", dir)
	}
	slices.Sort(files)
	for _, path := range slices.Compact(files) {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		m, ok := methods[name]
		if !ok {
			if name != "argument_fidelity" { // a matter of matching: callvet-verify stats checks it
				t.Errorf("no method for %s", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := conform.Check(name, cmp.Or(getenv("CALLVET_PART"), "open"), data, m)
			if err != nil {
				t.Fatal(err)
			}
			if r.Compared == 0 {
				t.Error("nothing compared")
			}
			for _, p := range r.Problems {
				t.Errorf("%s: %s", p.Case, p.Detail)
			}
		})
	}
}

// module is the folder of the module that the test of a room runs in.
func module() string {
	dir := "."
	for range 5 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join("..", dir)
	}
	return dir
}
