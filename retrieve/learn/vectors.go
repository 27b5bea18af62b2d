// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"context"
	"sync"

	"github.com/callvet/callvet/retrieve"
)

// Remember returns options with a cache of vectors, so that every text's vector is computed once
// for all indexes of the entries. The vectors come from the options' embedder, or else from the
// offline one. Options without vectors are unchanged.
func Remember(o retrieve.Options, entries []retrieve.Entry) retrieve.Options {
	if o.Embedder == nil && (o.Offline <= 0 || len(entries) == 0) {
		return o
	}
	if o.Embedder == nil {
		o.Embedder = retrieve.FitOffline(o.Offline, entries)
	}
	o.Embedder = &remembering{Embedder: o.Embedder, made: map[string][]float32{}}
	return o
}

// remembering keeps every vector in memory.
type remembering struct {
	retrieve.Embedder
	mu   sync.Mutex
	made map[string][]float32
}

// Embed requests the vectors of new texts.
func (r *remembering) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []string
	for _, t := range texts {
		if _, ok := r.made[t]; !ok {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		vs, err := r.Embedder.Embed(ctx, missing)
		if err != nil {
			return nil, err
		}
		for i := range min(len(vs), len(missing)) {
			r.made[missing[i]] = vs[i]
		}
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = r.made[t]
	}
	return out, nil
}
