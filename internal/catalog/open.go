// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Open indexes a catalog as a target; an embedder is used for vectors of tools that are not in
// the cache. It uses Files, Models, Now and Notify.
func (e *Env) Open(ctx context.Context, file string, s Settings) (*Retriever, callvet.Target, error) {
	key, keep := e.indexKey(file, &s)
	if keep {
		if k, known := e.Indexes.get(key); known {
			return k.retriever, k.target, nil
		}
	}
	c, _, err := e.Catalogue(file)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	short := s
	if s.Routes != "" && s.Routes != "none" {
		short.Routes = filepath.Base(s.Routes)
	}
	r, t, err := e.Over(ctx, c, s, short.Target(filepath.Base(file)))
	if err == nil && keep {
		e.Indexes.put(key, kept{r, t})
	}
	return r, t, err
}

// Over indexes a catalogue that was already read, with the models and the routes that settings
// name.
func (e *Env) Over(ctx context.Context, c *retrieve.Catalogue, s Settings,
	name string,
) (*Retriever, callvet.Target, error) {
	decide, err := s.router(e.Files)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	return e.Routed(ctx, c, s, name, decide)
}

// Routed is Over with a given router; nil: routes are not decided.
func (e *Env) Routed(ctx context.Context, c *retrieve.Catalogue, s Settings, name string,
	decide retrieve.Router,
) (*Retriever, callvet.Target, error) {
	o, err := s.Options(c)
	if err != nil {
		return nil, callvet.Target{}, err
	}
	if err := e.OpenModels(ctx, &s, &o); err != nil {
		return nil, callvet.Target{}, err
	}
	if s.AbstainPercent > 0 {
		if o.MinConfidence, err = e.bound(ctx, &s, o, c.Entries); err != nil {
			return nil, callvet.Target{}, err
		}
	}
	return OpenRetriever(ctx,
		RetrieverConfig{
			Name: name, Entries: c.Entries, Agents: c.Agents, Homes: c.Homes, Options: o, K: s.Depth(),
			Routes: decide, NoTools: s.AbstainRoutes, Now: e.Now,
		})
}

// OpenModels opens the models that the settings name.
func (e *Env) OpenModels(ctx context.Context, s *Settings, o *retrieve.Options) error {
	if s.Embed+s.Rerank == "" {
		return nil
	}
	if e.Models == nil {
		return fmt.Errorf("open models: %w: none are used here", callvet.ErrInvalid)
	}
	return e.Models.Open(ctx, s.Embed, s.Rerank, o)
}

// router reads the router, and checks that it knows the routes that need no tool.
func (s *Settings) router(files Files) (retrieve.Router, error) {
	decide, named, err := OpenRoutes(s.Routes, files)
	if err != nil {
		return nil, err
	}
	for _, r := range s.AbstainRoutes {
		if !slices.Contains(named, r) {
			return nil, Invalid("abstain_routes", "routes: "+strings.Join(named, ", "),
				"abstain by route %q: invalid: no rule leads there", r)
		}
	}
	return decide, nil
}

// Tools are those of a catalog, in its order.
func Tools(c *retrieve.Catalogue) []callvet.Tool {
	out := make([]callvet.Tool, len(c.Entries))
	for i := range c.Entries {
		out[i] = c.Entries[i].Tool
	}
	return out
}

// Positions are the positions of tools in a catalog, by name.
func Positions(c *retrieve.Catalogue) map[string]int {
	at := map[string]int{}
	for i := range c.Entries {
		at[c.Entries[i].Tool.Name] = i
	}
	return at
}
