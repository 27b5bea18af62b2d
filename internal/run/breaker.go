// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/callvet/callvet"
)

// breaker stops the requests to a target that always fails for a reason that waiting does not
// remove. One wrong key then causes five faults, not five thousand times four requests. A resumed
// run tries again.
type breaker struct {
	after int

	mu      sync.Mutex
	streak  int
	reason  string
	verdict *callvet.Fault
	tripped chan struct{}
}

func newBreaker(after int) *breaker {
	return &breaker{after: after, tripped: make(chan struct{})}
}

// open returns the fault to report without a request, or nil.
func (b *breaker) open() *callvet.Fault {
	select {
	case <-b.tripped:
		return b.verdict // written before tripped was closed
	default:
		return nil
	}
}

// record takes the end of a cell: nil for one that was answered.
func (b *breaker) record(f *callvet.Fault) {
	if b.after < 0 || b.open() != nil {
		return
	}
	reason := fatal(f)
	b.mu.Lock()
	defer b.mu.Unlock()
	if reason == "" || reason != b.reason {
		b.streak, b.reason = 0, reason
	}
	if reason == "" || b.verdict != nil {
		return
	}
	if b.streak++; b.streak < b.after {
		return
	}
	b.verdict = &callvet.Fault{
		Kind: f.Kind, HTTP: f.HTTP, Param: f.Param,
		Message: fmt.Sprintf("not asked: %d attempts at this target in a row had failed with: %s", b.streak, f.Message),
	}
	close(b.tripped)
}

// fatal names the reason of a fault that will not pass, or "".
func fatal(f *callvet.Fault) string {
	switch {
	case f == nil:
		return ""
	case f.Kind == callvet.FaultAuth:
		return "auth"
	case f.Kind == callvet.FaultRequest && f.HTTP == http.StatusNotFound:
		return "not found"
	case f.Kind == callvet.FaultNetwork && strings.Contains(f.Message, "refused"):
		return "refused"
	case f.Kind == callvet.FaultNetwork && strings.Contains(f.Message, "no such host"):
		return "no such host"
	}
	return ""
}
