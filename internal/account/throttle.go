// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/callvet/callvet"
)

// LimitError means that the client must wait. It wraps callvet.ErrLimited.
type LimitError struct {
	What string
	// After is how many seconds to wait, at least 1.
	After int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: wait %d s: %v", e.What, e.After, callvet.ErrLimited)
}

// Unwrap returns the kind of error.
func (e *LimitError) Unwrap() error { return callvet.ErrLimited }

// How many failures have no delay, and the longest wait. The wait of a name is short and counts for
// one address, so that other clients cannot make its user wait. The wait of an address is long, and
// many users may share one address.
const (
	freeOfName    = 5
	freeOfAddress = 20
	longOfName    = time.Minute
	longOfAddress = 15 * time.Minute
	forgotten     = time.Hour // after the last failure
	maxFailing    = 10_000    // names and addresses that are remembered
)

// throttle counts failed logins, of each name at each address, and of each address. It is in
// memory: a restart clears it, but a restart delays an attacker more than that helps.
type throttle struct {
	mu    sync.Mutex
	known map[string]*failing
	most  int
}

// failing are the failed logins of a name or an address.
type failing struct {
	fails int
	last  time.Time
	until time.Time
}

func newThrottle() *throttle { return &throttle{known: map[string]*failing{}, most: maxFailing} }

// network returns the part that counts as one address: an IPv4 address, or 64 bits of IPv6, because
// one machine has all addresses of such a network.
func network(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if at = at.Unmap().WithZone(""); at.Is6() {
		p, _ := at.Prefix(64) // 64 bits are in range
		return p.String()
	}
	return at.String()
}

// nameAt returns the key of a name tried from an address.
func nameAt(name, address string) string { return name + " at " + network(address) }

// try counts an attempt as failed in advance, so that concurrent attempts do not evade the limit;
// pass undoes it. Without an address only the name counts. If the error is a *LimitError, the
// attempt must not be made.
func (t *throttle) try(now time.Time, name, address string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, a := t.of("name "+name, now), &failing{until: now}
	if address != "" {
		a = t.of("address "+network(address), now)
	}
	until := n.until
	if a.until.After(until) {
		until = a.until
	}
	if wait := until.Sub(now); wait > 0 {
		return &LimitError{What: "too many failed logins", After: int(wait/time.Second) + 1}
	}
	n.fail(now, freeOfName, longOfName)
	a.fail(now, freeOfAddress, longOfAddress)
	return nil
}

// pass undoes try: the name has no more failures, the address one less.
func (t *throttle) pass(now time.Time, name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, "name "+name)
	if a := t.known["address "+network(address)]; a != nil {
		a.fails, a.until, a.last = max(a.fails-1, 0), now, now
	}
}

// fail counts a failure. The wait doubles with each failure that is not free.
func (f *failing) fail(now time.Time, free int, long time.Duration) {
	f.fails, f.last = f.fails+1, now
	if over := f.fails - free; over > 0 {
		f.until = now.Add(min(time.Second<<min(over-1, 20), long))
	}
}

// of returns the known entry, or makes room for a new one.
func (t *throttle) of(key string, now time.Time) *failing {
	f := t.known[key]
	if f != nil && f.last.After(now) { // the clock went back: the wait must not grow by that
		f.until, f.last = f.until.Add(now.Sub(f.last)), now
	}
	if f != nil && now.Sub(f.last) < forgotten {
		return f
	}
	if f == nil && len(t.known) >= t.most {
		t.shrink(now)
	}
	f = &failing{last: now, until: now}
	t.known[key] = f
	return f
}

// shrink removes old entries and, if that is not enough, a tenth of those that failed least.
func (t *throttle) shrink(now time.Time) {
	for k, f := range t.known {
		if now.Sub(f.last) >= forgotten {
			delete(t.known, k)
		}
	}
	for fails := 1; len(t.known) > t.most*9/10; fails *= 2 {
		for k, f := range t.known {
			if f.fails <= fails && len(t.known) > t.most*9/10 {
				delete(t.known, k)
			}
		}
	}
}
