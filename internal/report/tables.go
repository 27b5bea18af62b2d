// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// Least widths of the first column, in terminal columns: next to important columns and next to all
// others.
const (
	leastLabel = 16
	fairLabel  = 32
)

// width of a column in terminal columns.
func (t *Table) width(col int) int {
	w := lipgloss.Width(t.Columns[col].Title)
	for _, r := range t.Rows {
		w = max(w, lipgloss.Width(r[col]))
	}
	return w
}

// empty reports whether all cells of a column are empty.
func (t *Table) empty(col int) bool {
	return !slices.ContainsFunc(t.Rows, func(r []string) bool { return r[col] != "–" })
}

// grid draws a table that fits the width: first the labels, cut in the middle where they must be,
// then as many columns as have room. It returns the titles of the columns left out, and whether a
// label was cut.
func (s *screen) grid(t *Table) (dropped []string, cut bool) {
	width := s.width
	if s.opt.Width <= 0 { // a file or a log has no width: everything is shown
		width = math.MaxInt
	}
	natural := t.width(0)
	keep := make([]bool, len(t.Columns))
	used := 0
	for rank := range maxRank + 1 {
		least := min(natural, fairLabel)
		if rank < 2 {
			least = min(natural, leastLabel)
		}
		for i, c := range t.Columns {
			limit := width
			if c.quiet { // it has no data
				limit = s.width
			}
			if w := 2 + t.width(i); i > 0 && c.Rank == rank && !t.empty(i) && (rank == 0 || least+used+w <= limit) {
				keep[i], used = true, used+w
			}
		}
	}
	shown := Table{Columns: t.Columns[:1:1], Rows: make([][]string, len(t.Rows))}
	room := max(min(natural, leastLabel), width-used)
	for i, r := range t.Rows {
		shown.Rows[i] = []string{middle(r[0], room)}
	}
	for i, c := range t.Columns[1:] {
		switch i++; {
		case keep[i]:
			shown.Columns = append(shown.Columns, c)
			for k, r := range t.Rows {
				shown.Rows[k] = append(shown.Rows[k], r[i])
			}
		case !c.quiet && !t.empty(i):
			dropped = append(dropped, c.Title)
		}
	}
	s.draw(&shown)
	return dropped, room < natural
}

// maxLegend bounds how many cut names are printed in full below a table.
const maxLegend = 50

// maxRank is the rank of the least important columns.
const maxRank = 6

func (s *screen) draw(t *Table) {
	total := -2
	width := make([]int, len(t.Columns))
	for i := range width {
		width[i] = t.width(i)
		total += 2 + width[i]
	}
	row := func(cells []string) string {
		var b strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", max(0, width[i]-lipgloss.Width(cell)))
			if i > 0 {
				b.WriteString("  ")
			}
			if t.Columns[i].Kind == CountColumn {
				cell, pad = pad, cell
			}
			b.WriteString(cell + pad)
		}
		return strings.TrimRight(b.String(), " ")
	}
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Title
	}
	s.line("%s", s.bold(row(head)))
	s.line("%s", s.dim(strings.Repeat("─", total)))
	for _, r := range t.Rows {
		s.line("%s", row(r))
	}
}

// middle cuts a text to n columns in its middle, where names differ least.
func middle(t string, n int) string {
	if lipgloss.Width(t) <= n || n < 3 {
		return t
	}
	tail, head := (n-1)*3/5, n-1-(n-1)*3/5
	runes := []rune(t)
	end := len(runes)
	for w := 0; end > 0; end-- {
		if w += lipgloss.Width(string(runes[end-1])); w > tail {
			break
		}
	}
	return strings.TrimSuffix(short(t, head+1), "…") + "…" + string(runes[end:])
}

// targetColumn is a column of the table of targets. Columns that hold a rate
// name its metric.
type targetColumn struct {
	title  string
	metric string
	text   func(*panel.Slice) string
	rank   int
}

// targetColumns are the columns of the table of targets.
var targetColumns = []targetColumn{
	{title: "pass", text: func(p *panel.Slice) string {
		return fmt.Sprintf("%s/%s", plain.Thousands(p.Verdicts.Pass), plain.Thousands(p.Verdicts.Pass+p.Verdicts.Fail))
	}},
	{title: "rate", metric: panel.MetricPass},
	{title: "tool", metric: "tool_selection", rank: 1},
	{title: "arguments", metric: "arg_accuracy", rank: 1},
	{title: "overall", metric: "overall", rank: 3},
	{
		title: "errors", rank: 1,
		text: countAndRate(panel.MetricError, func(p *panel.Slice) int { return p.Verdicts.Error }),
	},
	{
		title: "unparseable", rank: 2,
		text: countAndRate(panel.MetricUnparseable,
			func(p *panel.Slice) int { return outcome(p, callvet.OutcomeUnparseable) }),
	},
	{title: "latency p50", metric: panel.MetricLatencyP50, rank: 4},
	{title: "tokens", rank: 4, text: func(p *panel.Slice) string {
		return tokens(p.Usage)
	}},
	{title: "cost", rank: 2, text: func(p *panel.Slice) string { return cost(p.Usage) }},
}

// value is the value of the column with its unit, as text without a table.
func (c *targetColumn) value(p *panel.Slice) string {
	if c.text != nil {
		return c.text(p)
	}
	return plain.Amount(p.Metric(c.metric))
}

// of adds the column for some slices to a table; rates are written without their unit, which is
// in the title.
func (c *targetColumn) of(ps []*panel.Slice, t *Table) {
	col := Column{Title: c.title, Kind: FigureColumn, Rank: c.rank}
	rates := c.text == nil && c.metric != panel.MetricLatencyP50
	if rates {
		col.Title += " %"
	}
	zero := true
	for i, p := range ps {
		cell := c.value(p)
		if rates {
			cell = bare(p.Metric(c.metric))
		}
		zero = zero && cell == "0"
		t.Rows[i] = append(t.Rows[i], cell)
	}
	if zero {
		col.Rank, col.quiet = maxRank, true
	}
	t.Columns = append(t.Columns, col)
}

// bare writes a rate with its interval in percent, without the sign.
func bare(m *panel.Metric) string {
	if m == nil {
		return "–"
	}
	t := strings.Replace(plain.Rate(m.Interval), " %", "", 1)
	for _, whole := range []string{"100", "0"} {
		t = strings.ReplaceAll(" "+strings.NewReplacer("[", "[ ", "–", " – ", "]", " ]").Replace(t)+" ",
			" "+whole+".0 ", " "+whole+" ")
		t = strings.TrimSpace(strings.NewReplacer("[ ", "[", " – ", "–", " ]", "]").Replace(t))
	}
	return t
}

func countAndRate(metric string, n func(*panel.Slice) int) func(*panel.Slice) string {
	return func(p *panel.Slice) string {
		if k := n(p); k > 0 {
			return fmt.Sprintf("%d: %s", k, plain.Amount(p.Metric(metric)))
		}
		return "0"
	}
}

func outcome(p *panel.Slice, o callvet.Outcome) int {
	for _, c := range p.Outcomes {
		if c.Name == string(o) {
			return c.N
		}
	}
	return 0
}

// targetLabel is the name of a target, with a remark if it is a baseline.
func targetLabel(p *panel.TargetPanel) string {
	if p.Floor {
		return plain.Line(p.Name) + " (baseline)"
	}
	return plain.Line(p.Name)
}

// rankOf writes the rank of a target; – where the targets are not ranked.
func rankOf(p *panel.TargetPanel) string {
	if p.Rank == nil {
		return "–"
	}
	return p.Rank.String()
}

// RankNote explains the ranks of a table of targets; "" where it has none.
func (v *View) RankNote() string {
	if v.Panels == nil || v.Panels.RankedBy == "" {
		return ""
	}
	return "The rank by " + v.Panels.RankedBy +
		" is 1 and the number of targets that are significantly better on the same cases (Holm over all pairs); a range where the run does not decide between targets"
}

// targetNumber is the number of a target in tables of several targets.
func targetNumber(i int) string { return fmt.Sprintf("[%d]", i+1) }

func (s *screen) targets(v *View) {
	ps := v.panels()
	if len(ps) == 0 {
		return
	}
	t := Table{Columns: []Column{{Title: "target"}, {Title: "rank", Kind: FigureColumn, Rank: 1}}}
	var all []*panel.Slice
	var names []string
	for i := range ps {
		name := targetLabel(&ps[i])
		if len(ps) > 1 {
			name = targetNumber(i) + " " + name
		}
		names, all = append(names, name), append(all, &ps[i].Overall)
		t.Rows = append(t.Rows, []string{name, rankOf(&ps[i])})
	}
	for i := range targetColumns {
		targetColumns[i].of(all, &t)
	}
	for _, n := range trialNames(ps) {
		c := targetColumn{title: n, metric: n, rank: 5}
		if strings.HasSuffix(n, fmt.Sprintf("%c%d", n[4], v.repeats())) {
			c.rank = 2
		}
		c.of(all, &t)
	}
	s.line("")
	dropped, cut := s.grid(&t)
	if cut {
		s.legend(names)
	}
	s.wrapAs("", "[low–high] is the "+plain.Confidence(v.Panels.Confidence)+
		" interval; repeats of a case are one cluster", s.dim)
	if note := v.RankNote(); note != "" && !slices.Contains(dropped, "rank") {
		s.wrapAs("", note, s.dim)
	}
	s.hiddenColumns(dropped)
	for i := range ps {
		if ps[i].Floor {
			s.wrapAs("", plain.Line(ps[i].Name)+
				" is the baseline: a caller without a language model; any model must beat this", s.dim)
		}
	}
}

// hiddenColumns names the columns that do not fit into a table.
func (s *screen) hiddenColumns(dropped []string) {
	if len(dropped) > 0 {
		s.wrapAs("", strings.Join(dropped, ", ")+" hidden: the terminal is too narrow", s.dim)
	}
}

// legend prints the full names below a table with labels that were cut.
func (s *screen) legend(names []string) {
	if all := strings.Join(names, " · "); lipgloss.Width(all) <= s.width {
		s.line("%s", s.dim(all))
		return
	}
	for _, n := range names[:min(len(names), maxLegend)] {
		s.wrapAs("", n, s.dim)
	}
}

// trialNames are the pass@k and pass^k that the run has.
func trialNames(ps []panel.TargetPanel) []string {
	var out []string
	for _, m := range ps[0].Overall.Metrics {
		if strings.HasPrefix(m.Name, "pass@") || strings.HasPrefix(m.Name, "pass^") {
			out = append(out, m.Name)
		}
	}
	return out
}

// distinct reports whether a slice is worth a line on a terminal: for some target it has more than
// one case, and not all cases.
func distinct(of slicesOf, ps []panel.TargetPanel) bool {
	for i, q := range of {
		if q != nil && q.Cases > 1 && q.Cases < ps[i].Overall.Cases {
			return true
		}
	}
	return false
}

func (s *screen) slices(v *View) {
	ps := v.panels()
	rows := sliceRows(ps)
	var some []slicesOf
	for _, of := range rows {
		if distinct(of, ps) {
			some = append(some, of)
		}
	}
	if len(some) < 2 {
		return
	}
	t := Table{Columns: []Column{{Title: "slice"}, {Title: "cases", Kind: CountColumn}}}
	for _, of := range some {
		t.Rows = append(t.Rows, []string{of.name(), of.cases()})
	}
	if len(ps) == 1 {
		s.heading("By slice")
		only := make([]*panel.Slice, len(some))
		for i, of := range some {
			only[i] = of[0]
		}
		for i := range targetColumns[:6] {
			targetColumns[i].of(only, &t)
		}
	} else {
		s.heading("Pass rate by slice, %")
		for j := range ps {
			t.Columns = append(t.Columns, Column{Title: targetNumber(j), Kind: FigureColumn, Rank: min(j, maxRank)})
			for i, of := range some {
				t.Rows[i] = append(t.Rows[i], bare(of.metric(j, panel.MetricPass)))
			}
		}
	}
	t.grid(s)
	if n := len(rows) - len(some); n > 0 {
		s.wrapAs("", plain.Count(n, "slice", "slices")+" of one case or of all cases left out; a report has them",
			s.dim)
	}
}
