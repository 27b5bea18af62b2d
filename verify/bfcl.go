// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/suite/dialect"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// officialRow is the official data of a row of outputs or mutations.
type officialRow struct {
	ID        string `json:"id"`
	CaseID    string `json:"case_id"`
	Category  string `json:"category"`
	Mutation  string `json:"mutation"`
	Valid     bool   `json:"valid"`
	ErrorType string `json:"error_type"`
}

// The sets with official verdicts of their rows.
const (
	bfclV1        = "bfcl_v1_2024-08"
	bfclV4        = "bfcl_v4_2025-11"
	bfclMutations = "bfcl_mutations"
)

// bfclAgreement scores recorded outputs through suite, recording and scorer and
// compares every verdict with the official one, and the rows themselves with the
// published counts of each model.
func bfclAgreement(ctx context.Context, c *proof.Check, d proof.Data) error {
	return errors.Join(bfclOutputs(ctx, c, d, bfclV1, "categories"), bfclOutputs(ctx, c, d, bfclV4),
		mutations(ctx, c, d))
}

// official are the published counts of a set by model, member (if any) and category: accuracy, correct
// and total.
type official struct {
	set     string
	figures *proof.Figures
	member  []string
}

func (o *official) path(model string, elem ...string) []string {
	return append(append([]string{model}, o.member...), elem...)
}

// categories returns the categories of a model that have counts.
func (o *official) categories(model string) (out []string) {
	for _, c := range o.figures.Keys(o.path(model)...) {
		if o.figures.Has(o.path(model, c, "total")...) {
			out = append(out, c)
		}
	}
	return out
}

// executed reports whether a category has no published outputs, only counts.
func executed(category string) bool { return strings.HasPrefix(category, "exec:") }

// conversed reports whether a category has conversations, which a separate check compares.
func conversed(category string) bool { return strings.HasPrefix(category, "multi_turn") }

// leave returns the reason why a figure is not compared here.
func (o *official) leave(path []string) string {
	below := path[1:]
	for _, m := range o.member {
		if below[0] != m {
			return "the leaderboard makes them of the categories"
		}
		below = below[1:]
	}
	switch {
	case len(below) != 2:
		return "the leaderboard makes them of the categories"
	case executed(below[0]):
		return "there are no outputs of executed calls in the data"
	case conversed(below[0]):
		return "conversations are compared by bfcl-multiturn"
	}
	return ""
}

func bfclOutputs(ctx context.Context, c *proof.Check, d proof.Data, set string, member ...string) error {
	figures, err := d.Published(set)
	if err != nil {
		return err
	}
	o := &official{set, figures, member}
	c.DueFigures(set, figures, o.leave)
	for _, model := range figures.Keys() {
		for _, category := range o.categories(model) {
			if executed(category) || conversed(category) {
				continue
			}
			n, err := figures.Count(o.path(model, category, "total")...)
			if err != nil {
				return err
			}
			c.Due(set+" "+model, n, figures.Source)
		}
	}
	v, err := newBFCLCheck(c, set, filepath.Join(d.Set(set), "cases"))
	if err != nil {
		return err
	}
	files, err := d.Files(set, filepath.Join("outputs", "*.jsonl*"))
	if err != nil {
		return err
	}
	for _, f := range files {
		counts := map[string]*counted{}
		v.each = func(row *officialRow, _ bool) {
			if counts[row.Category] == nil {
				counts[row.Category] = &counted{}
			}
			counts[row.Category].add(row.Valid)
		}
		model := jsonl.Stem(f)
		if err := v.file(ctx, f, model); err != nil {
			c.Problem(err)
			continue
		}
		for category, n := range counts {
			n.figures(c, o, model, category)
		}
	}
	v.print(len(files))
	return nil
}

// counted are rows and how many of them are right.
type counted struct{ correct, total int }

func (n *counted) add(right bool) {
	n.total++
	if right {
		n.correct++
	}
}

// figures compares counts with the published counts of a category.
func (n *counted) figures(c *proof.Check, o *official, model, category string) bool {
	a := c.Figure(o.set, o.figures, float64(n.correct)/float64(n.total), o.path(model, category, "accuracy")...)
	b := c.Figure(o.set, o.figures, float64(n.correct), o.path(model, category, "correct")...)
	t := c.Figure(o.set, o.figures, float64(n.total), o.path(model, category, "total")...)
	return a && b && t
}

// mutations compares verdicts on changed calls; the page of the set contains their number.
func mutations(ctx context.Context, c *proof.Check, d proof.Data) error {
	page, err := proof.ReadReadme(d.Set(bfclMutations))
	if err != nil {
		return err
	}
	rows, err := page.CountOf(d.Part, "rows")
	if err != nil {
		return err
	}
	valid, err := page.CountOf(d.Part, "valid")
	if err != nil {
		return err
	}
	c.Due(bfclMutations, rows, page.Source())
	c.Due(bfclMutations+" figures", 1, page.Source())
	v, err := newBFCLCheck(c, bfclMutations, filepath.Join(d.Set(bfclV4), "cases"))
	if err != nil {
		return err
	}
	files, err := d.Files(bfclMutations, "*.jsonl*")
	if err != nil {
		return err
	}
	var n counted
	v.each = func(row *officialRow, _ bool) { n.add(row.Valid) }
	for _, f := range files {
		if err := v.file(ctx, f, ""); err != nil {
			c.Problem(err)
		}
	}
	c.Compare(bfclMutations+" figures", "valid", n.correct == valid, "%d rows are valid, published %d",
		n.correct, valid)
	v.print(len(files))
	return nil
}

// bfclCheck compares verdicts over one set.
type bfclCheck struct {
	c       *proof.Check
	set     string
	cases   map[string]judgedCase
	same, n map[string]int
	// each, when set, is called with every verdict.
	each func(row *officialRow, passed bool)
	// quiet leaves the comparison of verdicts to another check.
	quiet bool
}

// judgedCase is a case with the compiled scorer of its attempts.
type judgedCase struct {
	*callvet.Case
	compiled *score.Compiled
}

func newBFCLCheck(c *proof.Check, set, dir string) (*bfclCheck, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read cases: %w: there is no %s", callvet.ErrNotFound, dir)
	}
	s, _, err := dialect.ImportBFCLTree(dir, os.ReadFile)
	if err != nil {
		return nil, err
	}
	v := &bfclCheck{
		c: c, set: set, cases: make(map[string]judgedCase, len(s.Cases)), n: map[string]int{},
		same: map[string]int{},
	}
	scorer, _ := score.New(s, score.Config{}) // problems are problems of the data (docs/design/bfcl.md)
	for i := range s.Cases {
		c := &s.Cases[i]
		compiled, _ := scorer.Compile(c)
		v.cases[c.ID] = judgedCase{c, compiled}
	}
	return v, nil
}

// file scores the rows of a model's file; with "" of a file without a model.
func (v *bfclCheck) file(ctx context.Context, path, model string) error {
	sources, err := offline.Open(path, nil)
	if err != nil {
		return err
	}
	if len(sources) != 1 {
		return fmt.Errorf("verify %s: %w: %d targets in one file", path, callvet.ErrInvalid, len(sources))
	}
	defer sources[0].Close()
	repeats := map[string]int{}
	return jsonl.Lines(path, func(line []byte) error {
		var row officialRow
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if row.ID == "" {
			row.ID = row.CaseID
		}
		item := strings.TrimSpace(row.ID + " " + row.Mutation)
		c, ok := v.cases[row.ID]
		if !ok {
			v.c.Problem(fmt.Errorf("verify %s: row %s belongs to no case", path, row.ID))
			return nil
		}
		tr, err := attempt(ctx, sources[0].Model, c.Case, repeats[row.ID])
		if err != nil {
			return fmt.Errorf("%s %s: %w", path, row.ID, err)
		}
		repeats[row.ID]++
		r, err := c.compiled.Judge(ctx, tr)
		if err != nil {
			return fmt.Errorf("%s %s: %w", path, row.ID, err)
		}
		if !v.quiet {
			v.compare(strings.TrimSpace(v.set+" "+model), item, &row, r)
		}
		if v.each != nil {
			v.each(&row, r.Verdict == callvet.VerdictPass)
		}
		return nil
	})
}

// attempt converts a recorded answer to a trace.
func attempt(ctx context.Context, m callvet.Model, c *callvet.Case, repeat int) (*callvet.Trace, error) {
	resp, err := m.Generate(ctx, &callvet.Request{CaseID: c.ID, Repeat: repeat, Turns: c.Input})
	if err != nil {
		return nil, err
	}
	tr := &callvet.Trace{
		CaseID: c.ID, Repeat: repeat, Turns: resp.Turns, End: callvet.EndAnswered,
		Repairs: resp.Repairs, FinishReason: resp.FinishReason,
	}
	if len(tr.Calls()) > 0 {
		tr.End = callvet.EndCalled
	}
	tr.Classify(resp.Unread())
	return tr, nil
}

func (v *bfclCheck) compare(subject, item string, row *officialRow, r callvet.Result) {
	agree := (r.Verdict == callvet.VerdictPass) == row.Valid && r.Verdict != callvet.VerdictError &&
		r.Verdict != callvet.VerdictNotRun
	if v.n[row.Category]++; agree {
		v.same[row.Category]++
	}
	verdict := "valid"
	if !row.Valid {
		verdict = row.ErrorType
	}
	v.c.Compare(subject, item, agree, "official %s, callvet %s %s", verdict, r.Verdict,
		strings.TrimSpace(string(r.Class)+" "+r.Reason))
}

// print prints the agreement by category.
func (v *bfclCheck) print(files int) {
	n, same := 0, 0
	var names []string
	for c := range v.n {
		names = append(names, c)
		n, same = n+v.n[c], same+v.same[c]
	}
	slices.Sort(names)
	for _, c := range names {
		v.c.Printf("%-16s %-27s %6d of %6d  %7.3f %%\n", v.set, c, v.same[c], v.n[c],
			100*float64(v.same[c])/float64(v.n[c]))
	}
	v.c.Printf("%-16s %-27s %6d of %6d  %7.3f %%  (%d files)\n", v.set, "all", same, n,
		100*float64(same)/float64(max(n, 1)), files)
}
