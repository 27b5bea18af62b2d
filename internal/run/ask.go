// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callvet/callvet"
)

// ask sends one request, retries it as the retry rules allow, and records every try in the trace.
// Only the time of the last try is the target's latency: waiting for a slot and failed tries do not
// count.
func (a *attempt) ask(ctx context.Context, req *callvet.Request) (*callvet.Response, *callvet.Fault) {
	retry := &a.e.cfg.Retry
	var before *callvet.Fault
	for n := 1; ; n++ {
		if f := a.state.breaker.open(); f != nil {
			return nil, f
		}
		resp, took, f := a.once(ctx, req)
		if f == nil || (f.Kind != callvet.FaultCanceled && !retry.again(f, n)) {
			a.trace.WallMS += ms(a.duration(resp, took))
			return resp, f
		}
		if f.Kind == callvet.FaultCanceled {
			if before != nil && a.e.budget.exhausted() != nil {
				return nil, before // no request is left to try again with
			}
			return nil, f
		}
		before = f
		if !a.wait(ctx, f, n) {
			return nil, canceled()
		}
	}
}

// duration returns the time of a request: the one in the answer if it has one, else the measured
// one. A recording without a time took none.
func (a *attempt) duration(resp *callvet.Response, took time.Duration) time.Duration {
	switch {
	case resp != nil && resp.Wall > 0:
		return resp.Wall
	case a.state.Recorded:
		return 0
	}
	return took
}

// again reports whether another attempt may follow the n-th one.
func (r *Retry) again(f *callvet.Fault, n int) bool {
	switch {
	case f.RetryAfter > r.MaxWait:
		f.Message += fmt.Sprintf(" (asked to wait %s, more than the %s allowed)",
			f.RetryAfter.Round(time.Second), r.MaxWait)
		return false
	case f.Kind == callvet.FaultMalformed:
		return n < min(r.Attempts, 2)
	case f.Kind == callvet.FaultRateLimit:
		return n < r.RateLimited
	}
	return f.Retryable && n < r.Attempts
}

// wait pauses between attempts: at least as long as the provider's Retry-After, else exponentially
// with jitter. It returns false when the run is stopping.
func (a *attempt) wait(ctx context.Context, f *callvet.Fault, n int) bool {
	return sleep(ctx, a.e.delay(f, n), a.e.stopping, a.state.breaker.tripped) == nil
}

func (e *engine) delay(f *callvet.Fault, n int) time.Duration {
	e.jitter.Lock()
	u := e.jitter.Float64()
	e.jitter.Unlock()
	if f.RetryAfter > 0 {
		// Jitter spreads the requests of the group over time; it never shortens a wait.
		return f.RetryAfter + time.Duration(u*float64(min(f.RetryAfter/10, time.Second)))
	}
	r := &e.cfg.Retry
	d := min(r.Base, r.Max)
	for range n - 1 {
		d = min(2*d, r.Max)
	}
	return d/2 + time.Duration(u*float64(d/2))
}

// once sends one request within the group's limits.
func (a *attempt) once(ctx context.Context, req *callvet.Request) (*callvet.Response, time.Duration, *callvet.Fault) {
	if a.g.governor.acquire(ctx, a.e.stopping) != nil {
		return nil, 0, canceled()
	}
	if a.g.pace != nil {
		if sleep(ctx, a.g.pace.Reserve().Delay(), a.e.stopping, nil) != nil {
			a.g.governor.release(false)
			return nil, 0, canceled()
		}
	}
	if !a.e.renewer.ours(ctx) {
		a.g.governor.release(false)
		return nil, 0, canceled()
	}
	if !a.e.budget.request(a.hold) {
		a.g.governor.release(false)
		return nil, 0, canceled()
	}
	limited, cancel := context.WithTimeout(ctx, a.e.cfg.Timeout)
	defer cancel()
	start := a.e.cfg.Now()
	resp, err := a.state.Target.Model.Generate(limited, req)
	took := a.e.cfg.Now().Sub(start)
	a.trace.Attempts++
	if err == nil && resp != nil {
		a.g.governor.release(true)
		a.bill.answered(resp.Usage, a.state.Free)
		if _, f := resp.Ending(); f != nil && !paused(resp) {
			a.trace.Exchanges = append(a.trace.Exchanges, resp.Exchanges...)
			a.trace.FinishReason = resp.FinishReason
			return nil, took, f
		}
		if resp.UnknownCalls() && a.p.c.Expect.AboutCalls() {
			a.trace.Exchanges = append(a.trace.Exchanges, resp.Exchanges...)
			return nil, took, &callvet.Fault{
				Kind:    callvet.FaultMalformed,
				Message: "the answer is text, in a form that has no place for calls: it is not known whether a tool was called",
			}
		}
		return resp, took, nil
	}
	f := a.fault(ctx, limited, err)
	a.bill.failed(f, a.state.Free)
	a.trace.Exchanges = append(a.trace.Exchanges, f.Exchanges...)
	if f.RetryAfter <= a.e.cfg.Retry.MaxWait {
		a.g.governor.pause(f.RetryAfter)
	}
	if f.Kind == callvet.FaultRateLimit {
		a.g.governor.limited(start)
	} else {
		a.g.governor.release(false)
	}
	return nil, took, f
}

// paused reports whether the answer of a model is incomplete and another request returns the rest.
func paused(resp *callvet.Response) bool {
	return !resp.Complete && callvet.StopOf(resp.FinishReason) == callvet.StopPause && len(resp.Turns) > 0
}

// fault converts an error of Generate to a fault.
func (a *attempt) fault(ctx, limited context.Context, err error) *callvet.Fault {
	var f *callvet.Fault
	switch {
	case ctx.Err() != nil:
		return canceled()
	case errors.As(err, &f):
		return f
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return &callvet.Fault{
			Kind: callvet.FaultTimeout, Message: fmt.Sprintf("no answer within %s", a.e.cfg.Timeout),
			Retryable: true,
		}
	case err == nil:
		return &callvet.Fault{Kind: callvet.FaultMalformed, Message: "the adapter returned nothing"}
	}
	return &callvet.Fault{Kind: callvet.FaultNetwork, Message: err.Error()}
}
