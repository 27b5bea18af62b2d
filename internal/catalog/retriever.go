// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// RetrieverConfig is a catalogue and the settings of the search.
type RetrieverConfig struct {
	// Name is the name as typed by the user.
	Name string
	// Entries are the tools; Agents and Homes are the agents that may call them.
	Entries []retrieve.Entry
	Agents  []retrieve.Agent
	Homes   map[string]retrieve.Home
	Options retrieve.Options
	// K is how many tools are returned; 0: the number in the options.
	K int
	// Routes decides route and sub-route; nil: these layers are not decided.
	Routes retrieve.Router
	// NoTools are routes of questions that need no tool: no search is made for them.
	NoTools []string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Retriever searches a catalog in this process: a retrieve.Pipeline as a target. It is
// safe for concurrent use.
type Retriever struct {
	pipeline *retrieve.Pipeline
	k        int
	now      func() time.Time
}

// OpenRetriever indexes the entries. Errors are those of retrieve.New.
func OpenRetriever(ctx context.Context, cfg RetrieverConfig) (*Retriever, callvet.Target, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &retrieve.Catalogue{Entries: cfg.Entries, Agents: cfg.Agents, Homes: cfg.Homes}
	p, err := retrieve.NewPipeline(ctx, cfg.Options, c, cfg.Routes, cfg.Now)
	if err != nil {
		return nil, callvet.Target{}, fmt.Errorf("open target %s: %w", cfg.Name, err)
	}
	p.NoTools = cfg.NoTools
	r := &Retriever{pipeline: p, k: cfg.K, now: cfg.Now}
	return r, callvet.Target{
		Name: cfg.Name, Provider: "retrieve", Model: string(cfg.Options.Formula), Selects: true,
		Free: cfg.Options.Embedder == nil && cfg.Options.Reranker == nil,
	}, nil
}

// Pipeline is the pipeline that decides.
func (r *Retriever) Pipeline() *retrieve.Pipeline { return r.pipeline }

// Explain explains a tool's rank for a question, including the gate of the agents chosen for the
// question.
func (r *Retriever) Explain(ctx context.Context, question, tool string) (retrieve.Explanation, error) {
	return r.pipeline.Explain(ctx, question, tool)
}

// Len is the number of tools.
func (r *Retriever) Len() int { return r.pipeline.Tools.Len() }

// Generate implements callvet.Model.
func (r *Retriever) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	start := r.now()
	d, err := r.Decide(ctx, callvet.Question(req.Turns))
	if err != nil {
		return nil, faultOf(ctx, err)
	}
	return &callvet.Response{Decision: d, Complete: true, Wall: max(r.now().Sub(start), 1)}, nil
}

// Decide makes the decision for one question. Errors come from an embedder only.
func (r *Retriever) Decide(ctx context.Context, question string) (*callvet.Decision, error) {
	d, err := r.pipeline.Decide(ctx, question, r.k)
	if err != nil {
		return nil, err
	}
	return d.Answer(), nil
}

// faultOf makes any error a *callvet.Fault.
func faultOf(ctx context.Context, err error) *callvet.Fault {
	var f *callvet.Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &callvet.Fault{Kind: callvet.FaultTimeout, Message: "no decision in time", Retryable: true}
	case ctx.Err() != nil:
		return &callvet.Fault{Kind: callvet.FaultCanceled, Message: "interrupted"}
	}
	switch {
	case errors.Is(err, callvet.ErrDenied):
		return &callvet.Fault{Kind: callvet.FaultAuth, Message: err.Error()}
	case errors.Is(err, callvet.ErrNotFound), errors.Is(err, callvet.ErrInvalid), errors.Is(err, callvet.ErrLimited):
		return &callvet.Fault{Kind: callvet.FaultRequest, Message: err.Error()}
	}
	return &callvet.Fault{Kind: callvet.FaultNetwork, Message: err.Error(), Retryable: true}
}
