// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
)

// BackupRequest names the file of a backup.
type BackupRequest struct {
	File string `json:"file"`
	// Force lets Restore replace a store that contains runs.
	Force bool `json:"force,omitempty"`
}

// BackedUp counts the content of a backup.
type BackedUp struct {
	File  string `json:"file"`
	Runs  int    `json:"runs"`
	Bytes int64  `json:"bytes"`
}

// Backup writes a copy of the store into a new file. Other users of the store may go on meanwhile.
func (a *App) Backup(ctx context.Context, req BackupRequest) (*BackedUp, error) {
	if req.File == "" {
		return nil, Wrong("file", "", "where to?")
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	path, _, err := a.Config.Files.Path(req.File)
	if err != nil {
		return nil, err
	}
	if err := db.Backup(ctx, path); err != nil {
		return nil, err
	}
	c, err := db.Census(ctx)
	return &BackedUp{File: req.File, Runs: c.Runs, Bytes: c.Bytes}, err
}

// Restore replaces the content of the store by a backup. A store with runs is replaced only with
// Force.
func (a *App) Restore(ctx context.Context, req BackupRequest) (*BackedUp, error) {
	if req.File == "" {
		return nil, Wrong("file", "", "which backup?")
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	before, err := db.Census(ctx)
	if err != nil {
		return nil, err
	}
	if before.Runs > 0 && !req.Force {
		return nil, &callvet.FieldError{
			Field: "force",
			Text: fmt.Sprintf("restore: the store holds %s, which would be gone",
				plain.Count(before.Runs, "run", "runs")), Fix: "back it up first, then {force}",
			Kind: callvet.ErrConflict,
		}
	}
	path, _, err := a.Config.Files.Path(req.File)
	if err != nil {
		return nil, err
	}
	if err := db.Restore(ctx, path); err != nil {
		return nil, err
	}
	c, err := db.Census(ctx)
	return &BackedUp{File: req.File, Runs: c.Runs, Bytes: c.Bytes}, err
}

// Checkup is one check of Doctor.
type Checkup struct {
	Name string `json:"name"`
	// State is ok, warning or problem.
	State  string `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Diagnosis is the result of Doctor. Healthy: there is no problem; warnings do not count.
type Diagnosis struct {
	Healthy bool      `json:"healthy"`
	Checks  []Checkup `json:"checks"`
}

// Doctor checks that the store is intact, and what its user should know of it. It changes nothing.
func (a *App) Doctor(ctx context.Context) (*Diagnosis, error) {
	out := &Diagnosis{Healthy: true}
	add := func(name, state, detail, fix string) {
		out.Healthy = out.Healthy && state != "problem"
		out.Checks = append(out.Checks, Checkup{name, state, detail, fix})
	}
	db, err := a.Config.Store(ctx)
	if err != nil {
		fix := ""
		var h *callvet.Hinted
		if errors.As(err, &h) {
			fix = h.Hint
		}
		add("store", "problem", err.Error(), fix)
		return out, nil
	}
	add("store", "ok", db.Path(), "")
	bad, err := db.Check(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		add("pages", "problem", err.Error(), "restore a backup")
		return out, nil
	case len(bad) > 0:
		add("pages", "problem", strings.Join(bad, "; "), "back up what can be read, then restore an earlier backup")
	default:
		add("pages", "ok", "all pages and indexes are whole", "")
	}
	if mode := db.Exposed(); mode != 0 {
		add("permissions", "warning",
			fmt.Sprintf("every user may read it (mode %04o), and it holds what was said to models", mode),
			"chmod 600 "+db.Path())
	} else {
		add("permissions", "ok", "only its owner may read it", "")
	}
	c, err := db.Census(ctx)
	if err != nil {
		return nil, err
	}
	add("contents", "ok", fmt.Sprintf("%s, %s, %s in format %d", plain.Count(c.Runs, "run", "runs"),
		plain.Count(c.Suites, "suite", "suites"), megabytes(c.Bytes), c.Version), "")
	if c.Orphans > 0 {
		add("attempts", "problem",
			fmt.Sprintf("%s of runs that are not there", plain.Count(c.Orphans, "attempt", "attempts")),
			"restore a backup")
	}
	if n := len(c.Interrupted); n > 0 {
		add("runs", "warning", fmt.Sprintf("%s did not end, and no process carries them out: %s",
			plain.Count(n, "run", "runs"), strings.Join(c.Interrupted[:min(n, 5)], ", ")), "callvet run --resume RUN")
	}
	if c.Free > c.Bytes/2 && c.Free > 64<<20 {
		add("space", "warning", fmt.Sprintf("%s of it are free", megabytes(c.Free)),
			"callvet runs --delete RUN gives space back")
	}
	return out, nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
