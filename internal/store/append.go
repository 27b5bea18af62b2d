// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
)

// rowsPerStatement is how many cells one INSERT has: a statement has a fixed cost, and more than
// sixteen rows are not faster (measured).
const rowsPerStatement = 16

// insertCells is idempotent per cell. A cell with a verdict stays unchanged; one that ended in an
// error or did not run is replaced.
func insertCells(rows int) string {
	const row = ",(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
	return "INSERT INTO cells(run,case_ix,target_ix,repeat,outcome,verdict,class,case_id,overall,cost,requests,flags,result,trace,exchanges) VALUES" +
		strings.Repeat(row, rows)[1:] + `
ON CONFLICT(run,case_ix,target_ix,repeat) DO UPDATE SET outcome=excluded.outcome, verdict=excluded.verdict,
	class=excluded.class, case_id=excluded.case_id, overall=excluded.overall, cost=excluded.cost, requests=excluded.requests,
	flags=excluded.flags, result=excluded.result, trace=excluded.trace, exchanges=excluded.exchanges
WHERE verdict IN ('error','not_run')`
}

// Append makes encoded cells durable, with the spending since the last Append: everything is on
// disk if it returns nil, and nothing if it returns an error. The same cell may be appended again.
// It does not check the owner of the run: see Lease.
func (db *DB) Append(ctx context.Context, runID string, encoded [][]byte, spent callvet.Spent) error {
	return db.append(ctx, runID, encoded, spent, func(*sql.Tx) error { return nil })
}

func (db *DB) append(ctx context.Context, runID string, encoded [][]byte, spent callvet.Spent,
	may func(*sql.Tx) error,
) error {
	if len(encoded) == 0 && spent == (callvet.Spent{}) {
		return nil
	}
	records := make([]record, len(encoded))
	for i, b := range encoded {
		var err error
		if records[i], err = split(b); err != nil {
			return err
		}
	}
	return db.tx(ctx, "store attempts", func(tx *sql.Tx) error {
		if err := may(tx); err != nil {
			return err
		}
		num, err := runNumber(tx, runID)
		if err != nil {
			return err
		}
		if spent != (callvet.Spent{}) {
			if _, err := tx.Exec(
				"UPDATE runs SET requests=requests+?, usd=usd+?, assumed_usd=assumed_usd+?, assumed=assumed+? WHERE num=?",
				spent.Requests, spent.USD, spent.AssumedUSD, spent.Assumed, num); err != nil {
				return err
			}
		}
		if err := db.insert(tx, num, records); err != nil {
			return err
		}
		written := 0
		for i := range records {
			written += len(records[i].result) + len(records[i].trace) + len(records[i].exchanges)
		}
		if _, err := tx.Exec("UPDATE runs SET bytes=bytes+? WHERE num=?", written, num); err != nil {
			return err
		}
		return insertKeys(tx, num, records)
	})
}

// AppendCells encodes and appends; keys may be nil, or has one cache key (or nil)
// per cell.
func (db *DB) AppendCells(ctx context.Context, runID string, cells []callvet.Cell, keys [][]byte) error {
	encoded := make([][]byte, len(cells))
	for i := range cells {
		var key []byte
		if keys != nil {
			key = keys[i]
		}
		var err error
		if encoded[i], err = db.Encode(nil, &cells[i], key); err != nil {
			return err
		}
	}
	return db.Append(ctx, runID, encoded, callvet.Spent{})
}

func (db *DB) insert(tx *sql.Tx, run int64, records []record) error {
	rest := len(records) % rowsPerStatement
	whole := records[:len(records)-rest]
	if err := insertBy(tx, db.many, rowsPerStatement, run, whole); err != nil {
		return err
	}
	return insertBy(tx, db.one, 1, run, records[len(whole):])
}

// insertBy writes records by a statement that takes rows of them at a time.
func insertBy(tx *sql.Tx, prepared *sql.Stmt, rows int, run int64, records []record) error {
	if len(records) == 0 {
		return nil
	}
	stmt := tx.Stmt(prepared)
	defer stmt.Close()
	args := make([]any, 0, rows*15)
	for ; len(records) > 0; records = records[rows:] {
		args = args[:0]
		for i := range records[:rows] {
			args = records[i].appendArgs(args, run)
		}
		if _, err := stmt.Exec(args...); err != nil {
			return err
		}
	}
	return nil
}

func runNumber(tx *sql.Tx, id string) (num int64, err error) {
	err = tx.QueryRow("SELECT num FROM runs WHERE id=?", id).Scan(&num)
	if err == sql.ErrNoRows {
		return 0, fmt.Errorf("run %s: %w", id, callvet.ErrNotFound)
	}
	return num, err
}

// insertKeys writes one row per scope for the whole batch.
func insertKeys(tx *sql.Tx, run int64, records []record) error {
	scopes := map[[scopeBytes]byte][]byte{}
	for i := range records {
		r := &records[i]
		if len(r.key) == 0 {
			continue
		}
		scope := [scopeBytes]byte(r.key)
		b := append(scopes[scope], r.key[scopeBytes:]...)
		for _, n := range []int{r.caseIx, r.target, r.repeat} {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		scopes[scope] = b
	}
	for scope, keys := range scopes {
		if _, err := tx.Exec("INSERT INTO cache_keys(scope,run,keys) VALUES(?,?,?)", scope[:], run,
			sealed(keys)); err != nil {
			return err
		}
	}
	return nil
}

// moveKeys updates the cache keys of a run after Lease.Rearrange moved its cells.
func moveKeys(tx *sql.Tx, run int64, at map[int]int) error {
	rows, err := tx.Query("SELECT id, keys FROM cache_keys WHERE run=?", run)
	if err != nil {
		return err
	}
	defer rows.Close()
	moved := map[int64][]byte{}
	for rows.Next() {
		var id int64
		var keys []byte
		if err := rows.Scan(&id, &keys); err != nil {
			return err
		}
		if keys, err = unsealKeys(keys); err != nil {
			continue // they refer to no cell
		}
		kept := keys[:0]
		for ; len(keys) >= entryBytes; keys = keys[entryBytes:] {
			to, ok := at[int(binary.LittleEndian.Uint32(keys[askBytes:]))]
			if !ok {
				continue
			}
			binary.LittleEndian.PutUint32(keys[askBytes:], uint32(to))
			kept = append(kept, keys[:entryBytes]...)
		}
		moved[id] = kept
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for id, keys := range moved {
		if _, err := tx.Exec("UPDATE cache_keys SET keys=? WHERE id=?", sealed(keys), id); err != nil {
			return err
		}
	}
	return nil
}
