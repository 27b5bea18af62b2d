// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

// claim is that of process pid on a machine of its own. Without a TTL the lease has
// run out when it is given.
func claim(pid int, ttl time.Duration) store.Claim {
	return store.Claim{Host: "host", PID: pid, Scope: "boot", TTL: ttl}
}

func take(t *testing.T, db *store.DB, id string, c store.Claim) *store.Lease {
	t.Helper()
	l, err := db.Acquire(t.Context(), id, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func encoded(t *testing.T, db *store.DB, ix int) [][]byte {
	t.Helper()
	c := full(ix, 0, 0)
	b, err := db.Encode(nil, &c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{b}
}

func TestARunHasOneOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, other := open(t, path, store.Options{}), open(t, path, store.Options{})
	r := newRun(t, db, suite(3), "")
	if r.Owner != nil || r.State() != store.StatusInterrupted {
		t.Errorf("a run that nobody carries out: %+v", r)
	}
	first := take(t, db, r.ID, claim(1, time.Hour))
	for _, gone := range []func(store.Owner) bool{nil, func(store.Owner) bool { return false }} {
		c := claim(2, time.Hour)
		c.Gone = gone
		_, err := other.Acquire(t.Context(), r.ID, c)
		var held *store.HeldError
		if !errors.As(err, &held) || !errors.Is(err, callvet.ErrConflict) || held.Run != r.ID || held.Owner.PID != 1 ||
			held.Owner.Scope != "boot" {
			t.Fatalf("a second owner: %v", err)
		}
		if want := "process 1 on host, since " + held.Owner.Since.Local().Format("2006"); !strings.Contains(err.Error(),
			want) || time.Since(held.Owner.Since).Abs() > time.Hour {
			t.Errorf("%v lacks %q", err, want)
		}
		if err := other.DeleteRun(t.Context(), r.ID, gone, nil); !errors.As(err, &held) {
			t.Errorf("a run that is being carried out was deleted: %v", err)
		}
	}
	if err := first.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{Requests: 3, USD: 0.5}); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Run(t.Context(), r.ID); err != nil || got.Owner == nil || got.Owner.PID != 1 ||
		got.State() != store.StatusRunning || got.Spent != (callvet.Spent{Requests: 3, USD: 0.5}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := first.Finish(t.Context(), store.StatusBudget, json.RawMessage(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	got, err := db.Run(t.Context(), r.ID)
	if err != nil || got.Owner != nil || got.Status != store.StatusBudget || string(got.Totals) != `{"n":1}` ||
		got.Finished.IsZero() {
		t.Errorf("an ended run: %+v, %v", got, err)
	}
	second := take(t, other, r.ID, claim(2, time.Hour))
	if got, err := db.Run(t.Context(), r.ID); err != nil || got.Status != store.StatusRunning ||
		!got.Finished.IsZero() {
		t.Errorf("a run that was taken up: %+v, %v", got, err)
	}
	if err := second.Finish(t.Context(), store.StatusDone, nil); err != nil {
		t.Error(err)
	}
	if err := db.DeleteRun(t.Context(), r.ID, nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := db.Acquire(t.Context(), r.ID, claim(1, time.Hour)); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("a deleted run was taken: %v", err)
	}
}

// A process that lost the run writes no cell and does not end it, but its spending is booked.
func TestALostLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]store.Claim{
		"run out": claim(1, -time.Second),
		"gone":    claim(1, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			db, other := open(t, path, store.Options{}), open(t, path, store.Options{})
			r := newRun(t, db, suite(3), "")
			old := take(t, db, r.ID, c)
			by := claim(2, time.Hour)
			by.Gone = func(o store.Owner) bool { return name == "gone" && o.PID == 1 && o.Scope == "boot" }
			taken := take(t, other, r.ID, by)
			var held *store.HeldError
			for what, err := range map[string]error{
				"append":  old.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{Requests: 1}),
				"renew":   old.Renew(t.Context()),
				"finish":  old.Finish(t.Context(), store.StatusDone, nil),
				"rewrite": old.Rewrite(t.Context(), json.RawMessage(`{"x":1}`)),
			} {
				if !errors.As(err, &held) || held.Owner.PID != 2 {
					t.Errorf("%s by the old owner: %v", what, err)
				}
			}
			if err := old.Book(t.Context(), callvet.Spent{Requests: 2, USD: 0.25}); err != nil {
				t.Error(err)
			}
			for c, err := range db.DoneCells(t.Context(), r.ID) {
				t.Errorf("cell %+v, %v", c, err)
			}
			got, err := db.Run(t.Context(), r.ID)
			if err != nil || got.Status != store.StatusRunning ||
				got.Spent != (callvet.Spent{Requests: 2, USD: 0.25}) || string(got.Manifest) != `{"seed":1}` {
				t.Errorf("%+v, %v", got, err)
			}
			if err := taken.Rewrite(t.Context(), json.RawMessage(`{"seed":2}`)); err != nil {
				t.Error(err)
			}
			if err := taken.Finish(t.Context(), store.StatusDone, nil); err != nil {
				t.Error(err)
			}
			if err := old.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{}); !errors.Is(err,
				callvet.ErrConflict) || errors.As(err, new(*store.HeldError)) {
				t.Errorf("append to an ended run: %v", err)
			}
		})
	}
}

// A lease that expired without another owner is valid again once it is renewed. A run gets another
// suite. Cells move to their places with all they have, also if places are swapped, and their
// answers are found again. A cell without a place is removed.
func TestRearrange(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r, other := newRun(t, db, suite(3), ""), newRun(t, db, suite(4), "")
	key := func(n int) []byte {
		return append([]byte("scopeisxasked---of-----"), byte('0'+n))
	}
	cells := []callvet.Cell{full(0, 0, 0), full(1, 0, 0), full(2, 0, 0), full(3, 0, 0)}
	for _, id := range []string{r.ID, other.ID} { // another run stays as it is
		if err := db.AppendCells(t.Context(), id, cells, [][]byte{key(0), key(1), key(2), nil}); err != nil {
			t.Fatal(err)
		}
	}
	untouched := collect(t, db, other.ID, store.Filter{Exchanges: true})
	to := suite(7)
	hash, err := db.PutSuite(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	l := take(t, db, r.ID, claim(1, time.Hour))
	if err := l.Rearrange(t.Context(), hash, json.RawMessage(`{"n":2}`), map[int]int{0: 6, 1: 0, 3: 1}); err != nil {
		t.Fatal(err)
	}
	want := []callvet.Cell{full(1, 0, 0), full(3, 0, 0), full(0, 0, 0)}
	for i, at := range []int{0, 1, 6} {
		want[i].Case = at
	}
	if d := cmp.Diff(want, collect(t, db, r.ID, store.Filter{Exchanges: true})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(untouched, collect(t, db, other.ID, store.Filter{Exchanges: true})); d != "" {
		t.Errorf("another run: %s", d)
	}
	got, err := db.Run(t.Context(), r.ID)
	if err != nil || got.SuiteHash != hash || got.SuiteName != to.Name || string(got.Manifest) != `{"n":2}` {
		t.Errorf("%+v, %v", got, err)
	}
	if err := db.DeleteRun(t.Context(), other.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	for n, found := range []bool{true, true, false} {
		trace, ok, err := db.CachedTrace(t.Context(), key(n))
		if err != nil || ok != found || ok && trace.CaseID != cells[n].Trace.CaseID {
			t.Errorf("answer %d: %v %v %+v", n, ok, err, trace)
		}
	}
	if err := l.Rearrange(t.Context(), "none", nil, nil); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("a suite that is not there: %v", err)
	}
	if n := len(collect(t, db, r.ID, store.Filter{})); n != 3 {
		t.Errorf("%d cells after what failed", n)
	}
}

func TestExpiredLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r := newRun(t, db, suite(3), "")
	l := take(t, db, r.ID, claim(1, -time.Second))
	if err := errors.Join(l.Renew(t.Context()),
		l.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{})); err != nil {
		t.Error(err)
	}
}

// TestJoin: a worker writes under the lease of the session that splits a run, only as long as the
// session has it.
func TestJoin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, other := open(t, path, store.Options{}), open(t, path, store.Options{})
	r := newRun(t, db, suite(3), "")
	if _, err := other.Join(t.Context(), r.ID, "none", claim(2, time.Hour)); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("joined a run that nobody has: %v", err)
	}
	first := take(t, db, r.ID, claim(1, time.Hour))
	worker, err := other.Join(t.Context(), r.ID, first.ID(), claim(2, time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{Requests: 1}),
		worker.Append(t.Context(), r.ID, encoded(t, other, 2), callvet.Spent{Requests: 2})); err != nil {
		t.Error(err)
	}
	var places []int
	for c, err := range db.DoneCellsIn(t.Context(), r.ID, 1, 3) {
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, c.Case)
	}
	if len(places) != 1 || places[0] != 2 {
		t.Errorf("done of the cases 1 and 2: %v", places)
	}
	alone := first.ID()
	if err := errors.Join(first.Alone(t.Context()),
		first.Append(t.Context(), r.ID, encoded(t, db, 1), callvet.Spent{})); err != nil || first.ID() == alone {
		t.Errorf("alone: %v", err)
	}
	if err := worker.Append(t.Context(), r.ID, encoded(t, other, 1), callvet.Spent{}); !errors.Is(err,
		callvet.ErrConflict) {
		t.Errorf("a worker wrote under a lease of another id: %v", err)
	}
	if worker, err = other.Join(t.Context(), r.ID, first.ID(), claim(2, time.Hour)); err != nil {
		t.Fatal(err)
	}
	by := claim(3, time.Hour)
	by.Gone = func(store.Owner) bool { return true }
	take(t, db, r.ID, by)
	var held *store.HeldError
	if err := worker.Append(t.Context(), r.ID, encoded(t, other, 1), callvet.Spent{}); !errors.As(err, &held) ||
		held.Owner.PID != 3 {
		t.Errorf("a worker wrote under a lease that was lost: %v", err)
	}
	if _, err := other.Join(t.Context(), r.ID, first.ID(), claim(2, time.Hour)); !errors.As(err, &held) {
		t.Errorf("joined under a lease that was lost: %v", err)
	}
	if got, err := db.Run(t.Context(), r.ID); err != nil || got.Spent.Requests != 3 {
		t.Errorf("%+v, %v", got.Spent, err)
	}
}

// Of many who ask at once, one gets the run.
func TestOneOfManyGetsTheRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	r := newRun(t, open(t, path, store.Options{}), suite(3), "")
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[bool]int{}
	for i := range 8 {
		db := open(t, path, store.Options{})
		wg.Go(func() {
			_, err := db.Acquire(t.Context(), r.ID, claim(i, time.Hour))
			var held *store.HeldError
			if err != nil && !errors.As(err, &held) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[err == nil]++
		})
	}
	wg.Wait()
	if d := cmp.Diff(map[bool]int{true: 1, false: 7}, got); d != "" {
		t.Error(d)
	}
}

func TestProgressCountsNewCells(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r, beside := newRun(t, db, suite(3), ""), newRun(t, db, suite(3), "")
	verdict := func(ix int, v callvet.Verdict) callvet.Cell {
		c := full(ix, 0, 0)
		c.Result.Verdict = v
		return c
	}
	last := int64(0)
	for _, step := range []struct {
		run   string
		cells []callvet.Cell
		want  store.Progress
	}{
		{r.ID, nil, store.Progress{}},
		{
			r.ID,
			[]callvet.Cell{verdict(0, callvet.VerdictPass), verdict(1, callvet.VerdictFail)},
			store.Progress{Done: 2, Fail: 1},
		},
		{beside.ID, []callvet.Cell{verdict(0, callvet.VerdictPass)}, store.Progress{}},
		{r.ID, []callvet.Cell{verdict(2, callvet.VerdictError)}, store.Progress{Done: 1, Error: 1}},
		{r.ID, []callvet.Cell{verdict(2, callvet.VerdictPass)}, store.Progress{}},
	} {
		if err := db.AppendCells(t.Context(), step.run, step.cells, nil); err != nil {
			t.Fatal(err)
		}
		p, err := db.Progress(t.Context(), r.ID, last)
		if err != nil {
			t.Fatal(err)
		}
		last, p.Last = p.Last, 0
		if p != step.want {
			t.Errorf("%+v, want %+v", p, step.want)
		}
	}
}

// Any process can cancel a run: its owner notices whenever it renews its lease, until the run ends.
// A run without an owner, or with an ended process, is not canceled.
func TestCancelNotifiesTheOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, other := open(t, path, store.Options{}), open(t, path, store.Options{})
	r := newRun(t, db, suite(3), "")
	if _, err := other.Cancel(t.Context(), r.ID, nil); !errors.Is(err, callvet.ErrConflict) {
		t.Errorf("nobody carries it out: %v", err)
	}
	if _, err := other.Cancel(t.Context(), "none", nil); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("no such run: %v", err)
	}
	told := 0
	c := claim(1, time.Hour)
	c.Canceled = func() { told++ }
	l := take(t, db, r.ID, c)
	if err := l.Renew(t.Context()); err != nil || told != 0 {
		t.Errorf("not canceled yet: told %d times, %v", told, err)
	}
	if _, err := other.Cancel(t.Context(), r.ID, func(store.Owner) bool { return true }); !errors.Is(err,
		callvet.ErrConflict) {
		t.Errorf("its process is gone: %v", err)
	}
	if by, err := other.Cancel(t.Context(), r.ID, nil); err != nil || by.PID != 1 {
		t.Errorf("canceled: %+v, %v", by, err)
	}
	if err := l.Append(t.Context(), r.ID, encoded(t, db, 0), callvet.Spent{}); err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
	if err := l.Finish(t.Context(), store.StatusInterrupted, nil); err != nil {
		t.Fatal(err)
	}
	told = 0
	if l = take(t, db, r.ID, c); l.Renew(t.Context()) != nil || told != 0 {
		t.Errorf("who goes on with it was told %d times that it is canceled", told)
	}
}
