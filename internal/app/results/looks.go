// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/store"
)

// mostEarlier is how many runs of a store are gone through for earlier ones of a suite.
const mostEarlier = 1000

// EarlierLooks warns that a run is not the first look: earlier runs of a suite of the same name asked a
// target in the same way. A gate of so many tasks errs as often as it promises where it is looked at
// once. Targets that answer the same each time give nothing new, so that no look is another one.
// Source: Statistics specification, section 16.6.
func EarlierLooks(ctx context.Context, a *app.App, r *Run) ([]string, error) {
	now, err := r.Manifest.asked()
	if err != nil {
		return nil, err
	}
	looks, first := map[string]int{}, map[string]time.Time{}
	for p, m := range earlierRuns(ctx, a, r, &err) {
		then, bad := m.asked()
		if bad != nil { // a run of another version may not be readable
			continue
		}
		for _, hash := range then {
			looks[hash], first[hash] = looks[hash]+1, p.Created
		}
	}
	var out []string
	for i, hash := range now {
		if t := &r.Manifest.Targets[i]; looks[hash] > 0 && !GivesFacts(t) {
			same := ""
			if t.Agent {
				same = "; whether the agent is the same is not known"
			}
			out = append(out,
				fmt.Sprintf(
					"this is look %d at %s: the store has %s of this suite since %s%s. A gate is for one look: who decides at the second one "+
						"is wrong in up to 7 %% of cases, at the tenth in 9 %%, where one look is wrong in 2.5 %%",
					looks[hash]+1, t.Name, plain.Count(looks[hash], "earlier run", "earlier runs"),
					first[hash].UTC().Format(time.DateOnly), same))
		}
	}
	return out, err
}

// earlierRuns yields the runs of a suite of the same name that were started before r, the newest first,
// each with its manifest.
func earlierRuns(ctx context.Context, a *app.App, r *Run, failed *error) iter.Seq2[*store.Run, *Manifest] {
	return func(yield func(*store.Run, *Manifest) bool) {
		db, err := a.Config.Store(ctx)
		if err != nil {
			*failed = err
			return
		}
		list, err := db.Runs(ctx, mostEarlier)
		if err != nil {
			*failed = err
			return
		}
		for i := range list {
			s := &list[i]
			if s.SuiteName != r.Stored.SuiteName || s.ID == r.Stored.ID || !s.Created.Before(r.Stored.Created) {
				continue
			}
			if m, err := ReadManifest(s); err == nil && !yield(s, m) { // a run of another version may not be readable
				return
			}
		}
	}
}

// GivesFacts reports whether a target answers the same each time.
func GivesFacts(t *callvet.Target) bool {
	return t.Floor || t.Recorded || t.Provider == "script"
}
