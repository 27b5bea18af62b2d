// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// Sweep writes sizes of a catalogue and settings next to one another.
func Sweep(w io.Writer, s *catalog.Sweep) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s a tool of the catalogue", plain.Count(s.Cases, "case expects", "cases expect"))
	if s.LeftOut > 0 {
		fmt.Fprintf(&b, "; %d left out, which expect none, or one that it does not have", s.LeftOut)
	}
	fmt.Fprintf(&b, "\n\n")
	rows := [][]string{{"configuration", "distractors", "tools", "first tool right [95 %]", "hit@k [95 %]", "k", "MRR"}}
	for i := range s.Points {
		p := &s.Points[i]
		others := "all"
		if p.Distractors >= 0 {
			others = plain.Thousands(p.Distractors)
		}
		rows = append(rows, []string{
			plain.Line(p.Configuration), others, plain.Thousands(p.Tools), plain.Rate(p.First), plain.Rate(p.Hit),
			fmt.Sprint(p.K), plain.Rate(p.MRR),
		})
	}
	report.Aligned(&b, rows)
	if slices.ContainsFunc(s.Points, func(p catalog.SweepPoint) bool { return p.Tools < p.Distractors }) {
		b.WriteString("The catalogue has fewer other tools than asked for in the last rows: all of them were taken.\n")
	}
	if len(s.Pairs) > 0 {
		b.WriteString("\nFirst tool right, case by case\n")
		rows = [][]string{{"baseline", "candidate", "change [95 %]", "p", "p over all (Holm)"}}
		for _, p := range s.Pairs {
			rows = append(rows, []string{
				plain.Line(p.Baseline), plain.Line(p.Candidate), plain.Change(p.Change),
				plain.P(p.P), plain.P(p.Adjusted),
			})
		}
		report.Aligned(&b, rows)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
