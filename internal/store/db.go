// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"time"

	"modernc.org/sqlite" // registers its driver too
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Options of Open. The zero value is what a command line needs.
type Options struct {
	// Busy is how long a statement waits for another process's lock; zero means 10 s.
	Busy time.Duration
	// Now stamps runs; nil means time.Now.
	Now func() time.Time
	// Rand names runs; nil means crypto/rand.
	Rand io.Reader
	// MaxPages bounds the file, in pages of 8 KB; zero means SQLite's own limit.
	MaxPages int
	// ReadOnly refuses every change; the file must exist.
	ReadOnly bool
}

// DB is an open store. It is safe for concurrent use, by several processes too.
type DB struct {
	path  string
	opts  Options
	write *sql.DB // one connection: SQLite has one writer
	read  *sql.DB
	many  *sql.Stmt // insert of rowsPerStatement cells
	one   *sql.Stmt
}

// Open opens or creates the store at path. It makes the folder (mode 0700) and
// the file (mode 0600) where they are missing, and brings an older file up to
// date. A file of a newer callvet is refused with ErrConflict, a file that is
// not a store with ErrInvalid. A store that cannot be written to is opened for
// reading: every change then returns ErrDenied.
//
// A file of another user of the machine is refused with ErrDenied, because that user may have made
// it to harm its reader.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if uid, other := sys.OwnedByAnother(path); other {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("open store %s: it belongs to another user of this machine (%d): %w", path, uid,
				callvet.ErrDenied),
			Hint: "open a copy of your own with --db, or take the file over (chown) if you trust what is in it",
		}
	}
	db, err := open(ctx, path, o)
	var se *sqlite.Error
	unwritable := errors.Is(err, callvet.ErrDenied) || errors.As(err, &se) && se.Code()&0xff == sqlite3.SQLITE_CANTOPEN
	if unwritable && !o.ReadOnly {
		o.ReadOnly = true
		read, rerr := open(ctx, path, o)
		switch {
		case rerr == nil || errors.Is(rerr, callvet.ErrConflict): // of another version
			return read, rerr
		// SQLite must write to recover the log of a process that died
		case !errors.Is(rerr, callvet.ErrNotFound):
			return nil, &callvet.Hinted{
				Err:  err,
				Hint: "make the file and its folder writable, or copy it with the files next to it (-wal) and open the copy with --db",
			}
		}
	}
	return db, err
}

func open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.Busy == 0 {
		o.Busy = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if err := prepareFile(path, o.ReadOnly); err != nil {
		return nil, err
	}
	registerSum()
	db := &DB{path: path, opts: o}
	if err := db.open(ctx); err != nil {
		_ = db.Close() // the first error is returned
		return nil, db.explain("open store", err)
	}
	return db, nil
}

// prepareFile makes the folder and an empty private file, because SQLite would make a file that
// others can read, and traces contain texts of people.
func prepareFile(path string, readOnly bool) error {
	if readOnly {
		if _, err := os.Stat(path); err != nil {
			return &callvet.Hinted{
				Err:  fmt.Errorf("open store %s: %w", path, callvet.ErrNotFound),
				Hint: "nothing has been run with this store yet; see callvet run, or name another file with --db",
			}
		}
		return nil
	}
	f, err := sys.PrivateFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return &callvet.Hinted{
			Err:  fmt.Errorf("open store %s: %w: %w", path, callvet.ErrDenied, err),
			Hint: "make the file writable, or choose another one with --db",
		}
	}
	if err != nil {
		return &callvet.Hinted{Err: fmt.Errorf("open store: %w", err), Hint: "choose another file with --db"}
	}
	return f.Close()
}

func (db *DB) open(ctx context.Context) error {
	var err error
	if db.write, err = sql.Open("sqlite", db.dsn(false)); err != nil {
		return err
	}
	// One connection that stays open: a prepared statement lives on it.
	db.write.SetMaxOpenConns(1)
	db.write.SetMaxIdleConns(1)
	if !db.opts.ReadOnly {
		if err := db.logAhead(ctx); err != nil {
			return err
		}
		if err := migrate(ctx, db.write); err != nil {
			return err
		}
		if db.many, err = db.write.PrepareContext(ctx, insertCells(rowsPerStatement)); err != nil {
			return err
		}
		if db.one, err = db.write.PrepareContext(ctx, insertCells(1)); err != nil {
			return err
		}
	}
	if db.read, err = sql.Open("sqlite", db.dsn(true)); err != nil {
		return err
	}
	db.read.SetMaxOpenConns(4)
	return checkVersion(ctx, db.read)
}

// logAhead switches a new file to a write-ahead log, which it then keeps. SQLite does not wait for
// locks here: if two processes open a new file at the same time, one gets "busy" and must retry.
func (db *DB) logAhead(ctx context.Context) error {
	for wait := time.Millisecond; ; wait *= 2 {
		var mode string
		err := db.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode != "wal" {
			err = db.write.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		}
		if err == nil && mode != "wal" {
			return fmt.Errorf("the file system does not allow a write-ahead log: %w", callvet.ErrUnavailable)
		}
		var se *sqlite.Error
		if err == nil || wait > db.opts.Busy || !errors.As(err, &se) || se.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

// dsn builds the driver's address. FULL flushes the log at every commit; NORMAL
// would lose the last commits on a power cut, and cells are counted once they
// are committed.
func (db *DB) dsn(reader bool) string {
	q := url.Values{}
	// For new files: a page of 4 KB would hold only one usual cell of 2.3 KB and waste the rest, in
	// the log and on the disk.
	q.Add("_pragma", "page_size(8192)")
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", db.opts.Busy.Milliseconds()))
	q.Add("_pragma", "synchronous(FULL)")
	q.Add("_pragma", "foreign_keys(0)")
	if reader {
		q.Add("_pragma", "query_only(1)")
	} else if db.opts.MaxPages > 0 {
		q.Add("_pragma", fmt.Sprintf("max_page_count(%d)", db.opts.MaxPages))
	}
	if db.opts.ReadOnly {
		q.Add("mode", "ro")
		// SQLite creates files next to the store even for reading, unless the store is opened as
		// immutable. A writer has a log there.
		if log, err := os.Stat(db.path + "-wal"); err != nil || log.Size() == 0 {
			q.Add("immutable", "1")
		}
	} else {
		q.Add("_txlock", "immediate")
	}
	return "file:" + (&url.URL{Path: db.path}).EscapedPath() + "?" + q.Encode()
}

// Path is the file that was opened.
func (db *DB) Path() string { return db.path }

// Exposed returns the mode of a store that this process may write and all users of the machine may
// read, else 0. New stores do not have such a mode: it comes from a copy.
func (db *DB) Exposed() fs.FileMode {
	info, err := os.Stat(db.path)
	if err != nil || db.opts.ReadOnly || runtime.GOOS == "windows" || info.Mode().Perm()&0o004 == 0 {
		return 0
	}
	return info.Mode().Perm()
}

// Close releases the file. Without Close no data is lost.
func (db *DB) Close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, s := range []*sql.Stmt{db.many, db.one} {
		if s != nil {
			keep(s.Close())
		}
	}
	for _, d := range []*sql.DB{db.read, db.write} {
		if d != nil {
			keep(d.Close())
		}
	}
	return first
}

// tx runs f in one short write transaction.
func (db *DB) tx(ctx context.Context, verb string, f func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	// The driver starts a goroutine per statement for a context that can end, and half a batch is
	// useless.
	ctx = context.WithoutCancel(ctx)
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return db.explain(verb, err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	if err := f(tx); err != nil {
		return db.explain(verb, err)
	}
	if err := tx.Commit(); err != nil {
		return db.explain(verb, err)
	}
	return nil
}
