// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/match"
)

// explain pairs expected with actual calls: the plan's calls in order, then the unexpected calls.
func (w *scratch) explain(planned bool) []callvet.CallMatch {
	out := slices.Grow([]callvet.CallMatch(nil), len(w.fit.match)+len(w.calls))
	for i := range w.fit.match {
		out = append(out, w.explainExpected(i))
	}
	for j := range w.calls {
		if answers(w.fit.match, j) {
			continue
		}
		m := callvet.CallMatch{State: callvet.StateExtra, Expected: -1, Actual: j}
		w.describe(&m, j)
		if w.k.multi != nil && planned && w.k.multi.tolerates(w.k, w.fit.plan, &w.calls[j]) {
			m.Note = note(m.Note, "a prerequisite")
		}
		out = append(out, m)
	}
	return out
}

func (w *scratch) explainExpected(i int) callvet.CallMatch {
	e, j := &w.fit.plan.calls[i], w.fit.match[i]
	m := callvet.CallMatch{State: callvet.StateMissing, Expected: i, Actual: j, Want: e.src.Tools}
	if json.Valid(e.src.Args) { // otherwise New has reported it; a result must stay JSON
		m.WantArgs = e.src.Args
	}
	if j < 0 {
		if e.src.Optional {
			m.Note = "optional"
		}
		return m
	}
	m.State = callvet.StatePartial
	if w.fit.pairs[i].pass {
		m.State = callvet.StateMatched
	}
	w.describe(&m, j)
	a := &w.calls[j]
	if e.args == nil || a.unknown || a.broken {
		return m
	}
	if e.foreign != nil {
		m.Args = e.foreign.Diffs(a.args)
		m.Note = note(m.Note, string(e.foreign.Match(a.src.Tool, a.args)))
		return m
	}
	m.Args = e.args.Diff(a.args)
	return m
}

// describe fills in the actual side.
func (w *scratch) describe(m *callvet.CallMatch, j int) {
	a := &w.calls[j]
	m.Got, m.GotArgs, m.As = w.called[a.at].Tool, a.src.Args, w.countsAs(j)
	switch {
	case a.unknown:
		m.Note = "arguments not recorded"
	case a.broken:
		m.Note = a.src.Unreadable(payload(a.src)) + ": " + match.Clip(payload(a.src))
		m.GotArgs = nil
	}
	if m.As != "" {
		m.Note = note(m.Note, callvet.CountedAs(m.Got, m.As))
	} else {
		m.Note = note(m.Note, w.misnamed(a, m.Want))
	}
	if len(a.src.Repairs) > 0 {
		m.Note = note(m.Note, "repaired: "+strings.Join(a.src.Repairs, ", "))
	}
	if w.k.contract && (!a.valid || !a.checked) {
		m.Violations = a.violations(w.k)
	}
}

// misnamed is the note on a call by a different spelling of the tool's name. It names the offered
// tool, or the expected one where the offered tools are not known.
func (w *scratch) misnamed(a *actual, want []string) string {
	if a.tool != nil {
		return callvet.Misnamed(a.src.Tool, a.tool.src.Name)
	}
	if w.k.tools != nil || slices.Contains(want, a.src.Tool) {
		return ""
	}
	for _, name := range want {
		if n := callvet.Misnamed(a.src.Tool, name); n != "" {
			return n
		}
	}
	return ""
}

func payload(c *callvet.Call) string {
	if c.ArgsRaw != "" {
		return c.ArgsRaw
	}
	return string(c.Args)
}

func note(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func short(raw []byte) string { return match.Clip(string(raw)) }

// argSentence describes the first wrong argument.
func argSentence(tool string, d *callvet.ArgDiff) string {
	switch {
	case d.Actual == nil:
		return tool + ": " + d.Path + " is missing, expected " + short(d.Expected)
	case d.Path == "":
		return tool + ": " + d.Note
	case d.Expected == nil && d.Rule == match.ModeAbsent:
		return tool + ": " + d.Path + " " + d.Note + ", got " + short(d.Actual)
	case d.Expected == nil && d.Note != "":
		return tool + ": " + d.Path + " " + short(d.Actual) + " was " + d.Note
	}
	s := tool + ": " + d.Path + " expected " + short(d.Expected) + ", got " + short(d.Actual)
	if d.Note != "" {
		s += " (" + d.Note + ")"
	}
	return s
}

func violationSentence(tool string, vs []callvet.Violation) string {
	if tool = callvet.ToolName(tool); len(vs) == 0 {
		return tool + ": the arguments break the tool's schema"
	}
	if vs[0].Unknown() {
		return tool + ": it is not known whether the arguments keep the tool's schema: " + vs[0].Message
	}
	s := tool + ": the arguments break the tool's schema: "
	if vs[0].Path != "" {
		s += vs[0].Path + ": "
	}
	s += vs[0].Message
	if n := len(vs) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
