// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package figure

import (
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// FindingText tells a finding in lines: what it is, its evidence, its examples where they
// are, how one makes sure that it is there, and what helps.
func FindingText(f *panel.Finding, where func(panel.Example) string) []string {
	out := []string{f.Code + " " + plain.Line(f.Title) + ": " + FindingCount(f)}
	for _, e := range f.Evidence {
		out = append(out, "   "+plain.Line(e))
	}
	for _, e := range f.Examples {
		out = append(out, "   see "+where(e)+" "+plain.Line(e.Why))
	}
	return append(out, "   test: "+plain.Line(f.Test), "   fix:  "+plain.Line(f.Fix))
}

// FindingLine tells a finding in one line: what it is, how often it was seen, and the
// first of its examples.
func FindingLine(f *panel.Finding, where func(panel.Example) string) string {
	s := plain.Line(f.Title) + ": " + FindingCount(f)
	if len(f.Examples) > 0 {
		e := &f.Examples[0]
		s += "; see " + where(*e)
		if why := plain.Line(e.Why); why != "" {
			s += " (" + why + ")"
		}
	}
	return s
}

// FindingCount is how many of which things show a finding, and how many of the failing attempts.
func FindingCount(f *panel.Finding) string {
	s := plain.Thousands(f.Count) + " of " + plain.Thousands(f.Of) + " " + f.Unit
	if f.Failed > 0 && f.Unit != panel.UnitFailing {
		s += "; " + plain.Thousands(f.Failed) + " of " + plain.Thousands(f.Failing) + " " + panel.UnitFailing
	}
	return s
}
