// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judging

import (
	"fmt"
	"math"

	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/stats"
)

// Coefficients are kappa and AC1 in words.
func Coefficients(g *results.JudgeAgreement) string {
	say := func(name string, iv stats.Interval) string {
		switch {
		case math.IsNaN(iv.Point): // all say one thing
			return name + " is not defined"
		case iv.SE > 0:
			return fmt.Sprintf("%s %.2f (%.2f to %.2f)", name, iv.Point, iv.Lower, iv.Upper)
		}
		return fmt.Sprintf("%s %.2f without an interval", name, iv.Point)
	}
	return say("kappa", g.Kappa) + ", " + say("AC1", g.AC1)
}
