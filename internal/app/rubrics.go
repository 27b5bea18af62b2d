// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"

	"github.com/callvet/callvet/internal/report/plain"
)

// HoldRubrics says why rubric cases do not run of a target of whose other attempts so many
// failed or ended in an error.
func (s *Settings) HoldRubrics(unmet int) string {
	if unmet == 0 || s.ForceRubric {
		return ""
	}
	return fmt.Sprintf("rubric cases run when all others pass, and %s did not: --force-rubric runs them all the same",
		plain.Count(unmet, "attempt", "attempts"))
}
