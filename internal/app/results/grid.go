// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/redact"
	"github.com/callvet/callvet/panel"
)

// GridRequest requests a part of the grid of a run: its cases × its targets. A filter without a
// value matches all cases.
type GridRequest struct {
	Run string `json:"run"`
	// Targets are the columns, by name; none: all. The filters use only these targets.
	Targets []string `json:"targets,omitempty"`
	// Verdicts match cases with such an attempt, Disagree matches cases with different results of
	// the targets.
	Verdicts []callvet.Verdict `json:"verdicts,omitempty"`
	Disagree bool              `json:"disagree,omitempty"`
	Tags     []string          `json:"tags,omitempty"`
	// Search is a part of the id or of the prompt, case-insensitive.
	Search string `json:"search,omitempty"`
	// After is Next of the page before; "": the first page. Limit is from 1 to 200; 0 is 50.
	After string `json:"after,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

// MaxGrid bounds a page of the grid.
const MaxGrid = 200

// shownPrompt bounds the beginning of a prompt in the grid, in bytes.
const shownPrompt = 240

// Grid is a part of the grid of a run.
type Grid struct {
	Targets []GridTarget `json:"targets" nullable:"false"`
	Repeats int          `json:"repeats" doc:"attempts that a cell has at most when the run is over: a case may have its own number"`
	Items   []GridRow    `json:"items" nullable:"false"`
	Total   int          `json:"total" doc:"cases that the filters let through"`
	All     int          `json:"all" doc:"cases of the run"`
	Next    string       `json:"next_cursor,omitempty" doc:"absent on the last page"`
}

// GridTarget is a column.
type GridTarget struct {
	Name  string `json:"name"`
	Floor bool   `json:"floor,omitempty" doc:"an offline target that every model should beat"`
}

// GridRow is a case.
type GridRow struct {
	Case   string   `json:"case"`
	Prompt string   `json:"prompt" doc:"the question of the case, or its beginning"`
	Tags   []string `json:"tags" nullable:"false"`
	// Cells are in the order of the targets.
	Cells []GridCell `json:"cells" nullable:"false" doc:"one for each target, in their order"`
}

// GridCell has the results of the attempts of a target at a case.
type GridCell struct {
	panel.Verdicts
	Score  *float64 `json:"score" doc:"mean of the overall scores, from 0 to 1; null where nothing is scored"`
	Scored int      `json:"scored" doc:"attempts that the score is of"`
	// Repeat is the attempt to open first.
	Repeat int           `json:"repeat" doc:"the attempt to open: the first that did not pass, else the first"`
	Class  callvet.Class `json:"class,omitempty" doc:"the class of the error of that attempt"`
}

// add counts an attempt.
func (c *GridCell) add(l *outlined) {
	passed := c.Fail+c.Error+c.NotRun == 0
	if first := c.Pass == 0 && passed; first || passed && l.verdict != callvet.VerdictPass {
		c.Repeat, c.Class = int(l.at.Repeat), l.class
	}
	switch l.verdict {
	case callvet.VerdictPass:
		c.Pass++
	case callvet.VerdictFail:
		c.Fail++
	case callvet.VerdictError:
		c.Error++
	default:
		c.NotRun++
	}
	if l.flags&hasScore != 0 {
		sum := l.score
		if c.Score != nil {
			sum += *c.Score * float64(c.Scored)
		}
		c.Scored++
		sum /= float64(c.Scored)
		c.Score = &sum
	}
}

func (c *GridCell) has(v callvet.Verdict) bool {
	switch v {
	case callvet.VerdictPass:
		return c.Pass > 0
	case callvet.VerdictFail:
		return c.Fail > 0
	case callvet.VerdictError:
		return c.Error > 0
	}
	return c.NotRun > 0
}

// NewGrid returns a page of the grid of a run, in the order of the suite. It counts callvet's own
// verdicts, and rubrics that a judge decided. A planned attempt that is not stored did not run.
func NewGrid(ctx context.Context, a *app.App, req GridRequest) (*Grid, error) {
	from, err := req.check()
	if err != nil {
		return nil, err
	}
	r, red, err := OpenRedacted(ctx, a, req.Run, nil)
	if err != nil {
		return nil, err
	}
	g, err := r.newGridding(&req)
	if err != nil {
		return nil, err
	}
	o, err := outlineOf(ctx, a, r)
	if err != nil {
		return nil, err
	}
	if len(req.Tags) > 0 || req.Search != "" {
		if g.texts, err = o.textsOf(r, red); err != nil {
			return nil, err
		}
	}
	out := &Grid{Targets: g.targets, Repeats: r.mostRepeats(), Items: []GridRow{}, All: r.Cases()}
	var page []int // cases on the page
	limit := cmp.Or(req.Limit, 50)
	for i := range out.All {
		at := r.positionOf(i)
		if !g.wants(o, at) {
			continue
		}
		out.Total++
		switch {
		case i < from:
		case len(page) < limit:
			page = append(page, at)
		case out.Next == "":
			out.Next = strconv.Itoa(i)
		}
	}
	return out, r.rowsOf(out, g, o, page, red)
}

// positionOf returns the position in the suite of a case of the run.
func (r *Run) positionOf(i int) int {
	if r.Manifest.Cases == nil {
		return i
	}
	return r.Manifest.Cases[i]
}

// rowsOf reads the cases of a page.
func (r *Run) rowsOf(out *Grid, g *gridding, o *outline, page []int, red *redact.Redactor) error {
	own := red.Fork()
	for _, at := range page {
		c, err := r.CaseLines.Case(at)
		if err != nil {
			return err
		}
		row := GridRow{
			Case: c.ID, Prompt: askedText(own, c, shownPrompt), Tags: c.Tags,
			Cells: slices.Clone(g.cells(o, at)),
		}
		if row.Tags == nil {
			row.Tags = []string{}
		}
		out.Items = append(out.Items, row)
	}
	return nil
}

func (q *GridRequest) check() (from int, err error) {
	switch {
	case q.Run == "":
		return 0, app.Wrong("run", "", "which run?")
	case q.Limit < 0 || q.Limit > MaxGrid:
		return 0, app.Wrong("limit", fmt.Sprint(q.Limit), "it is from 1 to %d", MaxGrid)
	}
	if q.After != "" {
		if from, err = strconv.Atoi(q.After); err != nil || from < 0 {
			return 0, app.Wrong("after", "", "it is not {next} of a page")
		}
	}
	return from, oneOf("verdicts", q.Verdicts, callvet.VerdictPass, callvet.VerdictFail, callvet.VerdictError,
		callvet.VerdictNotRun)
}

// gridding makes cells from attempts, case by case.
type gridding struct {
	req     *GridRequest
	targets []GridTarget
	column  []int // of a target of the run; -1: it is not requested
	texts   []caseText
	search  string
	row     []GridCell
	repeats func(at int) int
	// floors: floors are compared, too, because there are no other targets.
	floors bool
}

func (r *Run) newGridding(req *GridRequest) (*gridding, error) {
	wanted, err := r.targetsNamed(req.Targets)
	if err != nil {
		return nil, err
	}
	g := &gridding{req: req, search: strings.ToLower(req.Search), targets: []GridTarget{}, floors: true}
	for i := range r.Manifest.Targets {
		t := &r.Manifest.Targets[i]
		if len(wanted) > 0 && !wanted[i] {
			g.column = append(g.column, -1)
			continue
		}
		g.column = append(g.column, len(g.targets))
		g.targets = append(g.targets, GridTarget{Name: t.Name, Floor: t.Floor})
		g.floors = g.floors && t.Floor
	}
	g.row, g.repeats = make([]GridCell, len(g.targets)), r.Manifest.RepeatsOf
	return g, nil
}

// cells returns the cells of a case; the next call overwrites them.
func (g *gridding) cells(o *outline, at int) []GridCell {
	clear(g.row)
	for i := o.first(at); i < len(o.lines) && int(o.lines[i].at.Case) == at; i++ {
		l := &o.lines[i]
		if column := g.column[l.at.Target]; column >= 0 {
			g.row[column].add(l)
		}
	}
	for i := range g.row {
		c := &g.row[i]
		c.NotRun += max(0, g.repeats(at)-c.Planned()) // an attempt that is not stored
	}
	return g.row
}

// wants reports whether a case matches the filters.
func (g *gridding) wants(o *outline, at int) bool {
	if g.texts != nil {
		t := &g.texts[at]
		if len(g.req.Tags) > 0 && !t.tagged(g.req.Tags) || !strings.Contains(t.text, g.search) {
			return false
		}
	}
	if len(g.req.Verdicts) == 0 && !g.req.Disagree {
		return true
	}
	row := g.cells(o, at)
	if len(g.req.Verdicts) > 0 && !slices.ContainsFunc(g.req.Verdicts, func(v callvet.Verdict) bool {
		return slices.ContainsFunc(row, func(c GridCell) bool { return c.has(v) })
	}) {
		return false
	}
	return !g.req.Disagree || g.differ(row)
}

// differ reports whether two targets passed different shares of their judged attempts. Floors do
// not count if there are other targets: they are expected to fail.
func (g *gridding) differ(row []GridCell) bool {
	var first *GridCell
	for i := range row {
		c := &row[i]
		if c.Pass+c.Fail == 0 || g.targets[i].Floor && !g.floors {
			continue
		}
		if first == nil {
			first = c
		} else if first.Pass*(c.Pass+c.Fail) != c.Pass*(first.Pass+first.Fail) {
			return true
		}
	}
	return false
}
