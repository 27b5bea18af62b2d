// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/embed/disk"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/report/selection"
)

// Kept is what is kept of models between commands.
type Kept struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// File holds the vectors; it is Bytes long, with what is left of a crash.
	File   string      `json:"file"`
	Bytes  int64       `json:"bytes"`
	Models []KeptModel `json:"models"`
	// Cleared tells that this was there, and is no more.
	Cleared bool `json:"cleared"`
}

// KeptModel is one model's part.
type KeptModel struct {
	Model   string `json:"model"`
	Vectors int    `json:"vectors"`
	Bytes   int64  `json:"bytes"`
}

// cacheCommand tells what is kept, and forgets it.
func (e *Env) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cache", Short: "Tell which vectors of models are kept, and how much room they take", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.kept(c.Context(), nil, false) },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "clear [MODEL…]", Short: "Forget the vectors that are kept, of all models or of those named",
		Long:    "Forget the vectors that are kept. A model is named as `callvet tools cache` lists it; this is for servers that got\nanother model under the same name, since vectors of a changed text are never used again.",
		Example: "  callvet tools cache clear\n  callvet tools cache clear ollama/nomic-embed-text@127.0.0.1:11434",
		RunE:    func(c *cobra.Command, args []string) error { return e.kept(c.Context(), args, true) },
	})
	return cmd
}

func (e *Env) kept(ctx context.Context, models []string, drop bool) (err error) {
	m := e.Models()
	k := &Kept{Format: "callvet.tools-cache", Version: 1, Models: []KeptModel{}, Cleared: drop}
	if k.File, err = m.vectorPath(); err != nil {
		return err
	}
	info, err := os.Stat(k.File)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(models) == 0:
		return e.Tell(k)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read vectors: %w", err)
	case err == nil:
		k.Bytes = info.Size()
	}
	c, err := disk.Open(ctx, k.File, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := k.list(c, models); err != nil {
		return err
	}
	if drop {
		if err := forget(ctx, c, models); err != nil {
			return err
		}
	}
	return e.Tell(k)
}

// list fills in what is kept of the models named, or of all.
func (k *Kept) list(c *disk.Cache, only []string) error {
	known := map[string]disk.Kept{}
	var names []string
	for _, m := range c.Models() {
		known[m.Model] = m
		names = append(names, m.Model)
	}
	if len(only) == 0 {
		only = names
	}
	for _, name := range only {
		m, ok := known[name]
		if !ok {
			hint := "nothing is kept"
			if len(names) > 0 {
				hint = "kept: " + strings.Join(names, ", ")
			}
			return &callvet.Hinted{Err: fmt.Errorf("forget vectors of %q: %w: none are kept", name, callvet.ErrInvalid), Hint: hint}
		}
		k.Models = append(k.Models, KeptModel(m))
	}
	return nil
}

func forget(ctx context.Context, c *disk.Cache, models []string) error {
	if len(models) == 0 {
		return c.Clear(ctx)
	}
	for _, name := range models {
		if _, err := c.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes what is kept.
func (k *Kept) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(k) }

// Text writes what is kept for people.
func (k *Kept) Text(w io.Writer) error {
	var b strings.Builder
	switch {
	case len(k.Models) == 0:
		fmt.Fprintf(&b, "no vectors are kept in %s\n", plain.Line(k.File))
	case k.Cleared:
		b.WriteString("forgotten\n")
	default:
		fmt.Fprintf(&b, "%s: %s\n", plain.Line(k.File), size(k.Bytes))
	}
	rows := [][]string{{"model", "vectors", "size"}}
	for _, m := range k.Models {
		rows = append(rows, []string{plain.Line(m.Model), plain.Thousands(m.Vectors), size(m.Bytes)})
	}
	if len(rows) > 1 {
		selection.Aligned(&b, rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// size writes bytes in kB or MB of 1,000.
func size(bytes int64) string {
	if bytes < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
