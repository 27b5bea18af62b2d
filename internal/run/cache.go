// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/callvet/callvet"
)

// traceFormat changes whenever the turn loop would make a different trace of the same inputs, or
// the key is computed differently; older answers are then not found.
const traceFormat = 6

const (
	scopeBytes = 8
	keyBytes   = 24
)

type lookup func(ctx context.Context, key []byte) (*callvet.Trace, bool, error)

// targetState is a target and what the engine keeps about it.
type targetState struct {
	*Target
	ix      int
	breaker *breaker
	unmet   atomic.Int64 // attempts of the first phase that failed or ended in an error
	scope   [scopeBytes]byte
	ident   Identifier
	find    lookup // nil: not cached
}

// openCache computes the scope of a target with requests that are known before they are sent. The scope
// is the request without a conversation, so it contains everything that all its requests share.
func (e *engine) openCache(ctx context.Context, s *targetState) error {
	ident, ok := s.Model.(Identifier)
	if e.cfg.Cache == nil || !ok {
		return nil
	}
	s.ident = ident
	id := ident.Identity(&callvet.Request{
		Params: s.Params,
		System: System(e.cfg.Suite.SystemPrompt, &s.Target.Target, ""),
	})
	sum := sha256.Sum256(append(append([]byte{traceFormat}, id[:]...), e.cfg.Owner...))
	copy(s.scope[:], sum[:])
	var err error
	if s.find, err = e.cfg.Cache.Cached(ctx, s.scope[:]); err != nil {
		return fmt.Errorf("open cache of %s: %w", s.Name, err)
	}
	e.keys = true
	return nil
}

// key identifies one cell's inputs: its first request, and everything that decides how the
// attempt continues. Repeats have different keys: three repeats send three requests.
func (e *engine) key(s *targetState, p *prepared, repeat int) []byte {
	req := e.request(s, p, repeat)
	id := s.ident.Identity(&req)
	b := make([]byte, 0, 96)
	b = append(append(b, id[:]...), p.sum[:]...)
	b = binary.AppendUvarint(b, uint64(repeat))
	sum := sha256.Sum256(b)
	return append(append(b[:0], s.scope[:]...), sum[:keyBytes-scopeBytes]...)
}

// reuse finds the stored trace of a cell and copies it to this cell, without a request.
func (e *engine) reuse(ctx context.Context, s *targetState, p *prepared, repeat int, key []byte) (*callvet.Trace, error) {
	t, ok, err := s.find(ctx, key)
	if err != nil || !ok || t.Outcome == callvet.OutcomeError || t.Outcome == callvet.OutcomeNotRun {
		return nil, err
	}
	t.CaseID, t.Target, t.Repeat = p.c.ID, s.Name, repeat
	t.Cached, t.Attempts, t.Exchanges = true, 0, nil
	return t, nil
}
