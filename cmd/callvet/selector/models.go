// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/callvet/callvet/internal/embed"
	"github.com/callvet/callvet/internal/embed/disk"
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
}

func (m *Models) config() embed.Config {
	return embed.Config{Getenv: m.Getenv, Now: m.Now}
}

// Embedder gives what makes vectors, and a cache for them or nil. Where the file of vectors cannot be used, they
// are made again each time, and the user is told.
func (m *Models) Embedder(spec string) (vector.Embedder, vector.Cache, error) {
	e, err := embed.Open(spec, m.config())
	if err != nil {
		return nil, nil, err
	}
	path, err := m.vectorPath()
	if err == nil && m.cache == nil {
		m.cache, err = disk.Open(path, 0)
	}
	if err != nil {
		fmt.Fprintf(m.Warn, "warning: vectors are not kept: %v\n", err)
		return e, nil, nil
	}
	return e, m.cache, nil
}

// Reranker gives what orders the best tools anew. Errors are those of embed.Open.
func (m *Models) Reranker(spec string) (retrieve.Reranker, error) {
	return embed.OpenReranker(spec, m.config())
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
	m.cache = nil
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
