// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
)

// evalSuite writes a run as EvalSuiteResult: one object, or a list where the run has several
// targets, tiers or tools.
func (a *cli) evalSuite(ctx context.Context, format string, req app.EvalSuiteRequest, outputs []string) error {
	if format != "evalsuite" {
		return usagef("--format %s is not known; it is evalsuite", format)
	}
	results, err := results.EvalSuites(ctx, a.program(), req)
	if err != nil {
		return err
	}
	var doc any = results
	switch len(results) {
	case 0:
		return fmt.Errorf("report run %s: %w: it has no such attempts", req.Run, callvet.ErrNotFound)
	case 1:
		doc = results[0]
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	b = append(b, '\n')
	if len(outputs) == 0 {
		_, err := a.out.Write(b)
		return err
	}
	for _, o := range outputs {
		if err := a.program().WriteBytes(ctx, o, b); err != nil {
			return err
		}
	}
	return nil
}
