// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
)

// TestAgain: the last attempt of each kind of fault, and the longest wait.
func TestAgain(t *testing.T) {
	t.Parallel()
	r := Retry{Attempts: 4, RateLimited: 10, MaxWait: time.Minute}
	server := callvet.Fault{Kind: callvet.FaultServer, Retryable: true}
	limited := callvet.Fault{Kind: callvet.FaultRateLimit}
	malformed := callvet.Fault{Kind: callvet.FaultMalformed}
	reported := func(wait time.Duration) callvet.Fault { f := server; f.RetryAfter = wait; return f }
	for _, tc := range []struct {
		name  string
		retry Retry
		f     callvet.Fault
		n     int
		want  bool
	}{
		{"may pass", r, server, 3, true},
		{"may pass, the last time", r, server, 4, false},
		{"will not pass", r, callvet.Fault{Kind: callvet.FaultRequest}, 1, false},
		{"limited", r, limited, 9, true},
		{"limited, the last time", r, limited, 10, false},
		{"malformed", r, malformed, 1, true},
		{"malformed, the last time", r, malformed, 2, false},
		{"malformed where nothing is repeated", Retry{Attempts: 1}, malformed, 1, false},
		{"a wait of the longest time allowed", r, reported(time.Minute), 1, true},
		{"a longer wait", r, reported(time.Minute + 1), 1, false},
	} {
		if got := tc.retry.again(&tc.f, tc.n); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// TestDelay: between half of the wait and all of it, doubled for each attempt up to the
// largest; what the provider asked for is never less, and at most a tenth or a second more.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		base, most  time.Duration
		retryAfter  time.Duration
		n           int
		least, upto time.Duration
	}{
		{"the first", time.Second, time.Minute, 0, 1, 500 * time.Millisecond, time.Second},
		{"the second", time.Second, time.Minute, 0, 2, time.Second, 2 * time.Second},
		{"the fourth", time.Second, time.Minute, 0, 4, 4 * time.Second, 8 * time.Second},
		{"the largest", time.Second, time.Minute, 0, 7, 30 * time.Second, time.Minute},
		{"far on", time.Second, time.Minute, 0, 1000, 30 * time.Second, time.Minute},
		{"long ones", time.Hour, 48 * time.Hour, 0, 29, 24 * time.Hour, 48 * time.Hour},
		{"beyond the largest at once", time.Hour, time.Minute, 0, 1, 30 * time.Second, time.Minute},
		{"a short wait", time.Second, time.Minute, 2 * time.Second, 1, 2 * time.Second, 2200 * time.Millisecond},
		{"a long wait", time.Second, time.Minute, 20 * time.Second, 3, 20 * time.Second, 21 * time.Second},
	} {
		e := &engine{cfg: Config{Retry: Retry{Base: tc.base, Max: tc.most}}}
		e.jitter.Rand = rand.New(rand.NewPCG(1, 2))
		least, most := time.Duration(1<<62), time.Duration(0)
		for range 200 {
			d := e.delay(&callvet.Fault{RetryAfter: tc.retryAfter}, tc.n)
			least, most = min(least, d), max(most, d)
		}
		if near := (tc.upto - tc.least) / 20; least < tc.least || least > tc.least+near || most > tc.upto ||
			most < tc.upto-near {
			t.Errorf("%s: from %v to %v, want from %v to %v", tc.name, least, most, tc.least, tc.upto)
		}
	}
}

// TestRetryDefaults: without retries there is no wait for rate limits either.
func TestRetryDefaults(t *testing.T) {
	t.Parallel()
	rest := Retry{Base: 500 * time.Millisecond, Max: 30 * time.Second, MaxWait: 5 * time.Minute}
	for name, tc := range map[string][2]Retry{
		"zero values":  {{}, {Attempts: 4, RateLimited: 10}},
		"never":        {{Attempts: 1}, {Attempts: 1, RateLimited: 1}},
		"once":         {{Attempts: 2}, {Attempts: 2, RateLimited: 10}},
		"often":        {{Attempts: 12}, {Attempts: 12, RateLimited: 12}},
		"limits alone": {{Attempts: 1, RateLimited: 3}, {Attempts: 1, RateLimited: 3}},
	} {
		want := tc[1]
		want.Base, want.Max, want.MaxWait = rest.Base, rest.Max, rest.MaxWait
		if d := cmp.Diff(want, tc[0].withDefaults()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestFatal: which faults will not pass by waiting.
func TestFatal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		f    *callvet.Fault
		want string
	}{
		{nil, ""},
		{&callvet.Fault{Kind: callvet.FaultAuth, HTTP: http.StatusForbidden}, "auth"},
		{&callvet.Fault{Kind: callvet.FaultRequest, HTTP: http.StatusNotFound}, "not found"},
		{&callvet.Fault{Kind: callvet.FaultRequest, HTTP: http.StatusBadRequest}, ""},
		{&callvet.Fault{Kind: callvet.FaultServer, HTTP: http.StatusNotFound}, ""},
		{&callvet.Fault{Kind: callvet.FaultNetwork, Message: "dial tcp: connection refused"}, "refused"},
		{&callvet.Fault{Kind: callvet.FaultNetwork, Message: "dial tcp: no such host"}, "no such host"},
		{&callvet.Fault{Kind: callvet.FaultNetwork, Message: "connection reset"}, ""},
		{&callvet.Fault{Kind: callvet.FaultServer, Message: "no such host, refused"}, ""},
	} {
		if got := fatal(tc.f); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.f, got, tc.want)
		}
	}
}

// TestBreakerCountsOneReason: it opens after a number of faults with one reason and no other cell
// between them.
func TestBreakerCountsOneReason(t *testing.T) {
	t.Parallel()
	faults := map[rune]*callvet.Fault{
		'.': nil,
		'a': {Kind: callvet.FaultAuth, Message: "wrong key"},
		'r': {Kind: callvet.FaultNetwork, Message: "refused"},
		's': {Kind: callvet.FaultServer, Message: "down"},
	}
	const open = "not asked: 3 attempts at this target in a row had failed with: "
	for _, tc := range []struct {
		after int
		cells string
		want  string
	}{
		{3, "aa", ""},
		{3, "aaa", open + "wrong key"},
		{3, "aaaar", open + "wrong key"},
		{3, "aarra", ""},
		{3, "aarrr", open + "refused"},
		{3, "aa.aa", ""},
		{3, "aasa", ""},
		{3, "ssss", ""},
		{-1, "aaaaaa", ""},
	} {
		b := newBreaker(tc.after)
		for _, c := range tc.cells {
			b.record(faults[c])
		}
		got := ""
		if f := b.open(); f != nil {
			got = f.Message
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.cells, got, tc.want)
		}
	}
}

// TestRoom: how many requests a new cell may have, given what is spent and held by those in
// flight; where none, whether to wait for them, and else why the run ends.
func TestRoom(t *testing.T) {
	t.Parallel()
	calls := func(most, spent, held, cells int) *budget {
		return &budget{max: Budget{MaxCalls: most}, spent: callvet.Spent{Requests: spent}, held: held, cells: cells}
	}
	cost := func(most, spent, assumed, largest float64, cells int) *budget {
		return &budget{
			max: Budget{MaxCostUSD: most}, spent: callvet.Spent{USD: spent, AssumedUSD: assumed},
			largest: largest, priced: true, cells: cells,
		}
	}
	first := cost(1, 0, 0, 0, 1)
	first.priced = false
	assumed := cost(1, 0.5, 0.5, 0, 0)
	assumed.spent.Assumed = 3
	for name, tc := range map[string]struct {
		b    *budget
		n    int
		wait bool
		over string
	}{
		"all that it wants":            {calls(10, 3, 3, 1), 4, false, ""},
		"one less":                     {calls(10, 4, 3, 1), 0, true, ""},
		"the last ones, alone":         {calls(10, 8, 0, 0), 2, false, ""},
		"none is left":                 {calls(10, 10, 0, 0), 0, false, "10 of 10 calls were made: budget exhausted"},
		"none is left, more than that": {calls(10, 12, 0, 0), 0, false, "12 of 10 calls were made: budget exhausted"},
		"money for one more":           {cost(1, 0.25, 0.25, 0.25, 1), 4, false, ""},
		"no money for one more":        {cost(1, 0.25, 0.3125, 0.25, 1), 0, true, ""},
		"no money, alone": {
			cost(1, 0.75, 0.125, 0.25, 0), 0, false,
			"0.875 of 1 USD were spent, and an attempt may cost 0.25: budget exhausted",
		},
		"free cells, nothing is left": {cost(1, 1, 0, 0, 0), 0, false, "1 of 1 USD were spent: budget exhausted"},
		"free cells, nothing spent":   {cost(1, 0, 0, 0, 5), 4, false, ""},
		"requests without an answer": {
			assumed, 0, false,
			"1 of 1 USD were spent (of them 0.5 at most for requests that reported no usage: 3): budget exhausted",
		},
		"the first goes alone": {first, 0, true, ""},
		"it is over": {
			&budget{max: Budget{MaxCalls: 10}, over: callvet.ErrBudget}, 0, false,
			"budget exhausted",
		},
	} {
		n, wait := tc.b.room(4)
		over := ""
		if tc.b.over != nil {
			over = tc.b.over.Error()
		}
		if n != tc.n || wait != tc.wait || over != tc.over {
			t.Errorf("%s: %d requests, wait %v, over %q", name, n, wait, over)
		}
	}
}

// TestRequestsAreTaken: first from the cell's own hold, then from the free requests.
func TestRequestsAreTaken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		held, spent, others int
		want                bool
	}{
		"held":                             {2, 6, 2, true},
		"without cells in flight":          {0, 5, 4, true},
		"the others hold all that is left": {0, 6, 4, false},
		"none is left":                     {0, 10, 0, false},
	} {
		b := &budget{max: Budget{MaxCalls: 10}, spent: callvet.Spent{Requests: tc.spent}, held: tc.held + tc.others}
		h := hold{tc.held}
		got := b.request(&h)
		spent := tc.spent
		if tc.want {
			spent++
		}
		if got != tc.want || b.spent.Requests != spent || b.held-h.left != tc.others || (b.over == nil) != tc.want {
			t.Errorf("%s: %v, %d spent, %d held, %v", name, got, b.spent.Requests, b.held, b.over)
		}
	}
}

// TestSettle: what a cell did not use is free again, and a lost request is taken to cost as much as
// the dearest cell; if that is not known, it ends a run with a cost limit.
func TestSettle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		largest float64
		bill    bill
		want    callvet.Spent
		dearest float64
		over    bool
	}{
		"a price": {
			0.25,
			bill{Spent: callvet.Spent{USD: 0.5}},
			callvet.Spent{Requests: 1, USD: 0.5},
			0.5, false,
		},
		"less than the dearest": {
			0.25,
			bill{Spent: callvet.Spent{USD: 0.125}},
			callvet.Spent{Requests: 1, USD: 0.125},
			0.25, false,
		},
		"two lost": {
			0.25,
			bill{Spent: callvet.Spent{USD: 0.125, AssumedUSD: 0.5, Assumed: 1}, lost: 2},
			callvet.Spent{Requests: 1, USD: 0.125, AssumedUSD: 1, Assumed: 3},
			1.125, false,
		},
		"lost, no price known": {0, bill{lost: 1}, callvet.Spent{Requests: 1}, 0, true},
		"without a price":      {0.25, bill{unpriced: true}, callvet.Spent{Requests: 1}, 0.25, true},
		"nothing":              {0.25, bill{}, callvet.Spent{Requests: 1}, 0.25, false},
	} {
		b := newBudget(Budget{MaxCostUSD: 9}, callvet.Spent{Requests: 1}, tc.largest)
		b.held, b.cells = 7, 2
		b.settle(&hold{3}, tc.bill, "m")
		if d := cmp.Diff(tc.want, b.total()); d != "" || b.largest != tc.dearest || (b.exhausted() != nil) != tc.over ||
			b.held != 4 || b.cells != 1 {
			t.Errorf("%s: %s dearest %v, over %v, %d held by %d", name, d, b.largest, b.over, b.held, b.cells)
		}
	}
}

// TestUnbooked: each call returns what was spent since the last.
func TestUnbooked(t *testing.T) {
	t.Parallel()
	b := newBudget(Budget{}, callvet.Spent{Requests: 9, USD: 8, AssumedUSD: 7, Assumed: 6}, 0)
	for _, more := range []callvet.Spent{
		{Requests: 5, USD: 4, AssumedUSD: 3, Assumed: 2},
		{Requests: 1, USD: 0.5, AssumedUSD: 0.25, Assumed: 1},
		{},
	} {
		b.spent.Add(more)
		if d := cmp.Diff(more, b.unbooked()); d != "" {
			t.Error(d)
		}
	}
}

// TestTotals: what a cell adds to the counts, and whether its cost is known.
func TestTotals(t *testing.T) {
	t.Parallel()
	usd := 0.5
	cell := func(v callvet.Verdict, notEvaluated int, tr callvet.Trace) *callvet.Cell {
		return &callvet.Cell{Result: callvet.Result{Verdict: v, NotEvaluated: notEvaluated}, Trace: tr}
	}
	priced := callvet.Trace{Attempts: 2, Usage: callvet.Usage{CostUSD: &usd}}
	cached := priced
	cached.Cached = true
	failed := func(kind callvet.FaultKind) callvet.Trace {
		return callvet.Trace{Attempts: 1, Outcome: callvet.OutcomeError, Fault: &callvet.Fault{Kind: kind}}
	}
	for name, tc := range map[string]struct {
		cell *callvet.Cell
		free bool
		want Totals
	}{
		"passed": {
			cell(callvet.VerdictPass, 0, priced), false,
			Totals{Done: 1, Pass: 1, Requests: 2, CostUSD: 0.5, CostKnown: true},
		},
		"passed in part": {
			cell(callvet.VerdictPass, 1, priced), false,
			Totals{Done: 1, Pass: 1, InPart: 1, Requests: 2, CostUSD: 0.5, CostKnown: true},
		},
		"failed in part": {
			cell(callvet.VerdictFail, 1, priced), false,
			Totals{Done: 1, Fail: 1, Requests: 2, CostUSD: 0.5, CostKnown: true},
		},
		"from the cache": {
			cell(callvet.VerdictPass, 0, cached), false,
			Totals{Done: 1, Pass: 1, Cached: 1, CostKnown: true},
		},
		"no price": {
			cell(callvet.VerdictFail, 0, callvet.Trace{Attempts: 1}), false,
			Totals{Done: 1, Fail: 1, Requests: 1},
		},
		"no price, and free": {
			cell(callvet.VerdictFail, 0, callvet.Trace{Attempts: 1}), true,
			Totals{Done: 1, Fail: 1, Requests: 1, CostKnown: true},
		},
		"not asked": {
			cell(callvet.VerdictNotRun, 0, callvet.Trace{Outcome: callvet.OutcomeNotRun}), false,
			Totals{Done: 1, NotRun: 1, CostKnown: true},
		},
		"an error, billed": {
			cell(callvet.VerdictError, 0, failed(callvet.FaultTimeout)), false,
			Totals{Done: 1, Error: 1, Requests: 1},
		},
		"an error, not asked": {
			cell(callvet.VerdictError, 0, failed(callvet.FaultAuth)), false,
			Totals{Done: 1, Error: 1, Requests: 1, CostKnown: true},
		},
	} {
		got := Totals{CostKnown: true}
		got.add(tc.cell, tc.free)
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestBatches: waiting cells go into one batch, up to its largest size, and the rest into the next
// one.
func TestBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &committer{queue: make(chan finished, maxBatch), most: maxBatch}
		for range maxBatch {
			c.queue <- finished{}
		}
		if n := len(c.gather(make([]finished, 1))); n != maxBatch {
			t.Errorf("%d cells in the first batch", n)
		}
		begun := time.Now()
		if n := len(c.gather(make([]finished, 1))); n != 2 || time.Since(begun) != linger {
			t.Errorf("%d cells in the second batch after %v", n, time.Since(begun))
		}
		close(c.queue)
		if n := len(c.gather(make([]finished, 1))); n != 1 {
			t.Errorf("%d cells in the last batch", n)
		}
	})
}

// TestRemainingTime: the rest takes as long for each cell as this session did.
func TestRemainingTime(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_000_000, 0)
	for _, tc := range []struct {
		done, before, total int
		want                time.Duration
	}{
		{30, 10, 50, 10 * time.Second}, // 20 cells in 10 s, 20 are left
		{11, 10, 14, 30 * time.Second},
		{50, 10, 50, 0},
		{10, 10, 50, 0}, // no cell has a known cost yet
	} {
		var got Event
		c := &committer{
			cfg: &Config{
				Now:     func() time.Time { return began.Add(10 * time.Second) },
				Observe: func(e Event) { got = e },
			},
			totals: Totals{Done: tc.done, Total: tc.total}, before: tc.before, began: began,
		}
		c.announce(nil, nil)
		if got.ETA != tc.want || got.Elapsed != 10*time.Second {
			t.Errorf("%+v: %v after %v", tc, got.ETA, got.Elapsed)
		}
	}
}

// TestEveryCellHasItsPlace: no two cells share a bit.
func TestEveryCellHasItsPlace(t *testing.T) {
	t.Parallel()
	e := &engine{cfg: Config{most: 4, Targets: make([]Target, 3)}}
	b := newBitmap(7 * 3 * 4)
	for c := range 7 {
		for target := range 3 {
			for repeat := range 4 {
				i := e.cfg.index(c, target, repeat)
				if b.has(i) {
					t.Fatalf("cell %d/%d/%d has the place of another", c, target, repeat)
				}
				b.set(i)
			}
		}
	}
	if bitmap(nil).has(3) {
		t.Error("no bitmap has a cell")
	}
}

// TestWakesAsManyAsThereIsRoomFor: those who wait longest go first.
func TestWakesAsManyAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	for flying, want := range map[int]int{0: 3, 1: 2, 2: 1, 3: 0, 5: 0} {
		waiting := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		g := newGovernor(3, time.Now)
		g.flying, g.waiting = flying, slices.Clone(waiting)
		g.wake()
		woken := 0
		for i, w := range waiting {
			select {
			case <-w:
				if woken++; woken != i+1 {
					t.Errorf("%d in flight: the one at %d went before another", flying, i)
				}
			default:
			}
		}
		if woken != want || len(g.waiting) != 3-want {
			t.Errorf("%d of 3 in flight: %d woken, %d wait on; want %d woken", flying, woken, len(g.waiting), want)
		}
	}
}

// TestAbandon: a waiter that gives up leaves the others in their order, and passes on a slot that
// came too late.
func TestAbandon(t *testing.T) {
	t.Parallel()
	a, b, c := make(chan struct{}), make(chan struct{}), make(chan struct{})
	g := newGovernor(1, time.Now)
	g.flying, g.waiting = 1, []chan struct{}{a, b, c}
	g.abandon(b)
	if !slices.Equal(g.waiting, []chan struct{}{a, c}) {
		t.Error("another one gave up")
	}
	g.abandon(a)
	if !slices.Equal(g.waiting, []chan struct{}{c}) {
		t.Error("another one gave up")
	}
	g.flying = 0
	g.abandon(b) // its turn had come
	select {
	case <-c:
	default:
		t.Error("the turn is lost")
	}
}

// TestSlots: at most as many requests at once as the limit, and a waiter is woken when a slot is
// free.
func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGovernor(2, time.Now)
		stop := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			if err := g.acquire(ctx, stop); err != nil {
				t.Fatal(err)
			}
		}
		got := make(chan error, 1)
		go func() { got <- g.acquire(ctx, stop) }()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("a third slot of two: %v", err)
		default:
		}
		g.release(true)
		if err := <-got; err != nil {
			t.Error(err)
		}
		go func() { got <- g.acquire(ctx, stop) }()
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		go func() { got <- g.acquire(context.Background(), stop) }()
		synctest.Wait()
		close(stop)
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		if len(g.waiting) != 0 || g.flying != 2 {
			t.Errorf("%d wait, %d in flight", len(g.waiting), g.flying)
		}
	})
}

// TestLimitGrows: by one for every limit's worth of answers, up to what the user allowed,
// and only answers count.
func TestLimitGrows(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	g := newGovernor(8, func() time.Time { return now })
	g.flying = 100
	g.limited(now)
	g.limited(now.Add(-time.Second)) // was in flight with the first
	if g.limit != 4 {
		t.Errorf("a limit of %v after one cut", g.limit)
	}
	g.release(false)
	for range 4 { // 4 + 1/4, and a little less each time
		g.release(true)
	}
	if g.limit < 4.9 || g.limit > 5 {
		t.Errorf("a limit of %v after 4 answers", g.limit)
	}
	for range 50 {
		g.release(true)
	}
	if g.limit != 8 || g.flying != 43 {
		t.Errorf("a limit of %v, %d in flight", g.limit, g.flying)
	}
}

// TestSleepOfNothing: a sleep of 0 is over before anything can end it.
func TestSleepOfNothing(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	close(stop)
	for range 100 {
		if err := sleep(t.Context(), 0, stop, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sleep(t.Context(), time.Hour, stop, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// loan is a lease of 30 s; a test decides the result of each renewal.
type loan struct {
	err     error
	renewed int
}

func (l *loan) TTL() time.Duration { return 30 * time.Second }

func (l *loan) Renew(context.Context) error { l.renewed++; return l.err }

// TestRenew: a lease younger than the age is not renewed, a failure that may pass counts
// once the lease has run out, and a conflict at once.
func TestRenew(t *testing.T) {
	t.Parallel()
	busy, taken := errors.New("busy"), fmt.Errorf("taken: %w", callvet.ErrConflict)
	for _, tc := range []struct {
		held    time.Duration
		age     time.Duration
		err     error
		renewed int
		want    error // that the run fails with
	}{
		{0, 20 * time.Second, nil, 0, nil},
		{20*time.Second - 1, 20 * time.Second, nil, 0, nil},
		{20 * time.Second, 20 * time.Second, nil, 1, nil},
		{0, 0, nil, 1, nil},
		{-time.Second, 20 * time.Second, nil, 1, nil}, // the clock was set back
		{30*time.Second - 1, 20 * time.Second, busy, 1, nil},
		{30 * time.Second, 20 * time.Second, busy, 1, busy},
		{20 * time.Second, 20 * time.Second, taken, 1, taken},
	} {
		began := time.Unix(1_000_000, 0)
		var failed error
		l := &loan{err: tc.err}
		k := &leaseRenewer{
			lease: l, now: func() time.Time { return began.Add(tc.held) },
			fail: func(err error) { failed = err }, last: began,
		}
		ours := k.renew(t.Context(), tc.age)
		if l.renewed != tc.renewed || ours != (tc.want == nil) || !errors.Is(failed, tc.want) {
			t.Errorf("%+v: %d renewals, ours %v, %v", tc, l.renewed, ours, failed)
		}
		if renewed := k.last.Sub(began); tc.renewed == 1 && tc.err == nil && renewed != tc.held {
			t.Errorf("%+v: renewed at %v", tc, renewed)
		}
	}
}

// TestToolsetsAreKept: equal subsets are one, up to a number of different ones.
func TestToolsetsAreKept(t *testing.T) {
	t.Parallel()
	w := newToolsetCache(&callvet.Suite{Tools: []callvet.Tool{{Name: "a"}, {Name: "b"}}})
	of := func(i int) *callvet.Toolset { return w.of(&callvet.Case{ToolNames: []string{"b", fmt.Sprint(i)}}) }
	for i := range maxSubsets {
		of(i)
	}
	for _, i := range []int{0, maxSubsets - 1} {
		if a, b := of(i), of(i); a != b {
			t.Errorf("subset %d was made anew", i)
		}
	}
	if a, b := of(maxSubsets), of(maxSubsets); a == b || a.Hash != b.Hash || len(w.some) != maxSubsets {
		t.Errorf("%d subsets are kept", len(w.some))
	}
}

// TestRounds: the case decides, then the suite.
func TestRounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		multi *callvet.MultiTurn
		suite int
		want  int
	}{
		"zero values":      {nil, 0, 5},
		"by the suite":     {nil, 7, 7},
		"not by the case":  {&callvet.MultiTurn{}, 7, 7},
		"by the case":      {&callvet.MultiTurn{MaxRounds: 1}, 7, 1},
		"by the case only": {&callvet.MultiTurn{MaxRounds: 9}, 0, 9},
	} {
		if got := Rounds(&callvet.Suite{Defaults: callvet.Defaults{MaxRounds: tc.suite}},
			&callvet.Case{MultiTurn: tc.multi}); got != tc.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// TestSharedAnswers: cases that differ only in their names share answers, unless they contain
// invalid JSON.
func TestSharedAnswers(t *testing.T) {
	t.Parallel()
	s := &callvet.Suite{Tools: []callvet.Tool{{Name: "a"}}}
	e := &engine{
		cfg:      Config{Suite: s, Compile: func(*callvet.Case) Compiled { return nil }},
		toolsets: newToolsetCache(s), keys: true,
	}
	sum := func(id, result string) [32]byte {
		p := &prepared{c: &callvet.Case{
			ID: id, MultiTurn: &callvet.MultiTurn{},
			Mocks: []callvet.Mock{{Tool: "a", Replies: []callvet.MockReply{{Result: json.RawMessage(result)}}}},
		}}
		e.prepare(p)
		return p.sum
	}
	if sum("x", `{"n":1}`) != sum("y", `{"n":1}`) {
		t.Error("a name distinguishes them")
	}
	if sum("x", `{"n":1}`) == sum("x", `{"n":2}`) {
		t.Error("what tools answer does not")
	}
	if sum("x", `{"n":`) == sum("y", `{"n":`) {
		t.Error("what is no JSON is shared")
	}
}

// TestWild: the whole text must fit the pattern.
func TestWild(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"abc", "ABC", true},
		{"abc", "xc", false},
		{"abc", "ab", false},
		{"ab", "abc", false},
		{"a*", "a", true},
		{"a**", "a", true},
		{"a*c", "abcbc", true},
		{"a*c", "abcb", false},
		{"*b*", "abc", true},
		{"a?c", "abc", true},
		{"a?", "a", false},
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"é*", "École", true},
	} {
		if got := wild(tc.pattern, tc.text); got != tc.want {
			t.Errorf("%q, %q: %v", tc.pattern, tc.text, got)
		}
	}
}

// brokenSource has a case that cannot be read.
type brokenSource struct{ bad int }

func (s brokenSource) Len() int { return 40 }

func (s brokenSource) Case(i int) (*callvet.Case, error) {
	if i == s.bad {
		return nil, callvet.ErrInvalid
	}
	return &callvet.Case{ID: strconv.Itoa(i)}, nil
}

// TestPreparedAhead: cases that are prepared at once are each prepared once, and one that cannot be
// read fails only when it is next.
func TestPreparedAhead(t *testing.T) {
	t.Parallel()
	compiled := map[string]int{}
	s := &callvet.Suite{}
	e := &engine{
		cfg: Config{Suite: s, Compile: func(c *callvet.Case) Compiled {
			compiled[c.ID]++
			return nil
		}},
		toolsets: newToolsetCache(s), cases: &cases{source: brokenSource{bad: 5}},
	}
	next := []int{2, 3, 4, 5, 6, 9}
	for i, ix := range next {
		p, err := e.cases.at(next[i:])
		if (err != nil) != (ix == 5) {
			t.Fatalf("case %d: %v", ix, err)
		}
		if err != nil {
			continue
		}
		e.ready(p)
		if p.c.ID != strconv.Itoa(ix) || compiled[p.c.ID] != 1 {
			t.Errorf("case %d: %s is prepared %d times", ix, p.c.ID, compiled[p.c.ID])
		}
	}
	if len(compiled) != len(next)-1 {
		t.Errorf("prepared are %v", compiled)
	}
}
