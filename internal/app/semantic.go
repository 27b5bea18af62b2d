// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/safety"
)

// Scoring returns the configuration of the scorer, for lint and runs.
func (a *App) Scoring(ctx context.Context, embedder string) (score.Config, error) {
	if embedder == "" {
		return score.Config{Safety: safety.Watch}, nil
	}
	e, err := provider.OpenEmbedBackend(embedder,
		provider.Config{Getenv: a.Config.Getenv, HTTPClient: a.models, Timeout: 30 * time.Second, Now: a.Config.Now})
	if err != nil {
		return score.Config{}, err
	}
	s := similarity{ctx: ctx, embedder: e, vectors: map[string][]float32{}}
	return score.Config{Similarity: s.of, Safety: safety.Watch}, nil
}

// similarity compares texts by the cosine of their embeddings. Vectors are kept
// for the length of a run: expected values come back with every attempt.
type similarity struct {
	ctx      context.Context
	embedder callvet.Embedder
	mu       sync.Mutex
	vectors  map[string][]float32
}

// of returns the similarity in [-1,1] and the name of the embedder.
func (s *similarity) of(want, got string) (float64, string, error) {
	a, err := s.vector(want)
	if err != nil {
		return 0, s.embedder.Name(), err
	}
	b, err := s.vector(got)
	if err != nil {
		return 0, s.embedder.Name(), err
	}
	var dot, aa, bb float64
	for i := range min(len(a), len(b)) {
		dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0, s.embedder.Name(), nil
	}
	return dot / math.Sqrt(aa*bb), s.embedder.Name(), nil
}

func (s *similarity) vector(text string) ([]float32, error) {
	s.mu.Lock()
	v, ok := s.vectors[text]
	s.mu.Unlock()
	if ok {
		return v, nil
	}
	vs, err := s.embedder.Embed(s.ctx, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embed %q: %w", text, err)
	}
	s.mu.Lock()
	s.vectors[text] = vs[0]
	s.mu.Unlock()
	return vs[0], nil
}
