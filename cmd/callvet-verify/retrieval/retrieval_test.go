// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// data gives the folder of other people's sets, or skips.
func data(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CALLVET_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "sets", "toolret_subsets")); err != nil {
		t.Skipf("no sets to test against: %v", err)
	}
	return dir
}

func TestBM25(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ok, err := BM25(&out, data(t))
	if err != nil || !ok {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestHalvesPart: every question is in one half, and the questions for one set of
// tools are together.
func TestHalvesPart(t *testing.T) {
	t.Parallel()
	sets, err := benchmarks(data(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets {
		b := &sets[i]
		in := map[string]bool{}
		for _, q := range b.part(train) {
			in[q.goldKey()] = true
		}
		for _, q := range b.part(holdout) {
			if in[q.goldKey()] {
				t.Errorf("%s: %s shares its tools with the train half", b.name, q.id)
			}
		}
		n, m := len(b.part(train)), len(b.part(holdout))
		if n+m != len(b.questions) || min(n, m)*5 < len(b.questions) {
			t.Errorf("%s: halves of %d and %d of %d", b.name, n, m, len(b.questions))
		}
	}
}

func TestPythonJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":[1,"x:y,z"],"b":null}`: `{"a": [1, "x:y,z"], "b": null}`,
		`"å\"😀\\"`:                   `"\u00e5\"\ud83d\ude00\\"`,
	} {
		if d := cmp.Diff(want, pythonJSON(json.RawMessage(in))); d != "" {
			t.Error(d)
		}
	}
}
