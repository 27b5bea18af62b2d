// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestHold: of those that hold, each reads what the last one wrote.
func TestHold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "count")
	put(t, path, "0", 0o600)
	var g Group
	for range 8 {
		g.Go(func() {
			for range 5 {
				release, err := HoldFolder(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				b, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
				}
				n, _ := strconv.Atoi(string(b))
				if err := WriteFile(t.Context(), path, text(strconv.Itoa(n+1))); err != nil {
					t.Error(err)
				}
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	if got := read(t, path); got != "40" {
		t.Errorf("40 were added, and there are %s", got)
	}
}

func TestHoldEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := HoldFolder(t.Context(), filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := HoldFolder(ctx, filepath.Join(dir, "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("a folder that is held: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	again, err := HoldFolder(t.Context(), filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
	if _, err := HoldFolder(t.Context(), filepath.Join(dir, "gone", "a")); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "there is no folder") {
		t.Error(err)
	}
}
