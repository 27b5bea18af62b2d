// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// DryRun is what a run would ask.
type DryRun struct {
	Format  string `json:"format"` // callvet.dry_run
	Version int    `json:"version"`
	Suite   string `json:"suite"`
	// Cases were chosen by the filters and the sample, out of All.
	Cases   int      `json:"cases"`
	All     int      `json:"all"`
	Targets []string `json:"targets"`
	Repeats int      `json:"repeats"`
	// Attempts would be made. Rubrics of them are at cases that run last, where all others
	// passed. Skipped would not be: the suite says why at their cases.
	Attempts int `json:"attempts"`
	Rubrics  int `json:"rubrics"`
	Skipped  int `json:"skipped"`
	// Requests go to targets at least and at most, without retries and before answers that are kept are used
	// again; RequestsMost is nil where an agent decides.
	RequestsLeast int  `json:"requests_least"`
	RequestsMost  *int `json:"requests_most" doc:"null: an agent decides"`
	// What the run uses is estimated from earlier attempts of the same targets.
	InputTokens  Estimate `json:"input_tokens"`
	OutputTokens Estimate `json:"output_tokens"`
	CostUSD      Estimate `json:"cost_usd" doc:"of targets, without judges"`
	Seconds      Estimate `json:"seconds"`
	// Warnings are those that a run would not tell before it is made.
	Warnings []callvet.Notice `json:"warnings,omitempty"`

	asked []int // attempts of each target
}

// DryRun does all that StartRun does, but that no run is kept: it lints the suite, chooses its
// cases and opens the targets. Nothing is asked. It estimates from the latest runs in the store.
func (a *App) DryRun(ctx context.Context, req RunRequest, tell Events) (*DryRun, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := db.Runs(ctx, mostPast)
	if err != nil {
		return nil, err
	}
	return a.dryRun(ctx, &req, runs, tell)
}

// DryRunFrom is DryRun with the runs that it may estimate from, the latest first: those that a user may read.
func (a *App) DryRunFrom(ctx context.Context, req RunRequest, past []string, tell Events) (*DryRun, error) {
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	var runs []store.Run
	for _, id := range past[:min(len(past), mostPast)] {
		r, err := db.Run(ctx, id)
		if errors.Is(err, callvet.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return a.dryRun(ctx, &req, runs, tell)
}

func (a *App) dryRun(ctx context.Context, req *RunRequest, past []store.Run, tell Events) (*DryRun, error) {
	out := &DryRun{Format: "callvet.dry_run", Version: 1, Suite: req.Suite, Targets: []string{}}
	s, err := a.startRun(ctx, req, out, tell)
	if err != nil {
		return nil, err
	}
	return out, errors.Join(s.estimate(ctx, out, past), s.Close())
}

// tell says what the run would ask.
func (r *Run) tell(d *DryRun) error {
	man := r.Manifest
	for i := range man.Targets {
		d.Targets = append(d.Targets, man.Targets[i].Name)
	}
	d.Cases, d.All, d.Repeats = r.Cases(), r.cases.Len(), man.Repeats
	d.RequestsMost, d.asked = new(int), make([]int, len(man.Targets))
	for i := range d.Cases {
		at := i
		if man.Cases != nil {
			at = man.Cases[i]
		}
		c, err := r.cases.Case(at)
		if err != nil {
			return err
		}
		for j := range man.Targets {
			r.bound(d, c, j)
			switch {
			case c.Skip != "" && !(c.Selectable && man.Targets[j].Selects):
				d.Skipped += d.Repeats
			case slices.Contains(man.Rubrics, at):
				d.Rubrics += d.Repeats
			}
		}
	}
	d.Attempts = d.Cases*len(d.Targets)*d.Repeats - d.Skipped
	w, err := r.Unwinnable()
	if w != nil {
		d.Warnings = append(d.Warnings, *w)
	}
	return err
}

// bound adds the requests of the attempts of a target at a case.
func (r *Run) bound(d *DryRun, c *callvet.Case, target int) {
	t := &r.Manifest.Targets[target]
	if c.Skip != "" && !(c.Selectable && t.Selects) {
		return
	}
	d.RequestsLeast += d.Repeats
	d.asked[target] += d.Repeats
	most := 1
	if c.MultiTurn != nil || len(c.Mocks)+len(r.Suite.Mocks) > 0 || r.Manifest.World != nil {
		most = run.Rounds(r.Suite, c) // something may answer the calls
	}
	if t.Selects {
		most = 1
	}
	switch {
	case t.Agent:
		d.RequestsMost = nil
	case d.RequestsMost != nil:
		*d.RequestsMost += most * d.Repeats
	}
}

// Unwinnable tells of cases that cannot pass because a call is forced where none is right; nil: there are none.
func (r *Run) Unwinnable() (*callvet.Notice, error) {
	var forced []string
	for i := range r.Manifest.Targets {
		if t := &r.Manifest.Targets[i]; t.ToolChoice != "" && t.ToolChoice != "auto" && t.ToolChoice != "none" {
			forced = append(forced, t.Name)
		}
	}
	if len(forced) == 0 {
		return nil, nil
	}
	n := 0
	var err error
	for c := range r.Chosen(&err) {
		if something, nothing := c.Expect.Calls(); nothing && !something && c.ToolChoice == "" {
			n++
		}
	}
	if n == 0 || err != nil {
		return nil, err
	}
	return &callvet.Notice{Code: "required-abstention", Text: fmt.Sprintf("tool_choice forces a call of %s, and %d of the cases expect none: they cannot pass; auto lets them", strings.Join(forced, ", "), n)}, nil
}
