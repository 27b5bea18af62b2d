// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Tail reads a growing file and its successors. After a rotation, the new file of the same name is
// read from its start, when the old file had no new data for one wait. A truncated file is read
// from its start again. An unfinished line of the old file gets a line end, so that it does not
// damage the new file. Files rotated in between are read too, if the old file is found next to them
// as FILE.2 (or a higher number). Otherwise Warn reports them, and also a copy FILE.1 of a
// truncated file that has unread data.
//
// A file that was truncated and then grew beyond its old length between two waits cannot be
// distinguished from one that only grew.
type Tail struct {
	// Warn gets a sentence when lines may be missing; nil: no warnings.
	Warn   func(string)
	path   string
	wait   func() error
	file   *os.File
	next   []*os.File  // the files after file, in the order of writing
	first  os.FileInfo // FILE.1 before the last of them was opened
	offset int64
	last   byte
	breaks bool // a line end is needed
	silent bool // there is a new file, and the old one had no new data for a wait
	done   bool
}

// FollowFile opens a file to be followed. At the end of the file it calls wait. wait returns when
// there may be more data (a clock's tick, a notification), or with an error to end the reading;
// then Read returns the rest and io.EOF.
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

// moved opens the file's successor, if the end of the file is really reached.
func (t *Tail) moved() (bool, error) {
	if len(t.next) > 0 {
		return t.leave()
	}
	now, err := os.Stat(t.path)
	if errors.Is(err, os.ErrNotExist) { // renamed, and not yet recreated
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

// leave continues with the next file, if this one had no new data for a wait: the writer may
// still use the old file.
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

// begin initializes the state at the start of a file.
func (t *Tail) begin() {
	t.offset, t.silent, t.breaks = 0, false, t.last != '\n'
}

// Close implements io.Closer.
func (t *Tail) Close() error { return errors.Join(t.file.Close(), closeAll(t.next)) }
