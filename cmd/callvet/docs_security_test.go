// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsSecurity holds docs/design/security.md to the tests that it names: each promise names one, and each of them
// exists, TestScript/NAME as a script and TestHostile/GROUP as a group of attacks.
func TestDocsSecurity(t *testing.T) {
	t.Parallel()
	_, rest, ok := strings.Cut(document(t, "docs/design/security.md"), "## What is promised\n")
	table, _, end := strings.Cut(rest, "\n## ")
	if !ok || !end {
		t.Fatal("there is no section of promises")
	}
	tests := allTests(t)
	named := regexp.MustCompile("`(Test[A-Za-z]+)(?:/([a-z_]+))?`")
	promises := 0
	for line := range strings.Lines(table) {
		promise, held, ok := strings.Cut(strings.Trim(line, "| \n"), " | ")
		if !ok || promise == "promise" || !strings.HasPrefix(line, "|") {
			continue
		}
		promises++
		found := named.FindAllStringSubmatch(held, -1)
		if len(found) == 0 {
			t.Errorf("no test holds: %s", promise)
		}
		for _, m := range found {
			text, there := tests[m[1]]
			switch {
			case !there:
				t.Errorf("%s: there is no test %s", promise, m[1])
			case m[1] == "TestScript":
				if _, err := os.Stat(filepath.Join("testdata", "script", m[2]+".txtar")); err != nil {
					t.Errorf("%s: %v", promise, err)
				}
			case m[2] != "" && !strings.Contains(text, `{"`+m[2]+"/"):
				t.Errorf("%s: %s has no group %s", promise, m[1], m[2])
			}
		}
	}
	if promises < 15 {
		t.Errorf("%d promises were read", promises)
	}
}

// allTests are the tests of the module by name, each with the text of its file.
func allTests(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	begins := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && (name == "node_modules" || len(name) > 2 && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		for _, m := range begins.FindAllStringSubmatch(string(b), -1) {
			out[m[1]] = string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
