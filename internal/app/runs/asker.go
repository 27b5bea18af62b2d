// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
)

// Conclude shows a run that a request about a catalogue made, before the request reads it. It
// returns the error of the run: ended (nil for a complete run), or one that explains how to go on.
type Conclude func(out *Outcome, ended error) error

// Asker sends questions about a catalogue to models, in runs within one budget.
type Asker struct {
	app      *app.App
	how      *app.RunRequest
	Conclude Conclude
	events   app.Events
	// spent is the cost of the runs so far, in USD, and dearest the largest cost of an attempt,
	// which the next may cost too.
	spent, dearest float64
}

// NewAsker makes an Asker of models by name, with the settings of a run request.
func NewAsker(a *app.App, models []string, how *app.RunRequest, conclude Conclude, events app.Events) *Asker {
	how.Targets = nil
	for _, m := range models {
		target := how.Shared
		target.Target = m
		how.Targets = append(how.Targets, target)
	}
	return &Asker{app: a, how: how, Conclude: conclude, events: events}
}

// Ask implements catalog.Env.Ask.
func (q *Asker) Ask(ctx context.Context, path string, made *callvet.Suite,
	read func(*catalog.Answers) error,
) (err error) {
	if slices.ContainsFunc(q.how.Targets,
		func(t app.TargetSpec) bool { return strings.HasPrefix(t.Target, "retrieve:") }) {
		return app.Refused("models",
			"{models} asks those who choose among tools; the retriever is that of {preset}, {k} or one {configurations}")
	}
	most := q.how.MaxCostUSD
	if most > 0 && q.spent > 0 && most-q.spent < q.dearest {
		return fmt.Errorf("%.6g of %.6g USD were spent and another request may cost %.6g: %w", q.spent, most, q.dearest,
			callvet.ErrBudget)
	}
	one := *q.how
	one.Suite, one.Made, one.MaxCostUSD = path, made, max(0, most-q.spent)
	s, err := Start(ctx, q.app, one, q.events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return q.Read(ctx, s, read)
}

// Read carries out a run and reads its results, even if they are incomplete.
func (q *Asker) Read(ctx context.Context, s *Session, read func(*catalog.Answers) error) error {
	out, ended := s.Do(ctx)
	if out == nil {
		return ended
	}
	if q.Conclude != nil {
		ended = q.Conclude(out, ended)
	}
	if err := read(q.answers(out.View)); err != nil {
		return err
	}
	return ended
}

// answers returns the answers of a run, and subtracts its cost from the budget.
func (q *Asker) answers(v *report.View) *catalog.Answers {
	q.spent += v.Spent.USD + v.Spent.AssumedUSD
	out := &catalog.Answers{Run: v.ID, Status: v.Status, About: v.Suite.Description, Attempts: q.attempts(v)}
	for i := range v.Targets {
		out.Targets = append(out.Targets, v.Targets[i].Name)
	}
	return out
}

func (q *Asker) attempts(v *report.View) iter.Seq2[catalog.Attempt, error] {
	return func(yield func(catalog.Attempt, error) bool) {
		for row, err := range v.Cells() {
			if row.Cell != nil && !row.Cell.Trace.Cached && row.Cell.Trace.Usage.CostUSD != nil {
				q.dearest = max(q.dearest, *row.Cell.Trace.Usage.CostUSD)
			}
			if err == nil && row.Cell.Trace.Outcome == callvet.OutcomeNotRun && row.Cell.Trace.Started.IsZero() {
				continue // the model was not asked
			}
			if !yield(catalog.Attempt{Case: row.Case, Cell: row.Cell}, err) {
				return
			}
		}
	}
}
