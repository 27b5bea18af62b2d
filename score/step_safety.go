// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// safe asks the rules about the call, where there are any. They see what the arguments say, the
// payload as emitted where nothing was made of it.
func (s *StepScorer) safe(t *contracted, args value.Value) marks {
	ok, known := s.shared.rules(t.rule, args)
	if !known {
		return 0
	}
	return mark(callvet.StepSafe, ok)
}

// Counted is the tool of the last call, "name@vN" or the name alone, under the name that it
// counts as. Nil where that is the one of the line.
func (s *StepScorer) Counted() []byte { return s.last.counted }

// Named is the tool of a label under the name that it counts as.
func (s *StepScorer) Named(tool []byte) []byte {
	if s.shared.catalog.naming == nil {
		return tool
	}
	if t := s.lookup(tool); t.counted != nil {
		return t.counted
	}
	return tool
}

// Naming is what the names of tools count as.
func (s *StepScorer) Naming() *callvet.Naming { return s.shared.catalog.naming }
