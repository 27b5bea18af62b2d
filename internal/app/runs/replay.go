// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/world"
	"github.com/callvet/callvet/score/safety"
)

// ReplayRequest requests a new run of the attempts of a stored run, with the recorded answers to
// their calls.
type ReplayRequest struct {
	Run string `json:"run"`
	// Case is the only case; "": all of the run.
	Case string `json:"case,omitempty"`
	// FromStep is how many answers of each attempt are replayed; the targets answer after that. Nil
	// without Targets: all are replayed, and no request is sent.
	FromStep *int `json:"from_step,omitempty"`
	// Targets replace the targets of the run.
	Targets []app.TargetSpec `json:"targets,omitempty"`
	// Of is the target of the run with the answers to replay, if it has several and Targets are
	// set.
	Of string `json:"of,omitempty"`
	// Recordings answer calls instead of the run's stored results; OnMiss is as in a run.
	Recordings string `json:"recordings,omitempty"`
	OnMiss     string `json:"on_miss,omitempty"`
	store.Words
	// SystemFor are system prompts of single targets, and Prices is a file that takes precedence
	// over the shipped prices, as in a run.
	SystemFor map[string]string `json:"system_for,omitempty"`
	Prices    string            `json:"prices,omitempty"`
	// Slices and Keep are as in a run.
	Slices []string `json:"slices,omitempty"`
	Keep   []string `json:"keep,omitempty"`
	app.Settings
	Origin app.Origin `json:"origin,omitzero"`
}

// asksTargets reports whether requests are sent to a target.
func asksTargets(r *results.Replayed) bool { return r.FromStep != nil }

func (q *ReplayRequest) check() error {
	w := app.WorldRequest{Recordings: q.Recordings, OnMiss: q.OnMiss}
	if q.Recordings == "" {
		w.OnMiss = ""
	}
	switch {
	case q.Run == "":
		return app.Wrong("run", "", "which run?")
	case q.FromStep != nil && *q.FromStep < 0:
		return app.Wrong("from_step", strconv.Itoa(*q.FromStep), "write 0 or more")
	case q.Of != "" && len(q.Targets) == 0:
		return app.Wrong("of", q.Of, "it is about {targets}, and there are none")
	case !slices.Contains([]string{"", app.OnMissFail, app.OnMissError}, q.OnMiss):
		return app.Wrong("on_miss", q.OnMiss, "it is %s or %s", app.OnMissFail, app.OnMissError)
	}
	_, err := app.Kinds(q.Keep)
	return errors.Join(err, app.CheckWords(&q.Words), w.Check(), q.Settings.Check())
}

// StartReplay stores a new run that repeats the attempts of another one. Calls get the recorded
// answers, and no tool is executed.
func StartReplay(ctx context.Context, a *app.App, req ReplayRequest, events app.Events) (*Session, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	of, err := results.Open(context.WithoutCancel(ctx), a, req.Run)
	if err != nil {
		return nil, err
	}
	if err := app.SystemPrompts(req.Targets, req.SystemFor); err != nil {
		return nil, err
	}
	man, err := replayManifest(of, &req, a.Config.Version)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(a.Permitted(man.Specs), a.CheckSecrets(req.Targets),
		a.Secrets().Spelled(redactSettings((&app.RunRequest{Words: req.Words, Origin: req.Origin})))); err != nil {
		return nil, err
	}
	if commands := man.Commands(); len(commands) > 0 && !a.Config.Permit.Commands {
		return nil, app.Refused("run", "replay run %s: its scorers may not run commands here: %s", of.Stored.ID,
			strings.Join(commands, "; "))
	}
	s := &Session{
		yield: make(chan struct{}), app: a, events: events, settings: req.Settings, slices: req.Slices,
		noWait: true,
	}
	if s.op, err = a.NewOpener(req.Timeout(), man.Prices, of.Stored.ID, events); err != nil {
		return nil, err
	}
	if err := s.startReplay(ctx, of, man, &req); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// replayManifest returns the manifest of the run with the description of the replay.
func replayManifest(r *results.Run, req *ReplayRequest, version string) (*results.Manifest, error) {
	if r.Manifest.Judging != nil {
		return nil, app.Wrong("run", req.Run, "it asks a judge: replay the run that it judges")
	}
	m := *r.Manifest
	m.Replay = &results.Replayed{Run: r.Stored.ID, FromStep: req.FromStep}
	m.Callvet, m.Origin, m.Settings, m.Slices, m.Keep, m.Judges, m.NoCache, m.Live = version, req.Origin, &req.Settings,
		req.Slices, append(slices.Clone(m.Keep), req.Keep...), nil, true, nil
	m.Rules = callvet.RulesVersion
	m.World = &results.RanWorld{WorldRequest: app.WorldRequest{
		World: app.WorldRecorded, Recordings: req.Recordings,
		OnMiss: req.OnMiss,
	}}
	if req.Prices != "" {
		m.Prices = req.Prices
	}
	if len(req.Targets) > 0 {
		m.Specs, m.TargetFile, m.Catalogues = req.Targets, "", nil
		if req.FromStep == nil {
			m.Replay.FromStep = new(int)
		}
		at, err := targetAt(r, req.Of)
		if err != nil {
			return nil, err
		}
		m.Replay.Of = &at
	}
	if !asksTargets(m.Replay) {
		m.Specs, m.Catalogues, m.TargetFile = nil, nil, "" // no target is opened
	}
	if req.Case != "" {
		at, err := caseAt(r, req.Case)
		if err != nil {
			return nil, err
		}
		m.Cases = []int{at}
	}
	return &m, nil
}

// targetAt returns the position of a target by its name; "" is the only one.
func targetAt(r *results.Run, name string) (int, error) {
	var names []string
	for i := range r.Manifest.Targets {
		if r.Manifest.Targets[i].Name == name {
			return i, nil
		}
		names = append(names, r.Manifest.Targets[i].Name)
	}
	if name == "" && len(names) == 1 {
		return 0, nil
	}
	return 0, app.Wrong("of", name, "run %s has the targets %s: name the target to replay", r.Stored.ID,
		strings.Join(names, ", "))
}

// caseAt returns the position of a case in the suite.
func caseAt(r *results.Run, id string) (int, error) {
	var ids []string
	var err error
	at := 0
	for c := range r.AllCases(&err) {
		if c.ID == id && (r.Manifest.Cases == nil || slices.Contains(r.Manifest.Cases, at)) {
			return at, nil
		}
		ids = append(ids, c.ID)
		at++
	}
	if err != nil {
		return 0, err
	}
	hint := ""
	if near := callvet.Nearest(id, ids); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return 0, app.Wrong("case", id, "run %s has no such case%s", r.Stored.ID, hint)
}

func (s *Session) startReplay(ctx context.Context, of *results.Run, man *results.Manifest, req *ReplayRequest) error {
	var err error
	if s.Run, err = results.OpenSuite(context.WithoutCancel(ctx), of.DB, of.Stored.SuiteHash); err != nil {
		return err
	}
	s.Manifest = man
	if err := s.openReplay(ctx, of); err != nil {
		return err
	}
	man.World.Hash = s.world.what.Hash
	man.Targets = nil
	for i := range s.targets {
		man.Targets = append(man.Targets, s.targets[i].Target)
	}
	if err := errors.Join(s.Sliceable(req.Slices), checkToolChoices(s.Run, s.targets), s.reportDrift()); err != nil {
		return err
	}
	b, err := json.Marshal(man)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	s.Stored, err = of.DB.CreateRun(ctx, store.NewRun{Words: req.Words, SuiteHash: of.Stored.SuiteHash, Manifest: b})
	return err
}

// openReplay opens the targets of a replay, which repeat their answers in the run of, and the world
// that answers their calls.
func (s *Session) openReplay(ctx context.Context, of *results.Run) error {
	what := s.Manifest.Replay
	if asksTargets(what) {
		var err error
		if s.targets, err = s.op.OpenAll(ctx, s.Manifest.Specs); err != nil {
			return err
		}
	} else {
		for _, t := range of.Manifest.Targets {
			t.Recorded, t.Free = true, true
			s.targets = append(s.targets, run.Target{Target: t})
		}
	}
	for i := range s.targets {
		at := i
		if what.Of != nil {
			at = *what.Of
		}
		if at >= len(of.Manifest.Targets) {
			return fmt.Errorf("replay run %s: %w: it has %d targets, and now there are %d", of.Stored.ID,
				callvet.ErrConflict, len(of.Manifest.Targets), len(s.targets))
		}
		m := &world.Again{Find: pastAttempts(of, at), Next: s.targets[i].Model}
		if what.FromStep != nil {
			m.Steps = *what.FromStep
		}
		s.targets[i].Model = m
	}
	return s.openReplayWorld(ctx, of)
}

// pastAttempts finds attempts of the at-th target of a run.
func pastAttempts(r *results.Run, at int) func(ctx context.Context, id string, repeat int) (world.Past, error) {
	whole := r.Manifest.Targets[at].Agent
	return func(ctx context.Context, id string, repeat int) (world.Past, error) {
		for c, err := range r.DB.Cells(ctx, r.Stored.ID, store.Filter{CaseID: id, Target: &at}) {
			if err != nil {
				return world.Past{}, err
			}
			if c.Repeat != repeat {
				continue
			}
			of, err := r.CaseLines.Case(c.Case)
			if err != nil {
				return world.Past{}, err
			}
			return world.Past{Trace: &c.Trace, Input: len(of.Input), Whole: whole}, nil
		}
		return world.Past{}, fmt.Errorf("run %s has no attempt %d at it: %w", r.Stored.ID, repeat+1,
			callvet.ErrNotFound)
	}
}

// openReplayWorld opens the world of a replay: recordings, or the stored answers to the calls of
// the run.
func (s *Session) openReplayWorld(ctx context.Context, of *results.Run) error {
	was := *s.Manifest.World
	if was.Recordings != "" {
		var err error
		s.world, err = openWorld(ctx, s.app, was.WorldRequest)
		return err
	}
	stored, err := s.recorded(ctx, of)
	if err != nil {
		return err
	}
	all, err := world.RecordingsOf(stored.calls)
	if err != nil {
		return err
	}
	s.world = &acting{what: was, recordings: all, of: of}
	s.world.what.Hash = all.Hash()
	if s.resume != nil {
		return nil
	}
	if stored.redacted > 0 {
		s.events.Note("redacted-replay",
			"%d of the attempts lost secrets or personal data when they were stored: what is replayed of them, and how it is scored, may differ", stored.redacted)
	}
	if step := s.Manifest.Replay.FromStep; step != nil && *step >= stored.longest {
		s.events.Note("nothing-forked",
			"no attempt has more than %d answers: all that was said stands, and a target is asked only where it said nothing", stored.longest)
	}
	return nil
}

// storedCalls has the calls of the replayed attempts.
type storedCalls struct {
	calls []*world.Recording
	// redacted counts the attempts with redacted parts; longest is the largest number of answers of
	// an attempt.
	redacted, longest int
}

// recorded reads the calls of the replayed run.
func (s *Session) recorded(ctx context.Context, of *results.Run) (out storedCalls, err error) {
	chosen := map[int]bool{}
	for _, at := range s.Manifest.Cases {
		chosen[at] = true
	}
	for c, err := range of.DB.Cells(ctx, of.Stored.ID, store.Filter{}) {
		if err != nil {
			return out, err
		}
		if s.Manifest.Cases != nil && !chosen[c.Case] || c.Target >= len(of.Manifest.Targets) {
			continue
		}
		k, err := of.CaseLines.Case(c.Case)
		if err != nil {
			return out, err
		}
		at := world.Conversation{
			Case: k.ID, Target: of.Manifest.Targets[c.Target].Name, Repeat: c.Repeat,
			Tools: of.ToolsOf(k),
		}
		out.calls = append(out.calls, world.OfTrace(&c.Trace, at, of.Manifest.Guard == nil)...)
		if len(out.calls) > world.MaxRecordings {
			return out, fmt.Errorf("replay run %s: it has more than %d calls: %w", of.Stored.ID, world.MaxRecordings,
				callvet.ErrLimited)
		}
		out.longest = max(out.longest, world.Answers(c.Trace.Turns))
		if b, err := json.Marshal(&c.Trace.Turns); err != nil || bytes.Contains(b, []byte(safety.RedactionMark)) {
			out.redacted++
		}
	}
	return out, nil
}

// replaying sets the configuration of a replay: the recorded answers already contain the faults,
// and failed requests are not repeated.
func (s *Session) replaying(cfg *run.Config) {
	what := s.Manifest.Replay
	if what == nil {
		return
	}
	if s.world.of != nil {
		cfg.Faulty = func(w callvet.World, _ []callvet.ToolFault, _ *callvet.Case, _ int) callvet.World { return w }
	}
	cfg.Cache = nil
	if !asksTargets(what) {
		cfg.Retry, cfg.BreakAfter = run.Retry{Attempts: 1}, -1
	}
}

// unanswers reports whether the calls of a case were not answered in the replayed run.
func (w *acting) unanswers(s *callvet.Suite, c *callvet.Case) bool {
	if w.of == nil {
		return false
	}
	was := w.of.Manifest.World
	return (was == nil || was.World == "" || was.World == app.WorldMock) &&
		world.Mocks(s, c, world.MockOptions{}) == nil
}
