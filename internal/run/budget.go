// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"fmt"
	"sync"

	"github.com/callvet/callvet"
)

// budget counts what is spent and what may still be spent by cells in flight,
// and lets a cell start only when both together stay within the bounds.
type budget struct {
	max Budget

	mu      sync.Mutex
	used    int // requests made
	held    int // requests that cells in flight may still make
	cells   int // cells in flight
	spent   float64
	largest float64 // cost of the dearest cell so far: what each cell in flight is taken to cost
	priced  bool    // a cell has come back, so largest means something
	over    error
	changed chan struct{}
}

func newBudget(b Budget, used int, spent float64) *budget {
	if b == (Budget{}) {
		return nil
	}
	return &budget{max: b, used: used, spent: spent, changed: make(chan struct{})}
}

// hold is what one cell may still spend. The zero value is a cell without budget.
type hold struct{ left int }

// reserve waits until a cell of up to rounds requests may start. It returns false
// when the budget is exhausted or ctx ends.
func (b *budget) reserve(ctx context.Context, rounds int) (hold, bool) {
	if b == nil {
		return hold{}, true
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

// room says how many requests a new cell may reserve; when none, whether cells in
// flight may still make room.
func (b *budget) room(rounds int) (n int, wait bool) {
	if b.over != nil {
		return 0, false
	}
	n = rounds
	if b.max.MaxCalls > 0 {
		free := b.max.MaxCalls - b.used - b.held
		// The last requests go to one cell, even when they may not suffice for it.
		if n = min(rounds, free); n < rounds && b.cells > 0 {
			return 0, true
		}
		if n <= 0 {
			b.over = fmt.Errorf("%d of %d calls were made: %w", b.used, b.max.MaxCalls, callvet.ErrBudget)
			return 0, false
		}
	}
	if b.max.MaxCostUSD > 0 {
		if !b.priced && b.cells > 0 {
			return 0, true // the first cell goes alone: it tells what a cell costs
		}
		if b.spent+float64(b.cells+1)*b.largest > b.max.MaxCostUSD || b.spent >= b.max.MaxCostUSD {
			if b.cells > 0 {
				return 0, true
			}
			b.over = fmt.Errorf("%.6g of %.6g USD were spent and a cell may cost %.6g: %w", b.spent, b.max.MaxCostUSD, b.largest, callvet.ErrBudget)
			return 0, false
		}
	}
	return n, false
}

// request takes one request from the cell's hold, or from what nobody holds.
func (b *budget) request(h *hold) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case h.left > 0:
		h.left--
		b.held--
	case b.max.MaxCalls > 0 && b.used+b.held >= b.max.MaxCalls:
		if b.over == nil {
			b.over = fmt.Errorf("%d of %d calls were made: %w", b.used, b.max.MaxCalls, callvet.ErrBudget)
		}
		return false
	}
	b.used++
	return true
}

// settle returns what a cell did not use and books what it cost. A cost that is
// not known ends the run when a cost limit was set: it cannot be kept.
func (b *budget) settle(h *hold, u callvet.Usage, target string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= h.left
	b.cells--
	b.priced = true
	switch {
	case u.CostUSD != nil:
		b.spent += *u.CostUSD
		b.largest = max(b.largest, *u.CostUSD)
	case u.Known && b.max.MaxCostUSD > 0 && b.over == nil:
		b.over = &callvet.Hinted{
			Err:  fmt.Errorf("the price of %s is not known, so a cost limit cannot be kept: %w", target, callvet.ErrBudget),
			Hint: "limit the number of requests with --max-calls instead",
		}
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// exhausted returns why the run must stop, or nil.
func (b *budget) exhausted() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}
