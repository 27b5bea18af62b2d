// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score"
)

// SelectionColumns are the columns of a table of decisions: the question, the expected and the
// given tools.
func SelectionColumns() []string {
	return []string{
		"query", "category", "difficulty", "language", "expected_route", "expected_sub_route", "expected_agents",
		"expected_tools", "acceptable_tools",
		"given_route", "given_sub_route", "given_agents", "given_tools", "given_scores", "strange",
	}
}

// SelectionCells are the cells of SelectionColumns for one attempt, not escaped. Lists have "; "
// between their members, and the scores have the order of the tools. Tools beyond the requested
// number are left out.
func SelectionCells(c *callvet.Case, cell *callvet.Cell) []string {
	list := func(names []string) string { return strings.Join(names, "; ") }
	want, _ := score.SelectionOf(&c.Expect) // for a case that expects calls, their tools
	d := cell.Trace.Decision
	if d == nil {
		d = &callvet.Decision{}
	}
	var scores []string
	for _, t := range d.Given() {
		scores = append(scores, strconv.FormatFloat(t.Score, 'g', -1, 64))
	}
	return []string{
		c.Question(), c.Fields["category"], c.Fields["difficulty"], c.Fields["language"], want.Route, want.SubRoute,
		list(want.Agents), list(want.Tools), list(want.Acceptable),
		d.Route, d.SubRoute, list(d.Agents), list(d.Names()), list(scores), list(d.Odd),
	}
}
