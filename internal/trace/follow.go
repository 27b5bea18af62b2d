// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Tail reads a file that grows, and whatever takes its place: another file of the
// same name (a log that was rotated) is read from its start when the old one has been
// silent for a wait, and one that was cut (copied and truncated) from its start again.
// A line that the old file did not end is ended, so that it spoils none of the new.
//
// A file that was cut and has grown beyond its old length between two waits cannot be
// told from one that only grew.
type Tail struct {
	path   string
	wait   func() error
	file   *os.File
	offset int64
	last   byte
	breaks bool // a line end is due
	silent bool // there is another file, and a wait was without news
	done   bool
}

// FollowFile opens a file to be followed. At its end wait is called, which returns
// when there may be more (a clock's tick, a notification) and with an error when the
// reading should end; then Read gives what is left, and io.EOF.
func FollowFile(path string, wait func() error) (*Tail, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	return &Tail{path: path, wait: wait, file: f, last: '\n'}, nil
}

// Read implements io.Reader.
func (t *Tail) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if t.breaks {
			t.breaks, t.last, p[0] = false, '\n', '\n'
			return 1, nil
		}
		n, err := t.file.Read(p)
		if n > 0 {
			t.offset, t.last, t.silent = t.offset+int64(n), p[n-1], false
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		moved, err := t.moved()
		if err != nil {
			return 0, err
		}
		switch {
		case moved:
		case t.done:
			return 0, io.EOF
		default:
			t.done = t.wait() != nil
		}
	}
}

// moved goes on to what took the file's place, if its end is really reached.
func (t *Tail) moved() (bool, error) {
	now, err := os.Stat(t.path)
	if errors.Is(err, os.ErrNotExist) { // renamed, and not there again yet
		return false, nil
	}
	if err != nil {
		return false, err
	}
	own, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	switch {
	case os.SameFile(now, own):
		t.silent = false
		if own.Size() >= t.offset {
			return false, nil
		}
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
	case !t.silent && !t.done: // who writes may not know of the new file yet
		t.silent = true
		return false, nil
	default:
		f, err := os.Open(t.path)
		if err != nil {
			return false, err
		}
		if err := t.file.Close(); err != nil {
			return false, errors.Join(err, f.Close())
		}
		t.file = f
	}
	t.offset, t.silent, t.breaks = 0, false, t.last != '\n'
	return true, nil
}

// Close implements io.Closer.
func (t *Tail) Close() error { return t.file.Close() }
