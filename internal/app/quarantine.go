// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/trace"
)

// tally counts the attempts at a case in quarantine, those that were judged, and those that passed.
type tally struct{ attempts, judged, passes int }

func (t *tally) add(v callvet.Verdict) {
	t.attempts++
	switch v {
	case callvet.VerdictPass:
		t.passes++
		t.judged++
	case callvet.VerdictFail:
		t.judged++
	}
}

// spared are the cases of a quarantine that are left out on a day. The sentences list every case of
// the quarantine with its results, so that none is forgotten. of is a run or a trace file.
func spared(of string, list []suite.Quarantine, found map[string]*tally,
	now time.Time,
) (without map[string]bool, said []string) {
	for i := range list {
		q := &list[i]
		about := q.Owner
		if q.Reason != "" {
			about += ": " + q.Reason
		}
		t := found[q.Case]
		switch {
		case q.Over(now):
			said = append(said,
				fmt.Sprintf("the quarantine of %s ended on %s (%s): it counts again", q.Case, q.Until, about))
			continue
		case t == nil:
			said = append(said,
				fmt.Sprintf("%s is in quarantine until %s (%s), and %s has no such case", q.Case, q.Until, about, of))
			continue
		}
		said = append(said, fmt.Sprintf("%s is in quarantine until %s (%s) and in no gate: %d of %s passed", q.Case,
			q.Until, about, t.passes, plain.Count(t.judged, "judged attempt", "judged attempts")))
		if without == nil {
			without = map[string]bool{}
		}
		without[q.Case] = true
	}
	return without, said
}

// quarantine leaves cases out of the run's sums until their date has passed.
func (r *Run) quarantine(ctx context.Context, list []suite.Quarantine,
	now time.Time,
) (said []string, left tally, err error) {
	found := map[string]*tally{}
	for i := range list {
		t := &tally{}
		for row, err := range r.Rows(ctx, store.Filter{CaseID: list[i].Case}) {
			if err != nil {
				return nil, left, err
			}
			t.add(row.Cell.Result.Verdict)
		}
		if t.attempts > 0 {
			found[list[i].Case] = t
		}
	}
	r.without, said = spared("the run", list, found, now)
	for id := range r.without {
		left.attempts += found[id].attempts
		left.judged += found[id].judged
		left.passes += found[id].passes
	}
	return said, left, nil
}

// quarantineTraces finds the tasks of a trace file that are left out, as the cases of a run are.
func (a *App) quarantineTraces(name string,
	list []suite.Quarantine,
) (without map[string]bool, said []string, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	if a.once(name) {
		return nil, nil, refused("gates",
			"%s can be read once only, and a quarantine needs a second reading: write it to a file", name)
	}
	found := map[string]*tally{}
	if _, err := a.eachTask(name, func(t *trace.Task) {
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
	without, said = spared(name, list, found, a.cfg.Now())
	return without, said, nil
}

// readableGates refuses gates that are none, before anything is asked.
func (a *App) readableGates(s *Settings, events Events) error {
	if s.Gates == "" {
		return nil
	}
	_, err := a.gateFile(s.Gates, nil)
	if bad := (*BadGatesError)(nil); errors.As(err, &bad) {
		events.problems(bad.Problems)
	}
	return err
}

// requiredQuarantine applies the quarantine of a gate file, or of the suite's gates, to RequirePass
// and FailUnder. A suite with unreadable gates has no quarantine: the command gate reports the
// error.
func (r *Run) requiredQuarantine(ctx context.Context, a *App, name string) (said []string, left tally, err error) {
	file, err := a.gateFile(name, r)
	switch {
	case err != nil && name != "":
		return nil, left, err
	case err != nil || len(file.Quarantine) == 0:
		return nil, left, nil
	}
	return r.quarantine(ctx, file.Quarantine, a.cfg.Now())
}
