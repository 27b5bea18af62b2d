// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/panel/routing"
	"github.com/callvet/callvet/retrieve"
)

// Diagnosis is an explanation as reports tell it.
func Diagnosis(e retrieve.Explanation) routing.Diagnosis {
	standing := func(s *retrieve.Standing) callvet.Ranked {
		return callvet.Ranked{Tool: s.ID, Score: s.Score, Parts: retriever.Parts(s.Parts)}
	}
	d := routing.Diagnosis{Tool: standing(&e.Tool), Rank: e.Tool.Rank, Reasons: e.Reasons()}
	if e.Winner != nil {
		d.Winner = standing(e.Winner)
	}
	return d
}

// explained is how many failed cases are explained in catalogs of up to explainAll
// tools, and in larger ones, where each explanation ranks all of them.
const (
	explainAll       = 10_000
	explained        = routing.MaxFailed
	explainedOfLarge = 25
)

// Explain fills in why expected tools of failed cases were not first, by the target's
// position in the run; targets without an index are left as they are, and so are
// cases beyond the first of large catalogs.
func Explain(ctx context.Context, s *routing.Section, index map[int]*retriever.Retriever) {
	for i := range s.Targets {
		t := &s.Targets[i]
		r := index[t.Target]
		if r == nil {
			continue
		}
		most := explained
		if r.Len() > explainAll {
			most = explainedOfLarge
		}
		for j := range t.Failed[:min(len(t.Failed), most)] {
			f := &t.Failed[j]
			for _, tool := range f.Want.Tools {
				if e, ok := Diagnose(ctx, r, f.Query, tool); ok {
					f.Diagnose = append(f.Diagnose, Diagnosis(e))
				}
			}
		}
	}
}
