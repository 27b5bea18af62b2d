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
// Files that came and went in between are read too, where the old one is found beside
// them as FILE.2 (or a higher number); of others Warn is told that they were not, and of
// a copy FILE.1 of a file that was cut, where it has more than was read.
//
// A file that was cut and has grown beyond its old length between two waits cannot be
// told from one that only grew.
type Tail struct {
	// Warn is told, in a sentence, that lines may be missing; nil tells nobody.
	Warn   func(string)
	path   string
	wait   func() error
	file   *os.File
	next   []*os.File  // what follows file, in the order of writing
	first  os.FileInfo // what FILE.1 was before the last of them was opened
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
	before := first(target(path))
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read traces: %w", err)
	}
	return &Tail{path: path, wait: wait, file: f, first: before, last: '\n'}, nil
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
	if len(t.next) > 0 {
		return t.leave()
	}
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
		t.copied()
		t.begin()
		return true, nil
	case !t.silent && !t.done:
		t.silent = true
		return false, nil
	}
	if t.next, err = t.after(own); err != nil || len(t.next) == 0 {
		return false, err
	}
	return t.leave()
}

// leave goes on to the next file, if this one was silent for a wait: who writes may not
// know of the new file yet.
func (t *Tail) leave() (bool, error) {
	if !t.silent && !t.done {
		t.silent = true
		return false, nil
	}
	if err := t.file.Close(); err != nil {
		return false, err
	}
	t.file, t.next = t.next[0], t.next[1:]
	t.begin()
	return true, nil
}

// begin is at the start of a file.
func (t *Tail) begin() {
	t.offset, t.silent, t.breaks = 0, false, t.last != '\n'
}

// Close implements io.Closer.
func (t *Tail) Close() error { return errors.Join(t.file.Close(), closeAll(t.next)) }
