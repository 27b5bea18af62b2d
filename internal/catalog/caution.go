// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// Cautions are warnings about a search that is measured on a suite.
type Cautions struct {
	// Expected are the routes and agents that cases expect and the search cannot return.
	Expected []callvet.Problem
	// Learned counts the cases with questions that the routes were learned from.
	Learned int
	// Other are the weights of the search where they were tuned with other vectors, Same
	// where they were tuned on this very suite; else nil.
	Other, Same *learn.Tuned
}

// Caution finds causes of biased results on a suite: weights that were tuned, or routes that were
// learned on it. It also finds expectations that cannot be met. It reads the suite for this.
func Caution(ctx context.Context, e *Env, f *Search, suite string) (Cautions, error) {
	by, _, err := e.Routes(f.Routes)
	if err != nil {
		return Cautions{}, err
	}
	if f.Tools == "" || f.Via != "" || suite == "-" { // standard input is read once
		return Cautions{}, nil
	}
	c, _, err := e.Catalogue(f.Tools)
	if err != nil {
		return Cautions{}, err
	}
	s, err := e.Suite(ctx, suite, Tools(c))
	if err != nil {
		return Cautions{}, err
	}
	learned, _ := by.(*retrieve.LearnedRoutes)
	out := Cautions{Expected: ExpectedRoutes(suite, s.Cases, c, by), Learned: seen(learned, s.Cases)}
	if u := f.Tuned; u != nil && u.Embed != f.Embed {
		out.Other = u
	}
	// whether it shares cases with another one is not known
	if u := f.Tuned; u != nil && SuiteHash(s.Cases) == u.Suite {
		out.Same = u
	}
	return out, nil
}

// seen is how many cases have questions that routes were learned from; 0 for nil.
func seen(l *retrieve.LearnedRoutes, cases []callvet.Case) (n int) {
	for i := range cases {
		if l != nil && l.Saw(cases[i].Question()) {
			n++
		}
	}
	return n
}
