// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// Curve writes the results of models with the tools that they were offered.
func Curve(w io.Writer, c *catalog.Curve) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s\n", plain.Line(c.Run), plain.Line(c.About))
	if c.Status != "" && c.Status != "done" {
		fmt.Fprintf(&b, "not all attempts were made (%s): the counts below say how many\n", plain.Line(c.Status))
	}
	b.WriteString("\nRetrieval: a right tool among those given\n")
	rows := [][]string{{"distractors", "tools searched", "given", "right [95 %]"}}
	for i := range c.Retrieval {
		p := &c.Retrieval[i]
		rows = append(rows, []string{
			catalog.SizeName(p.Distractors), plain.Thousands(p.Tools),
			plain.Thousands(p.Given), plain.Rate(p.Hit),
		})
	}
	report.Aligned(&b, rows)
	for i := range c.Models {
		curveOf(&b, &c.Models[i])
	}
	for _, n := range c.Skipped {
		fmt.Fprintf(&b,
			"With distractors %s all tools are more than --max-tools: only the tools retrieved were given.\n",
			catalog.SizeName(n))
	}
	if len(c.Pairs) > 0 {
		b.WriteString("\nRight, case by case\n")
		rows = [][]string{{"of", "baseline", "candidate", "change [95 %]", "p", "p over all (Holm)"}}
		for _, p := range c.Pairs {
			rows = append(rows, []string{
				plain.Limited(plain.Line(p.Of), 40), p.Baseline, p.Candidate,
				plain.Change(p.Change), plain.P(p.P), plain.P(p.Adjusted),
			})
		}
		report.Aligned(&b, rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func curveOf(b *strings.Builder, m *catalog.ModelCurve) {
	fmt.Fprintf(b, "\n%s: the first call's tool is right\n", plain.Line(m.Model))
	rows := [][]string{{
		"tools given", "distractors", "tools", "right [95 %]", "retrieval missed", "wrong tool",
		"no call", "unreadable", "errors", "prompt tokens", "of tools", "cost",
	}}
	estimated := "~"
	if m.Measured {
		estimated = ""
	}
	for i := range m.Points {
		p := &m.Points[i]
		n := p.Hits + p.Missed + p.Wrong + p.Silent + p.Unreadable
		share := func(k int) string { return fmt.Sprintf("%d of %d", k, n) }
		prompt, cost := "–", "–"
		if p.PromptTokens != nil {
			prompt = fmt.Sprintf("%.0f", *p.PromptTokens)
		}
		if p.CostUSD != nil {
			cost = plain.Dollars(*p.CostUSD)
		}
		rows = append(rows, []string{
			p.Given, catalog.SizeName(p.Distractors), fmt.Sprintf("%.3g", p.Tools), plain.Rate(p.Right),
			share(p.Missed), share(p.Wrong), share(p.Silent), share(p.Unreadable), fmt.Sprint(p.Errors), prompt,
			estimated + fmt.Sprintf("%.0f", p.ToolTokens), cost,
		})
	}
	report.Aligned(b, rows)
	if m.Measured {
		fmt.Fprintf(b,
			"Tokens of tools: %.3g a byte of their JSON, measured as prompts of the same question grow with the tools in them.\n", m.TokensPerByte)
		return
	}
	fmt.Fprintf(b,
		"Tokens of tools are estimated, at %.2g a byte of their JSON: the usage of the model does not have them.\n",
		m.TokensPerByte)
}
