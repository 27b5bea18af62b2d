// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// similarities requests the similarity of texts, and records whether an answer is missing.
// Without an answer the texts do not match, and every result that depends on them is unknown.
type similarities struct {
	ask match.Similarity
	// alone is locked while one attempt is judged alone: a missing answer then belongs to this
	// attempt.
	alone   sync.RWMutex
	missing atomic.Int64
	last    atomic.Pointer[error]
	alike   bool // texts without an answer match; changed only while alone is locked
}

func (s *similarities) of(want, got string) (float64, string, error) {
	sim, by, err := s.ask(want, got)
	if err == nil {
		return sim, by, nil
	}
	s.last.Store(&err)
	s.missing.Add(1)
	if s.alike {
		return 1, by, nil
	}
	return 0, by, err
}

// judge judges an attempt at c by do, up to three times. It is not judged where its verdict
// depends on a missing answer.
func (s *similarities) judge(c *callvet.Case, do func() callvet.Result) callvet.Result {
	s.alone.RLock()
	before := s.missing.Load()
	r := do()
	known := s.missing.Load() == before
	s.alone.RUnlock()
	if known {
		return r
	}
	s.alone.Lock()
	defer s.alone.Unlock()
	before = s.missing.Load()
	if r = do(); s.missing.Load() == before {
		return r
	}
	s.alike = true
	defer func() { s.alike = false }()
	if do().Verdict == r.Verdict {
		return r
	}
	left := c.Expect.Unevaluated()
	return callvet.Result{
		Verdict: callvet.VerdictNotRun, Reason: "texts were not compared: " + (*s.last.Load()).Error(),
		Assertions: left, NotEvaluated: len(left),
	}
}
