// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
)

// tally sums up the attempts of a candidate over all parts of a search.
type tally struct {
	attempts, lost   int
	priced, answered int // attempts with a known cost, with an answer
	usd, ms          float64
	fault            string // of the last attempt without an outcome
	faced            map[string]*faced
	means            map[string]panel.TaskSum // by case
}

// faced has the counts of a case that a candidate must not make worse.
type faced struct{ attempts, passed, incidents int }

func newTally() *tally { return &tally{faced: map[string]*faced{}, means: map[string]panel.TaskSum{}} }

// add adds an attempt. Attempts of a free target cost 0 if their cost is not known.
func (t *tally) add(row *report.Row, free bool) {
	tr, res := &row.Cell.Trace, &row.Cell.Result
	if tr.Outcome == callvet.OutcomeNotRun {
		return
	}
	t.attempts++
	f := t.faced[row.Case.ID]
	if f == nil {
		f = &faced{}
		t.faced[row.Case.ID] = f
	}
	for i := range res.Incidents {
		if !res.Incidents[i].Blocked {
			f.incidents++
		}
	}
	switch res.Verdict {
	case callvet.VerdictPass:
		f.attempts, f.passed = f.attempts+1, f.passed+1
	case callvet.VerdictFail:
		f.attempts++
	default:
		t.lost++
		if tr.Fault != nil {
			t.fault = tr.Fault.Error()
		}
		return
	}
	t.answered++
	t.ms += tr.WallMS
	if tr.Usage.CostUSD != nil {
		t.priced, t.usd = t.priced+1, t.usd+*tr.Usage.CostUSD
	} else if free {
		t.priced++
	}
}

// endedError reports that a part was interrupted, so that the search goes on later.
type endedError struct{ err error }

func (e *endedError) Error() string { return e.err.Error() }

// Unwrap returns the reason.
func (e *endedError) Unwrap() error { return e.err }

// partID is the id of the next part.
func (s *Session) partID() string { return fmt.Sprintf("%s.%d", s.ID, s.next) }

// carryOut carries out the next part, or reads it if it is over already. It returns the run of the
// part. over is false if the limits of the search ended it.
func (s *Session) carryOut(ctx context.Context, part *runs.Part) (r *results.Run, over bool, err error) {
	part.ID, part.Of, part.Settings = s.partID(), s.ID, s.settings()
	return s.finish(ctx, part.ID, func() (*runs.Session, error) {
		return part.Begin(ctx, s.app, s.plan, s.partEvents)
	})
}

// finish carries out the part with that id, unless it is over already. create makes a missing part.
func (s *Session) finish(ctx context.Context, id string, create func() (*runs.Session, error),
) (r *results.Run, over bool, err error) {
	kept := context.WithoutCancel(ctx)
	stored, err := s.db.Run(kept, id)
	var session *runs.Session
	switch {
	case err == nil && id != s.again && (stored.Status == store.StatusDone || stored.Status == store.StatusBudget):
		return s.read(kept, id)
	case errors.Is(err, callvet.ErrNotFound):
		if session, err = create(); !errors.Is(err, callvet.ErrConflict) {
			break
		}
		fallthrough // another process has created it meanwhile
	case err == nil:
		session, err = runs.Resume(ctx, s.app, runs.ResumeRequest{Run: id}, s.partEvents)
	}
	if err != nil {
		return nil, false, err
	}
	out, ended := session.Do(ctx)
	if err := session.Close(); err != nil {
		return nil, false, err
	}
	switch {
	case out == nil:
		return nil, false, ended
	case out.Interrupted() || out.Yielded:
		return nil, false, &endedError{context.Canceled}
	case out.Failed():
		return nil, false, ended
	}
	return s.read(kept, id)
}

// read opens a part that is over, and counts it.
func (s *Session) read(ctx context.Context, id string) (*results.Run, bool, error) {
	r, err := results.Open(ctx, s.app, id)
	if err != nil {
		return nil, false, err
	}
	s.next++
	if !slices.Contains(s.Runs, id) {
		s.Runs = append(s.Runs, id)
	}
	s.Spent.Add(r.Stored.Spent)
	return r, r.Stored.Status == store.StatusDone, nil
}

// settings returns the settings of the next part, with the rest of the limits of the search.
func (s *Session) settings() app.Settings {
	set := s.Request.Run.Settings
	if set.MaxCalls > 0 {
		set.MaxCalls = max(1, set.MaxCalls-s.Spent.Requests)
	}
	if set.MaxCostUSD > 0 {
		set.MaxCostUSD = max(1e-9, set.MaxCostUSD-s.Spent.USD-s.Spent.AssumedUSD)
	}
	return set
}

// partEvents forwards the events of a part that concern the search: its progress, and each warning
// once.
func (s *Session) partEvents(ev app.Event) {
	switch {
	case ev.Warning != nil && !slices.Contains(s.warned, *ev.Warning):
		s.warned = append(s.warned, *ev.Warning)
		s.events.Emit(ev)
	case ev.Progress != nil:
		s.events.Emit(ev)
	}
}

// made has the cases, by position, at which a target made all attempts.
type made map[[2]int]bool // by target and case

// gather adds the attempts of a part to the tallies of its candidates, which are in the order of its targets.
func (m *searching) gather(ctx context.Context, r *results.Run, candidates []int) (made, error) {
	for _, c := range candidates {
		if m.sums[c] == nil {
			m.sums[c] = newTally()
		}
	}
	count, whole := map[[2]int]int{}, made{}
	for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		t, at := row.Cell.Target, row.Cell.Case
		m.sums[candidates[t]].add(&row, r.Manifest.Targets[t].Free)
		if row.Cell.Trace.Outcome != callvet.OutcomeNotRun {
			count[[2]int{t, at}]++
			whole[[2]int{t, at}] = count[[2]int{t, at}] >= r.Manifest.RepeatsOf(at)
		}
	}
	return whole, nil
}

// means returns the sums of the metric over the attempts of a part, by target and case. The sum of
// a case without a value is the zero value.
func (s *Session) means(ctx context.Context, r *results.Run, ids []string) ([][]panel.TaskSum, error) {
	led, err := r.Ledger(ctx, measure.SideConfig{By: []string{}, Metrics: []string{s.Metric}})
	if err != nil {
		return nil, err
	}
	out := make([][]panel.TaskSum, len(r.Manifest.Targets))
	for t := range r.Manifest.Targets {
		list, why := led.Sums(r.Manifest.Targets[t].Name, s.Metric, panel.SliceID{}, ids)
		if why != "" {
			return nil, fmt.Errorf("measure %s: %w: %s", s.Metric, callvet.ErrInvalid, why)
		}
		of := make(map[string]panel.TaskSum, len(list))
		for _, sum := range list {
			of[sum.Task] = sum
		}
		out[t] = make([]panel.TaskSum, len(ids))
		for i, id := range ids {
			out[t][i] = of[id] // the zero value without a value of the case
		}
	}
	return out, nil
}

// meanOf returns the mean of a task. The mean of a task without a value is unknown: it may be from
// 0 to 1.
func (s *Session) meanOf(sum *panel.TaskSum) panel.TaskMean {
	if sum.Values+sum.Lost == 0 {
		return panel.TaskMean{Low: 0, High: 1}
	}
	m := sum.Mean()
	if p, _ := panel.TaskMeans(s.Metric); p.LowerIsBetter {
		m.Low, m.High = 1-m.High, 1-m.Low
	}
	return m
}

// breaks returns the constraints that a candidate breaks. planned: all of the cases were planned to
// run; else only those that ran count.
func (m *searching) breaks(candidate int, cases []place, planned bool) []string {
	base, now := m.sums[0], m.sums[candidate]
	if base == nil || now == nil {
		return nil
	}
	var list []tune.Faced
	for _, p := range cases {
		b, c := base.faced[p.id], now.faced[p.id]
		if !planned && (b == nil || c == nil) {
			continue
		}
		b, c = cmp.Or(b, &faced{}), cmp.Or(c, &faced{})
		tier := p.tier
		if !planned && b.attempts == 0 { // lost: in a race this counts in favour of the candidate
			tier = ""
		}
		list = append(list, tune.Faced{
			Case: p.id, Tier: tier, BaseAttempts: b.attempts, BasePassed: b.passed, BaseIncidents: b.incidents,
			CandidateAttempts: c.attempts, CandidatePassed: c.passed, CandidateIncidents: c.incidents,
		})
	}
	return tune.Breaks(list)
}
