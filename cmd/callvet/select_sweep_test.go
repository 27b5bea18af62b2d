// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/sys"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/catalog"
)

// A sweep shows its progress on a terminal, and takes the settings without a flag from the suite.
func TestSweepHeedsTheSuiteAndShowsProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"c.json": `{"tools":[{"id":"sky","description":"forecast of the weather"},{"id":"rail","description":"departures of trains"},{"id":"shop","description":"orders of goods"}]}`,
		"s.json": `{"name":"s","config":{"tool_retrieval":{"limit":2,"use_reranker":true,"use_embeddings":false}},"categories":[{"category_id":"c","category_name":"C","test_cases":[{"id":"1","query":"departures of trains","expected_tools":["rail"]}]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	carryOut := func(want int, tty bool, args ...string) (out, stderr bytes.Buffer) {
		t.Helper()
		a := &cli{
			in: strings.NewReader(""), out: &out, err: &stderr, errTTY: tty, now: time.Now, dir: dir,
			dbPath: filepath.Join(dir, "runs.db"), process: sys.UnwatchedProcess(&out, &stderr),
			getenv: func(string) string { return "" },
		}
		args = append([]string{"select", "sweep", "s.json", "--tools", "c.json", "--distractors", "0,1", "--json"},
			args...)
		if code := a.run(t.Context(), a.rootCommand(), args); code != want {
			t.Fatalf("exit %d\n%s%s", code, out.String(), stderr.String())
		}
		return out, stderr
	}
	sweep := func(tty bool, args ...string) (depths []int, errs string) {
		t.Helper()
		out, stderr := carryOut(exitOK, tty, args...)
		var s catalog.Sweep
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Points {
			depths = append(depths, p.K)
		}
		return depths, stderr.String()
	}
	const note = "note: s.json asks for a reranker, and there is none: --rerank SPEC names one\n"
	depths, stderr := sweep(true)
	if diff := cmp.Diff([]int{2, 2}, depths); diff != "" {
		t.Errorf("limit of the suite: %s", diff)
	}
	if !strings.HasPrefix(stderr, note) || !strings.Contains(stderr, "\r━") ||
		!strings.Contains(stderr, "1/2 searches  50 %") || !strings.HasSuffix(stderr, " \r") {
		t.Errorf("printed %q", stderr)
	}
	depths, stderr = sweep(false, "--weights", "one=k:1")
	if diff := cmp.Diff([]int{2, 1, 2, 1}, depths); diff != "" || stderr != note {
		t.Errorf("%s: printed %q", diff, stderr)
	}
	if depths, stderr = sweep(true, "-q", "--k", "3"); depths[0] != 3 || stderr != note {
		t.Errorf("k %d, printed %q", depths[0], stderr)
	}
	// With models only the settings of one retriever count: theirs has a reranker.
	if _, stderr := carryOut(exitUsage, false, "--model", "offline/lexical", "--weights",
		"b=rerank:none"); strings.Contains(stderr.String(), note) {
		t.Errorf("printed %q", stderr.String())
	}
}
