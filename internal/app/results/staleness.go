// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/suite"
)

// StaleRequest asks whether tools, prompt or models have changed since cases were made or since a
// run.
type StaleRequest struct {
	// SuiteRequest is the suite, or with Run the present state of the run's suite; "" with Run: the
	// file from which it was read.
	app.SuiteRequest
	Run string `json:"run,omitempty"`
	// Models are the present targets; nil: models are not compared.
	Models []string `json:"models,omitempty"`
}

// StaleResult lists the changes.
type StaleResult struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Stale: there is a warning.
	Stale bool `json:"stale"`
	// Groups are cases that were made in one state, in their order.
	Groups []app.StaleGroup `json:"groups"`
}

// Stale reports the changes since cases were made, or since a run.
func Stale(ctx context.Context, a *app.App, req StaleRequest, events app.Events) (*StaleResult, error) {
	var groups []app.StaleGroup
	var err error
	if req.Run != "" {
		groups, err = staleRun(ctx, a, req, events)
	} else {
		groups, err = staleSuite(ctx, a, req, events)
	}
	if err != nil {
		return nil, err
	}
	out := &StaleResult{Format: "callvet.stale", Version: 1, Groups: groups}
	for i := range groups {
		out.Stale = out.Stale || len(groups[i].Warnings) > 0
	}
	return out, nil
}

func staleSuite(ctx context.Context, a *app.App, req StaleRequest, events app.Events) ([]app.StaleGroup, error) {
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	m := app.NewMakers(read.Files())
	for c := range read.Cases(ctx) {
		if err := m.Add(c); err != nil {
			return nil, err
		}
	}
	now := suite.StaleStateOf(read.Suite, req.Models, "")
	return m.Compare(ctx, read.Suite, &now)
}

// staleRun compares the state at the time of a run with the present state.
func staleRun(ctx context.Context, a *app.App, req StaleRequest, events app.Events) ([]app.StaleGroup, error) {
	r, err := Open(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	g := &app.MadeGroup{StaleGroup: app.StaleGroup{
		From: "run " + r.Stored.ID,
		Made: r.Stored.Created.UTC().Format(time.RFC3339), Cases: []string{}, Tools: []string{},
		Warnings: []suite.StaleWarning{},
	}}
	g.State = suite.StaleStateOf(r.Suite, app.Models(r.Manifest.Specs), g.Made)
	var bad error
	for c := range r.Chosen(&bad) {
		g.Cases = append(g.Cases, c.ID)
		for _, name := range app.ExpectedTools(&c.Expect) {
			if !slices.Contains(g.Tools, name) {
				g.Tools = append(g.Tools, name)
			}
		}
	}
	if bad != nil {
		return nil, bad
	}
	if req.Suite == "" {
		req.Suite = r.Manifest.Path
		if a.Config.Files.Kind(req.Suite) == app.KindNone {
			return nil, &callvet.Hinted{
				Err:  app.Wrong("suite", req.Suite, "the run read it, and it is not there"),
				Hint: "name what is there now",
			}
		}
	}
	read, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, err
	}
	now := suite.StaleStateOf(read.Suite, req.Models, "")
	return app.CompareGroups(ctx, []*app.MadeGroup{g}, read.Suite, &now)
}
