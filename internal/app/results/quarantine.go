// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
)

// tally counts the attempts at a case in quarantine, those that were judged, and those that passed.
type tally struct{ Attempts, judged, Passes int }

func (t *tally) add(v callvet.Verdict) {
	t.Attempts++
	switch v {
	case callvet.VerdictPass:
		t.Passes++
		t.judged++
	case callvet.VerdictFail:
		t.judged++
	}
}

// spared returns the cases of a quarantine that are left out on a day. The sentences list every
// case of the quarantine with its results, so that no case is forgotten. of is a run or a trace
// file.
func spared(of string, list []suite.Quarantine, found map[string]*tally,
	now time.Time,
) (without map[string]bool, notes []string) {
	for i := range list {
		q := &list[i]
		about := q.Owner
		if q.Reason != "" {
			about += ": " + q.Reason
		}
		t := found[q.Case]
		switch {
		case q.Over(now):
			notes = append(notes,
				fmt.Sprintf("the quarantine of %s ended on %s (%s): it counts again", q.Case, q.Until, about))
			continue
		case t == nil:
			notes = append(notes,
				fmt.Sprintf("%s is in quarantine until %s (%s), and %s has no such case", q.Case, q.Until, about, of))
			continue
		}
		notes = append(notes, fmt.Sprintf("%s is in quarantine until %s (%s) and in no gate: %d of %s passed", q.Case,
			q.Until, about, t.Passes, plain.Count(t.judged, "judged attempt", "judged attempts")))
		if without == nil {
			without = map[string]bool{}
		}
		without[q.Case] = true
	}
	return without, notes
}

// Quarantine leaves cases out of the run's sums until their date has passed.
func (r *Run) Quarantine(ctx context.Context, list []suite.Quarantine,
	now time.Time,
) (notes []string, left tally, err error) {
	found := map[string]*tally{}
	for i := range list {
		t := &tally{}
		for row, err := range r.Rows(ctx, store.Filter{CaseID: list[i].Case}) {
			if err != nil {
				return nil, left, err
			}
			t.add(row.Cell.Result.Verdict)
		}
		if t.Attempts > 0 {
			found[list[i].Case] = t
		}
	}
	r.Without, notes = spared("the run", list, found, now)
	for id := range r.Without {
		left.Attempts += found[id].Attempts
		left.judged += found[id].judged
		left.Passes += found[id].Passes
	}
	return notes, left, nil
}

// QuarantineTraces finds the tasks of a trace file that are left out, like the cases of a run.
func QuarantineTraces(a *app.App, name string,
	list []suite.Quarantine,
) (without map[string]bool, notes []string, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	if a.IsStream(name) {
		return nil, nil, app.Refused("gates",
			"%s can be read once only, and a quarantine needs a second reading: write it to a file", name)
	}
	found := map[string]*tally{}
	if _, err := a.EachTask(name, func(t *trace.Task) {
		if slices.ContainsFunc(list, func(q suite.Quarantine) bool { return q.Case == t.TaskID }) {
			if found[t.TaskID] == nil {
				found[t.TaskID] = &tally{}
			}
			_, cell := t.Entry("")
			found[t.TaskID].add(cell.Result.Verdict)
		}
	}); err != nil {
		return nil, nil, err
	}
	without, notes = spared(name, list, found, a.Config.Now())
	return without, notes, nil
}

// ReadableGates returns an error for invalid gates, before any request is sent.
func ReadableGates(a *app.App, s *app.Settings, events app.Events) error {
	if s.Gates == "" {
		return nil
	}
	_, err := GateFile(a, s.Gates, nil)
	if bad := (*BadGatesError)(nil); errors.As(err, &bad) {
		events.Problems(bad.Problems)
	}
	return err
}

// RequiredQuarantine applies the quarantine of a gate file, or of the suite's gates, to RequirePass
// and FailUnder. A suite with unreadable gates has no quarantine: the command gate reports the
// error.
func (r *Run) RequiredQuarantine(ctx context.Context, a *app.App, name string) (notes []string, left tally, err error) {
	file, err := GateFile(a, name, r)
	switch {
	case err != nil && name != "":
		return nil, left, err
	case err != nil || len(file.Quarantine) == 0:
		return nil, left, nil
	}
	return r.Quarantine(ctx, file.Quarantine, a.Config.Now())
}
