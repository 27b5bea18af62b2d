// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet/internal/trace"
)

// TestFollowFile lets a file grow, be rotated and be cut, one step at a wait.
func TestFollowFile(t *testing.T) {
	t.Parallel()
	type world struct {
		path string
		file *os.File
	}
	write := func(text string) func(*world) error {
		return func(w *world) error {
			_, err := w.file.WriteString(text)
			return err
		}
	}
	rename := func(w *world) error { return os.Rename(w.path, w.path+".1") }
	create := func(text string) func(*world) error { // without the writer knowing of it
		return func(w *world) error { return os.WriteFile(w.path, []byte(text), 0o600) }
	}
	reopen := func(w *world) error {
		err := w.file.Close()
		if err != nil {
			return err
		}
		w.file, err = os.OpenFile(w.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		return err
	}
	cut := func(w *world) error { return os.Truncate(w.path, 0) }
	nothing := func(*world) error { return nil }
	for name, tc := range map[string]struct {
		steps []func(*world) error
		want  string
	}{
		"grows":                         {[]func(*world) error{write("a\n"), write("b"), write("c\n")}, "a\nbc\n"},
		"rotated":                       {[]func(*world) error{write("a\n"), rename, reopen, write("b\n")}, "a\nb\n"},
		"the old one ends later":        {[]func(*world) error{write("a\n"), rename, create("new\n"), write("b\n"), nothing, nothing}, "a\nb\nnew\n"},
		"in the middle of a line":       {[]func(*world) error{write("a\nhal"), rename, create("new\n"), nothing, nothing}, "a\nhal\nnew\n"},
		"rotated twice":                 {[]func(*world) error{write("a\n"), rename, reopen, write("b\n"), nothing, rename, reopen, write("c\n")}, "a\nb\nc\n"},
		"cut":                           {[]func(*world) error{write("aaaa\n"), cut, write("b\n")}, "aaaa\nb\n"},
		"cut in the middle of a line":   {[]func(*world) error{write("aaaa"), cut, write("b\n")}, "aaaa\nb\n"},
		"gone for good":                 {[]func(*world) error{write("a\n"), rename, write("b\n")}, "a\nb\n"},
		"ended while a new one waits":   {[]func(*world) error{write("a\n"), rename, create("new\n")}, "a\nnew\n"},
		"the same file under its name":  {[]func(*world) error{write("a\n"), rename, func(w *world) error { return os.Rename(w.path+".1", w.path) }, write("b\n")}, "a\nb\n"},
		"an empty one takes its place":  {[]func(*world) error{write("a\n"), rename, create(""), nothing, nothing}, "a\n"},
		"cut to nothing and left alone": {[]func(*world) error{write("a\n"), cut, nothing}, "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{path: filepath.Join(t.TempDir(), "in.jsonl")}
			var err error
			if w.file, err = os.OpenFile(w.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.file.Close() }()
			next := 0
			tail, err := trace.FollowFile(w.path, func() error {
				if next == len(tc.steps) {
					return errors.New("enough")
				}
				next++
				return tc.steps[next-1](w)
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(tail)
			if err != nil || string(got) != tc.want {
				t.Errorf("%q %v, want %q", got, err, tc.want)
			}
			if err := tail.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := trace.FollowFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
