// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// readMocks reads a file of mocks; "" is none. It reports the problems.
func (a *App) readMocks(name string, events Events) ([]callvet.Mock, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read mocks: %w", err)
	}
	mocks, problems := suite.ReadMocks(name, b)
	events.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read mocks %s: %s: %w", name, plain.Count(n, "problem", "problems"), callvet.ErrInvalid)
	}
	if len(mocks) == 0 {
		return nil, fmt.Errorf("read mocks %s: no tool is in it: %w", name, callvet.ErrInvalid)
	}
	return mocks, nil
}

// readFaults reads a file of faults; "" is none. It reports the problems.
func (a *App) readFaults(name string, events Events) ([]callvet.ToolFault, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	faults, problems := suite.ReadFaults(name, b)
	events.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read faults %s: %s: %w", name, plain.Count(n, "problem", "problems"),
			callvet.ErrInvalid)
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("read faults %s: no fault is in it: %w", name, callvet.ErrInvalid)
	}
	return faults, nil
}

// LockRequest asks to lock the cases of a file as they are now.
type LockRequest struct {
	// SuiteRequest is the file with its tools; a folder is not allowed, because it has several.
	SuiteRequest
	// Models are the targets that the cases were made with; nil: unknown.
	Models []string `json:"models,omitempty"`
	// Reviewed: all cases were reviewed and are valid with the present tools, prompt and models.
	Reviewed bool `json:"reviewed,omitempty"`
}

// LockResult is what was locked.
type LockResult struct {
	// Lock is the file that was written; "" where nothing was new.
	Lock string `json:"lock"`
	// Locked are the ids of the cases with a new entry, Cases is the number of all cases, and
	// Regression the number of cases that must not change from now on.
	Locked     []string `json:"locked"`
	Cases      int      `json:"cases"`
	Regression int      `json:"regression"`
	// Reviewed: the present state was recorded for all cases.
	Reviewed bool `json:"reviewed,omitempty"`
}

// LockCases locks the cases of a file that are not locked yet: from then on a changed
// regression case is an error. The error wraps callvet.ErrInvalid for a suite with errors,
// those of a case that was changed after it was locked among them.
func (a *App) LockCases(ctx context.Context, req LockRequest, events Events) (out *LockResult, err error) {
	err = a.holding(ctx, req.Suite, func(k *heldFile) error {
		s, err := a.caseFile(ctx, req.SuiteRequest, events)
		if err != nil {
			return err
		}
		out = &LockResult{Cases: len(s.Cases), Reviewed: req.Reviewed}
		state, err := stateNow(s, req.Models)
		if err != nil {
			return err
		}
		if req.Reviewed && state == nil {
			return wrong("reviewed", "", "there are no tools to record: {tools} FILE")
		}
		if out.Locked, err = k.lock.Seal(k.name, k.data, s.Cases, a.cfg.Now(), state); err != nil {
			return err
		}
		if req.Reviewed {
			k.lock.Review(a.cfg.Now(), state)
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
		return a.writeLock(ctx, k)
	})
	return out, err
}

// caseFile reads a file of cases whole.
func (a *App) caseFile(ctx context.Context, req SuiteRequest, events Events) (*callvet.Suite, error) {
	if a.cfg.Files.Kind(req.Suite) != KindFile {
		return nil, wrong("suite", req.Suite, "name one file of cases: its lock is next to it")
	}
	read, err := a.OpenSuite(ctx, req, events)
	if err != nil {
		return nil, err
	}
	for c := range read.Cases(ctx) {
		read.Suite.Cases = append(read.Suite.Cases, *c)
	}
	problems := read.Problems()
	events.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read cases of %s: %w: %s", req.Suite, callvet.ErrInvalid,
			plain.Count(n, "error", "errors"))
	}
	return read.Suite, nil
}

// heldFile is a file of cases with its lock file, both locked.
type heldFile struct {
	name string
	data []byte // nil: there is no such file yet
	lock *suite.Lock
}

// holding reads a file of cases and its lock, and keeps others from changing them until do is
// over: what do writes is what it read, with its own change.
func (a *App) holding(ctx context.Context, name string, do func(*heldFile) error) (err error) {
	if kind := a.cfg.Files.Kind(name); name == "-" || kind != KindNone && kind != KindFile {
		return &callvet.Hinted{
			Err:  fmt.Errorf("change cases of %s: %w: it is no file", name, callvet.ErrInvalid),
			Hint: "name one file of cases: its lock is next to it",
		}
	}
	release, err := a.cfg.Files.Hold(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	k := &heldFile{name: name}
	if k.lock, err = a.lockOf(name); err != nil {
		return err
	}
	if a.cfg.Files.Kind(name) != KindNone {
		if k.data, err = a.read(name, suite.DefaultLimit); err != nil {
			return err
		}
	}
	return do(k)
}

// lockOf reads the lock of a file, an empty one where there is none.
func (a *App) lockOf(file string) (*suite.Lock, error) {
	name := suite.LockPath(file)
	if a.cfg.Files.Kind(name) == KindNone {
		return &suite.Lock{}, nil
	}
	b, err := a.read(name, maxTokens)
	if err != nil {
		return nil, err
	}
	return suite.ReadLock(name, b)
}

func (a *App) writeLock(ctx context.Context, k *heldFile) error {
	b, err := k.lock.Bytes()
	if err != nil {
		return err
	}
	return a.WriteBytes(ctx, suite.LockPath(k.name), b)
}

// WriteBytes gives a file its bytes, all of them or none.
func (a *App) WriteBytes(ctx context.Context, name string, b []byte) error {
	return a.cfg.Files.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// ArchiveRequest asks to take a locked case out of runs for good.
type ArchiveRequest struct {
	File string `json:"file"`
	Case string `json:"case"`
	// Reason is why it does not apply any more.
	Reason string `json:"reason"`
}

// ArchiveCase marks a case in the lock of its file: it does not run any more, and may be taken
// out of the file. Its text stays what it was for as long as it is there. The error wraps
// callvet.ErrNotFound for a case without an entry and callvet.ErrConflict for an archived one.
func (a *App) ArchiveCase(ctx context.Context, req ArchiveRequest) error {
	if strings.TrimSpace(req.Reason) == "" {
		return wrong("reason", "", "say why the case does not apply any more")
	}
	return a.holding(ctx, req.File, func(k *heldFile) error {
		if err := k.lock.Archive(req.Case, req.Reason, a.cfg.Now()); err != nil {
			return err
		}
		return a.writeLock(ctx, k)
	})
}

// AddCaseRequest asks to add cases to a file of them.
type AddCaseRequest struct {
	// File is where they go; it may not be there yet.
	File string `json:"file"`
	// From is the file with the new cases, in any form of suites.
	From SuiteRequest `json:"from"`
}

// AddCases adds the golden, labeled and regression cases of one file to another one, each with
// its entry in the lock, and gives their ids. All are added or none.
func (a *App) AddCases(ctx context.Context, req AddCaseRequest, events Events) (ids []string, err error) {
	s, err := a.caseFile(ctx, req.From, events)
	if err != nil {
		return nil, err
	}
	var cases []*callvet.Case
	for i := range s.Cases {
		cases = append(cases, &s.Cases[i])
	}
	state, err := stateNow(s, nil)
	if err != nil {
		return nil, err
	}
	err = a.holding(ctx, req.File, func(k *heldFile) error {
		ids, err = a.addCases(ctx, k, cases, state)
		return err
	})
	return ids, err
}

// addCases is the one place that makes cases. state is what surrounds them, nil where that is
// not known. The file is written before its lock: where the process ends in between, no case is
// lost, and lint says that those that are new are not locked yet.
func (a *App) addCases(ctx context.Context, k *heldFile, cases []*callvet.Case,
	state json.RawMessage,
) (ids []string, err error) {
	now := a.cfg.Now()
	for _, c := range cases {
		if k.data, err = suite.AddCase(k.name, k.data, k.lock, c, now, state); err != nil {
			return nil, err
		}
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, a.writeCases(ctx, k, ids)
}

// writeCases writes a file with new cases, and then its lock.
func (a *App) writeCases(ctx context.Context, k *heldFile, ids []string) error {
	if err := a.WriteBytes(ctx, k.name, k.data); err != nil {
		return err
	}
	if err := a.writeLock(ctx, k); err != nil {
		return &callvet.Hinted{
			Err:  fmt.Errorf("%s are in %s, and not locked yet: %w", strings.Join(ids, ", "), k.name, err),
			Hint: "callvet case lock " + k.name,
		}
	}
	return nil
}
