// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// EmbedBackend sends requests to an OpenAI-compatible /embeddings endpoint. It is safe for
// concurrent use and does not retry. Its errors are *callvet.Fault.
type EmbedBackend struct {
	m  *model
	id string
}

var _ callvet.Embedder = (*EmbedBackend)(nil)

// OpenEmbedBackend opens the embedding model that spec names, such as
// "openai/text-embedding-3-small" or "ollama/nomic-embed-text". Errors are those
// of Open; providers without the Chat Completions family have no such endpoint.
func OpenEmbedBackend(spec string, cfg Config) (*EmbedBackend, error) {
	m, _, err := openModel(spec, &cfg)
	if err != nil {
		return nil, fmt.Errorf("open embedder %q: %w", spec, err)
	}
	url := strings.NewReplacer("/chat/completions", "/embeddings", "/api/chat", "/v1/embeddings").Replace(m.url)
	if url == m.url {
		return nil, fmt.Errorf("open embedder %q: %w", spec,
			invalidSpec("the provider has no OpenAI-compatible embeddings",
				"openai/text-embedding-3-small or ollama/nomic-embed-text"))
	}
	m.url, m.stream = url, false
	_, id, _ := strings.Cut(spec, "/")
	return &EmbedBackend{m: m, id: id}, nil
}

// Name is the model's name as requested.
func (e *EmbedBackend) Name() string { return e.id }

// Embed returns one vector per text, in their order, all of one length. Without texts it sends no
// request.
func (e *EmbedBackend) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(map[string]any{"model": e.id, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, fmt.Errorf("embed texts: %w", err)
	}
	timed, cancel := context.WithTimeout(ctx, e.m.timeout)
	defer cancel()
	ans, fault := e.m.exchange(ctx, timed, body, e.m.now())
	if fault != nil {
		fault.Message = e.m.hide.text(fault.Message)
		return nil, fault
	}
	var out struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(ans.body, &out); err != nil {
		return nil, malformed(ans.status, "the embeddings cannot be read: "+doc.Explain(err).Error())
	}
	vs := make([][]float32, len(texts))
	for _, d := range out.Data {
		if d.Index < 0 || d.Index >= len(vs) || len(d.Embedding) == 0 {
			return nil, malformed(ans.status, "the embeddings do not fit the texts")
		}
		vs[d.Index] = d.Embedding
	}
	for i := range vs {
		if len(vs[i]) == 0 || len(vs[i]) != len(vs[0]) {
			return nil, malformed(ans.status,
				fmt.Sprintf("%d texts were sent, not each has a vector of the same length", len(texts)))
		}
	}
	return vs, nil
}
