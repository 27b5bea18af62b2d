// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/suite"
)

// Coverage writes which tools the cases of suites cover.
func Coverage(to io.Writer, r *suite.CoverageReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s over %s", plain.Count(r.Cases, "case", "cases"), plain.Count(len(r.Tools), "tool", "tools"))
	if r.NoToolShare != nil {
		fmt.Fprintf(&b, "; %d need no tool (%s)", r.NoTool, plain.Percent(*r.NoToolShare))
	}
	if r.Skipped > 0 {
		fmt.Fprintf(&b, "; %s not run and not counted", plain.Count(r.Skipped, "case is", "cases are"))
	}
	b.WriteString("\n")
	named := func(what string, list []suite.CoverageCount) {
		parts := make([]string, len(list))
		for i, c := range list {
			name := plain.Line(c.Name)
			if name == "" {
				name = "none said"
			}
			parts[i] = fmt.Sprintf("%s %d", name, c.Cases)
		}
		if len(list) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(parts, ", "))
		}
	}
	named("tiers", r.Tiers)
	named("difficulties", r.Difficulties)
	if len(r.Tools) > 0 {
		missing(&b, "no golden case", len(r.Tools), r.WithoutGolden)
		missing(&b, "no case at all", len(r.Tools), r.WithoutCase)
		overlaps(&b, r)
	} else {
		b.WriteString("the suites have no tools: --tools FILE says which there are\n")
	}
	if r.Output != "" {
		fmt.Fprintf(&b, "overlap map written to %s\n", plain.Line(r.Output))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func missing(b *strings.Builder, what string, all int, names []string) {
	fmt.Fprintf(b, "%s: %d of %d tools", what, len(names), all)
	if len(names) > 0 {
		fmt.Fprintf(b, ": %s", plain.Names(names))
	}
	b.WriteString("\n")
}

func overlaps(b *strings.Builder, r *suite.CoverageReport) {
	fmt.Fprintf(b, "%s of tools overlap (similarity %.2f or more), %d without an ambiguous case\n",
		plain.Count(len(r.Overlaps), "pair", "pairs"), r.Least, r.Uncovered)
	rows := [][]string{{"similarity", "confused", "ambiguous cases", "tool", "tool"}}
	for _, o := range r.Overlaps[:min(len(r.Overlaps), maxListed)] {
		rows = append(rows, []string{
			fmt.Sprintf("%.3f", o.Similarity), plain.Thousands(o.Confused),
			plain.Thousands(o.Ambiguous), plain.Line(o.A), plain.Line(o.B),
		})
	}
	if len(rows) > 1 {
		report.Aligned(b, rows)
	}
	if more := len(r.Overlaps) - maxListed; more > 0 {
		fmt.Fprintf(b, "… and %s; --json has them\n", plain.Count(more, "pair more", "pairs more"))
	}
	if r.NotCompared > 0 {
		fmt.Fprintf(b, "%s were not compared\n", plain.Count(r.NotCompared, "tool", "tools"))
	}
}
