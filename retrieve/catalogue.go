// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"slices"
)

// Catalogue is a file of tools with their owner's data for retrieval.
type Catalogue struct {
	Name, Description string
	// Entries are the tools in the order of the file.
	Entries []Entry
	// Homes has the home of each tool, by the entry's name.
	Homes map[string]Home
	// Agents are the agents that tools may belong to, in the order of the file.
	Agents []Agent
	// RouteAgents are the agents that a route prefers (AgentOptions.Hints); nil when the file has
	// none.
	RouteAgents map[string][]string
	// Primary and Fallback are for Options: the namespaces to search first, and the namespaces to
	// search when these have no result; nil when the file has none.
	Primary, Fallback [][]string
}

// Home is the category of a tool for people, the route and the sub-route that lead to it, and the
// agents that may call it. Empty where the file does not define it.
type Home struct {
	Category, Route, SubRoute string
	Agents                    []string
}

// Agent answers a kind of question with the tools of its namespaces.
type Agent struct {
	Name, Description string
	Keywords          []string
	// Namespace is the namespace of the agent itself: agents, trafik.
	Namespace         []string
	Primary, Fallback [][]string
	// Intent defines the questions that always go to the agent, independent of scores; nil for
	// none.
	Intent *AgentIntent
}

// AgentIntent is an Intent in a catalog, with patterns like those of routes. One match is enough.
type AgentIntent struct {
	Patterns []string
	Routes   []string
	Always   bool
}

// Join sets the agents of each entry: the agents of its home, else the agents with its primary
// namespace, else the agents with its fallback namespace.
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

// Options returns o with the settings of the catalog: its namespaces, or one for all tools where
// they have none, the agents that routes prefer, and the intents of agents. Errors are those of
// CompileRoutePattern.
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

// RouteExamples are the example questions of tools with a known route, for learning routes.
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
