// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// ScorerVersion says which version of a scorer of the suite's own judged a run.
type ScorerVersion struct {
	Name string `json:"name"`
	// Kind is expr, exec, javascript or python; several are joined by commas.
	Kind string `json:"kind"`
	// Version changes with the scorer: with its text, its settings, and the files that its
	// command is made of. Cases may have scorers of one name that differ: it is of all then.
	Version string `json:"version"`
}

// scorersOf gathers the scorers of a suite, case by case.
type scorersOf struct {
	version func(*callvet.Scorer) string
	// seen are the versions and kinds by name; of a scorer that cases share it is looked up once.
	seen  map[string]map[string]bool
	kinds map[string]map[string]bool
}

func (a *App) newScorersOf() *scorersOf {
	return &scorersOf{version: func(s *callvet.Scorer) string { return s.Sum() }, seen: map[string]map[string]bool{}, kinds: map[string]map[string]bool{}}
}

// add takes the scorers of a case.
func (o *scorersOf) add(c *callvet.Case) {
	for i := range c.Expect.Scorers {
		s := &c.Expect.Scorers[i]
		if o.seen[s.Name] == nil {
			o.seen[s.Name], o.kinds[s.Name] = map[string]bool{}, map[string]bool{}
		}
		o.seen[s.Name][o.version(s)], o.kinds[s.Name][s.Kind()] = true, true
	}
}

// list gives them by name; nil where there is none.
func (o *scorersOf) list() []ScorerVersion {
	var out []ScorerVersion
	for _, name := range slices.Sorted(maps.Keys(o.seen)) {
		all := slices.Sorted(maps.Keys(o.seen[name]))
		version := all[0]
		if len(all) > 1 {
			sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
			version = hex.EncodeToString(sum[:])[:len(all[0])]
		}
		out = append(out, ScorerVersion{name, strings.Join(slices.Sorted(maps.Keys(o.kinds[name])), ", "), version})
	}
	return out
}

// tellScorers tells which scorers of two runs are not the same: what they measured is compared
// all the same.
func tellScorers(base, cand *Manifest, tell Events) {
	was := map[string]string{}
	for _, s := range base.Scorers {
		was[s.Name] = s.Version
	}
	for _, s := range cand.Scorers {
		if old, both := was[s.Name]; both && old != s.Version {
			tell.note("scorer-changed", "scorer %s: another version judged the candidate (%s) than the base (%s), so that a difference may be the scorer's", s.Name, s.Version, old)
		}
	}
}

// tellScorersOf does so for the sides of a comparison, where both are runs.
func (a *App) tellScorersOf(ctx context.Context, base, cand Side, tell Events) error {
	if base.Traces != "" || cand.Traces != "" {
		return nil
	}
	b, err := a.Run(ctx, base.Run)
	if err != nil {
		return err
	}
	c, err := a.Run(ctx, cand.Run)
	if err != nil {
		return err
	}
	tellScorers(b.Manifest, c.Manifest, tell)
	return nil
}
