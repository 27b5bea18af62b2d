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

// The statuses. If its process was killed, a run stays "running", and has no Owner once the lease
// has run out.
const (
	StatusRunning     Status = "running"
	StatusDone        Status = "done"
	StatusInterrupted Status = "interrupted"
	StatusFailed      Status = "failed"
	StatusBudget      Status = "budget"
	// StatusQueued and StatusCancelled are states of a run of a server: its job waits, or was
	// cancelled. They are not stored.
	StatusQueued    Status = "queued"
	StatusCancelled Status = "cancelled"
)

// Run is an entry of the list of runs.
type Run struct {
	ID string `json:"id"`
	Words
	Created   time.Time       `json:"created"`
	Finished  time.Time       `json:"finished,omitzero"`
	Status    Status          `json:"status"`
	SuiteHash string          `json:"suite_hash"`
	SuiteName string          `json:"suite_name"`
	Cases     int             `json:"cases"` // of the suite
	Manifest  json.RawMessage `json:"manifest"`
	// Damage is why there is no manifest, or why the row is unreliable; nil: the row is intact.
	Damage error `json:"-"`
	// Totals are the totals of Finish; nil before.
	Totals json.RawMessage `json:"totals,omitempty"`
	// Spent is what the run has consumed over all its sessions.
	Spent callvet.Spent `json:"spent"`
	// Owner is the process that carries out the run; nil: none.
	Owner *Owner `json:"owner,omitempty"`
	// Job is the state of the job of a server that the run belongs to; "" for a run without one.
	Job string `json:"job,omitempty"`
	// Judges is the subject of a judge's run: the id of a run, or "sha256:" and the hash of a trace
	// file. For a run that is a part of a search it is the id of the search; "" for a run of a
	// suite.
	Judges string `json:"judges,omitempty"`
}

// Words are texts of people about a run. No result depends on them.
type Words struct {
	Name  string   `json:"name,omitempty"`
	Notes string   `json:"notes,omitempty"`
	Tags  []string `json:"run_tags,omitempty"`
}

// State is the status, or "interrupted" for a run that its process did not end. A run that is not
// over and belongs to a job has the state of the job.
func (r *Run) State() Status {
	if r.Owner != nil || r.Status != StatusRunning && r.Status != StatusInterrupted {
		return r.Status
	}
	switch {
	case r.Job == "cancelled":
		return StatusCancelled
	case r.Status == StatusRunning && (r.Job == "pending" || r.Job == "queued"):
		return StatusQueued
	}
	return StatusInterrupted
}

// NewRun has the data for CreateRun.
type NewRun struct {
	// Words are optional. A run of the command line is found by its name, so names are unique and
	// must not be another reference to a run: latest, last, latest~1, an id.
	Words
	// Owned marks a run of a user of a server: it is found by its id, and other runs may have the
	// same name.
	Owned bool
	Suite *callvet.Suite
	// SuiteHash, when set, names a suite that PutSuite stored; Suite is then not read.
	SuiteHash string
	// Manifest is one JSON value: everything needed to reproduce the run, no secret.
	Manifest json.RawMessage
	// Judges makes it a run of a judge, or a part of a search (see Run.Judges). Lists of runs do
	// not show it, and it is deleted with its subject.
	Judges string
	// ID is the id of the run; "": a new one. Only a part of a search has one of its own.
	ID string
}

// CreateRun stores the suite and a run of it in state "running". The error is
// ErrInvalid for a name that cannot be used and ErrConflict for a name or an id that a run has.
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
	id, err := n.ID, error(nil)
	if id == "" {
		id, err = newID(db.opts.Rand)
	}
	if err != nil {
		return Run{}, fmt.Errorf("create run: %w", err)
	}
	tags, err := json.Marshal(append([]string{}, n.Tags...))
	if err != nil {
		return Run{}, fmt.Errorf("create run: %w", err)
	}
	err = db.tx(ctx, "create run", func(tx *sql.Tx) error {
		if !n.Owned {
			if err := findable(tx, n.Name, id); err != nil {
				return err
			}
		}
		var taken bool
		if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM runs WHERE id=?)", id).Scan(&taken); err != nil {
			return err
		}
		if taken {
			return &TakenError{Name: id, Run: id}
		}
		res, err := tx.Exec(`INSERT INTO runs(id,name,notes,tags,created,status,suite_hash,suite_name,manifest,judges)
			SELECT ?,?,?,?,?,?,hash,name,?,nullif(?,'') FROM suites WHERE hash=?`,
			id, n.Name, n.Notes, string(tags), db.opts.Now().UnixMilli(), StatusRunning, sealed(n.Manifest), n.Judges,
			n.SuiteHash)
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

// ownedRun tests whether a run belongs to a user of a server.
const ownedRun = "EXISTS (SELECT 1 FROM run_entries e WHERE e.run_id=runs.id AND e.user_id<>'')"

// findable returns an error for a name that would not find the run with that id, or would find
// another one.
func findable(tx *sql.Tx, name, id string) error {
	if name == "" {
		return nil
	}
	if err := validName(name); err != nil {
		return err
	}
	var taken string
	err := tx.QueryRow("SELECT id FROM runs WHERE id<>? AND (id=? OR name=? AND NOT "+ownedRun+")", id, name,
		name).Scan(&taken)
	switch {
	case err == nil:
		return &TakenError{Name: name, Run: taken}
	case errors.Is(err, sql.ErrNoRows):
		return nil
	}
	return err
}

// Describe changes the texts of people about a run.
func (db *DB) Describe(ctx context.Context, id string, change func(*Words) error) error {
	return db.tx(ctx, "describe run", func(tx *sql.Tx) error {
		var w Words
		var tags string
		var owned bool
		err := tx.QueryRow("SELECT name,notes,tags,"+ownedRun+" FROM runs WHERE id=?", id).Scan(&w.Name, &w.Notes,
			&tags, &owned)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("run %s: %w", id, callvet.ErrNotFound)
		}
		if err = errors.Join(err, json.Unmarshal([]byte(tags), &w.Tags)); err != nil {
			return err
		}
		if err := change(&w); err != nil {
			return err
		}
		if !owned {
			if err := findable(tx, w.Name, id); err != nil {
				return err
			}
		}
		b, err := json.Marshal(append([]string{}, w.Tags...))
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE runs SET name=?,notes=?,tags=? WHERE id=?", w.Name, w.Notes, string(b), id)
		return err
	})
}

// TakenError reports that another run has the name. It wraps ErrConflict.
type TakenError struct{ Name, Run string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("name %q: %v: run %s has it", e.Name, callvet.ErrConflict, e.Run)
}

// Unwrap gives ErrConflict.
func (e *TakenError) Unwrap() error { return callvet.ErrConflict }

var back = regexp.MustCompile(`~[0-9]+$`)

// validName returns an error for names that select runs by their position in the list.
func validName(name string) error {
	if name == "latest" || name == "last" || back.MatchString(name) {
		return &callvet.Hinted{Err: fmt.Errorf("name %q: %w: it finds runs by when they were made", name,
			callvet.ErrInvalid), Hint: "another name, such as " +
			strings.Trim(back.ReplaceAllString(name, ""), "~") + "-run"}
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

const runColumns = "SELECT id,name,notes,tags,created,finished,status,suite_hash,suite_name,manifest,totals," +
	"requests,usd,assumed_usd,assumed,coalesce(judges,'')," +
	"coalesce((SELECT s.cases FROM suites s WHERE s.hash=suite_hash),0)," +
	"whole AND coalesce((SELECT s.whole FROM checked_suites s WHERE s.hash=suite_hash),0)," +
	"coalesce((SELECT j.state FROM run_entries e JOIN jobs j ON j.id=e.job_id WHERE e.run_id=runs.id),'')," +
	ownerColumns + " FROM checked_runs runs "

// Runs lists the newest runs first; limit 0 means all.
func (db *DB) Runs(ctx context.Context, limit int) ([]Run, error) {
	if limit <= 0 {
		limit = -1
	}
	return db.runs(ctx, runColumns+"WHERE judges IS NULL ORDER BY num DESC LIMIT ?", limit)
}

// TunePrefix is the beginning of the ids of searches for parameters and prompts.
const TunePrefix = "tune-"

// NewTune makes the id of a search.
func (db *DB) NewTune() (string, error) {
	id, err := newID(db.opts.Rand)
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return TunePrefix + id, nil
}

// Judgings lists the runs of judges about a run or a trace file (as Run.Judges), the oldest
// first; "" means all.
func (db *DB) Judgings(ctx context.Context, about string) ([]Run, error) {
	return db.runs(ctx, runColumns+"WHERE judges IS NOT NULL AND (judges=? OR ?='' AND judges NOT LIKE ?) ORDER BY num",
		about, about, TunePrefix+"%")
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
		var tags string
		var whole bool
		if r.Owner, err = scanOwner(rows, &r.ID, &r.Name, &r.Notes, &tags, &created, &finished,
			&r.Status, &r.SuiteHash, &r.SuiteName, &manifest, &totals,
			&r.Spent.Requests, &r.Spent.USD, &r.Spent.AssumedUSD, &r.Spent.Assumed, &r.Judges, &r.Cases, &whole,
			&r.Job); err != nil {
			return nil, db.explain("read runs", err)
		}
		r.Created = time.UnixMilli(created)
		r.Manifest, r.Damage = unseal(manifest)
		if t, err := unseal(totals); err == nil { // others are counted again
			r.Totals = t
		}
		if !whole {
			r.Manifest, r.Damage = nil, ErrDamaged
		}
		if json.Unmarshal([]byte(tags), &r.Tags) != nil { // a run that is damaged in one place is listed
			r.Tags = nil
		}
		if finished.Valid {
			r.Finished = time.UnixMilli(finished.Int64)
		}
		out = append(out, r)
	}
	return out, db.explain("read runs", rows.Err())
}

// Run finds a run by its id, by a unique beginning of an id, by its name, or as "latest" or "last".
// If several runs have the name, it returns that of the command line, or else the newest.
// "latest~1" is the one before.
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
	if found, err = db.runs(ctx, runColumns+"WHERE name=? ORDER BY "+ownedRun+", num DESC LIMIT 1", ref); err != nil ||
		len(found) == 1 {
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
		return Run{}, &callvet.Hinted{
			Err:  fmt.Errorf("run %q: several ids begin so: %w", ref, callvet.ErrConflict),
			Hint: "write more of the id, for example " + found[0].ID,
		}
	}
	return found[0], nil
}

// DeleteRun removes a run with its cells, verdicts, labels and the server's data about it. It
// removes the suite too, if no other run has it. also is called in the same transaction. A run with
// an owner is refused with a *HeldError; gone is Claim.Gone.
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
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE run=? OR run IN (SELECT num FROM runs WHERE judges=?)",
				num, id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM runs WHERE num=? OR judges=?", num, id); err != nil {
			return err
		}
		if _, err := tx.Exec(
			"DELETE FROM suite_chunks WHERE suite IN (SELECT num FROM suites WHERE hash NOT IN (SELECT suite_hash FROM runs))"); err != nil {
			return err
		}
		_, err = tx.Exec("DELETE FROM suites WHERE hash NOT IN (SELECT suite_hash FROM runs)")
		return errors.Join(err, q.DropRunDocuments(ctx, id), q.DropSelectRun(ctx, id), q.DropVerdictsOfRun(ctx, id),
			q.DropLabelLines(ctx, RunLabels(id)), q.DropRunEntry(ctx, id), also.Do(q))
	})
}

// RunLabels returns the key of people's labels about a run.
func RunLabels(run string) string { return "run:" + run }

// Vacuum returns the space of deleted runs to the disk.
func (db *DB) Vacuum(ctx context.Context) error {
	_, err := db.write.ExecContext(ctx, "VACUUM")
	return db.explain("vacuum", err)
}
