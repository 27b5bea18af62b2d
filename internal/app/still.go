// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"

	"github.com/callvet/callvet/internal/provider"
	"github.com/callvet/callvet/retrieve"
)

// still opens stand-ins for models of catalogues, which never send a request, to describe a run
// without making it.
type still struct{ *provider.EmbedModels }

// Open implements catalog.Models: it checks the names and returns stand-ins.
func (m still) Open(ctx context.Context, embedder, reranker string, o *retrieve.Options) error {
	if err := m.EmbedModels.Open(ctx, embedder, reranker, o); err != nil {
		return err
	}
	o.Cache = nil // vectors of the stand-in are not stored
	if o.Embedder != nil {
		o.Embedder = silent{o.Embedder.Model()}
	}
	if o.Reranker != nil {
		o.Reranker = silent{}
	}
	return nil
}

// silent stands in for a model without sending requests.
type silent struct{ name string }

// Model implements retrieve.Embedder.
func (s silent) Model() string { return s.name }

// Embed implements retrieve.Embedder: all texts are alike.
func (silent) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1}
	}
	return out, nil
}

// Rerank implements retrieve.Reranker.
func (silent) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	return make([]float64, len(texts)), nil
}
