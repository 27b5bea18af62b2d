// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Kept is a persistent cache of vectors, in a file or elsewhere.
type Kept interface {
	retrieve.VectorCache
	// Err is the first failure to store a vector; nil if none.
	Err() error
	Close() error
}

// EmbedModels opens embedders and rerankers, each only once for all catalogues, and the vector
// cache at first use. It is for one goroutine. Close it.
type EmbedModels struct {
	Config EmbedConfig
	// Keep opens the vector cache; if that fails, vectors are computed each time.
	Keep func(ctx context.Context) (Kept, error)
	// Notify gets the errors of the vector cache.
	Notify    func(callvet.Notice)
	cache     Kept
	asked     []openedModel
	embedders map[string]opened
	rerankers map[string]retrieve.Reranker
}

type opened struct {
	embedder retrieve.Embedder
	cache    retrieve.VectorCache
}

// openedModel is an opened model with the number of its cached vectors.
type openedModel struct {
	name  string
	usage func() EmbedUsage
	found *finding
}

// finding counts the hits of a cache.
type finding struct {
	retrieve.VectorCache
	found atomic.Int64
}

// Get reads from the cache and counts hits.
func (f *finding) Get(k retrieve.VectorKey) ([]float32, bool) {
	v, ok := f.VectorCache.Get(k)
	if ok {
		f.found.Add(1)
	}
	return v, ok
}

// Used is the usage of the models so far, in the order of opening.
func (m *EmbedModels) Used() []callvet.ModelUse {
	var out []callvet.ModelUse
	for _, a := range m.asked {
		u := a.usage()
		one := callvet.ModelUse{Model: a.name, Requests: u.Requests, Texts: u.Texts, Tokens: u.Tokens}
		if a.found != nil {
			one.Cached = int(a.found.found.Load())
		}
		out = append(out, one)
	}
	return out
}

// Open sets the embedder with its cache, and the reranker; an empty spec means none. Errors are
// those of Open and OpenReranker.
func (m *EmbedModels) Open(ctx context.Context, embed, rerank string, o *retrieve.Options) (err error) {
	if embed != "" {
		if o.Embedder, o.Cache, err = m.embedder(ctx, embed); err != nil {
			return err
		}
	}
	if rerank != "" {
		o.Reranker, err = m.reranker(rerank)
	}
	return err
}

func (m *EmbedModels) embedder(ctx context.Context, spec string) (retrieve.Embedder, retrieve.VectorCache, error) {
	if o, ok := m.embedders[spec]; ok {
		return o.embedder, o.cache, nil
	}
	e, err := OpenEmbedder(spec, m.Config)
	if err != nil {
		return nil, nil, err
	}
	if m.embedders == nil {
		m.embedders = map[string]opened{}
	}
	m.embedders[spec] = opened{embedder: e}
	one := openedModel{name: e.Model(), usage: e.Usage}
	defer func() { m.asked = append(m.asked, one) }()
	if m.cache == nil {
		if m.cache, err = m.Keep(ctx); err != nil {
			m.cache = nil
			m.notify("vectors are not kept: %v", err)
			return e, nil, nil
		}
	}
	one.found = &finding{VectorCache: m.cache}
	m.embedders[spec] = opened{e, one.found}
	return e, one.found, nil
}

func (m *EmbedModels) reranker(spec string) (retrieve.Reranker, error) {
	if r, ok := m.rerankers[spec]; ok {
		return r, nil
	}
	r, err := OpenReranker(spec, m.Config)
	if err != nil {
		return nil, err
	}
	if m.rerankers == nil {
		m.rerankers = map[string]retrieve.Reranker{}
	}
	m.rerankers[spec] = r
	m.asked = append(m.asked, openedModel{name: r.Name(), usage: r.Usage})
	return r, nil
}

// Close reports vectors that could not be stored, and closes the cache.
func (m *EmbedModels) Close() error {
	if m.cache == nil {
		return nil
	}
	err := errors.Join(m.cache.Err(), m.cache.Close())
	if err != nil {
		m.notify("%v", err)
	}
	m.cache, m.embedders = nil, nil
	return err
}

func (m *EmbedModels) notify(format string, err error) {
	m.Notify(callvet.Notice{Code: "vectors-not-kept", Text: fmt.Sprintf(format, err)})
}
