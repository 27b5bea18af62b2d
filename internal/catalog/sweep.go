// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/score"
	"github.com/callvet/callvet/stats"
)

// Configuration is a named way of searching.
type Configuration struct {
	Name     string   `json:"name"`
	Settings Settings `json:"settings"`
}

// ReadConfiguration reads NAME=SETTING:VALUE,…, with the settings of a target:
// preset, k, threshold and the weights. The error wraps callvet.ErrInvalid.
func ReadConfiguration(s string) (Configuration, error) {
	name, list, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return Configuration{}, fmt.Errorf("read configuration %q: %w: write NAME=vector:0.4,name:2", s,
			callvet.ErrInvalid)
	}
	_, set, err := ParseUnchecked("x?" + strings.NewReplacer(",", "&", ":", "=").Replace(list))
	if err != nil {
		return Configuration{}, fmt.Errorf("read configuration %s: %w", name, err)
	}
	return Configuration{name, set}, nil
}

// over fills in open settings from base, and checks the result.
func (c *Configuration) over(base *Settings) error {
	s := &c.Settings
	s.Preset, s.K = cmp.Or(s.Preset, base.Preset), cmp.Or(s.K, base.K)
	s.Embed, s.Rerank = cmp.Or(s.Embed, base.Embed), cmp.Or(s.Rerank, base.Rerank)
	_, err := s.Options(&retrieve.Catalogue{}) // of the preset that they will change
	if err == nil && (s.Routes != "" || s.AbstainRoutes != nil) {
		err = fmt.Errorf("%w: a sweep searches tools without routes", callvet.ErrInvalid)
	}
	if err != nil {
		return fmt.Errorf("read configuration %s: %w", c.Name, err)
	}
	return nil
}

// SweepRequest are the configurations to compare.
type SweepRequest struct {
	Suite string `json:"suite"`
	Tools string `json:"tools"`
	// Settings are those of the base configuration; its preset, k, and models are also the defaults
	// of the others.
	Settings
	Configurations []Configuration `json:"configurations,omitempty"`
	// Distractors are numbers of tools in addition to those that a case expects or accepts; nil:
	// all of the catalog.
	Distractors []int `json:"distractors,omitempty"`
	// Draws of distractors per case; 0 means 1. Each draw is one order of the
	// catalog, and a smaller number is the beginning of a larger one.
	Draws int    `json:"draws,omitempty"`
	Seed  uint64 `json:"seed"`
	// Models choose among the retrieved tools and, where there are at most MaxTools, among all;
	// the only one of Configurations is then the configuration of the retriever.
	Models   []string `json:"models,omitempty"`
	MaxTools int      `json:"max_tools,omitempty"`
}

// maxDistractors bounds the number of tools in addition to those of a case.
const maxDistractors = 100_000

func (q *SweepRequest) check() error {
	switch {
	case q.Suite == "":
		return Invalid("suite", "", "sweep: invalid: which suite?")
	case q.Tools == "":
		return NoCatalogue()
	case slices.ContainsFunc(q.Distractors, func(n int) bool { return n < 0 || n > maxDistractors }):
		return Invalid("distractors", "", "sweep: invalid: {distractors} are from 0 to %d", maxDistractors)
	case q.Draws < 0 || q.Draws > 100:
		return Invalid("draws", "", "sweep: invalid: {draws} is from 1 to 100")
	case len(q.Models) > 0 && len(q.Configurations) > 1:
		return Invalid("configurations", "",
			"sweep: invalid: models are given the tools of one retriever: at most one {configurations} with {models}")
	case q.MaxTools < 0:
		return Invalid("max_tools", "", "sweep: invalid: {max_tools} is 0 or more")
	}
	names, sizes := map[string]bool{base: true}, map[int]bool{}
	for _, one := range q.Configurations {
		if names[one.Name] { // their points would have the same name
			return Invalid("configurations", "", "sweep: invalid: two configurations are called %s", one.Name)
		}
		names[one.Name] = true
	}
	for _, n := range q.Distractors {
		if sizes[n] {
			return Invalid("distractors", "", "sweep: invalid: {distractors} has %d twice", n)
		}
		sizes[n] = true
	}
	return nil
}

// base is the name of the configuration that all others are compared with.
const base = "base"

// sweeper searches for the cases of a suite among tools that are drawn for each.
type sweeper struct {
	*Env
	*SweepRequest
	catalogue *retrieve.Catalogue
	cases     []callvet.Case
	// configurations are the base and the others; for a curve only the configuration of the
	// retriever.
	configurations []Configuration
	searched       int
}

// newSweeper reads the files of a request.
func newSweeper(ctx context.Context, e *Env, q *SweepRequest) (*sweeper, *callvet.Suite, error) {
	if err := q.check(); err != nil {
		return nil, nil, err
	}
	w := &sweeper{Env: e, SweepRequest: q, configurations: []Configuration{{base, q.Settings}}}
	for _, one := range q.Configurations {
		if err := one.over(&q.Settings); err != nil {
			return nil, nil, err
		}
		w.configurations = append(w.configurations, one)
	}
	if len(q.Models) > 0 {
		w.configurations = w.configurations[len(w.configurations)-1:]
	}
	var err error
	if w.catalogue, _, err = e.Catalogue(q.Tools); err != nil {
		return nil, nil, err
	}
	quiet := *e
	for i := range w.configurations {
		if err := quiet.FromSuite(&w.configurations[i].Settings, q.Suite); err != nil {
			return nil, nil, err
		}
		quiet.Notify = nil // a missing setting was already reported
	}
	s, err := e.Suite(ctx, q.Suite, Tools(w.catalogue))
	if err != nil {
		return nil, nil, err
	}
	w.cases = s.Cases
	return w, s, nil
}

// RunSweep compares sizes of a catalog, and settings, by the retriever alone. Errors are those
// of files, of models and of settings.
func RunSweep(ctx context.Context, e *Env, q SweepRequest) (*Sweep, error) {
	w, _, err := newSweeper(ctx, e, &q)
	if err != nil {
		return nil, err
	}
	return w.sweep(ctx)
}

// CurveFor lets models choose among the retrieved tools, and among all. If that ends early, there
// may be a curve together with the error.
func CurveFor(ctx context.Context, e *Env, q SweepRequest) (c *Curve, err error) {
	w, s, err := newSweeper(ctx, e, &q)
	if err != nil {
		return nil, err
	}
	made, err := w.expand(ctx, s)
	if err != nil {
		return nil, err
	}
	err = e.Ask(ctx, q.Suite, made, func(a *Answers) (err error) {
		c, err = CurveOf(a)
		return err
	})
	return c, err
}

// Sweep is the result.
type Sweep struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Cases counts the cases that expect tools of the catalog, LeftOut the others.
	Cases   int          `json:"cases"`
	LeftOut int          `json:"left_out"`
	Draws   int          `json:"draws"`
	Seed    uint64       `json:"seed"`
	Points  []SweepPoint `json:"points"`
	Pairs   []SweepPair  `json:"pairs,omitempty"`
}

// SweepPoint is one configuration at one size. Sizes are those of the largest catalog: where
// there are fewer other tools than requested, all are used.
type SweepPoint struct {
	Configuration string         `json:"configuration"`
	Distractors   int            `json:"distractors"` // -1: the whole catalog
	Tools         int            `json:"tools"`
	K             int            `json:"k"`
	First         stats.Interval `json:"precision_at_1"`
	Hit           stats.Interval `json:"hit_at_k"`
	MRR           stats.Interval `json:"mrr"`
	first         []panel.Share  // by case
}

// SweepPair compares two points, case by case: two configurations at one size, one at two sizes, or
// two sets of tools for models.
type SweepPair struct {
	Of        string         `json:"of,omitempty"` // of a curve: "retrieval", or the model
	Baseline  string         `json:"baseline"`
	Candidate string         `json:"candidate"`
	Change    stats.Interval `json:"change"`
	P         float64        `json:"p"`
	// Adjusted is P over all pairs (Holm).
	Adjusted float64 `json:"p_adjusted"`
}

// adjust fills in Adjusted.
func adjust(pairs []SweepPair) {
	ps := make([]float64, len(pairs))
	for i := range pairs {
		ps[i] = pairs[i].P
	}
	for i, p := range stats.Holm(ps) {
		pairs[i].Adjusted = p
	}
}

func (c *sweeper) sweep(ctx context.Context) (*Sweep, error) {
	s := &Sweep{Format: "callvet.sweep", Version: 1, Draws: max(c.Draws, 1), Seed: c.Seed}
	known := Positions(c.catalogue)
	var cases []*Wanted
	for i := range c.cases {
		if k, ok := WantedOf(&c.cases[i], known); ok {
			cases = append(cases, k)
		} else {
			s.LeftOut++
		}
	}
	if s.Cases = len(cases); s.Cases == 0 {
		return nil, fmt.Errorf("sweep: %w: no case expects a tool that the catalogue has", callvet.ErrInvalid)
	}
	total := c.searches(s.Cases) * len(c.configurations)
	for _, n := range c.sizes() {
		for _, conf := range c.configurations {
			p, err := c.point(ctx, conf, n, cases, total)
			if err != nil {
				return nil, err
			}
			s.Points = append(s.Points, p)
		}
	}
	s.compare(len(c.configurations))
	return s, nil
}

// searches are the searches of one configuration for a number of cases.
func (c *sweeper) searches(cases int) int {
	if len(c.Distractors) == 0 {
		return cases
	}
	return len(c.sizes()) * cases * max(c.Draws, 1)
}

// search decides, and reports progress.
func (c *sweeper) search(ctx context.Context, r *Retriever, question string, total int) (*callvet.Decision, error) {
	d, err := r.Decide(ctx, question)
	if c.searched++; c.Progress != nil {
		c.Progress(c.searched, total)
	}
	return d, err
}

func (c *sweeper) point(ctx context.Context, conf Configuration, n int, cases []*Wanted,
	total int,
) (SweepPoint, error) {
	draws, p := max(c.Draws, 1), SweepPoint{Configuration: conf.Name, Distractors: n, K: conf.Settings.Depth()}
	var first, hit, mrr stats.Clusters
	var whole *Retriever
	var err error
	if n < 0 { // there is nothing to draw
		draws = 1
		if whole, _, err = c.Routed(ctx, c.catalogue, conf.Settings, conf.Name, nil); err != nil {
			return p, err
		}
	}
	set := score.SelectionDefaults()
	set.K = []int{p.K}
	for _, k := range cases {
		var sums [3]float64
		for draw := range draws {
			r := whole
			if r == nil {
				entries := c.draw(k, n, draw)
				p.Tools = max(p.Tools, len(entries))
				if r, _, err = c.Routed(ctx, c.among(entries, &conf.Settings), conf.Settings, conf.Name,
					nil); err != nil {
					return p, err
				}
			}
			d, err := c.search(ctx, r, k.Question, total)
			if err != nil {
				return p, err
			}
			res := score.JudgeSelection(&k.Want, d, set)
			for i, name := range []string{score.Precision1, score.HitAt + strconv.Itoa(p.K), score.MRR} {
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
	p.First, p.Hit, p.MRR = first.Interval(0.95, stats.DefaultRho0), hit.Interval(0.95, stats.DefaultRho0),
		mrr.Interval(0.95, stats.DefaultRho0)
	return p, nil
}

// draw returns the tools of a case and n others, in the order of the catalog.
func (c *sweeper) draw(k *Wanted, n, draw int) []retrieve.Entry {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d", k.ID, draw)
	order := rand.New(rand.NewPCG(c.Seed, h.Sum64())).Perm(len(c.catalogue.Entries))
	order = slices.DeleteFunc(order, func(i int) bool { return slices.Contains(k.Gold, i) })
	chosen := slices.Sorted(slices.Values(append(order[:min(n, len(order))], k.Gold...)))
	out := make([]retrieve.Entry, len(chosen))
	for i, at := range chosen {
		out[i] = c.catalogue.Entries[at]
	}
	return out
}

// compare pairs the configurations at each size with the first, and the sizes of each
// configuration with the smallest.
func (s *Sweep) compare(configurations int) {
	add := func(base, cand *SweepPoint) {
		d := panel.Paired(base.first, cand.first, 0.95)
		s.Pairs = append(s.Pairs, SweepPair{Baseline: base.label(), Candidate: cand.label(), Change: d.Change, P: d.P})
	}
	for i := range s.Points {
		if at := i - i%configurations; at != i {
			add(&s.Points[at], &s.Points[i])
		}
		if i >= configurations {
			add(&s.Points[i%configurations], &s.Points[i])
		}
	}
	adjust(s.Pairs)
}

func (p *SweepPoint) label() string {
	if p.Distractors < 0 {
		return p.Configuration
	}
	return fmt.Sprintf("%s + %d", p.Configuration, p.Distractors)
}
