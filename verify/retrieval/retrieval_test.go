// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieval

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/verify/proof"
)

// data returns the folder of published sets, or skips the test.
func data(t *testing.T) proof.Data {
	t.Helper()
	d, err := proof.Open(cmp.Or(os.Getenv("CALLVET_TESTDATA"), filepath.Join("..", "..", "..", "shared", "data")),
		os.Getenv("CALLVET_PART"))
	if err != nil {
		t.Skipf("SKIPPED: no sets to test against: %v", err)
	}
	return d
}

// TestHalvesPart: every question is in one half, and the questions for one set of tools are in the same
// half.
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
		if d := gocmp.Diff(want, pythonJSON(json.RawMessage(in))); d != "" {
			t.Error(d)
		}
	}
}
