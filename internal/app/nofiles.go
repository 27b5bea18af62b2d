// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet"
)

// NoFiles are the files of an App that has none: no name stands for one, and nothing is written.
type NoFiles struct{}

func none(name string) error {
	return fmt.Errorf("open %q: %w: there are no files here", name, callvet.ErrNotFound)
}

// Open finds nothing.
func (NoFiles) Open(name string) (io.ReadCloser, error) { return nil, none(name) }

// Path finds nothing but where commands run.
func (NoFiles) Path(name string) (path string, folder bool, err error) {
	if name == "" {
		return "", true, nil
	}
	return "", false, none(name)
}

// Kind is that of nothing.
func (NoFiles) Kind(string) FileKind { return KindNone }

// Same compares names.
func (NoFiles) Same(a, b string) bool { return a == b }

// Existing finds nothing.
func (NoFiles) Existing(string) (data []byte, there bool, err error) { return nil, false, nil }

// Write refuses.
func (NoFiles) Write(_ context.Context, name string, _ func(io.Writer) error) error {
	return fmt.Errorf("write %q: %w: no files are written here", name, callvet.ErrDenied)
}

// Append refuses.
func (NoFiles) Append(name string) (Growing, error) {
	return nil, fmt.Errorf("write %q: %w: no files are written here", name, callvet.ErrDenied)
}

// Folder refuses.
func (NoFiles) Folder(_ context.Context, name string) error {
	return fmt.Errorf("make %q: %w: no files are written here", name, callvet.ErrDenied)
}

// Hold has nothing to hold.
func (NoFiles) Hold(context.Context, string) (release func() error, err error) {
	return func() error { return nil }, nil
}
