// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
)

// forJudges reports whether a case is of the tier that a judge decides. Such cases run when
// all others are over: a judge is not asked about a target that does not even call the right
// tools. A case of another tier may have a rubric too; it runs with its tier.
// Source: Eval Case Interfaces, "Implementation Notes".
func forJudges(c *callvet.Case) bool { return c.Tier == callvet.TierRubric }

// holdRubrics says why rubric cases do not run of a target of whose other attempts so many
// failed or ended in an error.
func (s *Settings) holdRubrics(unmet int) string {
	if unmet == 0 || s.ForceRubric {
		return ""
	}
	return fmt.Sprintf("rubric cases run when all others pass, and %s did not: --force-rubric runs them all the same",
		plain.Count(unmet, "attempt", "attempts"))
}
