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
	execOn(t, newer, "PRAGMA user_version=-3")
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(t.Context(), newer, Options{ReadOnly: readOnly}); !errors.Is(err, callvet.ErrInvalid) || !strings.Contains(err.Error(), "version -3, which no callvet writes") {
			t.Errorf("damaged file: %v", err)
		}
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

// A file of the first version is brought up to date: its runs have no owner, and have
// spent what their cells have.
func TestFirstVersionIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "first.db")
	execOn(t, path, migrations()[0]+`
INSERT INTO suites(hash,name,version,cases,created,head) VALUES('h','s','',1,0,'{}');
INSERT INTO runs(id,name,created,status,suite_hash,suite_name,manifest) VALUES('one','',0,'running','h','s','{}'),('two','',0,'done','h','s','{}');
INSERT INTO cells(run,case_ix,target_ix,repeat,outcome,verdict,class,case_id,cost,requests,flags,result,trace) VALUES
	(1,0,0,0,'called','pass','','a',0.25,2,2,'{}','{}'), (1,0,0,1,'called','pass','','a',NULL,3,0,'{}','{}'), (1,0,0,2,'called','pass','','a',9,0,3,'{}','{}');
PRAGMA user_version=1; PRAGMA application_id=1668703604;`)
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for id, want := range map[string]callvet.Spent{"one": {Requests: 5, USD: 0.25}, "two": {}} {
		if r, err := db.Run(t.Context(), id); err != nil || r.Owner != nil || r.Spent != want {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	if _, err := db.Acquire(t.Context(), "one", Claim{TTL: time.Hour}); err != nil {
		t.Error(err)
	}
}
