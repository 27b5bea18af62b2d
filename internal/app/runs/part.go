// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/store"
)

// Part is a run that belongs to a larger task, such as a round of a search. Lists of runs do not
// show it.
type Part struct {
	// ID is the id of the run, Of the id of the larger task.
	ID, Of string
	// Specs are the targets, Cases the positions of the cases in the suite.
	Specs   []app.TargetSpec
	Cases   []int
	Repeats int
	// NoCache reuses no answer of earlier runs.
	NoCache  bool
	Settings app.Settings
	// Form is the required form of all answers of a planned run; nil: none.
	Form *callvet.AnswerForm
	// Lacks is called with the missing variables of the targets of a planned run that is not carried out; nil: they
	// are an error.
	Lacks func(s *app.TargetSpec, variable string)
}

// Plan stores a run like Start, as a part of a larger task: with the ID, Of and Form of the part,
// and the targets and settings of the request. Close the session.
func (p *Part) Plan(ctx context.Context, a *app.App, req app.RunRequest, events app.Events) (*Session, error) {
	return startRun(ctx, a, &req, nil, p, events)
}

// Begin creates a part of the planned run like, and opens it to carry it out. The error wraps
// callvet.ErrConflict if the part exists: Resume opens it.
func (p *Part) Begin(ctx context.Context, a *app.App, like *results.Run, events app.Events) (*Session, error) {
	if err := p.create(ctx, a, like); err != nil {
		return nil, err
	}
	return Resume(ctx, a, ResumeRequest{Run: p.ID}, events)
}

// create stores the part with the manifest of the planned run.
func (p *Part) create(ctx context.Context, a *app.App, like *results.Run) error {
	man := *like.Manifest
	man.Specs, man.Cases, man.Repeats, man.NoCache = p.Specs, p.Cases, p.Repeats, p.NoCache
	man.Settings, man.Targets, man.Skipped = &p.Settings, nil, new(int)
	man.OwnRepeats = maps.Clone(man.OwnRepeats)
	maps.DeleteFunc(man.OwnRepeats, func(at, _ int) bool { return !slices.Contains(p.Cases, at) })
	op, err := a.NewOpener(p.Settings.Timeout(), man.Prices, p.ID, nil)
	if err != nil {
		return err
	}
	defer op.Close()
	targets, err := op.OpenAll(ctx, p.Specs)
	if err != nil {
		return err
	}
	for i := range targets {
		man.Targets = append(man.Targets, targets[i].Target)
	}
	b, err := json.Marshal(&man)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	_, err = like.DB.CreateRun(ctx, store.NewRun{
		ID: p.ID, Judges: p.Of, SuiteHash: like.Stored.SuiteHash, Manifest: b,
	})
	return err
}
