// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"fmt"

	"github.com/callvet/callvet/stats"
)

// Refusal is a sentence on why there is no estimate of true success; empty where the status is no
// obstacle.
func Refusal(s stats.Status) string {
	switch s {
	case NotInformative:
		return "the judge is no better than chance (sensitivity and specificity sum up to 1 or less): true success cannot be estimated from its verdicts"
	case NoLabelledPass, NoLabelledFail:
		return "the calibration has no labels of one class: true success cannot be estimated"
	case TooFewUnits:
		return fmt.Sprintf(
			"the calibration is worth fewer than %d independent labels of a class (several attempts at one task count for less): nothing rests on it", MinLabels)
	case Mismatch:
		return "the judged rate is impossible for the calibrated judge: the calibration does not fit these tasks"
	}
	return ""
}
