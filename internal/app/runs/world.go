// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/world"
)

// acting is the world that answers the calls of a run's attempts.
type acting struct {
	what       results.RanWorld
	recordings *world.Recordings // nil: mocks answer calls
	tape       *world.Tape       // nil: nothing is recorded
	of         *results.Run      // the run with the recorded calls, in a replay; nil: recordings of a folder
}

// openWorld opens the world of a request, before any request to a target.
func openWorld(ctx context.Context, a *app.App, q app.WorldRequest) (*acting, error) {
	w := &acting{what: results.RanWorld{WorldRequest: q}}
	if q.Recordings != "" {
		if q.Record != "" && a.Config.Files.Same(q.Recordings, q.Record) {
			return nil, app.Wrong("record", q.Record, "{recordings} are read from it")
		}
		path, _, err := a.Config.Files.Path(q.Recordings)
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
		if w.tape, err = NewTape(ctx, a, q.Record); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// NewTape records into a folder.
func NewTape(ctx context.Context, a *app.App, folder string) (*world.Tape, error) {
	if err := a.Config.Files.Folder(ctx, folder); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	path, _, err := a.Config.Files.Path(folder)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	put := func(ctx context.Context, name string, data []byte) error {
		return a.Config.Files.Write(ctx, folder+"/"+name, func(to io.Writer) error {
			_, err := to.Write(data)
			return err
		})
	}
	t, err := world.NewTape(path, put, a.Config.Now)
	if err != nil {
		return nil, fmt.Errorf("record in %s: %w", folder, err)
	}
	return t, nil
}

// ran describes the world for the manifest; nil if mocks answer and nothing is recorded.
func (w *acting) ran() *results.RanWorld {
	if w == nil || w.what == (results.RanWorld{}) ||
		w.what == (results.RanWorld{WorldRequest: app.WorldRequest{World: app.WorldMock}}) {
		return nil
	}
	return &w.what
}

// openWorld opens the world of a resumed run.
func (s *Session) openWorld(ctx context.Context) error {
	if s.world != nil || s.Manifest.Replay != nil {
		return nil
	}
	var was results.RanWorld
	if s.Manifest.World != nil {
		was = *s.Manifest.World
	}
	var err error
	if s.world, err = openWorld(ctx, s.app, was.WorldRequest); err != nil {
		return fmt.Errorf("resume run %s: %w", s.Stored.ID, err)
	}
	if s.world.what.Hash != was.Hash {
		return &callvet.Hinted{Err: fmt.Errorf("resume run %s: %w: the recordings in %s have changed since it started",
			s.Stored.ID, callvet.ErrConflict, was.Recordings), Hint: "start a new run"}
	}
	return nil
}

// worlds configures the world that answers calls.
func (s *Session) worlds(cfg *run.Config) error {
	if s.world == nil { // for the run of a judge
		s.world = &acting{}
	}
	w, man := s.world, s.Manifest
	var hide *results.Hiding
	var err error
	if w.recordings != nil || w.tape != nil {
		if hide, err = results.HidingOf(s.app, s.Run); err != nil {
			return err
		}
	}
	called := cfg.Worlds // nil: no tool is called
	cfg.Worlds = func(c *callvet.Case, target string, repeat int) callvet.World {
		of := world.Conversation{Case: c.ID, Target: target, Repeat: repeat, Tools: s.ToolsOf(c)}
		if hide != nil {
			of.Scrub = func(call *callvet.Call) { redactCall(hide, c, call) }
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
				world.AnswerOptions{ErrorOnMiss: w.what.OnMiss == app.OnMissError, RealLatency: man.RealLatency})
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
		cfg.Cache = nil // reused answers would not be recorded
	}
	s.replaying(cfg)
	return nil
}

// redactCall redacts a call as it is redacted in an attempt at the case.
func redactCall(h *results.Hiding, of *callvet.Case, call *callvet.Call) {
	cell := callvet.Cell{Trace: callvet.Trace{
		CaseID: of.ID,
		Turns:  []callvet.Turn{{Role: callvet.RoleAssistant, Calls: []callvet.Call{*call}}},
	}}
	h.Cell(of, &cell)
	*call = cell.Trace.Turns[0].Calls[0]
}

// reportDrift reports once for each tool what has changed since it was recorded.
func (s *Session) reportDrift() error {
	if s.world == nil || s.world.recordings == nil {
		return nil
	}
	tools := slices.Clone(s.Suite.Tools)
	var err error
	for c := range s.Chosen(&err) {
		tools = append(tools, c.Tools...)
	}
	for _, drift := range s.world.recordings.Drift(tools) {
		s.events.Note("recording-drift", "%s", drift)
	}
	return err
}

// NoteRecorded reports the content of a tape, if there is one.
func NoteRecorded(e app.Events, folder string, t *world.Tape) {
	if t == nil {
		return
	}
	calls, files := t.Counts()
	e.Note("recorded", "recorded in %s: %s, %s changed", folder, plain.Count(calls, "call", "calls"),
		plain.Count(files, "file", "files"))
}

// reportCalls reports recorded calls, and calls without a recording.
func (w *acting) reportCalls(events app.Events) {
	NoteRecorded(events, w.what.Record, w.tape)
	if w.recordings == nil {
		return
	}
	if n := w.recordings.Missed(); n > 0 {
		of := plain.Count(int(n+w.recordings.Answered()), "call", "calls")
		if w.what.OnMiss == app.OnMissError {
			events.Note("recording-missing",
				"%d of %s had no recording: the target got an error in its place, so that verdicts of these "+
					"attempts are not about the tools", n, of)
			return
		}
		events.Note("recording-missing",
			"%d of %s had no recording: these attempts are errors, which say nothing of the target", n, of)
	}
}
