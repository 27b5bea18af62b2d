// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Curve has the results of models with retrieved tools, and with all tools, as the catalog grows.
// A tool is right when the case expects or accepts it.
type Curve struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Run     string `json:"run,omitempty"`
	About   string `json:"about,omitempty"`
	Cases   int    `json:"cases"`
	// Status is how the run ended: "done", or why it has not all attempts.
	Status string `json:"status,omitempty"`
	// Skipped are the sizes at which no model was given all tools.
	Skipped   []int            `json:"too_large_for_all,omitempty"`
	Retrieval []RetrievalPoint `json:"retrieval"`
	Models    []ModelCurve     `json:"models"`
	Pairs     []SweepPair      `json:"pairs,omitempty"`
}

// RetrievalPoint is how often a right tool was among the retrieved ones.
type RetrievalPoint struct {
	Distractors int            `json:"distractors"` // -1: the whole catalog
	Tools       int            `json:"tools"`       // of the largest catalog searched
	Given       int            `json:"given"`       // the largest number of offered tools
	Hit         stats.Interval `json:"hit"`
	hits        attempts
}

// ModelCurve is one model.
type ModelCurve struct {
	Model  string       `json:"model"`
	Points []CurvePoint `json:"points"`
	// TokensPerByte of the tools' JSON is measured: the growth of a prompt's tokens with the tools
	// for the same question. If the model reports no usage, or all prompts have equally many tools,
	// it is assumed, and Measured is false.
	TokensPerByte float64 `json:"tokens_per_byte"`
	Measured      bool    `json:"tokens_measured"`
}

// CurvePoint is one model at one size with the tools of one kind.
type CurvePoint struct {
	Distractors int    `json:"distractors"`
	Given       string `json:"given"` // "retrieved" or "all"
	// Tools is the mean number of tools given.
	Tools float64 `json:"tools"`
	// Right is how often the first call's tool is right, of the attempts judged.
	Right stats.Interval `json:"accuracy"`
	// The attempts judged, by their mistake; the counts add up. Missed: no right tool was
	// offered; Wrong: one was, but another tool was called; Silent: nothing was called;
	// Unreadable: a call that cannot be read. Errors are not judged.
	Hits       int `json:"right"`
	Missed     int `json:"retrieval_missed"`
	Wrong      int `json:"wrong_tool"`
	Silent     int `json:"no_call"`
	Unreadable int `json:"unreadable_call"`
	Errors     int `json:"errors"`
	// PromptTokens is the mean of the model's counts; nil if it reports none. ToolTokens is the
	// part of the tools, by TokensPerByte.
	PromptTokens *float64 `json:"prompt_tokens"`
	ToolTokens   float64  `json:"tool_tokens"`
	// CostUSD is the mean cost of an attempt; nil if a price is unknown.
	CostUSD *float64 `json:"cost_usd"`
	rights  attempts
}

// assumedPerByte are the assumed tokens of a byte of JSON.
const assumedPerByte = 0.25

// attempts are right (1) or wrong (0), by case and by draw and repeat.
type attempts map[string]map[[2]int]float64

func (a attempts) add(of string, draw, repeat int, right bool) {
	if a[of] == nil {
		a[of] = map[[2]int]float64{}
	}
	v := 0.0
	if right {
		v = 1
	}
	a[of][[2]int{draw, repeat}] = v
}

func (a attempts) interval() stats.Interval {
	var c stats.Clusters
	for _, of := range slices.Sorted(maps.Keys(a)) {
		sum := 0.0
		for _, v := range a[of] {
			sum += v
		}
		c.Add(sum, len(a[of]), true)
	}
	return c.Interval(0.95, stats.DefaultRho0)
}

// change compares the cases of both sides.
func (a attempts) change(base attempts) (stats.Interval, float64) {
	var before, after []panel.Share
	for _, of := range slices.Sorted(maps.Keys(a)) {
		b, c := panel.Share{Binary: true}, panel.Share{Binary: true}
		for at, v := range a[of] {
			if was, ok := base[of][at]; ok {
				b.Sum, c.Sum, b.N, c.N = b.Sum+was, c.Sum+v, b.N+1, c.N+1
			}
		}
		before, after = append(before, b), append(after, c)
	}
	d := panel.Paired(before, after, 0.95)
	return d.Change, d.P
}

type pointKey struct {
	size  int
	given string
}

// tallied is a point being summed up.
type tallied struct {
	CurvePoint
	tools, bytes, prompt, cost float64
	n, counted, priced         int
}

// curveReader sums a run up.
type curveReader struct {
	models    []map[pointKey]*tallied
	slopes    []slope
	retrieval map[int]*RetrievalPoint
	cases     map[string]bool
}

// CurveOf sums up the attempts of a run of cases that carry an asked. The error wraps
// callvet.ErrInvalid for any other run.
func CurveOf(v *Answers) (*Curve, error) {
	r := curveReader{
		retrieval: map[int]*RetrievalPoint{}, cases: map[string]bool{},
		models: make([]map[pointKey]*tallied, len(v.Targets)), slopes: make([]slope, len(v.Targets)),
	}
	for i := range r.models {
		r.models[i], r.slopes[i] = map[pointKey]*tallied{}, slope{}
	}
	if err := r.read(v.Attempts); err != nil {
		return nil, err
	}
	out := &Curve{
		Format: "callvet.curve", Version: 1, Run: v.Run, About: v.About, Cases: len(r.cases),
		Status: v.Status,
	}
	for _, size := range sortedSizes(maps.Keys(r.retrieval)) {
		p := r.retrieval[size]
		p.Hit = p.hits.interval()
		out.Retrieval = append(out.Retrieval, *p)
		if !slices.ContainsFunc(r.models,
			func(m map[pointKey]*tallied) bool { return m[pointKey{size, AllRetrieved}] != nil }) {
			out.Skipped = append(out.Skipped, size)
		}
	}
	for i := range v.Targets {
		out.Models = append(out.Models, r.model(i, v.Targets[i]))
	}
	out.compare()
	return out, nil
}

// sortedSizes has the whole catalog last.
func sortedSizes(sizes iter.Seq[int]) []int {
	return slices.SortedFunc(sizes, func(a, b int) int {
		return cmp.Or(cmp.Compare(btoi(a < 0), btoi(b < 0)), cmp.Compare(a, b))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (r *curveReader) read(rows iter.Seq2[Attempt, error]) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		a, err := readAsked(row.Case)
		if err != nil {
			return err
		}
		r.cases[a.Of] = true
		if a.Given == SweepRetrieved {
			p := r.retrieval[a.Size]
			if p == nil {
				p = &RetrievalPoint{Distractors: a.Size, hits: attempts{}}
				r.retrieval[a.Size] = p
			}
			p.Tools, p.Given = max(p.Tools, a.Searched), max(p.Given, a.Tools)
			p.hits.add(a.Of, a.Draw, 0, a.Present)
		}
		key := pointKey{a.Size, a.Given}
		t := r.models[row.Cell.Target][key]
		if t == nil {
			t = &tallied{CurvePoint: CurvePoint{Distractors: a.Size, Given: a.Given, rights: attempts{}}}
			r.models[row.Cell.Target][key] = t
		}
		t.add(&a, row.Case, row.Cell)
		if u := &row.Cell.Trace.Usage; u.Known && u.InputTokens > 0 && judged(row.Cell) {
			r.slopes[row.Cell.Target].add(a.Of, float64(a.Bytes), float64(u.InputTokens))
		}
	}
	return nil
}

func judged(c *callvet.Cell) bool {
	return c.Result.Verdict == callvet.VerdictPass || c.Result.Verdict == callvet.VerdictFail
}

func (t *tallied) add(a *askedCase, c *callvet.Case, cell *callvet.Cell) {
	if !judged(cell) {
		t.Errors++
		return
	}
	calls := cell.Trace.Calls()
	first := len(calls) > 0 && right(c, calls[0].Tool)
	switch {
	case first:
		t.Hits++
	case !a.Present:
		t.Missed++
	case cell.Trace.Outcome == callvet.OutcomeUnparseable:
		t.Unreadable++
	case len(calls) == 0:
		t.Silent++
	default:
		t.Wrong++
	}
	t.rights.add(a.Of, a.Draw, cell.Repeat, first)
	t.n, t.tools, t.bytes = t.n+1, t.tools+float64(a.Tools), t.bytes+float64(a.Bytes)
	if u := &cell.Trace.Usage; u.Known {
		t.counted, t.prompt = t.counted+1, t.prompt+float64(u.InputTokens)
		if u.CostUSD != nil {
			t.priced, t.cost = t.priced+1, t.cost+*u.CostUSD
		}
	}
}

func (r *curveReader) model(i int, name string) ModelCurve {
	m := ModelCurve{Model: name}
	m.TokensPerByte, m.Measured = r.slopes[i].perByte()
	keys := slices.SortedFunc(maps.Keys(r.models[i]), func(a, b pointKey) int {
		return cmp.Or(-cmp.Compare(a.given, b.given), cmp.Compare(btoi(a.size < 0), btoi(b.size < 0)),
			cmp.Compare(a.size, b.size))
	})
	for _, key := range keys {
		t := r.models[i][key]
		p := t.CurvePoint
		p.Right = p.rights.interval()
		if t.n > 0 {
			p.Tools, p.ToolTokens = t.tools/float64(t.n), m.TokensPerByte*t.bytes/float64(t.n)
		}
		if t.counted > 0 {
			mean := t.prompt / float64(t.counted)
			p.PromptTokens = &mean
		}
		if t.priced > 0 && t.priced == t.n {
			mean := t.cost / float64(t.n)
			p.CostUSD = &mean
		}
		m.Points = append(m.Points, p)
	}
	return m
}

// slope holds the prompts of each case: bytes of tools, tokens.
type slope map[string][][2]float64

func (s slope) add(of string, bytes, tokens float64) {
	s[of] = append(s[of], [2]float64{bytes, tokens})
}

// perByte is the least-squares slope within cases, so that the questions' own length
// does not count.
func (s slope) perByte() (float64, bool) {
	xy, xx := 0.0, 0.0
	for _, of := range slices.Sorted(maps.Keys(s)) {
		mx, my, n := 0.0, 0.0, float64(len(s[of]))
		for _, p := range s[of] {
			mx, my = mx+p[0]/n, my+p[1]/n
		}
		for _, p := range s[of] {
			xy, xx = xy+(p[0]-mx)*(p[1]-my), xx+(p[0]-mx)*(p[0]-mx)
		}
	}
	if xx <= 0 || xy <= 0 {
		return assumedPerByte, false
	}
	return xy / xx, true
}

// compare pairs each size with the smallest, of the retriever and of each model with
// tools of one kind, and the tools retrieved with all of them at one size.
func (c *Curve) compare() {
	add := func(of, base, candidate string, b, a attempts) {
		iv, p := a.change(b)
		c.Pairs = append(c.Pairs, SweepPair{Of: of, Baseline: base, Candidate: candidate, Change: iv, P: p})
	}
	for i := 1; i < len(c.Retrieval); i++ {
		add("retrieval", others(c.Retrieval[0].Distractors), others(c.Retrieval[i].Distractors), c.Retrieval[0].hits,
			c.Retrieval[i].hits)
	}
	for i := range c.Models {
		m := &c.Models[i]
		for j := range m.Points {
			p := &m.Points[j]
			first := slices.IndexFunc(m.Points, func(o CurvePoint) bool { return o.Given == p.Given })
			if first != j {
				add(m.Model, m.Points[first].label(), p.label(), m.Points[first].rights, p.rights)
			}
			all := slices.IndexFunc(m.Points,
				func(o CurvePoint) bool { return o.Given == AllRetrieved && o.Distractors == p.Distractors })
			if p.Given == SweepRetrieved && all >= 0 {
				add(m.Model, m.Points[all].label(), p.label(), m.Points[all].rights, p.rights)
			}
		}
	}
	adjust(c.Pairs)
}

func (p *CurvePoint) label() string { return p.Given + " " + others(p.Distractors) }

func others(n int) string {
	if n < 0 {
		return "of the catalogue"
	}
	return fmt.Sprintf("+ %d", n)
}
