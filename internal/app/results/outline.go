// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/internal/store"
)

// outline has the values for filtering and sorting the attempts of a run, in the order of cases,
// targets and repeats. Reading it takes as long as reading the whole run, so the outlines of
// finished runs are kept.
type outline struct {
	lines []outlined
	ids   []string // of cases, by their position in the suite; "" for those without attempts

	// kept: the outline is cached for later views of the run.
	kept bool

	mu     sync.Mutex
	texts  []caseText // nil: not read yet
	orders map[ordered][]int32

	reading sync.Mutex              // one goroutine reads all attempts, and the others wait
	details atomic.Pointer[details] // nil: not read yet
}

// ordered is an order of attempts, as in AttemptsRequest.
type ordered struct {
	by   string
	down bool
}

// outlined is one attempt.
type outlined struct {
	at          Spot
	verdict     callvet.Verdict
	outcome     callvet.Outcome
	class       callvet.Class
	score, cost float64
	flags       outlineFlags
}

// Spot is a Place in 12 bytes.
type Spot struct{ Case, Target, Repeat int32 }

// SpotOf returns the position of a cell in its run.
func SpotOf(c *callvet.Cell) Spot {
	return Spot{int32(c.Case), int32(c.Target), int32(c.Repeat)} //nolint:gosec // a suite has fewer cases
}

func (p Spot) stored() *store.Place {
	return &store.Place{Case: int(p.Case), Target: int(p.Target), Repeat: int(p.Repeat)}
}

func (p Spot) compare(o Spot) int {
	return cmp.Or(cmp.Compare(p.Case, o.Case), cmp.Compare(p.Target, o.Target), cmp.Compare(p.Repeat, o.Repeat))
}

type outlineFlags uint8

const (
	hasScore outlineFlags = 1 << iota
	hasCost
)

// caseText has the searched texts of a case, redacted.
type caseText struct {
	text string // in lower case
	tags []string
}

const (
	// mostOutlines is how many outlines are kept, mostOutlined the largest number of attempts in
	// one: some 80 bytes each.
	mostOutlines = 4
	mostOutlined = 1 << 20
	// searchedPrompt bounds the searched part of a prompt, in bytes.
	searchedPrompt = 4000
)

// outlines are the outlines of the runs that were shown last; the zero value is empty.
type outlines struct {
	mu   sync.Mutex
	kept []keptOutline // the last one used is the last
}

type keptOutline struct {
	run, state string
	outline    *outline
}

func (o *outlines) get(run, state string) *outline {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.kept, func(k keptOutline) bool { return k.run == run && k.state == state })
	if i < 0 {
		return nil
	}
	k := o.kept[i]
	o.kept = append(slices.Delete(o.kept, i, i+1), k)
	return k.outline
}

func (o *outlines) put(run, state string, made *outline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = slices.DeleteFunc(o.kept, func(k keptOutline) bool { return k.run == run })
	if len(o.kept) >= mostOutlines {
		o.kept = slices.Delete(o.kept, 0, 1)
	}
	o.kept = append(o.kept, keptOutline{run, state, made})
}

// cachedOutline returns the kept outline of a run, else nil. state is the result of State.
func cachedOutline(ctx context.Context, a *app.App, r *Run) (o *outline, state string, err error) {
	if state, err = State(ctx, a, r.Stored.ID); err != nil || state == "" {
		return nil, state, err
	}
	return app.Cached[outlines](a).get(r.Stored.ID, state), state, nil
}

// outlineOf returns the kept outline of a run, or reads it.
func outlineOf(ctx context.Context, a *app.App, r *Run) (*outline, error) {
	made, state, err := cachedOutline(ctx, a, r)
	if err != nil || made != nil {
		return made, err
	}
	out := &outline{ids: make([]string, r.CaseLines.Len())}
	cells, err := r.decided(ctx)
	if err != nil {
		return nil, err
	}
	for c, err := range cells {
		if err != nil {
			return nil, err
		}
		if !r.placed(c) {
			continue
		}
		l := outlined{at: SpotOf(c), verdict: c.Result.Verdict, outcome: c.Trace.Outcome, class: c.Result.Class}
		if i := slices.IndexFunc(c.Result.Scores, isOverall); i >= 0 {
			l.score, l.flags = c.Result.Scores[i].Value, l.flags|hasScore
		}
		if c.Trace.Usage.CostUSD != nil {
			l.cost, l.flags = *c.Trace.Usage.CostUSD, l.flags|hasCost
		}
		if out.ids[c.Case] == "" {
			out.ids[c.Case] = c.Trace.CaseID
		}
		out.lines = append(out.lines, l)
	}
	if state != "" && len(out.lines) <= mostOutlined {
		out.kept = true
		app.Cached[outlines](a).put(r.Stored.ID, state, out)
	}
	return out, nil
}

func isOverall(s callvet.Score) bool { return s.Name == "overall" && s.Scored }

// decided streams the attempts without the parts that take long to read. If a judge decided
// rubrics, it reads whole attempts, with the judge's verdicts.
func (r *Run) decided(ctx context.Context) (iter.Seq2[*callvet.Cell, error], error) {
	opinions, err := r.ReadOpinions(ctx)
	if err != nil || !opinions.Decides() {
		return r.DB.DoneCells(ctx, r.Stored.ID), err
	}
	return func(yield func(*callvet.Cell, error) bool) {
		for row, err := range r.Rows(ctx, store.Filter{Order: store.ByCase}) {
			if !yield(row.Cell, err) {
				return
			}
		}
	}, nil
}

// order returns the positions of the attempts in an order.
func (o *outline) order(by string, down bool) []int32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	which := ordered{by, down}
	if known := o.orders[which]; known != nil {
		return known
	}
	out := make([]int32, len(o.lines))
	for i := range out {
		out[i] = int32(i) //nolint:gosec // a run has fewer attempts
	}
	slices.SortFunc(out, func(x, y int32) int {
		return sortKeyOf(&o.lines[x], by).compare(sortKeyOf(&o.lines[y], by), down)
	})
	if o.orders == nil {
		o.orders = map[ordered][]int32{}
	}
	o.orders[which] = out
	return out
}

// position returns the position of an attempt.
func (o *outline) position(at Spot) (int32, bool) {
	i, known := slices.BinarySearchFunc(o.lines, at, func(l outlined, at Spot) int { return l.at.compare(at) })
	return int32(i), known //nolint:gosec // a run has fewer attempts
}

// placesOf returns the places of attempts.
func (o *outline) placesOf(some []int32) []store.Place {
	at := make([]store.Place, len(some))
	for i, of := range some {
		at[i] = *o.lines[of].at.stored()
	}
	return at
}

// attemptsAt returns the places of the attempts at a case.
func (o *outline) attemptsAt(id string) []store.Place {
	out := []store.Place{}
	for at := range o.ids {
		if o.ids[at] != id {
			continue
		}
		for i := o.first(at); i < len(o.lines) && int(o.lines[i].at.Case) == at; i++ {
			out = append(out, *o.lines[i].at.stored())
		}
	}
	return out
}

// first returns the position of the first attempt at a case.
func (o *outline) first(at int) int {
	return sort.Search(len(o.lines), func(i int) bool { return int(o.lines[i].at.Case) >= at })
}

// textsOf returns the texts of all cases of the suite, redacted by red, by position. They are made
// once for a kept outline; red is the run's redactor.
func (o *outline) textsOf(r *Run, red *redact.Redactor) ([]caseText, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.texts != nil {
		return o.texts, nil
	}
	own := red.Fork()
	texts := make([]caseText, r.CaseLines.Len())
	for i := range texts {
		c, err := r.CaseLines.Case(i)
		if err != nil {
			return nil, err
		}
		texts[i] = caseText{text: strings.ToLower(c.ID + "\n" + askedText(own, c, searchedPrompt)), tags: c.Tags}
	}
	o.texts = texts
	return texts, nil
}

// askedText returns the question of a case, redacted by red, of at most most bytes.
func askedText(red *redact.Redactor, c *callvet.Case, most int) string {
	red.Begin()
	text := red.Text(c.Question())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
