// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"slices"
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
}

// DryRun does all that StartRun does, but that no run is kept: it lints the suite, chooses its
// cases and opens the targets. Nothing is asked.
func (a *App) DryRun(ctx context.Context, req RunRequest, tell Events) (*DryRun, error) {
	out := &DryRun{Format: "callvet.dry_run", Version: 1, Suite: req.Suite, Targets: []string{}}
	s, err := a.startRun(ctx, &req, out, tell)
	if err != nil {
		return nil, err
	}
	return out, s.Close()
}

// tell says what the run would ask.
func (r *Run) tell(d *DryRun) error {
	man := r.Manifest
	for i := range man.Targets {
		d.Targets = append(d.Targets, man.Targets[i].Name)
	}
	d.Cases, d.All, d.Repeats = r.Cases(), r.cases.Len(), man.Repeats
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
			switch {
			case c.Skip != "" && !(c.Selectable && man.Targets[j].Selects):
				d.Skipped += d.Repeats
			case slices.Contains(man.Rubrics, at):
				d.Rubrics += d.Repeats
			}
		}
	}
	d.Attempts = d.Cases*len(d.Targets)*d.Repeats - d.Skipped
	return nil
}
