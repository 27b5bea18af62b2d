// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"slices"
)

// Catalogue is a file of tools (package retrieve reads it) with what their owner says about finding them.
type Catalogue struct {
	Name, Description string
	// Entries are the tools in the order of the file.
	Entries []Entry
	// Homes says where each tool belongs, by the entry's name.
	Homes map[string]Home
	// Agents are those that tools may belong to, in the order of the file.
	Agents []Agent
	// RouteAgents are the agents that a route prefers (AgentOptions.Hints); nil when the
	// file says none.
	RouteAgents map[string][]string
	// Primary and Fallback are the namespaces to be searched first, and when those
	// have nothing, for Options; nil when the file says none.
	Primary, Fallback [][]string
}

// Home is where a tool belongs: the category that people see, the route and the
// sub-route that lead to it, and the agents that may call it. Empty where the file
// does not say.
type Home struct {
	Category, Route, SubRoute string
	Agents                    []string
}

// Agent is one that answers a kind of question with the tools of its namespaces.
type Agent struct {
	Name, Description string
	Keywords          []string
	// Namespace says where the agent itself belongs: agents, trafik.
	Namespace         []string
	Primary, Fallback [][]string
	// Intent says which questions are the agent's whatever the scores; nil for none.
	Intent *AgentIntent
}

// AgentIntent is an Intent as a catalog says it: patterns of routes. One
// is enough.
type AgentIntent struct {
	Patterns []string
	Routes   []string
	Always   bool
}

// Join tells each entry its agents: those of its home, or else those whose primary
// namespaces it is in, or else those whose fallback namespaces it is in.
func (c *Catalogue) Join() {
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.Agents = c.Homes[e.Tool.Name].Agents; len(e.Agents) > 0 {
			continue
		}
		for _, a := range c.Agents {
			if belongs(e.Namespace, a.Primary) {
				e.Agents = append(e.Agents, a.Name)
			}
		}
		if len(e.Agents) > 0 {
			continue
		}
		for _, a := range c.Agents {
			if belongs(e.Namespace, a.Fallback) {
				e.Agents = append(e.Agents, a.Name)
			}
		}
	}
}

// Options lays what the catalog says over options: its namespaces, or one for all tools
// where they have none, the agents that routes prefer, and the intents of agents. Errors
// are those of CompileRoutePattern.
func (c *Catalogue) Options(o Options) (Options, error) {
	switch {
	case c.Primary != nil:
		o.Primary, o.Fallback = c.Primary, c.Fallback
	case !slices.ContainsFunc(c.Entries, func(e Entry) bool { return len(e.Namespace) > 0 }):
		o.Primary = [][]string{{}}
	}
	if c.RouteAgents != nil {
		o.Agents.Hints = c.RouteAgents
	}
	o.Agents.Intents = nil
	for _, a := range c.Agents {
		if a.Intent == nil {
			continue
		}
		var patterns []*RoutePattern
		for _, source := range a.Intent.Patterns {
			p, err := CompileRoutePattern(source)
			if err != nil {
				return o, fmt.Errorf("read intent of agent %s: %w", a.Name, err)
			}
			patterns = append(patterns, p)
		}
		o.Agents.Intents = append(o.Agents.Intents,
			Intent{Agent: a.Name, Routes: a.Intent.Routes, Always: a.Intent.Always, Match: func(question string) bool {
				return slices.ContainsFunc(patterns, func(p *RoutePattern) bool {
					_, _, ok := p.Find(question)
					return ok
				})
			}})
	}
	return o, nil
}

// RouteExamples are the example questions of tools whose route is told, to learn routes
// from.
func (c *Catalogue) RouteExamples() []RouteExample {
	var out []RouteExample
	for i := range c.Entries {
		home := c.Homes[c.Entries[i].Tool.Name]
		for _, q := range c.Entries[i].Examples {
			if home.Route != "" {
				out = append(out, RouteExample{Text: q, Route: home.Route, SubRoute: home.SubRoute})
			}
		}
	}
	return out
}
