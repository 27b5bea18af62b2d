// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/callvet/callvet"
)

// explain wraps err, with a hint if a person can fix the problem. An error that already has a hint
// keeps it.
func (db *DB) explain(verb string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s %s: %w", verb, db.path, err)
	if aboutRequest(err) {
		wrapped = fmt.Errorf("%s: %w", verb, err)
	}
	var hinted *callvet.Hinted
	if errors.As(err, &hinted) {
		return &callvet.Hinted{Err: wrapped, Hint: hinted.Hint}
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return wrapped
	}
	kind, hint := mend(se.Code() & 0xff) // the low byte is the primary code
	if kind == nil {
		return wrapped
	}
	return &callvet.Hinted{Err: fmt.Errorf("%s %s: %w: %w", verb, db.path, kind, err), Hint: hint}
}

// aboutRequest reports whether an error is about the request, not about the file. Users of a server see
// it, and must not see the path of the store.
func aboutRequest(err error) bool {
	if errors.As(err, new(*sqlite.Error)) {
		return false
	}
	for _, kind := range []error{callvet.ErrInvalid, callvet.ErrNotFound, callvet.ErrConflict, callvet.ErrLimited} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func mend(code int) (kind error, hint string) {
	switch code {
	case sqlite3.SQLITE_FULL:
		return callvet.ErrUnavailable,
			"the disk is full: free some space, then resume the run; every attempt that was counted is stored"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return callvet.ErrUnavailable,
			"another process holds the store: wait for it to finish, or use another file with --db"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return callvet.ErrDenied, "make the file and its folder writable, or choose another one with --db"
	case sqlite3.SQLITE_CANTOPEN:
		return callvet.ErrUnavailable, "check that the folder exists and is writable, or choose another file with --db"
	case sqlite3.SQLITE_NOTADB:
		return callvet.ErrInvalid, "the file is not a callvet store: choose another one with --db"
	case sqlite3.SQLITE_CORRUPT:
		return callvet.ErrInvalid, "the file is damaged: restore a copy, or begin a new one with --db"
	case sqlite3.SQLITE_IOERR:
		return callvet.ErrUnavailable, "the disk reports an error: check it and its free space, then resume the run"
	}
	return nil, ""
}
