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

// Suggestions writes the suggestions of a model, with their measurements.
func Suggestions(to io.Writer, s *catalog.Suggestions) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s could be seen, %s held out (seed %d)", plain.Count(s.Train, "question", "questions"),
		plain.Count(s.Held, "was", "were"), s.Seed)
	if s.LeftOut > 0 {
		fmt.Fprintf(&b, "; %s left out, which expect no tools, or one that the catalogue does not have",
			plain.Count(s.LeftOut, "case", "cases"))
	}
	fmt.Fprintf(&b, "\n%s: ", plain.Line(s.Model))
	usage(&b, s.Usage)
	b.WriteString("\n")
	rows := [][]string{{
		"description of", "status", "lost", "took", "held out, its own", "newly right", "newly wrong",
		"change [95 %]", "p", "p over all (Holm)",
	}}
	for i := range s.Tools {
		t := &s.Tools[i]
		r := []string{
			plain.Line(t.Tool), string(t.Status), plain.Thousands(t.Lost), plain.Thousands(t.Taken),
			plain.Thousands(t.Own), "", "", "", "", "",
		}
		if d := t.Alone; d != nil {
			r = append(r[:5], plain.Thousands(d.NewlyPassing), plain.Thousands(d.NewlyFailing), plain.Change(d.Change),
				plain.P(d.P), plain.P(*t.Adjusted))
		}
		rows = append(rows, r)
	}
	report.Aligned(&b, rows)
	for i := range s.Tools {
		t := &s.Tools[i]
		fmt.Fprintf(&b, "  %s: %s\n", plain.Line(t.Tool), plain.Limited(plain.Line(t.Why()), 600))
	}
	if c := s.Together; c != nil {
		fmt.Fprintf(&b, "\nAll that are proposed (%d) together, on the held-out questions\n", s.Count("proposed"))
		if s.Sorted() {
			fmt.Fprintf(&b, "These questions have sorted the suggestions, too: %s.\n", catalog.Flattered)
		}
		comparison(&b, c)
	}
	fmt.Fprintf(&b, "\n%d proposed, %d rejected, in %s. The catalogue is as it was.\n", s.Count("proposed"),
		s.Count("rejected"), plain.Line(s.Output))
	if s.Count("proposed") > 0 {
		fmt.Fprintf(&b,
			"Look at the texts, write status: accepted at those that are true, then\n  callvet tools apply %s --edits %s -o NEW\n", plain.Line(s.Catalogue), plain.Line(s.Output))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// Prompts writes the prompts for a model.
func Prompts(to io.Writer, p *catalog.Prompts) error {
	var b strings.Builder
	fmt.Fprintf(&b, "system\n%s\n", plain.Clean(p.System))
	for _, one := range p.Prompts {
		fmt.Fprintf(&b, "\n%s\n%s", plain.Line(one.Tool), plain.Clean(one.Text))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// Applied prints which edits were written.
func Applied(to io.Writer, a *catalog.Applied) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", plain.Count(len(a.Tools), "edit", "edits"), plain.Line(a.Catalogue))
	if a.Left > 0 {
		fmt.Fprintf(&b, "; %s of another status left out", plain.Count(a.Left, "edit", "edits"))
	}
	b.WriteString("\n")
	switch a.Form {
	case "":
	case catalog.FormZipped:
		b.WriteString("it is plain JSON now, not compressed\n")
	default:
		fmt.Fprintf(&b, "it is JSON now, and was %s; comments and the layout of the other form are not kept\n", a.Form)
	}
	if len(a.Renamed) > 0 {
		fmt.Fprintf(&b, "%s called otherwise now: suites and code that name them must follow\n",
			plain.Count(len(a.Renamed), "tool is", "tools are"))
	}
	_, err := io.WriteString(to, b.String())
	return err
}
