// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callvet/callvet"
)

func execOn(t *testing.T, path, q string) {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(q); err != nil {
		t.Fatal(err)
	}
}

func TestNewerAndForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	newer := filepath.Join(t.TempDir(), "newer.db")
	db, err := Open(t.Context(), newer, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execOn(t, newer, "PRAGMA user_version=99")
	if _, err := Open(t.Context(), newer, Options{}); !errors.Is(err, callvet.ErrConflict) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("newer file: %v", err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	execOn(t, foreign, "CREATE TABLE bookmarks(x)")
	if _, err := Open(t.Context(), foreign, Options{}); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("foreign file: %v", err)
	}
}

// Two handles stand for two processes: locks are between connections.
func TestTwoWritersAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			r, err := db.CreateRun(t.Context(), NewRun{Suite: &callvet.Suite{Name: "s"}, Manifest: json.RawMessage("{}")})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				if err := db.AppendCells(t.Context(), r.ID, []callvet.Cell{{Case: i, Target: w}}, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestLockedFileHasAHint(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	a, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(t.Context(), path, Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tx, err := a.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	_, err = b.PutSuite(t.Context(), &callvet.Suite{Name: "s"})
	var h *callvet.Hinted
	if !errors.Is(err, callvet.ErrUnavailable) || !errors.As(err, &h) || !strings.Contains(h.Hint, "another process") {
		t.Errorf("locked: %v", err)
	}
}

func FuzzStringIsJSON(f *testing.F) {
	for _, s := range []string{"", "a\"\\\x00\x1f\x7f", "\xff\xfe", "é\u2028🙂\ufffd", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		if err := json.Unmarshal(appendString(nil, s), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(want, &b); err != nil || a != b {
			t.Fatalf("%q came back as %q, encoding/json gives %q (%v)", s, a, b, err)
		}
	})
}
