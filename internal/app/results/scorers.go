// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"slices"

	"github.com/callvet/callvet/internal/app"
)

// Commands returns the commands of the run's scorers, each once.
func (m *Manifest) Commands() []string {
	var out []string
	for _, s := range m.Scorers {
		for _, command := range s.Commands {
			if !slices.Contains(out, command) {
				out = append(out, command)
			}
		}
	}
	return out
}

// ReportScorers reports the scorers that differ between two runs; their results are compared
// nevertheless.
func ReportScorers(base, cand *Manifest, events app.Events) {
	was := map[string]string{}
	for _, s := range base.Scorers {
		was[s.Name] = s.Version
	}
	for _, s := range cand.Scorers {
		if old, both := was[s.Name]; both && old != s.Version {
			events.Note("scorer-changed",
				"scorer %s: another version judged the candidate (%s) than the base (%s), so that a difference may "+
					"be the scorer's", s.Name, s.Version, old)
		}
	}
}

// ReportScorersOf does so for the sides of a comparison, if both are runs.
func ReportScorersOf(ctx context.Context, a *app.App, base, cand app.Side, events app.Events) error {
	if base.Traces != "" || cand.Traces != "" {
		return nil
	}
	b, err := Open(ctx, a, base.Run)
	if err != nil {
		return err
	}
	c, err := Open(ctx, a, cand.Run)
	if err != nil {
		return err
	}
	ReportScorers(b.Manifest, c.Manifest, events)
	return nil
}
