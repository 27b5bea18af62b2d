// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/route"
)

// maxAgents is the most agents that may be chosen for a question.
const maxAgents = 100

// agents lays the settings of agents over the preset's, with what the catalog says of
// routes and intents. The error wraps callvet.ErrInvalid.
func (s *Settings) agents(o *retrieve.AgentOptions, c *retrieve.Catalogue) error {
	if !(s.AgentGate >= 0 && s.AgentGate <= 1) || s.Agents < 0 || s.Agents > maxAgents {
		return &callvet.Hinted{Err: fmt.Errorf("gate tools by agents: %w: agent gate %v, %d agents", callvet.ErrInvalid, s.AgentGate, s.Agents), Hint: fmt.Sprintf("a gate from 0 (none) to 1 (whole), and 1 to %d agents", maxAgents)}
	}
	if o.Gate = s.AgentGate; s.Agents > 0 {
		o.Limit = s.Agents
	}
	if c.RouteAgents != nil {
		o.Hints = c.RouteAgents
	}
	o.Intents = nil
	for _, a := range c.Agents {
		if a.Intent == nil {
			continue
		}
		var patterns []*route.Pattern
		for _, source := range a.Intent.Patterns {
			p, err := route.Compile(source)
			if err != nil {
				return fmt.Errorf("read intent of agent %s: %w", a.Name, err)
			}
			patterns = append(patterns, p)
		}
		o.Intents = append(o.Intents, retrieve.Intent{Agent: a.Name, Routes: a.Intent.Routes, Always: a.Intent.Always, Match: func(question string) bool {
			for _, p := range patterns {
				if _, _, ok := p.Find(question); ok {
					return true
				}
			}
			return false
		}})
	}
	return nil
}
