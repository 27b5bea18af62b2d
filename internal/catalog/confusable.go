// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
)

// Confusable are pairs of tools that are easily confused.
type Confusable struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Tools counts the compared tools, Left the tools beyond the limit.
	Tools int            `json:"tools"`
	Left  int            `json:"left,omitempty"`
	Pairs []ConfusedPair `json:"pairs"`
	// Observed: a run was read.
	Observed bool `json:"observed"`
}

// ConfusedPair is two tools with the cosine of their names and descriptions, in [-1,1], and how
// often a run took either for the other.
type ConfusedPair struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Similarity float64 `json:"similarity"`
	Confused   int     `json:"confused"`
}

// AlikeFrom is the least similarity of texts, in [-1,1], of two overlapping tools: a rule of thumb.
// The weather of today and its forecast are alike by 0.3, tools of other subjects by less than 0.2.
const AlikeFrom = 0.2

// MaxCompared is how many tools are compared with each other.
const MaxCompared = 20_000

// nearest are kept per tool.
const nearest = 5

// ConfusableRequest requests the pairs of easily confused tools.
type ConfusableRequest struct {
	Tools string `json:"tools"`
	// Run is a run that shows its confusion next to the similarity; empty: none.
	Run string `json:"run,omitempty"`
	// Top is how many pairs are listed; 0: 20.
	Top int `json:"top,omitempty"`
}

// FindConfusable lists the pairs of tools with the most similar texts, and those that a run
// confused; observe returns the confusion of a stored run, never nil without an error. Errors are
// those of files and of the run.
func FindConfusable(ctx context.Context, e *Env, q ConfusableRequest,
	observe func(ctx context.Context, run string) ([]panel.Confused, error),
) (*Confusable, error) {
	if q.Top < 0 {
		return nil, Invalid("top", "", "list pairs: invalid: {top} is 1 or more")
	}
	c, _, err := e.Catalogue(q.Tools)
	if err != nil {
		return nil, err
	}
	var observed []panel.Confused
	if q.Run != "" {
		if observed, err = observe(ctx, q.Run); err != nil {
			return nil, err
		}
	}
	return confusable(ctx, c, observed, cmp.Or(q.Top, 20))
}

// Overlaps are the pairs of overlapping tools: one is among the five most similar of the other,
// with a cosine of at least least; and the confused pairs. They are in the order of FindConfusable,
// with its numbers. left counts the tools beyond the limit.
func Overlaps(ctx context.Context, tools []callvet.Tool, observed []panel.Confused,
	least float64,
) (pairs []ConfusedPair, left int, err error) {
	c := &retrieve.Catalogue{Entries: make([]retrieve.Entry, len(tools))}
	for i := range tools {
		c.Entries[i].Tool = tools[i]
	}
	all, err := confusable(ctx, c, observed, len(tools)*nearest+len(observed))
	if err != nil {
		return nil, 0, err
	}
	for _, p := range all.Pairs {
		if p.Similarity >= least || p.Confused > 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs, all.Left, nil
}

// Overlap returns a test for overlapping tools by their texts: the pairs of Overlaps from AlikeFrom
// on. Unknown names overlap with none.
func Overlap(ctx context.Context, tools []callvet.Tool) (func(a, b string) bool, error) {
	pairs, _, err := Overlaps(ctx, tools, nil, AlikeFrom)
	if err != nil {
		return nil, err
	}
	are := map[[2]string]bool{}
	for _, p := range pairs {
		are[[2]string{p.A, p.B}], are[[2]string{p.B, p.A}] = true, true
	}
	return func(a, b string) bool { return are[[2]string{a, b}] }, nil
}

// confusable returns at most most pairs with the most similar texts, and confused pairs; most
// confused first, then the most similar. It is the one place that measures the similarity of tools:
// by their names and descriptions, which suites and catalogues have.
func confusable(ctx context.Context, c *retrieve.Catalogue, observed []panel.Confused, most int) (*Confusable, error) {
	out := &Confusable{Format: "callvet.confusable", Version: 1, Observed: observed != nil}
	entries := make([]retrieve.Entry, min(len(c.Entries), MaxCompared))
	for i := range entries {
		entries[i].Tool, entries[i].ID = c.Entries[i].Tool, c.Entries[i].ID
	}
	out.Tools, out.Left = len(entries), len(c.Entries)-len(entries)
	alike, err := retrieve.NewLikeness(ctx, entries)
	if err != nil {
		return nil, err
	}
	at := Positions(&retrieve.Catalogue{Entries: entries})
	type key [2]int
	pairs := map[key]int{} // how often confused
	order := func(i, j int) key { return key{min(i, j), max(i, j)} }
	near, err := alike.Nearest(ctx, nearest)
	if err != nil {
		return nil, err
	}
	for i, js := range near {
		for _, j := range js {
			pairs[order(i, j)] += 0
		}
	}
	for _, o := range observed {
		i, known := at[o.Expected]
		j, also := at[o.Called]
		if known && also && i != j {
			pairs[order(i, j)] += o.N
		}
	}
	for k, n := range pairs {
		out.Pairs = append(out.Pairs,
			ConfusedPair{
				A: entries[k[0]].Tool.Name, B: entries[k[1]].Tool.Name, Similarity: alike.Of(k[0], k[1]),
				Confused: n,
			})
	}
	slices.SortFunc(out.Pairs, func(a, b ConfusedPair) int {
		return cmp.Or(cmp.Compare(b.Confused, a.Confused), cmp.Compare(b.Similarity, a.Similarity),
			strings.Compare(a.A, b.A), strings.Compare(a.B, b.B))
	})
	out.Pairs = out.Pairs[:min(len(out.Pairs), most)]
	return out, nil
}
