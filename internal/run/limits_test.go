// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// memory is a journal that a bubble of synctest can use: no system calls. It
// counts how often each cell was stored.
type memory struct {
	mu     sync.Mutex
	cells  []callvet.Cell
	stored int
	fail   error
	limit  int // cells stored before fail
}

func (m *memory) Encode(dst []byte, c *callvet.Cell, _ []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cells = append(m.cells, *c)
	return dst, nil
}

func (m *memory) Append(_ context.Context, _ string, encoded [][]byte, _ callvet.Spent) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil && m.stored+len(encoded) > m.limit {
		return m.fail
	}
	m.stored += len(encoded)
	return nil
}

func onPaper(s *callvet.Suite, concurrency int, m modelFunc) (run.Config, *memory) {
	j := &memory{}
	return run.Config{
		Suite: s, Targets: []run.Target{target("m", "p", m)}, Compile: compile, Journal: j, RunID: "r",
		Limits: map[string]run.Limits{"": {Concurrency: concurrency}},
	}, j
}

func mustRun(t *testing.T, cfg run.Config) run.Summary {
	t.Helper()
	s, err := run.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRetries(t *testing.T) {
	t.Parallel()
	fault := func(f callvet.Fault) func(int) error { return func(int) error { g := f; return &g } }
	until := func(n int, f callvet.Fault) func(int) error {
		return func(try int) error {
			if try > n {
				return nil
			}
			g := f
			return &g
		}
	}
	server := callvet.Fault{
		Kind: callvet.FaultServer, HTTP: 500, Message: "boom", Retryable: true,
		Exchanges: []callvet.Exchange{{HTTP: 500}},
	}
	for _, tt := range []struct {
		name     string
		fails    func(try int) error
		attempts int
		outcome  callvet.Outcome
		kind     callvet.FaultKind
		min, max time.Duration
	}{
		{"answered at once", until(0, server), 1, callvet.OutcomeCalled, "", 0, 0},
		{
			"answered the third time", until(2, server), 3, callvet.OutcomeCalled, "", 750 * time.Millisecond,
			1500 * time.Millisecond,
		},
		{
			"never answered", fault(server), 4, callvet.OutcomeError, callvet.FaultServer, 1750 * time.Millisecond,
			3500 * time.Millisecond,
		},
		{
			"not to be repeated", fault(callvet.Fault{Kind: callvet.FaultRequest, HTTP: 400}), 1, callvet.OutcomeError,
			callvet.FaultRequest, 0, 0,
		},
		{
			"malformed, once more", fault(callvet.Fault{Kind: callvet.FaultMalformed}), 2, callvet.OutcomeError,
			callvet.FaultMalformed, 250 * time.Millisecond, 500 * time.Millisecond,
		},
		{
			"a time to wait",
			until(1, callvet.Fault{
				Kind: callvet.FaultRateLimit, HTTP: 429, Retryable: true,
				RetryAfter: 20 * time.Second,
			}), 2, callvet.OutcomeCalled, "", 20 * time.Second, 21 * time.Second,
		},
		{
			"a time to wait that is too long",
			fault(callvet.Fault{Kind: callvet.FaultRateLimit, RetryAfter: time.Hour, Retryable: true}), 1,
			callvet.OutcomeError, callvet.FaultRateLimit, 0, 0,
		},
		{
			"limited for long",
			until(9, callvet.Fault{Kind: callvet.FaultRateLimit, Retryable: true, RetryAfter: time.Second}), 10,
			callvet.OutcomeCalled, "", 9 * time.Second, 10 * time.Second,
		},
		{
			"hangs", func(int) error { return context.DeadlineExceeded }, 4, callvet.OutcomeError, callvet.FaultTimeout,
			480 * time.Second, 484 * time.Second,
		},
		{
			"foreign error", func(int) error { return errors.New("odd") }, 1, callvet.OutcomeError,
			callvet.FaultNetwork, 0, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				cfg, j := onPaper(suite(1), 1,
					func(ctx context.Context, _ *callvet.Request) (*callvet.Response, error) {
						tries++
						err := tt.fails(tries)
						if errors.Is(err, context.DeadlineExceeded) {
							<-ctx.Done()
							return nil, ctx.Err()
						}
						if err != nil {
							return nil, err
						}
						return calls("weather", `{}`), nil
					})
				began := time.Now()
				sum := mustRun(t, cfg)
				took := time.Since(began) - 10*time.Millisecond // of the batch's wait
				tr := j.cells[0].Trace
				if tr.Attempts != tt.attempts || tries != tt.attempts || sum.Requests != tt.attempts ||
					tr.Outcome != tt.outcome {
					t.Errorf("%d attempts (%d noted, %d counted), outcome %s; want %d, %s", tries, tr.Attempts,
						sum.Requests, tr.Outcome, tt.attempts, tt.outcome)
				}
				if tt.kind != "" && (tr.Fault == nil || tr.Fault.Kind != tt.kind) {
					t.Errorf("fault %v, want %s", tr.Fault, tt.kind)
				}
				if took < tt.min-10*time.Millisecond || took > tt.max+10*time.Millisecond {
					t.Errorf("took %v, want %v to %v", took, tt.min, tt.max)
				}
				if tt.name == "never answered" && len(tr.Exchanges) != 4 {
					t.Errorf("%d exchanges kept of 4", len(tr.Exchanges))
				}
			})
		})
	}
}

// A provider that accepts ten requests a second must get about ten a second in the end, whatever
// concurrency was allowed, and no cell may be lost.
func TestConcurrencyFollowsTheProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var window time.Time
		var inWindow, refused, flying, peak int
		cfg, j := onPaper(suite(400), 64, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			mu.Lock()
			if time.Since(window) >= time.Second {
				window, inWindow = time.Now(), 0
			}
			inWindow++
			over := inWindow > 10
			if over {
				refused++
			}
			flying++
			peak = max(peak, flying)
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			flying--
			mu.Unlock()
			if over {
				return nil, &callvet.Fault{
					Kind: callvet.FaultRateLimit, HTTP: 429, Retryable: true,
					RetryAfter: time.Second,
				}
			}
			return calls("weather", `{}`), nil
		})
		cfg.Retry.RateLimited = 1000
		sum := mustRun(t, cfg)
		if sum.Pass != 400 || j.stored != 400 {
			t.Errorf("%d passed, %d stored of 400", sum.Pass, j.stored)
		}
		if peak != 64 {
			t.Errorf("peak of %d requests in flight, 64 are allowed", peak)
		}
		// Without adapting, every second 54 of 64 would be refused: 2,160 in all.
		if refused > 400 {
			t.Errorf("%d requests refused for 400 answers", refused)
		}
		t.Logf("%d requests refused, %v", refused, sum.Elapsed)
	})
}

func TestPauseHoldsTheWholeGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limited atomic.Int64
		began := time.Now()
		cfg, _ := onPaper(suite(20), 4, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			at := time.Since(began)
			if at == 0 {
				limited.Add(1)
				return nil, &callvet.Fault{Kind: callvet.FaultRateLimit, Retryable: true, RetryAfter: 30 * time.Second}
			}
			if at < 30*time.Second {
				t.Errorf("asked again after %v", at)
			}
			return calls("weather", `{}`), nil
		})
		if sum := mustRun(t, cfg); sum.Pass != 20 || limited.Load() < 1 {
			t.Errorf("%+v, %d limited", sum.Totals, limited.Load())
		}
	})
}

func TestRateLimitAndLatency(t *testing.T) {
	t.Parallel()
	slow := modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
		time.Sleep(200 * time.Millisecond)
		return calls("weather", `{}`), nil
	})
	synctest.Test(t, func(t *testing.T) {
		cfg, j := onPaper(suite(1000), 64, slow)
		sum := mustRun(t, cfg)
		if ideal := 16 * 200 * time.Millisecond; sum.Elapsed > ideal+20*time.Millisecond {
			t.Errorf("%v for 1,000 cells of 200 ms at 64, ideal %v", sum.Elapsed, ideal)
		}
		if w := j.cells[0].Trace.WallMS; w != 200 {
			t.Errorf("wall %v ms of a request of 200 ms", w)
		}
		cfg, j = onPaper(suite(21), 64, slow)
		cfg.Limits = map[string]run.Limits{"p": {Concurrency: 64, PerSecond: 10}}
		sum = mustRun(t, cfg)
		if sum.Elapsed < 2200*time.Millisecond || sum.Elapsed > 2250*time.Millisecond {
			t.Errorf("21 requests at 10 a second took %v, want 2.2 s", sum.Elapsed)
		}
		if w := j.cells[20].Trace.WallMS; w != 200 {
			t.Errorf("wall %v ms: waiting for a slot was counted", w)
		}
	})
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	auth := &callvet.Fault{Kind: callvet.FaultAuth, HTTP: 401, Message: "wrong key"}
	for _, tt := range []struct {
		name string
		f    func(n int64) error
		max  int64 // requests
		open bool
	}{
		{"wrong key", func(int64) error { return auth }, 8, true},
		{"refused", func(int64) error {
			return &callvet.Fault{Kind: callvet.FaultNetwork, Message: "dial tcp: connection refused", Retryable: true}
		}, 32, true},
		{"now and then", func(n int64) error {
			if n%4 != 0 {
				return auth
			}
			return nil
		}, 1000, false},
		{
			"server errors", func(int64) error { return &callvet.Fault{Kind: callvet.FaultServer, HTTP: 500} },
			1000, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				concurrency := 4
				if !tt.open {
					concurrency = 1 // answers are then recorded in the order of the requests
				}
				cfg, j := onPaper(suite(1000), concurrency,
					func(context.Context, *callvet.Request) (*callvet.Response, error) {
						if err := tt.f(n.Add(1)); err != nil {
							return nil, err
						}
						return calls("weather", `{}`), nil
					})
				cfg.Targets = append(cfg.Targets,
					target("ok", "p", modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
						return calls("weather", `{}`), nil
					})))
				sum := mustRun(t, cfg)
				if n.Load() > tt.max || j.stored != 2000 || sum.Targets[1].Pass != 1000 {
					t.Errorf("%d requests (at most %d), %d stored, other target %+v", n.Load(), tt.max, j.stored,
						sum.Targets[1])
				}
				if tt.open != (len(sum.Stopped) == 1) {
					t.Fatalf("stopped %v", sum.Stopped)
				}
				if tt.open && (sum.Targets[0].Error != 1000 ||
					!strings.Contains(sum.Stopped[0], "5 attempts at this target in a row")) {
					t.Errorf("%+v %v", sum.Targets[0], sum.Stopped)
				}
			})
		})
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	cost := func(usd float64, known bool) modelFunc {
		return func(context.Context, *callvet.Request) (*callvet.Response, error) {
			time.Sleep(time.Millisecond)
			r := calls("weather", `{}`)
			r.Usage = callvet.Usage{Known: true}
			if known {
				r.Usage.CostUSD = &usd
			}
			return r, nil
		}
	}
	bound := 0.01
	unreported := func(u callvet.Usage) modelFunc {
		return func(context.Context, *callvet.Request) (*callvet.Response, error) {
			time.Sleep(time.Millisecond)
			r := calls("weather", `{}`)
			r.Usage = u
			return r, nil
		}
	}
	// Every other request times out, which may have been billed.
	flaky := func(u callvet.Usage, bound *float64) modelFunc {
		var n atomic.Int64
		return func(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
			if n.Add(1)%2 == 0 {
				return nil, &callvet.Fault{Kind: callvet.FaultTimeout, Message: "late", AtMostUSD: bound}
			}
			return unreported(u)(ctx, req)
		}
	}
	for _, tt := range []struct {
		name    string
		budget  run.Budget
		model   modelFunc
		free    bool
		done    int
		want    string
		assumed int
	}{
		{"calls", run.Budget{MaxCalls: 37}, cost(0, true), false, 37, "37 of 37 calls", 0},
		{"cost", run.Budget{MaxCostUSD: 0.1051}, cost(0.01, true), false, 10, "0.1 of 0.1051 USD", 0},
		{
			"cost of unknown price",
			run.Budget{MaxCostUSD: 1},
			cost(0, false), false, 1,
			"what a request to m costs is not known", 0,
		},
		{
			"no usage and no price",
			run.Budget{MaxCostUSD: 1},
			unreported(callvet.Usage{}), false, 1,
			"what a request to m costs is not known", 0,
		},
		{"no usage of a free target", run.Budget{MaxCostUSD: 1}, unreported(callvet.Usage{}), true, 100, "", 0},
		{
			"no usage with a bound",
			run.Budget{MaxCostUSD: 0.1051},
			unreported(callvet.Usage{Note: "none", AtMostUSD: &bound}), false, 10,
			"0.1 of 0.1051 USD were spent (of them 0.1 at most for requests that reported no usage: 10)", 10,
		},
		{
			"timeouts with a bound",
			run.Budget{MaxCostUSD: 0.1051},
			flaky(callvet.Usage{Known: true, CostUSD: &bound}, &bound), false, 10, "0.1 of 0.1051 USD", 5,
		},
		{
			"timeouts of a target that reports its cost",
			run.Budget{MaxCostUSD: 0.1051},
			flaky(callvet.Usage{CostUSD: &bound}, nil), false, 10, "0.1 of 0.1051 USD", 5,
		},
		{"enough", run.Budget{MaxCalls: 100, MaxCostUSD: 1.001}, cost(0.01, true), false, 100, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg, j := onPaper(suite(100), 16, tt.model)
				cfg.Budget, cfg.Retry.Attempts, cfg.Targets[0].Free = tt.budget, 1, tt.free
				if strings.HasPrefix(tt.name, "timeouts") {
					cfg.Limits = map[string]run.Limits{"": {Concurrency: 1}} // answers come in turns
				}
				sum, err := run.Run(t.Context(), cfg)
				if sum.Spent.Requests != tt.done || sum.Spent.Assumed != tt.assumed {
					t.Errorf("spent %+v", sum.Spent)
				}
				if sum.Done != tt.done || sum.Requests != tt.done || j.stored != tt.done {
					t.Errorf("%d done with %d requests, %d stored; want %d", sum.Done, sum.Requests, j.stored, tt.done)
				}
				if tt.want == "" {
					if err != nil || sum.Status != run.StatusDone {
						t.Errorf("%s, %v", sum.Status, err)
					}
				} else if !errors.Is(err, callvet.ErrBudget) || sum.Status != run.StatusBudget ||
					!strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s, %v; want %q", sum.Status, err, tt.want)
				}
			})
		})
	}
}

// TestFull: a run without room ends like one without budget, with the answers stored; a later
// session goes on from there.
func TestFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, j := onPaper(suite(100), 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			time.Sleep(100 * time.Millisecond)
			return calls("weather", `{}`), nil
		})
		cfg.Full = func(context.Context) error {
			if j.stored >= 30 {
				return fmt.Errorf("30 are enough: %w", callvet.ErrBudget)
			}
			return nil
		}
		sum, err := run.Run(t.Context(), cfg)
		if sum.Status != run.StatusBudget || !errors.Is(err, callvet.ErrBudget) ||
			!strings.Contains(err.Error(), "30 are enough") {
			t.Errorf("%s, %v", sum.Status, err)
		}
		if j.stored < 30 || j.stored > 41 || sum.Done != j.stored || sum.Requests != j.stored { // it asks once a second
			t.Errorf("%d stored, %d done with %d requests", j.stored, sum.Done, sum.Requests)
		}
		asked := sum.Requests
		if sum, err = run.Run(t.Context(), cfg); sum.Status != run.StatusBudget || !errors.Is(err, callvet.ErrBudget) ||
			sum.Requests != 0 && sum.Requests != asked {
			t.Errorf("a run without room: %s with %d requests, %v", sum.Status, sum.Requests, err)
		}
		cfg.Full = func(context.Context) error { return callvet.ErrUnavailable }
		if sum, err = run.Run(t.Context(), cfg); sum.Status != run.StatusFailed ||
			!errors.Is(err, callvet.ErrUnavailable) {
			t.Errorf("room that cannot be looked up: %s, %v", sum.Status, err)
		}
	})
}

func TestBudgetNeverExceededByRounds(t *testing.T) {
	t.Parallel()
	s := suite(20)
	for i := range s.Cases {
		s.Cases[i].MultiTurn = &callvet.MultiTurn{MaxRounds: 4}
	}
	var n atomic.Int64
	cfg, _ := onPaper(s, 8, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		n.Add(1)
		return calls("weather", `{}`), nil
	})
	cfg.Worlds = func(_ *callvet.Case, _ string, _ int) callvet.World { return constant{} }
	cfg.Budget = run.Budget{MaxCalls: 30}
	sum, err := run.Run(t.Context(), cfg)
	if n.Load() != 30 || sum.Done != 7 || !errors.Is(err, callvet.ErrBudget) {
		t.Errorf("%d requests, %d cells, %v; want 30 requests and 7 whole cells", n.Load(), sum.Done, err)
	}
}

type constant struct{}

func (constant) Answer(context.Context, callvet.Call) (callvet.Reply, error) {
	return callvet.Reply{Result: []byte(`{"temperature":7}`)}, nil
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		takes    time.Duration
		abort    bool
		min, max int
		at       time.Duration // the end, after the start
	}{
		{"in flight finish", 3 * time.Second, false, 4, 4, 3 * time.Second},
		{"grace runs out", time.Hour, false, 0, 0, 11 * time.Second},
		{"second interrupt", time.Hour, true, 0, 0, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg, j := onPaper(suite(100), 4,
					func(ctx context.Context, _ *callvet.Request) (*callvet.Response, error) {
						select {
						case <-time.After(tt.takes):
							return calls("weather", `{}`), nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				abort := make(chan struct{})
				cfg.Abort = abort
				if tt.abort {
					time.AfterFunc(2*time.Second, func() { close(abort) })
				}
				sum, err := run.Run(ctx, cfg)
				if err != nil || sum.Status != run.StatusInterrupted || sum.Done != j.stored || j.stored < tt.min ||
					j.stored > tt.max {
					t.Errorf("%s, %d done, %d stored, %v", sum.Status, sum.Done, j.stored, err)
				}
				if d := sum.Elapsed - tt.at; d < 0 || d > 50*time.Millisecond {
					t.Errorf("ended after %v, want %v", sum.Elapsed, tt.at)
				}
			})
		})
	}
}

func TestInterruptDoesNotWaitForRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, j := onPaper(suite(10), 4, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			return nil, &callvet.Fault{Kind: callvet.FaultRateLimit, Retryable: true, RetryAfter: 4 * time.Minute}
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		sum, err := run.Run(ctx, cfg)
		if err != nil || sum.Status != run.StatusInterrupted || j.stored != 0 || sum.Elapsed > 1100*time.Millisecond {
			t.Errorf("%s after %v, %d stored, %v", sum.Status, sum.Elapsed, j.stored, err)
		}
	})
}

func TestJournalFailureCountsNothing(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	cfg, j := onPaper(suite(5000), 8, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		return calls("weather", `{}`), nil
	})
	j.fail, j.limit = full, 1000
	reported := 0
	cfg.Observe = func(e run.Event) { reported += len(e.Cells) }
	sum, err := run.Run(t.Context(), cfg)
	if !errors.Is(err, full) || sum.Status != run.StatusFailed || sum.Done != j.stored || reported != j.stored ||
		j.stored > 1000 {
		t.Errorf("%s, %v: %d counted, %d reported, %d stored", sum.Status, err, sum.Done, reported, j.stored)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	ok, _ := onPaper(suite(1), 1,
		func(context.Context, *callvet.Request) (*callvet.Response, error) { return answer(""), nil })
	for name, change := range map[string]func(*run.Config){
		"no suite":   func(c *run.Config) { c.Suite = nil },
		"no target":  func(c *run.Config) { c.Targets = nil },
		"no model":   func(c *run.Config) { c.Targets = slices.Clone(c.Targets); c.Targets[0].Model = nil },
		"wrong case": func(c *run.Config) { c.Cases = []int{1} },
		"negative":   func(c *run.Config) { c.Repeats = -1 },
	} {
		cfg := ok
		change(&cfg)
		if _, err := run.Run(t.Context(), cfg); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOversizedAnswers: an answer with more than can be scored is an error that names the
// limit. Its cost counts, nothing of it is scored, and no request is repeated.
func TestOversizedAnswers(t *testing.T) {
	t.Parallel()
	many := func(n int) *callvet.Response {
		list := make([]callvet.Call, n)
		for i := range list {
			list[i] = callvet.Call{Tool: "a", Args: json.RawMessage(`{"x":1}`)}
		}
		return &callvet.Response{Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Calls: list}}}
	}
	result := calls("a", `{}`)
	result.Turns[0].Calls[0].Result = json.RawMessage("[" + strings.Repeat("0,", 100_000) + "0]")
	text := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name string
		resp *callvet.Response
		want string // "": it is scored
	}{
		{"as many calls as there may be", many(10_000), ""},
		{"one call more", many(10_001), "too_large: the answer has more than 10000 calls"},
		{"as many arguments as there may be", calls("a", "["+strings.Repeat("0,", 99_998)+"0]"), ""},
		{
			"one argument more", calls("a", "["+strings.Repeat("0,", 99_999)+"0]"),
			"too_large: the arguments and results of the answer have more than 100000 values",
		},
		{
			"too many values in a result", result,
			"too_large: the arguments and results of the answer have more than 100000 values",
		},
		{"a long text", calls("a", `{"x":"`+text+`"}`), ""},
		{"no JSON", calls("a", text), ""},
	} {
		asked := 0
		cfg, j := onPaper(suite(1), 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			asked++
			resp := *tt.resp
			resp.Usage = callvet.Usage{Known: true, OutputTokens: 7}
			return &resp, nil
		})
		mustRun(t, cfg)
		cell := j.cells[0]
		got := ""
		if cell.Trace.Fault != nil {
			got = cell.Trace.Fault.Error()
		}
		if got != tt.want || asked != 1 || cell.Trace.Usage.OutputTokens != 7 ||
			(got != "") != (cell.Trace.Outcome == callvet.OutcomeError && len(cell.Trace.Turns) == 0) {
			t.Errorf("%s: %q, asked %d times, %+v", tt.name, got, asked, cell.Trace.Outcome)
		}
	}
}
