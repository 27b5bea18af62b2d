// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// readMocks reads a file of mocks; "" is none. It reports the problems.
func (a *App) readMocks(name string, events Events) ([]callvet.Mock, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read mocks: %w", err)
	}
	mocks, problems := suite.ReadMocks(name, b)
	events.Problems(problems)
	if n := ErrorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read mocks %s: %s: %w", name, plain.Count(n, "problem", "problems"), callvet.ErrInvalid)
	}
	if len(mocks) == 0 {
		return nil, fmt.Errorf("read mocks %s: no tool is in it: %w", name, callvet.ErrInvalid)
	}
	return mocks, nil
}

// ReadFaults reads a file of faults; "" is none. It reports the problems.
func (a *App) ReadFaults(name string, events Events) ([]callvet.ToolFault, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	faults, problems := suite.ReadFaults(name, b)
	events.Problems(problems)
	if n := ErrorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read faults %s: %s: %w", name, plain.Count(n, "problem", "problems"),
			callvet.ErrInvalid)
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("read faults %s: no fault is in it: %w", name, callvet.ErrInvalid)
	}
	return faults, nil
}

// WriteBytes gives a file its bytes, all of them or none.
func (a *App) WriteBytes(ctx context.Context, name string, b []byte) error {
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
}
