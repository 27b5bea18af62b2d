// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// CoverageNeighbours is the content of an overlap map for one tool.
// Source: the tool overlap map of Eval Case Interfaces, with the weights of its extension.
type CoverageNeighbours struct {
	// Overlaps are the tools that are easily confused with it, the most similar first.
	Overlaps []CoverageNeighbour `json:"overlaps"`
	// Clusters are groups of tools that overlap pairwise, this one among them.
	Clusters [][]string `json:"clusters"`
	Reason   string     `json:"reason"`
}

// CoverageNeighbour is one tool that overlaps another one.
type CoverageNeighbour struct {
	Tool   string `json:"tool"`
	Reason string `json:"reason"`
	// Weight is high, medium or low: the document converts it to 2, 1 and 0.5, to compute how
	// many ambiguous cases a tool needs.
	Weight string `json:"weight"`
	// Similarity and Confused are copied from the pair.
	Similarity float64 `json:"similarity"`
	Confused   int     `json:"confused,omitempty"`
}

// Likenesses from which a pair has the weights high and medium. They are rules of thumb for the
// document's "both triggered by the same questions" (the weather and its forecast are alike by 0.3)
// and "the same domain, with distinct triggers".
const (
	highFrom   = 0.3
	mediumFrom = 0.2
)

// Weight is how easily the two are confused: a pair that a run confused is of weight high.
func (p *CoveragePair) Weight() string {
	switch {
	case p.Confused > 0 || p.Similarity >= highFrom:
		return "high"
	case p.Similarity >= mediumFrom:
		return "medium"
	}
	return "low"
}

// Map returns, for each tool, the tools that overlap with it.
func (r *CoverageReport) Map() map[string]*CoverageNeighbours {
	out := map[string]*CoverageNeighbours{}
	near := map[string]map[string]bool{}
	link := func(a, b string, o *CoverageOverlap) {
		if out[a] == nil {
			out[a], near[a] = &CoverageNeighbours{}, map[string]bool{}
		}
		near[a][b] = true
		n := out[a]
		why := fmt.Sprintf("similarity of the texts %.2f", o.Similarity)
		if o.Confused > 0 {
			why += fmt.Sprintf(", taken for one another %d times", o.Confused)
		}
		n.Overlaps = append(n.Overlaps, CoverageNeighbour{b, why, o.Weight(), o.Similarity, o.Confused})
		why = b + ": " + why
		if n.Reason != "" {
			n.Reason += "; "
		}
		n.Reason += why
	}
	for i := range r.Overlaps {
		o := &r.Overlaps[i]
		link(o.A, o.B, o)
		link(o.B, o.A, o)
	}
	seen := map[string]bool{}
	for i := range r.Overlaps {
		group := grown([]string{r.Overlaps[i].A, r.Overlaps[i].B}, out[r.Overlaps[i].A].Overlaps, near)
		key := strings.Join(group, "\x00")
		if seen[key] {
			continue
		}
		seen[key] = true
		for _, name := range group {
			own := slices.Concat([]string{name},
				slices.DeleteFunc(slices.Clone(group), func(s string) bool { return s == name }))
			out[name].Clusters = append(out[name].Clusters, own)
		}
	}
	return out
}

// grown adds every tool that overlaps with all members of a group, in the given order, and sorts
// the group.
func grown(group []string, more []CoverageNeighbour, near map[string]map[string]bool) []string {
	for i := range more {
		name := more[i].Tool
		if !slices.Contains(group, name) && !slices.ContainsFunc(group, func(g string) bool { return !near[g][name] }) {
			group = append(group, name)
		}
	}
	slices.Sort(group)
	return group
}

// MapFile writes the overlap map as a file.
func (r *CoverageReport) MapFile() ([]byte, error) {
	b, err := json.MarshalIndent(r.Map(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write overlap map: %w", err)
	}
	return append(b, '\n'), nil
}
