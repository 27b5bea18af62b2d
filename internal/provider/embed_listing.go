// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/callvet/callvet"
)

// EmbedCacheListing lists the content of an embedding cache.
type EmbedCacheListing struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// File contains the vectors; Bytes includes damaged records.
	File   string        `json:"file"`
	Bytes  int64         `json:"bytes"`
	Models []CachedModel `json:"models"`
	// Cleared: the listed vectors were removed.
	Cleared bool `json:"cleared"`
}

// ListEmbedCache lists the vectors of the named models, or of all; with drop it removes them. The
// error wraps callvet.ErrInvalid for a model without vectors.
func ListEmbedCache(ctx context.Context, path string, models []string, drop bool) (_ *EmbedCacheListing, err error) {
	l := &EmbedCacheListing{
		Format: "callvet.tools-cache", Version: 1, File: path, Models: []CachedModel{},
		Cleared: drop,
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(models) == 0:
		return l, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read vectors: %w", err)
	case err == nil:
		l.Bytes = info.Size()
	}
	c, err := OpenEmbedCache(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := l.fill(c.Models(), models); err != nil || !drop {
		return l, err
	}
	if len(models) == 0 {
		return l, c.Clear(ctx)
	}
	for _, name := range models {
		if _, err := c.Remove(ctx, name); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// fill adds the named models, or all.
func (l *EmbedCacheListing) fill(kept []CachedModel, only []string) error {
	if len(only) == 0 {
		l.Models = append(l.Models, kept...)
		return nil
	}
	known := map[string]CachedModel{}
	var names []string
	for _, m := range kept {
		known[m.Model] = m
		names = append(names, m.Model)
	}
	for _, name := range only {
		m, ok := known[name]
		if !ok {
			hint := "nothing is kept"
			if len(names) > 0 {
				hint = "kept: " + strings.Join(names, ", ")
			}
			return &callvet.Hinted{
				Err:  fmt.Errorf("forget vectors of %q: %w: none are kept", name, callvet.ErrInvalid),
				Hint: hint,
			}
		}
		l.Models = append(l.Models, m)
	}
	return nil
}
