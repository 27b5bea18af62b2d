// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/internal/world"
)

// SuiteRequest selects a suite and how it is read.
type SuiteRequest struct {
	// Suite is a file, a folder of files, or "-".
	Suite string `json:"suite"`
	// Text is the suite itself, if it is not in a file; Suite is then only its name. Nil: it is
	// read from the file.
	Text []byte `json:"-"`
	// Format is one of suite.Dialects; "": it is found by content.
	Format string `json:"format,omitempty"`
	// Tools is a file or a folder with tools that are added to the suite's own.
	Tools string `json:"tools,omitempty"`
	// Mocks is a file with answers of tools, for cases and suites without their own.
	Mocks string `json:"mocks,omitempty"`
	// Seeds and Snapshots are files with the values of tokens.
	Seeds     string `json:"seeds,omitempty"`
	Snapshots string `json:"snapshots,omitempty"`
	// Embedder is the model that compares texts in mode semantic; "": none.
	Embedder string `json:"embedder,omitempty"`
	// EmbedderLater makes mode semantic without an Embedder a warning: runs name it.
	EmbedderLater bool `json:"-"`
	// Programs carries assertions of other formats that are JavaScript or Python as scorers
	// that run them; by default they are not evaluated.
	Programs bool `json:"programs,omitempty"`
	// Catalogue are tools that were already read from the file CatalogueFile.
	Catalogue     []callvet.Tool `json:"-"`
	CatalogueFile string         `json:"-"`
}

// SuiteForms are the formats of suites that are read.
func SuiteForms() []string { return suite.Dialects() }

// SuiteExports are the formats that Convert writes.
func SuiteExports() []string { return suite.Exports() }

// OpenSuite starts to read and lint a suite. The error is that of suite.Open; the problems are
// reported first.
func (a *App) OpenSuite(ctx context.Context, req SuiteRequest, events Events) (*suite.Stream, error) {
	if a.uploaded && req.Text == nil && req.Suite != "-" {
		text, err := a.Read(req.Suite, suite.DefaultLimit)
		if err != nil {
			return nil, err
		}
		req.Text = text
	}
	opt, done, err := a.suiteOptions(req, events)
	if err != nil {
		return nil, err
	}
	defer done()
	scoring, err := a.Scoring(ctx, req.Embedder)
	if err != nil {
		return nil, err
	}
	path, source := "-", func(string) ([]byte, error) { return req.Text, nil }
	if req.Text == nil {
		if path, _, err = a.Config.Files.Path(req.Suite); err != nil {
			return nil, err
		}
		source = func(name string) ([]byte, error) { return doc.ReadFile(name, suite.DefaultLimit) }
	}
	read, problems, err := suite.Open(path, opt, suite.LintOptions{
		Source: source, Scoring: scoring, Catalogue: req.CatalogueFile, EmbedderLater: req.EmbedderLater,
		World: func(s *callvet.Suite, c *callvet.Case) callvet.World { return world.Mocks(s, c, world.MockOptions{}) },
	})
	events.Problems(problems)
	return read, err
}

// suiteOptions reads the other inputs of a suite. done releases uploads.
func (a *App) suiteOptions(req SuiteRequest, events Events) (opt suite.Options, done func(), err error) {
	opt = suite.Options{
		Dialect: req.Format, Outside: a.Config.Permit.Outside, NoIncludes: !a.Config.Permit.Includes,
		Programs: req.Programs, Tools: req.Catalogue,
	}
	tools, err := a.NewestTools(req.Tools, events)
	if err != nil {
		return opt, nil, err
	}
	opt.Tools = append(opt.Tools, tools...)
	if opt.Mocks, err = a.readMocks(req.Mocks, events); err != nil {
		return opt, nil, err
	}
	for _, t := range []struct {
		name string
		into *[]byte
	}{{req.Seeds, &opt.Seeds}, {req.Snapshots, &opt.Snapshots}} {
		if t.name == "" {
			continue
		}
		if *t.into, err = a.Read(t.name, MaxTokens); err != nil {
			return opt, nil, fmt.Errorf("read tokens: %w", err)
		}
	}
	switch {
	case req.Text != nil:
		opt.Stdin, opt.NoIncludes = bytes.NewReader(req.Text), true // a stream has no neighbouring files
		return opt, func() {}, nil
	case req.Suite != "-":
		return opt, func() {}, nil
	}
	sent, err := a.Config.Files.Open("-")
	if err != nil {
		return opt, nil, err
	}
	opt.Stdin = sent
	return opt, func() { _ = sent.Close() }, nil // read whole when the suite is open
}

// NewestTools reads the tools of a file or folder, the newest version of each; "" has none.
func (a *App) NewestTools(name string, events Events) ([]callvet.Tool, error) {
	if name == "" {
		return nil, nil
	}
	tools, err := a.ReadTools([]string{name}, events)
	if err != nil {
		return nil, err
	}
	newest, left := suite.NewestTools(tools)
	if len(left) > 0 {
		events.Note("older-tools", "%s of %s left out: a suite has the newest one of a tool",
			plain.Count(len(left), "older version", "older versions"), name)
	}
	return newest, nil
}

// ReadTools reads the tools of all files and folders; an empty list is no error. It reports the
// problems; the error wraps callvet.ErrInvalid if one is an error, or if there is no tool.
func (a *App) ReadTools(names []string, events Events) ([]callvet.Tool, error) {
	var out []callvet.Tool
	for _, name := range names {
		tools, problems, err := a.loadTools(name)
		if err != nil {
			return nil, err
		}
		var bad []callvet.Problem
		for _, p := range problems {
			if p.Warning {
				events.Warn(p.Code, p.Error())
				continue
			}
			bad = append(bad, p)
		}
		events.Problems(bad)
		if len(bad) > 0 { // a misspelt constraint would be ignored silently
			return nil, fmt.Errorf("read tools %s: %s: %w", name, plain.Count(len(bad), "problem", "problems"),
				callvet.ErrInvalid)
		}
		out = append(out, tools...)
	}
	if len(names) > 0 && len(out) == 0 {
		return nil, fmt.Errorf("read tools %s: no tool is in it: %w", strings.Join(names, ", "), callvet.ErrInvalid)
	}
	return out, nil
}

// loadTools reads tools of a file or a folder; with uploads it reads nothing from the disk.
func (a *App) loadTools(name string) ([]callvet.Tool, []callvet.Problem, error) {
	if a.uploaded {
		text, err := a.Read(name, suite.ToolFileLimit)
		if err != nil {
			return nil, nil, err
		}
		return suite.ReadToolFile(name, text)
	}
	path, _, err := a.Config.Files.Path(name)
	if err != nil {
		return nil, nil, err
	}
	return suite.LoadTools(path, suite.ToolOptions{Outside: a.Config.Permit.Outside})
}

// LintRequest requests the problems of a suite.
type LintRequest struct {
	SuiteRequest
	// MaxAge is how many months old a label may be (as_of, createdAt); 0: any age.
	MaxAge int `json:"max_age,omitempty"`
}

// LintResult has the problems of a suite.
type LintResult struct {
	Cases    int               `json:"cases"`
	Problems []callvet.Problem `json:"problems"`
}

// Lint reads a suite and reports its problems, including secrets, prompts that reveal the answer,
// and old labels. The error is for an unreadable suite; the reason is reported first.
func (a *App) Lint(ctx context.Context, req LintRequest, events Events) (LintResult, error) {
	req.EmbedderLater = true // lint is not a run
	_, out, err := a.lint(ctx, &req, nil, events)
	return out, err
}

// ReadSuite reads a suite with its cases, and reports the same problems as Lint. If requests may
// not run commands, programs of the suite are refused: the error wraps callvet.ErrDenied.
func (a *App) ReadSuite(ctx context.Context, req SuiteRequest,
	events Events,
) (*callvet.Suite, []callvet.Problem, error) {
	var cases []callvet.Case
	own := &ScorersOf{
		version: func(*callvet.Scorer) string { return "" }, may: a.Config.Permit.Commands,
		commands: map[string][]string{}, seen: map[string]map[string]bool{}, kinds: map[string]map[string]bool{},
	}
	s, out, err := a.lint(ctx, &LintRequest{SuiteRequest: req}, func(c *callvet.Case) {
		own.Add(c)
		cases = append(cases, *c)
	}, events)
	if err != nil {
		return nil, out.Problems, err
	}
	s.Cases = cases
	return s, out.Problems, own.Refusal(&RunRequest{SuiteRequest: req}, a.Config.Permit)
}

// lint reads a suite, calls each for every case, and returns the suite without its cases.
func (a *App) lint(ctx context.Context, req *LintRequest, each func(*callvet.Case),
	events Events,
) (*callvet.Suite, LintResult, error) {
	var out LintResult
	if req.MaxAge < 0 {
		return nil, out, Wrong("max_age", fmt.Sprint(req.MaxAge), "it is a number of months, 0 for any age")
	}
	s, err := a.OpenSuite(ctx, req.SuiteRequest, events)
	if err != nil {
		return nil, out, err
	}
	h := suite.Hygiene{MaxAge: req.MaxAge, Now: a.Config.Now(), Tools: s.Suite.Tools}
	secrets := a.secrets.Suite(s.Suite)
	made := NewMakers(s.Files())
	for c := range s.Cases(ctx) {
		if err := cmp.Or(ctx.Err(), made.Add(c)); err != nil {
			return nil, out, err
		}
		if each != nil {
			each(c)
		}
		out.Cases++
		secrets = append(secrets, a.secrets.Case(c)...)
		if s.Suite.Dialect != "bfcl" { // a published benchmark is run unchanged
			h.Look(c)
		}
	}
	out.Problems = slices.Concat(s.Problems(), secrets, h.Problems())
	if len(s.Suite.Tools) == 0 { // agents have their own
		return s.Suite, out, nil
	}
	now := suite.StaleStateOf(s.Suite, nil, "")
	groups, err := made.Compare(ctx, s.Suite, &now)
	out.Problems = append(out.Problems, staleProblems(groups, s.Files())...)
	return s.Suite, out, err
}

// ConvertRequest requests a suite in a different format.
type ConvertRequest struct {
	SuiteRequest
	// To is one of suite.Exports.
	To string `json:"to"`
	// Output is the name of the new file: callvet's own format is written as JSON to a .json file,
	// else as YAML.
	Output string `json:"output,omitempty"`
}

// ConvertResult is a suite in a different format.
type ConvertResult struct {
	Data []byte `json:"data"`
	// Problems are those of reading. Lost lists data that the new format cannot express.
	Problems []callvet.Problem `json:"problems"`
	Lost     []callvet.Problem `json:"lost"`
}

// Convert writes a suite in a different format. The error wraps callvet.ErrInvalid for a suite with
// errors; the problems of the result list them.
func (a *App) Convert(_ context.Context, req ConvertRequest, events Events) (ConvertResult, error) {
	var out ConvertResult
	opt, done, err := a.suiteOptions(req.SuiteRequest, events)
	if err != nil {
		return out, err
	}
	defer done()
	opt.KeepTokens = true
	path := "-"
	if req.Text == nil {
		if path, _, err = a.Config.Files.Path(req.Suite); err != nil {
			return out, err
		}
	}
	s, problems, err := suite.Load(path, opt)
	out.Problems = problems
	if n := ErrorsIn(problems); err == nil && n > 0 {
		err = fmt.Errorf("convert %s: %w: %s", req.Suite, callvet.ErrInvalid, plain.Count(n, "error", "errors"))
	}
	if err != nil {
		return out, err
	}
	if req.To == "callvet" && strings.EqualFold(filepath.Ext(req.Output), ".json") {
		out.Data, err = suite.Export(s, "json")
		return out, err
	}
	out.Data, out.Lost, err = suite.ExportAs(req.To, s)
	return out, err
}

// ErrorsIn counts the problems that are not warnings.
func ErrorsIn(problems []callvet.Problem) (n int) {
	for i := range problems {
		if !problems[i].Warning {
			n++
		}
	}
	return n
}

// InitSuite writes a commented suite, ready to run; replace lets it overwrite a file. Without
// replace the error wraps callvet.ErrConflict if the file exists.
func (a *App) InitSuite(ctx context.Context, name string, replace bool) error {
	switch _, there, err := a.Config.Files.Existing(name); {
	case (there || a.Config.Files.Kind(name) != KindNone) && !replace:
		return fmt.Errorf("write %s: %w: the file exists", name, callvet.ErrConflict)
	case err != nil && !replace:
		return fmt.Errorf("write %s: %w", name, err)
	}
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error {
		_, err := w.Write(suite.Template())
		return err
	})
}

// readMocks reads a file of mocks; "" is none. It reports the problems.
func (a *App) readMocks(name string, events Events) ([]callvet.Mock, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read mocks: %w", err)
	}
	mocks, problems := suite.ReadMocks(name, b)
	events.Problems(problems)
	if n := ErrorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read mocks %s: %s: %w", name, plain.Count(n, "problem", "problems"), callvet.ErrInvalid)
	}
	if len(mocks) == 0 {
		return nil, fmt.Errorf("read mocks %s: no tool is in it: %w", name, callvet.ErrInvalid)
	}
	return mocks, nil
}

// ReadFaults reads a file of faults; "" is none. It reports the problems.
func (a *App) ReadFaults(name string, events Events) ([]callvet.ToolFault, error) {
	if name == "" {
		return nil, nil
	}
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	faults, problems := suite.ReadFaults(name, b)
	events.Problems(problems)
	if n := ErrorsIn(problems); n > 0 {
		return nil, fmt.Errorf("read faults %s: %s: %w", name, plain.Count(n, "problem", "problems"),
			callvet.ErrInvalid)
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("read faults %s: no fault is in it: %w", name, callvet.ErrInvalid)
	}
	return faults, nil
}

// WriteBytes replaces the content of a file, whole or not at all.
func (a *App) WriteBytes(ctx context.Context, name string, b []byte) error {
	return a.Config.Files.Write(ctx, name, func(w io.Writer) error { _, err := w.Write(b); return err })
}
