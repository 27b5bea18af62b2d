// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Embedder requests vectors from a server. Safe for concurrent use.
type Embedder struct {
	c          *client
	name       string
	dimensions int
	width      atomic.Int64 // of all vectors; 0 while none was seen
}

// Model is the service, the model and the server, with the requested dimensions: vectors of two
// servers are never considered equal.
func (e *Embedder) Model() string { return e.name }

// Usage is the usage so far.
func (e *Embedder) Usage() EmbedUsage { return e.c.used() }

// Embed returns one vector of length 1 for each text, in their order. Empty texts are not sent and
// get zeros; without texts it sends no request. Errors name the server and wrap ErrUnavailable,
// ErrDenied, ErrNotFound, ErrLimited or ErrInvalid, the last also for impossible answers.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var send []string
	var where []int
	for i, t := range texts {
		if strings.TrimSpace(t) != "" {
			send, where = append(send, t), append(where, i)
		}
	}
	if len(send) < len(texts) && len(send) == 0 && e.width.Load() == 0 {
		send = append(send, "width") // its vector gives the number of zeros
	}
	err := e.c.each(ctx, len(send), func(ctx context.Context, from, to int) error {
		vs, err := e.batch(ctx, send[from:to])
		for k, v := range vs {
			if from+k < len(where) {
				out[where[from+k]] = v
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
	}
	for i := range out {
		if out[i] == nil {
			out[i] = make([]float32, e.width.Load())
		}
	}
	return out, nil
}

// batch sends one request; if the batch is too large for the server, it sends both halves.
func (e *Embedder) batch(ctx context.Context, texts []string) ([][]float32, error) {
	vs, err := e.c.send(ctx, request{model: e.c.model, texts: texts, dimensions: e.dimensions})
	if f := (*failure)(nil); errors.As(err, &f) && f.tooBig && len(texts) > 1 {
		half := len(texts) / 2
		first, err := e.batch(ctx, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := e.batch(ctx, texts[half:])
		return append(first, second...), err
	}
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if err := e.check(v); err != nil {
			return nil, e.c.fail(callvet.ErrInvalid, "the vector of text %d: %v", i, err)
		}
		retrieve.NormalizeVector(v)
	}
	return vs, nil
}

// check compares the length of a vector with the length of the others.
func (e *Embedder) check(v []float32) error {
	e.width.CompareAndSwap(0, int64(max(e.dimensions, 0)))
	e.width.CompareAndSwap(0, int64(len(v)))
	if w := int(e.width.Load()); len(v) != w {
		return fmt.Errorf("it has %d numbers, want %d", len(v), w)
	}
	if retrieve.CheckVector(v, len(v)) != nil {
		return errors.New("a number is not finite")
	}
	if !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
		return errors.New("it is all zeros")
	}
	return nil
}

// send sends one batch.
func (c *client) send(ctx context.Context, r request) ([][]float32, error) {
	body, err := json.Marshal(c.form.write(r))
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	answer, err := c.ask(ctx, body, len(r.texts))
	if err != nil {
		return nil, err
	}
	vs, tokens, err := c.form.read(answer, len(r.texts))
	if err != nil {
		return nil, c.fail(callvet.ErrInvalid, "%v", err)
	}
	c.mu.Lock()
	c.usage.Tokens += max(0, tokens)
	c.mu.Unlock()
	return vs, nil
}

func (c *client) used() EmbedUsage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usage
}

// Reranker requests scores of texts for a question from a server. Safe for concurrent use.
type Reranker struct{ c *client }

// Name is the service, the model and the server.
func (r *Reranker) Name() string { return r.c.name }

// Usage is the usage so far.
func (r *Reranker) Usage() EmbedUsage { return r.c.used() }

// Rerank returns one score for each text, in their order: the higher, the better. Texts beyond
// the server's limit are sent in further requests: each text is scored independently. Errors are
// those of Embed.
func (r *Reranker) Rerank(ctx context.Context, question string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	err := r.c.each(ctx, len(texts), func(ctx context.Context, from, to int) error {
		vs, err := r.c.send(ctx, request{model: r.c.model, question: question, texts: texts[from:to]})
		for i, v := range vs {
			out[from+i] = float64(v[0])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rerank %d texts: %w", len(texts), err)
	}
	return out, nil
}
