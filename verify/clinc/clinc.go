// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package clinc answers one question: which questions of CLINC150 are for learning, and which for
// measuring? The page of the set contains the number of rows of each file of a part.
package clinc

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

const set = "clinc150"

// Row is a question with its route, a domain, and its sub-route, an intent. Both are
// empty if the question is out of scope.
type Row struct {
	Query, Route string
	SubRoute     string `json:"sub_route"`
}

// Questions are the questions for learning, and those for measuring, which are never learned.
type Questions struct{ Learn, Measure []Row }

// Read reads the files of the part. The questions for learning may be in another part. The check is
// given the number of due rows.
func Read(c *proof.Check, d proof.Data) (Questions, error) {
	page, err := proof.ReadReadme(d.Set(set))
	if err != nil {
		return Questions{}, err
	}
	due, err := page.Files(d.Part)
	if err != nil {
		return Questions{}, err
	}
	var q Questions
	var bad error
	for _, name := range slices.Sorted(maps.Keys(due)) {
		to := &q.Measure
		if learned(name) {
			to = &q.Learn
		}
		bad = errors.Join(bad, file(c, page, d.In(set, name), due[name], to))
	}
	if len(q.Learn) == 0 && bad == nil {
		bad = learnElsewhere(c, page, d, &q)
	}
	return q, bad
}

// learned reports whether a file is for learning.
func learned(name string) bool { return strings.Contains(name, "train") }

func learnElsewhere(c *proof.Check, page proof.Readme, d proof.Data, q *Questions) error {
	files, err := d.Anywhere(set, "*train*.jsonl*")
	if err != nil {
		return err
	}
	var bad error
	for _, path := range files {
		part, name := filepath.Base(filepath.Dir(path)), jsonl.Stem(path)
		due, err := page.Files(part)
		if err != nil {
			return err
		}
		bad = errors.Join(bad, file(c, page, filepath.Join(filepath.Dir(path), name), due[name], &q.Learn))
	}
	return bad
}

func file(c *proof.Check, page proof.Readme, stem string, due int, to *[]Row) error {
	const rows = "CLINC150 rows"
	c.Due(rows, 1, page.Source())
	path, err := proof.Rows(stem)
	if err != nil {
		return err
	}
	n, seen := 0, map[string]bool{}
	err = jsonl.Each(path, func(r Row) error {
		if n++; r.Query == "" || seen[r.Query] {
			return fmt.Errorf("read set %s: row %d: %w: the query %q is empty or stands there twice", path, n,
				callvet.ErrInvalid, r.Query)
		}
		seen[r.Query] = true
		if r.Route == "oos" {
			r.Route, r.SubRoute = "", ""
		}
		*to = append(*to, r)
		return nil
	})
	c.Compare(rows, filepath.Base(stem), n == due, "%d read, %d published", n, due)
	return err
}

// Split divides questions by whether they are in scope.
func Split(rows []Row) (in, out []Row) {
	for _, r := range rows {
		if r.Route == "" {
			out = append(out, r)
		} else {
			in = append(in, r)
		}
	}
	return in, out
}
