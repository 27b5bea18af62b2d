// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"slices"
	"strconv"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve/learn"
	"github.com/callvet/callvet/score"
)

// Question is a case that expects tools of the catalog, or none.
type Question struct {
	learn.Question
	Of   *callvet.Case
	Want callvet.Selection // its tools only
}

// QuestionsOf returns the cases with right tools, and the number of cases without right tools or
// with a tool outside the catalog; known are its tools.
func QuestionsOf(cases []callvet.Case, known map[string]int) (out []Question, left int) {
	for i := range cases {
		k := &cases[i]
		want, ok := score.SelectionOf(&k.Expect)
		asked := k.Question()
		skipped := k.Skip != "" && !k.Selectable
		if !ok || skipped || asked == "" || want.Tools == nil && len(want.Acceptable) == 0 ||
			slices.ContainsFunc(want.Tools, func(t string) bool { _, ok := known[t]; return !ok }) {
			left++
			continue
		}
		out = append(out, Question{
			Question: learn.Question{Case: k.ID, Text: asked, Right: want.Tools}, Of: k,
			Want: callvet.Selection{Tools: want.Tools, Acceptable: want.Acceptable},
		})
	}
	return out, left
}

// PlainQuestions are the questions without their cases.
func PlainQuestions(qs []Question) []learn.Question {
	out := make([]learn.Question, len(qs))
	for i := range qs {
		out[i] = qs[i].Question
	}
	return out
}

// The measures of a comparison; measures that do not apply to a case are absent.
const (
	FirstRight  = "first_tool_right"
	SomeRight   = "right_tool_among_k"
	AllRight    = "tools_right"
	MRR         = "mrr"
	ChosenRight = "right_tools_called" // by a model: exactly the right tools
)

// SearchAnswer is the result of a question.
type SearchAnswer struct {
	// Chosen are the retrieved or called tools, best first, by the names of the catalog before
	// any edit.
	Chosen []string
	Scores map[string]float64
}

// First is the best tool; "" for none.
func (a *SearchAnswer) First() string {
	if len(a.Chosen) == 0 {
		return ""
	}
	return a.Chosen[0]
}

// AnswerOf judges the decision of a retriever that returns up to k tools.
func AnswerOf(q *Question, d *callvet.Decision, k int) SearchAnswer {
	rules := score.SelectionDefaults()
	rules.K = []int{k}
	res := score.JudgeSelection(&q.Want, d, rules)
	out := SearchAnswer{Chosen: d.Names(), Scores: map[string]float64{}}
	for name, own := range map[string]string{
		score.Precision1: FirstRight, score.HitAt + strconv.Itoa(k): SomeRight, score.ToolsRight: AllRight,
		score.MRR: MRR,
	} {
		if s := res.Score(name); s.Scored {
			out.Scores[own] = s.Value
		}
	}
	return out
}
