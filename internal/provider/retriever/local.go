// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retriever

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Config says what is searched and how.
type Config struct {
	// Name is what the user typed.
	Name string
	// Entries are the tools; Agents and Homes say which agents may call them.
	Entries []retrieve.Entry
	Agents  []retrieve.Agent
	Homes   map[string]retrieve.Home
	Options retrieve.Options
	// K is how many tools are given; 0: as many as the options say.
	K int
	// Route decides route and sub-route; nil: these layers are not decided.
	Route func(question string) (route, subRoute string)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Retriever searches a catalog in this process. It is safe for concurrent use.
type Retriever struct {
	cfg    Config
	tools  *retrieve.Index
	agents *retrieve.Chooser // nil: the catalog has none
}

// Open indexes the entries. Errors are those of retrieve.New.
func Open(ctx context.Context, cfg Config) (*Retriever, callvet.Target, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.K <= 0 {
		cfg.K = max(cfg.Options.Limit, 1)
	}
	r := &Retriever{cfg: cfg}
	var err error
	if r.tools, err = retrieve.New(ctx, cfg.Options, cfg.Entries); err != nil {
		return nil, callvet.Target{}, fmt.Errorf("open target %s: %w", cfg.Name, err)
	}
	if len(cfg.Agents) > 0 {
		if r.agents, err = retrieve.NewChooser(ctx, cfg.Options, cfg.Agents); err != nil {
			return nil, callvet.Target{}, fmt.Errorf("open target %s: index agents: %w", cfg.Name, err)
		}
	}
	return r, callvet.Target{Name: cfg.Name, Provider: "retrieve", Model: string(cfg.Options.Formula), Selects: true}, nil
}

// Explain says why a tool has its place for a question. Where agents gate tools, those
// that are chosen for the question do.
func (r *Retriever) Explain(ctx context.Context, question, tool string) (retrieve.Explanation, error) {
	var agents []string
	if r.gates() {
		route := ""
		if r.cfg.Route != nil {
			route, _ = r.cfg.Route(question)
		}
		var err error
		if agents, err = r.agents.Choose(ctx, question, route, nil); err != nil {
			return retrieve.Explanation{}, err
		}
	}
	return r.tools.ExplainFor(ctx, question, tool, agents)
}

// gates tells whether agents are chosen before tools, to hold some back or down.
func (r *Retriever) gates() bool { return r.agents != nil && r.cfg.Options.Agents.Gate > 0 }

// Len is the number of tools.
func (r *Retriever) Len() int { return r.tools.Len() }

// Generate implements callvet.Model.
func (r *Retriever) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	start := r.cfg.Now()
	d, err := r.Decide(ctx, question(req))
	if err != nil {
		return nil, faultOf(ctx, err)
	}
	return &callvet.Response{Decision: d, Complete: true, Wall: max(r.cfg.Now().Sub(start), 1)}, nil
}

// Decide makes the decision for one question. Errors come from an embedder only.
func (r *Retriever) Decide(ctx context.Context, question string) (*callvet.Decision, error) {
	d := &callvet.Decision{}
	last := r.cfg.Now()
	layer := func(name string) {
		now := r.cfg.Now()
		d.Layers = append(d.Layers, callvet.LayerTime{Layer: name, MS: float64(now.Sub(last)) / float64(time.Millisecond)})
		last = now
	}
	if r.cfg.Route != nil {
		d.Route, d.SubRoute = r.cfg.Route(question)
		layer(callvet.SelectRoute)
		d.Layers = append(d.Layers, callvet.LayerTime{Layer: callvet.SelectSubRoute}) // decided at one go
	}
	var err error
	var chosen []string
	if r.gates() {
		if chosen, err = r.agents.Choose(ctx, question, d.Route, nil); err != nil {
			return nil, err
		}
	}
	// A gate that is not whole shuts nothing out: agents are then told by what was found.
	gated := len(chosen) > 0 && r.cfg.Options.Agents.Gate >= 1
	if gated {
		d.Agents = chosen
		layer(callvet.SelectAgents)
	}
	found, err := r.tools.SearchFor(ctx, question, chosen, r.cfg.K)
	if err != nil {
		return nil, err
	}
	for _, h := range found.Hits {
		d.Tools = append(d.Tools, callvet.Ranked{Tool: h.ID, Score: h.Score, Parts: Parts(h.Parts)})
	}
	d.Abstained = found.Abstained
	layer(callvet.SelectTools)
	if r.agents != nil && !gated {
		if d.Agents, err = r.chooseAgents(ctx, question, d.Route, d.Tools); err != nil {
			return nil, err
		}
		layer(callvet.SelectAgents)
	}
	return d, nil
}

// chooseAgents gives the agents of the best tool, or, where its home is not known and
// under the additive formula, those that the options choose.
func (r *Retriever) chooseAgents(ctx context.Context, question, route string, tools []callvet.Ranked) ([]string, error) {
	if len(tools) > 0 && r.cfg.Options.Formula != retrieve.Additive {
		if home := r.cfg.Homes[tools[0].Tool]; len(home.Agents) > 0 {
			return slices.Clone(home.Agents), nil
		}
	}
	return r.agents.Choose(ctx, question, route, nil)
}

// Parts names the terms of a score, without those that are 0; behind a reranker its score,
// and what the formula had given before.
func Parts(p retrieve.Parts) []callvet.Part {
	var out []callvet.Part
	add := func(name string, v float64) {
		if v != 0 {
			out = append(out, callvet.Part{Name: name, Value: v})
		}
	}
	points := p.Name + p.Keywords + p.Description + p.Examples
	if points == 0 {
		add("lexical", p.Lexical)
	}
	add("name", p.Name)
	add("keywords", p.Keywords)
	add("description", p.Description)
	add("examples", p.Examples)
	add("semantic", p.Semantic)
	add("namespace", p.Namespace)
	add("agent gate", p.Gate)
	return reranked(p.Reranked, out)
}

// reranked puts the reranker's score before the terms of the formula, whose place it took.
func reranked(k *retrieve.Reranked, terms []callvet.Part) []callvet.Part {
	if k == nil {
		return terms
	}
	out := []callvet.Part{{Name: "reranked", Value: k.Score}}
	for _, t := range terms {
		out = append(out, callvet.Part{Name: callvet.PartBefore + t.Name, Value: t.Value})
	}
	return append(out, callvet.Part{Name: callvet.PartBefore + "rank", Value: float64(k.Rank)})
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
