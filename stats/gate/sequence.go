// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import "math"

// LaterAlpha is the error rate of each side of a gate at later looks, where the first one was that of
// a fixed number of tasks. Source: Statistics specification, section 16.6.
const LaterAlpha = 0.005

// bets is the number of stakes that Bets mixes.
const bets = 20

// Bets is the evidence against the claim that the mean of values in [0,1] is at most Bound. It is the
// wealth of a player who starts with 1 and bets on each value in turn, by 20 stakes at once. If the claim is
// true, the wealth reaches 1/alpha with probability alpha at most, however often it is looked at. The
// zero value is against a mean of 0. Source: Ville 1939; Waudby-Smith and Ramdas 2024; Statistics
// specification, section 16.6.
type Bets struct {
	Bound float64
	logs  [bets]float64
}

// Add bets on a value in [0,1].
func (b *Bets) Add(x float64) { b.add(x, 1) }

// add bets on a value n times.
func (b *Bets) add(x, n float64) {
	for j := range b.logs {
		if b.Bound > 0 {
			b.logs[j] += n * math.Log1p(float64(j+1)/(bets+1)*(x/b.Bound-1))
		} else if x > 0 && n > 0 { // a mean of 0 has no such value
			b.logs[j] = math.Inf(1)
		}
	}
}

// Log is the natural logarithm of the wealth; 0 without a value.
func (b *Bets) Log() float64 {
	most := b.logs[0]
	for _, l := range b.logs {
		most = max(most, l)
	}
	if math.IsInf(most, 1) {
		return most
	}
	sum := 0.0
	for _, l := range b.logs {
		sum += math.Exp(l - most)
	}
	return most + math.Log(sum/bets)
}

// reaches reports whether Log is at least need. It is faster: most values do not come near.
func (b *Bets) reaches(need float64) bool {
	for _, l := range b.logs { // Log is at most the largest of them
		if l >= need {
			return b.Log() >= need
		}
	}
	return false
}

// Task is the mean of a metric at a task, in [0,1], at its lowest and at its highest. The two differ
// where attempts were lost: by the share of these.
type Task struct{ Low, High float64 }

// Flipped is the task by the opposite of its metric.
func (t Task) Flipped() Task { return Task{1 - t.High, 1 - t.Low} }

// SequenceRule is a gate that may be looked at after every task. More is better.
type SequenceRule struct {
	// Pass and Fail are in [0,1]: a pass needs evidence against a mean of at most Pass, a failure
	// evidence against a mean of at least Fail.
	Pass, Fail float64
	// Alpha is the error rate of each side, in (0,1).
	Alpha float64
	// MinUnits is the least number of tasks for a pass, MaxLost the largest share of lost attempts.
	MinUnits int
	MaxLost  float64
	// MinEffect is how far the mean is below Fail at least for a failure.
	MinEffect float64
}

// Bounded is the rule for a bound on a mean in [0,1]. flip reports that less is better: then each task
// enters Sequence.Add flipped.
func Bounded(d Direction, bound float64) (r SequenceRule, flip bool) {
	if d == AtMost {
		return SequenceRule{Pass: 1 - bound, Fail: 1 - bound, Alpha: Alpha}, true
	}
	return SequenceRule{Pass: bound, Fail: bound, Alpha: Alpha}, false
}

// Paired is the rule for a difference of task means, candidate - baseline, where more is better. Each
// task enters as (1+difference)/2. margin is the loss allowed, minEffect the least loss of a failure,
// both at least 0.
func Paired(margin, minEffect float64) SequenceRule {
	return SequenceRule{Pass: (1 - margin) / 2, Fail: 0.5, Alpha: Alpha, MinEffect: minEffect / 2}
}

// Sequence decides a gate task by task. The tasks come in an order that was fixed before they were
// asked. The first decision is final. Source: Statistics specification, section 16.6.
type Sequence struct {
	rule       SequenceRule
	pass, fail Bets
	n          int
	lost, high float64 // sums
	decided    Decision
	after      int
}

// The reasons of a sequence.
const (
	ReasonBetPasses = "evidence_above_bound"
	ReasonBetFails  = "evidence_below_bound"
	ReasonUndecided = "evidence_too_weak"
)

// NewSequence starts a sequence. ok is false for bounds or error rates outside of their range.
func NewSequence(r SequenceRule) (s *Sequence, ok bool) {
	if !(r.Pass >= 0 && r.Pass <= 1 && r.Fail >= 0 && r.Fail <= 1) || !inside(r.Alpha) {
		return nil, false
	}
	return &Sequence{
		rule: r, pass: Bets{Bound: r.Pass}, fail: Bets{Bound: 1 - r.Fail},
		decided: Decision{Inconclusive, ReasonUndecided},
	}, true
}

// Add takes the next task and returns the decision so far. After a decision it changes nothing.
func (s *Sequence) Add(t Task) Decision {
	s.Take(t)
	return s.Look()
}

// Take adds the next task without a look. If means of tasks changed since their own looks, only
// all tasks together are evidence. After a decision it changes nothing.
func (s *Sequence) Take(t Task) {
	if !s.Decided() {
		s.n++
		s.count(t, 1)
	}
}

// Replace replaces the mean of a task, after further attempts at it. After a decision it changes
// nothing.
func (s *Sequence) Replace(old, with Task) Decision {
	if !s.Decided() {
		s.count(old, -1)
		s.count(with, 1)
	}
	return s.Look()
}

// count bets on a task, or with a sign of -1 takes the bet on it back.
func (s *Sequence) count(t Task, sign float64) {
	s.pass.add(t.Low, sign)
	s.fail.add(1-t.High, sign)
	s.lost, s.high = s.lost+sign*(t.High-t.Low), s.high+sign*t.High
}

// Look decides where the evidence is enough.
func (s *Sequence) Look() Decision {
	n := float64(s.n)
	switch need := s.Needed(); {
	case s.Decided() || s.n == 0:
	case s.fail.reaches(need) && s.high/n <= s.rule.Fail-s.rule.MinEffect:
		s.decided, s.after = Decision{Fail, ReasonBetFails}, s.n
	case s.pass.reaches(need) && s.n >= s.rule.MinUnits && s.lost <= s.rule.MaxLost*n:
		s.decided, s.after = Decision{Pass, ReasonBetPasses}, s.n
	}
	return s.decided
}

// Decision is the decision so far.
func (s *Sequence) Decision() Decision { return s.decided }

// Decided reports whether the gate passed or failed.
func (s *Sequence) Decided() bool { return s.after > 0 }

// After is the number of tasks that decided it; 0 where it is undecided.
func (s *Sequence) After() int { return s.after }

// N is the number of tasks that were looked at.
func (s *Sequence) N() int { return s.n }

// Evidence is the natural logarithm of the evidence for a pass and for a failure; a side wins at
// Needed.
func (s *Sequence) Evidence() (pass, fail float64) { return s.pass.Log(), s.fail.Log() }

// Needed is the logarithm of the evidence that decides.
func (s *Sequence) Needed() float64 { return -math.Log(s.rule.Alpha) }

// Hopeless reports whether no outcome of so many further tasks decides the gate.
func (s *Sequence) Hopeless(left int) bool {
	if s.Decided() {
		return false
	}
	pass, fail, n := s.pass, s.fail, float64(left)
	pass.add(1, n)
	fail.add(1, n)
	return !(pass.Log() >= s.Needed() && s.n+left >= s.rule.MinUnits) && !(fail.Log() >= s.Needed())
}

// LookAlpha is the error rate of each side of a gate at a look, for metrics without a sequence. The
// first look has that of a single one, each later one less. Source: Statistics specification, section
// 16.6.
func LookAlpha(look int) float64 {
	if look <= 1 {
		return Alpha
	}
	return LaterAlpha * math.Pow(2, -float64(look-1))
}

// P is the anytime-valid p value of a loss, in [0,1], for corrections of several claims.
func (s *Sequence) P() float64 { return min(1, math.Exp(-s.fail.Log())) }
