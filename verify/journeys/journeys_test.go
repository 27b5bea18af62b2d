// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package journeys_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet/verify/journeys"
)

// TestUnracedWalk builds the binary and walks the corner cases; verify journeys walks everything.
func TestUnracedWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "callvet")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-o", binary, "./cmd/callvet")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatalf("build callvet: %v", err)
	}
	r, err := journeys.Walk(t.Context(),
		journeys.Config{Binary: binary, Dir: filepath.Join(dir, "walk"), Corners: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f)
	}
	if r.Journeys != journeys.Expected(true) {
		t.Errorf("%d journeys, want %d", r.Journeys, journeys.Expected(true))
	}
	t.Logf("%d journeys, %d steps, %d checks", r.Journeys, r.Steps, r.Checks)
}
