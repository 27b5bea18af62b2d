// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
	"github.com/callvet/callvet/internal/store"
)

// modelFunc is a model that answers with what a test returns. The test may return the same answer each time.
// Each request gets a copy of it, because a response belongs to the attempt that sent the request.
type modelFunc func(ctx context.Context, req *callvet.Request) (*callvet.Response, error)

func (f modelFunc) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	resp, err := f(ctx, req)
	if resp == nil {
		return resp, err
	}
	own := *resp
	own.Turns = slices.Clone(resp.Turns)
	for i := range own.Turns {
		own.Turns[i].Calls = slices.Clone(own.Turns[i].Calls)
	}
	return &own, err
}

func answer(text string) *callvet.Response {
	return &callvet.Response{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: text}}}
}

func calls(tool, args string) *callvet.Response {
	return &callvet.Response{Turns: []callvet.Turn{{
		Role:  callvet.RoleAssistant,
		Calls: []callvet.Call{{ID: "1", Tool: tool, Args: json.RawMessage(args)}},
	}}}
}

// compiled passes attempts with calls and fails others. With nil fields every case can be judged,
// every call keeps its contract and no goal is reached.
type compiled struct {
	idle    func(selects bool) string
	check   func(call *callvet.Call) []callvet.Violation
	reached func(calls []callvet.Call) bool
	waits   func(ctx context.Context) error // before it judges
	naming  *callvet.Naming
}

func compile(*callvet.Case) run.Compiled { return compiled{} }

func (k compiled) Idle(selects bool) string {
	if k.idle == nil {
		return ""
	}
	return k.idle(selects)
}

func (k compiled) Check(call *callvet.Call) []callvet.Violation {
	if k.check == nil {
		return nil
	}
	return k.check(call)
}

func (k compiled) Naming() *callvet.Naming { return k.naming }

func (k compiled) Reached(calls []callvet.Call) bool { return k.reached != nil && k.reached(calls) }

func (k compiled) Judge(ctx context.Context, t *callvet.Trace) (callvet.Result, error) {
	if k.waits != nil {
		if err := k.waits(ctx); err != nil {
			return callvet.Result{}, err
		}
	}
	switch t.Outcome {
	case callvet.OutcomeCalled:
		return callvet.Result{
			Verdict: callvet.VerdictPass,
			Scores:  []callvet.Score{{Name: "overall", Value: 1, Scored: true}},
		}, nil
	case callvet.OutcomeError:
		return callvet.Result{Verdict: callvet.VerdictError, Class: callvet.ClassProvider}, nil
	case callvet.OutcomeNotRun:
		return callvet.Result{Verdict: callvet.VerdictNotRun}, nil
	}
	return callvet.Result{Verdict: callvet.VerdictFail, Class: callvet.ClassMissedCall}, nil
}

func suite(n int) *callvet.Suite {
	s := &callvet.Suite{
		Name:  "s",
		Tools: []callvet.Tool{{Name: "weather", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
	for i := range n {
		s.Cases = append(s.Cases,
			callvet.Case{
				ID:    fmt.Sprintf("case-%06d", i),
				Input: []callvet.Turn{{Role: callvet.RoleUser, Content: fmt.Sprint("weather in town ", i)}},
			})
	}
	return s
}

func openStore(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "x.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newRun(t testing.TB, db *store.DB, s *callvet.Suite) string {
	t.Helper()
	r, err := db.CreateRun(context.Background(), store.NewRun{Suite: s, Manifest: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func target(name, provider string, m callvet.Model) run.Target {
	return run.Target{Target: callvet.Target{Name: name, Provider: provider}, Model: m}
}

func config(t testing.TB, db *store.DB, s *callvet.Suite, m modelFunc) run.Config {
	return run.Config{
		Suite: s, Targets: []run.Target{target("m", "p", m)}, Compile: compile, Journal: db,
		RunID: newRun(t, db, s),
	}
}

// stored reads back every cell of a run and fails on one that is there twice.
func stored(t testing.TB, db *store.DB, id string) []*callvet.Cell {
	t.Helper()
	var out []*callvet.Cell
	seen := map[[3]int]bool{}
	for c, err := range db.Cells(context.Background(), id, store.Filter{Exchanges: true}) {
		if err != nil {
			t.Fatal(err)
		}
		k := [3]int{c.Case, c.Target, c.Repeat}
		if seen[k] {
			t.Fatalf("cell %v is stored twice", k)
		}
		seen[k] = true
		out = append(out, c)
	}
	return out
}

func TestRunEndToEnd(t *testing.T) {
	t.Parallel()
	db, s := openStore(t), suite(50)
	s.Cases[7].Skip = "no date"
	var asked atomic.Int64
	good := modelFunc(func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		asked.Add(1)
		switch {
		case req.CaseID == "case-000003":
			return nil, &callvet.Fault{
				Kind: callvet.FaultRequest, HTTP: 400, Message: "bad",
				Exchanges: []callvet.Exchange{{HTTP: 400}},
			}
		case req.CaseID == "case-000004":
			return nil, &callvet.Fault{Kind: callvet.FaultMissing}
		case req.CaseID == "case-000005":
			return answer("no idea"), nil
		}
		r := calls("weather", `{}`)
		r.Exchanges = []callvet.Exchange{{HTTP: 200, Response: "{}"}}
		return r, nil
	})
	cfg := config(t, db, s, good)
	cfg.Targets = append(cfg.Targets, target("n", "q", good), target("o", "p", good))
	cfg.Repeats = 2
	var events []run.Event
	cfg.Observe = func(e run.Event) { events = append(events, e) }
	sum, err := run.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := run.Totals{Total: 300, Done: 300, Pass: 276, Fail: 6, Error: 6, NotRun: 12, Requests: 294}
	if d := cmp.Diff(want, sum.Totals); d != "" || sum.Status != run.StatusDone {
		t.Errorf("%s %s", sum.Status, d)
	}
	if d := cmp.Diff(run.Totals{Total: 100, Done: 100, Pass: 92, Fail: 2, Error: 2, NotRun: 4, Requests: 98},
		sum.Targets[1]); d != "" {
		t.Error(d)
	}
	cells := stored(t, db, cfg.RunID)
	if len(cells) != 300 || asked.Load() != 294 {
		t.Errorf("%d cells stored, %d requests", len(cells), asked.Load())
	}
	for _, c := range cells {
		if want := map[int]callvet.Outcome{
			3: callvet.OutcomeError, 4: callvet.OutcomeNotRun,
			5: callvet.OutcomeAbstained, 7: callvet.OutcomeNotRun,
		}[c.Case]; want != "" && c.Trace.Outcome != want {
			t.Errorf("case %d: outcome %s, want %s", c.Case, c.Trace.Outcome, want)
		}
		if wantX := c.Case != 4 && c.Case != 5 && c.Case != 7; wantX != (len(c.Trace.Exchanges) == 1) {
			t.Errorf("case %d: %d exchanges", c.Case, len(c.Trace.Exchanges))
		}
		if c.Trace.Target != cfg.Targets[c.Target].Name || c.Trace.Repeat != c.Repeat ||
			c.Trace.CaseID != s.Cases[c.Case].ID {
			t.Errorf("cell %d/%d/%d holds the trace of %s %s %d", c.Case, c.Target, c.Repeat, c.Trace.CaseID,
				c.Trace.Target, c.Trace.Repeat)
		}
	}
	seen := 0
	for _, e := range events {
		if seen += len(e.Cells); e.Done != seen {
			t.Errorf("event reports %d done after %d cells", e.Done, seen)
		}
	}
	if seen != 300 {
		t.Errorf("the events contained %d cells", seen)
	}
}
