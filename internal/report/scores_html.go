// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	_ "embed" // the page's file
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

//go:embed sheet.html
var sheetPageHTML string

// Limits of the page; the rest is counted on it.
const (
	maxPageSlices   = 400
	maxPageTools    = 25
	maxPageProblems = 100
)

// ScoresHTML writes one self-contained page without a script: no request leaves it,
// and a strict content policy allows only its own style.
func ScoresHTML(w io.Writer, v *ScoresView) error {
	t, err := template.New("sheet").Funcs(template.FuncMap{
		"clean": plain.Clean, "line": plain.Line, "thousands": plain.Thousands, "percent": plain.Percent,
		"amount": plain.Amount, "found": plain.FindingCount,
		"lines": plain.Lines, "bar": plain.RateBar, "mark": mark, "good": good,
		"differs": func() string { return sheetDiffers }, "p": plain.P,
		"shared": func(s panel.Slice) []plain.Shared { a, b := sheetSteps(&s); return sharedNotes(slices.Concat(a, b)) },
		"steps":  func(s panel.Slice) [][]row { a, b := sheetSteps(&s); return [][]row{a, b} },
	}).Parse(sheetPageHTML)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	p := &sheetPage{ScoresView: v, CSS: template.CSS(plain.Style)}
	p.Policy = fmt.Sprintf("default-src 'none'; style-src %s; base-uri 'none'; form-action 'none'",
		plain.Digest(plain.Style))
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// sheetPage is the data of the template.
type sheetPage struct {
	*ScoresView
	CSS    template.CSS
	Policy string
}

// Title of the page.
func (p *sheetPage) Title() string { return strings.Join(p.Files, ", ") }

// Sentence is the result in one line.
func (p *sheetPage) Sentence() string { return p.sentence() }

// Text is an example's trace.
func (p *sheetPage) Text(e panel.Example) string { return p.excerpt(e) }

// Listed are the problems that the page shows.
func (p *sheetPage) Listed() []string {
	var out []string
	for i, x := range p.Problems {
		if i == maxPageProblems {
			break
		}
		out = append(out, plain.Line(fmt.Sprintf("%s:%d: %s", x.Position.File, x.Position.Line, x.Message)))
	}
	return out
}

// SliceTable is the table of a target's slices.
type SliceTable struct {
	Titles []string
	Rows   []ScoresSliceRow
	More   int
}

// ScoresSliceRow is one slice.
type ScoresSliceRow struct {
	Name  string
	Tasks int
	Cells []*panel.Metric
}

// Slices of a target.
func (p *sheetPage) Slices(t *panel.TargetPanel) SliceTable {
	out := SliceTable{More: max(0, len(t.Slices)-maxPageSlices)}
	names := sliced(t)
	for _, n := range names {
		out.Titles = append(out.Titles, t.Overall.Metric(n).Title)
	}
	for i := range t.Slices[:min(len(t.Slices), maxPageSlices)] {
		s := &t.Slices[i]
		r := ScoresSliceRow{Name: plain.Line(s.Key) + "=" + plain.Line(s.Value), Tasks: s.Cases}
		for _, n := range names {
			r.Cells = append(r.Cells, s.Metric(n))
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// Matrix is the confusion of tools: rows are expected, columns called.
type Matrix struct {
	Labels []string
	Rows   []MatrixRow
	More   int
}

// MatrixRow is one expected tool.
type MatrixRow struct {
	Label string
	Cells []MatrixCell
}

// MatrixCell counts calls; Depth is their share of the row, 0 to 100.
type MatrixCell struct {
	N, Depth int
	Right    bool
}

// Confusion of a target: the tools that are confused most, at most 25.
func (p *sheetPage) Confusion(t *panel.TargetPanel) Matrix {
	var m Matrix
	index := map[string]int{}
	add := func(name string) {
		if _, ok := index[name]; ok {
			return
		}
		if len(m.Labels) == maxPageTools {
			m.More++
			return
		}
		index[name] = len(m.Labels)
		m.Labels = append(m.Labels, name)
	}
	wrong := confused(t)
	for _, c := range wrong {
		add(c.Expected)
		add(c.Called)
	}
	if len(wrong) == 0 {
		return Matrix{}
	}
	grid := make([][]int, len(m.Labels))
	for i := range grid {
		grid[i] = make([]int, len(m.Labels))
	}
	for _, c := range t.Confusion {
		i, ok := index[c.Expected]
		j, too := index[c.Called]
		if ok && too {
			grid[i][j] += c.N
		}
	}
	for i, r := range grid {
		total := 0
		for _, n := range r {
			total += n
		}
		if total == 0 {
			continue
		}
		row := MatrixRow{Label: plain.Line(m.Labels[i])}
		for j, n := range r {
			row.Cells = append(row.Cells, MatrixCell{N: n, Depth: (100*n + total - 1) / total, Right: i == j})
		}
		m.Rows = append(m.Rows, row)
	}
	for i := range m.Labels {
		m.Labels[i] = plain.Line(m.Labels[i])
	}
	return m
}
