// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// gap is between two columns of a table.
const gap = 2

// table aligns its columns; the first row is the head.
func (t *text) table(rows [][]string) {
	width := widths(rows)
	for n, r := range rows {
		t.row(r, width)
		if n == 0 {
			t.line("%s", strings.Repeat("─", max(0, total(width))))
		}
	}
}

// noted writes a table with notes in its last column. Notes that do not fit into the line follow
// below it, after the columns that do not fit.
func (t *text) noted(rows [][]string) {
	if t.width == 0 || total(widths(rows)) <= t.width {
		t.table(rows)
		return
	}
	last := len(rows[0]) - 1
	figures := without(rows, last)
	t.narrowCounts(figures, " (n_eff", " of ")
	figures, _ = t.fitting(figures)
	t.narrowCounts(figures, " ")
	t.narrowNames(figures)
	width := widths(figures)
	for n, r := range figures {
		t.row(r, width)
		if n == 0 {
			t.line("%s", strings.Repeat("─", min(t.width, total(width))))
			continue
		}
		var notes []string
		for i, c := range rows[n][len(r):] {
			if title := rows[0][len(r)+i]; c != "" && title != "" {
				c = title + ": " + c
			}
			if c != "" {
				notes = append(notes, c)
			}
		}
		if len(notes) > 0 {
			t.line("%s", hanging(noteIndent, noteIndent, strings.Join(notes, "; "), t.width))
		}
	}
}

// narrowCounts cuts the third column, the counts, at one text after the other until the rows fit.
// The rows are changed.
func (t *text) narrowCounts(rows [][]string, texts ...string) {
	for _, from := range texts {
		if total(widths(rows)) > t.width {
			for _, r := range rows {
				r[2], _, _ = strings.Cut(r[2], from)
			}
		}
	}
}

// narrowNames cuts the names, the first column. The rows are changed.
func (t *text) narrowNames(rows [][]string) {
	w := widths(rows)
	if over := total(w) - t.width; over > 0 {
		room := max(leastName, w[0]-over)
		for _, r := range rows {
			if name := []rune(r[0]); len(name) > room {
				r[0] = string(name[:room-1]) + "…"
			}
		}
	}
}

// leastName is how much of a metric's name is shown at least, in columns.
const leastName = 12

// fitting leaves out the last columns that do not fit, and returns their number. The first three
// stay.
func (t *text) fitting(rows [][]string) (out [][]string, left int) {
	out = rows
	for t.width > 0 && len(out[0]) > 3 && total(widths(out)) > t.width {
		out = without(out, len(out[0])-1)
		left++
	}
	return out, left
}

// unmarked shortens the marks of slices, and puts the columns that have one first, if a line has no room for
// all of them.
func (t *text) unmarked(rows [][]string) [][]string {
	if t.width == 0 || total(widths(rows)) <= t.width {
		return rows
	}
	marked := func(column int) bool {
		return slices.ContainsFunc(rows[1:], func(r []string) bool { return strings.ContainsAny(r[column], "◀*") })
	}
	order := make([]int, len(rows[0]))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order[2:], func(a, b int) int {
		if marked(a) == marked(b) {
			return 0
		} else if marked(a) {
			return -1
		}
		return 1
	})
	out := make([][]string, len(rows))
	for i, r := range rows {
		for _, column := range order {
			cell, _, _ := strings.Cut(r[column], " (")
			out[i] = append(out[i], cell)
		}
	}
	return out
}

// known leaves out the columns without a figure in any row, if a line has no room for all columns.
func (t *text) known(rows [][]string) [][]string {
	out := rows
	for i := len(rows[0]) - 1; i > 0 && t.width > 0 && total(widths(rows)) > t.width; i-- {
		if !slices.ContainsFunc(rows[1:], func(r []string) bool { return r[i] != "–" }) {
			out = without(out, i)
		}
	}
	return out
}

// without is a table without a column.
func without(rows [][]string, column int) [][]string {
	var out [][]string
	for _, r := range rows {
		out = append(out, slices.Delete(slices.Clone(r), column, column+1))
	}
	return out
}

func (t *text) row(r []string, width []int) {
	var b strings.Builder
	for i, c := range r {
		b.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+gap))
	}
	t.line("%s", strings.TrimRight(b.String(), " "))
}

// widths are the widths of the columns.
func widths(rows [][]string) []int {
	var out []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(out) {
				out = append(out, 0)
			}
			out[i] = max(out[i], utf8.RuneCountInString(c))
		}
	}
	return out
}

// total is the width of a line.
func total(width []int) int {
	n := -gap
	for _, w := range width {
		n += w + gap
	}
	return n
}

// noteIndent precedes a line that belongs to the row above.
const noteIndent = "    "

// hanging breaks a text between words into lines of at most width columns, 0 for no limit; a longer word has a
// line of its own. The first line begins with a prefix, the others are indented.
func hanging(prefix, indent, s string, width int) string {
	room, used := max(20, width-lipgloss.Width(indent)), 0
	var b strings.Builder
	b.WriteString(prefix)
	for i, word := range strings.Fields(s) {
		n := lipgloss.Width(word)
		switch {
		case i > 0 && width > 0 && used+1+n > room:
			b.WriteString("\n" + indent)
			used = 0
		case i > 0:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
