// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// AgentOptions are the settings for choosing agents for a question, and the effect of the choice on
// tools.
type AgentOptions struct {
	// Limit is how many are chosen at most; 0 means 1.
	Limit int
	// Name, Keyword and Token are points for common text of a question and an agent, Recent for an
	// agent that answered before, Vector is the factor of the cosine. Candidates is how many go on
	// to the reranker (0: all). They count under Additive; under the other formulas agents are
	// scored like tools.
	Name, Keyword, Token, Recent, Vector float64
	Candidates                           int
	// Hints are the agents that are ranked before the others, by route.
	Hints map[string][]string
	// Intents put an agent first for certain questions.
	Intents []Intent
	// Gate in [0,1] is the share of its score that a tool loses in SearchFor when it belongs to
	// agents and none of them was chosen. At 1 it is not returned; 0 is no gate.
	Gate float64
}

// Intent chooses an agent for the questions that Match accepts. On Routes the agent is put among
// the agents that the route prefers. With Always it is ranked before all others on any route,
// unless it was chosen anyway.
type Intent struct {
	Agent  string
	Routes []string
	Always bool
	Match  func(question string) bool
}

// Chooser chooses among agents. It is safe for concurrent use.
type Chooser struct {
	options AgentOptions
	formula Formula
	index   *Index
	order   []string // of the catalog
}

// NewChooser indexes agents for o.Agents, with o's formula, embedder and reranker; it is meant for
// an index of tools made with the same o. Errors are those of New.
func NewChooser(ctx context.Context, o Options, agents []Agent) (*Chooser, error) {
	c := &Chooser{options: o.Agents, formula: o.Formula}
	entries := make([]Entry, len(agents))
	for i, a := range agents {
		entries[i] = Entry{
			Tool: callvet.Tool{Name: a.Name, Description: a.Description}, Keywords: a.Keywords,
			Namespace: a.Namespace,
		}
		c.order = append(c.order, a.Name)
	}
	o.Limit, o.Threshold, o.Confidence, o.MinConfidence, o.Agents.Gate = max(o.Agents.Limit, 1), 0, nil, 0, 0
	o.Primary, o.Fallback = nil, [][]string{{}} // a fallback returns all agents, with or without points
	if o.Formula == Additive {
		a := o.Agents
		o.Additive, o.VectorWeight = AdditiveWeights{Name: a.Name, Keyword: a.Keyword, Token: a.Token}, a.Vector
	}
	var err error
	c.index, err = New(ctx, o, entries)
	return c, err
}

// Choose returns the agents for a question that was sent to a route, best first; recent are the
// agents that answered before it. Of equal scores the first of the catalog comes first. Under
// Additive the limit is always reached, whatever the scores. Errors come from the embedder and the
// reranker.
func (c *Chooser) Choose(ctx context.Context, question, route string, recent []string) ([]string, error) {
	limit := max(c.options.Limit, 1)
	q, err := c.index.embedQuestion(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("choose agents: %w", err)
	}
	f, err := c.index.found(question, q, nil, len(c.order), false)
	if err != nil {
		return nil, fmt.Errorf("choose agents: %w", err)
	}
	hits := f.hits
	if c.formula == Additive {
		for i := range hits {
			if slices.Contains(recent, hits[i].ID) {
				hits[i].Score += c.options.Recent
			}
		}
		slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
		if n := c.options.Candidates; n > 0 {
			hits = hits[:min(n, len(hits))]
		}
	}
	if hits, err = c.index.rerank(ctx, question, hits, c.index.texts(hits)); err != nil {
		return nil, fmt.Errorf("choose agents: %w", err)
	}
	var chosen []string
	for _, h := range hits[:min(limit, len(hits))] {
		chosen = append(chosen, h.ID)
	}
	return c.hinted(chosen, question, route, limit), nil
}

// hinted puts first the agents that are always chosen, then the agents that the route prefers, in
// the order of the catalog, and then the other ones. It does not repeat chosen agents.
func (c *Chooser) hinted(chosen []string, question, route string, limit int) []string {
	preferred := slices.Clone(c.options.Hints[route])
	var forced []string
	for _, i := range c.options.Intents {
		here := slices.Contains(i.Routes, route)
		if !slices.Contains(c.order, i.Agent) || !here && !i.Always || !i.Match(question) {
			continue
		}
		if here {
			preferred = append(preferred, i.Agent)
		}
		if i.Always {
			forced = append(forced, i.Agent)
		}
	}
	var front []string
	for _, name := range c.order {
		if slices.Contains(preferred, name) && !slices.Contains(chosen, name) {
			front = append(front, name)
		}
	}
	chosen = slices.Concat(front, chosen)
	chosen = chosen[:min(limit, len(chosen))]
	for _, name := range forced {
		if !slices.Contains(chosen, name) {
			chosen = slices.Insert(chosen, 0, name)
			chosen = chosen[:min(limit, len(chosen))]
		}
	}
	return chosen
}

// SearchFor is Search with the gate of the options: agents are the chosen agents for the
// question. Without a gate, without agents, and for tools without agents, it equals Search.
func (x *Index) SearchFor(ctx context.Context, question string, agents []string, limit int) (Result, error) {
	return x.search(ctx, question, agents, limit)
}

// shut reports whether the gate applies to a tool.
func (x *Index) shut(entry int, agents []string) bool {
	of := x.entries[entry].Agents
	return x.options.Agents.Gate > 0 && len(agents) > 0 && len(of) > 0 &&
		!slices.ContainsFunc(of, func(a string) bool { return slices.Contains(agents, a) })
}

// hold reduces the score of a hit by the gate; gone: the hit is not returned.
func (x *Index) hold(h *Hit, agents []string) (gone bool) {
	if !x.shut(h.entry, agents) {
		return false
	}
	h.Parts.Gate = -x.options.Agents.Gate * max(h.Score, 0)
	h.Score += h.Parts.Gate
	return x.options.Agents.Gate >= 1
}

// gated reorders hits by their gated scores and returns the k best.
func (x *Index) gated(hits []Hit, agents []string, k int) []Hit {
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return x.shut(h.entry, agents) && x.options.Agents.Gate >= 1 })
	for i := range hits {
		x.hold(&hits[i], agents)
	}
	return best(hits)[:min(k, len(hits))]
}

// behind reports whether the gate changes anything.
func (x *Index) behind(agents []string) bool { return x.options.Agents.Gate > 0 && len(agents) > 0 }
