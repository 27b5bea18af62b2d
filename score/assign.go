// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import "fmt"

const (
	// MaxExpectedCalls is how many calls a plan, or counts, may expect: each is compared with
	// each actual call.
	MaxExpectedCalls = 500
	// maxPairs bounds the comparisons of one plan with one attempt, some 100 bytes each.
	maxPairs = 1 << 18
)

// tooMany returns why the plans of the case cannot be compared with this number of calls; ""
// where they can.
func (k *Compiled) tooMany(made int) string {
	switch n := k.widest; {
	case n > MaxExpectedCalls:
		return fmt.Sprintf("the case expects %d calls in one list, and %d can be compared", n, MaxExpectedCalls)
	case n*made > maxPairs:
		return fmt.Sprintf("%d calls were made where %d are expected: more than can be compared", made, n)
	}
	return ""
}

// assign finds which actual call answers which expected one; it fills w.calls'
// pairing w.sol.Of and w.pairs.
func (w *scratch) assign(p *plan) {
	n, m := len(p.calls), len(w.calls)
	w.sol.Reset(n, m)
	w.pairs = resize(w.pairs, n*m)
	if n == 0 || m == 0 || n == m && w.diagonal(p) {
		return
	}
	w.sol.Clear()
	for i := range p.calls {
		e := &p.calls[i]
		for j, may := range w.answerers(e) {
			if !may {
				continue
			}
			x := w.compare(e, &w.calls[j])
			score := 1.0
			if e.args != nil {
				score = e.accuracy(&x)
			}
			w.pairs[i*m+j] = x
			w.sol.Set(i, j, x.near, score, !e.src.Optional)
		}
	}
	w.sol.Solve(&p.sequence)
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// diagonal is a shortcut for the common case that every call completely answers the expectation
// at the same position; no assignment is better.
func (w *scratch) diagonal(p *plan) bool {
	n := len(p.calls)
	for i := range p.calls {
		e := &p.calls[i]
		if !w.k.accepts(e, w.calls[i].src.Tool) || (e.src.Nth != 0 || e.src.Message != 0) && !w.answerers(e)[i] {
			return false
		}
		at := i*n + i
		if w.pairs[at] = w.compare(e, &w.calls[i]); !w.pairs[at].pass && n > 1 {
			return false
		}
	}
	for i := range w.sol.Of {
		w.sol.Of[i] = i
	}
	if !p.sequence.Kept(w.sol.Of) {
		w.sol.Reset(n, n)
		return false
	}
	return true
}
