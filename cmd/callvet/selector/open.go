// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/retrieve/route"
)

// Files reads a file by the name that the user gave. The error of a folder is a *Folder.
type Files func(name string) ([]byte, error)

// Folder is the error of reading a name that is a folder; Names are those of its files.
type Folder struct {
	Name  string
	Names []string
}

func (f *Folder) Error() string { return f.Name + " is a folder" }

// All reads a file, or each file of a folder of tools: of several that are versions of one
// tool, NAME.v1.json and NAME.v2.json, the newest.
func (read Files) All(name string) ([]catalogue.File, error) {
	data, err := read(name)
	var dir *Folder
	if !errors.As(err, &dir) {
		return []catalogue.File{{Name: name, Data: data}}, err
	}
	newest := map[string]string{} // versions by tool
	for _, n := range dir.Names {
		if tool, version, ok := callvet.SplitToolFile(filepath.Base(n)); ok && callvet.CompareVersions(newest[tool], version) < 0 {
			newest[tool] = version
		}
	}
	var out []catalogue.File
	for _, n := range dir.Names {
		if tool, version, ok := callvet.SplitToolFile(filepath.Base(n)); ok && newest[tool] != version {
			continue
		}
		data, err := read(n)
		if err != nil {
			return nil, err
		}
		out = append(out, catalogue.File{Name: n, Data: data})
	}
	if len(out) == 0 {
		return nil, &callvet.Hinted{Err: fmt.Errorf("%s: %w: no file of the folder can be one of tools", name, callvet.ErrNotFound), Hint: "tool files end in .json, .jsonc, .yaml or .yml"}
	}
	return out, nil
}

// Load reads a catalog in any form that a list of tools has: JSON, with comments or one
// tool a line, YAML, zipped, or a folder with a file for each tool. The problems are
// warnings, and with an error its mistakes too; the catalog then has what could be read,
// for a lint alone.
func Load(name string, read Files) (*retrieve.Catalogue, []callvet.Problem, error) {
	files, err := read.All(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read catalogue: %w", err)
	}
	unplaced := map[string]bool{} // lines are those of the file, columns are not
	for i, f := range files {
		b, err := input.All(f.Name, f.Data, catalogue.MaxBytes)
		if err != nil {
			return nil, nil, fmt.Errorf("read catalogue: %w", err)
		}
		text, placed, err := source.PlainJSON(f.Name, b)
		if err != nil {
			return nil, nil, &callvet.Hinted{Err: fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, err), Hint: "a catalogue is a list of tools in JSON or YAML: docs/SELECTION.md, Catalogues"}
		}
		files[i].Data, unplaced[f.Name] = text, !placed
	}
	c, problems, err := catalogue.LoadFiles(name, files)
	for i := range problems {
		if unplaced[problems[i].File] {
			problems[i].Column = 0
		}
	}
	return c, problems, refused(name, problems, err)
}

// refused tells the first mistake of a catalog, and how to see the others.
func refused(name string, problems []callvet.Problem, err error) error {
	var mistakes []callvet.Problem
	for _, p := range problems {
		if !p.Warning {
			mistakes = append(mistakes, p)
		}
	}
	switch n := len(mistakes); {
	case err == nil || n == 0:
		return err
	case n == 1:
		return fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, mistakes[0])
	default:
		return &callvet.Hinted{Err: fmt.Errorf("read catalogue: %w: %w, and %s", callvet.ErrInvalid, mistakes[0], plain.Count(n-1, "mistake more", "mistakes more")), Hint: "callvet tools lint " + name + " tells them all"}
	}
}

// Tools are those of a catalog, in its order.
func Tools(c *retrieve.Catalogue) []callvet.Tool {
	out := make([]callvet.Tool, len(c.Entries))
	for i := range c.Entries {
		out[i] = c.Entries[i].Tool
	}
	return out
}

// Open indexes a catalog as a target; with an embedder that asks for the vectors of
// tools which the cache does not have.
func Open(ctx context.Context, file string, s Settings, read Files, models *Models, now func() time.Time) (*retriever.Retriever, callvet.Target, error) {
	c, _, err := Load(file, read)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	short := s
	if s.Routes != "" && s.Routes != "none" {
		short.Routes = filepath.Base(s.Routes)
	}
	decide, err := s.router(read)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	return over(ctx, c, s, short.Target(filepath.Base(file)), decide, models, now)
}

// Over indexes what was read already, without models: settings that name some are an
// error that wraps callvet.ErrInvalid.
func Over(ctx context.Context, c *retrieve.Catalogue, s Settings, name string, decide retrieve.Router, now func() time.Time) (*retriever.Retriever, callvet.Target, error) {
	return over(ctx, c, s, name, decide, nil, now)
}

// OverWith is Over with the models and the routes that settings may name.
func OverWith(ctx context.Context, c *retrieve.Catalogue, s Settings, name string, read Files, models *Models, now func() time.Time) (*retriever.Retriever, callvet.Target, error) {
	decide, err := s.router(read)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	return over(ctx, c, s, name, decide, models, now)
}

func over(ctx context.Context, c *retrieve.Catalogue, s Settings, name string, decide retrieve.Router, models *Models, now func() time.Time) (*retriever.Retriever, callvet.Target, error) {
	o, err := s.Options(c)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	if models == nil && (s.Embed != "" || s.Rerank != "") {
		return nil, callvet.Target{}, fmt.Errorf("open %s: %w: no models are used here", name, callvet.ErrInvalid)
	}
	if s.Embed != "" {
		if o.Embedder, o.Cache, err = models.Embedder(ctx, s.Embed); err != nil {
			return nil, callvet.Target{}, err
		}
	}
	if s.Rerank != "" {
		if o.Reranker, err = models.Reranker(s.Rerank); err != nil {
			return nil, callvet.Target{}, err
		}
	}
	if s.AbstainPercent > 0 {
		var told io.Writer
		if models != nil {
			told = models.Warn
		}
		if o.MinConfidence, err = s.bound(ctx, o, c.Entries, told); err != nil {
			return nil, callvet.Target{}, err
		}
	}
	return retriever.Open(ctx, retriever.Config{Name: name, Entries: c.Entries, Agents: c.Agents, Homes: c.Homes, Options: o, K: s.Depth(), Routes: decide, NoTools: s.AbstainRoutes, Now: now})
}

// router reads what decides routes, and holds the routes that need no tool against it.
func (s *Settings) router(read Files) (retrieve.Router, error) {
	decide, named, err := routes(s.Routes, read)
	if err != nil {
		return nil, err
	}
	for _, r := range s.AbstainRoutes {
		if !slices.Contains(named, r) {
			return nil, &callvet.Hinted{Err: fmt.Errorf("abstain by route %q: %w: no rule leads there", r, callvet.ErrInvalid), Hint: "routes: " + strings.Join(named, ", ")}
		}
	}
	return decide, nil
}

// routes reads what decides routes, rules, learned ones, callvet's own rules, or nothing at all, and
// tells the routes that they lead to.
func routes(file string, read Files) (decide retrieve.Router, named []string, err error) {
	var set route.Settings
	switch file {
	case "none":
		return nil, nil, nil
	case "":
		set, err = route.Default()
	default:
		b, rerr := read(file)
		if rerr != nil {
			return nil, nil, fmt.Errorf("read routes: %w", rerr)
		}
		if route.IsLearned(b) {
			learned, err := route.ReadLearned(file, b)
			if err != nil {
				return nil, nil, err
			}
			return learned, learned.Routes(), nil
		}
		if set, err = route.ReadSettings(file, b); err != nil {
			return nil, nil, err
		}
	}
	if err != nil {
		return nil, nil, err
	}
	rules, err := route.NewRules(set)
	if err != nil {
		return nil, nil, fmt.Errorf("read routes %s: %w", file, err)
	}
	for i := range set.Rules {
		if r := set.Rules[i].Route; !slices.Contains(named, r) {
			named = append(named, r)
		}
	}
	if set.Default != "" && !slices.Contains(named, set.Default) {
		named = append(named, set.Default)
	}
	return rules, named, nil
}

// Diagnose says why a tool is not first or not given; ok is false where it is, or
// where the catalog does not have it.
func Diagnose(ctx context.Context, r *retriever.Retriever, question, tool string) (retrieve.Explanation, bool) {
	e, err := r.Explain(ctx, question, tool)
	return e, err == nil && e.Lost()
}
