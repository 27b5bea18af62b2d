// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package panel

import (
	"fmt"
	"testing"

	"github.com/callvet/callvet"
)

// TestUnknownIsNotInapplicable: of the attempts without a value of a score those count
// as unknown that could have one, not those at cases to which it does not apply.
func TestUnknownIsNotInapplicable(t *testing.T) {
	t.Parallel()
	var cases []callvet.Case
	var cells []*callvet.Cell
	for i := range 30 {
		c := oneCall(fmt.Sprint("c", i), "f")
		if i < 10 {
			c = noCall(c.ID)
		}
		cases = append(cases, c)
		cell := attempt(i, 0, callvet.VerdictPass, "f")
		switch {
		case i < 10:
			cell = attempt(i, 0, callvet.VerdictPass)
		case i < 25: // the rest asserts no arguments
			cell.Result.Scores = append(cell.Result.Scores, callvet.Score{Name: "arg_em", Value: 1, Scored: true})
		}
		if i == 29 {
			cell.Result.Scores = append(cell.Result.Scores, callvet.Score{Name: "grounded_args", Reason: "not recorded"})
		}
		cells = append(cells, cell)
	}
	s := collect(Config{Targets: make([]callvet.Target, 1)}, cases, cells...).Targets[0].Overall
	if m := s.Metric("arg_em"); m == nil || m.Interval.N != 15 || m.Excluded != 15 || m.Unknown != 5 {
		t.Errorf("%+v", m)
	}
}
