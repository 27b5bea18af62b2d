// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/panel"
)

type (
	// ScoreAsk requests the scores of traces or of a run, by call and by task.
	ScoreAsk struct {
		TracesID string `json:"traces_id,omitempty" maxLength:"64" doc:"a collection of traces"`
		EvalID   string `json:"eval_id,omitempty" maxLength:"100" doc:"a run"`
		Traces   string `json:"traces,omitempty" maxLength:"33554432" doc:"a trace file in any form that callvet reads; it is not stored"`
		TraceWith
		Slices     []string `json:"slices,omitempty" maxItems:"100" nullable:"false" doc:"keys, crosses as language*intent, * for all; left out: the usual ones"`
		Confidence float64  `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"of the intervals, two-sided; 0: 0.95"`
		Strict     bool     `json:"strict,omitempty" doc:"a line that is no record is an error"`
	}
	// TraceWith are the files and settings for reading traces. A run has most of them already.
	TraceWith struct {
		SuiteID string          `json:"suite_id,omitempty" maxLength:"100" doc:"a suite with the tasks as cases: its verdict is their pass if they have none, its tools are the contracts of arguments"`
		Tools   json.RawMessage `json:"tools,omitempty" doc:"tools with their schemas, in any form that callvet reads"`
		Safety  json.RawMessage `json:"safety,omitempty" doc:"rules of safety; left out: the constraints of the tools"`
		Scoring json.RawMessage `json:"scoring,omitempty" doc:"how arguments are compared, as under scoring in a suite"`
		// Labels and Calibrations also apply to runs.
		Labels       bool              `json:"labels,omitempty" doc:"with people's labels of the run or the collection: computes true_success, without a judge from labels that were drawn at random"`
		Calibrations []json.RawMessage `json:"calibrations,omitempty" maxItems:"20" nullable:"false" doc:"calibrations of judges, from calibrate: computes true_success"`
	}
	// ScoreSheet contains the scores of traces or of a run.
	ScoreSheet struct {
		Files  []string      `json:"files" nullable:"false"`
		Lines  int64         `json:"lines"`
		Steps  int64         `json:"steps"`
		Tasks  int64         `json:"task_records"`
		Bad    int64         `json:"malformed_lines"`
		Panels *panel.Panels `json:"panels"`
		// Estimates is as in reports.
		Estimates string           `json:"estimates" doc:"what the numbers are about, in a sentence"`
		Problems  []string         `json:"problems" nullable:"false" doc:"lines that are no records, and unknown names; the first ones"`
		Notes     []callvet.Notice `json:"notes" nullable:"false"`
	}
)

// addScore adds the routes that sum up traces.
func addScore(s *api.Server) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/api" + path, Summary: summary,
			Tags: []string{"traces"}, MaxBodyBytes: library.MaxBatch,
		}
	}
	reads := api.Access{Reads: true, Scope: account.ScopeRead}
	api.Answer(s,
		op("score", http.MethodPost, "/score",
			"Sums traces or a run up, by call and by task, with intervals and findings."), reads,
		func(ctx context.Context, by *account.Principal,
			in *struct{ Body ScoreAsk },
		) (*ScoreSheet, error) {
			out, h, err := scored(ctx, s, by, &in.Body)
			if err != nil {
				return nil, err
			}
			v := out.View
			sheet := ScoreSheet{
				Files: v.Files, Lines: v.Lines, Steps: v.Steps, Tasks: v.Tasks, Bad: v.Panels.Lost.Records(),
				Panels: v.Panels, Estimates: v.Population(),
				Problems: []string{}, Notes: h.All(),
			}
			for _, p := range v.Problems {
				sheet.Problems = append(sheet.Problems, s.Config.App.Secrets().Hide(p.Error()))
			}
			return &sheet, nil
		})
	api.Add(s, api.Downloads("the report as a file", op("score-report", http.MethodPost, "/score/report",
		"Downloads the report of such a sum.")), reads, func(ctx context.Context, by *account.Principal, in *struct {
		Format string `query:"format" enum:"html,md,csv,json,txt" default:"html"`
		Body   ScoreAsk
	},
	) (*File, error) {
		out, _, err := scored(ctx, s, by, &in.Body)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := out.WriteAs(&text, in.Format); err != nil {
			return nil, err
		}
		return &File{
			ContentType: api.MediaTypes()[in.Format],
			Disposition: `attachment; filename="scores.` + in.Format + `"`, Body: text.Bytes(),
		}, nil
	})
	of := api.Access{Objects: map[string]api.Kind{"id": api.KindTraces}, Reads: true, Scope: account.ScopeRead}
	api.Answer(s, op("gate-traces", http.MethodPost, "/traces/{id}/gate",
		"Compares a collection with gates, and with a baseline."), of, api.With(s, gateTraces))
	api.Answer(s,
		op("diff-traces", http.MethodGet, "/traces/{id}/diff",
			"Compares a collection with another one, or with a run, task by task."), api.Access{Objects: of.Objects},
		api.With(s, diffTraces))
}

// The files of a request have the names of its fields.
const (
	suiteField   = library.Reserved + "suite_id"
	toolsField   = library.Reserved + "tools"
	safetyField  = library.Reserved + "safety"
	scoringField = library.Reserved + "scoring"
	tracesField  = library.Reserved + "traces"
	gatesField   = library.Reserved + "gates"
)

// settings adds the files for reading traces.
func settings(ctx context.Context, s *api.Server, by *account.Principal, w *TraceWith, of labelled,
	files app.Uploads,
) (set app.TraceSettings, err error) {
	if w.SuiteID != "" {
		if err := s.May(ctx, by, api.KindSuite, w.SuiteID, false); err != nil {
			return set, err
		}
		_, version, err := s.Library.Now(ctx, w.SuiteID)
		if err != nil {
			return set, err
		}
		set.Suite, files[suiteField] = suiteField, version.Document.Bytes()
	}
	if !api.Null(w.Tools) {
		set.Tools, files[toolsField] = []string{toolsField}, w.Tools
	}
	if !api.Null(w.Safety) {
		set.Safety, files[safetyField] = safetyField, w.Safety
	}
	if !api.Null(w.Scoring) {
		set.Scoring, files[scoringField] = scoringField, w.Scoring
	}
	err = people(ctx, s, w, of, &set, files)
	return set, err
}

// scored sums up the traces or the run of a request, which the user must be able to read.
func scored(ctx context.Context, s *api.Server, by *account.Principal,
	ask *ScoreAsk,
) (*traces.Scored, *api.Notices, error) {
	given := 0
	for _, x := range []string{ask.TracesID, ask.EvalID, ask.Traces} {
		if x != "" {
			given++
		}
	}
	if given != 1 {
		return nil, nil, &callvet.FieldError{
			Field: "traces_id",
			Text:  "{traces_id}: name a collection, or a run with {eval_id}, or send {traces}: one of the three",
		}
	}
	files := app.Uploads{}
	req := traces.ScoreRequest{Slices: ask.Slices, Confidence: ask.Confidence, Strict: ask.Strict}
	for kind, id := range map[api.Kind]string{api.KindTraces: ask.TracesID, api.KindRun: ask.EvalID} {
		if id != "" {
			if err := s.May(ctx, by, kind, id, false); err != nil {
				return nil, nil, err
			}
		}
	}
	release, err := alone(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	of := labelled{api.KindTraces, ask.TracesID}
	switch {
	case ask.EvalID != "":
		req.Run, of = ask.EvalID, labelled{api.KindRun, ask.EvalID}
	case ask.TracesID != "":
		name, err := bring(ctx, s, ask.TracesID, files)
		if err != nil {
			return nil, nil, err
		}
		req.Traces = []string{name}
	default:
		files[tracesField] = []byte(ask.Traces)
		req.Traces = []string{tracesField}
	}
	if req.TraceSettings, err = settings(ctx, s, by, &ask.TraceWith, of, files); err != nil {
		return nil, nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, nil, err
	}
	h := &api.Notices{}
	out, err := traces.Score(ctx, a.With(files), req, h.Collect)
	if err != nil {
		return nil, nil, h.Refused(err)
	}
	return out, h, nil
}

func gateTraces(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TracesPath
	Body struct {
		Gates    string `json:"gates" minLength:"1" maxLength:"1000000" doc:"a gate file, YAML or JSON (callvet schema gates)"`
		Baseline string `json:"baseline_traces_id,omitempty" maxLength:"64"`
		Run      string `json:"baseline_eval_id,omitempty" maxLength:"100"`
		Judge    string `json:"judge,omitempty" maxLength:"200" doc:"the judge in the traces that is compared with the baseline's; empty: the source's own checks"`
		TraceWith
	}
},
) (*api.GateVerdict, error) {
	b := &in.Body
	files := app.Uploads{gatesField: []byte(b.Gates)}
	req := traces.GateRequest{Gates: gatesField, Judge: b.Judge}
	var release func()
	var err error
	if req.Traces, req.Baseline, release, err = sides(ctx, s, by, in.ID, b.Baseline, b.Run, files); err != nil {
		return nil, err
	}
	defer release()
	if req.TraceSettings, err = settings(ctx, s, by, &b.TraceWith, labelled{api.KindTraces, in.ID}, files); err != nil {
		return nil, err
	}
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	h := &api.Notices{}
	res, err := traces.Gate(ctx, a.With(files), req, h.Collect)
	if bad := BadGates(err); bad != nil {
		return nil, bad
	}
	if err != nil {
		return nil, h.Refused(err)
	}
	return &api.GateVerdict{Report: res.Report}, nil
}

// sides opens a collection and its comparison, which the user must be able to read.
func sides(ctx context.Context, s *api.Server, by *account.Principal, id, base, run string,
	files app.Uploads,
) (traces string, baseline app.Side, release func(), err error) {
	if base != "" && run != "" {
		return "", baseline, nil, &callvet.FieldError{
			Field: "baseline_traces_id",
			Text:  "{baseline_traces_id}: there is {baseline_eval_id}, too: name one of both",
		}
	}
	for kind, other := range map[api.Kind]string{api.KindTraces: base, api.KindRun: run} {
		if other != "" {
			if err := s.May(ctx, by, kind, other, false); err != nil {
				return "", baseline, nil, err
			}
		}
	}
	if release, err = alone(ctx, s); err != nil {
		return "", baseline, nil, err
	}
	traces, err = bring(ctx, s, id, files)
	baseline.Run = run
	if err == nil && base != "" {
		baseline.Traces, err = bring(ctx, s, base, files)
	}
	if err != nil {
		release()
	}
	return traces, baseline, release, err
}

func diffTraces(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	TracesPath
	Base    string   `query:"baseline_traces_id" maxLength:"64"`
	Run     string   `query:"baseline_eval_id" maxLength:"100"`
	Slices  []string `query:"slices"`
	Metrics []string `query:"metrics" doc:"compared in addition to the pass rate"`
	Judge   string   `query:"judge" maxLength:"200"`
	Target  string   `query:"target" maxLength:"500" doc:"target of the base for those of the collection that have no namesake there"`
	api.Compared
},
) (*api.Comparison, error) {
	if in.Base == "" && in.Run == "" && in.BaseTarget == "" {
		return nil, &callvet.FieldError{
			Field: "baseline_traces_id",
			Text: "{baseline_traces_id}: name what it is compared with, a collection, a run with " +
				"{baseline_eval_id}, or a target of its own with {base_target}",
		}
	}
	files := app.Uploads{}
	name, base, release, err := sides(ctx, s, by, in.ID, in.Base, in.Run, files)
	if err != nil {
		return nil, err
	}
	defer release()
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	if base == (app.Side{}) {
		base.Traces = name
	}
	h := &api.Notices{}
	req := traces.DiffRequest{
		Base: base, Candidate: app.Side{Traces: name}, Slices: in.Slices, Metrics: in.Metrics,
		Judge: in.Judge, Target: in.Target,
	}
	in.Compared.Of(&req)
	c, err := traces.Diff(ctx, a.With(files), req, h.Collect)
	if err != nil {
		return nil, h.Refused(err)
	}
	return api.ComparisonOf(c), nil
}

// BadGates is the error of an invalid gate file, with each mistake; nil for any other error.
func BadGates(err error) error {
	var bad *results.BadGatesError
	if !errors.As(err, &bad) {
		return nil
	}
	details := make([]error, 0, len(bad.Problems))
	for i := range bad.Problems {
		details = append(details, &huma.ErrorDetail{Location: gatesField, Message: bad.Problems[i].Error()})
	}
	return huma.Error422UnprocessableEntity(fmt.Sprint(callvet.ErrInvalid), details...)
}
