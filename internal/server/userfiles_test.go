// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/callvet/callvet"
)

// TestUserFiles: a server opens files of its folder, and nothing else.
func TestUserFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"in/a.txt": "a", "out.txt": "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "out.txt"), filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	f := UserFiles{Root: filepath.Join(dir, "in")}
	r, err := f.Open("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "a" || errors.Join(err, r.Close()) != nil {
		t.Errorf("%q %v", b, err)
	}
	for _, name := range []string{"../out.txt", filepath.Join(dir, "out.txt"), "link", "-", "none.txt", "/etc/passwd"} {
		if _, err := f.Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
		if _, _, err := f.Path(name); err == nil {
			t.Errorf("%s has a path", name)
		}
	}
	if _, err := (UserFiles{}).Open("in/a.txt"); !errors.Is(err, callvet.ErrDenied) {
		t.Errorf("without a folder: %v", err)
	}
	if err := f.Write(t.Context(), "a.txt", nil); !errors.Is(err, callvet.ErrDenied) {
		t.Errorf("it was written: %v", err)
	}
}
