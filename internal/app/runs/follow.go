// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// follow waits for a run of another process, and reports its progress. over is false if that
// process ended without ending the run.
func (s *Session) follow(ctx context.Context) (over bool, err error) {
	c, err := s.app.Config.Claim()
	if err != nil {
		return false, err
	}
	about := app.SessionEvent{Run: s.Stored.ID, Resume: s.Resume(), Follows: s.held.Owner.String()}
	s.events.Emit(app.Event{Session: &about})
	tick := time.NewTicker(app.FollowInterval)
	defer tick.Stop()
	progress := app.ProgressEvent{Total: s.Size()}
	for last := int64(0); ; {
		p, err := s.DB.Progress(ctx, s.Stored.ID, last)
		if err != nil {
			return false, err
		}
		last = p.Last
		progress.Done, progress.Failed, progress.Errors = progress.Done+p.Done, progress.Failed+p.Fail, progress.Errors+p.Error
		now := progress
		s.events.Emit(app.Event{Progress: &now})
		r, err := s.DB.Run(ctx, s.Stored.ID)
		switch {
		case err != nil:
			return false, err
		case r.Owner == nil && r.Status != store.StatusRunning:
			return true, nil
		case r.Owner == nil || c.Gone != nil && c.Gone(*r.Owner):
			gone := about
			gone.Gone = true
			s.events.Emit(app.Event{Session: &gone})
			return false, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// outcomeOfOther returns the outcome of a run that another process has ended, as stored by that
// process.
func (s *Session) outcomeOfOther(ctx context.Context) (*Outcome, error) {
	r, err := results.OpenIn(ctx, s.DB, s.Stored.ID)
	if err != nil {
		return nil, err
	}
	s.Run = r
	var sum run.Summary
	if err := json.Unmarshal(r.Stored.Totals, &sum); err != nil {
		return nil, fmt.Errorf("read totals of run %s: %w", r.Stored.ID, err)
	}
	red, err := results.RedactorOf(s.app, r.Manifest, nil)
	if err != nil {
		return nil, err
	}
	op, why := results.ReopenCatalogues(ctx, s.app, r, s.events)
	v, err := r.View(ctx, s.slices, red, op, why)
	if err != nil {
		return nil, err
	}
	s.events.Emit(app.Event{Ended: s.ended(sum)})
	switch sum.Status {
	case run.StatusFailed:
		err = fmt.Errorf("run %s failed in the process that carried it out, which said why", r.Stored.ID)
	case run.StatusBudget:
		err = fmt.Errorf("run %s stopped in the process that carried it out: %w", r.Stored.ID, callvet.ErrBudget)
	}
	return s.conclude(ctx, v, sum, err)
}
