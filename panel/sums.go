// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"cmp"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
)

// moment is the sum of n values of one case.
type moment struct {
	sum        float64
	n          int
	fractional bool
}

func (m *moment) add(s sample) {
	m.sum += s.sum
	m.n += s.n
	m.fractional = m.fractional || !s.binary
}

// pair is a numerator with its denominator; empty when nothing was added.
type pair struct {
	y, x float64
	any  bool
}

func (p *pair) add(y, x float64) { p.y, p.x, p.any = p.y+y, p.x+x, true }

func (p pair) into(r *stats.Ratio) {
	if p.any {
		r.Add(p.y, p.x)
	}
}

// counts are the plain counts of attempts.
type counts struct {
	verdicts Verdicts
	outcomes [5]int
	classes  [20]int
	usage    Usage
	open     Unevaluated
}

var outcomes = [5]callvet.Outcome{
	callvet.OutcomeCalled, callvet.OutcomeAbstained, callvet.OutcomeUnparseable, callvet.OutcomeError, callvet.OutcomeNotRun,
}

// classes in order of precedence.
var classes = [20]callvet.Class{
	callvet.ClassProvider, callvet.ClassUnparseable, callvet.ClassToolHalluc, callvet.ClassMissedCall,
	callvet.ClassUnneededCall, callvet.ClassWrongTool, callvet.ClassContract, callvet.ClassArgHalluc,
	callvet.ClassWrongArgs, callvet.ClassMissingPrereq, callvet.ClassWrongOrder, callvet.ClassLoop,
	callvet.ClassIncomplete, callvet.ClassPolicy, callvet.ClassBudget, callvet.ClassAnswer,
	callvet.ClassRoute, callvet.ClassSubRoute, callvet.ClassAgents, callvet.ClassSelected,
}

// Classes lists the error classes in order of precedence.
func Classes() []callvet.Class { return slices.Clone(classes[:]) }

func (c *counts) add(tr *callvet.Trace, r *callvet.Result, v callvet.Verdict) {
	switch v {
	case callvet.VerdictPass:
		c.verdicts.Pass++
	case callvet.VerdictFail:
		c.verdicts.Fail++
	case callvet.VerdictNotRun:
		c.verdicts.NotRun++
	default:
		c.verdicts.Error++
	}
	if v != callvet.VerdictError {
		c.open.Assertions += r.NotEvaluated
	}
	if v == callvet.VerdictPass && r.NotEvaluated > 0 {
		c.open.Passed++
	}
	if v == callvet.VerdictNotRun && tr.Outcome != callvet.OutcomeNotRun {
		c.open.Unjudged++
	}
	if i := slices.Index(outcomes[:], tr.Outcome); i >= 0 {
		c.outcomes[i]++
	}
	if r.Class == "" || v == callvet.VerdictPass {
		return
	}
	if i := slices.Index(classes[:], r.Class); i >= 0 {
		c.classes[i]++
	}
}

func (c *counts) plus(o *counts) {
	c.verdicts.Pass += o.verdicts.Pass
	c.verdicts.Fail += o.verdicts.Fail
	c.verdicts.Error += o.verdicts.Error
	c.verdicts.NotRun += o.verdicts.NotRun
	for i := range c.outcomes {
		c.outcomes[i] += o.outcomes[i]
	}
	for i := range c.classes {
		c.classes[i] += o.classes[i]
	}
	c.open.Assertions += o.open.Assertions
	c.open.Passed += o.open.Passed
	c.open.Unjudged += o.open.Unjudged
	u, v := &c.usage, &o.usage
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.ReasoningTokens += v.ReasoningTokens
	u.CostUSD += v.CostUSD
	u.CostKnown += v.CostKnown
	u.CostUnknown += v.CostUnknown
	u.UsageUnknown += v.UsageUnknown
	u.Requests += v.Requests
	u.Cached += v.Cached
}

// sums are what one table is made of.
type sums struct {
	cases, cells          int
	counts                counts
	metrics               []stats.Clusters
	unknown               []int // by metric
	cost, tokens, perPass stats.Ratio
	passAt, passHat       []stats.Clusters // by trialCounts
	shortTrials           int              // cases with fewer judged attempts than repeats
}

func (s *sums) clone() sums {
	c := *s
	c.metrics, c.unknown = slices.Clone(s.metrics), slices.Clone(s.unknown)
	c.passAt, c.passHat = slices.Clone(s.passAt), slices.Clone(s.passHat)
	return c
}

// add adds one finished case.
func (s *sums) add(cs *caseSums, repeats int) {
	s.cases++
	s.cells += cs.cells
	s.counts.plus(&cs.counts)
	for len(s.metrics) < len(cs.metrics) {
		s.metrics = append(s.metrics, stats.Clusters{})
	}
	for i, m := range cs.metrics {
		s.metrics[i].Add(m.sum, m.n, !m.fractional)
	}
	for len(s.unknown) < len(cs.unknown) {
		s.unknown = append(s.unknown, 0)
	}
	for i, n := range cs.unknown {
		s.unknown[i] += n
	}
	cs.cost.into(&s.cost)
	cs.tokens.into(&s.tokens)
	cs.perPass.into(&s.perPass)
	if repeats > 1 {
		s.trials(cs, repeats)
	}
}

// trials adds the case to pass@k and pass^k. Cases with fewer judged attempts
// than k are left out of that k.
func (s *sums) trials(cs *caseSums, repeats int) {
	ks := trialCounts(repeats)
	if s.passAt == nil {
		s.passAt, s.passHat = make([]stats.Clusters, len(ks)), make([]stats.Clusters, len(ks))
	}
	if cs.scored < repeats {
		s.shortTrials++
	}
	for i, k := range ks {
		at, ok := stats.PassAtK(cs.scored, cs.passes, k)
		if !ok {
			continue
		}
		hat, _ := stats.PassHatK(cs.scored, cs.passes, k)
		s.passAt[i].Add(at, 1, at == 0 || at == 1)
		s.passHat[i].Add(hat, 1, hat == 0 || hat == 1)
	}
}

// trialCounts are the k for which pass@k and pass^k are told: 2 to 4, powers of
// two below the number of repeats, and that number.
func trialCounts(repeats int) []int {
	var ks []int
	for k := 2; k < repeats; k++ {
		if k <= 4 || k&(k-1) == 0 {
			ks = append(ks, k)
		}
	}
	return append(ks, repeats)
}

func confusionRows(m map[[2]string]int) []Confused {
	out := make([]Confused, 0, len(m))
	for k, n := range m {
		out = append(out, Confused{Expected: k[0], Called: k[1], N: n})
	}
	slices.SortFunc(out, func(a, b Confused) int {
		return cmp.Or(cmp.Compare(a.Expected, b.Expected), cmp.Compare(b.N, a.N), cmp.Compare(a.Called, b.Called))
	})
	return out
}
