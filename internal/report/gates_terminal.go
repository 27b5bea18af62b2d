// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// GatesFace writes a report in one form.
type GatesFace func(io.Writer, *gates.Report) error

// GatesByPath returns the face for a file's extension: .md, .xml, .json or .txt.
func GatesByPath(path string) (GatesFace, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".md", ".markdown":
		return GatesMarkdown, nil
	case ".xml", ".junit":
		return GatesJUnit, nil
	case ".json":
		return GatesJSON, nil
	case ".txt", ".text":
		return func(w io.Writer, r *gates.Report) error { return GatesTerminal(w, r, GatesOptions{}) }, nil
	default:
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("choose form of the verdict for %q: unknown extension %q: %w", path, ext,
				callvet.ErrInvalid),
			Hint: "use .md, .xml, .json or .txt",
		}
	}
}

// GatesJSON writes the report as one object.
func GatesJSON(w io.Writer, r *gates.Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // reasons such as upper<threshold
	return e.Encode(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*gates.Report
		Estimates []string `json:"estimates"`
	}{"callvet.gates", 1, r, estimates(r)})
}

// GatesOptions are the options of GatesTerminal.
type GatesOptions struct {
	// Width is the width in columns; 0 means no limit.
	Width int
	Color bool
}

// GatesTerminal writes each verdict with its sentence, the number of tasks that would settle it,
// and the attempts to open. The sentence on the whole is last.
func GatesTerminal(w io.Writer, r *gates.Report, opt GatesOptions) error {
	s := &verdictScreen{screen{opt: TerminalOptions{Color: opt.Color}, width: opt.Width}, severalTargets(r)}
	if r.Subject != "" {
		head := "gates for " + plain.Line(r.Subject)
		if r.Baseline != "" {
			head += ", baseline " + plain.Line(r.Baseline)
		}
		s.wrap("", head)
	}
	for i := range r.Verdicts {
		s.verdict(&r.Verdicts[i])
	}
	for _, p := range r.Populations() {
		s.wrap("", p.Sentence())
	}
	for _, warning := range r.Warnings {
		s.wrap("warning: ", plain.Line(warning))
	}
	for _, note := range r.Notes {
		s.wrap("note: ", plain.Line(note))
	}
	s.line("")
	s.wrap("", plain.Line(r.Sentence))
	if r.Verdict == gate.Inconclusive && !r.Blocks {
		s.wrap("warning: ", lenient)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

const lenient = "not decided; the lenient policy lets the build go on"

type verdictScreen struct {
	screen
	several bool
}

// verdictColumn is where the text of a verdict starts.
const verdictColumn = 14

func (s *verdictScreen) verdict(v *gates.Verdict) {
	word := GateWord(v)
	paint := s.green
	switch v.Verdict {
	case gate.Fail:
		paint = s.red
	case gate.Inconclusive:
		paint = s.yellow
	}
	s.wrap(paint(word)+strings.Repeat(" ", max(1, verdictColumn-len(word))), GateTitle(v, s.several))
	indent := strings.Repeat(" ", verdictColumn)
	s.wrap(indent, plain.Line(v.Sentence))
	if v.Against != "" {
		s.wrap(indent+"baseline: ", plain.Line(v.Against))
	}
	if v.Cure != "" {
		s.wrap(indent+"-> ", plain.Line(v.Cure))
	}
	for _, p := range v.Open {
		s.wrap(indent+"open: ", placeText(p))
	}
	if v.Exploratory != nil && *v.Exploratory < exploratory {
		s.wrap(indent+"note: ", exploratoryText(v))
	}
	if v.Verdict != gate.Pass || asksMore(&v.Gate) {
		for _, n := range v.Notes {
			s.wrap(indent+"note: ", plain.Line(n))
		}
	}
}

// asksMore reports whether a gate has a setting that changes how its numbers are counted. Its
// notes, also for a gate that passed, contain whether this was done.
func asksMore(g *gates.Gate) bool {
	return g.Lost == gates.LostIgnore || g.Correlation == gates.CorrelationMeasured
}

// exploratory is the level below which a slice's difference from the rest is shown.
// Source: Statistics specification, section 16.5.
const exploratory = 0.05

func exploratoryText(v *gates.Verdict) string {
	return fmt.Sprintf(
		"differs from the rest (exploratory, p %.3f after Holm over the values of the key); this decides nothing",
		*v.Exploratory)
}

func placeText(p gates.Place) string {
	s := plain.Line(p.Command)
	if s == "" {
		s = plain.Line(p.Task)
		if p.File != "" && p.Line > 0 {
			s = fmt.Sprintf("%s:%d %s", plain.Line(p.File), p.Line, s)
		}
	}
	if p.Why != "" {
		s += " (" + plain.Line(p.Why) + ")"
	}
	return s
}

// GateWord is the verdict in one word, followed by "soft" where it stops nothing.
func GateWord(v *gates.Verdict) string {
	w := "inconclusive"
	switch v.Verdict {
	case gate.Pass:
		return "passed"
	case gate.Fail:
		w = "failed"
	}
	if v.Gate.Severity == gates.Soft {
		return strings.Replace(w, "inconclusive", "open", 1) + " (soft)"
	}
	return w
}

// GateTitle names a verdict: the gate, its slice and, among several, its target.
func GateTitle(v *gates.Verdict, target bool) string {
	t := v.Gate.Label()
	if s := v.Slice(); s != "" {
		t += " · " + s
	}
	if target && v.Target != "" {
		t += " · " + v.Target
	}
	return plain.Limited(plain.Line(t), 300)
}

func severalTargets(r *gates.Report) bool {
	for i := range r.Verdicts {
		if r.Verdicts[i].Target != r.Verdicts[0].Target {
			return true
		}
	}
	return false
}

// wrap writes a text after a prefix, broken at spaces.
func (s *verdictScreen) wrap(prefix, text string) {
	s.line("%s", hanging(prefix, strings.Repeat(" ", lipgloss.Width(prefix)), text, s.width))
}
