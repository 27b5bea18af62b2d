// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"github.com/callvet/callvet"
)

// forJudges reports whether a case is of the tier that a judge decides. Such cases run when
// all others are over: a judge is not asked about a target that does not even call the right
// tools. A case of another tier may have a rubric too; it runs with its tier.
// Source: Eval Case Interfaces, "Implementation Notes".
func forJudges(c *callvet.Case) bool { return c.Tier == callvet.TierRubric }
