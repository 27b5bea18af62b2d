// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"cmp"
	"fmt"

	"charm.land/lipgloss/v2"
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
)

// short cuts a text to at most n columns and shows the cut.
func short(s string, n int) string {
	if n <= 0 || len(s) <= n || lipgloss.Width(s) <= n {
		return s
	}
	w := 0
	for i, r := range s {
		if w += lipgloss.Width(string(r)); w > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// tokens of a slice; unknown usage is never counted as 0.
func tokens(u panel.Usage) string {
	n := u.InputTokens + u.OutputTokens
	switch {
	case n == 0 && u.UsageUnknown > 0:
		return "unknown"
	case n == 0:
		return "–"
	case u.UsageUnknown > 0:
		return "≥ " + plain.Thousands(n)
	}
	return plain.Thousands(n)
}

// cost of a slice; unknown costs are never counted as 0.
func cost(u panel.Usage) string {
	switch {
	case u.CostKnown == 0 && u.CostUnknown == 0 && u.InputTokens+u.OutputTokens == 0:
		return "–"
	case u.CostKnown == 0:
		return "unknown"
	case u.CostUnknown > 0:
		return "≥ " + plain.Dollars(u.CostUSD)
	}
	return plain.Dollars(u.CostUSD)
}

// title of an error class.
func className(c string) string { return panel.Word(c) }

// ending returns the details of how an attempt ended, in addition to its outcome.
func ending(t *callvet.Trace) (out []string) {
	if t.Reason != "" {
		out = append(out, panel.Word(string(t.Reason)))
	}
	if t.Fault != nil {
		out = append(out, panel.Word(plain.Line(string(t.Fault.Kind))))
	}
	for _, n := range t.Notes {
		out = append(out, plain.Line(n))
	}
	return out
}

// question returns the question of the case, or its description if there is none.
func question(c *callvet.Case) string { return cmp.Or(c.Question(), c.Description) }

// attemptName is the case with the repeat where there are several.
func attemptName(r Row, repeats int) string {
	id := plain.Line(r.Case.ID)
	if repeats > 1 {
		id += fmt.Sprintf(" #%d", r.Cell.Repeat+1)
	}
	return id
}

func verdictOf(r Row) callvet.Verdict {
	switch {
	case r.Cell.Trace.Outcome == callvet.OutcomeNotRun:
		return callvet.VerdictNotRun
	case r.Cell.Trace.Outcome == callvet.OutcomeError || r.Cell.Result.Verdict == "":
		return callvet.VerdictError
	}
	return r.Cell.Result.Verdict
}

// because is the reason of an attempt's verdict, from the result or the fault.
func because(r Row) string {
	if s := r.Cell.Result.Reason; s != "" {
		return plain.Line(s)
	}
	if f := r.Cell.Trace.Fault; f != nil {
		return plain.Line(f.Error())
	}
	if s := r.Case.Skip; s != "" && verdictOf(r) == callvet.VerdictNotRun {
		return plain.Line(s)
	}
	return ""
}

// callText writes a call on one line: name({"a":1}).
func callText(c *callvet.Call) string {
	args := plain.Compact(c.Args, "")
	if c.Malformed() {
		args = "unreadable: " + plain.Line(c.ArgsRaw)
	}
	return plain.Line(callvet.ToolName(c.Tool)) + "(" + args + ")"
}

// callRemarks returns the remarks on a call: the source of the answer if it was no mock, the
// decision of the guard, and its error.
func callRemarks(c *callvet.Call) (out []string) {
	if c.Env != "" && c.Env != callvet.EnvMock && !c.Denied() {
		out = append(out, "answered by: "+plain.Line(string(c.Env)))
	}
	for _, r := range c.Guard {
		text := "guard: " + plain.Line(string(r.Action)) + ", " + plain.Line(r.Rule)
		if r.Detail != "" {
			text += ": " + plain.Limited(plain.Line(r.Detail), 400)
		}
		out = append(out, text)
	}
	if c.Error != "" {
		status := string(c.Status)
		if c.Denied() {
			status = "denied"
		}
		out = append(out, "✗ "+plain.Line(status)+": "+plain.Limited(plain.Line(c.Error), 4000))
	}
	return out
}
