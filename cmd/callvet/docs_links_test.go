// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	mdLink  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	mdCode  = regexp.MustCompile("`[^`\n]*`")
	mdTitle = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// TestDocsLinks: every relative link of a page names a file, and its anchor a heading; and a
// reader who starts at docs/README.md reaches every page of docs/.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	root, pages := filepath.Join("..", ".."), docPages(t)
	links := map[string][]string{}
	for page, text := range pages {
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(withoutFences(text), ""), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			to, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if to != "" {
				target = path.Join(path.Dir(page), to)
			}
			links[page] = append(links[page], target)
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if anchor != "" && !anchors(pages[target])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	reached := map[string]bool{}
	var walk func(string)
	walk = func(page string) {
		if !reached[page] {
			reached[page] = true
			for _, to := range links[page] {
				walk(to)
			}
			for other := range pages { // a link to a folder shows all of its pages
				if path.Dir(other) == page {
					walk(other)
				}
			}
		}
	}
	walk("docs/README.md")
	for page := range pages {
		if strings.HasPrefix(page, "docs/") && !reached[page] {
			t.Errorf("no link from docs/README.md leads to %s", page)
		}
	}
}

// docPages are all pages of the project, by their path.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		name := e.Name()
		if e.IsDir() && (name == "node_modules" || name == "testdata" || len(name) > 2 && name[0] == '.') {
			return filepath.SkipDir
		}
		if err == nil && strings.HasSuffix(name, ".md") {
			rel, _ := filepath.Rel(root, file)
			pages[filepath.ToSlash(rel)] = document(t, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// withoutFences drops the fenced blocks of a page.
func withoutFences(text string) string {
	var b strings.Builder
	inside := false
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "```") {
			inside = !inside
		} else if !inside {
			b.WriteString(l)
		}
	}
	return b.String()
}

// anchors are the headings of a page as GitHub names them: lower case, "-" for a space, no
// punctuation, and a number for the second heading of one name.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range mdTitle.FindAllStringSubmatch(withoutFences(text), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		anchor := name
		for n := 1; out[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", name, n)
		}
		out[anchor] = true
	}
	return out
}

// TestDocsContributing: the files that CONTRIBUTING.md sends a newcomer to are there, and the tests
// that it names exist.
func TestDocsContributing(t *testing.T) {
	t.Parallel()
	text := document(t, "CONTRIBUTING.md")
	places := 0
	for _, m := range regexp.MustCompile("`([a-z0-9_./]+)`").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "/") && !strings.HasSuffix(m[1], ".go") {
			continue
		}
		places++
		if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
			t.Errorf("CONTRIBUTING.md names %s, which is not there", m[1])
		}
	}
	if places < 40 {
		t.Errorf("only %d places were found", places)
	}
	if n := len(regexp.MustCompile(`(?m)^\d+\. `).FindAllString(text, -1)); n != 15 {
		t.Errorf("%d files to read, not 15", n)
	}
	tests := allTests(t)
	for _, m := range regexp.MustCompile(`-run (Test\w+)`).FindAllStringSubmatch(text, -1) {
		if tests[m[1]] == "" {
			t.Errorf("CONTRIBUTING.md names %s, which is no test", m[1])
		}
	}
}
