// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
)

// Memory is files by name, as a server has them: nothing of it is in the file system.
type Memory map[string]string

func (m Memory) Open(name string) (io.ReadCloser, error) {
	text, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (m Memory) Folder(context.Context, string) error { return nil }

func (m Memory) Path(name string) (string, bool, error) { return name, false, nil }

func (m Memory) Kind(name string) FileKind {
	if _, ok := m[name]; ok {
		return KindFile
	}
	return KindNone
}

func (m Memory) Same(a, b string) bool { return a == b }

func (m Memory) Existing(name string) ([]byte, bool, error) {
	text, ok := m[name]
	return []byte(text), ok, nil
}

func (m Memory) Append(string) (Growing, error) { return nil, errors.ErrUnsupported }

func (m Memory) Hold(context.Context, string) (func() error, error) {
	return func() error { return nil }, nil
}

func (m Memory) Write(_ context.Context, name string, write func(io.Writer) error) error {
	var b strings.Builder
	err := write(&b)
	m[name] = b.String()
	return err
}
