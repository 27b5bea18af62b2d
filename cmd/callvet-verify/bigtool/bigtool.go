// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package bigtool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/route"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/score/selection"
)

// figures are counts over the cases of a suite; Top1 and Hit2 are over those that
// expect a tool, Sub over those that expect a sub-route. Tools, Twice and Nothing are the
// cases that expect one tool, two and none, Unequal those that expect another number than
// two, Example those whose question has an example of some tool in it.
type figures struct {
	Cases, Sub, Route, SubRoute, Exact, Acceptable, Partial, None, Top1, Hit2, Ghosts int
	Tools, Twice, Nothing, Unequal, Example                                           int
}

// recorded are the figures measured of the system itself, keyword part only. Those of
// routes are in the data; no file has the others, which stand in the report of that
// measurement.
func recorded(p *predictions) map[string]figures {
	route, sub := p.right()
	f := figures{Cases: p.N, Sub: p.NSub, Route: route, SubRoute: sub, Exact: 1, Acceptable: 2, Tools: 73, Nothing: 6, Twice: 1, Unequal: 79, Example: 1}
	first, later := f, f
	first.Partial, first.None, first.Top1, first.Hit2, first.Ghosts = 25, 52, 22, 28, 18
	later.Partial, later.None, later.Top1, later.Hit2, later.Ghosts = 20, 57, 17, 23, 22
	return map[string]figures{"full_pipeline_eval_v1.orig-730ca5c.json": first, "full_pipeline_eval_v1.json": later}
}

// Run compares; ok tells that every figure is the one recorded.
func Run(ctx context.Context, out io.Writer, data string) (ok bool, err error) {
	seed := filepath.Join(data, "origins", "seed2")
	metadata := filepath.Join(seed, "tool_and_agent_metadata.json")
	catalog, err := readCatalog(metadata, false)
	if err != nil {
		return false, err
	}
	// The figures were recorded with one tool in the index twice: it then takes both
	// places of a question, which is no exact match but an acceptable one.
	twice, err := readCatalog(metadata, true)
	if err != nil {
		return false, err
	}
	old, err := readRouter(filepath.Join(data, "sets", "oneseek_sv_suites", "open", "router_patterns.json"))
	if err != nil {
		return false, err
	}
	told, err := readPredictions(data)
	if err != nil {
		return false, err
	}
	ours, err := defaultRoutes()
	if err != nil {
		return false, err
	}
	ok = true
	for _, name := range []string{"full_pipeline_eval_v1.orig-730ca5c.json", "full_pipeline_eval_v1.json"} {
		s, ghosts, err := load(ctx, filepath.Join(seed, name), catalog)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(out, "%s, %d tools\n", name, len(catalog.Entries))
		got, err := measure(ctx, s, twice, "bigtool", old.Route)
		if err != nil {
			return false, err
		}
		beside, err := measure(ctx, s, catalog, "default", ours)
		if err != nil {
			return false, err
		}
		got.Ghosts, beside.Ghosts = ghosts, ghosts
		ok = table(out, recorded(told)[name], got, beside) && ok
		ok = told.compare(out, s, old.Route) && ok
		same, err := agents(ctx, out, catalog, s, old.Route)
		if err != nil {
			return false, err
		}
		ok = ok && same
	}
	return ok, nil
}

func defaultRoutes() (func(string) (string, string), error) {
	set, err := route.Default()
	if err != nil {
		return nil, err
	}
	rules, err := route.NewRules(set)
	if err != nil {
		return nil, err
	}
	return func(q string) (string, string) {
		d := rules.Route(q)
		return d.Route, d.SubRoute
	}, nil
}

// load reads a suite over the catalog and counts the names of tools that lint says
// do not exist.
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
		want, _ := selection.Of(&s.Cases[i].Expect)
		for _, name := range slices.Concat(want.Tools, want.Acceptable) {
			reported := slices.ContainsFunc(problems, func(p callvet.Problem) bool {
				return !p.Warning && p.Code == "unknown-tool" && p.Case == s.Cases[i].ID && strings.Contains(p.Message, name)
			})
			if reported {
				ghosts[name] = true
			} else if !known[name] {
				return nil, 0, fmt.Errorf("lint %s: nothing says that case %s expects %s, which does not exist", path, s.Cases[i].ID, name)
			}
		}
	}
	return s, len(ghosts), nil
}

// routes are decided by a function.
type routes func(string) (string, string)

// Route implements retrieve.Router.
func (r routes) Route(question string) route.Decision {
	d := route.Decision{Rule: -1}
	d.Route, d.SubRoute = r(question)
	return d
}

func measure(ctx context.Context, s *callvet.Suite, c *retrieve.Catalogue, preset string, decide func(string) (string, string)) (f figures, err error) {
	r, _, err := selector.Over(ctx, c, selector.Settings{Preset: preset, K: 2}, preset, routes(decide), time.Now)
	if err != nil {
		return f, err
	}
	if len(s.Cases) == 0 {
		return f, fmt.Errorf("measure %s: %w", s.Name, errNothing)
	}
	two := callvet.SelectionScoring{K: []int{1, 2}}
	s.Defaults.Scoring.Selection = &two
	scorer, _ := score.Open(s, score.Config{})
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
		t.Classify(false)
		f.count(&k, scorer.Score(&k, &t))
	}
	f.Example, err = examples(ctx, s, c)
	return f, err
}

// examples counts the questions with an example of some tool in them, by the points that
// the formula gives for that.
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
	f.Route += is(selection.Route)
	f.SubRoute += is(selection.SubRoute)
	f.Exact += is(selection.MatchExact)
	f.Acceptable += is(selection.MatchAcceptable) - is(selection.MatchExact)
	f.Partial += is(selection.MatchPartial)
	f.None += is(selection.MatchNone)
	f.Top1 += is(selection.Precision1)
	f.Hit2 += is(selection.HitAt + "2")
}

func table(out io.Writer, want, got, beside figures) bool {
	ok := true
	fmt.Fprintf(out, "  %-34s %9s %9s %9s\n", "", "recorded", "bigtool", "default")
	for _, row := range []struct {
		name              string
		want, got, beside int
	}{
		{"cases", want.Cases, got.Cases, beside.Cases},
		{"cases with a sub-route", want.Sub, got.Sub, beside.Sub},
		{"route right", want.Route, got.Route, beside.Route},
		{"sub-route right", want.SubRoute, got.SubRoute, beside.SubRoute},
		{"tools: exact", want.Exact, got.Exact, beside.Exact},
		{"tools: acceptable", want.Acceptable, got.Acceptable, beside.Acceptable},
		{"tools: partial", want.Partial, got.Partial, beside.Partial},
		{"tools: none", want.None, got.None, beside.None},
		{"first tool right", want.Top1, got.Top1, beside.Top1},
		{"hit@2", want.Hit2, got.Hit2, beside.Hit2},
		{"tools that do not exist (lint)", want.Ghosts, got.Ghosts, beside.Ghosts},
		{"cases that expect one tool", want.Tools, got.Tools, beside.Tools},
		{"cases that expect two", want.Twice, got.Twice, beside.Twice},
		{"cases that expect none", want.Nothing, got.Nothing, beside.Nothing},
		{"no exact match of two possible", want.Unequal, got.Unequal, beside.Unequal},
		{"questions with an example in them", want.Example, got.Example, beside.Example},
	} {
		mark := ""
		if row.want != row.got {
			ok, mark = false, "  differs"
		}
		fmt.Fprintf(out, "  %-34s %9d %9d %9d%s\n", row.name, row.want, row.got, row.beside, mark)
	}
	return ok
}
