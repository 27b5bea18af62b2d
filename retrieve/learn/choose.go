// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"cmp"
	"slices"
	"strings"
)

// Outcome is a question with the tool that was first for it; empty for none.
type Outcome struct {
	Question
	First string
}

// Candidate is a tool that needs a new description, with the questions that show why.
type Candidate struct {
	Tool string
	// Lost are its questions that other tools took, Taken the questions of others that it took,
	// Kept its questions that it found.
	Lost, Taken, Kept []Outcome
	// Rivals are the tools that it lost to or took from, most often first.
	Rivals []string
}

// Choose returns the tools that lose or take questions, the most affected first; at most most of
// them. A question that no tool fits counts as taken by the tool found for it.
func Choose(outcomes []Outcome, most int) []Candidate {
	all := candidates(outcomes)
	all = slices.DeleteFunc(all, func(c *Candidate) bool { return len(c.Lost)+len(c.Taken) == 0 })
	slices.SortStableFunc(all, func(a, b *Candidate) int {
		return cmp.Or(cmp.Compare(len(b.Lost)+len(b.Taken), len(a.Lost)+len(a.Taken)),
			cmp.Compare(len(b.Lost), len(a.Lost)), strings.Compare(a.Tool, b.Tool))
	})
	var out []Candidate
	for _, c := range all[:min(len(all), max(most, 0))] {
		out = append(out, *c)
	}
	return out
}

// CandidatesOf returns the questions of named tools, in the order of the names, including tools
// that lose and take nothing.
func CandidatesOf(outcomes []Outcome, tools []string) []Candidate {
	all := candidates(outcomes)
	out := make([]Candidate, len(tools))
	for i, t := range tools {
		out[i] = Candidate{Tool: t}
		if at := slices.IndexFunc(all, func(c *Candidate) bool { return c.Tool == t }); at >= 0 {
			out[i] = *all[at]
		}
	}
	return out
}

func candidates(outcomes []Outcome) []*Candidate {
	byTool := map[string]*Candidate{}
	var all []*Candidate
	rivals := map[string]map[string]int{}
	get := func(tool string) *Candidate {
		c := byTool[tool]
		if c == nil {
			c = &Candidate{Tool: tool}
			byTool[tool], rivals[tool] = c, map[string]int{}
			all = append(all, c)
		}
		return c
	}
	for _, o := range outcomes {
		if slices.Contains(o.Right, o.First) {
			c := get(o.First)
			c.Kept = append(c.Kept, o)
			continue
		}
		if o.First != "" {
			c := get(o.First)
			c.Taken = append(c.Taken, o)
		}
		for _, right := range o.Right {
			c := get(right)
			c.Lost = append(c.Lost, o)
			if o.First != "" {
				rivals[right][o.First]++
				rivals[o.First][right]++
			}
		}
	}
	for _, c := range all {
		for r := range rivals[c.Tool] {
			c.Rivals = append(c.Rivals, r)
		}
		slices.SortFunc(c.Rivals, func(a, b string) int {
			return cmp.Or(cmp.Compare(rivals[c.Tool][b], rivals[c.Tool][a]), strings.Compare(a, b))
		})
	}
	return all
}
