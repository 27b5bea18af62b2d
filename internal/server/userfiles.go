// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
)

// UserFiles are the files that requests of users may read: those of one folder, where the server
// allows it. It implements app.Files.
type UserFiles struct {
	Root string // an absolute path; "": none
}

// denied is the error of a request that names a file.
func (f UserFiles) denied(name string) error {
	return fmt.Errorf("open %q: %w: requests read no files here", name, callvet.ErrDenied)
}

// in returns the path of a name within the folder; a path that leaves it, also by a link, is
// denied.
func (f UserFiles) in(name string) (string, error) {
	if f.Root == "" || !filepath.IsLocal(name) {
		return "", f.denied(name)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return "", f.denied(name)
	}
	defer root.Close()
	if _, err := root.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("open %q: %w", name, callvet.ErrNotFound)
	} else if err != nil {
		return "", f.denied(name)
	}
	return filepath.Join(f.Root, name), nil
}

// Open reads a file of the folder.
func (f UserFiles) Open(name string) (io.ReadCloser, error) {
	if _, err := f.in(name); err != nil {
		return nil, err
	}
	return os.OpenInRoot(f.Root, name)
}

// Path is where a file of the folder is; commands run in the folder.
func (f UserFiles) Path(name string) (path string, folder bool, err error) {
	if name == "" {
		return f.Root, true, nil
	}
	if path, err = f.in(name); err != nil {
		return "", false, err
	}
	info, err := os.Stat(path)
	return path, err == nil && info.IsDir(), nil
}

// Kind is the kind of a file in the folder.
func (f UserFiles) Kind(name string) app.FileKind {
	path, err := f.in(name)
	if err != nil {
		return app.KindNone
	}
	return app.KindOf(os.Stat(path))
}

// Same compares names.
func (f UserFiles) Same(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }

// Existing is denied, like all writing.
func (f UserFiles) Existing(name string) (data []byte, there bool, err error) {
	return nil, false, f.denied(name)
}

// Write is denied.
func (f UserFiles) Write(_ context.Context, name string, _ func(io.Writer) error) error {
	return f.denied(name)
}

// Append is denied.
func (f UserFiles) Append(name string) (app.Growing, error) { return nil, f.denied(name) }

// Folder is denied.
func (f UserFiles) Folder(_ context.Context, name string) error { return f.denied(name) }

// Hold is denied.
func (f UserFiles) Hold(_ context.Context, name string) (release func() error, err error) {
	return nil, f.denied(name)
}

var _ app.Files = UserFiles{}
