// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/suite"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/learn"
)

// WhatIfResult is the effect of edits.
type WhatIfResult struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Edits are the edits compared with the catalog, Left counts the edits with a different
	// status.
	Edits []string `json:"edits"`
	Left  int      `json:"edits_left_out,omitempty"`
	// Cases counts the compared cases. LeftOut counts cases that expect no tools, or a tool
	// outside the catalog; Seen counts cases of the half from which the edits were made.
	Cases   int `json:"cases"`
	LeftOut int `json:"left_out"`
	Seen    int `json:"seen,omitempty"`
	// Sorted: the same questions removed some suggestions before.
	Sorted bool `json:"sorted,omitempty"`
	// Leaks are cases that were left out because an edit contains their question.
	Leaks       []learn.Leak      `json:"leaks,omitempty"`
	Comparisons []*Comparison     `json:"comparisons"`
	Alone       []Alone           `json:"alone,omitempty"`
	Renamed     map[string]string `json:"renamed,omitempty"`
}

// Alone is the effect of one edit without the others, by the retriever.
type Alone struct {
	Tool string           `json:"tool"`
	All  panel.Difference `json:"difference"`
	// Adjusted is the p value over all edits (Holm).
	Adjusted float64  `json:"p_adjusted"`
	Took     []string `json:"took,omitempty"`
}

// WhatIfRequest requests the effect of edits.
type WhatIfRequest struct {
	Search
	Edits string `json:"edits"`
	Suite string `json:"suite"`
	// Status are the states of the compared edits; none: accepted and proposed.
	Status []string `json:"status,omitempty"`
	// AllCases includes the cases from which suggestions were made.
	AllCases bool `json:"all_cases,omitempty"`
	// Models choose among the best Offer tools of each side, or among all where there are no
	// more; 0: 20.
	Models []string `json:"models,omitempty"`
	Offer  int      `json:"offer,omitempty"`
}

// WhatIf compares the edited catalog with the present one. If models could not be asked, the
// retriever's result is returned together with the error.
func WhatIf(ctx context.Context, e *Env, q WhatIfRequest) (*WhatIfResult, error) {
	if q.Offer = cmp.Or(q.Offer, 20); q.Offer < 2 || q.Offer > 128 {
		return nil, Invalid("offer", "", "read {offer} %d: invalid: from 2 to 128", q.Offer)
	}
	file, err := edits(e, q.Edits, q.Status, learn.Accepted, learn.Proposed)
	if err != nil {
		return nil, err
	}
	b, err := open(ctx, e, &q.Search, q.Suite)
	if err != nil {
		return nil, err
	}
	after, err := learn.ApplyEdits(b.catalogue, file.Edits)
	if err != nil {
		return nil, err
	}
	w := &WhatIfResult{
		Format: "callvet.whatif", Version: 1, Left: file.left, LeftOut: b.left,
		Sorted: file.sorted && len(file.Seen) > 0,
	}
	if b.qs, err = w.fair(b.catalogue, file.EditFile, b.qs, q.AllCases); err != nil {
		return nil, err
	}
	t := trial{bench: b, asked: &q, after: after, edits: file.Edits}
	err = t.run(ctx, w)
	if err != nil && len(w.Comparisons) == 0 {
		w = nil
	}
	return w, err
}

// fair leaves out the cases that the authors of the edits have seen, or that the edits contain.
func (w *WhatIfResult) fair(c *retrieve.Catalogue, file *suite.EditFile, qs []Question,
	every bool,
) ([]Question, error) {
	for i := range file.Edits {
		d := &file.Edits[i]
		w.Edits = append(w.Edits, d.Tool)
		if d.Name != nil && *d.Name != d.Tool {
			if w.Renamed == nil {
				w.Renamed = map[string]string{}
			}
			w.Renamed[d.Tool] = *d.Name
		}
	}
	if !every && len(file.Seen) > 0 {
		seen := map[string]bool{}
		for _, id := range file.Seen {
			seen[id] = true
		}
		kept := slices.DeleteFunc(slices.Clone(qs), func(q Question) bool { return seen[q.Case] })
		w.Seen, qs = len(qs)-len(kept), kept
	}
	w.Leaks = learn.Leaks(c, file.Edits, PlainQuestions(qs))
	qs = slices.DeleteFunc(slices.Clone(qs), func(q Question) bool {
		return slices.ContainsFunc(w.Leaks, func(l learn.Leak) bool { return l.Case == q.Case })
	})
	if w.Cases = len(qs); w.Cases == 0 {
		return nil, fmt.Errorf("compare catalogues: %w: no case is left: the edits have seen all of them",
			callvet.ErrInvalid)
	}
	return qs, nil
}

// trial is the data of a comparison.
type trial struct {
	*bench
	asked *WhatIfRequest
	after *retrieve.Catalogue
	edits []learn.Edit
}

func (t *trial) run(ctx context.Context, w *WhatIfResult) error {
	base, err := t.search(ctx, t.catalogue, t.settings, t.qs)
	if err != nil {
		return err
	}
	edited, err := t.search(ctx, t.after, t.settings, t.qs)
	if err != nil {
		return err
	}
	w.Comparisons = []*Comparison{CompareSearches(t.qs, base, edited, w.Edits)}
	if w.Alone, err = t.alone(ctx, t.edits, base); err != nil || len(t.asked.Models) == 0 {
		return err
	}
	more, err := t.ask(ctx)
	w.Comparisons = append(w.Comparisons, more...)
	return err
}

// MaxAlone is how many edits are also compared with the catalog alone: each needs its own index,
// and all questions.
const MaxAlone = 50

// alone compares each of several edits against the catalog without the others; of more
// than MaxAlone none.
func (b *bench) alone(ctx context.Context, edits []learn.Edit, base []SearchAnswer) ([]Alone, error) {
	if len(edits) < 2 || len(edits) > MaxAlone {
		return nil, nil
	}
	var out []Alone
	var of []*Comparison
	for i := range edits {
		one, err := b.one(ctx, edits[i:i+1], b.qs, base)
		if err != nil {
			return nil, err
		}
		out = append(out, Alone{Tool: edits[i].Tool, All: one.Whole(), Took: one.Tools[0].Took})
		of = append(of, one)
	}
	family := make([]*panel.Difference, len(out))
	for i, p := range Holm(of) {
		out[i].Adjusted, family[i] = p, &out[i].All
	}
	panel.Family(family)
	return out, nil
}

// one compares edits with the catalog by the retriever.
func (b *bench) one(ctx context.Context, edits []learn.Edit, qs []Question, base []SearchAnswer) (*Comparison, error) {
	with, err := learn.ApplyEdits(b.catalogue, edits)
	if err != nil {
		return nil, err
	}
	got, err := b.search(ctx, with, b.settings, qs)
	if err != nil {
		return nil, err
	}
	var tools []string
	for i := range edits {
		tools = append(tools, edits[i].Tool)
	}
	return CompareSearches(qs, base, got, tools), nil
}
