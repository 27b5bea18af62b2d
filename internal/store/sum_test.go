// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store_test

import (
	"database/sql"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

// keptRun is the path of a store with a run of a few cells, closed.
func keptRun(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, db, suite(4), "kept")
	cells := []callvet.Cell{full(0, 0, 0), full(1, 0, 0), full(2, 0, 0), full(3, 0, 0)}
	cells[1].Result.Verdict, cells[1].Result.Class, cells[1].Trace.Outcome = callvet.VerdictPass, "",
		callvet.OutcomeAbstained
	keys := make([][]byte, len(cells))
	for i := range keys {
		keys[i] = keyOf(i)
	}
	if err := db.AppendCells(t.Context(), r.ID, cells, keys); err != nil {
		t.Fatal(err)
	}
	l, err := db.Acquire(t.Context(), r.ID, store.Claim{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finish(t.Context(), store.StatusDone, json.RawMessage(`{"done":4,"pass":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDamagedBit flips bits of the file of a store, one at a time. A read then returns the written
// data, an error, or a lost or missing attempt: never different data.
func TestDamagedBit(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(keptRun(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.db")
	read := func(b []byte) map[string][]string {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return readAll(t, path)
	}
	want := read(whole)
	var used []int // bytes that hold something: most of the file is empty
	for i, b := range whole {
		if b != 0 {
			used = append(used, i)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same bits each time
	found := map[string]int{}
	for range damagedBits {
		at, bit := used[rnd.IntN(len(used))], byte(1)<<rnd.IntN(8)
		whole[at] ^= bit
		got := read(whole)
		whole[at] ^= bit
		for name := range want {
			what := damage(want[name], got[name])
			found[what]++
			if what == silent {
				t.Errorf("bit %d of byte %d is damaged, and %s are other ones:\n%.2000s\nwant\n%.2000s", bit, at, name,
					got[name], want[name])
			}
		}
	}
	t.Log(found)
	if found[lost] == 0 || found[broken] == 0 || found[same] == 0 {
		t.Errorf("the damage is not of every kind: %v", found)
	}
}

// TestCheckFindsDamage: what SQLite reads without a complaint is found by its checksum.
func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT 1": "",
		"UPDATE cells SET cost=cost+1 WHERE case_ix=2":              "1 attempts cannot be read",
		"UPDATE cells SET exchanges=replace(exchanges, 'ms', 'mt')": "4 attempts cannot be read",
		"UPDATE runs SET manifest=replace(manifest, '1', '2')":      "its checksum is another",
		"UPDATE runs SET sum=sum+1":                                 "its checksum is another",
		"UPDATE suite_chunks SET sum=sum+1":                         "suite_chunks: 1 rows",
	} {
		path := keptRun(t)
		raw, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := open(t, path, store.Options{}).Check(t.Context())
		if err != nil || (want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, "; "), want) {
			t.Errorf("%s: %q, %v", query, got, err)
		}
	}
}

// damagedBits is how many bits TestDamagedBit flips.
const damagedBits = 600

// The effects of damage.
const (
	same   = "same"
	lost   = "lost"
	broken = "broken"
	silent = "silent"
)

// damage returns the effect of damage: got was read, and want was written.
func damage(want, got []string) string {
	if slices.Equal(want, got) {
		return same
	}
	if slices.Contains(got, broken) {
		return broken
	}
	for _, g := range got {
		if g != lost && !slices.Contains(want, g) {
			return silent
		}
	}
	return lost
}

// readAll reads the contents of a store in every possible way.
func readAll(t *testing.T, path string) map[string][]string {
	t.Helper()
	out := map[string][]string{
		"runs": nil, "manifests": nil, "cells": nil, "columns": nil, "new cells": nil,
		"suites": nil, "answers": nil,
	}
	put := func(name string, v any, err error) {
		b, jerr := json.Marshal(v)
		if err != nil || jerr != nil {
			b = []byte(broken)
		}
		out[name] = append(out[name], string(b))
	}
	db, err := store.Open(t.Context(), path, store.Options{ReadOnly: true})
	if err != nil {
		for name := range out {
			put(name, nil, err)
		}
		return out
	}
	defer db.Close()
	cell := func(name string, c *callvet.Cell, err error) {
		if err == nil && c.Trace.Fault != nil && c.Trace.Fault.Kind == callvet.FaultLost {
			out[name] = append(out[name], lost)
			return
		}
		put(name, c, err)
	}
	runs, err := db.Runs(t.Context(), 0)
	put("runs", len(runs), err)
	for i := range runs {
		id := runs[i].ID
		if runs[i].Damage != nil || runs[i].Totals == nil {
			out["manifests"] = append(out["manifests"], lost)
		} else {
			r := runs[i]
			r.Words = store.Words{} // no result depends on them
			put("manifests", r, nil)
		}
		for c, err := range db.Cells(t.Context(), id, store.Filter{Exchanges: true}) {
			cell("cells", c, err)
		}
		for c, err := range db.DoneCells(t.Context(), id) {
			cell("columns", c, err)
		}
		after, _, err := db.CellsAfter(t.Context(), id, 0, 100)
		for _, c := range after {
			cell("new cells", c, nil)
		}
		if err != nil {
			put("new cells", nil, err)
		}
		s, err := db.Suite(t.Context(), runs[i].SuiteHash)
		put("suites", s, err)
	}
	for i := range 4 {
		answer, _, err := db.CachedTrace(t.Context(), keyOf(i))
		if answer == nil && err == nil {
			out["answers"] = append(out["answers"], lost)
			continue
		}
		put("answers", []any{i, answer}, err)
	}
	return out
}

// keyOf is a cache key.
func keyOf(i int) []byte {
	k := make([]byte, store.KeyBytes)
	k[store.KeyBytes-1] = byte(i)
	return k
}
