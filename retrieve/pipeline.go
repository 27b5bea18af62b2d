// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/callvet/callvet"
)

// Router decides the route of a question. RouteRules and LearnedRoutes are Routers.
type Router interface {
	Route(question string) RouteDecision
}

// Pipeline is the selection before a model: it maps a question to a route, agents and tools.
// callvet evaluates the same composition, so that a service that links it runs the measured code.
// It is safe for concurrent use if its parts are; all parts in this module are. Its fields must not
// change meanwhile.
type Pipeline struct {
	// Routes decides route and sub-route; nil: these layers are not decided.
	Routes Router
	// Tools is searched.
	Tools *Index
	// Agents chooses agents: before the tools with a gate, else after them; nil: this layer is not
	// decided.
	Agents *Chooser
	// Homes maps tools to their agents, where the found tools decide the agents.
	Homes map[string]Home
	// NoTools are routes with questions that need no tool: the pipeline returns neither tools nor
	// agents, which is an abstention.
	NoTools []string
	// Now is the clock of Decision.Layers; nil: no times.
	Now func() time.Time
}

// NewPipeline indexes the tools and agents of a catalog. The options are used unchanged:
// Catalogue.Options adds the catalog's settings to a preset. Errors are errors of New.
func NewPipeline(ctx context.Context, o Options, c *Catalogue, routes Router, now func() time.Time) (*Pipeline, error) {
	p := &Pipeline{Routes: routes, Homes: c.Homes, Now: now}
	var err error
	if p.Tools, err = New(ctx, o, c.Entries); err != nil {
		return nil, err
	}
	if len(c.Agents) > 0 {
		if p.Agents, err = NewChooser(ctx, o, c.Agents); err != nil {
			return nil, fmt.Errorf("index agents: %w", err)
		}
	}
	return p, nil
}

// Decision is the decision of a pipeline for one question, with its reasons.
type Decision struct {
	// Route has the rule, the pattern and the words that decided, or the probability.
	Route RouteDecision
	// Agents are the chosen agents, best first.
	Agents []string
	// Result are the tools, best first, and whether nothing was good enough.
	Result
	// Layers are the decided layers in order, with their durations; sub-routes are decided with
	// routes, without a time of their own.
	Layers []LayerTime
}

// LayerTime is how long a layer took; 0 without a clock.
type LayerTime struct {
	// Layer is one of callvet.SelectRoute, SelectSubRoute, SelectAgents and SelectTools.
	Layer string
	Took  time.Duration
}

// Decide makes the decision for one question, with at most k tools; 0: the limit of the options.
// Errors come from the embedder and the reranker only.
func (p *Pipeline) Decide(ctx context.Context, question string, k int) (Decision, error) {
	var d Decision
	last := p.now()
	layer := func(name string) {
		now := p.now()
		d.Layers = append(d.Layers, LayerTime{name, now.Sub(last)})
		last = now
	}
	if p.Routes != nil {
		d.Route = p.Routes.Route(question)
		layer(callvet.SelectRoute)
		d.Layers = append(d.Layers, LayerTime{Layer: callvet.SelectSubRoute})
		if slices.Contains(p.NoTools, d.Route.Route) {
			d.Abstained = true
			layer(callvet.SelectTools)
			if p.Agents != nil {
				layer(callvet.SelectAgents)
			}
			return d, nil
		}
	}
	chosen, err := p.before(ctx, question, d.Route.Route)
	if err != nil {
		return d, err
	}
	// A gate below 1 excludes nothing: the found tools then decide the agents.
	gated := len(chosen) > 0 && p.Tools.options.Agents.Gate >= 1
	if gated {
		d.Agents = chosen
		layer(callvet.SelectAgents)
	}
	if d.Result, err = p.Tools.SearchFor(ctx, question, chosen, k); err != nil {
		return d, err
	}
	layer(callvet.SelectTools)
	if p.Agents != nil && !gated {
		if d.Agents, err = p.after(ctx, question, &d); err != nil {
			return d, err
		}
		layer(callvet.SelectAgents)
	}
	return d, nil
}

func (p *Pipeline) now() time.Time {
	if p.Now == nil {
		return time.Time{}
	}
	return p.Now()
}

// before returns the agents for the gate; none without a gate.
func (p *Pipeline) before(ctx context.Context, question, route string) ([]string, error) {
	if p.Agents == nil || p.Tools.options.Agents.Gate <= 0 {
		return nil, nil
	}
	return p.Agents.Choose(ctx, question, route, nil)
}

// after returns the agents of the best tool. Where its home is not known, and under the additive
// formula, the options choose them. There are none where no tool was good enough.
func (p *Pipeline) after(ctx context.Context, question string, d *Decision) ([]string, error) {
	if d.Abstained {
		return nil, nil
	}
	if len(d.Hits) > 0 && p.Tools.options.Formula != Additive {
		if home := p.Homes[d.Hits[0].ID]; len(home.Agents) > 0 {
			return slices.Clone(home.Agents), nil
		}
	}
	return p.Agents.Choose(ctx, question, d.Route.Route, nil)
}

// Explain explains the rank of a tool for a question, with the agents that are chosen for it.
// Errors are those of Index.Explain.
func (p *Pipeline) Explain(ctx context.Context, question, tool string) (Explanation, error) {
	where := ""
	if p.Routes != nil {
		where = p.Routes.Route(question).Route
	}
	agents, err := p.before(ctx, question, where)
	if err != nil {
		return Explanation{}, err
	}
	e, err := p.Tools.ExplainFor(ctx, question, tool, agents)
	if err == nil && p.Routes != nil && slices.Contains(p.NoTools, where) {
		e.Withheld = fmt.Sprintf("nothing is given: questions of the route %s need no tool", where)
	}
	return e, err
}

// Answer is the decision in the form that callvet stores; as JSON, callvet select --via reads it.
func (d *Decision) Answer() *callvet.Decision {
	out := &callvet.Decision{Route: d.Route.Route, SubRoute: d.Route.SubRoute, Agents: d.Agents, Abstained: d.Abstained}
	for _, h := range d.Hits {
		out.Tools = append(out.Tools, callvet.Ranked{Tool: h.ID, Score: h.Score, Parts: h.Parts.Terms()})
	}
	for _, l := range d.Layers {
		out.Layers = append(out.Layers,
			callvet.LayerTime{Layer: l.Layer, MS: float64(l.Took) / float64(time.Millisecond)})
	}
	return out
}

// Terms names the terms of a score that are not 0; after a reranker its score, and the earlier
// score of the formula.
func (p Parts) Terms() []callvet.Part {
	var out []callvet.Part
	add := func(name string, v float64) {
		if v != 0 {
			out = append(out, callvet.Part{Name: name, Value: v})
		}
	}
	if p.Name+p.Keywords+p.Description+p.Examples == 0 {
		add("lexical", p.Lexical)
	}
	add("name", p.Name)
	add("keywords", p.Keywords)
	add("description", p.Description)
	add("examples", p.Examples)
	add("semantic", p.Semantic)
	add("namespace", p.Namespace)
	add("agent gate", p.Gate)
	k := p.Reranked
	if k == nil {
		return out
	}
	all := []callvet.Part{{Name: "reranked", Value: k.Score}}
	for _, t := range out {
		all = append(all, callvet.Part{Name: callvet.PartBefore + t.Name, Value: t.Value})
	}
	return append(all, callvet.Part{Name: callvet.PartBefore + "rank", Value: float64(k.Rank)})
}
