// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/panel"
)

// damagedError: a stored part of a run cannot be read. It wraps callvet.ErrConflict, and the error
// of the part.
type damagedError struct {
	Run, Part string
	Err       error
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("read %s of run %s: %v", e.Part, e.Run, e.Err)
}

// Unwrap returns the kind and the cause.
func (e *damagedError) Unwrap() []error { return []error{callvet.ErrConflict, e.Err} }

// mostTargets bounds the targets of a run that are known only from its attempts.
const mostTargets = 1000

// OpenToShow opens a stored run like Run. If its manifest or its suite cannot be read, data of its
// attempts replaces it, and the run's problem names the missing part. Such a run can be shown, but
// neither resumed nor checked against gates.
func OpenToShow(ctx context.Context, a *app.App, ref string) (*Run, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return nil, err
	}
	r, err := OpenIn(ctx, db, ref)
	var damaged *damagedError
	if !errors.As(err, &damaged) {
		return r, err
	}
	s, err := Stored(ctx, db, ref)
	if err != nil {
		return nil, err
	}
	m, err := ReadManifest(&s)
	if errors.As(err, &damaged) {
		m, err = manifestOfCells(ctx, db, &s)
	}
	if err != nil {
		return nil, err
	}
	suite, cases, err := db.OpenSuite(ctx, s.SuiteHash)
	if err != nil {
		if cases == nil || Momentary(ctx, err) {
			return nil, err
		}
		suite = &callvet.Suite{Name: s.SuiteName}
	}
	out := &Run{Stored: s, Manifest: m, Suite: suite, CaseLines: cases, DB: db, damage: damaged}
	m.Cases = slices.DeleteFunc(m.Cases, out.beyond)
	maps.DeleteFunc(m.OwnRepeats, func(at, n int) bool { return out.beyond(at) || n < 1 })
	return out, nil
}

// manifestOfCells makes a manifest from the attempts of a run: its targets and its repeats.
func manifestOfCells(ctx context.Context, db *store.DB, s *store.Run) (*Manifest, error) {
	m := &Manifest{Version: ManifestVersion, Repeats: 1}
	for c, err := range db.Cells(ctx, s.ID, store.Filter{Order: store.ByCase}) {
		if err != nil {
			return nil, err
		}
		if c.Target < 0 || c.Target >= mostTargets {
			continue
		}
		for len(m.Targets) <= c.Target {
			m.Targets = append(m.Targets, callvet.Target{})
		}
		m.Repeats = max(m.Repeats, c.Repeat+1)
		if t := &m.Targets[c.Target]; t.Name == "" {
			t.Name = c.Trace.Target
		}
	}
	for i := range m.Targets {
		if t := &m.Targets[i]; t.Name == "" ||
			slices.ContainsFunc(m.Targets[:i], func(o callvet.Target) bool { return o.Name == t.Name }) {
			t.Name = strings.TrimSpace(fmt.Sprintf("%s target %d", t.Name, i+1))
		}
	}
	return m, nil
}

// misplaced returns the attempts without a case or a target in the run: they are lost, and no
// number includes them.
func (r *Run) misplaced(ctx context.Context) (*panel.Lost, error) {
	n, first, err := r.DB.Misplaced(ctx, r.Stored.ID, r.CaseLines.Len(), len(r.Manifest.Targets), maxLost)
	if err != nil || n == 0 {
		return nil, err
	}
	out := &panel.Lost{Count: n, First: []panel.LostRecord{}}
	for i := range first {
		at := &first[i]
		out.First = append(out.First,
			panel.LostRecord{Reason: fmt.Sprintf(
				"an attempt at case %q has the target %.40s of %d and the case %.40s of %d, counted from 0",
				plain.Clean(at.CaseID), plain.Clean(at.Target), len(r.Manifest.Targets), plain.Clean(at.Case),
				r.CaseLines.Len())})
	}
	return out, nil
}

// problem explains which part of the run cannot be read, "" if all can; p are its panels.
func (r *Run) problem(ctx context.Context, p *panel.Panels) (string, error) {
	var out []string
	if r.damage != nil {
		out = append(out, r.damage.Error()+": what its attempts say is shown")
	}
	if n := unreadableCells(p); n > 0 {
		out = append(out, plain.Count(n, "attempt", "attempts")+" cannot be read, and count as errors: lost_record")
	}
	if s := p.Lost.Sentence(); s != "" {
		out = append(out, s)
	}
	opinions, err := r.ReadOpinions(ctx)
	if err != nil {
		return "", err
	}
	for i := range opinions.lost {
		out = append(out, "a judging is lost: "+opinions.lost[i].Problem)
	}
	return strings.Join(out, "; "), nil
}

// unreadableCells counts the attempts with a place in the run that cannot be read.
func unreadableCells(p *panel.Panels) (n int) {
	for i := range p.Targets {
		for _, why := range p.Targets[i].Overall.Reasons {
			if why.Outcome == callvet.OutcomeError && why.Reason == string(callvet.FaultLost) {
				n += why.N
			}
		}
	}
	return n
}

// Momentary reports whether an error is temporary, and not caused by the stored data.
func Momentary(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, callvet.ErrUnavailable) || store.Fault(err)
}
