// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// TestNoRequestIsLeftToTryAgain: an attempt that failed, with no budget for a retry, is kept with
// its fault; one that the user stopped is not.
func TestNoRequestIsLeftToTryAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		calls  int
		stop   bool
		status run.Status
		kept   int
	}{
		{"the budget", 2, false, run.StatusBudget, 1},
		{"the user", 0, true, run.StatusInterrupted, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tries := 0
				cfg, j := onPaper(suite(2), 1,
					func(ctx context.Context, _ *callvet.Request) (*callvet.Response, error) {
						if tries++; tries == 2 && tc.stop {
							cancel()
							<-ctx.Done()
							return nil, ctx.Err()
						}
						return nil, &callvet.Fault{
							Kind: callvet.FaultServer, HTTP: 500, Message: "down",
							Retryable: true,
						}
					})
				cfg.Budget.MaxCalls = tc.calls
				sum, err := run.Run(ctx, cfg)
				if sum.Status != tc.status || sum.Done != tc.kept || len(j.cells) != tc.kept || tries != 2 ||
					errors.Is(err, callvet.ErrBudget) == tc.stop {
					t.Errorf("%s, %v: %d done, %d tries", sum.Status, err, sum.Done, tries)
				}
				if tc.kept == 1 && (j.cells[0].Trace.Fault == nil || j.cells[0].Trace.Fault.Message != "down") {
					t.Errorf("kept with %v", j.cells[0].Trace.Fault)
				}
			})
		})
	}
}

// TestTheLongestWaitHoldsTheGroup: while one cell waits within the longest time allowed, no other
// cell of the provider sends a request; if the wait is longer than allowed, the others go on.
func TestTheLongestWaitHoldsTheGroup(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		retryAfter time.Duration
		after      time.Duration // the second round of requests
	}{
		{time.Minute, time.Minute},
		{time.Minute + time.Second, time.Second},
	} {
		t.Run(fmt.Sprint(tc.retryAfter), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var at []time.Duration
				began := time.Now()
				cfg, _ := onPaper(suite(8), 2, func(context.Context, *callvet.Request) (*callvet.Response, error) {
					mu.Lock()
					n := len(at)
					at = append(at, time.Since(began))
					mu.Unlock()
					if n == 0 {
						return nil, &callvet.Fault{Kind: callvet.FaultServer, Retryable: true, RetryAfter: tc.retryAfter}
					}
					<-time.After(time.Second)
					return calls("weather", `{}`), nil
				})
				cfg.Retry.MaxWait = time.Minute
				mustRun(t, cfg)
				for _, d := range at {
					if d > 0 && d < tc.after {
						t.Errorf("asked again after %v", d)
					}
				}
				if last := at[len(at)-1]; tc.retryAfter > cfg.Retry.MaxWait && last > 10*time.Second {
					t.Errorf("the last was asked after %v", last)
				}
			})
		})
	}
}

// TestIdleCases: no request is sent for a case that cannot be judged, nor for a skipped one, except
// to a target that selects if the case is about selection.
func TestIdleCases(t *testing.T) {
	t.Parallel()
	s := suite(4)
	s.Cases[1].Skip = "no date"
	s.Cases[2].Skip, s.Cases[2].Selectable = "no date", true
	asked := map[string]int{}
	m := modelFunc(func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		asked[req.CaseID]++
		return calls("weather", `{}`), nil
	})
	cfg, j := onPaper(s, 1, m)
	selecting := target("selects", "p", m)
	selecting.Selects = true
	cfg.Targets = append(cfg.Targets, selecting)
	cfg.Compile = func(c *callvet.Case) run.Compiled {
		return compiled{idle: func(selects bool) string {
			if c.ID == "case-000003" && !selects {
				return "nothing to judge"
			}
			return ""
		}}
	}
	sum := mustRun(t, cfg)
	want := map[string]int{"case-000000": 2, "case-000002": 1, "case-000003": 1}
	if d := cmp.Diff(want, asked); d != "" {
		t.Error(d)
	}
	if sum.Targets[0].NotRun != 3 || sum.Targets[1].NotRun != 1 {
		t.Errorf("%+v", sum.Targets)
	}
	for _, c := range j.cells {
		if (c.Trace.End == callvet.EndSkipped) != (c.Trace.Attempts == 0) {
			t.Errorf("case %d ends with %s after %d attempts", c.Case, c.Trace.End, c.Trace.Attempts)
		}
	}
}

// TestACaseIsCompiledOnce: the targets of a small suite share what was compiled, one after the
// other or at the same time. In a big suite a case is compiled again for each target, and never for
// each of its repeats.
func TestACaseIsCompiledOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		cases      int
		providers  []string
		interleave bool
		want       int // compilations of each case
	}{
		{"one after the other", 20, []string{"p", "p", "p"}, false, 1},
		{"in turn", 20, []string{"p", "p", "p"}, true, 1},
		{"at once", 20, []string{"p", "q", "r"}, false, 1},
		{"in turn, big", 1100, []string{"p", "p"}, true, 1},
		{"one after the other, big", 1100, []string{"p", "p"}, false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response,
				error,
			) {
				return calls("weather", `{}`), nil
			})
			cfg, _ := onPaper(suite(tt.cases), 2, m)
			cfg.Interleave, cfg.Targets = tt.interleave, nil
			for i, p := range tt.providers {
				cfg.Targets = append(cfg.Targets, target(fmt.Sprint("m", i), p, m))
			}
			var mu sync.Mutex
			compilations := map[string]int{}
			cfg.Compile = func(c *callvet.Case) run.Compiled {
				mu.Lock()
				defer mu.Unlock()
				compilations[c.ID]++
				return compiled{}
			}
			mustRun(t, cfg)
			for id, n := range compilations {
				if n != tt.want {
					t.Fatalf("%s is compiled %d times, want %d", id, n, tt.want)
				}
			}
			if len(compilations) != tt.cases {
				t.Errorf("%d cases are compiled, want %d", len(compilations), tt.cases)
			}
		})
	}
}

// TestTraceOfSeveralAnswers: the answer and the choice of the target are those of the last of
// several answers, the time to the first token is that of the first.
func TestTraceOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	first := func() *callvet.Response {
		r := calls("weather", `{}`)
		r.Turns[0].Content = "I look it up"
		r.Model, r.FinishReason = "m-1", "tool_calls"
		r.FirstToken, r.Omitted = 20*time.Millisecond, []string{"seed", "top_p"}
		r.ToolChoice, r.Decision = "auto", &callvet.Decision{}
		return r
	}
	second := func() *callvet.Response {
		r := answer("7 degrees")
		r.Model, r.FinishReason = "m-2", "stop"
		r.FirstToken, r.Omitted = 50*time.Millisecond, []string{"seed", "stop"}
		return r
	}
	trailing := func() *callvet.Response {
		r := answer("7 degrees")
		r.Turns = append(r.Turns, callvet.Turn{Role: callvet.RoleTool, Content: "logged"})
		r.Complete = true
		return r
	}
	nothing := func() *callvet.Response { return &callvet.Response{Complete: true} }
	type taken struct {
		Answer, Model, FinishReason, ToolChoice string
		Omitted                                 []string
		FirstTokenMS                            float64
		Decided                                 bool
		Turns                                   int
		End                                     callvet.End
	}
	for name, tc := range map[string]struct {
		answers []*callvet.Response
		want    taken
	}{
		"one": {
			[]*callvet.Response{second()},
			taken{"7 degrees", "m-2", "stop", "required", []string{"seed", "stop"}, 50, false, 1, callvet.EndAnswered},
		},
		"one after another": {
			[]*callvet.Response{first(), second()},
			taken{
				"7 degrees", "m-2", "stop", "auto",
				[]string{"seed", "top_p", "stop"},
				20, true, 3,
				callvet.EndAnswered,
			},
		},
		"reported after the tool": {
			[]*callvet.Response{trailing()},
			taken{"7 degrees", "", "", "required", nil, 0, false, 2, callvet.EndAnswered},
		},
		"an agent's silence": {
			[]*callvet.Response{nothing()},
			taken{"", "", "", "required", nil, 0, false, 0, callvet.EndUnfinished},
		},
	} {
		s := suite(1)
		s.Cases[0].MultiTurn, s.Cases[0].ToolChoice = &callvet.MultiTurn{}, "required"
		round := 0
		cfg, j := onPaper(s, 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			round++
			return tc.answers[round-1], nil
		})
		cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return constant{} }
		mustRun(t, cfg)
		tr := &j.cells[0].Trace
		got := taken{
			tr.Answer, tr.Model, tr.FinishReason, tr.ToolChoice, tr.Omitted, tr.FirstTokenMS,
			tr.Decision != nil, len(tr.Turns), tr.End,
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestOnlyMissingCellsRun: with several targets and repeats, the cells that are done do not run
// again, and cells that are not in the run do not count.
func TestOnlyMissingCellsRun(t *testing.T) {
	t.Parallel()
	const cases, repeats = 40, 3
	type place [3]int
	var mu sync.Mutex
	asked := map[place]int{}
	model := func(target int) modelFunc {
		return func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
			var ix int
			if _, err := fmt.Sscanf(req.CaseID, "case-%d", &ix); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			asked[place{ix, target, req.Repeat}]++
			return calls("weather", `{}`), nil
		}
	}
	cfg, _ := onPaper(suite(cases), 4, model(0))
	cfg.Targets = append(cfg.Targets, target("n", "p", model(1)))
	cfg.Repeats = repeats
	done := []place{{0, 0, 0}, {0, 1, 2}, {1, 0, 1}, {20, 1, 0}, {39, 1, 2}}
	foreign := []place{{0, 2, 0}, {0, 0, 3}, {41, 0, 0}}
	cells := func(list ...place) iter.Seq2[*callvet.Cell, error] {
		return func(yield func(*callvet.Cell, error) bool) {
			for _, p := range list {
				if !yield(&callvet.Cell{
					Case: p[0], Target: p[1], Repeat: p[2],
					Result: callvet.Result{Verdict: callvet.VerdictPass},
				}, nil) {
					return
				}
			}
		}
	}
	cfg.Done = cells(append(foreign, done...)...)
	var events []run.Event
	cfg.Observe = func(e run.Event) { events = append(events, e) }
	sum := mustRun(t, cfg)
	want := map[place]int{}
	for c := range cases {
		for target := range 2 {
			for repeat := range repeats {
				want[place{c, target, repeat}] = 1
			}
		}
	}
	for _, p := range done {
		delete(want, p)
	}
	if d := cmp.Diff(want, asked); d != "" || sum.Done != cases*2*repeats {
		t.Errorf("%d done: %s", sum.Done, d)
	}
	if e := events[0]; e.Done != len(done) || len(e.Cells) != 0 {
		t.Errorf("the first event of a resumed run counts %d cells, contains %d", e.Done, len(e.Cells))
	}
	events, cfg.Done = nil, nil
	mustRun(t, cfg)
	if e := events[0]; len(e.Cells) == 0 {
		t.Error("the first event of a new run has no cell")
	}
}

// TestOneCaseManyTimes: repeats of one case are work for as many workers as cells.
func TestOneCaseManyTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, j := onPaper(suite(1), 8, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			<-time.After(time.Second)
			return calls("weather", `{}`), nil
		})
		cfg.Repeats = 4
		if sum := mustRun(t, cfg); sum.Pass != 4 || len(j.cells) != 4 || sum.Elapsed > 1100*time.Millisecond {
			t.Errorf("%+v in %v", sum.Totals, sum.Elapsed)
		}
	})
}

// TestCellsWithoutResult: if an adapter stops by itself, the run lacks cells and does not succeed.
func TestCellsWithoutResult(t *testing.T) {
	t.Parallel()
	cfg, _ := onPaper(suite(5), 1, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		if req.CaseID < "case-000002" {
			return nil, &callvet.Fault{Kind: callvet.FaultCanceled}
		}
		return calls("weather", `{}`), nil
	})
	sum, err := run.Run(t.Context(), cfg)
	if sum.Status != run.StatusFailed || err == nil || err.Error() != "run attempts: 2 of 5 were not done" ||
		sum.Done != 3 {
		t.Errorf("%s, %d done, %v", sum.Status, sum.Done, err)
	}
}

// TestSampleOfAll: a sample of as many cases as there are, or more, is all cases in their order.
func TestSampleOfAll(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 4, 1000} {
		got, err := run.SelectFrom(run.Cases(suite(3)), run.Selection{Sample: n})
		if d := cmp.Diff([]int{0, 1, 2}, got); d != "" || err != nil {
			t.Errorf("%d of 3: %v %s", n, err, d)
		}
	}
}

// TestEnough: no further cell of a target starts once Enough is true. Its remaining cells are left
// out on purpose, the others go on, and few attempts wait to be stored meanwhile.
func TestEnough(t *testing.T) {
	t.Parallel()
	const cases, concurrency, after = 400, 4, 25
	var lock sync.Mutex
	stored := map[int]int{} // by target
	cfg, j := onPaper(suite(cases), concurrency, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		return answer("yes"), nil
	})
	first := cfg.Targets[0]
	second := first
	second.Name, second.Provider = "second", "other"
	cfg.Targets = []run.Target{first, second}
	cfg.Enough = func(target int) bool {
		lock.Lock()
		defer lock.Unlock()
		return target == 0 && stored[0] >= after
	}
	cfg.Observe = func(ev run.Event) {
		lock.Lock()
		defer lock.Unlock()
		for _, c := range ev.Cells {
			stored[c.Target]++
		}
	}
	sum := mustRun(t, cfg)
	// in flight, waiting to be stored, and in the batch that is being stored
	if n := sum.Targets[0].Done; n < after || n > after+4*2*concurrency {
		t.Errorf("%d attempts of a target for which %d are enough", n, after)
	}
	if sum.Status != run.StatusDone || sum.Targets[1].Done != cases || sum.Targets[1].LeftOut != 0 {
		t.Errorf("%s: the other target has %d attempts, %d left out", sum.Status, sum.Targets[1].Done, sum.Targets[1].LeftOut)
	}
	if sum.Targets[0].LeftOut != cases-sum.Targets[0].Done || sum.LeftOut != sum.Targets[0].LeftOut ||
		sum.Total != 2*cases || len(j.cells) != sum.Done {
		t.Errorf("%+v: %d stored", sum.Totals, len(j.cells))
	}
}
