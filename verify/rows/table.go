// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package rows checks callvet against the four documents row by row. The table of the rows is in
// the text files of this package. A row has a term, default, endpoint or command of a document, its
// place in callvet, commands and requests to make, and the expected results. The expected numbers
// were computed by hand, and the row has the computation.
package rows

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// tables has one file of each document: its rows, and after them the files that they read.
//
//go:embed tables/*.txtar
var tables embed.FS

// Document is one of the four documents.
type Document struct {
	Title string
	Rows  []Row
	Files map[string]string
}

// Row is one row of a document.
type Row struct {
	// Term is the document's name of it.
	Term string
	// Places are its places in callvet: commands, endpoints, metrics, keys and files.
	Places []string
	// Without is the reason why callvet does not have it; the steps then check its replacement.
	Without string
	// Hand is the computation of the expected values by hand.
	Hand  string
	Steps []Step
}

// Step is a command or a request, with its expected results.
type Step struct {
	// Line is the text of the step: a command of the shell, or a method, a path and a body.
	Line    string
	Request bool
	Expect  []Expectation
}

// Expectation is one expected result of a step.
type Expectation struct {
	// Kind is a word of kinds.
	Kind string
	// At is a path in the answer, such as panels.targets.0.target; Want is the required value.
	At, Want string
}

// The kinds of expectations. Expectations of values have a path and a value, the others a text.
const (
	kindMetric = "metric" // the point of a metric, wherever it is in the answer
	kindValue  = "value"  // the value at a path
	kindCount  = "count"  // the length of the list at a path
	kindHas    = "has"    // a text of the output
	kindNot    = "not"    // a text that the output does not have
	kindExit   = "exit"   // the exit code; 0 without it
	kindStatus = "status" // the status of the answer; 2xx without it
	kindKeep   = "keep"   // the value at a path is stored under a name
	kindUntil  = "until"  // the request is repeated until the path has the value
)

var valued = []string{kindMetric, kindValue, kindCount, kindKeep, kindUntil}

// Documents reads the table.
func Documents() ([]Document, error) {
	names, err := fs.Glob(tables, "tables/*.txtar")
	if err != nil {
		return nil, fmt.Errorf("read the table of rows: %w", err)
	}
	var out []Document
	for _, name := range names {
		text, err := tables.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the table of rows: %w", err)
		}
		d, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
		out = append(out, d)
	}
	return out, nil
}

// parse reads the rows of one document.
func parse(text []byte) (Document, error) {
	archive := txtar.Parse(text)
	d := Document{Files: map[string]string{}}
	for _, f := range archive.Files {
		d.Files[f.Name] = string(f.Data)
	}
	n := 0
	for line := range strings.Lines(string(archive.Comment)) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := d.add(line); err != nil {
			return d, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return d, nil
}

// add reads one line.
func (d *Document) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "#":
		d.Title = rest
		return nil
	case "##":
		if slices.ContainsFunc(d.Rows, func(r Row) bool { return r.Term == rest }) {
			return fmt.Errorf("the row %q is there twice", rest)
		}
		d.Rows = append(d.Rows, Row{Term: rest})
		return nil
	}
	if len(d.Rows) == 0 {
		return fmt.Errorf("%q is in no row", line)
	}
	r := &d.Rows[len(d.Rows)-1]
	switch word {
	case "at":
		r.Places = strings.Split(rest, "; ")
	case "without":
		r.Without = rest
	case "hand":
		r.Hand = rest
	case "$":
		r.Steps = append(r.Steps, Step{Line: rest})
	case ">":
		r.Steps = append(r.Steps, Step{Line: rest, Request: true})
	default:
		return r.expect(word, rest)
	}
	return nil
}

// expect adds an expectation to the last step of a row.
func (r *Row) expect(kind, rest string) error {
	if len(r.Steps) == 0 {
		return fmt.Errorf("%s %s: there is no step before it", kind, rest)
	}
	e := Expectation{Kind: kind, Want: rest}
	if slices.Contains(valued, kind) {
		e.At, e.Want, _ = strings.Cut(rest, " ")
	} else if !slices.Contains([]string{kindHas, kindNot, kindExit, kindStatus}, kind) {
		return fmt.Errorf("%q is no kind of line", kind)
	}
	if e.Want == "" {
		return fmt.Errorf("%s %s: nothing is expected", kind, rest)
	}
	s := &r.Steps[len(r.Steps)-1]
	s.Expect = append(s.Expect, e)
	return nil
}

// Checks reports whether the expectation compares anything.
func (e *Expectation) Checks() bool { return e.Kind != kindKeep }

// String writes an expectation for readers of the table.
func (e *Expectation) String() string {
	switch e.Kind {
	case kindMetric, kindValue, kindUntil:
		return e.At + " = " + e.Want
	case kindCount:
		return "number of " + e.At + " = " + e.Want
	case kindHas:
		return "output has " + e.Want
	case kindNot:
		return "output has no " + e.Want
	}
	return e.Kind + " " + e.Want
}
