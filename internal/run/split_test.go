// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// place is a cell: its case, target and repeat.
type place [3]int

// yard is a run that workers carry out in the process of the test.
type yard struct {
	t       *testing.T
	cfg     run.Config
	journal *memory
	how     run.Splitting

	mu      sync.Mutex
	refused map[int]bool // cases
	shards  []run.Shard
	asked   map[place]int
	flying  map[string]int // requests, by provider
	most    map[string]int
	starts  map[string][]time.Time
	first   map[int]time.Time // by target
	last    map[int]time.Time
}

// newYard is a run of a suite by targets m0 and m1 of provider p, 4 at once, and m2 of q, 3 at once. An
// answer takes 1 to 100 ms and costs a cent.
func newYard(t *testing.T, cases, repeats int) *yard {
	y := &yard{
		t: t, journal: &memory{}, asked: map[place]int{}, flying: map[string]int{}, most: map[string]int{},
		starts: map[string][]time.Time{}, first: map[int]time.Time{}, last: map[int]time.Time{},
	}
	y.cfg = run.Config{
		Suite: suite(cases), Compile: compile, Journal: y.journal, RunID: "r", Repeats: repeats,
		Limits: map[string]run.Limits{"p": {Concurrency: 4}, "q": {Concurrency: 3}},
		Done:   y.done(),
	}
	for i, provider := range []string{"p", "p", "q"} {
		y.cfg.Targets = append(y.cfg.Targets, target(fmt.Sprint("m", i), provider, y.model(i, provider)))
	}
	y.how = run.Splitting{
		Workers: 2, Rounds: 5, Do: y.do,
		Failed: func(err error) { t.Errorf("a shard failed: %v", err) },
	}
	return y
}

func (y *yard) model(ix int, provider string) modelFunc {
	rng := rand.New(rand.NewPCG(uint64(ix), 7))
	return func(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
		var c int
		if _, err := fmt.Sscanf(req.CaseID, "case-%d", &c); err != nil {
			y.t.Error(err)
		}
		y.mu.Lock()
		y.asked[place{c, ix, req.Repeat}]++
		y.flying[provider]++
		y.most[provider] = max(y.most[provider], y.flying[provider])
		y.starts[provider] = append(y.starts[provider], time.Now())
		if y.first[ix].IsZero() {
			y.first[ix] = time.Now()
		}
		wait := time.Duration(1+rng.IntN(100)) * time.Millisecond
		y.mu.Unlock()
		defer func() {
			y.mu.Lock()
			defer y.mu.Unlock()
			y.flying[provider]--
			y.last[ix] = time.Now()
		}()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
		if y.refused[c] {
			return nil, &callvet.Fault{Kind: callvet.FaultRequest, HTTP: 400, Message: "no"}
		}
		usd := 0.01
		r := calls("weather", `{}`)
		r.Usage = callvet.Usage{Known: true, CostUSD: &usd}
		return r, nil
	}
}

// done yields the cells of the journal; a later cell replaces an earlier one with the same
// coordinates.
func (y *yard) done() iter.Seq2[*callvet.Cell, error] {
	return func(yield func(*callvet.Cell, error) bool) {
		cells := map[place]callvet.Cell{}
		y.journal.mu.Lock()
		for _, c := range y.journal.cells {
			cells[place{c.Case, c.Target, c.Repeat}] = c
		}
		y.journal.mu.Unlock()
		for _, c := range cells {
			if !yield(&c, nil) {
				return
			}
		}
	}
}

// do is a worker.
func (y *yard) do(ctx context.Context, s run.Shard, yield <-chan struct{}) (run.ShardSummary, error) {
	y.mu.Lock()
	y.shards = append(y.shards, s)
	y.mu.Unlock()
	cfg := y.cfg.Within(&s)
	cfg.Yield, cfg.Grace = yield, time.Second
	sum, err := run.Run(ctx, cfg)
	return sum.Shard(), err
}

// split splits the run, and makes the rest of it as a session does.
func (y *yard) split() (complete bool, sum run.Summary, err error) {
	y.t.Helper()
	complete, err = run.Split(y.t.Context(), y.cfg, y.how)
	if err != nil {
		y.t.Fatal(err)
	}
	rest := y.cfg
	rest.KeepErrors = complete
	for _, c := range y.journal.cells {
		rest.Spent.Requests += c.Trace.Attempts
		if usd := c.Trace.Usage.CostUSD; usd != nil {
			rest.Spent.USD += *usd
		}
	}
	sum, err = run.Run(y.t.Context(), rest)
	return complete, sum, err
}

// once checks that each of n cells was asked for once.
func (y *yard) once(n int) {
	y.t.Helper()
	if len(y.asked) != n {
		y.t.Errorf("%d cells were asked for, want %d", len(y.asked), n)
	}
	for at, times := range y.asked {
		if times != 1 {
			y.t.Errorf("cell %v was asked for %d times", at, times)
		}
	}
}

// TestSplit: workers make each cell once, fill the limits of each provider together and never pass them, and
// leave nothing to the session.
func TestSplit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 2)
		complete, sum, err := y.split()
		y.once(200 * 3 * 2)
		if !complete || err != nil || sum.Done != 1200 || sum.Pass != 1200 || len(y.shards) < 30 {
			t.Errorf("complete %t, %d done and %d passed in %d shards, %v", complete, sum.Done, sum.Pass,
				len(y.shards), err)
		}
		if d := cmp.Diff(map[string]int{"p": 4, "q": 3}, y.most); d != "" {
			t.Errorf("most requests in flight: %s", d)
		}
		if y.first[1].Before(y.last[0]) {
			t.Error("the second target of a provider was asked before the first was through")
		}
		if !y.first[2].Before(y.last[0]) {
			t.Error("the second provider waited for the first")
		}
		for _, s := range y.shards {
			if s.Share.Of == 2 && len(s.Cases) != 1 {
				t.Errorf("a shard is not one range of cases: %+v", s)
			}
		}
	})
}

// TestSplitOwnRepeats: a case with its own number of repeats has as many cells, in workers and in
// the session.
func TestSplitOwnRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 2)
		y.cfg.Own = map[int]int{0: 1, 7: 5, 199: 9}
		complete, sum, err := y.split()
		want := (197*2 + 1 + 5 + 9) * 3
		y.once(want)
		if !complete || err != nil || sum.Done != want || sum.Total != want {
			t.Errorf("complete %t, %d done of %d, want %d, %v", complete, sum.Done, sum.Total, want, err)
		}
		for at := range y.asked {
			if n := max(y.cfg.Own[at[0]], 1); y.cfg.Own[at[0]] > 0 && at[2] >= n {
				t.Errorf("cell %v of a case with %d repeats", at, n)
			}
		}
	})
}

// TestSplitErrors: cells that ended in an error do not run again because a worker returned its
// shard.
func TestSplitErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 2)
		y.refused = map[int]bool{}
		for c := range 200 {
			y.refused[c] = c%3 == 1
		}
		complete, sum, err := y.split()
		y.once(200 * 3 * 2)
		if !complete || err != nil || sum.Done != 1200 || sum.Error != 67*6 {
			t.Errorf("complete %t, %d done, %d errors, %v", complete, sum.Done, sum.Error, err)
		}
	})
}

// TestSplitOfCanceled: a run that is canceled before it starts has its counts, and sends no
// request.
func TestSplitOfCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		y.journal.cells = append(y.journal.cells,
			callvet.Cell{Case: 1, Result: callvet.Result{Verdict: callvet.VerdictPass}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		complete, err := run.Split(ctx, y.cfg, y.how)
		sum, rerr := run.Run(ctx, y.cfg)
		if complete || err != nil || rerr != nil || sum.Status != run.StatusInterrupted || sum.Done != 1 ||
			sum.Total != 600 || len(y.asked) > 0 {
			t.Errorf("complete %t, %v, %v: %+v, %d asked", complete, err, rerr, sum, len(y.asked))
		}
	})
}

// TestSplitInTurn: with Interleave the targets of a provider are in one shard.
func TestSplitInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		y.cfg.Interleave = true
		if complete, _, err := y.split(); !complete || err != nil {
			t.Errorf("complete %t, %v", complete, err)
		}
		y.once(600)
		for _, s := range y.shards {
			if !slices.Equal(s.Targets, []int{0, 1}) && !slices.Equal(s.Targets, []int{2}) {
				t.Errorf("a shard has the targets %v", s.Targets)
			}
		}
	})
}

// TestSplitRate: no second has more requests than the rate allows, but for one of each worker: two may begin at once.
func TestSplitRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		y.cfg.Limits["q"] = run.Limits{Concurrency: 10, PerSecond: 20}
		if complete, _, err := y.split(); !complete || err != nil {
			t.Errorf("complete %t, %v", complete, err)
		}
		at := y.starts["q"]
		slices.SortFunc(at, time.Time.Compare)
		for i := range at {
			n := 0
			for ; i+n < len(at) && at[i+n].Sub(at[i]) < time.Second; n++ {
			}
			if n > 22 {
				t.Fatalf("%d requests in a second", n)
			}
		}
		if d := at[len(at)-1].Sub(at[0]); d > 12*time.Second {
			t.Errorf("200 requests took %v at 20 a second", d)
		}
	})
}

// TestSplitBudget: the budget holds to the last request and cent, whatever the shards have of it, and the
// run comes as far as it would in one piece.
func TestSplitBudget(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]run.Budget{
		"calls": {MaxCalls: 437}, "cost": {MaxCostUSD: 4.3751}, "both": {MaxCalls: 437, MaxCostUSD: 4.8},
		"few": {MaxCalls: 3}, "less than a cell": {MaxCostUSD: 0.011},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				y := newYard(t, 200, 1)
				y.cfg.Budget = b
				complete, sum, err := y.split()
				want := 437
				switch name {
				case "few":
					want = 3
				case "less than a cell":
					want = 1
				}
				y.once(want)
				if complete || sum.Done != want || !errors.Is(err, callvet.ErrBudget) {
					t.Errorf("complete %t, %d done, %v", complete, sum.Done, err)
				}
				if split := len(y.shards) > 0; split == (name == "few") { // less than one request for each worker
					t.Errorf("%d shards", len(y.shards))
				}
			})
		})
	}
	t.Run("enough", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			y.cfg.Budget = run.Budget{MaxCalls: 600, MaxCostUSD: 6.01}
			_, sum, err := y.split()
			y.once(600)
			if sum.Done != 600 || err != nil {
				t.Errorf("%d done, %v", sum.Done, err)
			}
		})
	})
}

// TestSplitDearest: while the cost of a cell is not known, one case goes alone.
func TestSplitDearest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		y.cfg.Budget = run.Budget{MaxCostUSD: 100}
		y.split()
		if s := y.shards[0]; len(s.Cases) != 1 || s.Cases[0] != [2]int{0, 1} || s.DearestUSD != 0 {
			t.Errorf("the first shard: %+v", s)
		}
		for _, s := range y.shards[1:] {
			if s.DearestUSD != 0.01 {
				t.Errorf("a shard does not know what a cell costs: %+v", s)
			}
		}
	})
}

// TestSplitAgain: done cells do not run again, and shards are made of the rest.
func TestSplitAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		for c := range 200 {
			if c%4 == 0 { // in m0
				y.journal.cells = append(y.journal.cells,
					callvet.Cell{Case: c, Result: callvet.Result{Verdict: callvet.VerdictPass}})
			}
		}
		// is asked again
		y.journal.cells = append(y.journal.cells,
			callvet.Cell{Case: 1, Result: callvet.Result{Verdict: callvet.VerdictError}})
		if complete, _, err := y.split(); !complete || err != nil {
			t.Errorf("complete %t, %v", complete, err)
		}
		y.once(550)
	})
}

// TestSplitLast: the cases of the last phase are left to the session.
func TestSplitLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		y.cfg.Last = []int{3, 199}
		complete, sum, err := y.split()
		if !complete || err != nil || sum.Done != 600 {
			t.Errorf("complete %t, %d done, %v", complete, sum.Done, err)
		}
		y.once(600)
		for _, s := range y.shards {
			for _, r := range s.Cases {
				if r[0] <= 3 && 3 < r[1] || r[1] == 200 {
					t.Errorf("a case of the last phase is in a shard: %+v", s)
				}
			}
		}
	})
}

// TestSplitSmall: a run that is too small is not split, nor one for a single worker.
func TestSplitSmall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 29, 1)
		if complete, _, err := y.split(); complete || err != nil || len(y.shards) > 0 {
			t.Errorf("complete %t, %v: %+v", complete, err, y.shards)
		}
		y = newYard(t, 200, 1)
		y.cfg.Limits = map[string]run.Limits{"": {Concurrency: 1}}
		if complete, _, err := y.split(); complete || err != nil || len(y.shards) > 0 {
			t.Errorf("complete %t, %v: %+v", complete, err, y.shards)
		}
	})
}

// TestSplitYields: shards return the cells that they have not begun, and finish the others.
func TestSplitYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 200, 1)
		yield := make(chan struct{})
		y.cfg.Yield = yield
		time.AfterFunc(time.Second, func() { close(yield) })
		begun := time.Now()
		complete, err := run.Split(t.Context(), y.cfg, y.how)
		if took := time.Since(begun); complete || err != nil || took > 1200*time.Millisecond {
			t.Errorf("complete %t, %v after %v", complete, err, took)
		}
		y.once(len(y.journal.cells))
		y.cfg.Yield = nil
		if complete, sum, err := y.split(); !complete || err != nil || sum.Done != 600 {
			t.Errorf("complete %t, %d done, %v", complete, sum.Done, err)
		}
		y.once(600)
	})
}

// TestSplitEnds: the end of a run ends all its shards.
func TestSplitEnds(t *testing.T) {
	t.Parallel()
	lost := fmt.Errorf("taken: %w", callvet.ErrConflict)
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			begun := time.Now()
			complete, err := run.Split(ctx, y.cfg, y.how)
			if took := time.Since(begun); complete || err != nil || took > 2100*time.Millisecond {
				t.Errorf("complete %t, %v after %v", complete, err, took)
			}
			y.once(len(y.journal.cells))
		})
	})
	t.Run("the lease is lost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			y.cfg.Lease = &onLoan{ttl: 900 * time.Millisecond, renew: func() error { return lost }}
			y.how.Do = func(ctx context.Context, _ run.Shard, _ <-chan struct{}) (run.ShardSummary, error) {
				<-ctx.Done()
				return run.ShardSummary{Status: run.StatusInterrupted}, nil
			}
			if complete, err := run.Split(t.Context(), y.cfg, y.how); complete || !errors.Is(err, callvet.ErrConflict) {
				t.Errorf("complete %t, %v", complete, err)
			}
		})
	})
	t.Run("a target is given up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			n := 0
			y.cfg.Targets[2].Model = modelFunc(func(context.Context, *callvet.Request) (*callvet.Response, error) {
				y.mu.Lock()
				n++
				y.mu.Unlock()
				return nil, &callvet.Fault{Kind: callvet.FaultAuth, HTTP: 401, Message: "no"}
			})
			complete, sum, err := y.split()
			if complete || err != nil || len(sum.Stopped) != 1 || sum.Done != 600 || sum.Error != 200 || n > 30 {
				t.Errorf("complete %t, %v: %d requests to a target that refuses, %+v", complete, err, n, sum)
			}
			y.once(400)
		})
	})
	t.Run("a worker fails", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			reported := 0
			y.how.Failed = func(error) { reported++ }
			y.how.Do = func(ctx context.Context, s run.Shard, yield <-chan struct{}) (run.ShardSummary, error) {
				if s.Cases[0][0] > 50 && s.Targets[0] == 0 && s.Share.Part == 0 {
					return run.ShardSummary{}, errors.New("the worker is gone")
				}
				return y.do(ctx, s, yield)
			}
			complete, sum, err := y.split()
			if complete || err != nil || sum.Done != 600 || reported != 1 {
				t.Errorf("complete %t, %v: %d done, reported %d", complete, err, sum.Done, reported)
			}
			y.once(600)
		})
	})
	t.Run("a worker panics", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			y := newYard(t, 200, 1)
			y.how.Do = func(context.Context, run.Shard, <-chan struct{}) (run.ShardSummary, error) { panic("boom") }
			defer func() {
				if v := recover(); v == nil || fmt.Sprint(v) != "boom" {
					t.Errorf("the panic came out as %v", v)
				}
			}()
			_, _ = run.Split(t.Context(), y.cfg, y.how)
		})
	})
}

// TestShare: the parts of a limit are the limit.
func TestShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t, 400, 1)
		y.cfg.Limits = map[string]run.Limits{"": {Concurrency: 8}}
		y.how.Workers = 3
		y.split()
		if d := cmp.Diff(map[string]int{"p": 8, "q": 8}, y.most); d != "" {
			t.Errorf("most requests in flight: %s", d)
		}
		y.once(1200)
	})
}
