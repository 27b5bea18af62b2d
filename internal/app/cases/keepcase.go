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

// KeptCaseRequest asks for a case of a run, to go on with.
type KeptCaseRequest struct {
	Run  string `json:"run"`
	Case string `json:"case"`
	// Target is the one that has the system prompt that the case is kept with; "": the suite's.
	Target string `json:"target,omitempty"`
	// Owner is true for the owner of the run: personal data stay in the case.
	Owner bool `json:"owner,omitempty"`
	// Tier and Bug are those of the case that is made; "" leaves the tier as it is.
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

// firstOf is a case of the run that has an attempt.
func firstOf(ctx context.Context, r *results.Run, name string) (*callvet.Case, error) {
	for row, err := range r.Rows(ctx, store.Filter{CaseID: name}) {
		if err != nil {
			return nil, err
		}
		return row.Case, nil
	}
	return nil, &results.NoAttemptError{Case: name, Run: r.Stored.ID}
}

// asTier is a case of a tier, with the bug that it keeps away; "" leaves it as it is.
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

// refusePersonal refuses a suite that would not be the same without what must be hidden: secrets, and
// personal data for all but their owner. A case that expects "[REDACTED:email]" tests nothing.
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

// describePersonal is the personal data of a suite, by kind, in words; "" where there are none.
func describePersonal(a *app.App, s *callvet.Suite) (string, error) {
	found, err := countRedacted(a, s, nil)
	return kindCounts(found), err
}

// countRedacted counts what a redactor would take out of a suite, but for the kinds that are kept.
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
