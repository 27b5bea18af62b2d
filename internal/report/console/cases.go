// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app/cases"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

// NewCase prints the new case.
func NewCase(w io.Writer, c *cases.NewCase) error {
	var b strings.Builder
	fmt.Fprintf(&b, "added to %s and locked: %s\n", plain.Line(c.File), plain.Line(c.ID))
	switch {
	case c.Attempts == 0:
	case c.Tier != callvet.TierRegression && c.Caught == 0:
		b.WriteString("the attempt that it is made of passes it\n")
	case c.Tier != callvet.TierRegression:
		b.WriteString("the attempt that it is made of fails it\n")
	case c.Caught == c.Attempts:
		fmt.Fprintf(&b, "%s fails it, as it should\n",
			plain.Count(c.Attempts, "attempt that failed,", "attempts that failed, each"))
	default:
		fmt.Fprintf(&b,
			"%d of %d attempts that failed fail it here, too; the others failed by a judge, a program, or what is not carried\n", c.Caught, c.Attempts)
	}
	for i := range c.Lost {
		fmt.Fprintf(&b, "not carried: %s\n", plain.Line(c.Lost[i].Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// GoldDrawn writes which tasks were drawn for a person to label.
func GoldDrawn(w io.Writer, d *cases.GoldDrawn) error {
	_, err := fmt.Fprintf(w, "%s added to %s, from %s: it has %d, and %d are open\n",
		plain.Count(d.Added, "task", "tasks"), plain.Line(d.File), plain.Count(d.Strata, "stratum", "strata"),
		d.Tasks, d.Open)
	if err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(d.Edges)) {
		if _, err := fmt.Fprintf(w, "edge cases: %s: %d\n", kind, d.Edges[kind]); err != nil {
			return err
		}
	}
	return nil
}

// GoldApplied writes the result of applying the labels of a person.
func GoldApplied(w io.Writer, d *cases.GoldApplied) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s labelled, %d not begun with\n", plain.Count(d.Tasks, "task", "tasks"), d.Open)
	if d.Output != "" {
		fmt.Fprintf(&b, "labelled traces: %s\n", plain.Line(d.Output))
	}
	if d.Suite != "" {
		fmt.Fprintf(&b, "suite: %s, %s\n", plain.Line(d.Suite), plain.Count(d.Cases, "case", "cases"))
	}
	for i := range d.Lost {
		fmt.Fprintf(&b, "not in the suite: %s\n", plain.Line(d.Lost[i].Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ShownTask shows untrusted text of a trace.
func ShownTask(w io.Writer, s runs.ShownTask) {
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s:\n  %s\n", name, strings.ReplaceAll(plain.Clean(text), "\n", "\n  "))
		}
	}
	if s.Evidence != "" {
		part("the judge was shown", s.Evidence)
		part("then it called", strings.Join(s.Steps, "\n"))
		part("then it said", s.Answer)
		return
	}
	part("goal", s.Goal)
	part("steps", strings.Join(s.Steps, "\n"))
	if s.Answer == "" {
		s.Answer = "(none recorded)"
	}
	part("final answer", s.Answer)
}

// MCPImported prints the result of an import into a file.
func MCPImported(w io.Writer, r *catalogs.ImportMCPResult, name string) error {
	_, err := fmt.Fprintf(w, "%s %s: %s (%d read-only, %d writing, %d that do not say), MCP %s over %s\n",
		plain.Line(r.Server.Name), plain.Line(r.Server.Version), plain.Count(r.Tools, "tool", "tools"), r.ReadOnly,
		r.Writing, r.Unhinted, plain.Line(r.Server.Protocol), r.Server.Transport)
	for _, c := range r.Changes {
		_, err = fmt.Fprintf(w, "changed: %s\n", plain.Line(c.Text))
	}
	if r.Drafts > 0 {
		_, err = fmt.Fprintf(w, "%s: each does not run until its line skip is taken out\n",
			plain.Count(r.Drafts, "draft", "drafts"))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "wrote %s\n", plain.Line(name))
	}
	return err
}
