// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
)

// KeptCaseRequest requests a case of a run, to edit and keep.
type KeptCaseRequest struct {
	Run  string `json:"run"`
	Case string `json:"case"`
	// Target is the target with the system prompt for the case; "": the suite's prompt.
	Target string `json:"target,omitempty"`
	// Owner is true for the owner of the run: personal data stay in the case.
	Owner bool `json:"owner,omitempty"`
	// Tier and Bug are set in the new case; "" leaves the tier unchanged.
	Tier callvet.Tier `json:"tier,omitempty"`
	Bug  string       `json:"bug,omitempty"`
}

// KeptCase returns a case of a run as a suite, with its system prompt, tools, mocks and settings.
// It is equal to the case in the run. The error wraps callvet.ErrDenied if a part of it must be
// masked, and callvet.ErrNotFound if the run has no attempt at it.
func KeptCase(ctx context.Context, a *app.App, req KeptCaseRequest) (*callvet.Suite, error) {
	if req.Tier != "" {
		if err := (&NewCaseSettings{Bug: req.Bug}).check(req.Tier); err != nil {
			return nil, err
		}
	}
	r, err := results.OpenToShow(ctx, a, req.Run)
	if err != nil {
		return nil, err
	}
	of, err := firstOf(ctx, r, req.Case)
	if err != nil {
		return nil, err
	}
	one := *r.Suite
	if req.Target != "" {
		at := slices.IndexFunc(r.Manifest.Targets, func(t callvet.Target) bool { return t.Name == req.Target })
		if at < 0 {
			return nil, fmt.Errorf("keep case %q of run %s: target %q: %w", req.Case, r.Stored.ID, req.Target,
				callvet.ErrNotFound)
		}
		one.SystemPrompt = run.System(r.Suite.SystemPrompt, &r.Manifest.Targets[at], "")
	}
	one.Cases = []callvet.Case{asTier(of, req.Tier, req.Bug, a.Config.Now())}
	return &one, refusePersonal(a, r.Manifest, &one, req.Owner)
}

// Written writes a suite in callvet's own form, as yaml or json.
func Written(s *callvet.Suite, format string) ([]byte, error) { return suite.Export(s, format) }

// firstOf returns the first case of that name in the run with an attempt.
func firstOf(ctx context.Context, r *results.Run, name string) (*callvet.Case, error) {
	for row, err := range r.Rows(ctx, store.Filter{CaseID: name}) {
		if err != nil {
			return nil, err
		}
		return row.Case, nil
	}
	return nil, &results.NoAttemptError{Case: name, Run: r.Stored.ID}
}

// asTier returns the case with a tier and the bug that it tests for; "" leaves the case unchanged.
func asTier(c *callvet.Case, tier callvet.Tier, bug string, now time.Time) callvet.Case {
	out := *c
	if tier == "" {
		return out
	}
	out.Tier, out.Fields = tier, map[string]string{}
	maps.Copy(out.Fields, c.Fields)
	out.Fields[suite.FieldCreatedAt] = now.UTC().Format(time.DateOnly)
	if bug != "" {
		out.Fields[suite.FieldBugRef] = bug
	}
	return out
}

// refusePersonal refuses a suite that redaction would change: it must not contain secrets, nor
// personal data unless the owner asks. A case that expects "[REDACTED:email]" tests nothing.
func refusePersonal(a *app.App, m *results.Manifest, s *callvet.Suite, owner bool) error {
	keep := m.KeptKinds()
	if owner {
		keep = redact.PersonalKinds()
	}
	found, err := countRedacted(a, s, keep)
	if err != nil || len(found) == 0 {
		return err
	}
	hint := "the owner of the run can keep it"
	for kind := range found {
		if kind.Secret() {
			hint = "take the secret out of the suite; secrets are never copied"
		}
	}
	return &callvet.Hinted{
		Err: fmt.Errorf("keep case %q: %w: it has %s, and a case with their redactions would test nothing",
			s.Cases[0].ID, callvet.ErrDenied, kindCounts(found)),
		Hint: hint,
	}
}

// describePersonal describes the personal data of a suite, by kind; "" if there are none.
func describePersonal(a *app.App, s *callvet.Suite) (string, error) {
	found, err := countRedacted(a, s, nil)
	return kindCounts(found), err
}

// countRedacted counts the values that a redactor would remove from a suite, except the kinds that
// are kept.
func countRedacted(a *app.App, s *callvet.Suite, keep []redact.Kind) (map[redact.Kind]int64, error) {
	red, err := a.Secrets().Redactor(keep)
	if err != nil {
		return nil, err
	}
	red.Begin()
	red.Text(s.Description)
	red.Text(s.SystemPrompt)
	for i := range s.Cases {
		red.Case(&s.Cases[i])
	}
	mocks, err := json.Marshal(s.Mocks)
	if err != nil {
		return nil, fmt.Errorf("keep case: %w", err)
	}
	red.JSON(mocks)
	if red.Total() == 0 {
		return nil, nil
	}
	return red.Counts, nil
}
