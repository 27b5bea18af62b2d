// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"modernc.org/sqlite"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Backup writes a copy of the store into a new file, which only its owner may read. Others may
// write meanwhile: the copy is the store at one moment. The error wraps callvet.ErrConflict if the
// file exists.
func (db *DB) Backup(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		return &callvet.Hinted{Err: fmt.Errorf("back up %s: %s: %w: the file exists", db.path, path,
			callvet.ErrConflict), Hint: "choose another name"}
	}
	f, err := sys.PrivateFile(path)
	if err != nil {
		return fmt.Errorf("back up %s: %w", db.path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("back up %s: %w", db.path, err)
	}
	if err := copyPages(ctx, db.read,
		func(c backuper) (*sqlite.Backup, error) { return c.NewBackup(address(path, "rw")) }); err != nil {
		return errors.Join(db.explain("back up", err), sys.RemoveFile(path)) // the copy is incomplete
	}
	return nil
}

// backuper is the part of the driver's connection that copies whole stores.
type backuper interface {
	NewBackup(to string) (*sqlite.Backup, error)
	NewRestore(from string) (*sqlite.Backup, error)
}

func address(path, mode string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=" + mode
}

// copyPages copies all pages of a store at one moment.
func copyPages(ctx context.Context, db *sql.DB, begin func(backuper) (*sqlite.Backup, error)) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		c, ok := driver.(backuper)
		if !ok {
			return errors.New("the driver copies no stores")
		}
		b, err := begin(c)
		if err != nil {
			return err
		}
		_, err = b.Step(-1)
		return errors.Join(err, b.Finish())
	})
}

// Restore replaces the whole content of the store by a backup. It is one transaction: readers see
// the old or the new content. The backup is checked first; one of an older version is brought up to
// date. The error wraps callvet.ErrConflict while a process carries out a run of the store, or
// serves it.
func (db *DB) Restore(ctx context.Context, path string) (err error) {
	from, err := Open(ctx, path, Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	bad, err := from.Check(ctx)
	if err = errors.Join(err, from.Close()); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if len(bad) > 0 {
		return fmt.Errorf("restore %s: the file is damaged: %s: %w", path, bad[0], callvet.ErrInvalid)
	}
	release, err := db.Serve(Claim{})
	if errors.As(err, new(*ServedError)) { // its data in memory would be wrong
		return &callvet.Hinted{Err: fmt.Errorf("restore: %w", err), Hint: "end that server first"}
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if owner, err := db.working(ctx); err != nil {
		return err
	} else if owner != "" {
		return &callvet.Hinted{Err: fmt.Errorf("restore %s: %w: %s carries out a run of it", db.path,
			callvet.ErrConflict, owner), Hint: "end it first"}
	}
	if err := copyPages(ctx, db.write,
		func(c backuper) (*sqlite.Backup, error) { return c.NewRestore(address(path, "ro")) }); err != nil {
		return db.explain("restore", err)
	}
	return nil
}

// working names a process that carries out a run of the store; "" if there is none.
func (db *DB) working(ctx context.Context) (string, error) {
	var host string
	var pid int
	err := db.read.QueryRowContext(ctx,
		"SELECT owner_host, owner_pid FROM runs WHERE owner IS NOT NULL AND owner_expires>"+now+" LIMIT 1").Scan(&host,
		&pid)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", db.explain("read runs", err)
	}
	return fmt.Sprintf("process %d on %s", pid, host), nil
}

// Check reads the whole file, and returns SQLite's problems and the runs with wrong checksums;
// empty if it is intact.
func (db *DB) Check(ctx context.Context) (problems []string, err error) {
	rows, err := db.read.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return nil, db.explain("check", err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, db.explain("check", err)
		}
		if text != "ok" {
			problems = append(problems, text)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(problems) > 0 {
		return problems, db.explain("check", err)
	}
	if problems, err = db.checkSums(ctx); err != nil {
		return nil, err
	}
	more, err := db.checkRows(ctx)
	return append(problems, more...), err
}

// checkSums names the runs with a wrong checksum in the manifest or in attempts.
func (db *DB) checkSums(ctx context.Context) (problems []string, err error) {
	runs, err := db.runs(ctx, runColumns)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r, bad := &runs[i], 0
		for c, err := range db.Cells(ctx, r.ID, Filter{Order: ByCase, Exchanges: true}) {
			if err != nil {
				return nil, err
			}
			if c.Trace.Fault != nil && c.Trace.Fault.Kind == callvet.FaultLost {
				bad++
			}
		}
		if bad > 0 {
			problems = append(problems, fmt.Sprintf("run %s: %d attempts cannot be read", r.ID, bad))
		}
		if r.Damage != nil {
			problems = append(problems, fmt.Sprintf("run %s: %v", r.ID, r.Damage))
		}
	}
	return problems, nil
}

// Census counts the content of a store.
type Census struct {
	// Bytes is the size of the file, Free the free space of deleted rows in it, Log the size of the
	// write-ahead log.
	Bytes, Free, Log int64
	Runs, Suites     int
	// Interrupted are runs that did not end and have no owner.
	Interrupted []string
	// Orphans counts attempts of missing runs.
	Orphans int
	Version int
}

// Census counts the content of the store.
func (db *DB) Census(ctx context.Context) (c Census, err error) {
	for _, q := range []struct {
		into any
		text string
	}{
		{&c.Version, "PRAGMA user_version"},
		{&c.Bytes, "SELECT p.page_count*s.page_size FROM pragma_page_count() p, pragma_page_size() s"},
		{&c.Free, "SELECT f.freelist_count*s.page_size FROM pragma_freelist_count() f, pragma_page_size() s"},
		{&c.Runs, "SELECT count(*) FROM runs"},
		{&c.Suites, "SELECT count(*) FROM suites"},
		{&c.Orphans, "SELECT count(*) FROM cells WHERE run NOT IN (SELECT num FROM runs)"},
	} {
		if err := db.read.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return c, db.explain("look at", err)
		}
	}
	if info, err := os.Stat(db.path + "-wal"); err == nil {
		c.Log = info.Size()
	}
	list, err := db.Runs(ctx, 0)
	if err != nil {
		return c, err
	}
	for i := range list {
		if list[i].Status == StatusRunning && list[i].Owner == nil {
			c.Interrupted = append(c.Interrupted, list[i].ID)
		}
	}
	return c, nil
}
