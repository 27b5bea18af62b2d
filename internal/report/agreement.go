// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Agreement writes decisions of production next to decisions of an evaluation, the largest
// differences first; show bounds how many, -1 writes all.
func Agreement(w io.Writer, b *panel.RoutingAgreement, show int) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%s of production, on %s that both were asked", plain.Count(b.Decisions, "decision", "decisions"),
		plain.Count(b.Queries, "question", "questions"))
	if b.OnlyProduction > 0 {
		fmt.Fprintf(&s, "; %d more only production was asked", b.OnlyProduction)
	}
	if b.OnlyEvaluation > 0 {
		fmt.Fprintf(&s, "; %d more only the evaluation", b.OnlyEvaluation)
	}
	s.WriteString("\n\n")
	rows := [][]string{{"tools", "decisions"}}
	for _, c := range b.Likenesses {
		rows = append(rows, []string{c.Name, plain.Thousands(c.N)})
	}
	Aligned(&s, rows)
	fmt.Fprintf(&s, "\nsame tools       %s\nsame first tool  %s\n", plain.Rate(b.SameTools), plain.Rate(b.First))
	if d := b.Right; d != nil {
		fmt.Fprintf(&s, "first tool right: production %s, evaluation %s, change %s, p %s\n", plain.Rate(d.Baseline),
			plain.Rate(d.Candidate), plain.Change(d.Change), plain.P(d.P))
	}
	shown := 0
	for i := range b.Pairs {
		p := &b.Pairs[i]
		if p.Likeness == panel.RoutingSame && !p.RouteDiffers {
			continue
		}
		if shown++; show >= 0 && shown > show {
			continue
		}
		fmt.Fprintf(&s, "\n%s  %s", p.Likeness, plain.Line(p.Query))
		if p.Times > 1 {
			fmt.Fprintf(&s, "  (%d times)", p.Times)
		}
		s.WriteString("\n")
		for _, side := range []struct {
			name  string
			of    *panel.RoutingSelected
			right *bool
		}{{"production", &p.Production, p.ProductionRight}, {"evaluation", &p.Evaluation, p.EvaluationRight}} {
			fmt.Fprintf(&s, "  %s  %s", side.name, toolsOf(side.of))
			if side.right != nil {
				s.WriteString(map[bool]string{true: "  right", false: "  wrong"}[*side.right])
			}
			s.WriteString("\n")
		}
	}
	if show >= 0 && shown > show {
		fmt.Fprintf(&s, "\n%d more differ\n", shown-show)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// toolsOf are the tools that were selected, with the route.
func toolsOf(s *panel.RoutingSelected) string {
	tools := "no tool"
	if len(s.Tools) > 0 {
		tools = plain.Line(strings.Join(s.Tools, ", "))
	}
	if s.Route == "" {
		return tools
	}
	return tools + "  route " + plain.Line(strings.TrimSuffix(s.Route+"/"+s.SubRoute, "/"))
}
