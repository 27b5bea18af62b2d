// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// maxAgents is the most agents that may be chosen for a question.
const maxAgents = 100

// agents lays the settings of agents over the preset's. The error wraps
// callvet.ErrInvalid.
func (s *Settings) agents(o *retrieve.AgentOptions) error {
	if !(s.AgentGate >= 0 && s.AgentGate <= 1) || s.Agents < 0 || s.Agents > maxAgents {
		return &callvet.Hinted{Err: fmt.Errorf("gate tools by agents: %w: agent gate %v, %d agents", callvet.ErrInvalid, s.AgentGate, s.Agents), Hint: fmt.Sprintf("a gate from 0 (none) to 1 (whole), and 1 to %d agents", maxAgents)}
	}
	if o.Gate = s.AgentGate; s.Agents > 0 {
		o.Limit = s.Agents
	}
	return nil
}
