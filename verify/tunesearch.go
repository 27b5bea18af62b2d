// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/offline"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/verify/proof"
)

// scriptSpace is the search space on the response surfaces of scripts: 792 combinations.
const scriptSpace = `
params:
  temperature: {min: 0, max: 2, step: 0.2}
  top_p: {min: 0.5, max: 1, step: 0.1}
  reasoning_effort: [null, low, medium, high]
  tool_choice: [auto, required, null]
`

// scriptSurfaces are five models with a known response to parameters.
func scriptSurfaces() []scriptSurface {
	x := func(v float64) *float64 { return &v }
	word := func(s string) json.RawMessage { return json.RawMessage(strconv.Quote(s)) }
	return []scriptSurface{
		{"flat", offline.Surface{Base: 0.7, Spread: 0.25}},
		{"peak", offline.Surface{Base: 0.5, Spread: 0.2, Terms: []offline.Term{
			{Param: "temperature", Peak: x(0.5), Width: 0.35, Gain: 0.2, Unset: json.RawMessage("1")},
			{Param: "top_p", Peak: x(0.65), Width: 0.12, Gain: 0.12, Unset: json.RawMessage("1")},
		}}},
		{"slope", offline.Surface{Base: 0.75, Spread: 0.2, Terms: []offline.Term{
			{Param: "temperature", Slope: x(-0.12), Unset: json.RawMessage("1")},
			{Param: "reasoning_effort", Is: word("high"), Gain: 0.08},
			{Param: "reasoning_effort", Is: word("low"), Gain: -0.08},
		}}},
		{"cliff", offline.Surface{Base: 0.7, Spread: 0.2, Terms: []offline.Term{
			{Param: "temperature", From: x(0.7), Gain: -0.4, Unset: json.RawMessage("0.6")},
			{Param: "tool_choice", Is: word("required"), Gain: 0.1},
			{Param: "top_p", To: x(0.55), Gain: -0.3, Unset: json.RawMessage("1")},
		}}},
		{"island", offline.Surface{Base: 0.55, Spread: 0.15, Terms: []offline.Term{
			{Param: "temperature", From: x(1.1), To: x(1.7), Gain: 0.15, Unset: json.RawMessage("1")},
			{Param: "reasoning_effort", Is: word("medium"), Gain: 0.1},
			{Param: "tool_choice", Is: word("required"), Gain: -0.2},
		}}},
	}
}

// scriptSurface is a response surface with its name.
type scriptSurface struct {
	name    string
	surface offline.Surface
}

// responseModel is a surface with all combinations of a space and the true mean of each.
type responseModel struct {
	surface offline.Surface
	all     []tune.Combination // the base first
	points  [][]json.RawMessage
	truth   []float64
}

// populationCases is the number of cases that represent all when the true means are computed.
const populationCases = 300

func newResponse(s offline.Surface) (*responseModel, error) {
	space, err := tune.ReadSpace("space", []byte(scriptSpace))
	if err != nil {
		return nil, err
	}
	list, err := space.Combinations("script", tune.Combination{})
	if err != nil {
		return nil, err
	}
	var all []tune.Resolved
	for _, c := range list {
		target := callvet.Target{Params: c.Params, ToolChoice: c.ToolChoice}
		all = append(all, tune.Resolved{Combination: c, Target: target})
	}
	matrix := tune.Dedupe(callvet.Target{}, all)
	m := &responseModel{surface: s, all: []tune.Combination{{}}}
	m.points = matrix.Points(space.ValuesOf("script", tune.Combination{}))
	for _, at := range matrix.Candidates {
		m.all = append(m.all, list[at])
	}
	for i := range m.all {
		mean := 0.0
		for k := range populationCases {
			mean += s.Chance(m.request(i, fmt.Sprint("population ", k))) / populationCases
		}
		m.truth = append(m.truth, mean)
	}
	return m, nil
}

func (m *responseModel) request(candidate int, caseID string) *callvet.Request {
	c := &m.all[candidate]
	return &callvet.Request{CaseID: caseID, Params: c.Params, ToolChoice: c.ToolChoice}
}

// search searches until the budget of calls is used up. It returns the calls and the true gain of the leader over
// the base.
func (m *responseModel) search(cfg tune.SearchConfig, budget int) (out searched, err error) {
	cfg.Points = m.points
	s, err := tune.NewSearch(cfg)
	if err != nil {
		return out, err
	}
	surface, calls := m.surface, 0
	surface.Seed = cfg.Seed
	for round, ok := s.Next(); ok; round, ok = s.Next() {
		if calls+len(round.Candidates)*len(round.Tasks) > budget {
			break
		}
		for _, c := range round.Candidates {
			for _, t := range round.Tasks {
				x := asNumber(surface.Right(m.request(c, fmt.Sprint("case ", t))))
				s.Take(c, t, panel.TaskMean{Low: x, High: x})
				calls++
			}
		}
		s.Look()
	}
	return searched{float64(calls), m.truth[s.Leader()] - m.truth[0]}, nil
}

// budgetStudy compares the modes at the same budget of calls, and racing with a full search, on the response
// surfaces of scripts. Each seed has its own cases and answers, which are the same for all modes.
func budgetStudy(c *proof.Check, pairs int) error {
	const tasks, paid = 100, 25
	surfaces := scriptSurfaces()
	c.Due("modes at one budget", 2, "bayesian and two random ones")
	c.Due("racing at equal quality", 3, "sizes of suites")
	models := make([]*responseModel, len(surfaces))
	for i := range surfaces {
		m, err := newResponse(surfaces[i].surface)
		if err != nil {
			return err
		}
		models[i] = m
	}
	cfg := func(mode tune.Mode, tasks, trials int, race bool) tune.SearchConfig {
		return tune.SearchConfig{Mode: mode, Trials: trials, Race: tune.RaceConfig{Tasks: tasks, NoRace: !race}}
	}
	c.Printf(
		"\n%d combinations on surfaces of scripts, %d cases, at most %d calls, %d seeds: calls, and the true gain of"+
			" the winner in points\n", len(models[0].all)-1, tasks, tasks*paid, pairs)
	header(c, surfaces)
	b := budgetCheck{c, models, pairs}
	// The race leaves a part of the budget: more draws use it up.
	found := map[string][]searched{}
	for _, w := range []struct {
		name   string
		mode   tune.Mode
		trials int
	}{
		{"random, 24 tried", tune.Random, paid - 1},
		{"random, 32 tried", tune.Random, paid + 7},
		{"bayesian, 24 tried", tune.Bayesian, paid - 1},
		{"halving, 72 tried", tune.Halving, 72},
	} {
		results, err := b.way(w.name, cfg(w.mode, tasks, w.trials, true), tasks*paid)
		if err != nil {
			return err
		}
		found[w.name] = results
	}
	bayesian := found["bayesian, 24 tried"]
	for _, name := range []string{"random, 24 tried", "random, 32 tried"} {
		random := found[name]
		gain := gainOf(bayesian, random)
		c.Compare("modes at one budget", "bayesian less "+name, gain.Lower > 0, "%s", points(gain))
		c.Printf("bayesian less %s, %d pairs: %s\n", name, len(random), points(gain))
		for i := range surfaces {
			of := gainOf(bayesian[i*pairs:(i+1)*pairs], random[i*pairs:(i+1)*pairs])
			c.Printf("    %-10s %s\n", surfaces[i].name, points(of))
		}
	}
	c.Printf("\nThe same %d candidates with and without a race:\n", paid-1)
	header(c, surfaces)
	for _, tasks := range []int{50, 200, 800} {
		b.pairs = pairs
		if tasks > 500 {
			b.pairs = (pairs + 1) / 2 // it takes long
		}
		full, err := b.way(fmt.Sprintf("all asked, %d cases", tasks),
			cfg(tune.Random, tasks, paid-1, false), tasks*paid)
		if err != nil {
			return err
		}
		raced, err := b.way("racing", cfg(tune.Random, tasks, paid-1, true), tasks*paid)
		if err != nil {
			return err
		}
		before, _ := means(full)
		after, _ := means(raced)
		worse := gainOf(raced, full)
		c.Printf("%d cases: racing saves %.0f %% of the calls; its winner's true gain differs by %s\n", tasks,
			100*(1-after/before), points(worse))
		c.Compare("racing at equal quality", fmt.Sprintf("%d cases", tasks), worse.Lower > -0.01, "%s", points(worse))
	}
	return nil
}

func header(c *proof.Check, surfaces []scriptSurface) {
	c.Printf("%-22s", "")
	for i := range surfaces {
		c.Printf("%16s", surfaces[i].name)
	}
	c.Printf("%16s\n", "all")
}

type budgetCheck struct {
	c      *proof.Check
	models []*responseModel
	pairs  int
}

// way searches with one mode on all surfaces, and prints its cost and results.
func (b *budgetCheck) way(name string, cfg tune.SearchConfig, budget int) ([]searched, error) {
	results := make([]searched, len(b.models)*b.pairs) // by surface, then seed
	err := sys.InParallel(runtime.NumCPU(), len(results), func(i int) error {
		cfg := cfg
		cfg.Seed = uint64(i)
		var err error
		results[i], err = b.models[i/b.pairs].search(cfg, budget)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.c.Printf("%-22s", name)
	for i := range b.models {
		calls, gain := means(results[i*b.pairs : (i+1)*b.pairs])
		b.c.Printf("%8.0f %+7.1f", calls, 100*gain)
	}
	calls, gain := means(results)
	b.c.Printf("%8.0f %+7.1f\n", calls, 100*gain)
	return results, nil
}
