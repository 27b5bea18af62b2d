// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/callvet/callvet/internal/report/plain"
)

// Table is a table of a report, built once for every face. Its texts are untrusted, on one line,
// not yet escaped.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string
	// Note is below the table.
	Note string
	// Prose means that cells are sentences, which may be wrapped.
	Prose bool
	// Folded tables are shown in Markdown once a reader opens them.
	Folded bool
}

// Column is one column of a table; cells of a row beyond the columns are not shown.
type Column struct {
	Title string
	Kind  ColumnKind
	// A narrow terminal leaves out the columns of the highest Rank first. Rank 0 is always drawn.
	Rank int
	// quiet columns are left out without a note.
	quiet bool
}

// ColumnKind is the kind of the cells of a column.
type ColumnKind uint8

// The kinds: texts are escaped, figures are written by the program, counts are figures that are
// aligned to the right. Notes are texts that may follow below a row, and their title is shown
// where it is a table on a page.
const (
	TextColumn ColumnKind = iota
	FigureColumn
	CountColumn
	NoteColumn
)

// columns of one kind.
func columns(kind ColumnKind, titles ...string) (out []Column) {
	for _, t := range titles {
		out = append(out, Column{Title: t, Kind: kind})
	}
	return out
}

// texts are columns of texts.
func texts(titles ...string) []Column { return columns(TextColumn, titles...) }

// more cuts a table and counts the rest in its note.
func (t Table) more(most int, what string) Table {
	if n := len(t.Rows) - most; n > 0 {
		t.Rows = t.Rows[:most]
		t.Note = strings.TrimSpace(fmt.Sprintf("… and %d more %s: the report in JSON has all. %s", n, what, t.Note))
	}
	return t
}

// lines are the head and the rows, for a face of aligned text. title puts the table's own title into the head.
func (t *Table) lines(title bool) [][]string {
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		if c.Kind != NoteColumn {
			head[i] = c.Title
		}
	}
	if title {
		head[0] = strings.TrimSuffix(t.Title+": "+head[0], ": ")
	}
	return append([][]string{head}, t.Rows...)
}

// grid draws the table on a terminal, as far as it fits; nothing for a table without rows.
func (t *Table) grid(s *screen) {
	if len(t.Rows) == 0 {
		return
	}
	dropped, _ := s.grid(t)
	s.hiddenColumns(dropped)
	if t.Note != "" {
		s.wrapAs("  ", t.Note, s.dim)
	}
}

// markdown writes the table, and nothing for one without rows.
func (t *Table) markdown(w io.Writer) {
	if len(t.Rows) == 0 {
		return
	}
	var b strings.Builder
	if t.Folded {
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", plain.Markdown(t.Title))
	}
	b.WriteString("|")
	line := "|"
	for i, c := range t.Columns {
		if i == 0 && c.Title == "" {
			c.Title = t.Title
		}
		b.WriteString(" " + plain.Markdown(c.Title) + " |")
		if line += "---|"; c.Kind == CountColumn {
			line = line[:len(line)-1] + ":|"
		}
	}
	b.WriteString("\n" + line + "\n")
	for _, r := range t.Rows {
		b.WriteString("|")
		for i, c := range r {
			switch t.Columns[i].Kind {
			case FigureColumn, CountColumn:
				c = strings.NewReplacer("*", `\*`, "<", "&lt;").Replace(c)
			default:
				c = plain.Markdown(c)
			}
			b.WriteString(" " + c + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	if t.Note != "" {
		fmt.Fprintf(&b, "%s\n\n", plain.Markdown(t.Note))
	}
	if t.Folded {
		b.WriteString("</details>\n\n")
	}
	_, _ = io.WriteString(w, b.String()) // into memory
}

// Aligned writes rows in columns; the first is the head.
func Aligned(b *strings.Builder, rows [][]string) {
	width := widths(rows)
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			line.WriteString("  " + c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
