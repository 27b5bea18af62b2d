// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/verify/proof"
)

// figures are counts over the cases of a suite. Top1 and Hit2 count cases with an expected tool, Sub
// cases with an expected sub-route. Tools, Twice and Nothing are the cases with one, two and no
// expected tool; Unequal expect a number other than two. In Example the question contains an example
// of some tool.
type figures struct {
	Cases, Sub, Route, SubRoute, Exact, Acceptable, Partial, None, Top1, Hit2, Ghosts int
	Tools, Twice, Nothing, Unequal, Example                                           int
}

// Run compares every count with the recorded count, every route with the prediction, and the choice
// of agents with a second implementation.
func Run(ctx context.Context, c *proof.Check, d proof.Data) error {
	seed := filepath.Join(d.Root, "origins", "seed2")
	metadata := filepath.Join(seed, "tool_and_agent_metadata.json")
	catalog, err := readCatalog(metadata, false)
	if err != nil {
		return err
	}
	// The figures were recorded with one tool twice in the index. It then has both places of a
	// question, which is not an exact match but an acceptable one.
	twice, err := readCatalog(metadata, true)
	if err != nil {
		return err
	}
	patterns, err := d.Anywhere(set, "router_patterns.json")
	if err != nil {
		return err
	}
	old, err := readRouter(patterns[0])
	if err != nil {
		return err
	}
	predicted, err := readPredictions(d)
	if err != nil {
		return err
	}
	ours, err := defaultRoutes()
	if err != nil {
		return err
	}
	suites, err := recorded()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		maps.Copy(suites[name], predicted.counts())
		c.Due(name, len(suites[name]), "recorded.json and the recorded predictions")
		s, ghosts, err := load(ctx, filepath.Join(seed, name), catalog)
		if err != nil {
			return err
		}
		got, err := measure(ctx, s, twice, "bigtool", old.Route)
		if err != nil {
			return err
		}
		shipped, err := measure(ctx, s, catalog, "default", ours)
		if err != nil {
			return err
		}
		got.Ghosts, shipped.Ghosts = ghosts, ghosts
		c.Printf("%s, %d tools\n", name, len(catalog.Entries))
		table(c, name, suites[name], got, shipped)
		predicted.compare(c, name, s, old.Route)
		if err := agents(ctx, c, name, catalog, s, old.Route); err != nil {
			return err
		}
	}
	return nil
}

func defaultRoutes() (func(string) (string, string), error) {
	set, err := retrieve.DefaultRules()
	if err != nil {
		return nil, err
	}
	rules, err := retrieve.NewRules(set)
	if err != nil {
		return nil, err
	}
	return func(q string) (string, string) {
		d := rules.Route(q)
		return d.Route, d.SubRoute
	}, nil
}

// load reads a suite over the catalog and counts names of tools that do not exist according to lint.
func load(ctx context.Context, path string, c *retrieve.Catalogue) (*callvet.Suite, int, error) {
	var tools []callvet.Tool
	for i := range c.Entries {
		tools = append(tools, c.Entries[i].Tool)
	}
	s, problems, err := suite.Check(ctx, path, suite.Options{Tools: tools}, suite.LintOptions{})
	if err != nil {
		return nil, 0, err
	}
	known := map[string]bool{}
	for _, t := range tools {
		known[t.Name] = true
	}
	ghosts := map[string]bool{}
	for i := range s.Cases {
		want, _ := score.SelectionOf(&s.Cases[i].Expect)
		for _, name := range slices.Concat(want.Tools, want.Acceptable) {
			reported := slices.ContainsFunc(problems, func(p callvet.Problem) bool {
				return !p.Warning && p.Code == "unknown-tool" && p.Case == s.Cases[i].ID &&
					strings.Contains(p.Message, name)
			})
			if reported {
				ghosts[name] = true
			} else if !known[name] {
				return nil, 0, fmt.Errorf("lint %s: no problem reports that case %s expects %s, which does not exist", path,
					s.Cases[i].ID, name)
			}
		}
	}
	return s, len(ghosts), nil
}

// routes decides routes by a function.
type routes func(string) (string, string)

// Route implements retrieve.Router.
func (r routes) Route(question string) retrieve.RouteDecision {
	d := retrieve.RouteDecision{Rule: -1}
	d.Route, d.SubRoute = r(question)
	return d
}

func measure(ctx context.Context, s *callvet.Suite, c *retrieve.Catalogue, preset string,
	decide func(string) (string, string),
) (f figures, err error) {
	r, _, err := (&catalog.Env{Now: time.Now}).Routed(ctx, c, catalog.Settings{Preset: preset, K: 2}, preset,
		routes(decide))
	if err != nil {
		return f, err
	}
	if len(s.Cases) == 0 {
		return f, fmt.Errorf("measure %s: %w", s.Name, errNothing)
	}
	two := callvet.SelectionScoring{K: []int{1, 2}}
	s.Defaults.Scoring.Selection = &two
	scorer, _ := score.New(s, score.Config{})
	for i := range s.Cases {
		k := s.Cases[i]
		want := *k.Expect.Selection
		k.Expect.Selection = &want
		for _, name := range want.Acceptable {
			want.Acceptable = append(want.Acceptable, name+twin)
		}
		resp, err := r.Generate(ctx, &callvet.Request{CaseID: k.ID, Turns: k.Input})
		if err != nil {
			return f, err
		}
		t := callvet.Trace{CaseID: k.ID, Decision: resp.Decision, End: callvet.EndAnswered}
		t.Classify("")
		compiled, _ := scorer.Compile(&k)
		judged, err := compiled.Judge(ctx, &t)
		if err != nil {
			return f, err
		}
		f.count(&k, judged)
	}
	f.Example, err = examples(ctx, s, c)
	return f, err
}

// examples counts the questions that contain an example of some tool, by the points of the formula
// for examples.
func examples(ctx context.Context, s *callvet.Suite, c *retrieve.Catalogue) (int, error) {
	o := retrieve.BigTool()
	o.Additive.Candidates, o.Primary = 0, [][]string{{}}
	x, err := retrieve.New(ctx, o, c.Entries)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range s.Cases {
		r, err := x.Search(ctx, s.Cases[i].Input[len(s.Cases[i].Input)-1].Content, len(c.Entries))
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(r.Hits, func(h retrieve.Hit) bool { return h.Parts.Examples > 0 }) {
			n++
		}
	}
	return n, nil
}

func (f *figures) count(c *callvet.Case, r callvet.Result) {
	is := func(name string) int {
		if s := r.Score(name); s.Scored && s.Value == 1 {
			return 1
		}
		return 0
	}
	f.Cases++
	if c.Expect.Selection.SubRoute != "" {
		f.Sub++
	}
	switch n := len(c.Expect.Selection.Tools); n {
	case 0:
		f.Nothing++
	case 1:
		f.Tools++
	case 2:
		f.Twice++
	}
	f.Unequal = f.Cases - f.Twice
	f.Route += is(score.Route)
	f.SubRoute += is(score.SubRoute)
	f.Exact += is(score.MatchExact)
	f.Acceptable += is(score.MatchAcceptable) - is(score.MatchExact)
	f.Partial += is(score.MatchPartial)
	f.None += is(score.MatchNone)
	f.Top1 += is(score.Precision1)
	f.Hit2 += is(score.HitAt + "2")
}

func table(c *proof.Check, suite string, want map[string]int, got, shipped figures) {
	c.Printf("  %-34s %9s %9s %9s\n", "", "recorded", "bigtool", "default")
	for _, row := range []struct {
		name          string
		got, recorded int
	}{
		{"cases", got.Cases, shipped.Cases},
		{"cases with a sub-route", got.Sub, shipped.Sub},
		{"route right", got.Route, shipped.Route},
		{"sub-route right", got.SubRoute, shipped.SubRoute},
		{"tools: exact", got.Exact, shipped.Exact},
		{"tools: acceptable", got.Acceptable, shipped.Acceptable},
		{"tools: partial", got.Partial, shipped.Partial},
		{"tools: none", got.None, shipped.None},
		{"first tool right", got.Top1, shipped.Top1},
		{"hit@2", got.Hit2, shipped.Hit2},
		{"tools that do not exist (lint)", got.Ghosts, shipped.Ghosts},
		{"cases that expect one tool", got.Tools, shipped.Tools},
		{"cases that expect two", got.Twice, shipped.Twice},
		{"cases that expect none", got.Nothing, shipped.Nothing},
		{"no exact match of two possible", got.Unequal, shipped.Unequal},
		{"questions with an example in them", got.Example, shipped.Example},
	} {
		n, known := want[row.name]
		c.Compare(suite, row.name, known && n == row.got, "%d, recorded %d", row.got, n)
		c.Printf("  %-34s %9d %9d %9d\n", row.name, n, row.got, row.recorded)
	}
}
