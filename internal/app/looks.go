// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"fmt"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
)

// mostLooks is how many runs of a store are gone through for earlier looks.
const mostLooks = 1000

// earlierLooks warns that a run is not the first look: earlier runs of a suite of the same name asked a
// target in the same way. A gate of so many tasks errs as often as it promises where it is looked at
// once. Targets that answer the same each time give nothing new, so that no look is another one.
// Source: Statistics specification, section 16.6.
func (a *App) earlierLooks(ctx context.Context, r *Run) ([]string, error) {
	if len(r.Manifest.Specs) != len(r.Manifest.Targets) {
		return nil, nil
	}
	db, err := a.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	past, err := db.Runs(ctx, mostLooks)
	if err != nil {
		return nil, err
	}
	type looks struct {
		n     int
		first time.Time
	}
	seen := map[string]looks{}
	for i := range past {
		p := &past[i]
		if p.SuiteName != r.Suite.Name || p.ID == r.Stored.ID || !p.Created.Before(r.Stored.Created) {
			continue
		}
		m, err := readManifest(p)
		if err != nil || len(m.Specs) != len(m.Targets) { // a run of another version may not be readable
			continue
		}
		for k := range m.Specs {
			if hash, err := hashOf(&m.Specs[k], &m.Targets[k]); err == nil {
				seen[hash] = looks{seen[hash].n + 1, p.Created}
			}
		}
	}
	var out []string
	for k := range r.Manifest.Specs {
		t := &r.Manifest.Targets[k]
		hash, err := hashOf(&r.Manifest.Specs[k], t)
		if err != nil {
			return nil, err
		}
		if at := seen[hash]; at.n > 0 && !givesFacts(t) {
			same := ""
			if t.Agent {
				same = "; whether the agent is the same is not known"
			}
			out = append(out, fmt.Sprintf("this is look %d at %s: the store has %s of this suite since %s%s. A gate is for one look: who decides at the second one "+
				"is wrong in up to 7 %% of cases, at the tenth in 9 %%, where one look is wrong in 2.5 %%",
				at.n+1, t.Name, plain.Count(at.n, "earlier run", "earlier runs"), at.first.UTC().Format(time.DateOnly), same))
		}
	}
	return out, nil
}

// givesFacts reports whether a target answers the same each time.
func givesFacts(t *callvet.Target) bool {
	return t.Floor || t.Recorded || t.Provider == "script"
}
