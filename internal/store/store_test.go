// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store"
)

func open(t testing.TB, path string, o store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func suite(n int) *callvet.Suite {
	s := &callvet.Suite{Name: "weather", Tools: []callvet.Tool{
		{Name: "a", Parameters: json.RawMessage("{ \"type\": \"object\", \"d\": \"<b> & \\u00e9\" }")},
		{Name: "b", Parameters: json.RawMessage(`{"type":"object","z":1,"a":2}`)},
	}, Cases: []callvet.Case{}}
	for i := range n {
		s.Cases = append(s.Cases, callvet.Case{
			ID: fmt.Sprintf("c%d", i), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "hej <där> & så"}},
			ToolNames: []string{},
			Expect: callvet.Expect{Plans: []callvet.Plan{{Calls: []callvet.ExpectedCall{{
				Tools: []string{"a"},
				Args:  json.RawMessage(`{}`),
			}}}}},
		})
	}
	return s
}

func newRun(t testing.TB, db *store.DB, s *callvet.Suite, name string) store.Run {
	t.Helper()
	r, err := db.CreateRun(t.Context(),
		store.NewRun{Words: store.Words{Name: name}, Suite: s, Manifest: json.RawMessage(`{"seed":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// full has every field that a stored cell can have.
func full(caseIx, target, repeat int) callvet.Cell {
	cost, sim := 0.00125, 0.93
	return callvet.Cell{
		Case: caseIx, Target: target, Repeat: repeat,
		Trace: callvet.Trace{
			CaseID: fmt.Sprintf("c%d", caseIx), Target: "m \"x\"\\\t\n\r\x01", Repeat: repeat,
			Outcome: callvet.OutcomeCalled,
			Turns: []callvet.Turn{
				{Role: callvet.RoleAssistant, Content: "é 🙂 <&>\u2028", Reasoning: "hm", Calls: []callvet.Call{{
					ID: "1", Tool: "a", Version: "2", Args: json.RawMessage(`{"x":[1,2.50]}`), ArgsRaw: "'x'",
					Repairs: []string{"r"}, Status: callvet.StatusExecErr,
					Result: json.RawMessage(`null`), Error: "e", Note: "n", Env: "live http https://a.example",
					Guard:   []callvet.Ruling{{Rule: "r", Action: "deny", Detail: "é"}, {Rule: "s", Action: "flag"}},
					QueueMS: 0.5, ExecMS: 1e-7,
				}}, Raw: json.RawMessage(`{"role":"assistant"}`)},
				{Role: callvet.RoleTool, CallID: "1", Tool: "a", Content: "{}"},
			},
			Answer: "ok", Usage: callvet.Usage{
				InputTokens: 5, OutputTokens: 6, ReasoningTokens: 7, CachedTokens: 8,
				CostUSD: &cost, PriceDate: "2026-01-01", Known: true,
			},
			Model: "m-1", FinishReason: "stop", Format: callvet.FormatNormalized, Repairs: []string{"fenced", "x"},
			ToolChoice: "auto", End: callvet.EndReached,
			Fault:    &callvet.Fault{Kind: callvet.FaultServer, HTTP: 500, Message: "no", Param: "p", Retryable: true},
			Attempts: 3,
			Started:  time.Date(2026, 3, 1, 2, 3, 4, 5000, time.UTC), WallMS: 12.25, FirstTokenMS: 3, ToolMS: 4,
			Cached: true,
			Exchanges: []callvet.Exchange{{
				Request: json.RawMessage(`{"a":1}`), Response: "half {", HTTP: 500, MS: 3.5,
				Error: "bad",
			}, {}},
		},
		Result: callvet.Result{
			Verdict: callvet.VerdictFail, Class: callvet.ClassWrongArgs, Reason: "why", Plan: "p",
			Scores: []callvet.Score{
				{Name: "overall", Value: 0.6, Scored: true},
				{Name: "args", Reason: "not \"scored\""},
			},
			Calls: []callvet.CallMatch{{
				State: callvet.StatePartial, Expected: 0, Actual: -1,
				Want: []string{"a", "b"}, WantArgs: json.RawMessage(`{}`), Got: "a", GotArgs: json.RawMessage(`[]`),
				Note: "n",
				Args: []callvet.ArgDiff{{
					Path: "x", Expected: json.RawMessage(`1`), Actual: json.RawMessage(`"1"`),
					Rule: "exact", Similarity: &sim, Note: "n",
				}, {Path: "y", Matched: true, Rule: "r"}},
				Violations: []callvet.Violation{{
					Path: "/x", Keyword: "type", Expected: "a", Actual: "b",
					Message: "m",
				}},
			}},
			Assertions: []callvet.Assertion{{
				Name: "n", Layer: callvet.LayerBudget, State: callvet.AssertNotEvaluated,
				Reason: "s", Expected: "e", Actual: "a", Version: "v",
			}},
			NotEvaluated: 2,
		},
	}
}

func collect(t testing.TB, db *store.DB, run string, f store.Filter) []callvet.Cell {
	t.Helper()
	var out []callvet.Cell
	for c, err := range db.Cells(t.Context(), run, f) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, *c)
	}
	return out
}

func TestCellsComeBackWhole(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "new", "x #1?.db"), store.Options{})
	r := newRun(t, db, suite(3), "")
	want := []callvet.Cell{
		full(0, 0, 0),
		{
			Case: 1, Trace: callvet.Trace{CaseID: "c1", Outcome: callvet.OutcomeAbstained},
			Result: callvet.Result{Verdict: callvet.VerdictPass}, Redacted: 3,
		},
	}
	if err := db.AppendCells(t.Context(), r.ID, want, nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, collect(t, db, r.ID, store.Filter{Exchanges: true})); d != "" {
		t.Error(d)
	}
	if got := collect(t, db, r.ID, store.Filter{}); got[0].Trace.Exchanges != nil {
		t.Error("exchanges were loaded unasked")
	}
	info, err := os.Stat(db.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestStreamOrderAndFilter(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r := newRun(t, db, suite(40), "")
	var in []callvet.Cell
	for c := 39; c >= 0; c-- {
		for tg := range 3 {
			for rep := range 2 {
				v := callvet.VerdictPass
				if c%4 == 0 {
					v = callvet.VerdictFail
				}
				in = append(in,
					callvet.Cell{
						Case: c, Target: tg, Repeat: rep,
						Trace:  callvet.Trace{CaseID: fmt.Sprintf("c%d", c), Repeat: rep},
						Result: callvet.Result{Verdict: v},
					})
			}
		}
	}
	if err := db.AppendCells(t.Context(), r.ID, in, nil); err != nil {
		t.Fatal(err)
	}
	one := 1
	for _, tt := range []struct {
		name string
		f    store.Filter
		want int
		key  func(c callvet.Cell) int
	}{
		{"by target", store.Filter{}, 240, func(c callvet.Cell) int { return c.Target*1000 + c.Case*10 + c.Repeat }},
		{
			"by case",
			store.Filter{Order: store.ByCase},
			240,
			func(c callvet.Cell) int { return c.Case*100 + c.Target*10 + c.Repeat },
		},
		{"one target", store.Filter{Target: &one}, 80, func(c callvet.Cell) int { return c.Case*10 + c.Repeat }},
		{
			"failures",
			store.Filter{Verdicts: []callvet.Verdict{callvet.VerdictFail, callvet.VerdictError}},
			60,
			func(c callvet.Cell) int { return c.Target*1000 + c.Case*10 + c.Repeat },
		},
		{
			"some",
			store.Filter{At: []store.Place{
				{Case: 31, Target: 2},
				{Case: 2, Repeat: 1},
				{Case: 31, Target: 1},
				{Case: 77},
			}},
			3, func(c callvet.Cell) int { return c.Case*100 + c.Target*10 + c.Repeat },
		},
		{"none", store.Filter{At: []store.Place{}}, 0, nil},
		{
			"from a place",
			store.Filter{Order: store.ByCase, From: &store.Place{Case: 30, Target: 1, Repeat: 1}},
			57,
			func(c callvet.Cell) int { return c.Case*100 + c.Target*10 + c.Repeat },
		},
		{
			"one case",
			store.Filter{CaseID: "c7"},
			6,
			func(c callvet.Cell) int { return c.Target*1000 + c.Case*10 + c.Repeat },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := collect(t, db, r.ID, tt.f)
			if len(got) != tt.want {
				t.Fatalf("%d cells, want %d", len(got), tt.want)
			}
			for i := 1; i < len(got); i++ {
				if tt.key(got[i-1]) >= tt.key(got[i]) {
					t.Fatalf("cell %d out of order", i)
				}
			}
		})
	}
}

func TestAppendReplacesOnlyErrors(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r := newRun(t, db, suite(3), "")
	cell := func(i int, v callvet.Verdict, answer string) callvet.Cell {
		return callvet.Cell{
			Case: i, Trace: callvet.Trace{Answer: answer, Outcome: callvet.OutcomeAbstained},
			Result: callvet.Result{Verdict: v},
		}
	}
	for _, batch := range [][]callvet.Cell{
		{
			cell(0, callvet.VerdictPass, "first"), cell(1, callvet.VerdictError, "first"),
			cell(2, callvet.VerdictNotRun, "first"),
		},
		{
			cell(0, callvet.VerdictFail, "second"), cell(1, callvet.VerdictFail, "second"),
			cell(2, callvet.VerdictPass, "second"),
		},
	} {
		if err := db.AppendCells(t.Context(), r.ID, batch, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, c := range collect(t, db, r.ID, store.Filter{}) {
		got = append(got, string(c.Result.Verdict)+" "+c.Trace.Answer)
	}
	if d := cmp.Diff([]string{"pass first", "fail second", "pass second"}, got); d != "" {
		t.Error(d)
	}
}

func TestSuiteIsImmutableAndExact(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	s := suite(600)
	s.Cases[5].Tools = []callvet.Tool{{Name: "own", Parameters: json.RawMessage("{\n}")}}
	s.Cases[6].Position = callvet.Position{File: "f", Line: 3}
	r := newRun(t, db, s, "")
	want := *s
	want.Cases = append([]callvet.Case(nil), s.Cases...)
	want.Cases[6].Position = callvet.Position{} // the place of a file is not content
	got, err := db.Suite(t.Context(), r.SuiteHash)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&want, got); d != "" {
		t.Error(d)
	}
	came := func(yield func(*callvet.Case, error) bool) {
		for i := range got.Cases {
			if !yield(&got.Cases[i], nil) {
				return
			}
		}
	}
	if h, err := store.SuiteHashFrom(got, came); err != nil || h != r.SuiteHash {
		t.Errorf("hash of what came back: %s, %v; want %s", h, err, r.SuiteHash)
	}
	_, cases, err := db.OpenSuite(t.Context(), r.SuiteHash)
	if err != nil || cases.Len() != 600 {
		t.Fatal(cases, err)
	}
	for _, i := range []int{0, 599, 256, 255, 5} {
		if c, err := cases.Case(i); err != nil || cmp.Diff(&want.Cases[i], c) != "" {
			t.Errorf("case %d: %+v, %v", i, c, err)
		}
	}
	for i, want := range map[int]bool{5: true, 256: false, 599: false} {
		for range 2 {
			if may, err := cases.Equipped(i); may != want || err != nil {
				t.Errorf("case %d has tools: %v, %v", i, may, err)
			}
		}
	}
	if _, err := cases.Case(600); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("case 600 of 600: %v", err)
	}
	again := newRun(t, db, s, "")
	s.Cases[0].ID = "edited"
	if edited := newRun(t, db, s, ""); again.SuiteHash != r.SuiteHash || edited.SuiteHash == r.SuiteHash {
		t.Error("the hash does not follow the content")
	}
	if got, err := db.Suite(t.Context(), r.SuiteHash); err != nil || got.Cases[0].ID != "c0" {
		t.Errorf("the old suite changed: %v", err)
	}
}

func TestFindAndDeleteRuns(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"),
		store.Options{Rand: strings.NewReader("aaaaaaabbbbbbbaaabbbbccccccc")})
	a, b, c := newRun(t, db, suite(1), "weekly"), newRun(t, db, suite(2), "nightly"), newRun(t, db, suite(2), "")
	for _, tt := range []struct {
		ref, want string
		kind      error
	}{
		{a.ID, a.ID, nil},
		{"latest", c.ID, nil},
		{"last", c.ID, nil},
		{"latest~1", b.ID, nil},
		{"nightly", b.ID, nil},
		{b.ID[:3], b.ID, nil},
		{strings.ToUpper(b.ID[:4]), b.ID, nil},
		{a.ID[:3], "", callvet.ErrConflict},
		{"nope!", "", callvet.ErrNotFound},
		{"", "", callvet.ErrNotFound},
		{"latest~9", "", callvet.ErrNotFound},
	} {
		got, err := db.Run(t.Context(), tt.ref)
		if got.ID != tt.want || !errors.Is(err, tt.kind) {
			t.Errorf("Run(%q) = %q, %v; want %q, %v", tt.ref, got.ID, err, tt.want, tt.kind)
		}
	}
	if err := db.AppendCells(t.Context(), b.ID, []callvet.Cell{full(0, 0, 0)}, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.DeleteRun(t.Context(), b.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Suite(t.Context(), b.SuiteHash); err != nil {
		t.Errorf("a suite that another run has is gone: %v", err)
	}
	if err := db.DeleteRun(t.Context(), a.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Suite(t.Context(), a.SuiteHash); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("the suite of a deleted run: %v", err)
	}
	if err := take(t, db, c.ID, claim(1, time.Hour)).Finish(t.Context(), store.StatusDone,
		json.RawMessage(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if rs, err := db.Runs(t.Context(), 0); err != nil || len(rs) != 1 || rs[0].Status != store.StatusDone ||
		string(rs[0].Totals) != `{"n":1}` {
		t.Errorf("runs left: %+v, %v", rs, err)
	}
}

// TestNamesFindOneRun: a name that another run has, or that finds runs in another
// way, is refused before anything is stored.
func TestNamesFindOneRun(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r := newRun(t, db, suite(1), "nightly")
	for name, kind := range map[string]error{
		"nightly": callvet.ErrConflict, r.ID: callvet.ErrConflict, "last": callvet.ErrInvalid,
		"latest": callvet.ErrInvalid, "last~2": callvet.ErrInvalid, "nightly~1": callvet.ErrInvalid,
		"nightly~x": nil, "Nightly": nil, "lasting": nil,
	} {
		_, err := db.CreateRun(t.Context(),
			store.NewRun{Words: store.Words{Name: name}, Suite: suite(1), Manifest: json.RawMessage(`{}`)})
		if !errors.Is(err, kind) || kind == nil && err != nil {
			t.Errorf("name %q: %v, want %v", name, err, kind)
		}
	}
	if rs, err := db.Runs(t.Context(), 0); err != nil || len(rs) != 4 {
		t.Errorf("%d runs are stored, %v; want 4", len(rs), err)
	}
}

func TestCacheFindsTraces(t *testing.T) {
	t.Parallel()
	db := open(t, filepath.Join(t.TempDir(), "x.db"), store.Options{})
	r := newRun(t, db, suite(3), "")
	key := func(s string) []byte { return []byte((s + strings.Repeat(".", store.KeyBytes))[:store.KeyBytes]) }
	cells := []callvet.Cell{full(0, 0, 0), full(1, 0, 0), full(2, 0, 0)}
	cells[0].Trace.Answer = "zero"
	cells[1].Trace.Answer = "one"
	if err := db.AppendCells(t.Context(), r.ID, cells, [][]byte{key("scope-1-a"), key("scope-1-b"), nil}); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"scope-1-a": "zero", "scope-1-b": "one", "scope-1-c": "", "scope-2-a": ""} {
		tr, ok, err := db.CachedTrace(t.Context(), key(k))
		if err != nil || ok != (want != "") || (ok && (tr.Answer != want || tr.Exchanges != nil)) {
			t.Errorf("CachedTrace(%s) = %+v, %v, %v; want %q", k, tr, ok, err, want)
		}
	}
	find, err := db.Cached(t.Context(), key("scope-1-")[:8])
	if err != nil {
		t.Fatal(err)
	}
	if err := db.DeleteRun(t.Context(), r.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := find(t.Context(), key("scope-1-a")); ok || err != nil {
		t.Errorf("a deleted run still answers: %v, %v", ok, err)
	}
}

func TestFullDiskStoresNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path, store.Options{MaxPages: 130})
	r := newRun(t, db, suite(1), "")
	stored := 0
	for i := range 1000 {
		batch := []callvet.Cell{full(2*i, 0, 0), full(2*i+1, 0, 0)}
		if err := db.AppendCells(t.Context(), r.ID, batch, nil); err != nil {
			wantHint(t, err, callvet.ErrUnavailable, "disk is full")
			break
		}
		stored += 2
	}
	if n := len(collect(t, db, r.ID, store.Filter{})); n != stored || n == 2000 {
		t.Errorf("%d cells stored, %d confirmed", n, stored)
	}
}

func wantHint(t *testing.T, err, kind error, hint string) {
	t.Helper()
	var h *callvet.Hinted
	if !errors.Is(err, kind) || !errors.As(err, &h) || !strings.Contains(h.Hint, hint) {
		t.Errorf("error %v (%+v), want kind %v with a hint about %q", err, h, kind, hint)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), garbage, store.Options{})
	wantHint(t, err, callvet.ErrInvalid, "not a callvet store")
	if _, err := store.Open(t.Context(), filepath.Join(dir, "absent.db"),
		store.Options{ReadOnly: true}); !errors.Is(err, callvet.ErrNotFound) {
		t.Errorf("reading an absent store: %v", err)
	}
	if _, err := store.Open(t.Context(), filepath.Join(garbage, "x.db"), store.Options{}); err == nil {
		t.Error("a file as folder was accepted")
	}
	ok := filepath.Join(dir, "ok.db")
	r := newRun(t, open(t, ok, store.Options{}), suite(1), "")
	ro := open(t, ok, store.Options{ReadOnly: true})
	if got, err := ro.Run(t.Context(), r.ID); err != nil || got.ID != r.ID {
		t.Errorf("read-only: %+v, %v", got, err)
	}
	_, err = ro.Acquire(t.Context(), r.ID, claim(1, time.Hour))
	wantHint(t, err, callvet.ErrDenied, "writable")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(t, ok, store.Options{}).AppendCells(done, r.ID, []callvet.Cell{full(0, 0, 0)}, nil); !errors.Is(err,
		context.Canceled) {
		t.Errorf("append after cancel: %v", err)
	}
}

// TestOfAnotherUser: a store of another user is not opened, not even to be read.
func TestOfAnotherUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, -1); err != nil {
		t.Skip("SKIPPED: only root can give a file away: ", err)
	}
	for _, readOnly := range []bool{false, true} {
		db, err := store.Open(t.Context(), path, store.Options{ReadOnly: readOnly})
		if !errors.Is(err, callvet.ErrDenied) ||
			!strings.Contains(err.Error(), "another user of this machine (12345)") {
			t.Errorf("read only %t: %v", readOnly, err)
		}
		if db != nil {
			_ = db.Close()
		}
	}
}
