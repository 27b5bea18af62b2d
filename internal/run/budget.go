// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"fmt"
	"sync"

	"github.com/callvet/callvet"
)

// bill is what one cell has consumed.
type bill struct {
	callvet.Spent
	// lost requests may have been billed, at an unknown price
	lost int
	// unpriced: the cost of an answer has no upper bound
	unpriced bool
}

// answered books an answer.
func (l *bill) answered(u callvet.Usage, free bool) {
	switch {
	case u.CostUSD != nil:
		l.USD += *u.CostUSD
	case free:
	case u.AtMostUSD != nil:
		l.AssumedUSD += *u.AtMostUSD
		l.Assumed++
	default:
		l.unpriced = true
	}
}

// failed books a request without a whole answer.
func (l *bill) failed(f *callvet.Fault, free bool) {
	switch {
	case free || !f.Billable():
	case f.AtMostUSD != nil:
		l.AssumedUSD += *f.AtMostUSD
		l.Assumed++
	default:
		l.lost++
	}
}

// budget counts what is spent and what may still be spent by cells in flight,
// and lets a cell start only when both together stay within the bounds.
type budget struct {
	max Budget

	mu      sync.Mutex
	spent   callvet.Spent
	booked  callvet.Spent // how much of it the journal knows
	held    int           // requests that cells in flight may still make
	cells   int           // cells in flight
	largest float64       // cost of the dearest cell so far: what each cell in flight is taken to cost
	priced  bool          // a cell has come back, so largest means something
	over    error
	changed chan struct{}
}

// newBudget starts with what earlier sessions spent and the cost of their dearest cell; 0 if none
// is known.
func newBudget(b Budget, before callvet.Spent, dearest float64) *budget {
	return &budget{
		max: b, spent: before, booked: before, largest: dearest, priced: dearest > 0,
		changed: make(chan struct{}),
	}
}

func (b *budget) bounded() bool { return b.max != Budget{} }

// hold is what one cell may still spend. The zero value is a cell without budget.
type hold struct{ left int }

// reserve waits until a cell of up to rounds requests may start. It returns false
// when the budget is exhausted or ctx ends.
func (b *budget) reserve(ctx context.Context, rounds int) (hold, bool) {
	if !b.bounded() {
		return hold{}, b.exhausted() == nil
	}
	for {
		b.mu.Lock()
		n, wait := b.room(rounds)
		if n > 0 {
			b.held += n
			b.cells++
		}
		changed, over := b.changed, b.over
		b.mu.Unlock()
		if n > 0 || over != nil || !wait {
			return hold{n}, n > 0
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return hold{}, false
		}
	}
}

// room returns how many requests a new cell may reserve. If there are none, wait reports whether
// cells in flight may still release some.
func (b *budget) room(rounds int) (n int, wait bool) {
	if b.over != nil {
		return 0, false
	}
	n = rounds
	if b.max.MaxCalls > 0 {
		free := b.max.MaxCalls - b.spent.Requests - b.held
		// The last requests go to one cell, even when they may not suffice for it.
		if n = min(rounds, free); n < rounds && b.cells > 0 {
			return 0, true
		}
		if n <= 0 {
			b.over = b.called()
			return 0, false
		}
	}
	if b.max.MaxCostUSD > 0 {
		if !b.priced && b.cells > 0 {
			return 0, true // the first cell goes alone: it shows the cost of a cell
		}
		if spent := b.spent.USD + b.spent.AssumedUSD; spent+float64(b.cells+1)*b.largest > b.max.MaxCostUSD ||
			spent >= b.max.MaxCostUSD {
			if b.cells > 0 {
				return 0, true
			}
			b.over = b.paid()
			return 0, false
		}
	}
	return n, false
}

func (b *budget) called() error {
	return fmt.Errorf("%d of %d calls were made: %w", b.spent.Requests, b.max.MaxCalls, callvet.ErrBudget)
}

func (b *budget) paid() error {
	assumed := ""
	if n := b.spent.Assumed; n > 0 {
		assumed = fmt.Sprintf(" (of them %.6g at most for requests that reported no usage: %d)", b.spent.AssumedUSD, n)
	}
	next := ""
	if b.largest > 0 {
		next = fmt.Sprintf(", and an attempt may cost %.6g", b.largest)
	}
	return fmt.Errorf("%.6g of %.6g USD were spent%s%s: %w",
		b.spent.USD+b.spent.AssumedUSD, b.max.MaxCostUSD, assumed, next, callvet.ErrBudget)
}

// request takes one request from the cell's hold, or from the free ones.
func (b *budget) request(h *hold) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case h.left > 0:
		h.left--
		b.held--
	case b.max.MaxCalls > 0 && b.spent.Requests+b.held >= b.max.MaxCalls:
		if b.over == nil {
			b.over = b.called()
		}
		return false
	}
	b.spent.Requests++
	return true
}

// settle returns the unused requests of a cell and books its cost. A cost without an upper bound
// ends a run with a cost limit, because the limit cannot be kept.
func (b *budget) settle(h *hold, l bill, target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.largest > 0 { // the target's answers contain their cost
		l.AssumedUSD, l.Assumed, l.lost = l.AssumedUSD+float64(l.lost)*b.largest, l.Assumed+l.lost, 0
	}
	l.Requests = 0 // counted when they were sent
	b.spent.Add(l.Spent)
	if !b.bounded() {
		return
	}
	b.held -= h.left
	b.cells--
	b.priced = true
	b.largest = max(b.largest, l.USD+l.AssumedUSD)
	if (l.unpriced || l.lost > 0) && b.max.MaxCostUSD > 0 && b.over == nil {
		b.over = &callvet.Hinted{
			Err: fmt.Errorf("what a request to %s costs is not known, so a cost limit cannot be kept: %w", target,
				callvet.ErrBudget),
			Hint: "give its price with --prices, or limit the number of requests instead: --max-cost none --max-calls N",
		}
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// total is what was spent so far.
func (b *budget) total() callvet.Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// dearest is what the dearest cell cost, where there is a budget; 0: none is known.
func (b *budget) dearest() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.largest
}

// unbooked returns what was spent since its last call.
func (b *budget) unbooked() callvet.Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, known := b.spent, b.booked
	b.booked = s
	return callvet.Spent{
		Requests: s.Requests - known.Requests, USD: s.USD - known.USD,
		AssumedUSD: s.AssumedUSD - known.AssumedUSD, Assumed: s.Assumed - known.Assumed,
	}
}

// end lets no further cell start.
func (b *budget) end(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over == nil {
		b.over = why
	}
}

// exhausted returns why the run must stop, or nil.
func (b *budget) exhausted() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}
