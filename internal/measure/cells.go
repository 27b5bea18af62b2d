// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"bytes"
	"iter"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
)

// Row is a cell of a run with its case.
type Row struct {
	Case *callvet.Case
	Cell *callvet.Cell
}

// Cells returns the cells of a run as attempts, in the order of the rows; targets are the targets
// of the run, and suite contains the settings of its suite. A cell of any other target is left out.
func Cells(rows iter.Seq2[Row, error], targets []callvet.Target,
	suite *callvet.Scoring,
) iter.Seq2[trace.Attempt, error] {
	return func(yield func(trace.Attempt, error) bool) {
		for r, err := range rows {
			if err != nil {
				yield(trace.Attempt{}, err)
				return
			}
			if r.Cell.Target < 0 || r.Cell.Target >= len(targets) {
				continue
			}
			if !yield(trace.OfCell(r.Case, &targets[r.Cell.Target], r.Cell, suite), nil) {
				return
			}
		}
	}
}

// Catalogue returns the tools of a run: of its suite and of its cases. A tool with different
// contracts in two places has no contract here, because it is not known which one a call has to
// keep.
func Catalogue(suite []callvet.Tool, cases iter.Seq[*callvet.Case]) []callvet.Tool {
	tools, at := slices.Clone(suite), map[string]int{}
	for i := range tools {
		at[tools[i].Name] = i
	}
	for c := range cases {
		for i := range c.Tools {
			t := &c.Tools[i]
			k, known := at[t.Name]
			switch {
			case !known:
				at[t.Name], tools = len(tools), append(tools, *t)
			case !sameContract(&tools[k], t):
				tools[k] = callvet.Tool{Name: t.Name}
			}
		}
	}
	return tools
}

func sameContract(a, b *callvet.Tool) bool {
	return bytes.Equal(a.Parameters, b.Parameters) && same(a.LatencyBudgetMS, b.LatencyBudgetMS) &&
		same(a.LatencyP50MS, b.LatencyP50MS) &&
		same(a.RateLimit, b.RateLimit) && (a.Safety == nil) == (b.Safety == nil)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
