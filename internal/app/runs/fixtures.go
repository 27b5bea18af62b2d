// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/world"
)

// FixturesRequest requests mocks or recordings, from the gold of a suite or from the calls of a
// stored run.
type FixturesRequest struct {
	// From is a suite, or a run.
	From string `json:"from"`
	// Output is a file, .yaml or .json, for the suite with mocks; or a folder for the recordings of
	// a run.
	Output string `json:"output"`
}

// Fixtures counts the new mocks or recordings.
type Fixtures struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Output  string `json:"output"`
	// Run is the source of the answers; "": gold.
	Run string `json:"run,omitempty"`
	// Mocks were made in Cases; from gold, Checks of them from a result_check, and Plain without
	// data: these answer {"status":"ok"}.
	Mocks  int `json:"mocks,omitempty"`
	Cases  int `json:"cases,omitempty"`
	Checks int `json:"of_checks,omitempty"`
	Plain  int `json:"plain,omitempty"`
	// Calls were recorded; Files of them changed.
	Calls int `json:"calls,omitempty"`
	Files int `json:"files,omitempty"`
}

// MakeFixtures writes mocks or recordings. The name of a file or a folder means a suite, any other
// name a run.
func MakeFixtures(ctx context.Context, a *app.App, req FixturesRequest, events app.Events) (*Fixtures, error) {
	ext := strings.ToLower(filepath.Ext(req.Output))
	asSuite := slices.Contains([]string{".yaml", ".yml", ".json"}, ext)
	out := &Fixtures{Format: "callvet.fixtures", Version: 1, Output: req.Output}
	if req.Output == "" {
		return nil, app.Wrong("output", "", "which file, or which folder for recordings?")
	}
	if a.Config.Files.Kind(req.From) != app.KindNone {
		if !asSuite {
			return nil, app.Wrong("output", req.Output,
				"what is made of a suite is a suite with mocks: write FILE.yaml or FILE.json")
		}
		s, err := traces.WholeSuite(ctx, a, &app.TraceSettings{Suite: req.From}, events)
		if err != nil {
			return nil, err
		}
		for i := range s.Cases {
			mocks, made, plain := world.MocksOfGold(s, &s.Cases[i])
			out.add(&s.Cases[i], mocks)
			out.Checks, out.Plain = out.Checks+made, out.Plain+plain
		}
		return out, writeSuite(ctx, a, s, req.Output, ext)
	}
	r, err := results.Open(ctx, a, req.From)
	if err != nil {
		return nil, err
	}
	out.Run = r.Stored.ID
	if asSuite {
		return out, mocksOfRun(ctx, a, r, req.Output, ext, out)
	}
	return out, recordRun(ctx, a, r, req.Output, out)
}

func (f *Fixtures) add(c *callvet.Case, mocks []callvet.Mock) {
	if len(mocks) == 0 {
		return
	}
	c.Mocks = append(c.Mocks, mocks...)
	f.Mocks += len(mocks)
	f.Cases++
}

func writeSuite(ctx context.Context, a *app.App, s *callvet.Suite, name, ext string) error {
	format := "yaml"
	if ext == ".json" {
		format = "json"
	}
	b, err := suite.Export(s, format)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// mocksOfRun writes the suite of a run; the first answered attempt at a case provides its mocks,
// which replace the case's own.
func mocksOfRun(ctx context.Context, a *app.App, r *results.Run, name, ext string, out *Fixtures) error {
	s := *r.Suite
	at := map[string]int{}
	var err error
	for c := range r.Chosen(&err) {
		if r.IsTwin(c) {
			continue
		}
		own := *c
		at[c.ID] = len(s.Cases)
		s.Cases = append(s.Cases, own)
	}
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for c, err := range r.DB.Cells(ctx, r.Stored.ID, store.Filter{}) {
		if err != nil {
			return err
		}
		i, ok := at[c.Trace.CaseID]
		if !ok || done[c.Trace.CaseID] {
			continue
		}
		mocks := world.MocksOf(world.OfTrace(&c.Trace,
			world.Conversation{Case: s.Cases[i].ID, Tools: r.ToolsOf(&s.Cases[i])}, false))
		if len(mocks) == 0 {
			continue
		}
		done[c.Trace.CaseID] = true
		s.Cases[i].Mocks = results.OtherMocks(s.Cases[i].Mocks, mocks)
		out.add(&s.Cases[i], mocks)
	}
	return writeSuite(ctx, a, &s, name, ext)
}

// recordRun writes the recordings of a run's calls.
func recordRun(ctx context.Context, a *app.App, r *results.Run, folder string, out *Fixtures) error {
	w, err := openWorld(ctx, a, app.WorldRequest{Record: folder})
	if err != nil {
		return err
	}
	for c, err := range r.DB.Cells(ctx, r.Stored.ID, store.Filter{}) {
		if err != nil {
			return err
		}
		k, err := r.CaseLines.Case(c.Case)
		if err != nil {
			return err
		}
		of := world.Conversation{
			Case: k.ID, Target: r.Manifest.Targets[c.Target].Name, Repeat: c.Repeat,
			Tools: r.ToolsOf(k),
		}
		for _, rec := range world.OfTrace(&c.Trace, of, r.Manifest.Guard == nil) {
			if err := w.tape.Keep(ctx, rec, of); err != nil {
				return err
			}
		}
	}
	out.Calls, out.Files = w.tape.Counts()
	return nil
}
