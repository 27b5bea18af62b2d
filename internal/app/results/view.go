// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/score"
)

// ViewRequest requests the report view of a run.
type ViewRequest struct {
	// Run is an id or the beginning of one, a name, or last, last~1, …
	Run string `json:"run"`
	// Slices are tag, tier or names of fields, * for all fields; nil: the slices of the run's
	// settings.
	Slices []string `json:"slices,omitempty"`
	// Keep are kinds of personal data that are shown.
	Keep []string `json:"keep,omitempty"`
	// Baseline is a run or a trace file to compare with, if given.
	Baseline app.Side `json:"baseline,omitzero"`
}

// RunView is the report view of a run, with the most useful next actions. The client fills in All
// and Next of its View.
type RunView struct {
	*Run
	View *report.View
	Next []app.Action
}

// View sums up the run by slices and redacts it by red; op and why: see section.
func (r *Run) View(ctx context.Context, sliceBy []string, red *redact.Redactor, op *app.Opener,
	why string,
) (*RunView, error) {
	p, err := r.ranked(ctx, sliceBy)
	if err != nil {
		return nil, err
	}
	v := r.viewOf(ctx, p, red)
	for _, t := range r.early() {
		v.LeftOut += t.LeftOut
	}
	if v.Problem, err = r.problem(ctx, p); err != nil {
		return nil, err
	}
	if v.Selection, err = r.section(ctx, p, op, why, red); err != nil {
		return nil, err
	}
	opinions, err := r.ReadOpinions(ctx)
	if err != nil {
		return nil, err
	}
	v.JudgeReports = opinions.Reports
	out := &RunView{Run: r, View: v}
	if r.damage == nil { // otherwise no action is possible
		out.Next = r.Next(p)
	}
	return out, nil
}

func (r *Run) viewOf(ctx context.Context, p *panel.Panels, red *redact.Redactor) *report.View {
	return &report.View{
		ID: r.Stored.ID, Created: r.Stored.Created, Status: string(r.Stored.State()), Spent: r.Stored.Spent,
		Suite: report.SuiteMeta{
			Name: r.Suite.Name, Version: r.Suite.Version, Description: red.Text(r.Suite.Description),
			Hash:  r.Stored.SuiteHash,
			Cases: r.Cases(), Tools: len(r.Suite.Tools), Scoring: r.Suite.Defaults.Scoring,
		},
		Tools:   r.Suite.Tools,
		Targets: r.Manifest.Targets, Panels: p, Manifest: r.fields(),
		Cells: func(verdicts ...callvet.Verdict) iter.Seq2[report.Row, error] {
			return seen(r.whole(ctx, store.Filter{Verdicts: verdicts, Exchanges: true}), red)
		},
		Verdicts: func() iter.Seq2[report.Row, error] { return r.verdicts(ctx) },
	}
}

// ReopenCatalogues returns the catalogs of a stored run, to explain its selections; nil if there are none,
// and nil with the reason if they cannot be opened unchanged.
func ReopenCatalogues(ctx context.Context, a *app.App, r *Run, events app.Events) (op *app.Opener, why string) {
	names := app.TargetNames(r.Manifest.Specs)
	found, asks, _ := catalog.Searches(names)
	switch {
	case !found:
		return nil, ""
	case asks:
		return nil, "the run used models, and a report asks none"
	}
	if why = catalog.Changed(names, r.Manifest.Catalogues, r.Manifest.ToolsHash, a.CatalogueFiles()); why != "" {
		return nil, why
	}
	op, err := a.NewOpener(0, "", r.Stored.ID, events)
	if err == nil {
		defer op.Close()
		_, err = op.OpenAll(ctx, r.Manifest.Specs)
	}
	if err != nil {
		return nil, err.Error()
	}
	op.Stored = true
	return op, ""
}

// section is the report section of a run's decisions; nil without any. op has the catalogues for
// explanations; why is the reason if there are none.
func (r *Run) section(ctx context.Context, p *panel.Panels, op *app.Opener, why string,
	red *redact.Redactor,
) (*panel.RoutingSection, error) {
	if !slices.ContainsFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Selects }) {
		return nil, nil
	}
	set, _ := score.SelectionSettingsOf(r.Suite.Defaults.Scoring.Selection) // its mistakes were reported before the run
	c := panel.RoutingCollector{Known: catalog.Known(r.Manifest.Targets, r.Suite.Tools), Weights: panel.RoutingWeights(set)}
	for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		c.Add(row.Case, row.Cell)
	}
	s := c.Section(p)
	if s == nil {
		return nil, nil
	}
	if op != nil {
		catalog.ExplainSelections(ctx, s, op.Retrievers, op.Stored)
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		for j := range t.Failed { // which are explained with what was asked, and not with what is shown
			hideFailed(&t.Failed[j], red)
		}
		if r.Manifest.Targets[t.Target].Provider == "retrieve" && t.Failures > 0 && why != "" {
			t.Unexplained = why
		}
	}
	return s, nil
}

// hideFailed redacts a failed decision.
func hideFailed(f *panel.RoutingFailure, red *redact.Redactor) {
	red.Begin()
	f.Query, f.Reason, f.Routed = red.Text(f.Query), red.Text(f.Reason), red.Text(f.Routed)
	for i := range f.Diagnose {
		for j, why := range f.Diagnose[i].Reasons {
			f.Diagnose[i].Reasons[j] = red.Text(why)
		}
	}
}

// CaseRequest requests the attempts at one case.
type CaseRequest struct {
	Run  string `json:"run"`
	Case string `json:"case"`
	// Target is the name of one; "": all.
	Target string   `json:"target,omitempty"`
	Keep   []string `json:"keep,omitempty"`
}

// CaseView has the attempts at one case; its View has no panels.
type CaseView struct {
	*Run
	View *report.View
	Rows []report.Row
	// Tools are the tools that the case offers.
	Tools []callvet.Tool
	// Systems are the system texts of the attempts, for each target of the run.
	Systems []string
}

// ShowCase returns the attempts at one case. It reads no others and sums up nothing. The error
// wraps callvet.ErrNotFound if there are none.
func ShowCase(ctx context.Context, a *app.App, req CaseRequest) (*CaseView, error) {
	r, red, err := OpenRedacted(ctx, a, req.Run, req.Keep)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(r.Manifest.Targets))
	for i := range names {
		names[i] = r.Manifest.Targets[i].Name
	}
	if req.Target != "" && !slices.Contains(names, req.Target) {
		return nil, &callvet.Hinted{Err: fmt.Errorf("show run %s: target %q: %w", r.Stored.ID, req.Target,
			callvet.ErrNotFound), Hint: "its targets: " + strings.Join(names, ", ")}
	}
	out := &CaseView{Run: r, View: r.viewOf(ctx, &panel.Panels{Repeats: r.mostRepeats()}, red)}
	f := store.Filter{CaseID: req.Case}
	o, _, err := cachedOutline(ctx, a, r)
	if err != nil {
		return nil, err
	}
	if o != nil && req.Case != "" { // the store would read all attempts to find those at a case
		if at := o.attemptsAt(req.Case); len(at) <= store.MostPlaces {
			f = store.Filter{At: at}
		}
	}
	f.Exchanges = true
	for row, err := range seen(r.explained(ctx, f), red) {
		if err != nil {
			return nil, err
		}
		if req.Target == "" || r.Manifest.Targets[row.Cell.Target].Name == req.Target {
			out.Rows = append(out.Rows, row)
		}
	}
	if len(out.Rows) == 0 {
		return nil, &NoAttemptError{Case: req.Case, Run: r.Stored.ID}
	}
	of := out.Rows[0].Case
	out.Tools = run.Offered(r.Suite, of)
	for i := range r.Manifest.Targets {
		out.Systems = append(out.Systems,
			red.Text(run.System(r.Suite.SystemPrompt, &r.Manifest.Targets[i], of.Context)))
	}
	return out, nil
}

// explained streams attempts with the comparison of their calls. Runs do not store it for a pass
// with nothing to report: it is made again. A pass that cannot be judged again here (by a program,
// or with redacted arguments) stays without it.
func (r *Run) explained(ctx context.Context, f store.Filter) iter.Seq2[report.Row, error] {
	return func(yield func(report.Row, error) bool) {
		scorer, _ := score.New(r.Suite, score.Config{Explain: true}) // the suite was linted
		for row, err := range r.Rows(ctx, f) {
			if err == nil && row.Cell.Result.Verdict == callvet.VerdictPass && len(row.Cell.Result.Calls) == 0 {
				by, _ := scorer.Compile(row.Case)
				if again, err := by.Judge(ctx, &row.Cell.Trace); err == nil && again.Verdict == callvet.VerdictPass {
					row.Cell.Result.Calls = again.Calls
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// NoAttemptError is the error of a run without an attempt at a case, or without one of the
// requested target. It wraps callvet.ErrNotFound.
type NoAttemptError struct{ Case, Run string }

func (e *NoAttemptError) Error() string {
	return fmt.Sprintf("show case %q of run %s: %v", e.Case, e.Run, callvet.ErrNotFound)
}

// Unwrap returns callvet.ErrNotFound.
func (e *NoAttemptError) Unwrap() error { return callvet.ErrNotFound }

// List returns the latest runs, the newest first; limit 0: all.
func List(ctx context.Context, a *app.App, limit int) ([]report.RunSummary, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := db.Runs(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := make([]report.RunSummary, len(list))
	for i := range list {
		if out[i], err = summaryOf(ctx, a, db, &list[i]); err != nil {
			return nil, err
		}
	}
	live, err := liveOf(ctx, db, "")
	if err != nil {
		return nil, err
	}
	for i := range live {
		at := slices.IndexFunc(out, func(r report.RunSummary) bool { return r.ID == live[i].Run })
		if at >= 0 {
			out[at].Judging = append(out[at].Judging,
				report.RunJudging{
					ID: live[i].ID, Judge: live[i].JudgeID, Status: string(live[i].Status),
					Answers: live[i].Answers,
				})
		}
	}
	return out, nil
}

// Line returns a stored run with its line in the list.
func Line(ctx context.Context, a *app.App, ref string) (*store.Run, report.RunSummary, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, report.RunSummary{}, err
	}
	r, err := Stored(ctx, db, ref)
	if err != nil {
		return nil, report.RunSummary{}, err
	}
	sum, err := summaryOf(ctx, a, db, &r)
	return &r, sum, err
}

// State identifies the data of a run's report. It changes when the run is resumed or judged
// again, with the program's version, and with the manifest. It is "" for a run that is not over.
func State(ctx context.Context, a *app.App, ref string) (string, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return "", err
	}
	r, err := Stored(ctx, db, ref)
	if err != nil {
		return "", err
	}
	judgings, err := db.Judgings(ctx, r.ID)
	if err != nil {
		return "", err
	}
	return stateOf(a.Config.Version, &r, judgings), nil
}

// stateOf is the State of a run with its judgings.
func stateOf(version string, r *store.Run, judgings []store.Run) string {
	if r.Finished.IsZero() || r.Owner != nil {
		return ""
	}
	state := fmt.Sprintf("%s %s %d %x", version, r.State(), r.Finished.UnixMilli(), crc32.ChecksumIEEE(r.Manifest))
	if r.Name != "" { // comparisons show it
		state += fmt.Sprintf(" %x", crc32.ChecksumIEEE([]byte(r.Name)))
	}
	for i := range judgings {
		j := &judgings[i]
		if j.Owner != nil {
			return ""
		}
		state += fmt.Sprintf(" %s %d %x", j.ID, j.Finished.UnixMilli(), crc32.ChecksumIEEE(j.Manifest))
	}
	return state
}

// Delete deletes a run for good, with what is done also in the same transaction. The free space is
// used again later. The error is a *store.HeldError for a run that a process carries out.
func Delete(ctx context.Context, a *app.App, ref string, also store.Also) (id string, err error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return "", err
	}
	c, err := a.Config.Claim()
	if err != nil {
		return "", err
	}
	r, err := Stored(ctx, db, ref)
	if err != nil {
		return "", err
	}
	err = db.DeleteRun(ctx, r.ID, c.Gone, also)
	if held := (*store.HeldError)(nil); errors.As(err, &held) {
		err = fmt.Errorf("delete run: %w", held)
	}
	return r.ID, err
}

// DeleteRuns deletes runs for good, one after the other, and returns their space to the disk;
// deleted are the deleted runs, also after an error.
func DeleteRuns(ctx context.Context, a *app.App, refs []string) (deleted []string, err error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		id, err := Delete(ctx, a, ref, nil)
		if err != nil {
			return deleted, err
		}
		deleted = append(deleted, id)
	}
	return deleted, db.Vacuum(ctx)
}

// DescribeRequest changes the texts of people about a run; nil leaves a text unchanged.
type DescribeRequest struct {
	Run   string    `json:"run"`
	Name  *string   `json:"name,omitempty"`
	Notes *string   `json:"notes,omitempty"`
	Tags  *[]string `json:"run_tags,omitempty"`
}

// Describe changes the name, the notes and the tags of a run, and returns them.
func Describe(ctx context.Context, a *app.App, req DescribeRequest) (store.Words, error) {
	var out store.Words
	db, err := a.Config.Store(ctx)
	if err != nil {
		return out, err
	}
	r, err := Stored(ctx, db, req.Run)
	if err != nil {
		return out, err
	}
	err = db.Describe(ctx, r.ID, func(w *store.Words) error {
		if req.Name != nil {
			w.Name = strings.TrimSpace(*req.Name)
		}
		if req.Notes != nil {
			w.Notes = *req.Notes
		}
		if req.Tags != nil {
			w.Tags = *req.Tags
		}
		if err := app.CheckWords(w); err != nil {
			return err
		}
		out = *w
		return a.Secrets().Spelled(app.WordSettings(w))
	})
	return out, err
}
