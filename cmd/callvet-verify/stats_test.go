// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStatistics(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("CALLVET_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(files) == 0 {
		t.Skipf("SKIPPED: reference vectors not found in %s; set CALLVET_VECTORS to check against them", dir)
	}
	var out bytes.Buffer
	ok, err := statistics(&out, dir)
	if err != nil || !ok {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestStatisticsTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"pass_at_k":         `{"tolerance":{"abs":1e-12},"open":[{"id":"p1","input":{"n":2,"c":1,"k":1},"expected":{"pass_at_k":0.4}}]}`,
		"argument_fidelity": `{"tolerance":{"abs":1e-12},"heldout":[{"id":"a1","input":{"gold":{"a":1},"emitted":{"a":1}},"expected":{"status":"ok","em":1}}]}`,
		"unheard_of":        `{"open":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	ok, err := statistics(&out, dir)
	if err != nil || ok {
		t.Errorf("ok = %v, %v", ok, err)
	}
	for _, want := range []string{"p1: pass_at_k = 0.5, want 0.4", "ok    argument_fidelity", "unheard_of", "stats: 1 of 3 files right"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if _, err := statistics(&out, t.TempDir()); err == nil {
		t.Error("an empty folder was accepted")
	}
}
