// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/callvet/callvet"
)

// applicationID marks a SQLite file as ours ("cvet").
const applicationID = 0x63766574

// migrations take a file from version i to i+1. Never edit one that was
// released; add another.
func migrations() []string {
	return []string{
		`
CREATE TABLE suites(
	num INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, version TEXT NOT NULL,
	cases INTEGER NOT NULL, created INTEGER NOT NULL, head BLOB NOT NULL);
-- Cases stand in chunks, so that neither writing nor reading needs the whole suite as one value.
CREATE TABLE suite_chunks(
	suite INTEGER NOT NULL, ix INTEGER NOT NULL, cases BLOB NOT NULL, PRIMARY KEY(suite, ix));
CREATE TABLE runs(
	num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
	created INTEGER NOT NULL, finished INTEGER, status TEXT NOT NULL,
	suite_hash TEXT NOT NULL, suite_name TEXT NOT NULL, manifest BLOB NOT NULL, totals BLOB);
CREATE INDEX runs_name ON runs(name);
-- The small columns come first: reading them does not touch the pages of the blobs.
CREATE TABLE cells(
	id INTEGER PRIMARY KEY, run INTEGER NOT NULL, case_ix INTEGER NOT NULL, target_ix INTEGER NOT NULL,
	repeat INTEGER NOT NULL, outcome TEXT NOT NULL, verdict TEXT NOT NULL, class TEXT NOT NULL,
	case_id TEXT NOT NULL, overall REAL, cost REAL, requests INTEGER NOT NULL, flags INTEGER NOT NULL,
	result BLOB NOT NULL, trace BLOB NOT NULL, exchanges BLOB);
CREATE UNIQUE INDEX cells_key ON cells(run, case_ix, target_ix, repeat);
-- One row per batch and scope: 16 bytes of key and the cell's coordinates in 12 bytes, back to back.
-- An index over random keys would cost more than the cells themselves.
CREATE TABLE cache_keys(
	id INTEGER PRIMARY KEY, scope BLOB NOT NULL, run INTEGER NOT NULL, keys BLOB NOT NULL);
CREATE INDEX cache_scope ON cache_keys(scope);
CREATE INDEX cache_run ON cache_keys(run);
`, `
-- Who carries a run out, and until when unless it is renewed. NULL: nobody.
ALTER TABLE runs ADD COLUMN owner TEXT;
ALTER TABLE runs ADD COLUMN owner_host TEXT;
ALTER TABLE runs ADD COLUMN owner_pid INTEGER;
ALTER TABLE runs ADD COLUMN owner_scope TEXT;
ALTER TABLE runs ADD COLUMN owner_since INTEGER;
ALTER TABLE runs ADD COLUMN owner_expires INTEGER;
-- What the run has spent over all its sessions, for cells that were replaced or broken off too.
ALTER TABLE runs ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN usd REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN assumed_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN assumed INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET requests=(SELECT coalesce(sum(c.requests),0) FROM cells c WHERE c.run=runs.num AND c.flags&1=0),
	usd=(SELECT coalesce(sum(c.cost),0) FROM cells c WHERE c.run=runs.num AND c.flags&1=0);
`, `
-- Whether the process that carries the run out was asked to end it.
ALTER TABLE runs ADD COLUMN canceled INTEGER NOT NULL DEFAULT 0;
`, `
-- What a run of a judge is about: the id of a run, or the hash of a trace file. NULL: it is about a suite.
ALTER TABLE runs ADD COLUMN judges TEXT;
CREATE INDEX runs_judges ON runs(judges) WHERE judges IS NOT NULL;
`, serverSchema, selectionSchema, partsSchema, `
-- What people wrote of a run, for people; tags are a list in JSON.
ALTER TABLE runs ADD COLUMN notes TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
`, `
-- What is written from now on carries its checksum, which an older callvet cannot read: see sum.go. bytes is what was
-- written of attempts, those that were replaced too.
ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET bytes=(SELECT coalesce(sum(length(c.result)+length(c.trace)+coalesce(length(c.exchanges),0)),
		0) FROM cells c WHERE c.run=runs.num);
`, wholeSchema(summedTables()), looksSchema + wholeSchema(summedLooks()),
		tunesSchema + wholeSchema(summedTunes()), profilesSchema + wholeSchema(summedProfiles()),
	}
}

// migrate brings the file up to date in one transaction. Two processes may try
// at once: the second one finds the file up to date.
func migrate(ctx context.Context, w *sql.DB) error {
	if v, app, err := version(ctx, w); err != nil || (v == len(migrations()) && app == applicationID) {
		return err
	}
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after Commit
	v, app, err := version(ctx, tx)
	if err != nil {
		return err
	}
	if err := recognize(ctx, tx, v, app); err != nil {
		return err
	}
	steps := migrations()
	for ; v < len(steps); v++ {
		if _, err := tx.ExecContext(ctx, steps[v]); err != nil {
			return fmt.Errorf("migrate to version %d: %w", v+1, err)
		}
	}
	for _, p := range []string{
		fmt.Sprintf("PRAGMA user_version=%d", v),
		fmt.Sprintf("PRAGMA application_id=%d", applicationID),
	} {
		if _, err := tx.ExecContext(ctx, p); err != nil {
			return err
		}
	}
	return tx.Commit()
}

type querier interface {
	QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row
}

func version(ctx context.Context, q querier) (v, app int, err error) {
	if err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil {
		return 0, 0, err
	}
	err = q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app)
	return v, app, err
}

// recognize returns an error for a SQLite file of another program or of a newer version.
func recognize(ctx context.Context, q querier, v, app int) error {
	if app == 0 && v == 0 {
		var tables int
		if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil ||
			tables == 0 {
			return err
		}
	}
	if app != applicationID {
		return &callvet.Hinted{
			Err:  fmt.Errorf("the file belongs to another program: %w", callvet.ErrInvalid),
			Hint: "choose another file with --db",
		}
	}
	if v < 0 {
		return &callvet.Hinted{
			Err: fmt.Errorf(
				"the file has format version %d, which no callvet writes: it is damaged: %w", v, callvet.ErrInvalid),
			Hint: "restore a copy, or choose another file with --db",
		}
	}
	if n := len(migrations()); v > n {
		return &callvet.Hinted{Err: fmt.Errorf("the file has format version %d, this callvet knows up to %d: %w", v, n,
			callvet.ErrConflict), Hint: "update callvet, or choose another file with --db"}
	}
	return nil
}

// checkVersion checks that the file has exactly the format of this version, for a reader.
func checkVersion(ctx context.Context, q querier) error {
	v, app, err := version(ctx, q)
	if err != nil {
		return err
	}
	if err := recognize(ctx, q, v, app); err != nil {
		return err
	}
	if v != len(migrations()) {
		return &callvet.Hinted{
			Err:  fmt.Errorf("the file has the older format version %d: %w", v, callvet.ErrConflict),
			Hint: "a command that may write to it (such as callvet run) brings it up to date; of a store that is read-only, open a copy with --db",
		}
	}
	return nil
}
