// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
)

func TestOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "what a process that died has left behind", 0o600)
	release, err := OwnFile(path, []byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Join(link, "a")} {
		var owned *OwnedFileError
		if _, err := OwnFile(p, []byte("second")); !errors.As(err, &owned) || !errors.Is(err, callvet.ErrConflict) ||
			string(owned.Text) != "first" {
			t.Errorf("%s has two owners: %v", p, err)
		}
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
	again, err := OwnFile(path, []byte("third"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
	if _, err := OwnFile(filepath.Join(dir, "gone", "a"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestOwnOne: of many who try again and again, one is the owner at a time.
func TestOwnOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	var owners, owned atomic.Int64
	var g Group
	for range 8 {
		g.Go(func() {
			for range 300 {
				release, err := OwnFile(path, []byte("x"))
				if err != nil {
					if !errors.Is(err, callvet.ErrConflict) {
						t.Error(err)
					}
					continue
				}
				owned.Add(1)
				if n := owners.Add(1); n != 1 {
					t.Errorf("%d owners", n)
				}
				owners.Add(-1)
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	if owned.Load() == 0 {
		t.Error("no goroutine was the owner")
	}
}
