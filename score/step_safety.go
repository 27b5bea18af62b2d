// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// safe applies the safety rules, if any, to the call. The rules see the arguments, or the payload
// as emitted where it was not parsed.
func (s *StepScorer) safe(t *contracted, args value.Value) marks {
	ok, known := s.shared.rules(t.rule, args)
	if !known {
		return 0
	}
	return mark(callvet.StepSafe, ok)
}

// Counted is the tool of the last call, "name@vN" or the name alone, under the name that it
// counts as. Nil where the name in the line counts.
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

// Naming resolves the names of tools.
func (s *StepScorer) Naming() *callvet.Naming { return s.shared.catalog.naming }
