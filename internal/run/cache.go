// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/callvet/callvet"
)

// traceFormat changes whenever the turn loop would make another trace of the
// same inputs; older answers are then not found.
const traceFormat = 1

const (
	scopeBytes = 8
	keyBytes   = 24
)

type lookup func(ctx context.Context, key []byte) (*callvet.Trace, bool, error)

// seat is a target as the engine holds it.
type seat struct {
	*Target
	ix      int
	breaker *breaker
	scope   [scopeBytes]byte
	find    lookup // nil: not cached
}

// openCache computes the scope of a cacheable target: all of its configuration
// that a trace depends on, and nothing that names it.
func (e *engine) openCache(ctx context.Context, s *seat) error {
	if e.cfg.Cache == nil || !s.Cacheable {
		return nil
	}
	b, err := json.Marshal([]any{
		traceFormat, s.Provider, s.Target.Target.Model, s.BaseURL, s.Params,
		system(e.cfg.Suite.SystemPrompt, s.SystemPrompt, ""),
	})
	if err != nil {
		return fmt.Errorf("open cache of %s: %w", s.Name, err)
	}
	sum := sha256.Sum256(b)
	copy(s.scope[:], sum[:])
	s.find, err = e.cfg.Cache.Cached(ctx, s.scope[:])
	if err != nil {
		return fmt.Errorf("open cache of %s: %w", s.Name, err)
	}
	e.keys = true
	return nil
}

// key identifies one cell's inputs. Repeats differ in it: three repeats ask three times.
func (e *engine) key(s *seat, p *prepared, repeat int) []byte {
	b := make([]byte, 0, 96)
	b = append(b, p.sum[:]...)
	b = binary.AppendUvarint(b, uint64(repeat))
	b = append(b, toolChoice(e.cfg.Suite, &s.Target.Target, p.c)...)
	sum := sha256.Sum256(b)
	return append(append(b[:0], s.scope[:]...), sum[:keyBytes-scopeBytes]...)
}

// reuse finds the stored trace of a cell and makes it this cell's own: it cost
// no request now.
func (e *engine) reuse(ctx context.Context, s *seat, p *prepared, repeat int, key []byte) (*callvet.Trace, error) {
	t, ok, err := s.find(ctx, key)
	if err != nil || !ok || t.Outcome == callvet.OutcomeError || t.Outcome == callvet.OutcomeNotRun {
		return nil, err
	}
	t.CaseID, t.Target, t.Repeat = p.c.ID, s.Name, repeat
	t.Cached, t.Attempts, t.Exchanges = true, 0, nil
	return t, nil
}
