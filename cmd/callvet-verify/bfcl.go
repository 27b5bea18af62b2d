// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/internal/provider/recorded"
	"github.com/callvet/callvet/internal/suite/bfcl"
	"github.com/callvet/callvet/score"
)

// The bars: the share of official verdicts that must come out, per category.
const (
	bfclBar        = 0.995
	bfclLiteralBar = 0.98 // Java and JavaScript
	bfclListed     = 40   // disagreements printed per set
)

// officialRow is what a row of outputs or mutations says about itself.
type officialRow struct {
	ID        string `json:"id"`
	CaseID    string `json:"case_id"`
	Category  string `json:"category"`
	Valid     bool   `json:"valid"`
	ErrorType string `json:"error_type"`
}

// bfclAgreement scores recorded outputs through suite, recording and scorer and
// compares every verdict with the official one. Every folder beside cases that
// holds outputs (open, heldout, …) is read.
func bfclAgreement(ctx context.Context, out io.Writer, data string) (bool, error) {
	sets := filepath.Join(data, "sets")
	ok, read := true, 0
	for _, s := range []struct{ name, cases, outputs string }{
		{"bfcl_v1_2024-08", "bfcl_v1_2024-08/cases", "bfcl_v1_2024-08/*/outputs/*.jsonl*"},
		{"bfcl_v4_2025-11", "bfcl_v4_2025-11/cases", "bfcl_v4_2025-11/*/outputs/*.jsonl*"},
		{"bfcl_mutations", "bfcl_v4_2025-11/cases", "bfcl_mutations/*/mutations.jsonl*"},
	} {
		files, err := filepath.Glob(filepath.Join(sets, s.outputs))
		if err != nil {
			return false, err
		}
		if len(files) == 0 {
			fmt.Fprintf(out, "%s: no outputs at %s\n", s.name, filepath.Join(sets, s.outputs))
			continue
		}
		v, err := newBFCLCheck(s.name, filepath.Join(sets, s.cases))
		if err != nil {
			return false, err
		}
		sort.Strings(files)
		for _, f := range files {
			if err := v.file(ctx, f); err != nil {
				return false, err
			}
		}
		read += len(files)
		ok = v.report(out, len(files)) && ok
	}
	if read == 0 {
		return false, fmt.Errorf("verify bfcl: %w: no outputs under %s", callvet.ErrNotFound, sets)
	}
	mark := "every category reaches its bar"
	if !ok {
		mark = "UNDER THE BAR"
	}
	fmt.Fprintf(out, "bfcl: %s (%d files; bar %.1f %%, Java and JavaScript %.0f %%)\n", mark, read, 100*bfclBar, 100*bfclLiteralBar)
	return ok, nil
}

// bfclCheck compares verdicts over one set.
type bfclCheck struct {
	name     string
	scorer   *score.Scorer
	cases    map[string]*callvet.Case
	n, same  map[string]int
	disagree []string
	missing  int
	// each, when set, is told every verdict; name is the file's without its endings.
	each func(name string, row *officialRow, passed bool)
}

func newBFCLCheck(name, dir string) (*bfclCheck, error) {
	s, _, err := bfcl.ImportFolder(dir)
	if err != nil {
		return nil, err
	}
	v := &bfclCheck{name: name, cases: make(map[string]*callvet.Case, len(s.Cases)), n: map[string]int{}, same: map[string]int{}}
	v.scorer, _ = score.New(s, score.Config{}) // problems are the data's own (docs/BFCL.md)
	for i := range s.Cases {
		v.cases[s.Cases[i].ID] = &s.Cases[i]
	}
	return v, nil
}

func (v *bfclCheck) file(ctx context.Context, path string) error {
	sources, err := recorded.Open(path)
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
			return err
		}
		if row.ID == "" {
			row.ID = row.CaseID
		}
		c := v.cases[row.ID]
		if c == nil {
			v.missing++
			return nil
		}
		tr, err := attempt(ctx, sources[0].Model, c, repeats[row.ID])
		if err != nil {
			return fmt.Errorf("%s %s: %w", path, row.ID, err)
		}
		repeats[row.ID]++
		r := v.scorer.Score(c, tr)
		v.count(filepath.Base(path), &row, r)
		if v.each != nil {
			v.each(jsonl.Stem(path), &row, r.Verdict == callvet.VerdictPass)
		}
		return nil
	})
}

// attempt makes the trace of a recorded answer.
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
	tr.Classify(resp.Unreadable)
	return tr, nil
}

func (v *bfclCheck) count(file string, row *officialRow, r callvet.Result) {
	v.n[row.Category]++
	if (r.Verdict == callvet.VerdictPass) == row.Valid && r.Verdict != callvet.VerdictError && r.Verdict != callvet.VerdictNotRun {
		v.same[row.Category]++
		return
	}
	official := "valid"
	if !row.Valid {
		official = row.ErrorType
	}
	v.disagree = append(v.disagree, fmt.Sprintf("%s %s: official %s, callvet %s %s", file, row.ID, official, r.Verdict, strings.TrimSpace(string(r.Class)+" "+r.Reason)))
}

// report prints a line per category and per disagreement.
func (v *bfclCheck) report(out io.Writer, files int) bool {
	names := make([]string, 0, len(v.n))
	for c := range v.n {
		names = append(names, c)
	}
	sort.Strings(names)
	ok, n, same := v.missing == 0, 0, 0
	for _, c := range names {
		bar := bfclBar
		if strings.Contains(c, "java") {
			bar = bfclLiteralBar
		}
		share := float64(v.same[c]) / float64(v.n[c])
		mark := ""
		if share < bar {
			ok, mark = false, "  UNDER THE BAR"
		}
		fmt.Fprintf(out, "%-16s %-27s %6d of %6d  %7.3f %%%s\n", v.name, c, v.same[c], v.n[c], 100*share, mark)
		n, same = n+v.n[c], same+v.same[c]
	}
	for i, d := range v.disagree {
		if i == bfclListed {
			fmt.Fprintf(out, "%s: %d more disagreements\n", v.name, len(v.disagree)-i)
			break
		}
		fmt.Fprintf(out, "%s differs: %s\n", v.name, d)
	}
	if v.missing > 0 {
		fmt.Fprintf(out, "%s: %d rows belong to no case\n", v.name, v.missing)
	}
	fmt.Fprintf(out, "%-16s %-27s %6d of %6d  %7.3f %%  (%d files)\n", v.name, "all", same, n, 100*float64(same)/float64(max(n, 1)), files)
	return ok
}
