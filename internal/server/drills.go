// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
)

// DrillAsk requests safety drills.
type DrillAsk struct {
	SuiteID string `json:"suite_id,omitempty" maxLength:"100" doc:"a suite with safety rules in its cases; empty: the shipped drills"`
	Name    string `json:"name,omitempty" doc:"for people; other runs may have it too"`
	Asked
}

// addDrills adds the routes of safety drills, and of the observations at the calls of a run.
func addDrills(s *api.Server) {
	run := map[string]api.Kind{"id": api.KindRun}
	jobs, op := api.Operations("jobs", "/api"), api.Operations("runs", "/api/runs/{id}")
	api.Add(s,
		api.Returning(http.StatusAccepted, jobs("run-drills", http.MethodPost, "/drills", "Run safety drills as a job")),
		api.Access{Role: account.Member, Scope: account.ScopeRun}, api.With(s, runDrills))
	api.Answer(s, op("drill-result", http.MethodGet, "/drill", "What safety drills came to"), api.Access{Objects: run},
		func(ctx context.Context, _ *account.Principal, in *api.RunIn) (*runs.DrillsResult, error) {
			return runs.Drilled(ctx, s.Config.App, in.ID)
		})
	api.Answer(s,
		op("list-incidents", http.MethodGet, "/incidents",
			"Breaches of safety, each with its case, its call, the rule and the evidence"), api.Access{Objects: run},
		func(ctx context.Context, _ *account.Principal, in *callsIn) (*results.CallPage[results.IncidentAt], error) {
			return callsOf(ctx, s.Config.App, in, results.Incidents)
		})
	api.Answer(s, op("list-recordings", http.MethodGet, "/recordings",
		"What the calls of a run got: what a replay answers with"),
		api.Access{Objects: run}, func(ctx context.Context, _ *account.Principal, in *callsIn) (*results.CallPage[results.RecordedCall], error) {
			return callsOf(ctx, s.Config.App, in, results.Recordings)
		})
	api.Add(s, api.Downloads("the suite as a file", op("export-recordings", http.MethodGet, "/recordings/export",
		"Download the suite of a run, with mocks that answer what its calls got")),
		api.Access{Objects: run}, func(ctx context.Context, _ *account.Principal, in *struct {
			api.RunIn
			Format string `query:"format" enum:"yaml,json" default:"yaml"`
		},
		) (*assets.File, error) {
			b, err := results.FixtureText(ctx, s.Config.App, in.ID, in.Format)
			if err != nil {
				return nil, err
			}
			kind := map[string]string{"yaml": "application/yaml", "json": "application/json"}[in.Format]
			return &assets.File{
				ContentType: kind, Disposition: `attachment; filename="fixtures-` + in.ID + "." + in.Format + `"`,
				Body: b,
			}, nil
		})
}

func runDrills(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"a second request with the same key returns the first job"`
	Body DrillAsk
},
) (*submittedOutput, error) {
	b := &in.Body
	eval := EvalRequest{SuiteID: b.SuiteID, Name: b.Name, Asked: b.Asked}
	q, err := eval.submission(ctx, s, by, in.Key)
	if err != nil {
		return nil, err
	}
	q.drill = true
	return submitRun(ctx, s, by, q)
}

type callsIn struct {
	api.RunIn
	api.PageIn
}

// callsOf returns a page of the observations at the calls of a run.
func callsOf[T any](ctx context.Context, a *app.App, in *callsIn,
	list func(context.Context, *app.App, results.CallsRequest) (*results.CallPage[T], error),
) (*results.CallPage[T], error) {
	after, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	if err != nil {
		return nil, &callvet.FieldError{Field: "cursor", Text: "{cursor} is not that of a page"}
	}
	page, err := list(ctx, a, results.CallsRequest{Run: in.ID, After: string(after), Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	page.Next = base64.RawURLEncoding.EncodeToString([]byte(page.Next))
	return page, nil
}
