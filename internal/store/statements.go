// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed" // the schema of the server's tables
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/internal/sys"
)

// serverSchema is the schema of a server's tables; sqlc reads the same file.
//
//go:embed schema/005_server.sql
var serverSchema string

// selectionSchema is the schema of a server's tables of selection and gates.
//
//go:embed schema/006_selection_gates.sql
var selectionSchema string

// looksSchema is the schema of the looks at gates.
//
//go:embed schema/011_looks.sql
var looksSchema string

// tunesSchema is the schema of searches for parameters and prompts.
//
//go:embed schema/013_tunes.sql
var tunesSchema string

// profilesSchema is the schema of profiles of models.
//
//go:embed schema/015_profiles.sql
var profilesSchema string

// partsSchema is the schema of parts of jobs for workers.
//
//go:embed schema/007_parts.sql
var partsSchema string

// Rows returns the statements of a server's tables, which see all earlier writes. Use Change for
// statements that write.
func (db *DB) Rows() *rows.Queries { return rows.New(db.read) }

// Change runs f in one short transaction that writes: all of it is stored, or nothing. There is no
// other writer meanwhile. f must use only its statements, and neither wait nor call the store in
// another way. An error of f that is not the store's is returned without the path of the store,
// because users of a server must not see it.
func (db *DB) Change(ctx context.Context, verb string, f func(*rows.Queries) error) error {
	return db.ChangeTx(ctx, verb, func(_ *sql.Tx, q *rows.Queries) error { return f(q) })
}

// Also has further statements of a transaction; nil has none.
type Also func(*rows.Queries) error

// Do runs the statements.
func (a Also) Do(q *rows.Queries) error {
	if a == nil {
		return nil
	}
	return a(q)
}

// ChangeTx is Change for callers with their own tables in the same transaction, such as a queue of
// jobs.
func (db *DB) ChangeTx(ctx context.Context, verb string, f func(*sql.Tx, *rows.Queries) error) error {
	var changeErr error
	err := db.tx(ctx, verb, func(tx *sql.Tx) error {
		changeErr = f(tx, rows.New(tx))
		return changeErr
	})
	if changeErr != nil && !Fault(changeErr) {
		return changeErr
	}
	return err
}

// Fault reports whether an error is the database's own: of its file, of a lock, of the disk.
func Fault(err error) bool { return errors.As(err, new(*sqlite.Error)) }

// Handle returns the connection that writes, for a queue with its own tables in the store. There is
// one such connection: a caller that uses it keeps all writers waiting.
func (db *DB) Handle() *sql.DB { return db.write }

// NewID makes an id for a row: the prefix, "_" and 26 random letters and digits in lower case.
func NewID(r io.Reader, prefix string) (string, error) {
	if r == nil {
		r = rand.Reader
	}
	b := make([]byte, 16)
	if _, err := io.ReadFull(r, b); err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return prefix + "_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)), nil
}

// Ping reports whether the store can be read.
func (db *DB) Ping(ctx context.Context) error {
	var n int
	return db.explain("read store", db.read.QueryRowContext(ctx, "SELECT count(*) FROM settings").Scan(&n))
}

// Writable returns an error if no file can be written to the folder of the store, for example on a
// full disk.
func (db *DB) Writable() error {
	if err := sys.ProbeFolder(filepath.Dir(db.path)); err != nil {
		return fmt.Errorf("%w: %w", callvet.ErrUnavailable, err)
	}
	return nil
}
