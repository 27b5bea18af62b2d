// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
)

// TerminalOptions say how the terminal faces draw.
type TerminalOptions struct {
	// Width in columns; 0 means 100.
	Width int
	// Color allows color; it is off for files, pipes and NO_COLOR.
	Color bool
	// MaxFailures is how many failed attempts are shown; 0 means 10, -1 all.
	MaxFailures int
	// NoSlices leaves out the tables per slice.
	NoSlices bool
}

// screen collects what is drawn.
type screen struct {
	strings.Builder
	opt   TerminalOptions
	width int
}

func newScreen(opt TerminalOptions) *screen {
	s := &screen{opt: opt, width: opt.Width}
	if s.width <= 0 {
		s.width = 100
	}
	s.width = max(40, s.width)
	return s
}

func (s *screen) line(format string, args ...any) { fmt.Fprintf(&s.Builder, format+"\n", args...) }

// paint colors a text where color is allowed.
func (s *screen) paint(st lipgloss.Style, text string) string {
	if !s.opt.Color {
		return text
	}
	return st.Render(text)
}

func (s *screen) bold(t string) string { return s.paint(lipgloss.NewStyle().Bold(true), t) }
func (s *screen) dim(t string) string  { return s.paint(lipgloss.NewStyle().Faint(true), t) }
func (s *screen) red(t string) string {
	return s.paint(lipgloss.NewStyle().Foreground(lipgloss.Red), t)
}
func (s *screen) green(t string) string {
	return s.paint(lipgloss.NewStyle().Foreground(lipgloss.Green), t)
}
func (s *screen) yellow(t string) string {
	return s.paint(lipgloss.NewStyle().Foreground(lipgloss.Yellow), t)
}

// heading starts a part.
func (s *screen) heading(t string) { s.line("\n%s", s.bold(t)) }

// wrap writes a text under a prefix, indented, cut to lines of the width.
func (s *screen) wrap(prefix, text string) {
	s.wrapAs(prefix, text, func(t string) string { return t })
}

// wrapAs is wrap with each line painted.
func (s *screen) wrapAs(prefix, text string, paint func(string) string) {
	indent := strings.Repeat(" ", lipgloss.Width(prefix))
	rest := []rune(text)
	room := max(20, s.width-lipgloss.Width(prefix))
	for first := true; first || len(rest) > 0; first = false {
		cut := len(rest)
		if cut > room {
			cut = room
			if sp := strings.LastIndex(string(rest[:room]), " "); sp > room/2 {
				cut = len([]rune(string(rest[:room])[:sp])) + 1
			}
		}
		p := indent
		if first {
			p = prefix
		}
		s.line("%s%s", p, paint(strings.TrimRight(string(rest[:cut]), " ")))
		rest = rest[cut:]
	}
}

// grid draws a table and splits it where it is too wide: each part repeats the
// first column. right tells whether a column is aligned to the right.
func (s *screen) grid(head []string, rows [][]string, right func(col int) bool) {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = lipgloss.Width(h)
		for _, r := range rows {
			widths[i] = max(widths[i], lipgloss.Width(r[i]))
		}
	}
	widths[0] = min(widths[0], max(16, s.width/2))
	for from := 1; from < len(head); {
		to, used := from, widths[0]
		for to < len(head) && (to == from || used+2+widths[to] <= s.width) {
			used += 2 + widths[to]
			to++
		}
		if from > 1 {
			s.line("")
		}
		s.part(head, rows, from, to, widths[0], right)
		from = to
	}
}

func (s *screen) part(head []string, rows [][]string, from, to, firstWidth int, right func(col int) bool) {
	pick := func(r []string) []string {
		return append([]string{short(r[0], firstWidth)}, r[from:to]...)
	}
	t := table.New().Border(lipgloss.Border{Top: "─", Middle: "─"}).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(true).
		Headers(pick(head)...).Wrap(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			st := lipgloss.NewStyle()
			if col > 0 {
				st = st.PaddingLeft(2)
				if right(from + col - 1) {
					st = st.Align(lipgloss.Right)
				}
			}
			if row == table.HeaderRow && s.opt.Color {
				st = st.Bold(true)
			}
			return st
		})
	for _, r := range rows {
		t.Row(pick(r)...)
	}
	for l := range strings.SplitSeq(strings.TrimRight(t.String(), "\n"), "\n") {
		s.line("%s", strings.TrimRight(l, " "))
	}
}

// Terminal writes the result of a run for a person: tables per target and
// slice, failed attempts with what was expected beside what came, and the next
// commands.
func Terminal(w io.Writer, v *View, opt TerminalOptions) error {
	s := newScreen(opt)
	s.head(v)
	s.targets(v)
	if !opt.NoSlices {
		s.slices(v)
	}
	if err := s.failures(v); err != nil {
		return err
	}
	if v.Diff != nil {
		s.comparison(v.Diff)
	}
	s.notes(v)
	_, err := io.WriteString(w, s.String())
	return err
}

func (s *screen) head(v *View) {
	name := line(v.Suite.Name)
	if v.Suite.Version != "" {
		name += " " + line(v.Suite.Version)
	}
	s.line("%s", s.bold(name))
	s.wrapAs("", fmt.Sprintf("%s, %s, %s%s · run %s", count(v.Suite.Cases, "case", "cases"),
		count(v.Suite.Tools, "tool", "tools"), count(len(v.Targets), "target", "targets"), repeatText(v.repeats()), line(v.ID)), s.dim)
	s.wrap("", v.Sentence())
}

func repeatText(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", %d repeats", n)
}

// targetColumns are the columns of the table of targets.
var targetColumns = []struct {
	title string
	text  func(*panel.Slice) string
}{
	{"pass", func(p *panel.Slice) string {
		return fmt.Sprintf("%s/%s", thousands(p.Verdicts.Pass), thousands(p.Verdicts.Pass+p.Verdicts.Fail))
	}},
	{"rate", metricText(panel.MetricPass)},
	{"tool", metricText("tool_selection")},
	{"arguments", metricText("arg_accuracy")},
	{"overall", metricText("overall")},
	{"errors", countAndRate(panel.MetricError, func(p *panel.Slice) int { return p.Verdicts.Error })},
	{"unparseable", countAndRate(panel.MetricUnparseable, func(p *panel.Slice) int { return outcome(p, callvet.OutcomeUnparseable) })},
	{"p50", metricText(panel.MetricLatencyP50)},
	{"tokens", func(p *panel.Slice) string {
		if p.Usage.InputTokens+p.Usage.OutputTokens == 0 {
			return "–"
		}
		return thousands(p.Usage.InputTokens + p.Usage.OutputTokens)
	}},
	{"cost", func(p *panel.Slice) string { return cost(p.Usage) }},
}

func metricText(name string) func(*panel.Slice) string {
	return func(p *panel.Slice) string { return amount(p.Metric(name)) }
}

func countAndRate(metric string, n func(*panel.Slice) int) func(*panel.Slice) string {
	return func(p *panel.Slice) string {
		if k := n(p); k > 0 {
			return fmt.Sprintf("%d: %s", k, amount(p.Metric(metric)))
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

// targetLabel names a target and says what is special about it.
func targetLabel(p *panel.TargetPanel) string {
	if p.Floor {
		return line(p.Name) + " (floor)"
	}
	return line(p.Name)
}

func (s *screen) targets(v *View) {
	ps := v.panels()
	if len(ps) == 0 {
		return
	}
	head := []string{"target"}
	for _, c := range targetColumns {
		head = append(head, c.title)
	}
	extra := trialNames(ps)
	head = append(head, extra...)
	var rows [][]string
	for i := range ps {
		r := []string{targetLabel(&ps[i])}
		for _, c := range targetColumns {
			r = append(r, c.text(&ps[i].Overall))
		}
		for _, n := range extra {
			r = append(r, amount(ps[i].Overall.Metric(n)))
		}
		rows = append(rows, r)
	}
	s.line("")
	s.grid(head, rows, func(int) bool { return false })
	s.wrapAs("", fmt.Sprintf("[low–high] is the %g %% interval; repeats of a case are one cluster", 100*v.Panels.Confidence), s.dim)
	for i := range ps {
		if ps[i].Floor {
			s.wrapAs("", line(ps[i].Name)+" is the floor: a caller without a language model; any model must beat this", s.dim)
		}
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

func (s *screen) slices(v *View) {
	ps := v.panels()
	if len(ps) == 0 || len(ps[0].Slices) == 0 {
		return
	}
	s.heading("By slice")
	if len(ps) == 1 {
		var rows [][]string
		for i := range ps[0].Slices {
			p := &ps[0].Slices[i]
			r := []string{line(p.Key) + "=" + line(p.Value), thousands(p.Cases)}
			for _, c := range targetColumns[:6] {
				r = append(r, c.text(p))
			}
			rows = append(rows, r)
		}
		head := []string{"slice", "cases"}
		for _, c := range targetColumns[:6] {
			head = append(head, c.title)
		}
		s.grid(head, rows, func(c int) bool { return c == 1 })
		return
	}
	head := []string{"slice", "cases"}
	for i := range ps {
		head = append(head, short(targetLabel(&ps[i]), 28))
	}
	var rows [][]string
	for i := range ps[0].Slices {
		p := &ps[0].Slices[i]
		r := []string{line(p.Key) + "=" + line(p.Value), thousands(p.Cases)}
		for j := range ps {
			r = append(r, sliceRate(&ps[j], p.Key, p.Value))
		}
		rows = append(rows, r)
	}
	s.grid(head, rows, func(c int) bool { return c == 1 })
}

func sliceRate(p *panel.TargetPanel, key, value string) string {
	for i := range p.Slices {
		if q := &p.Slices[i]; q.Key == key && q.Value == value {
			return amount(q.Metric(panel.MetricPass))
		}
	}
	return "–"
}

// maxScan bounds how many failed attempts are looked at to choose some.
const maxScan = 5000

func (s *screen) failures(v *View) error {
	limit, each := s.opt.MaxFailures, 3
	switch {
	case limit == 0:
		limit = 10
	case limit < 0:
		limit, each = maxScan, maxScan
	}
	groups, rest, err := sampleFailures(v, each, limit, maxScan)
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return nil
	}
	s.heading("What failed")
	for _, g := range groups {
		s.line("\n%s", s.bold(className(g.Class))+s.dim(fmt.Sprintf("  %s", count(g.N, "attempt", "attempts"))))
		for i, r := range g.Rows {
			s.failure(v, r, g.Repeats[i])
		}
	}
	if rest > 0 {
		s.line("\n… and %s more: callvet show %s", thousands(rest), line(v.ID))
	}
	return nil
}

func (s *screen) failure(v *View, r Row, more int) {
	word, paint := "FAIL", s.red
	if verdictOf(r) == callvet.VerdictError {
		word, paint = "ERROR", s.yellow
	}
	title := fmt.Sprintf("  %s  %s", paint(word), s.bold(attemptName(r, v.repeats())))
	if len(v.Targets) > 1 {
		title += "  " + line(v.targetName(r.Cell.Target))
	}
	s.line("%s%s", title, s.dim(alike(more)))
	if q := line(question(r.Case)); q != "" {
		s.line("        %s", s.dim("“"+short(q, s.width-12)+"”"))
	}
	if b := because(r); b != "" {
		s.wrap("        ", b)
	}
	s.callDiffs(r, false)
	for _, a := range failedAssertions(&r.Cell.Result) {
		s.wrap("        "+s.red("!")+" ", assertionText(a))
	}
	if m := repairs(&r.Cell.Trace); len(m) > 0 {
		s.line("        repaired before scoring: %s", strings.Join(m, ", "))
	}
	if len(r.Cell.Trace.Calls()) == 0 && r.Cell.Trace.Answer != "" {
		s.line("        answered: %s", short(line(r.Cell.Trace.Answer), s.width-18))
	}
}

// alike tells of further repeats that a shown attempt stands for.
func alike(more int) string {
	if more == 0 {
		return ""
	}
	return fmt.Sprintf("  (and %s)", count(more, "other repeat", "other repeats"))
}

func assertionText(a callvet.Assertion) string {
	t := line(a.Name)
	if a.Expected != "" || a.Actual != "" {
		t += fmt.Sprintf(": expected %s, got %s", orNothing(a.Expected), orNothing(a.Actual))
	}
	return t
}

func orNothing(s string) string {
	if s = line(s); s != "" {
		return s
	}
	return nothing
}

// callDiffs draws expected beside actual; equal arguments only when all is set.
func (s *screen) callDiffs(r Row, all bool) {
	for _, d := range diffs(r) {
		s.line("        %s", d.Title)
		for _, l := range d.Lines {
			if l.Mark == "=" && !all && l.Note == "" {
				continue
			}
			mark := s.red(l.Mark)
			if l.Mark == "=" {
				mark = s.green(l.Mark)
			}
			s.wrap(fmt.Sprintf("          %s ", mark), diffText(l))
		}
		for _, v := range d.Violations {
			s.wrap("          "+s.red("!")+" ", "schema "+v)
		}
		if d.Note != "" {
			s.wrap("          ", d.Note)
		}
	}
}

func diffText(l diffLine) string {
	t := fmt.Sprintf("%s: expected %s, got %s", l.Path, l.Expected, l.Actual)
	if l.Mark == "=" {
		t = fmt.Sprintf("%s: %s", l.Path, l.Actual)
	}
	var extra []string
	for _, x := range []string{l.Rule, l.Note} {
		if x != "" {
			extra = append(extra, x)
		}
	}
	if len(extra) > 0 {
		t += "  (" + strings.Join(extra, "; ") + ")"
	}
	return t
}

func (s *screen) notes(v *View) {
	if ws := v.warnings(); len(ws) > 0 {
		s.line("")
		for _, w := range ws {
			s.wrap(s.yellow("warning:")+" ", line(w))
		}
	}
	if len(v.Next) > 0 {
		s.heading("Next")
		for _, n := range v.Next {
			s.line("  %s", line(n))
		}
	}
}
