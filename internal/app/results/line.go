// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel"
)

// summaryOf returns a run's line in the list. A run that cannot be read has a line with the reason.
func summaryOf(ctx context.Context, a *app.App, db *store.DB, r *store.Run) (report.RunSummary, error) {
	out := report.RunSummary{
		ID: r.ID, Name: r.Name, Notes: r.Notes, Tags: r.Tags, Created: r.Created, Suite: r.SuiteName,
		Status: string(r.State()), Targets: []string{},
	}
	m, err := ReadManifest(r)
	if err != nil {
		out.Problem, m = err.Error(), &Manifest{}
	}
	if out.Cases = r.Cases; m.Cases != nil {
		out.Cases = len(m.Cases)
	}
	out.UntilDecided = m.Until != nil
	for i := range m.Targets {
		out.Targets = append(out.Targets, m.Targets[i].Name)
	}
	var t run.Summary
	if len(r.Totals) == 0 || r.State() == store.StatusRunning { // it is running, or its process was killed
		t.Targets, err = countTargets(ctx, db, r, m)
	} else if err = json.Unmarshal(r.Totals, &t); err != nil {
		err = fmt.Errorf("read totals of run %s: %w", r.ID, doc.Explain(err))
	}
	if err == nil {
		err = countLine(ctx, a, db, r, m, t.Targets, &out)
	}
	if err != nil {
		if Momentary(ctx, err) {
			return out, err
		}
		out.Problem = cmp.Or(out.Problem, err.Error())
	}
	out.Pass = report.RateOf(out.Cells)
	if t.CostKnown && t.CostUSD > 0 { // targets that report no usage count as 0
		out.CostUSD = &t.CostUSD
	}
	return out, nil
}

// countLine counts the attempts of a line from the stored counts of the targets. A planned attempt
// that is not stored did not run. Source: Statistics specification, section 16.2.
func countLine(ctx context.Context, a *app.App, db *store.DB, r *store.Run, m *Manifest, targets []run.Totals,
	out *report.RunSummary,
) error {
	counted := m.Counted(len(targets))
	for _, i := range counted {
		t := &targets[i]
		out.Cells.Pass, out.Cells.Fail = out.Cells.Pass+t.Pass, out.Cells.Fail+t.Fail
		out.Cells.Error, out.Cells.NotRun = out.Cells.Error+t.Error, out.Cells.NotRun+t.NotRun+max(0, t.Total-t.Done-t.LeftOut)
		out.LeftOut, out.InPart = out.LeftOut+t.LeftOut, out.InPart+t.InPart
	}
	if out.Cells.NotRun == 0 {
		return nil
	}
	judgings, err := db.Judgings(ctx, r.ID)
	if err != nil {
		return err
	}
	if len(judgings) > 0 { // a judge may have decided after the count
		return countJudged(ctx, a, db, r, stateOf(a.Config.Version, r, judgings), m.Repeats*len(counted), &out.Cells)
	}
	of := &Run{Manifest: m}
	if m.Skipped == nil { // an older run: read from the suite
		if of, err = OpenIn(ctx, db, r.ID); err != nil {
			return err
		}
	}
	return of.countSkipped(m.Repeats*len(counted), &out.Cells)
}

// Counted returns the positions of the targets, of n, that a line counts: floors are expected to
// fail and do not count if there are models.
func (m *Manifest) Counted(n int) (at []int) {
	models := slices.ContainsFunc(m.Targets, func(t callvet.Target) bool { return !t.Floor })
	for i := range n {
		if !models || i >= len(m.Targets) || !m.Targets[i].Floor {
			at = append(at, i)
		}
	}
	return at
}

// countSkipped counts the attempts that did not run on purpose, with attempts at each case.
func (r *Run) countSkipped(attempts int, cells *panel.Verdicts) error {
	skipped, err := r.skipped()
	cells.Skipped = min(skipped*attempts, cells.NotRun)
	return err
}

// aboutLine is the document of a run with the counts of its line in a list.
const aboutLine = "line"

// countJudged counts the attempts of a run that has judgings. The verdicts of its judges are read only
// once in each state of the run: the counts are kept with the run.
func countJudged(ctx context.Context, a *app.App, db *store.DB, r *store.Run, state string, attempts int,
	cells *panel.Verdicts,
) error {
	if state != "" {
		b, err := db.Rows().RunDocument(ctx, rows.RunDocumentParams{RunID: r.ID, About: aboutLine, State: state})
		if err == nil && json.Unmarshal(b, cells) == nil {
			return nil
		}
	}
	of, err := OpenIn(ctx, db, r.ID)
	if err != nil {
		return err
	}
	opinions, err := of.ReadOpinions(ctx)
	if err != nil {
		return err
	}
	if opinions.Decides() {
		p, err := of.Panels(ctx, []string{})
		if err != nil {
			return err
		}
		*cells = p.Counted()
	} else if err := of.countSkipped(attempts, cells); err != nil {
		return err
	}
	if state == "" {
		return nil
	}
	b, err := json.Marshal(cells)
	if err != nil {
		return err
	}
	err = db.Change(ctx, "keep the counts of a run", func(q *rows.Queries) error {
		return q.PutRunDocument(ctx,
			rows.PutRunDocumentParams{RunID: r.ID, About: aboutLine, State: state, Document: b})
	})
	if errors.Is(err, callvet.ErrDenied) { // a store that cannot be written to
		return nil
	}
	return err
}

// skipped returns how many of the chosen cases are left out on purpose.
func (r *Run) skipped() (n int, err error) {
	if r.Manifest.Skipped != nil {
		return *r.Manifest.Skipped, nil
	}
	for c := range r.Chosen(&err) {
		if c.Skip != "" {
			n++
		}
	}
	return n, err
}

// countTargets counts the stored attempts of a run.
func countTargets(ctx context.Context, db *store.DB, r *store.Run, m *Manifest) ([]run.Totals, error) {
	of, err := OpenIn(ctx, db, r.ID)
	if err != nil {
		return nil, err
	}
	counts, err := db.Counts(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	out := make([]run.Totals, len(m.Targets))
	for i := range out {
		t := &out[i]
		t.Total = m.Attempts(of.Cases())
		t.Pass, t.Fail = counts[i][callvet.VerdictPass], counts[i][callvet.VerdictFail]
		t.Error, t.NotRun = counts[i][callvet.VerdictError], counts[i][callvet.VerdictNotRun]
		t.Done = t.Pass + t.Fail + t.Error + t.NotRun
	}
	return out, nil
}
