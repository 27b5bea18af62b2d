// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// readMocks reads a file of mocks; "" is none. The problems are told.
func (a *App) readMocks(name string, tell Events) ([]callvet.Mock, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read mocks: %w", err)
	}
	mocks, problems := suite.ReadMocks(name, b)
	tell.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read mocks %s: %s: %w", name, plain.Count(n, "problem", "problems"), callvet.ErrInvalid)
	}
	if len(mocks) == 0 {
		return nil, fmt.Errorf("read mocks %s: no tool is in it: %w", name, callvet.ErrInvalid)
	}
	return mocks, nil
}

// LockRequest asks to lock the cases of a file as they are now.
type LockRequest struct {
	// SuiteRequest says which file, and with which tools: a folder has several, and is none.
	SuiteRequest
	// Models are the targets that the cases were made with; nil: nobody knows.
	Models []string `json:"models,omitempty"`
	// Reviewed tells that all cases were looked at again and hold with the tools, the prompt and
	// the models of now.
	Reviewed bool `json:"reviewed,omitempty"`
}

// LockResult is what was locked.
type LockResult struct {
	// Lock is the file that was written; "" where nothing was new.
	Lock string `json:"lock"`
	// Locked are the ids of the cases that have a new entry, Cases how many there are in all,
	// and Regression how many of them must not change from now on.
	Locked     []string `json:"locked"`
	Cases      int      `json:"cases"`
	Regression int      `json:"regression"`
	// Reviewed tells that the state of now was recorded for all cases.
	Reviewed bool `json:"reviewed,omitempty"`
}

// LockCases locks the cases of a file that are not locked yet: from then on a changed
// regression case is an error. The error wraps callvet.ErrInvalid for a suite with errors,
// those of a case that was changed after it was locked among them.
func (a *App) LockCases(ctx context.Context, req LockRequest, tell Events) (*LockResult, error) {
	s, data, err := a.caseFile(ctx, req.SuiteRequest, tell)
	if err != nil {
		return nil, err
	}
	l, err := a.lockOf(req.Suite)
	if err != nil {
		return nil, err
	}
	out := &LockResult{Cases: len(s.Cases), Reviewed: req.Reviewed}
	state, err := stateNow(s, req.Models)
	if err != nil {
		return nil, err
	}
	if req.Reviewed && state == nil {
		return nil, wrong("reviewed", "", "there are no tools to record: {tools} FILE")
	}
	if out.Locked, err = l.Seal(req.Suite, data, s.Cases, a.cfg.Now(), state); err != nil {
		return nil, err
	}
	if req.Reviewed {
		l.Review(a.cfg.Now(), state)
	}
	for i := range s.Cases {
		if s.Cases[i].Tier == callvet.TierRegression {
			out.Regression++
		}
	}
	if len(out.Locked) == 0 && !req.Reviewed {
		return out, nil
	}
	out.Lock = suite.LockPath(req.Suite)
	return out, a.writeLock(ctx, req.Suite, l)
}

// caseFile reads a file of cases whole, and its bytes.
func (a *App) caseFile(ctx context.Context, req SuiteRequest, tell Events) (*callvet.Suite, []byte, error) {
	if a.cfg.Files.Kind(req.Suite) != KindFile {
		return nil, nil, wrong("suite", req.Suite, "name one file of cases: its lock stands beside it")
	}
	read, err := a.OpenSuite(ctx, req, tell)
	if err != nil {
		return nil, nil, err
	}
	for c := range read.Cases(ctx) {
		read.Suite.Cases = append(read.Suite.Cases, *c)
	}
	problems := read.Problems()
	tell.problems(problems)
	if n := errorsIn(problems); n > 0 {
		return nil, nil, fmt.Errorf("lock %s: %w: %s", req.Suite, callvet.ErrInvalid, plain.Count(n, "error", "errors"))
	}
	data, err := a.read(req.Suite, suite.DefaultLimit)
	return read.Suite, data, err
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

func (a *App) writeLock(ctx context.Context, file string, l *suite.Lock) error {
	b, err := l.Bytes()
	if err != nil {
		return err
	}
	return a.WriteBytes(ctx, suite.LockPath(file), b)
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
	l, err := a.lockOf(req.File)
	if err != nil {
		return err
	}
	if err := l.Archive(req.Case, req.Reason, a.cfg.Now()); err != nil {
		return err
	}
	return a.writeLock(ctx, req.File, l)
}

// AddCaseRequest asks to add regression cases to a file of them.
type AddCaseRequest struct {
	// File is where they go; it may not be there yet.
	File string `json:"file"`
	// From is the file with the new cases, in any form of suites.
	From SuiteRequest `json:"from"`
}

// AddCases adds the regression cases of one file to another one, each with its entry in the
// lock, and gives their ids. Both files are written when all cases are good, the lock first:
// a file without its last entries is told by lint, and an entry without its case too.
func (a *App) AddCases(ctx context.Context, req AddCaseRequest, tell Events) ([]string, error) {
	s, _, err := a.caseFile(ctx, req.From, tell)
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
	return a.addRegressions(ctx, req.File, cases, state)
}

// keepable tells why regression cases cannot be kept in a file: their lock stands beside it.
func (a *App) keepable(file string) error {
	if kind := a.cfg.Files.Kind(file); file == "-" || kind != KindNone && kind != KindFile {
		return &callvet.Hinted{Err: fmt.Errorf("add cases to %s: %w: it is no file", file, callvet.ErrInvalid), Hint: "name one file of cases: its lock stands beside it"}
	}
	return nil
}

// addRegressions is the one place that makes regression cases. state is what surrounds them,
// where that is known.
func (a *App) addRegressions(ctx context.Context, file string, cases []*callvet.Case, state json.RawMessage) (ids []string, err error) {
	if err := a.keepable(file); err != nil {
		return nil, err
	}
	l, err := a.lockOf(file)
	if err != nil {
		return nil, err
	}
	var data []byte
	if a.cfg.Files.Kind(file) != KindNone {
		if data, err = a.read(file, suite.DefaultLimit); err != nil {
			return nil, err
		}
	}
	now := a.cfg.Now()
	for _, c := range cases {
		if data, err = suite.AddRegression(file, data, l, c, now, state); err != nil {
			return nil, err
		}
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := a.writeLock(ctx, file, l); err != nil {
		return nil, err
	}
	return ids, a.WriteBytes(ctx, file, data)
}
