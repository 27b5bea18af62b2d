// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// sample is k of n for one metric of one attempt.
type sample struct {
	metric int
	sum    float64
	n      int
	binary bool
}

// observe adds one attempt to the sums of its case.
func (a *Accumulator) observe(t *targetSums, cs *caseSums, c *callvet.Case, cell *callvet.Cell) {
	tr, r := &cell.Trace, &cell.Result
	cs.cells++
	verdict := r.Verdict
	// What the trace says of its end outweighs a missing result.
	switch {
	case tr.Outcome == callvet.OutcomeNotRun:
		verdict = callvet.VerdictNotRun
	case tr.Outcome == callvet.OutcomeError || verdict == "":
		verdict = callvet.VerdictError
	}
	cs.counts.add(tr, r, verdict)
	if verdict != callvet.VerdictError {
		for i := range r.Assertions {
			if as := &r.Assertions[i]; as.State == callvet.AssertNotEvaluated {
				t.unevaluated[[2]string{as.Name, as.Reason}]++
			}
		}
	}
	if verdict == callvet.VerdictNotRun {
		return
	}
	a.pairs, a.open = a.pairs[:0], a.open[:0]
	a.rate(mError, verdict == callvet.VerdictError)
	cs.spend(tr, verdict == callvet.VerdictPass, t.unbilled)
	t.time(tr, cell.Case)
	if verdict != callvet.VerdictError {
		cs.scored++
		if verdict == callvet.VerdictPass {
			cs.passes++
		}
		a.judged(t, c, cell, verdict)
	}
	for _, p := range a.pairs {
		for p.metric >= len(cs.metrics) {
			cs.metrics = append(cs.metrics, moment{})
		}
		cs.metrics[p.metric].add(p)
	}
	for _, m := range a.open {
		for m >= len(cs.unknown) {
			cs.unknown = append(cs.unknown, 0)
		}
		cs.unknown[m]++
	}
}

func (a *Accumulator) rate(metric int, yes bool) {
	p := sample{metric: metric, n: 1, binary: true}
	if yes {
		p.sum = 1
	}
	a.pairs = append(a.pairs, p)
}

// judged adds what only an attempt with a verdict has.
func (a *Accumulator) judged(t *targetSums, c *callvet.Case, cell *callvet.Cell, verdict callvet.Verdict) {
	tr, r := &cell.Trace, &cell.Result
	a.rate(mPass, verdict == callvet.VerdictPass)
	failed := verdict == callvet.VerdictFail
	t.failing += one(failed)
	if tr.Decision != nil {
		a.decided(t, c, tr.Decision, r)
		return
	}
	unreadable := tr.Outcome == callvet.OutcomeUnparseable
	a.rate(mUnparseable, unreadable)
	a.rate(mRepaired, tr.Format == callvet.FormatNormalized)
	a.rate(mNative, tr.Format == callvet.FormatPass)
	a.scores(r)
	a.unasserted(c, r)
	uses := a.contracts.hold(c, tr)
	a.budgets(uses)
	t.symptoms.hold(uses, failed, place{index: cell.Case, repeat: cell.Repeat, id: c.ID})
	see := func(want, got string) { t.confusion[[2]string{want, got}]++ }
	if unreadable {
		t.symptoms.observe(observed{c, &a.cfg.Targets[cell.Target], cell, 0, failed})
		a.unreadable(c, r, see)
		return
	}
	k := counted(c, tr.Calls(), r, func(name string) bool { return a.unknown(c, name) }, see)
	t.symptoms.observe(observed{c, &a.cfg.Targets[cell.Target], cell, k.needed, failed})
	if !k.known {
		return
	}
	if k.made > 0 {
		a.calls(mOverCall, overCall(r), min(k.unneeded, k.made), k.made)
	}
	if k.needed > 0 {
		a.calls(mMiss, r.Score(scoreMiss), min(k.missed, k.needed), k.needed)
	}
	if s := r.Score(scoreAbstention); s.Scored {
		a.rate(mAbstention, s.Value == 1)
	} else if k.none {
		a.rate(mAbstention, tr.Outcome == callvet.OutcomeAbstained)
	}
}

// overCall is that score, by the name that it had in older results as well.
func overCall(r *callvet.Result) callvet.Score {
	if s := r.Score(scoreOverCall); s.Scored {
		return s
	}
	return r.Score("overcall")
}

// argumentScores are what a case tells nothing of that asserts no arguments.
var argumentScores = [...]string{"arg_accuracy", "arg_em", "arg_em_keys", "arg_precision", "arg_recall", "arg_f1"}

// unasserted notes that nothing says which arguments would have been right. Where no call
// is wanted there are none.
func (a *Accumulator) unasserted(c *callvet.Case, r *callvet.Result) {
	if e := expectation(c, r.Plan, nil); e.known && len(e.calls) == 0 {
		return
	}
	for _, name := range argumentScores {
		if !slices.ContainsFunc(r.Scores, func(s callvet.Score) bool { return s.Name == name }) {
			a.open = append(a.open, a.metric(name))
		}
	}
}

// Names of the scores that decide about calls where the scorer gives them.
const (
	scoreOverCall   = "over_call"
	scoreMiss       = "miss"
	scoreAbstention = "abstention"
)

// calls adds k of n calls. Where the scorer gave the share of this attempt, it
// knows better what counts (prerequisites, calls that may be extra), and k is
// what makes that share of n.
func (a *Accumulator) calls(metric int, s callvet.Score, k, n int) {
	sum := float64(k)
	if s.Scored && s.Value >= 0 && s.Value <= 1 {
		sum = s.Value * float64(n)
		if r := math.Round(sum); math.Abs(sum-r) < 1e-6 {
			sum = r
		}
	}
	a.pairs = append(a.pairs, sample{metric, sum, n, sum == math.Trunc(sum)})
}

// unreadable counts an attempt whose call could not be read: it is no
// abstention, and every call it should have made is missing.
func (a *Accumulator) unreadable(c *callvet.Case, r *callvet.Result, see func(want, got string)) {
	e := expectation(c, r.Plan, nil)
	if !e.known {
		return
	}
	if len(e.calls) == 0 {
		see(None, Unreadable)
		a.rate(mAbstention, false)
		return
	}
	needed := 0
	for i, names := range e.calls {
		if !e.optional[i] {
			see(first(names), Unreadable)
			needed++
		}
	}
	if needed > 0 {
		a.pairs = append(a.pairs, sample{mMiss, float64(needed), needed, true})
	}
}

// unknown reports whether a name is in neither the case's nor the suite's tools.
func (a *Accumulator) unknown(c *callvet.Case, name string) bool {
	for i := range c.Tools {
		if strings.EqualFold(c.Tools[i].Name, name) {
			return false
		}
	}
	if len(c.Tools) > 0 || len(a.tools) == 0 {
		return len(c.Tools) > 0
	}
	_, ok := a.tools[strings.ToLower(name)]
	return !ok
}

// spend adds tokens and cost, which errors consume too. What a free target does not
// tell is not unknown, nor what a request took that was refused: there is nothing to
// tell.
func (cs *caseSums) spend(tr *callvet.Trace, passed, free bool) {
	u := &tr.Usage
	free = free || tr.Fault != nil && !tr.Fault.Billable()
	cs.counts.usage.Requests += tr.Attempts
	if tr.Cached {
		cs.counts.usage.Cached++
	}
	if !u.Known {
		if !free {
			cs.counts.usage.UsageUnknown++
		}
	} else {
		cs.counts.usage.InputTokens += u.InputTokens
		cs.counts.usage.OutputTokens += u.OutputTokens
		cs.counts.usage.ReasoningTokens += u.ReasoningTokens
		cs.tokens.add(float64(u.InputTokens+u.OutputTokens), 1)
	}
	if u.CostUSD == nil {
		if !free {
			cs.counts.usage.CostUnknown++
		}
		return
	}
	cs.counts.usage.CostKnown++
	cs.counts.usage.CostUSD += *u.CostUSD
	won := 0.0
	if passed {
		won = 1
	}
	cs.cost.add(*u.CostUSD, 1)
	cs.perPass.add(*u.CostUSD, won)
}

// time keeps the latency of an attempt that was really made. A timeout is as
// slow as its limit, or slower; other errors say nothing about speed.
func (t *targetSums) time(tr *callvet.Trace, index int) {
	if tr.Cached || !(tr.WallMS > 0) {
		return
	}
	timeout := tr.Fault != nil && tr.Fault.Kind == callvet.FaultTimeout
	if tr.Outcome == callvet.OutcomeError && !timeout {
		return
	}
	t.wall = append(t.wall, stats.Observation{Value: tr.WallMS, Cluster: int32(index), Censored: timeout})
	if tr.FirstTokenMS > 0 {
		t.firstTok = append(t.firstTok, stats.Observation{Value: tr.FirstTokenMS, Cluster: int32(index)})
	}
}
