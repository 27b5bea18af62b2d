// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/sys"
)

// TestBugIsNoMistakeOfTheUser: a panic of a command, or of a goroutine that it started, is exit
// code 1 with a message on what to do, after the store was closed.
func TestBugIsNoMistakeOfTheUser(t *testing.T) {
	t.Parallel()
	var none []int
	for name, do := range map[string]func(){
		"command":   func() { _ = none[3] },
		"goroutine": func() { _ = sys.InParallel(2, 2, func(i int) error { _ = none[3+i]; return nil }) },
	} {
		var out, errs bytes.Buffer
		a := &cli{
			out: &out, err: &errs, getenv: func(string) string { return "" },
			process: sys.UnwatchedProcess(&out, &errs),
		}
		root, closed := a.rootCommand(), false
		root.AddCommand(&cobra.Command{Use: "bug", RunE: func(*cobra.Command, []string) error {
			defer func() { closed = true }()
			do()
			return nil
		}})
		code := a.run(t.Context(), root, []string{"bug"})
		if stderr := errs.String(); code != exitError || !closed ||
			!strings.HasPrefix(stderr, "callvet has a bug and ended: runtime error: index out of range [") ||
			!strings.Contains(stderr, "please report") || !strings.Contains(stderr, "(bug_test.go:") ||
			strings.Contains(stderr, "goroutine ") || strings.Count(stderr, "\n") > 4 {
			t.Errorf("%s: exit %d, closed %v\n%s", name, code, closed, stderr)
		}
	}
}
