// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"fmt"
	"slices"

	"github.com/callvet/callvet"
)

// SelectionSettings define how layers and ranks count.
type SelectionSettings struct {
	// Route, SubRoute and Agents are the weights of these layers in the composite, Exact and
	// Acceptable the weights of the tools, each at least 0.
	Route, SubRoute, Agents, Exact, Acceptable float64
	// K are the depths at which ranks are measured, ascending, each at least 1.
	K []int
}

// SelectionDefaults are the weights of the Tool Selection Evaluation System and the depths 1, 3
// and 5.
func SelectionDefaults() SelectionSettings {
	return SelectionSettings{
		Route: 0.15, SubRoute: 0.10, Agents: 0.25, Exact: 0.30, Acceptable: 0.20,
		K: []int{1, 3, 5},
	}
}

// Tools is the weight of the layer of tools.
func (s *SelectionSettings) Tools() float64 { return s.Exact + s.Acceptable }

// SelectionSettingsOf returns the defaults with a suite's or case's settings applied; s may be
// nil. An invalid setting is replaced by the default, and the error, which wraps
// callvet.ErrInvalid, reports it.
func SelectionSettingsOf(s *callvet.SelectionScoring) (SelectionSettings, error) {
	set := SelectionDefaults()
	if s == nil {
		return set, nil
	}
	over := func(to *float64, from *float64) {
		if from != nil {
			*to = *from
		}
	}
	over(&set.Route, s.Route)
	over(&set.SubRoute, s.SubRoute)
	over(&set.Agents, s.Agents)
	over(&set.Exact, s.Exact)
	over(&set.Acceptable, s.Acceptable)
	switch {
	case s.Tools == nil:
	case s.Exact != nil || s.Acceptable != nil:
		return SelectionDefaults(),
			fmt.Errorf("read weights of layers: %w: tools is exact and acceptable together: write it, or these two",
				callvet.ErrInvalid)
	default:
		set.Exact, set.Acceptable = 0.6**s.Tools, 0.4**s.Tools
	}
	if !set.sound() {
		return SelectionDefaults(),
			fmt.Errorf(
				"read weights of layers: %w: each is at least 0, not all are 0, and they add up to less than 1e300",
				callvet.ErrInvalid)
	}
	if s.K == nil {
		return set, nil
	}
	k := slices.Compact(slices.Sorted(slices.Values(s.K)))
	if len(k) == 0 || k[0] < 1 {
		return set, fmt.Errorf("read depths of ranks: %w: each is at least 1", callvet.ErrInvalid)
	}
	set.K = k
	return set, nil
}

func (s *SelectionSettings) sound() bool {
	sum := 0.0
	for _, w := range []float64{s.Route, s.SubRoute, s.Agents, s.Exact, s.Acceptable} {
		if !(w >= 0) {
			return false
		}
		sum += w
	}
	return sum > 0 && sum < 1e300
}
