// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
)

// aboutSelection is the name of the stored report of a run over a catalogue. The report has the
// explanations by the catalogue of that time.
const aboutSelection = "selection"

// SelectRun is a run over a catalogue in the list of them: its rates, for a curve over time.
type SelectRun struct {
	RunID            string    `json:"run_id"`
	SuiteName        string    `json:"suite_name"`
	SuiteHash        string    `json:"suite_hash" doc:"runs with the same hash have the same questions"`
	CatalogueID      string    `json:"catalogue_id"`
	CatalogueVersion int64     `json:"catalogue_version"`
	Preset           string    `json:"preset"`
	Limit            int64     `json:"limit" doc:"how many tools were returned; 0: the suite's setting"`
	Status           string    `json:"status" enum:"queued,running,done,interrupted,cancelled,failed,budget"`
	TotalTests       int       `json:"total_tests"`
	FailedCount      *int      `json:"failed_count" doc:"null until the run is over"`
	Timestamp        time.Time `json:"timestamp"`
	User             string    `json:"user_id"`
	Problem          string    `json:"problem,omitempty" doc:"why the run cannot be read"`
	SelectRates
}

func addSelectRuns(s *api.Server) {
	op := api.Operations("tool selection", evalPath+"/runs")
	admin := api.Access{Role: account.Admin, Scope: account.ScopeAdmin}
	api.Answer(s, op("list-select-runs", http.MethodGet, "",
		"Lists runs over a catalogue with their rates, the newest first."), admin, api.With(s, selectRuns))
	api.Answer(s, op("get-select-run", http.MethodGet, "/{id}", "Gives the report of such a run again."), admin,
		func(ctx context.Context, _ *account.Principal, in *api.RunIn) (*SelectReport, error) {
			row, err := selectRow(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return selectionReport(ctx, s, row)
		})
	api.Add(s, api.Downloads("the failed attempts as a file", op("export-failed", http.MethodGet, "/{id}/failed",
		"Downloads the failed tests of such a run, all of them.")), admin, api.With(s, exportFailed))
}

func selectRow(ctx context.Context, s *api.Server, id string) (*rows.CheckedSelectRun, error) {
	row, err := s.Config.Store.Rows().SelectRun(ctx, id)
	if api.IsMissing(err) {
		return nil, fmt.Errorf("run %q: %w: it is no run over a catalogue", id, callvet.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return &row, store.Intact(row.Whole, "run "+id)
}

// selectionReport is the report of a run over a catalogue: the stored one, or a new one.
func selectionReport(ctx context.Context, s *api.Server, row *rows.CheckedSelectRun) (*SelectReport, error) {
	return api.Stored(ctx, s, row.RunID, aboutSelection, func() (*SelectReport, error) {
		v, err := selectView(ctx, s, row)
		if err != nil {
			return nil, err
		}
		return selectReport(v, row.CatalogueID, row.CatalogueVersion)
	})
}

// selectView is the report view of a run over a catalogue. It explains why tools lost if the
// catalogue is unchanged.
func selectView(ctx context.Context, s *api.Server, row *rows.CheckedSelectRun) (*results.RunView, error) {
	files := app.Uploads{}
	c, err := s.Library.Catalogue(ctx, row.CatalogueID)
	switch {
	case err == nil:
		files[c.ID] = c.Text
	case !errors.Is(err, callvet.ErrNotFound):
		return nil, err
	}
	return runs.View(ctx, s.Config.App.With(files), results.ViewRequest{Run: row.RunID}, nil)
}

func selectRuns(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.PageIn
	CatalogueID string `query:"catalogue_id" maxLength:"64" doc:"empty: of all catalogues"`
},
) (*api.Page[SelectRun], error) {
	m, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().SelectRuns(ctx,
		rows.SelectRunsParams{CatalogueID: in.CatalogueID, Before: m.At, BeforeID: m.ID, N: int64(in.Limit) + 1})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(r *rows.SelectRunsRow) api.PageMark { return api.PageMark{At: r.Created, ID: r.RunID} },
		func(r *rows.SelectRunsRow) (*SelectRun, error) {
			line, err := selectLine(ctx, s, r)
			if api.IsMissing(err) { // the command line deleted it
				return nil, nil
			}
			return line, err
		})
}

func selectLine(ctx context.Context, s *api.Server, row *rows.SelectRunsRow) (*SelectRun, error) {
	r, sum, err := results.Line(ctx, s.Config.App, row.RunID)
	if err != nil {
		return nil, err
	}
	out := &SelectRun{
		RunID: row.RunID, SuiteName: r.SuiteName, SuiteHash: r.SuiteHash, CatalogueID: row.CatalogueID,
		CatalogueVersion: row.CatalogueVersion, Preset: row.Preset, Limit: row.Depth,
		Status: sum.Status, TotalTests: sum.Cells.Pass + sum.Cells.Fail + sum.Cells.Error + sum.Cells.NotRun,
		Timestamp: r.Created.UTC(), User: row.UserID,
	}
	if err := store.Intact(row.Whole, "run"); err != nil {
		sum.Problem = err.Error()
	}
	if out.Problem = sum.Problem; out.Problem != "" || r.Finished.IsZero() {
		return out, nil
	}
	rep, err := selectionReport(ctx, s,
		&rows.CheckedSelectRun{RunID: row.RunID, CatalogueID: row.CatalogueID, CatalogueVersion: row.CatalogueVersion})
	if errors.Is(err, callvet.ErrInvalid) { // it ended before a tool was selected
		return out, nil
	}
	if api.Broken(ctx, err) {
		out.Problem = err.Error()
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.TotalTests, out.FailedCount, out.SelectRates = rep.TotalTests, &rep.FailedCount, rep.SelectRates
	return out, nil
}

func exportFailed(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	api.RunIn
	Format string `query:"format" enum:"csv,jsonl" default:"csv" doc:"jsonl are traces"`
},
) (*File, error) {
	row, err := selectRow(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	v, err := selectView(ctx, s, row)
	if err != nil {
		return nil, err
	}
	all := v.View.Cells
	v.View.Cells = func(...callvet.Verdict) iter.Seq2[report.Row, error] { return all(callvet.VerdictFail) }
	face, err := report.ByPath("failed." + in.Format)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := &plain.Writer{W: &b}
	if err := errors.Join(face(w, v.View), w.Flush()); err != nil {
		return nil, err
	}
	return &File{
		ContentType: api.MediaTypes()[in.Format],
		Disposition: `attachment; filename="failed-` + in.ID + "." + in.Format + `"`, Body: b.Bytes(),
	}, nil
}

// questionsFile is the file name under which an App reads the questions of a request.
const questionsFile = "questions.json"

// Questions name a catalogue and the questions about it.
type Questions struct {
	CatalogueID string `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"optional if there is exactly one"`
	SuiteID     string `json:"suite_id,omitempty" required:"false" maxLength:"100" doc:"a suite of this server"`
	Suite       string `json:"suite,omitempty" required:"false" maxLength:"33554432" doc:"a suite of questions as a text, in any form that callvet reads; it is not stored"`
	RunID       string `json:"run_id,omitempty" required:"false" maxLength:"100" doc:"the questions of an earlier run over a catalogue"`
	Limit       int    `json:"limit,omitempty" required:"false" minimum:"0" maximum:"100" doc:"how many tools are returned; 0: the suite's setting"`
	Preset      string `json:"preset,omitempty" required:"false" enum:"default,bigtool" doc:"how tools are scored"`
}

// search is a catalogue with questions.
type search struct {
	app       *app.App // with the catalogue, the questions, and the other files of the request
	catalogue *library.Catalogue
	catalogs.Search
}

// searching opens the catalogue and the questions of a request, which the user must be able to
// read; files are those that came with it.
func searching(ctx context.Context, s *api.Server, by *account.Principal, q *Questions, how *Searching,
	files app.Uploads,
) (*search, error) {
	c, err := s.CatalogueOf(ctx, by, q.CatalogueID)
	if err != nil {
		return nil, err
	}
	if files[questionsFile], err = questions(ctx, s, by, q); err != nil {
		return nil, err
	}
	of, err := searchOf(ctx, s, c, how, files)
	if err != nil {
		return nil, err
	}
	of.K, of.Preset = q.Limit, q.Preset
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	return &search{a.With(files), c, of}, nil
}

// questions returns the questions that a request sends, or names and its user may read. Questions
// of a run keep that run's number of tools, unless the request sets one.
func questions(ctx context.Context, s *api.Server, by *account.Principal, q *Questions) ([]byte, error) {
	named := 0
	for _, v := range []string{q.Suite, q.SuiteID, q.RunID} {
		if v != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return nil, &callvet.FieldError{
			Field: "suite",
			Text:  "{suite}: send a suite as a text, name one with {suite_id}, or a run over a catalogue with {run_id}: one of the three",
		}
	case q.Suite != "":
		return []byte(q.Suite), nil
	case q.SuiteID != "":
		if err := s.May(ctx, by, api.KindSuite, q.SuiteID, false); err != nil {
			return nil, err
		}
		_, version, err := s.Library.Now(ctx, q.SuiteID)
		if err != nil {
			return nil, err
		}
		return version.Document.Bytes(), nil
	}
	if err := s.May(ctx, by, api.KindRun, q.RunID, false); err != nil {
		return nil, err
	}
	row, err := selectRow(ctx, s, q.RunID)
	if err != nil {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = int(row.Depth)
	}
	text, err := s.Config.Store.Rows().RunDocument(ctx,
		rows.RunDocumentParams{RunID: q.RunID, About: aboutQuestions, State: asSent})
	if api.IsMissing(err) {
		return nil, &callvet.FieldError{
			Field: "run_id",
			Text:  "{run_id}: the questions of run " + q.RunID + " are not kept", Fix: "send them as {suite}",
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	return text, nil
}

// The questions of a run over a catalogue are stored as sent, with the settings in their file, up
// to maxQuestions bytes. They are deleted with the run.
const (
	aboutQuestions = "questions"
	asSent         = "as sent"
	maxQuestions   = 8 << 20
)

// keepQuestions stores the questions of a new run.
func keepQuestions(ctx context.Context, q *rows.Queries, run string, text []byte) error {
	if len(text) > maxQuestions {
		return nil
	}
	return q.PutRunDocument(ctx,
		rows.PutRunDocumentParams{RunID: run, About: aboutQuestions, State: asSent, Document: text})
}
