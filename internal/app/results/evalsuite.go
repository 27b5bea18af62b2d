// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
)

// EvalFile is a file with cases of a run.
type EvalFile struct {
	Name string `json:"name"`
	// Hash is the first 12 hexadecimal digits of the SHA-256 of its bytes.
	Hash string `json:"hash"`
	// Cases is how many there are, one after the other.
	Cases int `json:"cases"`
}

// EvalFiles counts cases by their file, in their order, and collects how they were made.
type EvalFiles struct {
	list []EvalFile
	Made *app.Makers
	err  error
}

// Of adds a case; cases come in the order of their files.
func (f *EvalFiles) Of(c *callvet.Case) {
	name := c.Position.File
	if n := len(f.list); n == 0 || f.list[n-1].Name != name {
		f.list = append(f.list, EvalFile{Name: name})
	}
	f.list[len(f.list)-1].Cases++
	if f.err == nil && f.Made.Recorded() {
		f.err = f.Made.Add(c)
	}
}

// Stale reports what changed since the cases were made. It does not stop a run.
func (f *EvalFiles) Stale(ctx context.Context, s *callvet.Suite, models []string, events app.Events) ([]string, error) {
	if f.err != nil {
		return nil, f.err
	}
	now := suite.StaleStateOf(s, models, "")
	groups, err := f.Made.Compare(ctx, s, &now)
	var out []string
	for i := range groups {
		for _, w := range groups[i].Warnings {
			out = append(out, w.Text)
			if len(out) <= maxStale {
				events.Note(w.Code, "%s: %s", groups[i].From, w.Text)
			}
		}
	}
	if n := len(out) - maxStale; n > 0 {
		events.Note("stale", "and %d more things changed since the cases were made: callvet stale lists them", n)
	}
	if len(groups) == 0 {
		out = append(out, "staleness detection unavailable: nothing was recorded of how the cases were made")
	}
	return out, err
}

// maxStale is how many changes are reported before a run.
const maxStale = 5

// Hashed returns the files with their hashes; the hash of an unread file is "".
func (f *EvalFiles) Hashed(read []suite.File) []EvalFile {
	out := slices.Clone(f.list)
	for i := range out {
		for j := range read {
			if read[j].Name == out[i].Name {
				out[i].Hash = read[j].Hash[:12]
			}
		}
		out[i].Name = filepath.Base(out[i].Name)
	}
	return out
}

// fileHash is the hash of the file of the case at a position of the suite; "" where it is not known.
func (m *Manifest) fileHash(ix int) string {
	for i := range m.EvalFiles {
		if ix -= m.EvalFiles[i].Cases; ix < 0 {
			return m.EvalFiles[i].Hash
		}
	}
	return ""
}

// EvalSuites converts a stored run to EvalSuiteResults, one for each target, tier and tool. It asks
// no model.
func EvalSuites(ctx context.Context, a *app.App, req app.EvalSuiteRequest) ([]suite.EvalResult, error) {
	r, red, err := OpenRedacted(ctx, a, req.Run, req.Keep)
	if err != nil {
		return nil, err
	}
	b := suite.EvalBuilder{
		RunID: r.Stored.ID, Created: r.Stored.Created, Suite: r.Suite.Name, Tools: r.Suite.Tools,
		FileHash: r.Manifest.fileHash, Stale: map[string][]string{"": r.Manifest.Stale},
	}
	for i := range r.Manifest.Targets {
		b.Targets = append(b.Targets, r.Manifest.Targets[i].Name)
	}
	if req.Target != "" && !slices.Contains(b.Targets, req.Target) {
		return nil, app.Wrong("target", req.Target, "the run did not ask it")
	}
	for row, err := range seen(r.whole(ctx, store.Filter{Order: store.ByCase}), red) {
		if err != nil {
			return nil, err
		}
		if req.Target != "" && b.Targets[row.Cell.Target] != req.Target || req.Tier != "" && row.Case.Tier != req.Tier {
			continue
		}
		b.Add(row.Case, row.Cell)
	}
	var base *suite.EvalBaseline
	if req.Baseline != "" {
		if base, err = evalBaseline(ctx, a, r, req.Baseline); err != nil {
			return nil, err
		}
	}
	out := b.Results(base)
	return out, reportQuarantine(a, out, req.Gates)
}

// reportQuarantine adds the cases in quarantine to the results that contain them.
func reportQuarantine(a *app.App, results []suite.EvalResult, name string) error {
	if name == "" {
		return nil
	}
	file, err := GateFile(a, name, nil)
	if err != nil {
		return err
	}
	for i := range results {
		r := &results[i]
		for j := range file.Quarantine {
			q := &file.Quarantine[j]
			if slices.ContainsFunc(r.Cases, func(c suite.EvalCaseResult) bool { return c.ID == q.Case }) {
				r.Quarantined = append(r.Quarantined,
					suite.EvalQuarantined{ID: q.Case, Owner: q.Owner, Until: q.Until, Over: q.Over(a.Config.Now())})
			}
		}
	}
	return nil
}

// evalBaseline compares a run with an earlier one, case by case.
func evalBaseline(ctx context.Context, a *app.App, r *Run, ref string) (*suite.EvalBaseline, error) {
	was, err := Open(ctx, a, ref)
	if err != nil {
		return nil, err
	}
	before, err := was.Ledger(ctx, measure.SideConfig{By: []string{}})
	if err != nil {
		return nil, err
	}
	now, err := r.Ledger(ctx, measure.SideConfig{By: []string{}})
	if err != nil {
		return nil, err
	}
	base := &suite.EvalBaseline{
		RunID: was.Stored.ID, Comparison: panel.Diff(before, now, 0), Tiers: map[string]callvet.Tier{},
		Before: before.Attempts, Now: now.Attempts,
		Repeats: was.mostRepeats() > 1 || r.mostRepeats() > 1,
	}
	var bad error
	for c := range was.Chosen(&bad) {
		base.Tiers[c.ID] = c.Tier
	}
	return base, bad
}
