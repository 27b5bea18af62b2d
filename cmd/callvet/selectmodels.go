// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/embed/disk"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/vector"
)

// models opens embedders and rerankers with the keys of the environment, and the file
// of vectors once one is needed.
type models struct {
	app   *app
	cache *disk.Cache
}

func (m *models) config() embed.Config {
	return embed.Config{Getenv: m.app.getenv, Now: m.app.now}
}

// Embedder implements selector.Models. Where the file of vectors cannot be used, they
// are made again each time, and the user is told.
func (m *models) Embedder(spec string) (vector.Embedder, vector.Cache, error) {
	e, err := embed.Open(spec, m.config())
	if err != nil {
		return nil, nil, err
	}
	path, err := m.app.vectorPath()
	if err == nil && m.cache == nil {
		m.cache, err = disk.Open(path, 0)
	}
	if err != nil {
		fmt.Fprintf(m.app.err, "warning: vectors are not kept: %v\n", err)
		return e, nil, nil
	}
	return e, m.cache, nil
}

// Reranker implements selector.Models.
func (m *models) Reranker(spec string) (retrieve.Reranker, error) {
	return embed.OpenReranker(spec, m.config())
}

// close tells of vectors that could not be kept, and lets go of the file.
func (m *models) close() error {
	if m.cache == nil {
		return nil
	}
	err := errors.Join(m.cache.Err(), m.cache.Close())
	if err != nil {
		fmt.Fprintf(m.app.err, "warning: %v\n", err)
	}
	m.cache = nil
	return err
}

// vectorPath is where vectors are kept: under $CALLVET_CACHE, or in the user's cache
// folder.
func (a *app) vectorPath() (string, error) {
	if dir := a.getenv("CALLVET_CACHE"); dir != "" {
		return filepath.Join(a.path(dir), "vectors"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(dir, "callvet", "vectors"), nil
}
