// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"

	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/console"
)

// dryRun prints the run that the flags would start.
func (a *cli) dryRun(ctx context.Context, path string, f *runFlags, changed func(string) bool) error {
	switch {
	case f.resume != "":
		return usagef("--dry-run is of a new run: callvet show %s shows a stored one", f.resume)
	case path == "":
		return usagef("which suite? callvet run SUITE -m TARGET --dry-run")
	}
	if err := a.writable(f); err != nil {
		return err
	}
	req, err := a.request(path, f, changed)
	if err != nil {
		return err
	}
	d, err := runs.Preview(ctx, a.program(), req, a.eventPrinter(f.quiet, f.suite.lint(a.hints(), path)).print)
	if err != nil {
		return err
	}
	if a.jsonOut {
		return json.NewEncoder(a.out).Encode(d)
	}
	console.RunEstimate(a.out, a.err, d)
	return nil
}
