// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"github.com/callvet/callvet/score/safety"
)

// rules are those that the run's attempts are held to; nil: the constraints of its tools.
func (m *Manifest) rules() *safety.Rules {
	if m.Guard == nil {
		return nil
	}
	return &m.Guard.Rules
}
