// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text writes a text as a face does.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func put(t *testing.T, path, s string, perm fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteKeepsTheMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, err := os.Create(filepath.Join(dir, "plain")) // as any other program makes it
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	want, err := plain.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for name, perm := range map[string]fs.FileMode{
		"new": want.Mode().Perm(), "secret": 0o600, "group": 0o640,
		"all": 0o666, "fixed": 0o444,
	} {
		path := filepath.Join(dir, name)
		if name != "new" {
			put(t, path, "a much longer old text", perm)
		}
		if err := WriteFile(t.Context(), path, text("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != perm || read(t, path) != "new" {
			t.Errorf("%s: mode %v, want %v; %q, %v", name, info.Mode().Perm(), perm, read(t, path), err)
		}
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"far/away", "near"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "far/file"), "old", 0o640)
	for _, link := range [][2]string{ // in this order: folder/up lies in folder
		{"direct", "far/file"},
		{"absolute", filepath.Join(dir, "far/file")},
		{"twice", "direct"},
		{"dangling", "far/later"},
		{"folder", "far/away"},
		{"folder/up", "../file"},
		{"loop", "loop"},
	} {
		if err := os.Symlink(link[1], filepath.Join(dir, link[0])); err != nil {
			t.Fatal(err)
		}
	}
	// folder/up lies in far/away: ".." is far, and not the folder of the link "folder".
	for link, at := range map[string]string{
		"direct": "far/file", "absolute": "far/file", "twice": "far/file",
		"dangling": "far/later", "folder/up": "far/file", "folder/new": "far/away/new",
	} {
		if err := WriteFile(t.Context(), filepath.Join(dir, link), text(link)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, filepath.Join(dir, at)); got != link {
			t.Errorf("%s: %s holds %q", link, at, got)
		}
		if info, err := os.Lstat(filepath.Join(dir, link)); link != "folder/new" &&
			(err != nil || info.Mode()&fs.ModeSymlink == 0) {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if err := WriteFile(t.Context(), filepath.Join(dir, "loop"), text("x")); err == nil {
		t.Error("a link to itself was written")
	}
	if err := WriteFile(t.Context(), filepath.Join(dir, "none/x"), text("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := WriteFile(t.Context(), filepath.Join(dir, "near"), text("x")); err == nil ||
		!strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}

// TestWriteFails: the old file survives whatever fails, and nothing is left.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, write := range map[string]func(context.CancelFunc) func(io.Writer) error{
		"error": func(context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error { return errors.Join(text("half")(w), boom) }
		},
		"canceled": func(cancel context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error {
				if err := text("half")(w); err != nil {
					return err
				}
				cancel()
				return text("other half")(w)
			}
		},
		"canceled at the end": func(cancel context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error { defer cancel(); return text("all")(w) }
		},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "f"), "old", 0o600)
		ctx, cancel := context.WithCancel(t.Context())
		if err := WriteFile(ctx, filepath.Join(dir, "f"), write(cancel)); !errors.Is(err, boom) &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if d := cmp.Diff([]string{"f"}, names(t, dir)); d != "" || read(t, filepath.Join(dir, "f")) != "old" {
			t.Errorf("%s: %s %s", name, d, read(t, filepath.Join(dir, "f")))
		}
	}
	p := func() (p any) {
		defer func() { p = recover() }()
		dir := t.TempDir()
		defer func() {
			if d := cmp.Diff([]string{}, names(t, dir)); d != "" {
				t.Error(d)
			}
		}()
		_ = WriteFile(t.Context(), filepath.Join(dir, "f"), func(io.Writer) error { panic("bug") })
		return nil
	}()
	if p != "bug" {
		t.Errorf("%v came out", p)
	}
}

// TestWriteIsStuck: when the context ends the temporary goes at once, although the
// command never comes back.
func TestWriteIsStuck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	if err := WriteFile(ctx, filepath.Join(dir, "f"), func(w io.Writer) error {
		if err := text("half")(w); err != nil || len(names(t, dir)) != 1 {
			t.Error(err)
		}
		cancel()
		for len(names(t, dir)) > 0 {
			continue
		}
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWriteAtOnce: of many writers one wins, and a reader never sees a mixture.
func TestWriteAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	const writers, size = 8, 1 << 18
	if err := WriteFile(t.Context(), path, text(strings.Repeat("x", size))); err != nil {
		t.Fatal(err)
	}
	err := InParallel(writers+1, writers+1, func(i int) error {
		for range 20 {
			if i == writers {
				b, err := os.ReadFile(path)
				if err != nil || len(b) != size || len(bytes.Trim(b, string(b[:1]))) != 0 {
					return fmt.Errorf("a mixture of %d bytes: %w", len(b), err)
				}
				continue
			}
			err := WriteFile(context.Background(), path, func(w io.Writer) error {
				for range 4 {
					if err := text(strings.Repeat(string(rune('a'+i)), size/4))(w); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"f"}, names(t, filepath.Dir(path))); d != "" {
		t.Error(d)
	}
}

// TestSweep: what dead processes left goes with the next write; what another
// process is writing stays, and so does what only looks alike.
func TestSweep(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(dir string) error{
		"Write": func(dir string) error { return WriteFile(context.Background(), filepath.Join(dir, "f"), text("x")) },
		"Private": func(dir string) error {
			f, err := PrivateFile(filepath.Join(dir, "f"))
			return errors.Join(err, f.Close())
		},
	} {
		dir := t.TempDir()
		for _, left := range []string{
			".callvet-1-0.tmp", ".callvet-77-3.tmp", ".callvet-2489123", ".callvet-notes",
			".callvet-1-0.tmp.md",
		} {
			put(t, filepath.Join(dir, left), "left", 0o600)
		}
		if err := os.Symlink("f", filepath.Join(dir, ".callvet-5-0.tmp")); err != nil {
			t.Fatal(err)
		}
		to, err := resolve(filepath.Join(dir, "g"))
		if err != nil {
			t.Fatal(err)
		}
		live, err := temporaryFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := start(dir); err != nil {
			t.Fatal(err)
		}
		want := []string{".callvet-1-0.tmp.md", ".callvet-5-0.tmp", filepath.Base(live.Name()), ".callvet-notes", "f"}
		slices.Sort(want)
		if d := cmp.Diff(want, names(t, dir)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		_ = live.Close()
	}
}

func TestGrowingFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	put(t, old, "old\n", 0o600)
	if _, err := CreateFile(old, false); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := os.Symlink("late", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, open := range map[string]func(string) (*os.File,
		error){
		"link": func(p string) (*os.File, error) { return CreateFile(p, false) }, "old": AppendFile, "new": AppendFile,
		"sub/store": PrivateFile,
	} {
		f, err := open(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(text("more")(f), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"late": "more", "old": "old\nmore", "new": "more", "sub/store": "more"} {
		if got := read(t, filepath.Join(dir, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if f, err := CreateFile(old, true); err != nil || f.Close() != nil || read(t, old) != "" {
		t.Errorf("%v, %q is left", err, read(t, old))
	}
	for path, want := range map[string]fs.FileMode{"sub": 0o700, "sub/store": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
