// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// TestLast: the cases of Last run when all others are over, and per target not at all when one
// of those did not pass.
func TestLast(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	answers := func(name string, with *callvet.Response) run.Target {
		return target(name, name, modelFunc(func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name+" "+req.CaseID)
			return with, nil
		}))
	}
	s := &callvet.Suite{}
	for i := range 6 {
		s.Cases = append(s.Cases,
			callvet.Case{ID: fmt.Sprint(i), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "x"}}})
	}
	journal := &memory{}
	cfg := run.Config{
		Suite: s, Compile: compile, Journal: journal,
		Targets: []run.Target{answers("good", calls("a", `{}`)), answers("bad", answer("no"))}, Last: []int{0, 3},
		Hold: func(unmet int) string {
			if unmet == 0 {
				return ""
			}
			return fmt.Sprint("held for ", unmet)
		},
	}
	sum := mustRun(t, cfg)
	if sum.Pass != 6 || sum.Fail != 4 || sum.NotRun != 2 || sum.Spent.Requests != 10 {
		t.Errorf("%+v", sum)
	}
	first := slices.Index(order, "good 0")
	for _, before := range []string{"good 1", "good 5", "bad 1", "bad 5"} {
		if i := slices.Index(order, before); i < 0 || first < 0 || i > first {
			t.Errorf("%s comes after a case of the last phase: %v", before, order)
		}
	}
	if slices.Contains(order, "bad 0") || slices.Contains(order, "bad 3") {
		t.Error(order)
	}
	held := 0
	for _, c := range journal.cells {
		if c.Result.Verdict == callvet.VerdictNotRun {
			held++
			if c.Result.Reason != "held for 4" || c.Target != 1 || c.Trace.End != callvet.EndSkipped {
				t.Errorf("%+v", c)
			}
		}
	}
	if held != 2 {
		t.Errorf("%d are held", held)
	}
	// A resumed session counts earlier failures, and runs the held cells when it is forced to.
	before := slices.Clone(journal.cells)
	cfg.Done = func(yield func(*callvet.Cell, error) bool) {
		for i := range before {
			if !yield(&before[i], nil) {
				return
			}
		}
	}
	if again := mustRun(t, cfg); again.NotRun != 2 || again.Spent.Requests != 0 {
		t.Errorf("again: %+v", again)
	}
	cfg.Hold = nil
	if forced := mustRun(t, cfg); forced.NotRun != 0 || forced.Spent.Requests != 2 {
		t.Errorf("forced: %+v", forced)
	}
}

// TestYield: once Yield closes no further cell starts, those in flight end and are stored, and a later
// session makes the others.
func TestYield(t *testing.T) {
	t.Parallel()
	yield := make(chan struct{})
	var asked atomic.Int64
	model := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
		if asked.Add(1) == 5 {
			close(yield)
		}
		return calls("a", `{}`), nil
	})
	s := &callvet.Suite{}
	for i := range 50 {
		s.Cases = append(s.Cases,
			callvet.Case{ID: fmt.Sprint(i), Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "x"}}})
	}
	journal := &memory{}
	cfg := run.Config{
		Suite: s, Compile: compile, Journal: journal, Targets: []run.Target{target("t", "t", model)},
		Last: []int{48, 49}, Yield: yield, Limits: map[string]run.Limits{"": {Concurrency: 2}},
	}
	sum, err := run.Run(t.Context(), cfg)
	if err != nil || sum.Status != run.StatusInterrupted || sum.Done < 5 || sum.Done > 6 ||
		int64(sum.Done) != asked.Load() || len(journal.cells) != sum.Done {
		t.Fatalf("%+v, %v: %d asked, %d stored", sum, err, asked.Load(), len(journal.cells))
	}
	before := slices.Clone(journal.cells)
	cfg.Yield = nil
	cfg.Done = func(yield func(*callvet.Cell, error) bool) {
		for i := range before {
			if !yield(&before[i], nil) {
				return
			}
		}
	}
	if sum := mustRun(t, cfg); sum.Status != run.StatusDone || sum.Done != 50 || asked.Load() != 50 {
		t.Errorf("%+v: %d asked", sum, asked.Load())
	}
}
