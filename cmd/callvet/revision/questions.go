// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
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
		asked := asks(k)
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

// asks is what the user says last.
func asks(k *callvet.Case) string {
	for i := len(k.Input) - 1; i >= 0; i-- {
		if k.Input[i].Role == callvet.RoleUser {
			return strings.TrimSpace(k.Input[i].Content)
		}
	}
	return ""
}

func plainQuestions(qs []question) []revise.Question {
	out := make([]revise.Question, len(qs))
	for i := range qs {
		out[i] = qs[i].Question
	}
	return out
}

// The measures of an answer; those that a case does not ask for are absent.
const (
	firstRight = "first_tool_right"
	someRight  = "right_tool_among_k"
	allRight   = "tools_right"
	mrr        = "mrr"
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

// open opens the models of vectors and order once for a command; what it gives tells
// what was asked of them, and lets go of them.
func (e *Env) open() (done func()) {
	e.opened = e.Models()
	return func() {
		selector.TellUse(e.Err, e.opened.Used())
		_ = e.opened.Close() // has told of what went wrong
		e.opened = nil
	}
}

// search asks the retriever every question. Errors are those of settings, of models and
// of the context.
func (e *Env) search(ctx context.Context, c *retrieve.Catalogue, f *selector.Flags, qs []question) ([]answer, error) {
	m := e.opened
	if m == nil {
		m = e.Models()
		defer func() { _ = m.Close() }() // has told of what went wrong
	}
	r, _, err := selector.OverWith(ctx, c, f.Settings, "catalogue", e.Read, m, e.Now)
	if err != nil {
		return nil, err
	}
	k := f.Settings.Depth()
	set := selection.Defaults()
	set.K = []int{k}
	names := map[string]string{selection.Precision1: firstRight, selection.HitAt + strconv.Itoa(k): someRight, selection.ToolsRight: allRight, selection.MRR: mrr}
	out := make([]answer, len(qs))
	for i := range qs {
		d, err := r.Decide(ctx, qs[i].Text)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		res := selection.Judge(&qs[i].want, d, set)
		out[i] = answer{chosen: d.Names(), scores: map[string]float64{}}
		for name, own := range names {
			if s := res.Score(name); s.Scored {
				out[i].scores[own] = s.Value
			}
		}
	}
	return out, nil
}
