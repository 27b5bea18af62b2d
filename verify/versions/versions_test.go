// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package versions

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/verify/proof"
)

// TestWalk: the output, the exit code and the files of a command are recorded; durations are not.
func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "version")
	script := "#!/bin/sh\necho \"$1 took 12.5 ms\"; echo oops >&2; echo \"{\\\"wall_ms\\\": 7}\" > out.json; exit 3\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	w := &walk{name: "w", input: "in put", lines: []string{"say {}"}}
	got, err := w.do(t.Context(), binary, filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{
		"00 say {}":     []byte("exit 3\nsay took 0 ms\n--- errors\noops\n"),
		"file out.json": []byte("{\"wall_ms\": 0}\n"),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := os.Stat(filepath.Join(dir, "run")); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestCompare: a difference, files that only one version writes, one of them empty, and an intended difference.
func TestCompare(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "wanted.txt")
	if err := os.WriteFile(file, []byte("# a reason\n^w: 02 show\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wanted, err := readWanted(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := proof.New(&out, "same", "open", nil)
	c.Due("outputs and files", 5, "the test")
	compare(c, &walk{name: "w"},
		map[string][]byte{
			"00 run": []byte("same"), "01 gate": []byte("a\nb"), "02 show last": []byte("x"),
			"03 diff": nil,
		},
		map[string][]byte{
			"00 run": []byte("same"), "01 gate": []byte("a\nc"), "02 show last": []byte("y"),
			"03 diff": nil, "file r.json": []byte("{}"), "file empty": {},
		}, wanted)
	if c.Close() {
		t.Error("three differences pass")
	}
	for _, want := range []string{
		"w: 01 gate: line 2: before \"b\", after \"c\"", "w: file r.json", "w: file empty",
		"2 of 5 compared agree",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
	if _, err := readWanted(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestWalks: the shipped examples are suites, catalogues and traces, and each file has its commands.
func TestWalks(t *testing.T) {
	t.Parallel()
	all, err := walks(filepath.Join("..", "..", "examples"), nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for i := range all {
		lines[filepath.Base(all[i].name)] = len(all[i].lines)
	}
	if lines["weather.yaml"] != len(ofSuite) || lines["safety-drill.jsonl"] != len(ofTraces) ||
		lines["catalogue.json"] != len(ofCatalogue)+len(ofTraces) {
		t.Error(lines)
	}
}
