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

// CatalogFindings writes the findings on a catalogue.
func CatalogFindings(w io.Writer, l *catalog.Findings) error {
	var b strings.Builder
	for _, p := range l.Problems {
		level := "error"
		if p.Warning {
			level = "warning"
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", level, p.Code, plain.Line(p.Error()))
	}
	errs := l.Errors()
	fmt.Fprintf(&b, "%s, %s, %s\n", plain.Count(l.Tools, "tool", "tools"), plain.Count(errs, "error", "errors"),
		plain.Count(len(l.Problems)-errs, "warning", "warnings"))
	_, err := io.WriteString(w, b.String())
	return err
}

// Confusable writes the pairs of tools that are easily confused.
func Confusable(w io.Writer, c *catalog.Confusable) error {
	var b strings.Builder
	head := []string{"similarity", "tool", "tool"}
	if c.Observed {
		head = []string{"similarity", "tool", "tool", "confused in the run"}
	}
	rows := [][]string{head}
	for _, p := range c.Pairs {
		r := []string{fmt.Sprintf("%.3f", p.Similarity), plain.Line(p.A), plain.Line(p.B)}
		if c.Observed {
			r = append(r, plain.Thousands(p.Confused))
		}
		rows = append(rows, r)
	}
	report.Aligned(&b, rows)
	b.WriteString(
		"Similarity is the cosine of how the words of name and description are written; synonyms are not seen.\n")
	if c.Left > 0 {
		fmt.Fprintf(&b, "%s tools were not compared: %s is the most.\n", plain.Thousands(c.Left),
			plain.Thousands(catalog.MaxCompared))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
