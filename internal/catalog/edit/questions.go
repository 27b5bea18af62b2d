// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package edit

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/revise"
	"github.com/callvet/callvet/score/selection"
)

// question is a case that asks for tools of the catalog, or for none.
type question struct {
	revise.Question
	of   *callvet.Case
	want callvet.Selection // its tools only
}

// questionsOf gives the cases that say which tools are right, and how many do not, or
// expect one that the catalog does not have.
func questionsOf(s *callvet.Suite, c *retrieve.Catalogue) (out []question, left int) {
	known := map[string]bool{}
	for i := range c.Entries {
		known[c.Entries[i].Tool.Name] = true
	}
	for i := range s.Cases {
		k := &s.Cases[i]
		want, ok := selection.Of(&k.Expect)
		asked := k.Question()
		skipped := k.Skip != "" && !k.Selectable
		if !ok || skipped || asked == "" || want.Tools == nil && len(want.Acceptable) == 0 || slices.ContainsFunc(want.Tools, func(t string) bool { return !known[t] }) {
			left++
			continue
		}
		out = append(out, question{
			Question: revise.Question{Case: k.ID, Text: asked, Right: want.Tools}, of: k,
			want: callvet.Selection{Tools: want.Tools, Acceptable: want.Acceptable},
		})
	}
	return out, left
}

func plainQuestions(qs []question) []revise.Question {
	out := make([]revise.Question, len(qs))
	for i := range qs {
		out[i] = qs[i].Question
	}
	return out
}

// The measures of a comparison; those that a case does not ask for are absent.
const (
	FirstRight  = "first_tool_right"
	SomeRight   = "right_tool_among_k"
	AllRight    = "tools_right"
	MRR         = "mrr"
	ChosenRight = "right_tools_called" // by a model: those and no other
)

// answer is what a question got.
type answer struct {
	// chosen are the tools given or called, best first, by the names of the catalog
	// before any edit.
	chosen []string
	scores map[string]float64
}

func (a *answer) first() string {
	if len(a.chosen) == 0 {
		return ""
	}
	return a.chosen[0]
}

// search asks the retriever every question. Errors are those of settings, of models and
// of the context.
func (b *bench) search(ctx context.Context, c *retrieve.Catalogue, set catalog.Settings, qs []question) ([]answer, error) {
	r, _, err := b.env.Over(ctx, c, set, "catalogue")
	if err != nil {
		return nil, err
	}
	k := set.Depth()
	rules := selection.Defaults()
	rules.K = []int{k}
	names := map[string]string{selection.Precision1: FirstRight, selection.HitAt + strconv.Itoa(k): SomeRight, selection.ToolsRight: AllRight, selection.MRR: MRR}
	out := make([]answer, len(qs))
	for i := range qs {
		d, err := r.Decide(ctx, qs[i].Text)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		res := selection.Judge(&qs[i].want, d, rules)
		out[i] = answer{chosen: d.Names(), scores: map[string]float64{}}
		for name, own := range names {
			if s := res.Score(name); s.Scored {
				out[i].scores[own] = s.Value
			}
		}
	}
	return out, nil
}
