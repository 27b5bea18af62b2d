// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package selector

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/provider/retriever"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/score/selection"
	"github.com/callvet/callvet/stats"
)

// Configuration is a named way of searching.
type Configuration struct {
	Name     string   `json:"name"`
	Settings Settings `json:"settings"`
}

// ReadConfiguration reads NAME=SETTING:VALUE,…, with the settings of a target:
// preset, k, threshold and the weights. The error wraps callvet.ErrInvalid.
func ReadConfiguration(s string, base Settings) (Configuration, error) {
	name, list, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Configuration{}, fmt.Errorf("read configuration %q: %w: write NAME=vector:0.4,name:2", s, callvet.ErrInvalid)
	}
	_, set, err := parse("x?" + strings.NewReplacer(",", "&", ":", "=").Replace(list))
	if set.Preset == "" {
		set.Preset = base.Preset
	}
	if set.K == 0 {
		set.K = base.K
	}
	if set.Embed == "" {
		set.Embed = base.Embed
	}
	if set.Rerank == "" {
		set.Rerank = base.Rerank
	}
	if err == nil { // of the preset that they will change
		_, err = set.Options(&retrieve.Catalogue{})
	}
	if err == nil && (set.Routes != "" || set.AbstainRoutes != nil) {
		err = fmt.Errorf("%w: a sweep searches tools without routes", callvet.ErrInvalid)
	}
	if err != nil {
		return Configuration{}, fmt.Errorf("read configuration %s: %w", name, err)
	}
	return Configuration{name, set}, nil
}

// SweepConfig says what is held against what.
type SweepConfig struct {
	Catalogue      *retrieve.Catalogue
	Cases          []callvet.Case
	Configurations []Configuration
	// Distractors are numbers of tools beside those that a case expects or accepts;
	// nil: all of the catalog at once.
	Distractors []int
	// Draws of distractors per case; 0 means 1. Each draw is one order of the
	// catalog, and a smaller number is the beginning of a larger one.
	Draws int
	Seed  uint64
	Now   func() time.Time
	// Models opens those that settings name; nil where none may.
	Models *Models
	// Progress is told how many of the searches are made, after each; nil: nobody is.
	Progress func(done, total int)
	searched int
}

// Sweep is what came out.
type Sweep struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Cases are those that expect tools of the catalog, LeftOut the others.
	Cases   int     `json:"cases"`
	LeftOut int     `json:"left_out"`
	Draws   int     `json:"draws"`
	Seed    uint64  `json:"seed"`
	Points  []Point `json:"points"`
	Pairs   []Pair  `json:"pairs,omitempty"`
}

// Point is one configuration at one size. Sizes are those of the largest catalog:
// where there are fewer other tools than asked for, all are taken.
type Point struct {
	Configuration string         `json:"configuration"`
	Distractors   int            `json:"distractors"` // -1: the whole catalog
	Tools         int            `json:"tools"`
	K             int            `json:"k"`
	First         stats.Interval `json:"precision_at_1"`
	Hit           stats.Interval `json:"hit_at_k"`
	MRR           stats.Interval `json:"mrr"`
	first         []panel.Share  // by case
}

// Pair compares the first tool of two points, case by case: of two configurations at
// one size, or of one configuration at two sizes.
type Pair struct {
	Baseline  string         `json:"baseline"`
	Candidate string         `json:"candidate"`
	Change    stats.Interval `json:"change"`
	P         float64        `json:"p"`
	// Adjusted is P over all pairs (Holm).
	Adjusted float64 `json:"p_adjusted"`
}

// Run sweeps. Errors are those of an embedder or of settings.
func (c *SweepConfig) Run(ctx context.Context) (*Sweep, error) {
	s := &Sweep{Format: "callvet.sweep", Version: 1, Draws: max(c.Draws, 1), Seed: c.Seed}
	known := map[string]int{}
	for i := range c.Catalogue.Entries {
		known[c.Catalogue.Entries[i].Tool.Name] = i
	}
	var cases []*sweepCase
	for i := range c.Cases {
		if k, ok := newSweepCase(&c.Cases[i], known); ok {
			cases = append(cases, k)
		} else {
			s.LeftOut++
		}
	}
	if s.Cases = len(cases); s.Cases == 0 {
		return nil, fmt.Errorf("sweep: %w: no case expects a tool that the catalogue has", callvet.ErrInvalid)
	}
	total := c.searches(s.Cases) * len(c.Configurations)
	for _, n := range c.sizes() {
		for _, conf := range c.Configurations {
			p, err := c.point(ctx, conf, n, cases, total)
			if err != nil {
				return nil, err
			}
			s.Points = append(s.Points, p)
		}
	}
	s.compare(len(c.Configurations))
	return s, nil
}

// searches are those of one configuration for so many cases.
func (c *SweepConfig) searches(cases int) int {
	if len(c.Distractors) == 0 {
		return cases
	}
	return len(c.sizes()) * cases * max(c.Draws, 1)
}

// search decides, and tells that it did.
func (c *SweepConfig) search(ctx context.Context, r *retriever.Retriever, question string, total int) (*callvet.Decision, error) {
	d, err := r.Decide(ctx, question)
	if c.searched++; c.Progress != nil {
		c.Progress(c.searched, total)
	}
	return d, err
}

type sweepCase struct {
	id, question string
	want         callvet.Selection
	gold         []int // positions in the catalog
}

// questionOf is the last thing that the user says; empty without one.
func questionOf(c *callvet.Case) string {
	for i := len(c.Input) - 1; i >= 0; i-- {
		if c.Input[i].Role == callvet.RoleUser && c.Input[i].Content != "" {
			return c.Input[i].Content
		}
	}
	return ""
}

func newSweepCase(c *callvet.Case, known map[string]int) (*sweepCase, bool) {
	want, ok := selection.Of(&c.Expect)
	k := &sweepCase{id: c.ID, want: callvet.Selection{Tools: want.Tools}, question: questionOf(c)}
	if !ok || len(want.Tools) == 0 || strings.TrimSpace(k.question) == "" {
		return nil, false
	}
	for _, t := range want.Tools {
		if _, ok := known[t]; !ok {
			return nil, false
		}
	}
	for _, t := range slices.Concat(want.Tools, want.Acceptable) {
		if i, ok := known[t]; ok && !slices.Contains(k.gold, i) {
			k.gold = append(k.gold, i)
		}
	}
	return k, true
}

func (c *SweepConfig) point(ctx context.Context, conf Configuration, n int, cases []*sweepCase, total int) (Point, error) {
	draws, p := max(c.Draws, 1), Point{Configuration: conf.Name, Distractors: n, K: conf.Settings.Depth()}
	var first, hit, mrr stats.Clusters
	var whole *retriever.Retriever
	var err error
	if n < 0 { // there is nothing to draw
		draws = 1
		if whole, _, err = over(ctx, c.Catalogue, conf.Settings, conf.Name, nil, c.Models, c.Now); err != nil {
			return p, err
		}
	}
	set := selection.Defaults()
	set.K = []int{p.K}
	for _, k := range cases {
		var sums [3]float64
		for draw := range draws {
			r := whole
			if r == nil {
				entries := c.draw(k, n, draw)
				p.Tools = max(p.Tools, len(entries))
				if r, _, err = over(ctx, c.among(entries, &conf.Settings), conf.Settings, conf.Name, nil, c.Models, c.Now); err != nil {
					return p, err
				}
			}
			d, err := c.search(ctx, r, k.question, total)
			if err != nil {
				return p, err
			}
			res := selection.Judge(&k.want, d, set)
			for i, name := range []string{selection.Precision1, selection.HitAt + strconv.Itoa(p.K), selection.MRR} {
				sums[i] += res.Score(name).Value
			}
		}
		first.Add(sums[0], draws, true)
		hit.Add(sums[1], draws, true)
		mrr.Add(sums[2], draws, false)
		p.first = append(p.first, panel.Share{Sum: sums[0], N: draws, Binary: true})
	}
	if whole != nil {
		p.Tools = whole.Len()
	}
	p.First, p.Hit, p.MRR = first.Interval(0.95, stats.DefaultRho0), hit.Interval(0.95, stats.DefaultRho0), mrr.Interval(0.95, stats.DefaultRho0)
	return p, nil
}

// draw gives the tools of a case and n others, in the order of the catalog.
func (c *SweepConfig) draw(k *sweepCase, n, draw int) []retrieve.Entry {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d", k.id, draw)
	order := rand.New(rand.NewPCG(c.Seed, h.Sum64())).Perm(len(c.Catalogue.Entries))
	order = slices.DeleteFunc(order, func(i int) bool { return slices.Contains(k.gold, i) })
	chosen := slices.Sorted(slices.Values(append(order[:min(n, len(order))], k.gold...)))
	out := make([]retrieve.Entry, len(chosen))
	for i, at := range chosen {
		out[i] = c.Catalogue.Entries[at]
	}
	return out
}

// compare pairs the configurations at each size with the first, and the sizes of each
// configuration with the smallest.
func (s *Sweep) compare(configurations int) {
	var ps []float64
	add := func(base, cand *Point) {
		d := panel.Paired(base.first, cand.first, 0.95)
		s.Pairs = append(s.Pairs, Pair{Baseline: base.label(), Candidate: cand.label(), Change: d.Change, P: d.P})
		ps = append(ps, d.P)
	}
	for i := range s.Points {
		if at := i - i%configurations; at != i {
			add(&s.Points[at], &s.Points[i])
		}
		if i >= configurations {
			add(&s.Points[i%configurations], &s.Points[i])
		}
	}
	for i, a := range stats.Holm(ps) {
		s.Pairs[i].Adjusted = a
	}
}

func (p *Point) label() string {
	if p.Distractors < 0 {
		return p.Configuration
	}
	return fmt.Sprintf("%s + %d", p.Configuration, p.Distractors)
}
