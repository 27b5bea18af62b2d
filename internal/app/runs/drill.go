// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// DrillRequest requests safety drills: those of a suite with safety settings in its cases, or the
// shipped ones if Suite is "".
type DrillRequest struct{ app.RunRequest }

// Drill runs drills and returns their result. The error is the run's error; an interrupted run has
// no result.
func Drill(ctx context.Context, a *app.App, req DrillRequest, events app.Events) (_ *DrillsResult, err error) {
	s, err := StartDrill(ctx, a, req, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	out, err := s.Do(ctx)
	switch {
	case err != nil && !out.Undecided(err):
		return nil, err
	case out.Interrupted():
		return nil, fmt.Errorf("run drills: %w: run %s was interrupted", callvet.ErrConflict, out.Stored.ID)
	}
	return Drilled(ctx, a, out.Stored.ID)
}

// Undecided reports whether err means only that the run is over without a judged attempt.
func (o *Outcome) Undecided(err error) bool {
	return err != nil && o != nil && !o.Interrupted() && !o.Failed() && !errors.Is(err, callvet.ErrBudget) &&
		o.Summary.Pass+o.Summary.Fail == 0
}

// StartDrill checks the request and stores the run, as Start does.
func StartDrill(ctx context.Context, a *app.App, req DrillRequest, events app.Events) (*Session, error) {
	made, err := drillSuite(ctx, a, &req.RunRequest, events)
	if err != nil {
		return nil, err
	}
	req.Made, req.Drill = made, true
	return Start(ctx, a, req.RunRequest, events)
}

// drillSuite reads the suite and adds the twins to its cases.
func drillSuite(ctx context.Context, a *app.App, req *app.RunRequest, events app.Events) (*callvet.Suite, error) {
	read, err := drillStream(ctx, a, req, events)
	if err != nil {
		return nil, err
	}
	var cases []callvet.Case
	for c := range read.Cases(ctx) {
		cases = append(cases, *c)
	}
	if err := LintVerdict(read.Problems(), req, events); err != nil {
		return nil, err
	}
	s := read.Suite
	if s.Cases, err = DrillsWithTwins(cases); err != nil {
		return nil, err
	}
	return s, nil
}

func drillStream(ctx context.Context, a *app.App, req *app.RunRequest, events app.Events) (*suite.Stream, error) {
	if req.Suite != "" {
		return a.OpenSuite(ctx, req.SuiteRequest, events)
	}
	req.Suite = drillsName
	scoring, err := a.Scoring(ctx, "")
	if err != nil {
		return nil, err
	}
	read, problems, err := suite.Open("-", suite.Options{Stdin: bytes.NewReader(DrillsText())}, suite.LintOptions{
		Scoring: scoring, World: func(s *callvet.Suite,
			c *callvet.Case,
		) callvet.World {
			return world.Mocks(s, c, world.MockOptions{})
		},
	})
	events.Problems(problems)
	return read, err
}

// Drilled reads the result of drills from their run. The error wraps callvet.ErrInvalid for a run
// without drills.
func Drilled(ctx context.Context, a *app.App, run string) (*DrillsResult, error) {
	r, err := results.Open(ctx, a, run)
	if err != nil {
		return nil, err
	}
	if !r.Manifest.Drill {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read drills of run %s: %w: it is none of drills", r.Stored.ID,
			callvet.ErrInvalid), Hint: "callvet drill makes one"}
	}
	out := &DrillsResult{
		Format: "callvet.drilled", Version: 1, Run: r.Stored.ID,
		Suite: cmp.Or(r.Suite.Name, r.Manifest.Path), Unsafe: []DrillsAttempt{}, Targets: []DrillsTarget{},
	}
	var bad error
	for c := range r.Chosen(&bad) {
		if c.Fields[results.FieldTwin] == "no" {
			out.Cases++
			if c.Safety != nil && c.Safety.Attack != nil {
				out.Attacks++
			}
		}
	}
	if bad != nil {
		return nil, bad
	}
	p, err := r.GatePanels(ctx, []string{results.FieldDrill, "language", results.FieldTwin}, 0, nil)
	if err != nil {
		return nil, err
	}
	for i := range p.Targets {
		out.Targets = append(out.Targets, DrillsTargetOf(&p.Targets[i]))
	}
	if err := countUnsafe(ctx, a, r, out); err != nil {
		return nil, err
	}
	out.Decide()
	if s := p.Lost.Sentence(); s != "" {
		out.Warnings = append(out.Warnings, s)
	}
	return out, nil
}

// countUnsafe lists the attempts with a failed safety assertion, and counts for each target the cases
// with the user's task done.
func countUnsafe(ctx context.Context, a *app.App, r *results.Run, d *DrillsResult) error {
	red, err := results.RedactorOf(a, r.Manifest, nil)
	if err != nil {
		return err
	}
	useful, evident := map[[2]string]bool{}, map[[2]string]bool{} // by target and case
	for row, err := range r.Shown(ctx,
		store.Filter{Order: store.ByCase, Verdicts: []callvet.Verdict{callvet.VerdictPass, callvet.VerdictFail}}, red) {
		if err != nil {
			return err
		}
		of := [2]string{r.Manifest.Targets[row.Cell.Target].Name, row.Case.ID}
		counts := row.Case.Fields[results.FieldTwin] == "no"
		if counts && usefulDrill(&row.Cell.Result) {
			useful[of], evident[of] = true, true
		}
		i := slices.IndexFunc(row.Cell.Result.Assertions, func(as callvet.Assertion) bool {
			return as.Name == safety.AssertionName && as.State == callvet.AssertFailed
		})
		if counts && i >= 0 {
			evident[of] = true
		}
		switch {
		case i < 0:
		case len(d.Unsafe) >= maxUnsafe:
			d.Left++
		default:
			d.Unsafe = append(d.Unsafe, DrillsAttempt{
				Target: of[0], Case: row.Case.ID, Repeat: row.Cell.Repeat, What: row.Cell.Result.Assertions[i].Actual,
			})
		}
	}
	for i := range d.Targets {
		t := &d.Targets[i]
		t.Shows(ofTarget(useful, t.Name), ofTarget(evident, t.Name))
	}
	return nil
}

// ofTarget counts the cases of a target.
func ofTarget(cases map[[2]string]bool, target string) (n int) {
	for of := range cases {
		if of[0] == target {
			n++
		}
	}
	return n
}
