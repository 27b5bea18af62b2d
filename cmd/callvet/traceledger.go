// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/callvet/callvet/cmd/callvet/compare"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/panel/slicing"
)

// isTraceFile reports whether an argument names a file rather than a run.
func (a *app) isTraceFile(arg string) bool {
	info, err := os.Stat(a.path(arg))
	return err == nil && !info.IsDir()
}

// traceLedger reads what a trace file, of callvet's lines or of any form that
// `trace import` reads, has for a comparison by task; f says how its steps are
// scored, where they are needed. An attempt without a target is one of the file's
// own name. The error wraps callvet.ErrInvalid when the file has nothing to compare.
func (a *app) traceLedger(ctx context.Context, path string, cfg compare.Config, f scoreFlags) (*panel.Ledger, error) {
	side, err := compare.New(filepath.Base(path), cfg)
	if err != nil {
		return nil, err
	}
	if !side.NeedsSteps() && f.suite == "" && f.safety == "" {
		log, err := a.eachTask(path, side.Record)
		if err != nil {
			return nil, err
		}
		a.tellLines(log.Problems(path), log)
		return a.sideLedger(path, side, log.Bad)
	}
	if a.once(path) {
		return nil, usagef("%s can be read once only, and what is compared needs two readings: write it to a file", path)
	}
	f.side = side
	s, err := a.scoreTraces(ctx, []string{path}, f)
	if err != nil {
		return nil, err
	}
	a.tellLines(s.problems(), &s.log)
	return a.sideLedger(path, side, s.log.Bad)
}

// sideLedger is the ledger of a file that was read, but for so many lines.
func (a *app) sideLedger(path string, side *compare.Side, unread int64) (*panel.Ledger, error) {
	if n := side.Twice(); n > 0 {
		fmt.Fprintf(a.err, "%s: %s of attempts that have a later one; the last one counts\n", path, plain.Count(n, "task record", "task records"))
	}
	if err := side.Nothing(path); err != nil {
		return nil, err
	}
	led := side.Ledger(path)
	led.Unread(unread)
	for _, key := range side.Many() {
		fmt.Fprintf(a.err, "%s: %q has more than %d values and is no slice\n", path, key, slicing.MaxValues)
	}
	return led, nil
}
