// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

// Comparison compares an edited catalog with the present one, by one way of choosing.
type Comparison struct {
	// By is "retriever", or the model that chose.
	By string `json:"by"`
	// Measure is the measure of the cases below and of the verdict.
	Measure string `json:"measure"`
	// Adjusted is the p value of Measure over all models that were asked (Holm); nil
	// where there are not several. A verdict has to hold by it.
	Adjusted *float64        `json:"p_adjusted,omitempty"`
	Models   int             `json:"models,omitempty"` // over so many
	Verdict  panel.Change    `json:"verdict"`
	Sentence string          `json:"sentence"`
	Needed   int             `json:"more_cases_needed,omitempty"`
	Rates    []EffectRate    `json:"rates"`
	MRR      *MeanDifference `json:"mrr,omitempty"`
	Right    []ChangedAnswer `json:"newly_right"`
	Wrong    []ChangedAnswer `json:"newly_wrong"`
	Tools    []ToolEffect    `json:"tools"`
	Unjudged []string        `json:"unjudged,omitempty"`
	// Same counts cases for which a model sees exactly the same tools on both sides, and was
	// asked once.
	Same  int              `json:"same_request,omitempty"`
	Usage *EffectUsage     `json:"usage,omitempty"`
	main  panel.Difference // of Measure
}

// EffectRate is one measure on both sides.
type EffectRate struct {
	Measure string `json:"measure"`
	panel.Difference
}

// MeanDifference is a paired difference of means, by panel.Paired.
type MeanDifference struct {
	Before float64        `json:"baseline"`
	After  float64        `json:"candidate"`
	Change stats.Interval `json:"change"`
	P      float64        `json:"p"`
}

// ChangedAnswer is a case that is right on one side only.
type ChangedAnswer struct {
	Case     string   `json:"case"`
	Question string   `json:"question"`
	Right    []string `json:"right"`
	// Acceptable are the tools that are right as well, in place of the expected ones.
	Acceptable []string `json:"acceptable,omitempty"`
	// Before and After are the first tools, or the tools that a model called.
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// ToolEffect is the effect of the edits on the questions of one tool.
type ToolEffect struct {
	Tool   string   `json:"tool"`
	Edited bool     `json:"edited"`
	Cases  int      `json:"cases"`
	Right  []string `json:"newly_right"`
	Wrong  []string `json:"newly_wrong"`
	// LostTo are the tools that are now first where this one would be right; Took are the cases
	// that this edited tool now takes from other tools.
	LostTo []string         `json:"lost_to,omitempty"`
	Took   []string         `json:"took,omitempty"`
	Own    panel.Difference `json:"difference"`
}

// EffectUsage is the usage of models.
type EffectUsage struct {
	Run string `json:"run,omitempty"`
	// Reused are answers of earlier runs to exactly the same request.
	Requests     int      `json:"requests"`
	Reused       int      `json:"reused"`
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	// Known: every attempt reported its tokens; otherwise the numbers are lower bounds.
	Known bool `json:"tokens_known"`
	sum   callvet.Usage
}

// Add adds the usage of an attempt; reused answers of earlier runs cost nothing.
func (u *EffectUsage) Add(t *callvet.Trace) {
	if t.Cached {
		u.Reused++
		return
	}
	u.Requests += t.Attempts
	one := t.Usage
	if one == (callvet.Usage{}) {
		one.Note = "no usage was reported" // so that the sum is not known
	}
	u.sum.Add(one)
}

// Sum is the sum of all attempts.
func (u *EffectUsage) Sum() *EffectUsage {
	u.Known = u.sum.Known
	u.InputTokens, u.OutputTokens, u.CostUSD = u.sum.InputTokens, u.sum.OutputTokens, u.sum.CostUSD
	return u
}

// others are the acceptable tools that are not expected ones.
func (q *Question) others() []string {
	return slices.DeleteFunc(slices.Clone(q.Want.Acceptable),
		func(t string) bool { return slices.Contains(q.Right, t) })
}

// Outcome is a case on one side: how many of its judged attempts were right.
type Outcome struct {
	Rights []bool
	Chosen []string
}

func (o *Outcome) right() bool {
	n := 0
	for _, r := range o.Rights {
		if r {
			n++
		}
	}
	return 2*n >= len(o.Rights) && n > 0
}

// outcomes evaluates one measure for answers; cases to which it does not apply have no attempts.
func outcomes(as []SearchAnswer, measure string) []Outcome {
	out := make([]Outcome, len(as))
	for i := range as {
		out[i].Chosen = as[i].Chosen[:min(len(as[i].Chosen), 1)]
		if v, ok := as[i].Scores[measure]; ok {
			out[i].Rights = []bool{v == 1}
		}
	}
	return out
}

// paired is the comparison of package panel over the cases for which keep holds.
func paired(qs []Question, before, after []Outcome, keep func(i int) bool) panel.Difference {
	side := func(name string, os []Outcome) *panel.Ledger {
		l := panel.NewLedger(name, []string{"tools"}, []string{})
		for i := range qs {
			if keep != nil && !keep(i) {
				continue
			}
			for n, right := range os[i].Rights {
				verdict := callvet.VerdictFail
				if right {
					verdict = callvet.VerdictPass
				}
				l.Add(&callvet.Case{ID: qs[i].Case},
					&callvet.Cell{Case: i, Repeat: n, Result: callvet.Result{Verdict: verdict}})
			}
		}
		return l
	}
	c := panel.Diff(side("as it is", before), side("edited", after), 0.95)
	return c.Targets[0].Overall
}

// CompareOutcomes compares one measure in full. edited are the tools with edits.
func CompareOutcomes(by, measure string, qs []Question, before, after []Outcome, edited []string) *Comparison {
	c := &Comparison{
		By: by, Measure: measure, main: paired(qs, before, after, nil), Right: []ChangedAnswer{},
		Wrong: []ChangedAnswer{},
	}
	c.Rates = []EffectRate{{measure, c.main}}
	for i := range qs {
		b, a := &before[i], &after[i]
		if len(b.Rights) == 0 || len(a.Rights) == 0 {
			continue
		}
		change := ChangedAnswer{
			Case: qs[i].Case, Question: qs[i].Text, Right: qs[i].Right, Acceptable: qs[i].others(),
			Before: b.Chosen, After: a.Chosen,
		}
		switch {
		case a.right() && !b.right():
			c.Right = append(c.Right, change)
		case b.right() && !a.right():
			c.Wrong = append(c.Wrong, change)
		}
	}
	c.effects(qs, before, after, edited)
	c.judge()
	return c
}

// effects lists the edited tools, and every other tool with changed questions.
func (c *Comparison) effects(qs []Question, before, after []Outcome, edited []string) {
	byTool := map[string]*ToolEffect{}
	get := func(tool string) *ToolEffect {
		t := byTool[tool]
		if t == nil {
			t = &ToolEffect{Tool: tool, Edited: slices.Contains(edited, tool), Right: []string{}, Wrong: []string{}}
			byTool[tool] = t
		}
		return t
	}
	for _, tool := range edited {
		get(tool)
	}
	for _, ch := range c.Right {
		for _, tool := range ch.Right {
			get(tool).Right = append(get(tool).Right, ch.Case)
		}
	}
	for _, ch := range c.Wrong {
		for _, tool := range ch.Right {
			t := get(tool)
			t.Wrong = append(t.Wrong, ch.Case)
			for _, to := range ch.After {
				if !slices.Contains(t.LostTo, to) && !slices.Contains(ch.Right, to) {
					t.LostTo = append(t.LostTo, to)
				}
			}
		}
		for _, to := range ch.After {
			if slices.Contains(edited, to) && !slices.Contains(ch.Right, to) && !slices.Contains(ch.Acceptable, to) {
				get(to).Took = append(get(to).Took, ch.Case)
			}
		}
	}
	for _, t := range byTool {
		t.Own = paired(qs, before, after, func(i int) bool { return slices.Contains(qs[i].Right, t.Tool) })
		t.Cases = t.Own.Cases
		c.Tools = append(c.Tools, *t)
	}
	family := make([]*panel.Difference, len(c.Tools))
	for i := range c.Tools {
		family[i] = &c.Tools[i].Own
	}
	panel.Family(family)
	slices.SortFunc(c.Tools, func(a, b ToolEffect) int {
		if a.Edited != b.Edited {
			return map[bool]int{true: -1, false: 1}[a.Edited]
		}
		return cmp.Or(cmp.Compare(len(b.Wrong), len(a.Wrong)), strings.Compare(a.Tool, b.Tool))
	})
}

// level is the p value below which a difference counts.
const level = 0.05

// power is the probability that the needed cases show the difference.
const power = 0.8

// needed is the approximate number of further cases to show the observed difference at a level; 0
// if unknown.
func needed(d *panel.Difference, level float64) int {
	delta := d.Change.Point
	if d.Cases == 0 || delta == 0 {
		return 0
	}
	var n float64
	var ok bool
	if d.Test == "mcnemar_midp" {
		// Rounding must not make the share that changed smaller than the difference.
		share := max(float64(d.NewlyFailing+d.NewlyPassing)/float64(d.Cases), math.Abs(delta))
		n, ok = gate.PairedRates(share, delta, level, power)
		n = max(n, math.Ceil(-math.Log2(level))/share) // fewer changes are never significant
	} else {
		n, ok = gate.PairedMean(d.Change.SE*d.Change.SE*float64(d.Cases), 0, 0, 1, 1, delta, level, power)
	}
	if !ok {
		return 0
	}
	return max(int(math.Ceil(n))-d.Cases, 1)
}

// judge sets the verdict on the difference.
func (c *Comparison) judge() {
	d := &c.main
	c.Verdict = d.Verdict
	moved := fmt.Sprintf("%s newly right and %s newly wrong of %s: %s, p %s", plain.Thousands(d.NewlyPassing),
		plain.Thousands(d.NewlyFailing), plain.Count(d.Cases, "case", "cases"), plain.Change(d.Change), plain.P(d.P))
	clear, shown := d.Verdict == panel.ChangeBetter || d.Verdict == panel.ChangeWorse,
		c.Adjusted == nil || *c.Adjusted < level
	if c.Adjusted != nil {
		moved += fmt.Sprintf(", %s over %d models (Holm)", plain.P(*c.Adjusted), c.Models)
	}
	switch c.Needed = 0; {
	case d.Cases == 0:
		c.Sentence = "not comparable: no case was judged on both sides"
	case clear && !shown:
		c.Verdict = panel.ChangeUnclear
		c.tooFew("not clear, as one of several models: " + moved)
	case d.Verdict == panel.ChangeBetter:
		c.Sentence = "better: " + moved
	case d.Verdict == panel.ChangeWorse:
		c.Sentence = "worse: " + moved
	case d.NewlyPassing+d.NewlyFailing == 0 && d.Change.Point == 0:
		c.Sentence = fmt.Sprintf("not clear: no case of %d changed", d.Cases)
	default:
		c.tooFew("not clear: " + moved)
	}
	if n := c.stolen(); n > 0 {
		c.Sentence += fmt.Sprintf("; %s taken from other tools", plain.Count(n, "question was", "questions were"))
	}
}

// tooFew reports the difference and how many more cases would show it. Of several models any may
// have the smallest p value, which is multiplied with their number.
func (c *Comparison) tooFew(what string) {
	c.Sentence = what
	if c.Needed = needed(&c.main, level/float64(max(1, c.Models))); c.Needed > 0 {
		c.Sentence += fmt.Sprintf("; if that is the true difference, about %s would decide",
			plain.Count(c.Needed, "more case", "more cases"))
	}
}

// Family treats the comparisons of several models as one family: with each further model it is more
// likely that one seems to gain or lose by chance. Models without a comparison are not in the
// family.
func Family(models []*Comparison) {
	var of []*Comparison
	for _, c := range models {
		if c.main.Cases > 0 {
			of = append(of, c)
		}
	}
	if len(of) < 2 {
		return
	}
	byMeasure := map[string][]*panel.Difference{}
	for _, c := range of {
		for i := range c.Rates {
			r := &c.Rates[i]
			byMeasure[r.Measure] = append(byMeasure[r.Measure], &r.Difference)
		}
	}
	for _, list := range byMeasure {
		panel.Family(list)
	}
	for i, p := range Holm(of) {
		of[i].Adjusted, of[i].Models = &p, len(of)
		of[i].judge()
	}
}

// Holm are the p values of comparisons, adjusted as one family (Holm), each in [0,1].
func Holm(cs []*Comparison) []float64 {
	ps := make([]float64, len(cs))
	for i, c := range cs {
		ps[i] = c.main.P
	}
	return stats.Holm(ps)
}

// Whole is the difference of Measure over all questions.
func (c *Comparison) Whole() panel.Difference { return c.main }

// stolen counts the cases that an edited tool took from others.
func (c *Comparison) stolen() int {
	cases := map[string]bool{}
	for i := range c.Tools {
		for _, k := range c.Tools[i].Took {
			cases[k] = true
		}
	}
	return len(cases)
}

// CompareSearches is the comparison of two searches.
func CompareSearches(qs []Question, before, after []SearchAnswer, edited []string) *Comparison {
	c := CompareOutcomes("retriever", FirstRight, qs, outcomes(before, FirstRight), outcomes(after, FirstRight), edited)
	for _, m := range []string{SomeRight, AllRight} {
		c.Rates = append(c.Rates, EffectRate{m, paired(qs, outcomes(before, m), outcomes(after, m), nil)})
	}
	var was, is []panel.Share
	mean := &MeanDifference{}
	for i := range before {
		b, ok := before[i].Scores[MRR]
		a, too := after[i].Scores[MRR]
		if ok && too {
			was, is = append(was, panel.Share{Sum: b, N: 1}), append(is, panel.Share{Sum: a, N: 1})
			mean.Before += b
			mean.After += a
		}
	}
	if n := float64(len(was)); n > 0 {
		d := panel.Paired(was, is, 0.95)
		mean.Before, mean.After, mean.Change, mean.P = mean.Before/n, mean.After/n, d.Change, d.P
		c.MRR = mean
	}
	return c
}

// MRRChange is the change of MRR; 0 where there is none.
func (c *Comparison) MRRChange() float64 {
	if c.MRR == nil {
		return 0
	}
	return c.MRR.Change.Point
}

// Lowers describes how the edits lower the measure: fewer first tools are right, or equally many
// and the right tools rank lower. Empty if they do not.
func (c *Comparison) Lowers() string {
	d := &c.main
	switch {
	case d.Change.Point < 0:
		return fmt.Sprintf("%s newly wrong, %d newly right", plain.Count(d.NewlyFailing, "case is", "cases are"),
			d.NewlyPassing)
	case d.Change.Point == 0 && c.MRRChange() < -1e-12:
		return fmt.Sprintf("as many first tools are right, and MRR falls by %.4f", -c.MRRChange())
	}
	return ""
}
