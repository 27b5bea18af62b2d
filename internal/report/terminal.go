// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// TerminalOptions are the options of the terminal faces.
type TerminalOptions struct {
	// Width in columns; 0 is no terminal: tables have all columns, and texts lines of 120.
	Width int
	// Color allows color; it is off for files, pipes and NO_COLOR.
	Color bool
	// MaxFailures is how many failed attempts are shown; 0 means 10, -1 all.
	MaxFailures int
	// NoSlices leaves out the tables per slice.
	NoSlices bool
	// Verbose prints each finding with its evidence, its quick test and its fix.
	Verbose bool
	// Scores lists all scores of an attempt, All its conversation and its exchanges too.
	Scores, All bool
	// Measures adds the table of measures to a run: the most important ones, with All every one.
	Measures bool
	// Brief leaves out the tables of a run if all attempts passed. Verbose shows them.
	Brief bool
}

// screen collects the output.
type screen struct {
	strings.Builder
	opt   TerminalOptions
	width int
}

func newScreen(opt TerminalOptions) *screen {
	s := &screen{opt: opt, width: opt.Width}
	if s.width <= 0 {
		s.width = 120
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

// Terminal writes the result of a run for a person: the verdict, failed attempts, findings, tables
// per target and slice, and the next commands. A failed attempt shows the expected and the actual
// calls.
func Terminal(w io.Writer, v *View, opt TerminalOptions) error {
	s := newScreen(opt)
	if opt.Brief && !opt.Verbose && v.allPassed() {
		s.passed(v)
		_, err := io.WriteString(w, s.String())
		return err
	}
	s.head(v, v.Sentence())
	called := v.Selection == nil || slices.ContainsFunc(v.Targets, func(t callvet.Target) bool { return !t.Selects })
	if called {
		if err := s.failures(v); err != nil {
			return err
		}
		s.findings(v)
	}
	s.targets(v)
	if !opt.NoSlices && called { // the section of decisions has its own
		s.slices(v)
	}
	if opt.Measures {
		s.measures(v)
	}
	if v.Selection != nil {
		if err := SelectionTerminal(s, v.Selection, opt.MaxFailures); err != nil {
			return err
		}
	}
	if called {
		s.open(v)
	}
	if v.Diff != nil {
		s.comparison(v.Diff)
	}
	s.notes(v)
	_, err := io.WriteString(w, s.String())
	return err
}

// head writes the name of the suite, the size of the run, and its outcome.
func (s *screen) head(v *View, sentence string) {
	name := plain.Line(v.Suite.Name)
	if v.Suite.Version != "" {
		name += " " + plain.Line(v.Suite.Version)
	}
	s.line("%s", s.bold(name))
	parts := []string{
		plain.Count(v.Suite.Cases, "case", "cases"), plain.Count(v.Suite.Tools, "tool", "tools"),
		plain.Count(len(v.Targets), "target", "targets"),
	}
	if text := v.RepeatText(); text != "" {
		parts = append(parts, text)
	}
	s.wrapAs("", strings.Join(parts, ", ")+" · run "+plain.Line(v.ID), s.dim)
	s.wrap("", sentence)
}

// allPassed reports whether every planned attempt of a run of one target was judged and passed.
func (v *View) allPassed() bool {
	ps := v.panels()
	if len(ps) != 1 || len(v.Targets) != 1 || len(v.findings()) > 0 || v.Selection != nil || v.Diff != nil {
		return false
	}
	t := ps[0].Overall.Verdicts
	open := v.unevaluated()
	return t.Pass > 0 && t.Fail == 0 && t.Error == 0 && t.NotRun == 0 && open.Assertions == 0 && open.Unjudged == 0
}

// passed writes a run without a failure: its suite and targets, the interval of the rate, time and
// cost, warnings, and the next command.
func (s *screen) passed(v *View) {
	all := &v.panels()[0].Overall
	text := v.Sentence()
	if m := all.Metric(panel.MetricPass); m != nil && m.Interval.Usable() {
		text += fmt.Sprintf(" The true rate may be as low as %s (%s confidence).", plain.Percent(m.Interval.Lower),
			plain.Confidence(v.Panels.Confidence))
	} else {
		text += " So few cases bound no rate."
	}
	var took []string
	for i := range targetColumns {
		c := &targetColumns[i]
		if value := c.value(all); value != "–" &&
			(c.title == "latency p50" || c.title == "tokens" || c.title == "cost") {
			took = append(took, c.title+" "+value)
		}
	}
	if len(took) > 0 {
		text += " Measured: " + strings.Join(took, ", ") + "."
	}
	s.head(v, text)
	for _, w := range v.warnings() {
		s.wrap(s.yellow("warning:")+" ", plain.Line(w))
	}
	if len(v.Next) > 0 {
		s.line("Next: %s", plain.Line(v.Next[0]))
	}
}

func (s *screen) notes(v *View) {
	s.line("")
	s.wrapAs("", v.population(), s.dim)
	if ws := v.warnings(); len(ws) > 0 {
		s.line("")
		for _, w := range ws {
			s.wrap(s.yellow("warning:")+" ", plain.Line(w))
		}
	}
	if v.Panels != nil && v.Panels.Assumed != "" {
		s.line("")
		s.wrapAs("", v.Panels.Assumed, s.dim)
	}
	if len(v.Next) > 0 {
		s.heading("Next")
		for _, n := range v.Next {
			s.line("  %s", plain.Line(n))
		}
	}
}
