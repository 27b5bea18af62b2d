// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"github.com/callvet/callvet"
)

// Replayed is what a manifest keeps of a replay.
type Replayed struct {
	Run string `json:"run"`
	// FromStep is how many answers stand; nil: all do, and no target is asked.
	FromStep *int `json:"from_step,omitempty"`
	// Of is the position of the target whose answers stand; nil: each target's own.
	Of *int `json:"of,omitempty"`
}

// ToolsOf are the contracts of the tools of a case.
func (r *Run) ToolsOf(c *callvet.Case) []callvet.Tool {
	if c.Tools != nil {
		return c.Tools
	}
	return r.Suite.Tools
}
