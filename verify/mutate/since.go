// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// choose returns the choice of lines to change: lines of some files, new lines since a commit, or all.
func (c *config) choose(ctx context.Context) (choice, error) {
	var fresh map[string]map[int]bool
	if c.since != "" {
		var err error
		if fresh, err = newLines(ctx, c.module, c.since); err != nil {
			return nil, err
		}
	}
	return func(path string, line int) bool {
		if c.files != nil && !slices.Contains(c.files, filepath.Base(path)) {
			return false
		}
		lines := fresh[path]
		return fresh == nil || line == 0 && lines != nil || lines[line]
	}, nil
}

var hunk = regexp.MustCompile(`^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// newLines are the lines of Go files that are new since a commit, by the path of the file.
func newLines(ctx context.Context, module, commit string) (map[string]map[int]bool, error) {
	module, err := filepath.Abs(module)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "git", "-C", module,
		"diff", "-U0", "--no-color", "--no-ext-diff", "--no-prefix", "--relative", commit, "--", "*.go")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w\n%s", commit, err, errs.Bytes())
	}
	lines := map[string]map[int]bool{}
	var of map[int]bool
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "+++ "); ok {
			of = map[int]bool{}
			lines[filepath.Join(module, filepath.FromSlash(strings.TrimSpace(name)))] = of
			continue
		}
		m := hunk.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		from, _ := strconv.Atoi(m[1]) // the pattern holds digits only
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		for i := range n {
			of[from+i] = true
		}
	}
	return lines, nil
}
