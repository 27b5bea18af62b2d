// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/run"
)

// onLoan is a lease; a test decides the result of each renewal.
type onLoan struct {
	ttl   time.Duration
	renew func() error
	mu    sync.Mutex
	at    []time.Time
}

func (l *onLoan) TTL() time.Duration { return l.ttl }

func (l *onLoan) Renew(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = append(l.at, time.Now())
	if l.renew == nil {
		return nil
	}
	return l.renew()
}

// A lease is renewed three times in its TTL, however long a request takes.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := onPaper(suite(4), 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
			time.Sleep(100 * time.Second)
			return calls("weather", `{}`), nil
		})
		lease := &onLoan{ttl: 30 * time.Second}
		cfg.Lease = lease
		mustRun(t, cfg)
		for i := range len(lease.at) - 1 {
			if d := lease.at[i+1].Sub(lease.at[i]); d > 10*time.Second {
				t.Errorf("%v between two renewals", d)
			}
		}
		if n := len(lease.at); n < 40 {
			t.Errorf("%d renewals in 400 s", n)
		}
	})
}

// A run that lost its lease stops: the requests in flight are canceled and nothing more is sent or
// stored. A temporary failure does not stop it before the lease has run out.
func TestLostLeaseStopsTheRun(t *testing.T) {
	t.Parallel()
	taken := errors.Join(errors.New("taken over"), callvet.ErrConflict)
	for _, tt := range []struct {
		name string
		err  error
		at   time.Duration // from when on renewing fails
		max  int64         // requests of a second each
		min  int64
		lost bool
	}{
		{"taken over", taken, 50 * time.Second, 62, 50, true},
		{"the store is busy for a while", errors.New("busy"), 50 * time.Second, 72, 65, true},
		{"never", nil, time.Hour, 200, 200, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				begun := time.Now()
				cfg, j := onPaper(suite(200), 1,
					func(ctx context.Context, _ *callvet.Request) (*callvet.Response, error) {
						n.Add(1)
						select {
						case <-time.After(time.Second):
							return calls("weather", `{}`), nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					})
				cfg.Lease = &onLoan{ttl: 30 * time.Second, renew: func() error {
					if time.Since(begun) >= tt.at {
						return tt.err
					}
					return nil
				}}
				sum, err := run.Run(t.Context(), cfg)
				if tt.lost != (err != nil && errors.Is(err, tt.err)) || tt.lost != (sum.Status == run.StatusFailed) {
					t.Errorf("%s, %v", sum.Status, err)
				}
				if k := n.Load(); k < tt.min || k > tt.max || int64(j.stored) > k {
					t.Errorf("%d requests, want %d to %d; %d cells stored", k, tt.min, tt.max, j.stored)
				}
			})
		})
	}
}

// A process that stood still for longer than its lease checks, before its next request, that it
// still has the run.
func TestStandingStillIsNoticedBeforeTheNextRequest(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	var asleep atomic.Int64
	lease := &onLoan{ttl: time.Hour}
	cfg, _ := onPaper(suite(50), 1, func(context.Context, *callvet.Request) (*callvet.Response, error) {
		if n.Add(1) == 10 { // the machine sleeps meanwhile, and another one takes the run
			asleep.Store(int64(2 * time.Hour))
			lease.mu.Lock()
			defer lease.mu.Unlock()
			lease.renew = func() error { return callvet.ErrConflict }
		}
		return calls("weather", `{}`), nil
	})
	cfg.Lease = lease
	cfg.Now = func() time.Time { return time.Now().Add(time.Duration(asleep.Load())) }
	if _, err := run.Run(t.Context(), cfg); !errors.Is(err, callvet.ErrConflict) || n.Load() != 10 {
		t.Errorf("%d requests, %v", n.Load(), err)
	}
}

// The journal gets all spending, also of cells without a result, and the spending of earlier
// sessions counts for the budget.
func TestSpendingIsBooked(t *testing.T) {
	t.Parallel()
	db, s := openStore(t), suite(30)
	cost := 0.5
	var broken atomic.Bool
	broken.Store(true)
	cfg := config(t, db, s, func(_ context.Context, req *callvet.Request) (*callvet.Response, error) {
		if broken.Load() && req.CaseID >= "case-000020" {
			return nil, &callvet.Fault{Kind: callvet.FaultRequest, HTTP: 400, Message: "broken"}
		}
		r := calls("weather", `{}`)
		r.Usage.CostUSD = &cost
		return r, nil
	})
	spent := func() callvet.Spent {
		t.Helper()
		r, err := db.Run(t.Context(), cfg.RunID)
		if err != nil {
			t.Fatal(err)
		}
		return r.Spent
	}
	mustRun(t, cfg)
	if got := spent(); got != (callvet.Spent{Requests: 30, USD: 10}) {
		t.Errorf("spent %+v", got)
	}
	// The ten cells that failed run again: their first requests stay spent.
	broken.Store(false)
	cfg.Done, cfg.Spent, cfg.Budget = db.DoneCells(t.Context(), cfg.RunID), spent(), run.Budget{MaxCalls: 35}
	if sum, err := run.Run(t.Context(), cfg); !errors.Is(err, callvet.ErrBudget) || sum.Done != 25 ||
		sum.Spent.Requests != 35 {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := spent(); got != (callvet.Spent{Requests: 35, USD: 12.5}) {
		t.Errorf("spent %+v", got)
	}
	cfg.Done, cfg.Spent, cfg.Budget = db.DoneCells(t.Context(), cfg.RunID), spent(), run.Budget{MaxCostUSD: 13.1}
	if sum, err := run.Run(t.Context(), cfg); !errors.Is(err, callvet.ErrBudget) || sum.Done != 26 ||
		sum.Spent.USD != 13 {
		t.Errorf("%+v, %v", sum, err)
	}
}
