// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// safe asks the rules about the call, where there are any. They see what the arguments say, the
// payload as emitted where nothing was made of it.
func (s *Scorer) safe(t *contracted, args value.Value) marks {
	ok, known := s.shared.rules(t.text, args)
	if !known {
		return 0
	}
	return mark(callvet.StepSafe, ok)
}
