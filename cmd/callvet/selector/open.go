// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/retrieve/route"
)

// Files reads a file by the name that the user gave.
type Files func(name string) ([]byte, error)

// Load reads a catalog in any form that a list of tools has: JSON, with comments or one
// tool a line, YAML, zipped. The problems are warnings, and with an error its mistakes
// too; the catalog then has what could be read, for a lint alone.
func Load(name string, read Files) (*retrieve.Catalogue, []callvet.Problem, error) {
	b, err := read(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read catalogue: %w", err)
	}
	if b, err = source.Unpack(name, b, catalogue.MaxBytes); err != nil {
		return nil, nil, fmt.Errorf("read catalogue: %w", err)
	}
	text, placed, err := source.PlainJSON(name, b)
	if err != nil {
		return nil, nil, &callvet.Hinted{Err: fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, err), Hint: "a catalogue is a list of tools in JSON or YAML: docs/SELECTION.md, Catalogues"}
	}
	c, problems, err := catalogue.Load(name, text)
	if !placed { // lines are those of the file, columns are not
		for i := range problems {
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
		if o.Embedder, o.Cache, err = models.Embedder(s.Embed); err != nil {
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
