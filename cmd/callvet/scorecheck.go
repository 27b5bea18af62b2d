// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// checkScore refuses a command line that cannot be meant, before anything is read
// or written.
func (a *app) checkScore(paths []string, f scoreFlags) error {
	if !(f.confidence > 0 && f.confidence < 1) {
		return usagef("--confidence %v is no share between 0 and 1, such as 0.95", f.confidence)
	}
	if slices.Contains(f.slices, "") {
		return usagef("--slice names no key: give language, tag or a field of the traces, * for all of them")
	}
	for i, p := range paths {
		if slices.ContainsFunc(paths[:i], func(q string) bool { return a.sameFile(p, q) }) {
			return usagef("%s is named twice: its calls would count twice", p)
		}
	}
	return a.checkScoreOutputs(slices.Concat(paths, f.tools, []string{f.safety, f.suite, f.scoring}), f)
}

// checkScoreOutputs refuses to write over what is read, or one file twice.
func (a *app) checkScoreOutputs(inputs []string, f scoreFlags) error {
	outputs := f.out
	if f.partial != "" {
		for _, o := range outputs {
			if !strings.HasSuffix(strings.ToLower(o), ".parquet") {
				return usagef("--partial writes sums for later: give -o %s when they are put together", o)
			}
		}
		outputs = append(slices.Clone(outputs), f.partial)
	}
	for i, o := range outputs {
		if slices.ContainsFunc(inputs, func(in string) bool { return in != "-" && in != "" && a.sameFile(o, in) }) {
			return usagef("%s is read: write to another file", o)
		}
		if slices.ContainsFunc(outputs[:i], func(q string) bool { return a.sameFile(o, q) }) {
			return usagef("%s is written twice", o)
		}
	}
	return nil
}

// sameFile reports whether two names are one file; pipes and devices have no name
// that says so.
func (a *app) sameFile(p, q string) bool {
	if p == "-" || q == "-" || a.path(p) == a.path(q) {
		return p == q || p != "-" && q != "-"
	}
	x, err := os.Stat(a.path(p))
	if err != nil {
		return false
	}
	y, err := os.Stat(a.path(q))
	return err == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// tellMissingSlices warns of slice keys that no line has, with the nearest one
// that some line has.
func (a *app) tellMissingSlices(s *scored, f scoreFlags) {
	have := tableKeys(s.panels)
	var known []string
	for _, asked := range f.slices {
		if asked == "*" || slices.Contains(have, asked) {
			continue
		}
		if known == nil {
			known = tableKeys(s.panels)
			if keys, err := a.traceKeys(s.files[0], s.panels, f.slices); err == nil {
				known = keys
			}
		}
		for _, key := range strings.FieldsFunc(asked, func(c rune) bool { return c == '*' }) {
			tooMany := func(w string) bool { return strings.HasPrefix(w, fmt.Sprintf("%q has more", key)) }
			if slices.Contains(known, key) || slices.ContainsFunc(s.panels.Warnings, tooMany) {
				continue
			}
			text := fmt.Sprintf("nothing here has %q to slice by", key)
			if near := callvet.Nearest(key, known); near != "" {
				text += fmt.Sprintf(" (did you mean %s?)", near)
			}
			s.panels.Warnings = append(s.panels.Warnings, text)
		}
	}
}

// nothingScored says why files without a record have none, as far as the beginning
// of the first one tells.
func (a *app) nothingScored(paths []string) error {
	what, hint := "nothing in it is a step or a task record", "`callvet schema trace` prints what a line looks like; `callvet trace import` reads other forms"
	head := a.head(paths[0])
	switch {
	case len(head) == 0 && a.regular(paths[0]):
		what = "the file is empty"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.Count(head, []byte{0}) > len(head)/4:
		what, hint = "it looks like UTF-16, and traces are UTF-8", "iconv -f UTF-16 -t UTF-8"
	case bytes.HasPrefix(head, []byte(partialPrefix)):
		what, hint = "it is a partial result of another version, or damaged", "callvet score --partial makes it again"
	case wholeDocument(head):
		what += ": it is one JSON document, of no form that is known"
	}
	return &callvet.Hinted{Err: fmt.Errorf("read %s: %s: %w", strings.Join(paths, ", "), what, callvet.ErrInvalid), Hint: hint}
}

// partialPrefix begins partial results of every version.
const partialPrefix = "callvet partial result"

// wholeDocument tells JSON over several lines: its first line is not a value yet.
func wholeDocument(head []byte) bool {
	line, _, more := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	line = bytes.TrimSpace(line)
	return more && len(line) > 0 && (line[0] == '{' || line[0] == '[') && !json.Valid(line)
}

// head is the beginning of a regular file; empty when it has none.
func (a *app) head(path string) []byte {
	if !a.regular(path) {
		return nil
	}
	f, err := a.openTraces(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, 512)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

// once reports whether a name can be read only once: standard input, a pipe.
func (a *app) once(path string) bool {
	info, err := os.Stat(a.path(path))
	return path == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// regular tells a file that can be read twice from a pipe.
func (a *app) regular(path string) bool {
	if path == "-" {
		return false
	}
	info, err := os.Stat(a.path(path))
	return err == nil && info.Mode().IsRegular()
}
