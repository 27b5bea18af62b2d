// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// weight is one number of the options that a file or a target may set.
type weight struct {
	set   func(o *retrieve.Options, v float64)
	top   float64
	whole bool
}

// largest is the upper bound of weights without their own bound.
const largest = 1e6

// weights are the weights of a formula, by name.
func weights(f retrieve.Formula) map[string]weight {
	out := map[string]weight{}
	number := func(name string, top float64, at func(*retrieve.Options) *float64) {
		out[name] = weight{func(o *retrieve.Options, v float64) { *at(o) = v }, top, false}
	}
	count := func(name string, top float64, at func(*retrieve.Options) *int) {
		out[name] = weight{func(o *retrieve.Options, v float64) { *at(o) = int(v) }, top, true}
	}
	for _, k := range learn.Weights(f) {
		top := float64(largest)
		if slices.Contains([]string{"inflection", "compound", "misspelling"}, k.Name) || k.Name == "vector" &&
			f != retrieve.Additive {
			top = 1
		}
		number(k.Name, top, k.At)
	}
	count("rerank_top", MaxDepth, func(o *retrieve.Options) *int { return &o.RerankTop })
	if f != retrieve.Additive {
		for _, k := range learn.Lengths() {
			number(strings.ReplaceAll(k.Name, " ", "_"), 1, k.At)
		}
		return out
	}
	count("candidates", MaxDepth, func(o *retrieve.Options) *int { return &o.Additive.Candidates })
	count("agent_candidates", MaxDepth, func(o *retrieve.Options) *int { return &o.Agents.Candidates })
	number("agent_name", largest, func(o *retrieve.Options) *float64 { return &o.Agents.Name })
	number("agent_keyword", largest, func(o *retrieve.Options) *float64 { return &o.Agents.Keyword })
	number("agent_token", largest, func(o *retrieve.Options) *float64 { return &o.Agents.Token })
	number("agent_vector", largest, func(o *retrieve.Options) *float64 { return &o.Agents.Vector })
	return out
}

// WeightNames lists the weights of a preset.
func WeightNames(preset string) []string {
	f := retrieve.Mixed
	if preset == "bigtool" {
		f = retrieve.Additive
	}
	return slices.Sorted(maps.Keys(weights(f)))
}

// weigh sets the weights in the options. The error wraps callvet.ErrInvalid.
func (s *Settings) weigh(o *retrieve.Options) error {
	known := weights(o.Formula)
	for _, name := range slices.Sorted(maps.Keys(s.Weights)) {
		v := s.Weights[name]
		w, ok := known[name]
		switch {
		case !ok:
			hint := strings.Join(WeightNames(s.Preset), ", ")
			if near := callvet.Nearest(name, WeightNames(s.Preset)); near != "" {
				hint = "did you mean " + near + "?"
			}
			return &callvet.Hinted{Err: fmt.Errorf("set weight %q: %w: there is none of that name", name,
				callvet.ErrInvalid), Hint: hint}
		case !(v >= 0 && v <= w.top):
			return fmt.Errorf("set weight %s to %v: %w: it is a number from 0 to %v", name, v,
				callvet.ErrInvalid, w.top)
		case w.whole && v != math.Trunc(v):
			return fmt.Errorf("set weight %s to %v: %w: it is a whole number", name, v, callvet.ErrInvalid)
		}
		w.set(o, v)
	}
	return nil
}

// maxWeights is the size of the largest file of weights in bytes.
const maxWeights = 64 << 10

// WeightsFile is the content of a file of weights; nil fields are absent.
type WeightsFile struct {
	// Composite weighs the layers of a decision, Retrieval the parts of a tool's score.
	Composite *callvet.SelectionScoring
	Retrieval map[string]float64
	// Tuned records how the weights of retrieval were chosen.
	Tuned *learn.Tuned
}

// ReadWeights reads a JSON object: {"composite": {"route", "sub_route", "agents", "exact",
// "acceptable"} or "tools" for both, "retrieval": {…}, "tuned": {…}}, or the flat object of the
// Tool Selection Evaluation System ("route_correct_weight", …). Every part may be missing. It
// does not check whether the preset has the weights of retrieval. The error wraps
// callvet.ErrInvalid and names the file.
func ReadWeights(name string, b []byte) (WeightsFile, error) {
	var f struct {
		Composite  *callvet.SelectionScoring `json:"composite"`
		Retrieval  map[string]float64        `json:"retrieval"`
		Tuned      *learn.Tuned              `json:"tuned"`
		Route      *float64                  `json:"route_correct_weight"`
		SubRoute   *float64                  `json:"sub_route_correct_weight"`
		Agent      *float64                  `json:"agent_correct_weight"`
		Exact      *float64                  `json:"exact_match_weight"`
		Acceptable *float64                  `json:"acceptable_match_weight"`
	}
	if len(b) > maxWeights {
		return WeightsFile{}, fmt.Errorf("read weights %s: %w: more than %d bytes", name,
			callvet.ErrLimited, maxWeights)
	}
	if err := doc.DecodeJSON(name, b, &f); err != nil {
		return WeightsFile{}, &callvet.Hinted{
			Err:  fmt.Errorf("read weights: %w: %w", callvet.ErrInvalid, err),
			Hint: `write {"composite": {"route": 0.15, "tools": 0.5}, "retrieval": {"vector": 0.2}}`,
		}
	}
	if f.Composite == nil &&
		(f.Route != nil || f.SubRoute != nil || f.Agent != nil || f.Exact != nil || f.Acceptable != nil) {
		f.Composite = &callvet.SelectionScoring{
			Route: f.Route, SubRoute: f.SubRoute, Agents: f.Agent, Exact: f.Exact,
			Acceptable: f.Acceptable,
		}
	}
	if err := checkComposite(f.Composite); err != nil {
		return WeightsFile{}, fmt.Errorf("read weights %s: %w: %w", name, callvet.ErrInvalid, err)
	}
	return WeightsFile{f.Composite, f.Retrieval, f.Tuned}, nil
}

func checkComposite(c *callvet.SelectionScoring) error {
	if c == nil {
		return nil
	}
	given, sum := 0, 0.0
	tools := c.Tools
	if c.Exact != nil || c.Acceptable != nil {
		if tools != nil {
			return errors.New("composite.tools is exact and acceptable together: write it, or these two")
		}
		both := or(c.Exact, 0.30) + or(c.Acceptable, 0.20)
		tools = &both
	}
	for i, v := range []*float64{c.Exact, c.Acceptable} {
		if v != nil && *v < 0 {
			return fmt.Errorf("composite.%s is %v: weights are numbers from 0",
				[...]string{"exact", "acceptable"}[i], *v)
		}
	}
	layers := []struct {
		name string
		v    *float64
	}{{"route", c.Route}, {"sub_route", c.SubRoute}, {"agents", c.Agents}, {"tools", tools}}
	for _, l := range layers {
		switch {
		case l.v == nil:
			continue
		case *l.v < 0:
			return fmt.Errorf("composite.%s is %v: weights are numbers from 0", l.name, *l.v)
		}
		given, sum = given+1, sum+*l.v
	}
	if given == len(layers) && sum == 0 {
		return errors.New("composite: all weights are 0")
	}
	return checkDepths(c)
}

func checkDepths(c *callvet.SelectionScoring) error {
	for _, k := range c.K {
		if k < 1 || k > MaxDepth {
			return fmt.Errorf("composite.k has %d: depths are numbers from 1 to %d", k, MaxDepth)
		}
	}
	return nil
}

func or(p *float64, usual float64) float64 {
	if p == nil {
		return usual
	}
	return *p
}
