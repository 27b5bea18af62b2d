// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"github.com/callvet/callvet/internal/drills"
	"github.com/callvet/callvet/internal/judge"
)

// programs makes what runs the scorers of the session's run. The caller closes it.
func (s *Session) programs() (*judge.ScorerPool, error) {
	if m := s.Manifest; m.Made || m.Kept || m.Drill && m.Path == drills.Name { // read from no file
		return s.app.PoolIn("", s.Manifest.Leaves())
	}
	return s.app.NewPool(s.Manifest.Path, s.Manifest.Leaves())
}
