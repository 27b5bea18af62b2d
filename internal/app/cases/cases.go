// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// LockRequest asks to lock the cases of a file as they are now.
type LockRequest struct {
	// SuiteRequest is the file with its tools; a folder is not allowed, because it has several.
	app.SuiteRequest
	// Models are the targets that the cases were made with; nil: unknown.
	Models []string `json:"models,omitempty"`
	// Reviewed: all cases were reviewed and are valid with the present tools, prompt and models.
	Reviewed bool `json:"reviewed,omitempty"`
}

// LockResult is what was locked.
type LockResult struct {
	// Lock is the file that was written; "" if nothing was new.
	Lock string `json:"lock"`
	// Locked are the ids of the cases with a new entry, Cases is the number of all cases.
	// Regression is the number of cases that must not change from now on.
	Locked     []string `json:"locked"`
	Cases      int      `json:"cases"`
	Regression int      `json:"regression"`
	// Reviewed: the present state was recorded for all cases.
	Reviewed bool `json:"reviewed,omitempty"`
}

// Lock locks the cases of a file that are not locked yet: from then on a changed regression case is
// an error. The error wraps callvet.ErrInvalid for a suite with errors, for example a case that was
// changed after it was locked.
func Lock(ctx context.Context, a *app.App, req LockRequest, events app.Events) (out *LockResult, err error) {
	err = lockFile(ctx, a, req.Suite, func(k *heldFile) error {
		s, err := caseFile(ctx, a, req.SuiteRequest, events)
		if err != nil {
			return err
		}
		out = &LockResult{Cases: len(s.Cases), Reviewed: req.Reviewed}
		state, err := app.StateNow(s, req.Models)
		if err != nil {
			return err
		}
		if req.Reviewed && state == nil {
			return app.Wrong("reviewed", "", "there are no tools to record: {tools} FILE")
		}
		if out.Locked, err = k.lock.Seal(k.name, k.data, s.Cases, a.Config.Now(), state); err != nil {
			return err
		}
		if req.Reviewed {
			k.lock.Review(a.Config.Now(), state)
		}
		for i := range s.Cases {
			if s.Cases[i].Tier == callvet.TierRegression {
				out.Regression++
			}
		}
		if len(out.Locked) == 0 && !req.Reviewed {
			return nil
		}
		out.Lock = suite.LockPath(k.name)
		return writeLock(ctx, a, k)
	})
	return out, err
}

// caseFile reads a file of cases whole.
func caseFile(ctx context.Context, a *app.App, req app.SuiteRequest, events app.Events) (*callvet.Suite, error) {
	if a.Config.Files.Kind(req.Suite) != app.KindFile {
		return nil, app.Wrong("suite", req.Suite, "name one file of cases: its lock is next to it")
	}
	read, err := a.OpenSuite(ctx, req, events)
	if err != nil {
		return nil, err
	}
	for c := range read.Cases(ctx) {
		read.Suite.Cases = append(read.Suite.Cases, *c)
	}
	problems := read.Problems()
	events.Problems(problems)
	if n := app.ErrorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read cases of %s: %w: %s", req.Suite, callvet.ErrInvalid,
			plain.Count(n, "error", "errors"))
	}
	return read.Suite, nil
}

// heldFile is a file of cases and its lock file. No other process can write them meanwhile.
type heldFile struct {
	name string
	data []byte // nil: the file does not exist yet
	lock *suite.Lock
}

// lockFile reads a file of cases and its lock, and prevents changes by others until do is over, so
// that do writes what it read with its own change.
func lockFile(ctx context.Context, a *app.App, name string, do func(*heldFile) error) (err error) {
	if kind := a.Config.Files.Kind(name); name == "-" || kind != app.KindNone && kind != app.KindFile {
		return &callvet.Hinted{
			Err:  fmt.Errorf("change cases of %s: %w: it is no file", name, callvet.ErrInvalid),
			Hint: "name one file of cases: its lock is next to it",
		}
	}
	release, err := a.Config.Files.Hold(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	k := &heldFile{name: name}
	if k.lock, err = lockOf(a, name); err != nil {
		return err
	}
	if a.Config.Files.Kind(name) != app.KindNone {
		if k.data, err = a.Read(name, suite.DefaultLimit); err != nil {
			return err
		}
	}
	return do(k)
}

// lockOf reads the lock of a file; an empty one if there is none.
func lockOf(a *app.App, file string) (*suite.Lock, error) {
	name := suite.LockPath(file)
	if a.Config.Files.Kind(name) == app.KindNone {
		return &suite.Lock{}, nil
	}
	b, err := a.Read(name, app.MaxTokens)
	if err != nil {
		return nil, err
	}
	return suite.ReadLock(name, b)
}

func writeLock(ctx context.Context, a *app.App, k *heldFile) error {
	b, err := k.lock.Bytes()
	if err != nil {
		return err
	}
	return a.WriteBytes(ctx, suite.LockPath(k.name), b)
}

// ArchiveRequest asks to take a locked case out of runs for good.
type ArchiveRequest struct {
	File string `json:"file"`
	Case string `json:"case"`
	// Reason is why the case no longer applies.
	Reason string `json:"reason"`
}

// Archive marks a case in the lock of its file: it no longer runs, and may be removed from the
// file. As long as it is in the file its text must not change. The error wraps callvet.ErrNotFound
// for a case without an entry and callvet.ErrConflict for an archived one.
func Archive(ctx context.Context, a *app.App, req ArchiveRequest) error {
	if strings.TrimSpace(req.Reason) == "" {
		return app.Wrong("reason", "", "say why the case does not apply any more")
	}
	return lockFile(ctx, a, req.File, func(k *heldFile) error {
		if err := k.lock.Archive(req.Case, req.Reason, a.Config.Now()); err != nil {
			return err
		}
		return writeLock(ctx, a, k)
	})
}

// AddCaseRequest asks to add cases to a file of them.
type AddCaseRequest struct {
	// File is the file for the cases; it need not exist.
	File string `json:"file"`
	// From is the file with the new cases, in any form of suites.
	From app.SuiteRequest `json:"from"`
}

// Add adds the golden, labeled and regression cases of one file to another one, each with
// its entry in the lock, and returns their ids. All are added or none.
func Add(ctx context.Context, a *app.App, req AddCaseRequest, events app.Events) (ids []string, err error) {
	s, err := caseFile(ctx, a, req.From, events)
	if err != nil {
		return nil, err
	}
	var cases []*callvet.Case
	for i := range s.Cases {
		cases = append(cases, &s.Cases[i])
	}
	state, err := app.StateNow(s, nil)
	if err != nil {
		return nil, err
	}
	err = lockFile(ctx, a, req.File, func(k *heldFile) error {
		ids, err = addCases(ctx, a, k, cases, state)
		return err
	})
	return ids, err
}

// addCases adds cases to a file; no other code does. state is the state of their tools, nil if it
// is not known. The file is written before its lock: if the process ends in between, no case is
// lost, and lint reports that the new cases are not locked yet.
func addCases(ctx context.Context, a *app.App, k *heldFile, cases []*callvet.Case,
	state json.RawMessage,
) (ids []string, err error) {
	now := a.Config.Now()
	for _, c := range cases {
		if k.data, err = suite.AddCase(k.name, k.data, k.lock, c, now, state); err != nil {
			return nil, err
		}
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, writeCases(ctx, a, k, ids)
}

// writeCases writes a file with new cases, and then its lock.
func writeCases(ctx context.Context, a *app.App, k *heldFile, ids []string) error {
	if err := a.WriteBytes(ctx, k.name, k.data); err != nil {
		return err
	}
	if err := writeLock(ctx, a, k); err != nil {
		return &callvet.Hinted{
			Err:  fmt.Errorf("%s are in %s, and not locked yet: %w", strings.Join(ids, ", "), k.name, err),
			Hint: "callvet case lock " + k.name,
		}
	}
	return nil
}
