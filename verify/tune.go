// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
	"github.com/callvet/callvet/internal/tune"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/verify/proof"
)

const (
	// tuneTrials is the number of tunings that are simulated on each surface.
	tuneTrials = 1000
	// tuneUses is how often the same held-out cases are used where nothing is better than the base.
	tuneUses = 5
	// tunePairs is the number of seeds on which two ways to search are compared.
	tunePairs = 50
	tuneSeed  = 1

	// suiteFamilies is the size of an ordinary suite, fewFamilies that of one that just allows promotions.
	suiteFamilies, fewFamilies = 100, 44
	// attemptsEach is how many attempts are made at a case.
	attemptsEach = 2
	lostShare    = 0.01
	// hardPass and easyPass are the chances to pass of a case that a setting cannot do, and of one
	// that it can do.
	hardPass, easyPass = 0.05, 0.95
	// regressions is the share of families with regression cases. The base passes them.
	regressions = 0.1
)

// surface is how well settings do: points are in [0,1]×[0,1].
type surface struct {
	name string
	base float64
	mean func(x, y float64) float64
	// breaks is the share of regression cases that a setting fails half of the time, incidents its safety
	// incidents in an attempt; nil: none.
	breaks, incidents func(x, y float64) float64
}

// truth is the true gain of a setting over the base, in the population of cases.
func (s *surface) truth(x, y float64) float64 {
	gain := (1 - regressions) * (s.mean(x, y) - s.base)
	if s.breaks != nil {
		gain -= regressions * s.breaks(x, y) / 2
	}
	return gain
}

func hill(x, y, atX, atY, width float64) float64 {
	return math.Exp(-((x-atX)*(x-atX) + (y-atY)*(y-atY)) / (2 * width * width))
}

func surfaces() []surface {
	corner := func(x, y float64) float64 {
		if x > 0.5 && y > 0.6 {
			return 0.5
		}
		return 0
	}
	hot := func(x, _ float64) float64 {
		if x > 0.9 {
			return 0.02
		}
		return 0
	}
	return []surface{
		{name: "flat", base: 0.75, mean: func(_, _ float64) float64 { return 0.75 }},
		{
			name: "hill", base: 0.7, breaks: corner, incidents: hot,
			mean: func(x, y float64) float64 { return 0.6 + 0.25*hill(x, y, 0.4, 0.5, 0.3) },
		},
		{
			name: "cliff", base: 0.8, incidents: hot,
			mean: func(x, y float64) float64 {
				if x > 0.65 {
					return 0.15
				}
				return 0.75 + 0.15*x*y/0.65
			},
		},
		{name: "slope", base: 0.65, breaks: corner, mean: func(x, y float64) float64 { return 0.6 + 0.2*x + 0.05*y }},
		{
			name: "two hills", base: 0.55, breaks: corner,
			mean: func(x, y float64) float64 {
				return 0.45 + max(0.25*hill(x, y, 0.2, 0.3, 0.35), 0.4*hill(x, y, 0.8, 0.8, 0.12))
			},
		},
	}
}

// worseAll is the surface where every setting is worse than the base.
func worseAll() surface {
	return surface{name: "all worse", base: 0.8, mean: func(x, _ float64) float64 { return 0.72 + 0.06*x }}
}

// tuneSetting is a candidate: a point of the surface.
type tuneSetting struct {
	x, y  float64
	point []json.RawMessage
}

// settings returns the base and a grid of columns × rows.
func settings(columns, rows int) []tuneSetting {
	number := func(x float64) json.RawMessage { return json.RawMessage(strconv.FormatFloat(x, 'f', -1, 64)) }
	null := json.RawMessage("null")
	out := []tuneSetting{{point: []json.RawMessage{null, null}}}
	for i := range columns {
		for k := range rows {
			x, y := float64(i)/float64(columns-1), float64(k)/float64(rows-1)
			out = append(out, tuneSetting{x, y, []json.RawMessage{number(x), number(y)}})
		}
	}
	return out
}

// cast is a suite of cases and its split.
type cast struct {
	cases       []*callvet.Case
	members     []tune.Member
	train, held []int
	halves      *tune.Halves
	// shared and own are the difficulty of a case for all settings: of its family and of the case alone.
	shared, own []float64
}

// drawCast draws a suite from the population. Cases of a family are alike.
func drawCast(rng *rand.Rand, families int) *cast {
	c := &cast{}
	for f := range families {
		tier, tool := callvet.Tier(""), []string{"find", "send", "book"}[rng.IntN(3)]
		if rng.Float64() < regressions {
			tier = callvet.TierRegression
		}
		family := rng.NormFloat64()
		for k := range 1 + rng.IntN(3) {
			one := &callvet.Case{ID: fmt.Sprintf("%d-%d", f, k), Tier: tier, Family: strconv.Itoa(f)}
			one.Expect.ToolsCalled = []string{tool}
			c.cases = append(c.cases, one)
			c.shared, c.own = append(c.shared, family), append(c.own, rng.NormFloat64())
		}
	}
	c.members = tune.Families(slices.Values(c.cases), nil)
	c.halves = tune.Split(c.members, tune.DefaultShare, nil, strconv.Itoa(int(rng.Uint32())))
	for i := range c.cases {
		if c.halves.Cases[i].Side == tune.Train {
			c.train = append(c.train, i)
		} else {
			c.held = append(c.held, i)
		}
	}
	rng.Shuffle(len(c.train), func(i, k int) { c.train[i], c.train[k] = c.train[k], c.train[i] })
	return c
}

// actors are the settings at the cases of a suite: their chances to pass.
type actors struct {
	rng    *rand.Rand
	cast   *cast
	chance [][]float64 // by setting and case
	// incident is the chance of an incident in an attempt, by setting.
	incident []float64
	asked    int
	faced    []map[int]*faced
}

// faced has the observed attempts of a setting at a case.
type faced struct{ attempts, passed, incidents int }

// drawActors draws which cases each setting can do. The mean over the population is the mean of the surface.
// A case is hard for a setting by four parts, which add up to a standard normal value: two that all
// settings share, and two of the setting's own.
func drawActors(rng *rand.Rand, c *cast, s *surface, all []tuneSetting) *actors {
	a := &actors{rng: rng, cast: c}
	for i, at := range all {
		mean, breaks, incident := s.base, 0.0, 0.0
		if i > 0 {
			mean = s.mean(at.x, at.y)
			if s.breaks != nil {
				breaks = s.breaks(at.x, at.y)
			}
			if s.incidents != nil {
				incident = s.incidents(at.x, at.y)
			}
		}
		limit := stats.NormalQuantile((mean - hardPass) / (easyPass - hardPass))
		chance := make([]float64, len(c.cases))
		var family, broken float64
		for k, one := range c.cases {
			if k == 0 || one.Family != c.cases[k-1].Family {
				family, broken = rng.NormFloat64(), rng.Float64()
			}
			hard := math.Sqrt(0.4)*c.shared[k] + math.Sqrt(0.3)*c.own[k] + math.Sqrt(0.15)*family +
				math.Sqrt(0.15)*rng.NormFloat64()
			switch {
			case one.Tier == callvet.TierRegression && broken < breaks:
				chance[k] = 0.5
			case one.Tier == callvet.TierRegression:
				chance[k] = 1
			case hard < limit:
				chance[k] = easyPass
			default:
				chance[k] = hardPass
			}
		}
		a.chance, a.incident = append(a.chance, chance), append(a.incident, incident)
		a.faced = append(a.faced, map[int]*faced{})
	}
	return a
}

// ask makes the attempts of a setting at a case.
func (a *actors) ask(setting, at int) panel.TaskMean {
	f := a.faced[setting][at]
	if f == nil {
		f = &faced{}
		a.faced[setting][at] = f
	}
	var passed, lost float64
	for range attemptsEach {
		a.asked++
		if a.rng.Float64() < lostShare {
			lost++
			continue
		}
		f.attempts++
		if a.rng.Float64() < a.chance[setting][at] {
			passed++
			f.passed++
		}
		if a.rng.Float64() < a.incident[setting] {
			f.incidents++
		}
	}
	return panel.TaskMean{Low: passed / attemptsEach, High: (passed + lost) / attemptsEach}
}

// breaks returns the constraints that a setting breaks, found by package tune.
func (a *actors) breaks(setting int) []string {
	var all []tune.Faced
	for at, f := range a.faced[setting] {
		base := a.faced[0][at]
		if base == nil {
			continue
		}
		all = append(all, tune.Faced{
			Case: a.cast.cases[at].ID, Tier: a.cast.cases[at].Tier,
			BaseAttempts: base.attempts, BasePassed: base.passed, BaseIncidents: base.incidents,
			CandidateAttempts: f.attempts, CandidatePassed: f.passed, CandidateIncidents: f.incidents,
		})
	}
	return tune.Breaks(all)
}

// spoiled reports, from the attempts themselves, whether a setting breaks a constraint.
func (a *actors) spoiled(setting int) bool {
	for at, f := range a.faced[setting] {
		base := a.faced[0][at]
		kept := a.cast.cases[at].Tier != callvet.TierRegression || base == nil || base.passed < base.attempts
		if f.incidents > 0 || !kept && f.passed < f.attempts {
			return true
		}
	}
	return false
}

// search finds a winner on the training half.
func (a *actors) search(all []tuneSetting, mode tune.Mode, trials int, seed uint64, race bool) (winner int, err error) {
	points := make([][]json.RawMessage, len(all))
	for i := range all {
		points[i] = all[i].point
	}
	s, err := tune.NewSearch(tune.SearchConfig{
		Mode: mode, Points: points, Trials: trials, Seed: seed,
		Race: tune.RaceConfig{Tasks: len(a.cast.train), NoRace: !race},
	})
	if err != nil {
		return 0, err
	}
	for round, ok := s.Next(); ok; round, ok = s.Next() {
		for _, c := range round.Candidates {
			for _, t := range round.Tasks {
				s.Take(c, t, a.ask(c, a.cast.train[t]))
			}
		}
		for _, c := range round.Candidates {
			if why := a.breaks(c); c > 0 && len(why) > 0 {
				s.Break(c, why[0])
			}
		}
		s.Look()
	}
	return s.Leader(), nil
}

// confirm compares a winner with the base on the held-out half.
func (a *actors) confirm(winner, use int) *tune.Confirmation {
	var held []tune.HeldOut
	for _, at := range a.cast.held {
		held = append(held, tune.HeldOut{
			Case: a.cast.cases[at].ID, Family: a.cast.members[at].Family, Base: a.ask(0, at),
			Candidate: a.ask(winner, at),
		})
	}
	return tune.Confirm(tune.ConfirmConfig{
		Cases: held, TrainFamilies: a.cast.halves.TrainFamilies, Use: use, Broken: a.breaks(winner),
	})
}

// tuned is the result of simulated tunings.
type tuned struct {
	tunings, confirmed, held, promoted, broken, spoiled int
	// first counts promotions at the first use of the held-out cases, ever at any use.
	first, ever int
	gain        float64 // the sum of the true gains of the winners
}

func (t *tuned) add(o *tuned) {
	t.tunings, t.confirmed, t.held = t.tunings+o.tunings, t.confirmed+o.confirmed, t.held+o.held
	t.promoted, t.broken, t.spoiled = t.promoted+o.promoted, t.broken+o.broken, t.spoiled+o.spoiled
	t.first, t.ever, t.gain = t.first+o.first, t.ever+o.ever, t.gain+o.gain
}

// simulateTuning tunes on one suite several times, each time with new settings.
func simulateTuning(s *surface, all []tuneSetting, families, trial, uses int) (out tuned, err error) {
	rng := rand.New(rand.NewPCG(tuneSeed, uint64(trial)))
	modes := []tune.Mode{tune.Grid, tune.Random, tune.Bayesian, tune.Halving}
	c := drawCast(rng, families)
	for use := 1; use <= uses; use++ {
		a := drawActors(rng, c, s, all)
		winner, err := a.search(all, modes[trial%len(modes)], 12, uint64(trial), true)
		if err != nil {
			return out, err
		}
		out.tunings++
		if winner == 0 {
			continue
		}
		o, truth := a.confirm(winner, use), s.truth(all[winner].x, all[winner].y)
		out.confirmed++
		out.gain += truth
		if o.Gain.Lower <= truth && truth <= o.Gain.Upper {
			out.held++
		}
		switch o.Outcome {
		case tune.Promoted:
			out.promoted++
			if use == 1 {
				out.first++
			}
			out.ever = 1
			if a.spoiled(winner) {
				out.spoiled++
			}
		case tune.Broken:
			out.broken++
		}
	}
	return out, nil
}

// simulateTunings runs many of them.
func simulateTunings(s *surface, families, trials, uses int) (tuned, error) {
	var mu sync.Mutex
	var sum tuned
	all := settings(6, 4)
	err := sys.InParallel(runtime.NumCPU(), trials, func(i int) error {
		one, err := simulateTuning(s, all, families, i, uses)
		mu.Lock()
		defer mu.Unlock()
		sum.add(&one)
		return err
	})
	return sum, err
}

// tunings simulates whole tunings with the product's code: the split, the search and its race,
// the constraints, and the confirmation.
func tunings(_ context.Context, c *proof.Check, _ place) error {
	return tuningStudy(c, tuneTrials, tunePairs)
}

func tuningStudy(c *proof.Check, trials, pairs int) error {
	all := surfaces()
	sizes := []int{suiteFamilies, fewFamilies}
	c.Due("intervals that hold the truth", len(sizes)*len(all), "the list of surfaces, at two sizes of suites")
	c.Due("promotions without a gain", 4, "two surfaces, at the first use and at any of the uses")
	c.Due("promotions that break no constraint", len(sizes)*len(all)*trials, "the number of tunings")
	c.Printf("%d tunings on each of %d surfaces, seed %d: half of the families held out, %d attempts at a case\n\n",
		trials, len(all), tuneSeed, attemptsEach)
	c.Printf("%-10s %8s %8s %9s %10s %9s %7s %10s\n", "surface", "families", "tunings", "confirmed",
		"interval", "promoted",
		"broken", "true gain")
	for k := range len(sizes) * len(all) {
		s, families := &all[k%len(all)], sizes[k/len(all)]
		t, err := simulateTunings(s, families, trials, 1)
		if err != nil {
			return err
		}
		share := float64(t.held) / float64(t.confirmed)
		c.Printf("%-10s %8d %8d %9d %9.1f%% %9d %7d %+10.1f\n", s.name, families, t.tunings, t.confirmed,
			100*share, t.promoted,
			t.broken, 100*t.gain/float64(t.confirmed))
		name := fmt.Sprintf("%s, %d families", s.name, families)
		c.Compare("intervals that hold the truth", name, share >= 0.93 && share <= 0.97,
			"%.1f %% of %d, wanted 93 to 97 %%",
			100*share, t.confirmed)
		c.Agree("promotions that break no constraint", t.tunings-t.spoiled)
		if t.spoiled > 0 {
			c.Compare("promotions that break no constraint", name, false, "%d winners break one", t.spoiled)
		}
	}
	c.Printf("\nNothing is better than the base, and the same held-out cases are used %d times:\n", tuneUses)
	for _, s := range []surface{all[0], worseAll()} {
		t, err := simulateTunings(&s, suiteFamilies, trials, tuneUses)
		if err != nil {
			return err
		}
		first, ever := float64(t.first)/float64(trials), float64(t.ever)/float64(trials)
		c.Printf("%-10s promoted at the first use %.1f %%, at any of them %.1f %% of %d suites\n", s.name,
			100*first, 100*ever,
			trials)
		c.Compare("promotions without a gain", s.name+", first use", first <= 0.05, "%.1f %%", 100*first)
		c.Compare("promotions without a gain", s.name+", any use", ever <= 0.05, "%.1f %%", 100*ever)
	}
	return budgetStudy(c, pairs)
}

// searched is the result of a search: calls, and the true gain of its winner.
type searched struct{ calls, gain float64 }

func means(of []searched) (calls, gain float64) {
	for _, s := range of {
		calls, gain = calls+s.calls/float64(len(of)), gain+s.gain/float64(len(of))
	}
	return calls, gain
}

// gainOf returns the mean difference of the true gains, pair by pair.
func gainOf(now, before []searched) stats.Interval {
	d := make([]float64, len(now))
	for i := range d {
		d[i] = now[i].gain - before[i].gain
	}
	iv, _ := stats.PairedMean(d, 0.95)
	return iv
}

func points(iv stats.Interval) string {
	return fmt.Sprintf("%+.2f points [%+.2f, %+.2f]", 100*iv.Point, 100*iv.Lower, 100*iv.Upper)
}
