// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
	"github.com/callvet/callvet/value"
)

// readSources collects the texts of the user, the context and earlier results.
func readSources(c *callvet.Case) match.Corpus {
	var s match.Corpus
	for i := range c.Input {
		t := &c.Input[i]
		if t.Role == callvet.RoleUser || t.Role == callvet.RoleTool {
			s.Add([]byte(t.Content))
		}
		for j := range t.Calls {
			s.Add(t.Calls[j].Result)
		}
	}
	s.Add([]byte(c.Context))
	return s
}

// grounding scores the values of all calls by whether they have a source: the
// case's texts or the result of an earlier call.
func (w *scratch) grounding(l *scoreList) {
	g := &w.ground
	g.Begin(&w.k.sources)
	w.without = nil
	for j := range w.calls {
		a := &w.calls[j]
		if j > 0 && len(w.calls[j-1].src.Result) > 0 {
			if g.Sources == &w.k.sources {
				w.earlier.Set(&w.k.sources)
				g.Sources = &w.earlier
			}
			w.earlier.Add(w.calls[j-1].src.Result)
		}
		if !g.Sources.Empty() && a.args.Kind() == value.Object {
			g.Walk(a.args)
		}
	}
	if g.Total > 0 {
		l.add(GroundedArgs, share(g.Found, g.Total, 1))
	}
}
