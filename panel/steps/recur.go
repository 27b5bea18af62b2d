// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"slices"

	"github.com/callvet/callvet"
)

// hashes packs four values into two words, because a step has no room for more. The first two are
// 40 bits of a hash of the arguments and 40 bits of the result (both 0 for not recorded). The
// others are 47 bits of the call's turn and id (0 without an id), and one bit: the line corrects
// earlier ones of its call.
type hashes [2]uint64

const (
	below     = 24 // bits of each word that belong to the call
	lowBits   = 1<<below - 1
	corrected = 1 // the lowest bit of the second word
)

func hashesOf(s *Step) hashes {
	id := uint64(0)
	if len(s.CallID) > 0 {
		id = hash(uint64(s.Turn)*hashSeed, s.CallID) | 1<<below
	}
	low := id & lowBits &^ corrected
	if s.Corrects {
		low |= corrected
	}
	return hashes{short(s.Args) | id>>below&lowBits, short(s.Result) | low}
}

// short is the high part of a word: the low bits of a hash, 0 only where the hash is 0.
func short(h uint64) uint64 {
	if h != 0 && h<<below == 0 {
		h = 1
	}
	return h << below
}

func (h *hashes) args() uint64 { return h[0] >> below }

func (h *hashes) result() uint64 { return h[1] >> below }

// call identifies the call in its attempt; 0 where its line has no id.
func (h *hashes) call() uint64 { return (h[0]&lowBits)<<below | h[1]&lowBits&^corrected }

func (h *hashes) corrects() bool { return h[1]&corrected != 0 }

// recur reports whether two steps are lines of the same call.
func (s *Sums) recur(list []step) bool {
	seen, hits := uint64(0), uint64(0)
	for i := range list {
		bit := uint64(1) << (list[i].hashes[0] & 63)
		hits |= seen & bit
		seen |= bit
	}
	if hits == 0 { // mostly
		return false
	}
	s.calls = s.calls[:0]
	for i := range list {
		if id := list[i].hashes.call(); id != 0 {
			s.calls = append(s.calls, id^spread(uint64(list[i].attempt)))
		}
	}
	slices.Sort(s.calls)
	for i := 1; i < len(s.calls); i++ {
		if s.calls[i] == s.calls[i-1] {
			return true
		}
	}
	return false
}

// same reports whether two lines of a call are equal in everything that is summed.
func (s *step) same(o *step) bool {
	a, b := *s, *o
	a.line, b.line = 0, 0
	a.hashes[1] &^= corrected
	b.hashes[1] &^= corrected
	if a.set.Target == b.set.Target && a.set.Tool == b.set.Tool && slices.Equal(a.set.IDs, b.set.IDs) {
		b.set = a.set
	}
	return a == b
}

// redeliver leaves each call the line that counts.
func (s *Sums) redeliver(t *task) {
	type call struct {
		attempt uint32
		id      uint64
	}
	of := map[call][]int{}
	for i := range t.steps {
		if id := t.steps[i].hashes.call(); id != 0 {
			key := call{t.steps[i].attempt, id}
			of[key] = append(of[key], i)
		}
	}
	drop := make([]bool, len(t.steps))
	for _, lines := range of {
		if len(lines) > 1 {
			s.deliverCall(t, lines, drop)
		}
	}
	var kept []step // another worker may still read the old list
	for i := range t.steps {
		if !drop[i] {
			kept = append(kept, t.steps[i])
		}
	}
	t.steps = kept
}

// deliverCall marks the lines of a call that do not count.
func (s *Sums) deliverCall(t *task, lines []int, drop []bool) {
	var d callvet.Deliveries
	for n, i := range lines {
		content := n
		for m := range n {
			if t.steps[i].same(&t.steps[lines[m]]) {
				content = m
				break
			}
		}
		d.Add(uint64(content), t.steps[i].hashes.corrects())
		drop[i] = true
	}
	s.duplicates.copies, s.duplicates.corrected = s.duplicates.copies+int64(d.Merged), s.duplicates.corrected+int64(d.Replaced)
	if d.Conflict() {
		s.duplicates.conflict(Conflict{Line: t.steps[lines[d.Against]].line, Of: t.steps[lines[d.Of]].line, Call: true})
		return
	}
	drop[lines[d.Counts]] = false
}
