// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Owner is the process that carries out a run.
type Owner struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Scope is where the PID is valid: a boot and a PID namespace of a machine. In another scope
	// the same number is a different process.
	Scope string `json:"-"`
	// Since is when the process took the run; its lease ends at Expires unless it
	// renews it before. Both are times of the database.
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
}

// String names the owner for a person.
func (o Owner) String() string {
	return fmt.Sprintf("process %d on %s, since %s", o.PID, o.Host, o.Since.Local().Format("2006-01-02 15:04:05"))
}

// HeldError reports that another process carries out the run. It wraps ErrConflict.
type HeldError struct {
	Run   string
	Owner Owner
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("run %s is being carried out by %s: %v", e.Run, e.Owner, callvet.ErrConflict)
}

// Unwrap returns callvet.ErrConflict.
func (e *HeldError) Unwrap() error { return callvet.ErrConflict }

// Claim has the data of a process that requests a run.
type Claim struct {
	Host  string
	PID   int
	Scope string
	// TTL is how long the lease lasts without being renewed.
	TTL time.Duration
	// Gone reports that an owner's process is known to have ended, so that its lease need not
	// expire first. Nil: unknown.
	Gone func(Owner) bool
	// Canceled is called when a renewal of the lease finds that DB.Cancel was called for the run,
	// once for each renewal until the run ends. It must not wait. Nil: not called.
	Canceled func()
}

// Lease is the right of one process to carry out a run: only its holder adds cells and ends the
// run. It is safe for concurrent use, except Alone.
type Lease struct {
	db    *DB
	run   string
	id    string
	claim Claim
}

// ServedError reports that another server works on the jobs of a store. It wraps ErrConflict.
type ServedError struct {
	Path  string
	Owner Owner // without a PID if the server has not written it
}

func (e *ServedError) Error() string {
	by := "another server"
	if e.Owner.PID != 0 {
		by = "a server: " + e.Owner.String()
	}
	return fmt.Sprintf("%s is being served by %s: %v", e.Path, by, callvet.ErrConflict)
}

// Unwrap returns callvet.ErrConflict.
func (e *ServedError) Unwrap() error { return callvet.ErrConflict }

// Serve makes the caller the only server of the store: it runs the jobs, and resumes those of an
// earlier server. That lasts until release is called or the process ends in any way. Commands that
// use the store at the same time need not call it. If there is another server, the error is a
// *ServedError.
func (db *DB) Serve(c Claim) (release func() error, err error) {
	o := Owner{Host: c.Host, PID: c.PID, Since: db.opts.Now()}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("serve store: %w", err)
	}
	path, err := filepath.EvalSymlinks(db.path)
	if err != nil {
		return nil, fmt.Errorf("serve store: %w", err)
	}
	release, err = sys.OwnFile(path+".server", text)
	var owned *sys.OwnedFileError
	if errors.As(err, &owned) {
		served := &ServedError{Path: db.path}
		if json.Unmarshal(owned.Text, &served.Owner) != nil {
			served.Owner = Owner{}
		}
		return nil, served
	}
	if err != nil {
		return nil, fmt.Errorf("serve store: %w", err)
	}
	return release, nil
}

// now is the time of the database in ms: processes on several machines may differ.
const now = "CAST(unixepoch('now','subsec')*1000 AS INTEGER)"

// Acquire returns the lease of a run, new or resumed, and sets its state to running. If another
// process has the lease, the error is a *HeldError. A lease that expired, or of an ended process,
// is taken over.
func (db *DB) Acquire(ctx context.Context, runID string, c Claim) (*Lease, error) {
	id, err := newID(db.opts.Rand)
	if err != nil {
		return nil, fmt.Errorf("take run %s: %w", runID, err)
	}
	err = db.tx(ctx, "take run", func(tx *sql.Tx) error {
		if err := free(tx, runID, c.Gone); err != nil {
			return err
		}
		return changed(
			runID)(tx.Exec(
			"UPDATE runs SET status=?, finished=NULL, canceled=0, owner=?, owner_host=?, owner_pid=?, owner_scope=?, owner_since="+now+", owner_expires="+now+"+? WHERE id=?",
			StatusRunning, id, c.Host, c.PID, c.Scope, c.TTL.Milliseconds(), runID))
	})
	if err != nil {
		return nil, err
	}
	return &Lease{db: db, run: runID, id: id, claim: c}, nil
}

// ID is the name of the lease for workers, see Join.
func (l *Lease) ID() string { return l.id }

// Join returns the lease with that ID to a worker that carries out a part of the run for its
// holder, and renews it. If another process has the run, the error is a *HeldError; it wraps
// ErrConflict if the run is over.
func (db *DB) Join(ctx context.Context, runID, id string, c Claim) (*Lease, error) {
	l := &Lease{db: db, run: runID, id: id, claim: c}
	if err := l.Renew(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Alone renews the lease under a new id: workers that joined it can write no more.
func (l *Lease) Alone(ctx context.Context) error {
	id, err := newID(l.db.opts.Rand)
	if err != nil {
		return fmt.Errorf("renew lease: %w", err)
	}
	if err := l.db.tx(ctx, "renew lease", func(tx *sql.Tx) error {
		if err := l.renew(tx); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET owner=? WHERE id=?", id, l.run)
		return err
	}); err != nil {
		return err
	}
	l.id = id
	return nil
}

// free checks that the run has no owner; else the error is a *HeldError.
func free(tx *sql.Tx, runID string, gone func(Owner) bool) error {
	o, err := scanOwner(tx.QueryRow("SELECT "+ownerColumns+" FROM runs WHERE id=?", runID))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("run %s: %w", runID, callvet.ErrNotFound)
	case err != nil:
		return err
	case o != nil && (gone == nil || !gone(*o)):
		return &HeldError{Run: runID, Owner: *o}
	}
	return nil
}

// ownerColumns are NULL if the run has no owner, or the lease has expired.
const ownerColumns = "CASE WHEN owner_expires>" + now +
	" THEN owner END,owner_host,owner_pid,owner_scope,owner_since,owner_expires"

// scanOwner reads ownerColumns; before are the columns before them.
func scanOwner(row interface{ Scan(...any) error }, before ...any) (*Owner, error) {
	var id, host, scope sql.NullString
	var pid, since, expires sql.NullInt64
	if err := row.Scan(append(before, &id, &host, &pid, &scope, &since, &expires)...); err != nil || !id.Valid {
		return nil, err
	}
	return &Owner{
		Host: host.String, PID: int(pid.Int64), Scope: scope.String, Since: time.UnixMilli(since.Int64),
		Expires: time.UnixMilli(expires.Int64),
	}, nil
}

// TTL is how long the lease lasts after its last renewal.
func (l *Lease) TTL() time.Duration { return l.claim.TTL }

// Renew makes the lease last for its TTL from now. If another process has the run, the error is a
// *HeldError; it wraps ErrConflict if the run is over.
func (l *Lease) Renew(ctx context.Context) error {
	return l.db.tx(ctx, "renew lease", l.renew)
}

// Cancel requests that the owner of the run ends it, and returns the owner, which notices this at
// the next renewal of its lease. Received answers are kept. The error wraps ErrConflict if the run
// has no owner, or the owner's process is known to have ended.
func (db *DB) Cancel(ctx context.Context, runID string, gone func(Owner) bool) (Owner, error) {
	var owner Owner
	err := db.tx(ctx, "cancel run", func(tx *sql.Tx) error {
		var held *HeldError
		switch err := free(tx, runID, gone); {
		case err == nil:
			return fmt.Errorf("run %s is not being carried out: %w", runID, callvet.ErrConflict)
		case !errors.As(err, &held):
			return err
		}
		owner = held.Owner
		_, err := tx.Exec("UPDATE runs SET canceled=1 WHERE id=?", runID)
		return err
	})
	return owner, err
}

// renew is the first statement of every transaction of a lease: if it changes nothing, the run has
// another owner and nothing may be written.
func (l *Lease) renew(tx *sql.Tx) error {
	var canceled bool
	err := tx.QueryRow("UPDATE runs SET owner_expires="+now+"+? WHERE id=? AND owner=? RETURNING canceled",
		l.claim.TTL.Milliseconds(), l.run, l.id).Scan(&canceled)
	if canceled && l.claim.Canceled != nil {
		l.claim.Canceled()
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err := free(tx, l.run, nil); err != nil {
		return err
	}
	return fmt.Errorf("run %s was taken over by another process, which is done with it: %w", l.run, callvet.ErrConflict)
}

// Encode is DB.Encode.
func (l *Lease) Encode(dst []byte, c *callvet.Cell, key []byte) ([]byte, error) {
	return l.db.Encode(dst, c, key)
}

// Append is DB.Append for the holder of the lease, which it renews. It writes no cell if another
// process has the run.
func (l *Lease) Append(ctx context.Context, runID string, encoded [][]byte, spent callvet.Spent) error {
	if runID != l.run {
		return fmt.Errorf("store attempts of run %s: the lease is for run %s: %w", runID, l.run, callvet.ErrInvalid)
	}
	return l.db.append(ctx, runID, encoded, spent, l.renew)
}

// Book adds spending to the run, even if another process has the run now, because the money is
// spent even if the cells are not stored.
func (l *Lease) Book(ctx context.Context, spent callvet.Spent) error {
	return l.db.append(ctx, l.run, nil, spent, func(*sql.Tx) error { return nil })
}

// Rewrite replaces the run's manifest, for changed limits.
func (l *Lease) Rewrite(ctx context.Context, manifest json.RawMessage) error {
	return l.db.tx(ctx, "rewrite manifest", func(tx *sql.Tx) error {
		if err := l.renew(tx); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET manifest=? WHERE id=?", sealed(manifest), l.run)
		return err
	})
}

// Rearrange replaces the run's suite and manifest, and moves its cells: a cell of case i moves to
// case at[i], in the cache too. Cells of cases that are not in at are removed. No two cases may
// move to the same place.
func (l *Lease) Rearrange(ctx context.Context, suiteHash string, manifest json.RawMessage, at map[int]int) error {
	return l.db.tx(ctx, "rearrange run", func(tx *sql.Tx) error {
		if err := l.renew(tx); err != nil {
			return err
		}
		num, err := runNumber(tx, l.run)
		if err != nil {
			return err
		}
		for from, to := range at { // first to places below zero, where there are no cells
			if _, err := tx.Exec("UPDATE cells SET case_ix=? WHERE run=? AND case_ix=?", -1-to, num, from); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM cells WHERE run=? AND case_ix>=0", num); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE cells SET case_ix=-1-case_ix WHERE run=?", num); err != nil {
			return err
		}
		if err := resum(tx, num, at); err != nil {
			return err
		}
		if err := moveKeys(tx, num, at); err != nil {
			return err
		}
		return changed(
			l.run)(tx.Exec(
			"UPDATE runs SET suite_hash=s.hash, suite_name=s.name, manifest=? FROM suites s WHERE s.hash=? AND id=?",
			sealed(manifest), suiteHash, l.run))
	})
}

// GiveWay lets the next appended cells replace damaged cells of the run.
func (l *Lease) GiveWay(ctx context.Context, places []Place) error {
	if len(places) == 0 {
		return nil
	}
	return l.db.tx(ctx, "replace attempts", func(tx *sql.Tx) error {
		if err := l.renew(tx); err != nil {
			return err
		}
		num, err := runNumber(tx, l.run)
		if err != nil {
			return err
		}
		for _, p := range places {
			if _, err := tx.Exec(
				"UPDATE cells SET verdict='error' WHERE run=? AND case_ix=? AND target_ix=? AND repeat=?", num, p.Case,
				p.Target, p.Repeat); err != nil {
				return err
			}
		}
		return nil
	})
}

// resum updates the checksums of moved cells of a run; at maps old places to new ones. A damaged
// cell stays damaged.
func resum(tx *sql.Tx, run int64, at map[int]int) error {
	before := make(map[int]int, len(at))
	for from, to := range at {
		before[to] = from
	}
	rows, err := tx.Query("SELECT "+columnNames+",id FROM cells WHERE run=?", run)
	if err != nil {
		return err
	}
	defer rows.Close()
	flags := map[int64]int64{}
	for rows.Next() {
		var c columns
		var id int64
		if err := rows.Scan(append(c.fields(), &id)...); err != nil {
			return err
		}
		now := c.at[0]
		c.at[0] = counted(before[now.whole()])
		if c.old() || c.check() != nil {
			continue
		}
		c.at[0] = now
		flags[id] = c.summed()
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, f := range flags {
		if _, err := tx.Exec("UPDATE cells SET flags=? WHERE id=?", f, id); err != nil {
			return err
		}
	}
	return nil
}

// Finish records the end of the run with its totals (one JSON value), and releases the lease.
func (l *Lease) Finish(ctx context.Context, s Status, totals json.RawMessage) error {
	return l.db.tx(ctx, "finish run", func(tx *sql.Tx) error {
		if err := l.renew(tx); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET status=?, finished=?, totals=?, owner=NULL, owner_expires=NULL WHERE id=?",
			s, l.db.opts.Now().UnixMilli(), sealed(totals), l.run)
		return err
	})
}

// Progress counts cells that became durable after a cell that was counted before.
type Progress struct {
	Last                      int64 // the cell that was counted last
	Done, Fail, Error, NotRun int
}

// Progress counts the cells of a run that were stored after the cell last; 0: all. A repeated cell
// replaces its old one and is not counted again.
func (db *DB) Progress(ctx context.Context, runID string, last int64) (Progress, error) {
	p := Progress{Last: last}
	err := db.read.QueryRowContext(ctx,
		`SELECT coalesce(max(id),?), count(*), coalesce(sum(verdict='fail'),0), coalesce(sum(verdict='error'),0), coalesce(sum(verdict='not_run'),0)
		FROM cells WHERE id>? AND run=(SELECT num FROM runs WHERE id=?)`, last, last, runID).Scan(&p.Last, &p.Done, &p.Fail, &p.Error, &p.NotRun)
	return p, db.explain("read progress", err)
}

// Counts counts the cells of a run by the position of their target and by verdict. An unknown
// verdict is an error.
func (db *DB) Counts(ctx context.Context, runID string) (map[int]map[callvet.Verdict]int, error) {
	rows, err := db.read.QueryContext(ctx,
		`SELECT target_ix, CASE WHEN verdict IN ('pass','fail','not_run') THEN verdict ELSE 'error' END word, count(*)
		FROM cells WHERE run=(SELECT num FROM runs WHERE id=?) AND typeof(target_ix)='integer' GROUP BY target_ix, word`, runID)
	if err != nil {
		return nil, db.explain("count attempts", err)
	}
	defer rows.Close()
	out := map[int]map[callvet.Verdict]int{}
	for rows.Next() {
		var target, n int
		var v callvet.Verdict
		if err := rows.Scan(&target, &v, &n); err != nil {
			return nil, db.explain("count attempts", err)
		}
		if out[target] == nil {
			out[target] = map[callvet.Verdict]int{}
		}
		out[target][v] = n
	}
	return out, db.explain("count attempts", rows.Err())
}
