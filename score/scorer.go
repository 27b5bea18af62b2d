// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"cmp"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// Config is what scoring needs beside the suite.
type Config struct {
	// Similarity answers for mode semantic; nil makes that mode a problem. It must
	// be deterministic for one pair of texts and safe for concurrent use.
	Similarity match.Similarity
	// Keep bounds how many compiled cases are kept, and the cases with them; 0
	// means 4096. Cases are scored in order or per target, so neighbors in the
	// suite's slice get slots of their own.
	Keep int
}

const cacheSlots = 4096

// Scorer judges attempts at the cases of one suite. It is safe for concurrent
// use; suite and cases must not change while it is used.
type Scorer struct {
	suite *callvet.Suite
	tools *catalogue
	cfg   Config
	cache []atomic.Pointer[compiled]
	pool  sync.Pool
}

var _ callvet.Scorer = (*Scorer)(nil)

// New compiles the suite's tools and reads every case once for problems: tools
// whose schema does not compile, unknown modes, invalid patterns, thresholds,
// tolerances, dates and expressions, semantic matching without an embedder. The
// Scorer is usable in spite of them; what has a problem matches nothing.
func New(s *callvet.Suite, cfg Config) (*Scorer, []callvet.Problem) {
	sc, ps := Open(s, cfg)
	for i := range s.Cases {
		_, more := sc.compile(&s.Cases[i])
		ps = append(ps, more...)
	}
	return sc, ps
}

// Open compiles the suite's tools only and gives their problems. A case is
// compiled when it is first inspected or scored; it need not be in s.Cases.
func Open(s *callvet.Suite, cfg Config) (*Scorer, []callvet.Problem) {
	if cfg.Keep <= 0 {
		cfg.Keep = cacheSlots
	}
	tools, ps := newCatalogue(s.Tools, "")
	sc := &Scorer{suite: s, tools: tools, cfg: cfg, cache: make([]atomic.Pointer[compiled], cfg.Keep)}
	sc.pool.New = func() any { return new(scratch) }
	return sc, ps
}

// Inspect compiles a case, keeps it for a Score that follows, and gives its
// problems as New does.
func (s *Scorer) Inspect(c *callvet.Case) []callvet.Problem {
	k, ps := s.compile(c)
	s.slot(c).Store(k)
	return ps
}

var caseSize = reflect.TypeFor[callvet.Case]().Size()

// compiled gives the case's compiled form. Slots are taken by address, so that
// the cases of one suite do not push each other out; an entry keeps its case
// alive and is used for that very pointer only.
func (s *Scorer) compiled(c *callvet.Case) *compiled {
	slot := s.slot(c)
	if k := slot.Load(); k != nil && k.src == c {
		return k
	}
	k, _ := s.compile(c)
	slot.Store(k)
	return k
}

func (s *Scorer) slot(c *callvet.Case) *atomic.Pointer[compiled] {
	return &s.cache[reflect.ValueOf(c).Pointer()/caseSize%uintptr(len(s.cache))]
}

// Score judges one attempt. Attempts that ended in an error or did not run get
// that verdict and no scores.
func (s *Scorer) Score(c *callvet.Case, t *callvet.Trace) callvet.Result {
	switch t.Outcome {
	case callvet.OutcomeError:
		return callvet.Result{Verdict: callvet.VerdictError, Class: callvet.ClassProvider, Reason: faultReason(t)}
	case callvet.OutcomeNotRun:
		left := c.Expect.Unevaluated()
		reason := cmp.Or(c.Skip, s.Idle(c, false), "did not run: "+string(t.End))
		return callvet.Result{Verdict: callvet.VerdictNotRun, Reason: reason, Assertions: left, NotEvaluated: len(left)}
	}
	if t.Decision != nil {
		return s.decided(c, t.Decision)
	}
	k := s.compiled(c)
	if !k.asserts {
		left := c.Expect.Unevaluated()
		return callvet.Result{Verdict: callvet.VerdictNotRun, Reason: idle(c, left), Assertions: left, NotEvaluated: len(left)}
	}
	w := s.pool.Get().(*scratch)
	w.begin(k, t)
	r := w.judge()
	if cap(w.calls) <= maxPooledCalls {
		s.pool.Put(w)
	}
	return r
}

func faultReason(t *callvet.Trace) string {
	if t.Fault != nil {
		return t.Fault.Error()
	}
	return "the attempt ended in an error"
}

// Reached reports whether calls already hold, by name, every call that some
// plan of the case requires. False for cases without such a plan. The turn loop
// ends a multi-turn attempt when it is true.
func (s *Scorer) Reached(c *callvet.Case, calls []callvet.Call) bool {
	k := s.compiled(c)
	for i := range k.plans {
		if k.plans[i].reached(k, calls) {
			return true
		}
	}
	return false
}

func (p *plan) reached(k *compiled, calls []callvet.Call) bool {
	used := make([]bool, len(calls))
	needed := 0
next:
	for i := range p.calls {
		e := &p.calls[i]
		if e.src.Optional {
			continue
		}
		needed++
		for j := range calls {
			if !used[j] && k.accepts(e, calls[j].Tool) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return needed > 0
}

// Check gives every way in which the call breaks its tool's contract: nil when
// it keeps it, when its tool has none, and when no catalogue is known.
func (s *Scorer) Check(c *callvet.Case, call *callvet.Call) []callvet.Violation {
	k := s.compiled(c)
	w := s.pool.Get().(*scratch)
	defer s.pool.Put(w)
	w.k, w.calls = k, resize(w.calls, 1)
	w.calls[0].read(k, call)
	return w.calls[0].violations(k)
}
