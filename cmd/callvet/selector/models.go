// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/embed/disk"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/vector"
)

// Models opens embedders and rerankers with the keys of the environment, and the file
// of vectors once one is needed. Close it.
type Models struct {
	Getenv func(string) string
	Now    func() time.Time
	// Path is where a file is that the user named.
	Path func(string) string
	// Warn gets what went wrong with the file of vectors.
	Warn  io.Writer
	cache *disk.Cache
	asked []asked
	// embedders and rerankers are those opened, by spec: each is opened once, however
	// many catalogs are indexed with it.
	embedders map[string]opened
	rerankers map[string]retrieve.Reranker
}

type opened struct {
	embedder vector.Embedder
	cache    vector.Cache
}

// asked is a model that was opened, and what was kept of it from before.
type asked struct {
	name  string
	usage func() embed.Usage
	found *finding
}

// finding counts the vectors that a cache has.
type finding struct {
	vector.Cache
	found atomic.Int64
}

// Get is that of the cache.
func (f *finding) Get(k vector.Key) ([]float32, bool) {
	v, ok := f.Cache.Get(k)
	if ok {
		f.found.Add(1)
	}
	return v, ok
}

// Used is what was asked of the models so far, in the order in which they were opened.
func (m *Models) Used() []report.ModelUse {
	var out []report.ModelUse
	for _, a := range m.asked {
		u := a.usage()
		one := report.ModelUse{Model: a.name, Requests: u.Requests, Texts: u.Texts, Tokens: u.Tokens}
		if a.found != nil {
			one.Cached = int(a.found.found.Load())
		}
		out = append(out, one)
	}
	return out
}

// TellUse writes a line for each model.
func TellUse(w io.Writer, used []report.ModelUse) {
	for _, u := range used {
		tokens := plain.Count(u.Tokens, "token", "tokens")
		if u.Tokens == 0 && u.Requests > 0 {
			tokens = "tokens not told"
		}
		fmt.Fprintf(w, "%s: %s, %s, %s", plain.Line(u.Model), plain.Count(u.Requests, "request", "requests"), plain.Count(u.Texts, "text", "texts"), tokens)
		if u.Cached > 0 {
			fmt.Fprintf(w, "; %s kept from before", plain.Count(u.Cached, "vector", "vectors"))
		}
		fmt.Fprintln(w)
	}
}

func (m *Models) config() embed.Config {
	cfg := embed.Config{Getenv: m.Getenv, Now: m.Now}
	if m.Warn != nil {
		cfg.Warn = func(what string) { fmt.Fprintf(m.Warn, "warning: %s\n", what) }
	}
	return cfg
}

// Embedder gives what makes vectors, and a cache for them or nil. Where the file of vectors cannot be used, they
// are made again each time, and the user is told.
func (m *Models) Embedder(ctx context.Context, spec string) (vector.Embedder, vector.Cache, error) {
	if o, ok := m.embedders[spec]; ok {
		return o.embedder, o.cache, nil
	}
	e, err := embed.Open(spec, m.config())
	if err != nil {
		return nil, nil, err
	}
	if m.embedders == nil {
		m.embedders = map[string]opened{}
	}
	m.embedders[spec] = opened{embedder: e}
	one := asked{name: e.Model(), usage: e.Usage}
	defer func() { m.asked = append(m.asked, one) }()
	path, err := m.vectorPath()
	if err == nil && m.cache == nil {
		m.cache, err = disk.Open(ctx, path, 0)
	}
	if err != nil {
		fmt.Fprintf(m.Warn, "warning: vectors are not kept: %v\n", err)
		return e, nil, nil
	}
	one.found = &finding{Cache: m.cache}
	m.embedders[spec] = opened{e, one.found}
	return e, one.found, nil
}

// Reranker gives what orders the best tools anew. Errors are those of embed.Open.
func (m *Models) Reranker(spec string) (retrieve.Reranker, error) {
	if r, ok := m.rerankers[spec]; ok {
		return r, nil
	}
	r, err := embed.OpenReranker(spec, m.config())
	if err != nil {
		return nil, err
	}
	if m.rerankers == nil {
		m.rerankers = map[string]retrieve.Reranker{}
	}
	m.rerankers[spec] = r
	m.asked = append(m.asked, asked{name: r.Name(), usage: r.Usage})
	return r, nil
}

// Close tells of vectors that could not be kept, and lets go of the file.
func (m *Models) Close() error {
	if m.cache == nil {
		return nil
	}
	err := errors.Join(m.cache.Err(), m.cache.Close())
	if err != nil {
		fmt.Fprintf(m.Warn, "warning: %v\n", err)
	}
	m.cache, m.embedders = nil, nil
	return err
}

// vectorPath is where vectors are kept: under $CALLVET_CACHE, or in the user's cache
// folder.
func (m *Models) vectorPath() (string, error) {
	if dir := m.Getenv("CALLVET_CACHE"); dir != "" {
		return filepath.Join(m.Path(dir), "vectors"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(dir, "callvet", "vectors"), nil
}
