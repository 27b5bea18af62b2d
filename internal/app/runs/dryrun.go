// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// DryRun describes the requests of a run that is not made.
type DryRun struct {
	Format  string `json:"format"` // callvet.dry_run
	Version int    `json:"version"`
	Suite   string `json:"suite"`
	// Cases were chosen by the filters and the sample, out of All.
	Cases   int      `json:"cases"`
	All     int      `json:"all"`
	Targets []string `json:"targets"`
	Repeats int      `json:"repeats"`
	// Attempts is how many would be made. Rubrics of them are at cases that run last, if all others
	// passed. Skipped are left out, for reasons in the suite.
	Attempts int `json:"attempts"`
	Rubrics  int `json:"rubrics"`
	Skipped  int `json:"skipped"`
	// MostRepeats is set if cases have different numbers of attempts. Repeats is then the smallest.
	MostRepeats int `json:"most_repeats,omitempty" doc:"attempts of a target at the case with the most; left out where that is repeats"`
	// Usage is the usage of the whole run.
	Usage
	// OfTargets and OfJudges are its parts; nil without judges.
	OfTargets *Usage `json:"of_targets,omitempty" doc:"the part of the evaluated models; absent without judges"`
	OfJudges  *Usage `json:"of_judges,omitempty" doc:"the part of the judges; absent without judges"`
	// Unkeyed are models and judges without a key.
	Unkeyed []Unkeyed `json:"unkeyed,omitempty" doc:"those without a key; each is a warning too"`
	// Warnings are warnings that a run would report only after its start.
	Warnings []callvet.Notice `json:"warnings,omitempty"`

	asked  []int // attempts of each target
	judges []judgeAsked
}

// Usage has the requests and the usage of a run or of a part of it.
type Usage struct {
	// Requests are sent at least and at most, without retries and if no stored answers are reused;
	// RequestsMost is nil if an agent or a judge decides.
	RequestsLeast int  `json:"requests_least"`
	RequestsMost  *int `json:"requests_most" doc:"null: an agent decides, or what a judge is to look at"`
	// Tokens, cost and time are estimated from earlier attempts of the same targets, and earlier
	// questions to the same judges.
	InputTokens  Estimate `json:"input_tokens"`
	OutputTokens Estimate `json:"output_tokens"`
	CostUSD      Estimate `json:"cost_usd"`
	Seconds      Estimate `json:"seconds"`
}

// Unkeyed is a model without its key, or without another variable that it needs.
type Unkeyed struct {
	Target   string `json:"target"`
	Judge    bool   `json:"judge,omitempty" doc:"it is to judge"`
	Variable string `json:"variable" doc:"the variable of the key"`
}

// lacking returns the callback for missing variables; nil if the run will be made.
func (d *DryRun) lacking(judge bool) func(*app.TargetSpec, string) {
	if d == nil {
		return nil
	}
	return func(s *app.TargetSpec, variable string) {
		one := Unkeyed{cmp.Or(s.DisplayName(), s.Target), judge, variable}
		if slices.Contains(d.Unkeyed, one) {
			return
		}
		d.Unkeyed = append(d.Unkeyed, one)
		d.Warnings = append(d.Warnings,
			callvet.Notice{
				Code: "no-key",
				Text: fmt.Sprintf("%s: %s is missing, so that it cannot be asked", one.Target, variable),
			})
	}
}

// Preview does what Start does without storing a run: it lints the suite, chooses its cases and
// opens the targets. It sends no requests, and estimates from the latest runs in the store.
func Preview(ctx context.Context, a *app.App, req app.RunRequest, events app.Events) (*DryRun, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := db.Runs(ctx, mostPast)
	if err != nil {
		return nil, err
	}
	return dryRun(ctx, a, &req, runs, events)
}

// PreviewFrom is Preview with the runs for its estimates, the latest first: those that a user may
// read.
func PreviewFrom(ctx context.Context, a *app.App, req app.RunRequest, past []string,
	events app.Events,
) (*DryRun, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	var runs []store.Run
	for _, id := range past[:min(len(past), mostPast)] {
		r, err := db.Run(ctx, id)
		if errors.Is(err, callvet.ErrNotFound) { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return dryRun(ctx, a, &req, runs, events)
}

func dryRun(ctx context.Context, a *app.App, req *app.RunRequest, past []store.Run,
	events app.Events,
) (*DryRun, error) {
	out := &DryRun{Format: "callvet.dry_run", Version: 1, Suite: req.Suite, Targets: []string{}}
	s, err := startRun(ctx, a, req, out, nil, events)
	if err != nil {
		return nil, err
	}
	return out, errors.Join(s.estimate(ctx, out, past), s.Close())
}

// fillDryRun fills in the requests of the run.
func fillDryRun(r *results.Run, d *DryRun) error {
	man := r.Manifest
	for i := range man.Targets {
		d.Targets = append(d.Targets, man.Targets[i].Name)
	}
	d.Cases, d.All = r.Cases(), r.CaseLines.Len()
	least, most := man.RepeatRange(d.Cases)
	if d.Repeats = least; most > least {
		d.MostRepeats = most
	}
	d.RequestsMost, d.asked = new(int), make([]int, len(man.Targets))
	for i := range d.Cases {
		at := i
		if man.Cases != nil {
			at = man.Cases[i]
		}
		c, err := r.CaseLines.Case(at)
		if err != nil {
			return err
		}
		skipped, repeats := 0, man.RepeatsOf(at)
		for j := range man.Targets {
			addRequests(r, d, c, j, repeats)
			switch {
			case c.Skip != "" && !(c.Selectable && man.Targets[j].Selects):
				skipped++
				d.Skipped += repeats
			case slices.Contains(man.Rubrics, at):
				d.Rubrics += repeats
			}
		}
		for k := range d.judges {
			d.judges[k].bound(c, len(man.Targets)-skipped, repeats)
		}
	}
	d.Attempts = r.Size() - d.Skipped
	w, err := Unwinnable(r)
	if w != nil {
		d.Warnings = append(d.Warnings, *w)
	}
	return err
}

// addRequests adds the requests of the attempts of a target at a case.
func addRequests(r *results.Run, d *DryRun, c *callvet.Case, target, repeats int) {
	t := &r.Manifest.Targets[target]
	if c.Skip != "" && !(c.Selectable && t.Selects) {
		return
	}
	d.RequestsLeast += repeats
	d.asked[target] += repeats
	most := 1
	if c.MultiTurn != nil || len(c.Mocks)+len(r.Suite.Mocks) > 0 || r.Manifest.World != nil {
		most = run.Rounds(r.Suite, c) // a world may answer the calls
	}
	if t.Selects {
		most = 1
	}
	switch {
	case t.Agent:
		d.RequestsMost = nil
	case d.RequestsMost != nil:
		*d.RequestsMost += most * repeats
	}
}

// Unwinnable returns a notice about cases that cannot pass, because a call is forced where no call
// is right; nil: none.
func Unwinnable(r *results.Run) (*callvet.Notice, error) {
	var forced []string
	for i := range r.Manifest.Targets {
		if t := &r.Manifest.Targets[i]; t.ToolChoice != "" && t.ToolChoice != "auto" && t.ToolChoice != "none" {
			forced = append(forced, t.Name)
		}
	}
	if len(forced) == 0 {
		return nil, nil
	}
	n := 0
	var err error
	for c := range r.Chosen(&err) {
		if something, nothing := c.Expect.Calls(); nothing && !something && c.ToolChoice == "" {
			n++
		}
	}
	if n == 0 || err != nil {
		return nil, err
	}
	return &callvet.Notice{
		Code: "required-abstention",
		Text: fmt.Sprintf(
			"tool_choice forces a call of %s, and %d of the cases expect none: they cannot pass; auto lets them",
			strings.Join(forced, ", "), n),
	}, nil
}
