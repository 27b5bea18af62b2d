// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
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
		if _, err := Open(t.Context(), newer, Options{ReadOnly: readOnly}); !errors.Is(err, callvet.ErrInvalid) ||
			!strings.Contains(err.Error(), "version -3, which no callvet writes") {
			t.Errorf("damaged file: %v", err)
		}
	}
	execOn(t, newer, "PRAGMA user_version=99")
	if _, err := Open(t.Context(), newer, Options{}); !errors.Is(err, callvet.ErrConflict) ||
		!strings.Contains(err.Error(), "version 99") {
		t.Errorf("newer file: %v", err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	execOn(t, foreign, "CREATE TABLE bookmarks(x)")
	if _, err := Open(t.Context(), foreign, Options{}); !errors.Is(err, callvet.ErrInvalid) ||
		!strings.Contains(err.Error(), "another program") {
		t.Errorf("foreign file: %v", err)
	}
}

// Two handles replace two processes: locks are between connections.
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
			r, err := db.CreateRun(t.Context(),
				NewRun{Suite: &callvet.Suite{Name: "s"}, Manifest: json.RawMessage("{}")})
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

// TestEarlierVersions: a file of each earlier version is brought up to date, with its data. A
// process that may only read it gets a hint.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	for v := 1; v < len(migrations()); v++ {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("version-%d.db", v))
		execOn(t, path, strings.Join(migrations()[:v], "")+fmt.Sprintf(`
INSERT INTO suites(hash,name,version,cases,created,head) VALUES('h','s','',1,0,'{"name":"s"}');
INSERT INTO suite_chunks(suite,ix,cases) VALUES(1,0,'[{"id":"a"}]');
INSERT INTO runs(id,name,created,status,suite_hash,suite_name,manifest) VALUES('one','kept',0,'done','h','s','{}');
INSERT INTO cells(run,case_ix,target_ix,repeat,outcome,verdict,class,case_id,requests,flags,result,trace) VALUES
	(1,0,0,0,'called','pass','','a',2,0,'{"verdict":"pass"}','{"outcome":"called","format":"PASS"}');
PRAGMA user_version=%d; PRAGMA application_id=%d;`, v, applicationID))
		var h *callvet.Hinted
		if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.Is(err, callvet.ErrConflict) ||
			!errors.As(err, &h) ||
			!strings.Contains(err.Error(), fmt.Sprintf("older format version %d", v)) ||
			!strings.Contains(h.Hint, "a command that may write to it (such as callvet run) brings it up to date") {
			t.Errorf("version %d, read only: %v", v, err)
		}
		db, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Errorf("version %d: %v", v, err)
			continue
		}
		if r, err := db.Run(t.Context(), "kept"); err != nil || r.ID != "one" || r.Status != "done" ||
			r.SuiteHash != "h" {
			t.Errorf("version %d: run %+v, %v", v, r, err)
		}
		cells := 0
		for c, err := range db.Cells(t.Context(), "one", Filter{}) {
			if cells++; err != nil || c.Result.Verdict != callvet.VerdictPass {
				t.Errorf("version %d: cell %+v, %v", v, c.Result, err)
			}
		}
		if cells != 1 {
			t.Errorf("version %d: %d cells", v, cells)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if db, err = Open(t.Context(), path, Options{ReadOnly: true}); err != nil {
			t.Errorf("version %d, once it is up to date: %v", v, err)
			continue
		}
		_ = db.Close()
	}
}
