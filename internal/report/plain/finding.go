// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"github.com/callvet/callvet/panel"
)

// FindingText returns the lines of a finding: its title, its evidence, the places of its examples,
// a test for it, and the fix.
func FindingText(f *panel.Finding, where func(panel.Example) string) []string {
	out := []string{f.Code + " " + Line(f.Title) + ": " + FindingCount(f)}
	for _, e := range f.Evidence {
		out = append(out, "   "+Line(e))
	}
	for _, e := range f.Examples {
		out = append(out, "   see "+where(e)+" "+Line(e.Why))
	}
	return append(out, "   test: "+Line(f.Test), "   fix:  "+Line(f.Fix))
}

// FindingLine returns a finding in one line: its title, its count, and the first of its examples.
func FindingLine(f *panel.Finding, where func(panel.Example) string) string {
	s := Line(f.Title) + ": " + FindingCount(f)
	if len(f.Examples) > 0 {
		e := &f.Examples[0]
		s += "; see " + where(*e)
		if why := Line(e.Why); why != "" {
			s += " (" + why + ")"
		}
	}
	return s
}

// FindingCount returns how many units and how many failing attempts show the finding.
func FindingCount(f *panel.Finding) string {
	s := Thousands(f.Count) + " of " + Thousands(f.Of) + " " + f.Unit
	if f.Failed > 0 && f.Unit != panel.UnitFailing {
		s += "; " + Thousands(f.Failed) + " of " + Thousands(f.Failing) + " " + panel.UnitFailing
	}
	return s
}
