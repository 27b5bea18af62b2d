// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// Status of a run.
type Status string

// The statuses. A run whose process was killed stays "running", and has no Owner once
// the lease has run out.
const (
	StatusRunning     Status = "running"
	StatusDone        Status = "done"
	StatusInterrupted Status = "interrupted"
	StatusFailed      Status = "failed"
	StatusBudget      Status = "budget"
)

// Run is an entry of the list of runs.
type Run struct {
	ID        string          `json:"id"`
	Name      string          `json:"name,omitempty"`
	Created   time.Time       `json:"created"`
	Finished  time.Time       `json:"finished,omitzero"`
	Status    Status          `json:"status"`
	SuiteHash string          `json:"suite_hash"`
	SuiteName string          `json:"suite_name"`
	Manifest  json.RawMessage `json:"manifest"`
	// Totals is what Finish was given; nil before.
	Totals json.RawMessage `json:"totals,omitempty"`
	// Spent is what the run has consumed over all its sessions.
	Spent callvet.Spent `json:"spent"`
	// Owner carries the run out; nil: nobody does.
	Owner *Owner `json:"owner,omitempty"`
	// Judges is what a run of a judge is about: the id of a run, or "sha256:" and the hash
	// of a trace file; "" for a run of a suite.
	Judges string `json:"judges,omitempty"`
}

// State is the status, with that of a run whose process went away without ending it:
// it was interrupted.
func (r *Run) State() Status {
	if r.Status == StatusRunning && r.Owner == nil {
		return StatusInterrupted
	}
	return r.Status
}

// NewRun is what CreateRun needs to know.
type NewRun struct {
	// Name is optional. A run is found by it, so no two runs may share one, and it
	// may not be what finds a run in another way: latest, last, latest~1, an id.
	Name  string
	Suite *callvet.Suite
	// SuiteHash, when set, names a suite that PutSuite stored; Suite is then not read.
	SuiteHash string
	// Manifest is one JSON value: everything needed to reproduce the run, no secret.
	Manifest json.RawMessage
	// Judges makes it a run of a judge, as Run has it. It is in no list of runs, and goes with
	// the run that it is about.
	Judges string
}

// CreateRun stores the suite and a run of it in state "running". The error is
// ErrInvalid for a name that cannot be used and ErrConflict for one that a run has.
func (db *DB) CreateRun(ctx context.Context, n NewRun) (Run, error) {
	if n.SuiteHash == "" {
		h, err := db.PutSuite(ctx, n.Suite)
		if err != nil {
			return Run{}, err
		}
		n.SuiteHash = h
	}
	if !json.Valid(n.Manifest) {
		return Run{}, fmt.Errorf("create run: the manifest is not JSON: %w", callvet.ErrInvalid)
	}
	id, err := newID(db.opts.Rand)
	if err != nil {
		return Run{}, fmt.Errorf("create run: %w", err)
	}
	if err := validName(n.Name); err != nil {
		return Run{}, fmt.Errorf("create run: %w", err)
	}
	err = db.tx(ctx, "create run", func(tx *sql.Tx) error {
		if n.Name != "" {
			var taken string
			err := tx.QueryRow("SELECT id FROM runs WHERE name=? OR id=?", n.Name, n.Name).Scan(&taken)
			if err == nil {
				return &TakenError{Name: n.Name, Run: taken}
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		res, err := tx.Exec(`INSERT INTO runs(id,name,created,status,suite_hash,suite_name,manifest,judges)
			SELECT ?,?,?,?,hash,name,?,nullif(?,'') FROM suites WHERE hash=?`,
			id, n.Name, db.opts.Now().UnixMilli(), StatusRunning, []byte(n.Manifest), n.Judges, n.SuiteHash)
		if err != nil {
			return err
		}
		if k, err := res.RowsAffected(); err != nil || k != 1 {
			return fmt.Errorf("suite %s: %w", n.SuiteHash, callvet.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		return Run{}, err
	}
	return db.Run(ctx, id)
}

// TakenError says that another run has a name. It wraps ErrConflict.
type TakenError struct{ Name, Run string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("name %q: %v: run %s has it", e.Name, callvet.ErrConflict, e.Run)
}

// Unwrap gives ErrConflict.
func (e *TakenError) Unwrap() error { return callvet.ErrConflict }

var back = regexp.MustCompile(`~[0-9]+$`)

// validName refuses the names that find runs by their place in the list.
func validName(name string) error {
	if name == "latest" || name == "last" || back.MatchString(name) {
		return &callvet.Hinted{Err: fmt.Errorf("name %q: %w: it finds runs by when they were made", name, callvet.ErrInvalid), Hint: "another name, such as " + strings.Trim(back.ReplaceAllString(name, ""), "~") + "-run"}
	}
	return nil
}

// newID makes ten characters that are easy to type and unlikely to collide (50 bits).
func newID(r io.Reader) (string, error) {
	var b [7]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", err
	}
	enc := base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)
	return enc.EncodeToString(b[:])[:10], nil
}

func changed(id string) func(sql.Result, error) error {
	return func(res sql.Result, err error) error {
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("run %s: %w", id, callvet.ErrNotFound)
		}
		return nil
	}
}

const runColumns = "SELECT id,name,created,finished,status,suite_hash,suite_name,manifest,totals,requests,usd,assumed_usd,assumed,coalesce(judges,'')," + ownerColumns + " FROM runs "

// Runs lists the newest runs first; limit 0 means all.
func (db *DB) Runs(ctx context.Context, limit int) ([]Run, error) {
	if limit <= 0 {
		limit = -1
	}
	return db.runs(ctx, runColumns+"WHERE judges IS NULL ORDER BY num DESC LIMIT ?", limit)
}

// Judgings lists the runs of judges about a run or a trace file (as Run.Judges), the oldest
// first; "" means all.
func (db *DB) Judgings(ctx context.Context, about string) ([]Run, error) {
	return db.runs(ctx, runColumns+"WHERE judges IS NOT NULL AND (judges=? OR ?='') ORDER BY num", about, about)
}

func (db *DB) runs(ctx context.Context, query string, args ...any) ([]Run, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, db.explain("read runs", err)
	}
	defer rows.Close()
	var out []Run
	for rows.Next() {
		var r Run
		var created int64
		var finished sql.NullInt64
		var manifest, totals []byte
		if r.Owner, err = scanOwner(rows, &r.ID, &r.Name, &created, &finished, &r.Status, &r.SuiteHash, &r.SuiteName, &manifest, &totals,
			&r.Spent.Requests, &r.Spent.USD, &r.Spent.AssumedUSD, &r.Spent.Assumed, &r.Judges); err != nil {
			return nil, db.explain("read runs", err)
		}
		r.Created, r.Manifest, r.Totals = time.UnixMilli(created), manifest, totals
		if finished.Valid {
			r.Finished = time.UnixMilli(finished.Int64)
		}
		out = append(out, r)
	}
	return out, db.explain("read runs", rows.Err())
}

// Run finds a run by its id, by the beginning of an id when only one run has it,
// by its name (the newest of that name), or as "latest" or "last". "latest~1"
// is the one before.
func (db *DB) Run(ctx context.Context, ref string) (Run, error) {
	if ref == "" {
		return one(ref, func() ([]Run, error) { return nil, nil })
	}
	base, back := ref, 0
	if i := strings.LastIndexByte(ref, '~'); i > 0 {
		if _, err := fmt.Sscanf(ref[i+1:], "%d", &back); err == nil && back >= 0 {
			base = ref[:i]
		}
	}
	if base == "latest" || base == "last" {
		return one(ref, func() ([]Run, error) {
			return db.runs(ctx, runColumns+"WHERE judges IS NULL ORDER BY num DESC LIMIT 1 OFFSET ?", back)
		})
	}
	found, err := db.runs(ctx, runColumns+"WHERE id=?", ref)
	if err != nil || len(found) == 1 {
		return first(found), err
	}
	if found, err = db.runs(ctx, runColumns+"WHERE name=? ORDER BY num DESC LIMIT 1", ref); err != nil || len(found) == 1 {
		return first(found), err
	}
	low := strings.ToLower(ref)
	return one(ref, func() ([]Run, error) {
		return db.runs(ctx, runColumns+"WHERE id>=? AND id<? ORDER BY num DESC LIMIT 3", low, low+"~")
	})
}

func first(rs []Run) Run {
	if len(rs) == 0 {
		return Run{}
	}
	return rs[0]
}

func one(ref string, find func() ([]Run, error)) (Run, error) {
	found, err := find()
	switch {
	case err != nil:
		return Run{}, err
	case len(found) == 0:
		return Run{}, fmt.Errorf("run %q: %w", ref, callvet.ErrNotFound)
	case len(found) > 1:
		return Run{}, &callvet.Hinted{Err: fmt.Errorf("run %q: several ids begin so: %w", ref, callvet.ErrConflict), Hint: "write more of the id, for example " + found[0].ID}
	}
	return found[0], nil
}

// DeleteRun removes a run with its cells, with what judges and people said of it and what a server keeps beside it, and its
// suite when no other run has it; also is done in the same transaction. A run that a process carries out is refused with a *HeldError; gone is
// that of Claim.
func (db *DB) DeleteRun(ctx context.Context, id string, gone func(Owner) bool, also Also) error {
	return db.ChangeTx(ctx, "delete run", func(tx *sql.Tx, q *rows.Queries) error {
		if err := free(tx, id, gone); err != nil {
			return err
		}
		num, err := runNumber(tx, id)
		if err != nil {
			return err
		}
		for _, table := range []string{"cells", "cache_keys"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE run=? OR run IN (SELECT num FROM runs WHERE judges=?)", num, id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM runs WHERE num=? OR judges=?", num, id); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM suite_chunks WHERE suite IN (SELECT num FROM suites WHERE hash NOT IN (SELECT suite_hash FROM runs))"); err != nil {
			return err
		}
		_, err = tx.Exec("DELETE FROM suites WHERE hash NOT IN (SELECT suite_hash FROM runs)")
		return errors.Join(err, q.DropRunDocuments(ctx, id), q.DropSelectRun(ctx, id), q.DropVerdictsOfRun(ctx, id), q.DropLabelLines(ctx, RunLabels(id)), q.DropRunEntry(ctx, id), also.Do(q))
	})
}

// RunLabels is what labels of people are about that are of a run.
func RunLabels(run string) string { return "run:" + run }

// Vacuum gives the space of deleted runs back to the disk.
func (db *DB) Vacuum(ctx context.Context) error {
	_, err := db.write.ExecContext(ctx, "VACUUM")
	return db.explain("vacuum", err)
}
