// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
)

// The worlds that answer the calls of a run.
const (
	WorldMock     = "mock"
	WorldLive     = "live"
	WorldRecorded = "recorded"
)

// What happens to a call without a recording.
const (
	OnMissFail = "fail"
	OnMissTell = "tell"
)

// WorldRequest says who answers calls.
type WorldRequest struct {
	// World is mock, the mocks of the suite, live, the tools that the file Live lists and no
	// other, or recorded; "" is mock, or recorded where there are Recordings.
	World string `json:"world,omitempty"`
	Live  string `json:"live,omitempty"`
	// Recordings is a folder with what tools answered before. Nothing is executed.
	Recordings string `json:"recordings,omitempty"`
	// OnMiss is the handling of a call without a recording: fail, also "", ends the attempt with an
	// error, because it cannot be judged; tell returns an error to the target, and goes on.
	OnMiss string `json:"on_miss,omitempty"`
	// Record is a folder that gets what is answered. No answer of earlier runs is reused then.
	Record string `json:"record,omitempty"`
}

// RanWorld is what a manifest keeps of who answered calls.
type RanWorld struct {
	WorldRequest
	// Hash is that of the recordings.
	Hash string `json:"hash,omitempty"`
}

// check refuses what does not go together, and fills in what follows.
func (q *WorldRequest) check() error {
	worlds := []string{"", WorldMock, WorldLive, WorldRecorded}
	switch {
	case !slices.Contains(worlds, q.World):
		return wrong("world", q.World, "it is %s, %s or %s", WorldMock, WorldLive, WorldRecorded)
	case (q.World == WorldMock || q.World == WorldLive) && q.Recordings != "":
		return wrong("recordings", q.Recordings, "{world} %s reads none", q.World)
	case q.World == WorldRecorded && q.Recordings == "":
		return wrong("world", q.World, "which {recordings}? {record} DIR makes some")
	case !slices.Contains([]string{"", OnMissFail, OnMissTell}, q.OnMiss):
		return wrong("on_miss", q.OnMiss, "it is %s or %s", OnMissFail, OnMissTell)
	case q.OnMiss != "" && q.Recordings == "":
		return wrong("on_miss", q.OnMiss, "it is about {recordings}, and there are none")
	}
	if q.Recordings != "" {
		q.World = WorldRecorded
	}
	return nil
}

// world answers the calls of a run's attempts.
type acting struct {
	what       RanWorld
	recordings *world.Recordings // nil: mocks answer
	tape       *world.Tape       // nil: nothing is recorded
	of         *Run              // whose calls the recordings are, in a replay; nil: they are of a folder
}

// openWorld opens what a request says, before anything is asked.
func (a *App) openWorld(ctx context.Context, q WorldRequest) (*acting, error) {
	w := &acting{what: RanWorld{WorldRequest: q}}
	if q.Recordings != "" {
		if q.Record != "" && a.cfg.Files.Same(q.Recordings, q.Record) {
			return nil, wrong("record", q.Record, "{recordings} are read from it")
		}
		path, _, err := a.cfg.Files.Path(q.Recordings)
		if err != nil {
			return nil, fmt.Errorf("open recordings: %w", err)
		}
		if w.recordings, err = world.OpenRecordings(path); err != nil {
			return nil, err
		}
		w.what.Hash = w.recordings.Hash()
	}
	if q.Record != "" {
		var err error
		if w.tape, err = a.tape(ctx, q.Record); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// tape records into a folder.
func (a *App) tape(ctx context.Context, folder string) (*world.Tape, error) {
	if err := a.cfg.Files.Folder(ctx, folder); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	path, _, err := a.cfg.Files.Path(folder)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	put := func(ctx context.Context, name string, data []byte) error {
		return a.cfg.Files.Write(ctx, folder+"/"+name, func(to io.Writer) error {
			_, err := to.Write(data)
			return err
		})
	}
	t, err := world.NewTape(path, put, a.cfg.Now)
	if err != nil {
		return nil, fmt.Errorf("record in %s: %w", folder, err)
	}
	return t, nil
}

// ran is what the manifest keeps; nil where mocks answer and nothing is recorded.
func (w *acting) ran() *RanWorld {
	if w == nil || w.what == (RanWorld{}) || w.what == (RanWorld{WorldRequest: WorldRequest{World: WorldMock}}) {
		return nil
	}
	return &w.what
}

// openWorld opens the world of a run that is taken up again.
func (s *Session) openWorld(ctx context.Context) error {
	if s.world != nil || s.Manifest.Replay != nil {
		return nil
	}
	var was RanWorld
	if s.Manifest.World != nil {
		was = *s.Manifest.World
	}
	var err error
	if s.world, err = s.app.openWorld(ctx, was.WorldRequest); err != nil {
		return fmt.Errorf("resume run %s: %w", s.Stored.ID, err)
	}
	if s.world.what.Hash != was.Hash {
		return &callvet.Hinted{Err: fmt.Errorf("resume run %s: %w: the recordings in %s have changed since it started",
			s.Stored.ID, callvet.ErrConflict, was.Recordings), Hint: "start a new run"}
	}
	return nil
}

// worlds has calls answered as the run says.
func (s *Session) worlds(cfg *run.Config) error {
	if s.world == nil { // of a run that asks judges
		s.world = &acting{}
	}
	w, man := s.world, s.Manifest
	var hide *hiding
	var err error
	if w.recordings != nil || w.tape != nil {
		if hide, err = s.app.hiding(s.Run); err != nil {
			return err
		}
	}
	called := cfg.Worlds // nil: no tool is
	cfg.Worlds = func(c *callvet.Case, target string, repeat int) callvet.World {
		of := world.Conversation{Case: c.ID, Target: target, Repeat: repeat, Tools: s.toolsOf(c)}
		if hide != nil {
			of.Scrub = func(call *callvet.Call) { hide.call(c, call) }
		}
		var out callvet.World
		if w.unanswers(s.Suite, c) {
			return nil
		}
		switch {
		case called != nil:
			out = called(c, target, repeat)
		case w.recordings != nil:
			out = w.recordings.World(of,
				world.AnswerOptions{Tell: w.what.OnMiss == OnMissTell, RealLatency: man.RealLatency})
		default:
			out = world.Mocks(s.Suite, c, world.MockOptions{RealLatency: man.RealLatency})
		}
		if w.tape == nil || out == nil {
			return out
		}
		return w.tape.World(out, of)
	}
	if w.recordings != nil {
		cfg.Through = func(c *callvet.Case) bool { return w.recordings.Cover(c.ID) && !w.unanswers(s.Suite, c) }
		cfg.WorldKey = strings.Join([]string{w.what.World, w.what.Hash, w.what.OnMiss}, " ")
	}
	if w.tape != nil {
		cfg.Cache = nil // what is not asked is not recorded
	}
	s.replaying(cfg)
	return nil
}

// call redacts a call as it is redacted in an attempt at the case.
func (h *hiding) call(of *callvet.Case, call *callvet.Call) {
	cell := callvet.Cell{Trace: callvet.Trace{
		CaseID: of.ID,
		Turns:  []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{*call}}},
	}}
	h.cell(of, &cell)
	*call = cell.Trace.Turns[0].Calls[0]
}

// tellDrift says once of each tool what has changed since it was recorded.
func (s *Session) tellDrift() error {
	if s.world == nil || s.world.recordings == nil {
		return nil
	}
	tools := slices.Clone(s.Suite.Tools)
	var err error
	for c := range s.Chosen(&err) {
		tools = append(tools, c.Tools...)
	}
	for _, said := range s.world.recordings.Drift(tools) {
		s.events.note("recording-drift", "%s", said)
	}
	return err
}

// recorded says what a tape has, where there is one.
func (e Events) recorded(folder string, t *world.Tape) {
	if t == nil {
		return
	}
	calls, files := t.Counts()
	e.note("recorded", "recorded in %s: %s, %s changed", folder, plain.Count(calls, "call", "calls"),
		plain.Count(files, "file", "files"))
}

// reportCalls reports recorded calls, and calls without a recording.
func (w *acting) reportCalls(events Events) {
	events.recorded(w.what.Record, w.tape)
	if w.recordings == nil {
		return
	}
	if n := w.recordings.Missed(); n > 0 {
		of := plain.Count(int(n+w.recordings.Answered()), "call", "calls")
		if w.what.OnMiss == OnMissTell {
			events.note("recording-missing",
				"%d of %s had no recording: the target got an error in its place, so that verdicts of these attempts are not about the tools", n, of)
			return
		}
		events.note("recording-missing",
			"%d of %s had no recording: these attempts are errors, which say nothing of the target", n, of)
	}
}
