// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

const (
	// defaultLease is how long a run belongs to a process that does not report, such
	// as one whose machine sleeps.
	defaultLease = 30 * time.Second
	// lookEvery is how often a process that follows a run looks at it.
	lookEvery = 500 * time.Millisecond
)

// claim is how this process asks for a run.
func (a *app) claim() (store.Claim, error) {
	c := store.Claim{PID: os.Getpid(), Scope: processScope(), TTL: defaultLease}
	if s := a.getenv("CALLVET_LEASE"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil || d < 100*time.Millisecond {
			return c, usagef("$CALLVET_LEASE is %q: write a time of 100ms or more, such as 30s", s)
		}
		c.TTL = d
	}
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	c.Host = cmp.Or(name, "this machine")
	c.Gone = func(o store.Owner) bool { return c.Scope != "" && o.Scope == c.Scope && processGone(o.PID) }
	return c, nil
}

// resume goes on with a run, or follows the process that does.
func (a *app) resume(ctx context.Context, db *store.DB, path string, f *runFlags, changed func(string) bool) error {
	for {
		e, op, err := a.takeUp(ctx, db, path, f, changed)
		if err == nil {
			err = a.session(ctx, db, e, op, f)
		} else if op != nil {
			op.close()
		}
		var held *store.HeldError
		if !errors.As(err, &held) {
			return err
		}
		if f.noWait {
			return &callvet.Hinted{Err: err, Hint: a.hints().text(action{Verb: verbResume, Run: held.Run}, nil) + " without --no-wait follows it"}
		}
		f.resume = held.Run // another run may be the last by the time this one is over
		over, err := a.follow(ctx, db, held, f)
		if err != nil {
			return err
		}
		if over {
			return a.tellOver(ctx, db, f)
		}
	}
}

// follow waits for a run that another process carries out, and tells how far it is.
// over is false when that process went away without ending the run.
func (a *app) follow(ctx context.Context, db *store.DB, held *store.HeldError, f *runFlags) (over bool, err error) {
	c, err := a.claim()
	if err != nil {
		return false, err
	}
	l, err := a.openRun(ctx, db, held.Run)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(a.err, "note: run %s is being carried out by %s; following it. Its own limits hold. --no-wait fails instead, and Ctrl-C leaves it alone\n", held.Run, held.Owner)
	a.process.OnInterrupt(fmt.Sprintf("interrupted; run %s is not followed any more, and %s goes on with it", held.Run, held.Owner))
	progress := report.Progress{W: a.err, TTY: a.errTTY, Width: a.width, Now: a.now}
	if f.quiet {
		progress.W, progress.TTY = io.Discard, false
	}
	defer progress.Finish()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told := report.Tick{Total: l.caseCount() * len(l.man.Targets) * l.man.Repeats}
	for last := int64(0); ; {
		p, err := db.Progress(ctx, held.Run, last)
		if err != nil {
			return false, err
		}
		last = p.Last
		told.Done, told.Failed, told.Errors = told.Done+p.Done, told.Failed+p.Fail, told.Errors+p.Error
		progress.Update(told)
		r, err := db.Run(ctx, held.Run)
		switch {
		case err != nil:
			return false, err
		case r.Owner == nil && r.Status != store.StatusRunning:
			return true, nil
		case r.Owner == nil || c.Gone(*r.Owner):
			progress.Finish()
			fmt.Fprintf(a.err, "note: %s is gone; going on with run %s\n", held.Owner, held.Run)
			return false, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// tellOver tells a run that another process has ended, as that process did.
func (a *app) tellOver(ctx context.Context, db *store.DB, f *runFlags) error {
	l, err := a.openRun(ctx, db, f.resume)
	if err != nil {
		return err
	}
	var sum run.Summary
	if err := json.Unmarshal(l.run.Totals, &sum); err != nil {
		return fmt.Errorf("read totals of run %s: %w", l.run.ID, err)
	}
	red, err := a.viewer(l.man, nil)
	if err != nil {
		return err
	}
	v, err := l.view(ctx, db, f.slices, red)
	if err != nil {
		return err
	}
	op, why := a.reopened(ctx, l)
	if v.Selection, err = l.section(ctx, db, v.Panels, op, why, red); err != nil {
		return err
	}
	switch sum.Status {
	case run.StatusFailed:
		err = &callvet.Hinted{Err: fmt.Errorf("run %s failed in the process that carried it out, which said why", l.run.ID), Hint: l.resumed()}
	case run.StatusBudget:
		err = fmt.Errorf("run %s stopped in the process that carried it out: %w", l.run.ID, callvet.ErrBudget)
	}
	a.process.OnInterrupt(l.interruption(sum))
	return a.conclude(ctx, v, l, f, sum, err)
}
