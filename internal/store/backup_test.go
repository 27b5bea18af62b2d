// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

// TestBackup: a restore returns the state at the time of the copy, whatever the store holds by
// then, also to processes that have it open.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, filepath.Join(dir, "x.db"), store.Options{})
	first := newRun(t, db, suite(1), "first")
	if err := db.AppendCells(t.Context(), first.ID, []callvet.Cell{full(0, 0, 0)}, nil); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "copy.db")
	if err := db.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the copy: %v, %v", info.Mode(), err)
	}
	wantHint(t, db.Backup(t.Context(), copied), callvet.ErrConflict, "another name")
	if err := db.DeleteRun(t.Context(), first.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	newRun(t, db, suite(2), "second")
	other := open(t, filepath.Join(dir, "x.db"), store.Options{})
	if err := db.Restore(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*store.DB{db, other} {
		list, err := reader.Runs(t.Context(), 0)
		if err != nil || len(list) != 1 || list[0].Name != "first" ||
			len(collect(t, reader, first.ID, store.Filter{})) != 1 {
			t.Errorf("after the restore: %+v, %v", list, err)
		}
	}
	if bad, err := db.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("check: %v, %v", bad, err)
	}
	c, err := db.Census(t.Context())
	if err != nil || c.Runs != 1 || c.Suites != 1 || c.Orphans != 0 || c.Bytes == 0 || len(c.Interrupted) != 1 {
		t.Errorf("census: %+v, %v", c, err)
	}

	// A damaged copy, another program's file, and a store at work are refused, and nothing changes.
	b, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(b); i += 5 {
		b[i] ^= 0x5a
	}
	damaged, foreign := filepath.Join(dir, "damaged.db"), filepath.Join(dir, "foreign.db")
	for name, text := range map[string][]byte{damaged: b, foreign: []byte("SQLite? no")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := db.Restore(t.Context(), name); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("restore of %s: %v", filepath.Base(name), err)
		}
	}
	if err := db.Restore(t.Context(), filepath.Join(dir, "none.db")); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("restore of nothing: %v", err)
	}
	if _, err := db.Acquire(t.Context(), first.ID, store.Claim{Host: "here", PID: 1, TTL: time.Minute}); err != nil {
		t.Fatal(err)
	}
	wantHint(t, db.Restore(t.Context(), copied), callvet.ErrConflict, "end it first")
	if list, err := db.Runs(t.Context(), 0); err != nil || len(list) != 1 || list[0].Name != "first" {
		t.Errorf("after refusals: %+v, %v", list, err)
	}
}
