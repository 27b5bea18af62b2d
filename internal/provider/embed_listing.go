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

// EmbedCacheListing is what is kept of models between commands.
type EmbedCacheListing struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// File holds the vectors; it is Bytes long, with what is left of a crash.
	File   string        `json:"file"`
	Bytes  int64         `json:"bytes"`
	Models []CachedModel `json:"models"`
	// Cleared tells that this was there, and is no more.
	Cleared bool `json:"cleared"`
}

// ListEmbedCache lists what a file keeps of the models named, or of all, and with drop forgets it.
// The error wraps callvet.ErrInvalid for a model of which nothing is kept.
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

// fill takes in what is kept of the models named, or of all.
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
