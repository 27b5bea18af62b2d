// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
)

// Readme is the page next to the data with the number of rows, if no file of figures has it. The
// number is read from the page: a page without it is an error.
type Readme struct {
	path, text string
}

// ReadReadme reads the page of a folder.
func ReadReadme(dir string) (Readme, error) {
	path := filepath.Join(dir, "README.md")
	b, err := os.ReadFile(path)
	if err != nil {
		return Readme{}, fmt.Errorf("read index: %w", err)
	}
	return Readme{path, string(b)}, nil
}

// Text is the page.
func (r Readme) Text() string { return r.text }

// Source names the page in messages.
func (r Readme) Source() string {
	return filepath.Base(filepath.Dir(r.path)) + "/" + filepath.Base(r.path)
}

func (r Readme) missing(what string) error {
	return fmt.Errorf("read index %s: %w: it does not contain %s", r.path, callvet.ErrNotFound, what)
}

// Count returns the first number before a word, with at most one word between: "20 small cases" has 20
// cases.
func (r Readme) Count(word string) (int, error) {
	m := regexp.MustCompile(`(\d[\d,]*) (?:[A-Za-z]+ )?` + regexp.QuoteMeta(word)).FindStringSubmatch(r.text)
	if m == nil {
		return 0, r.missing("how many " + word + " there are")
	}
	return number(m[1])
}

// parts returns the names before an equals sign, in order: "spring = even …, autumn = odd"
// has spring and autumn.
func (r Readme) parts() []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ (;,.])([a-z_]+) = `).FindAllStringSubmatch(r.text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// CountOf returns the number of a part in a list before a word, in the order of the parts on the page:
// "spring = even, autumn = odd. 9,120 / 9,108 rows".
func (r Readme) CountOf(part, word string) (int, error) {
	i := slices.Index(r.parts(), part)
	for _, m := range regexp.MustCompile(`(\d[\d,]*(?: / \d[\d,]*)+) `+
		regexp.QuoteMeta(word)).FindAllStringSubmatch(r.text, -1) {
		if counts := strings.Split(m[1], " / "); i >= 0 && i < len(counts) {
			return number(counts[i])
		}
	}
	return 0, r.missing("how many " + word + " the part " + part + " has")
}

// Files returns the files of a part with their numbers of rows, from the page: "spring =
// train 15,000, val 3,000, oos_train/val 100+100; autumn = …". A name after a slash
// has the beginning of the one before it.
func (r Readme) Files(part string) (map[string]int, error) {
	m := regexp.MustCompile(`(?:^|[ (;,.])` + regexp.QuoteMeta(part) + ` = ([^;.]*)`).FindStringSubmatch(r.text)
	if m == nil {
		return nil, r.missing("which files the part " + part + " has")
	}
	out := map[string]int{}
	for _, f := range regexp.MustCompile(
		`([A-Za-z_]+(?:/[A-Za-z_]+)*) (\d[\d,]*(?:\+\d[\d,]*)*)`).FindAllStringSubmatch(m[1], -1) {
		names, counts := strings.Split(f[1], "/"), strings.Split(f[2], "+")
		if len(names) != len(counts) {
			return nil, r.missing("one number for each of " + f[1])
		}
		for i, name := range names {
			if i > 0 && !strings.Contains(name, "_") {
				name = names[0][:strings.LastIndexByte(names[0], '_')+1] + name
			}
			n, err := number(counts[i])
			if err != nil {
				return nil, err
			}
			out[name] = n
		}
	}
	if len(out) == 0 {
		return nil, r.missing("how many rows the files of the part " + part + " have")
	}
	return out, nil
}

// Table returns the numbers in a column of the first Markdown table that has it, by the first cell of
// the row.
func (r Readme) Table(column string) (map[string]int, error) {
	at := -1
	out := map[string]int{}
	for line := range strings.Lines(r.text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(out) > 0 {
				break
			}
			at = -1
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case at < 0:
			at = slices.Index(cells, column)
		case strings.Trim(cells[0], "-:") == "":
		case at < len(cells):
			n, err := number(cells[at])
			if err != nil {
				return nil, r.missing("a number of " + column + " for " + cells[0])
			}
			out[cells[0]] = n
		}
	}
	if len(out) == 0 {
		return nil, r.missing("a table with a column " + column)
	}
	return out, nil
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return 0, fmt.Errorf("read index: %w: %q is no number", callvet.ErrInvalid, s)
	}
	return n, nil
}
