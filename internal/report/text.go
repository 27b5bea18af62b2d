// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"math"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
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

// rate writes a share with its interval: "82.0 % [68.6–91.4]".
func rate(iv stats.Interval) string {
	switch {
	case !iv.Defined():
		return "–"
	case !iv.Usable():
		return plain.Percent(iv.Point) + " [no interval]"
	}
	return fmt.Sprintf("%s [%s–%s]", plain.Percent(iv.Point), plain.Decimals(iv.Lower), plain.Decimals(iv.Upper))
}

// change writes a difference of shares in percentage points.
func change(iv stats.Interval) string {
	if !iv.Defined() {
		return "–"
	}
	s := fmt.Sprintf("%+.1f pp", 100*iv.Point)
	if !iv.Usable() {
		return s + " [no interval]"
	}
	return fmt.Sprintf("%s [%+.1f, %+.1f]", s, 100*iv.Lower, 100*iv.Upper)
}

// amount writes a metric of any unit with its interval.
func amount(m *panel.Metric) string {
	if m == nil || !m.Interval.Defined() {
		return "–"
	}
	if m.Unit == panel.UnitRate {
		return rate(m.Interval)
	}
	one := func(x float64) string { return unit(m.Unit, x) }
	iv := m.Interval
	s := one(iv.Point)
	if iv.Status == stats.StatusCensored {
		s = "≥ " + s
	}
	if iv.Status == stats.StatusSingleCluster {
		return s + " [no interval]"
	}
	lo, hi := one(0), "∞"
	if !math.IsInf(iv.Lower, -1) {
		lo = one(iv.Lower)
	}
	if !math.IsInf(iv.Upper, 1) {
		hi = one(iv.Upper)
	}
	// "512 ms [420–642]": the unit once where all three share it.
	if u := suffix(s); u != "" && suffix(lo) == u && (hi == "∞" || suffix(hi) == u) {
		lo, hi = strings.TrimSuffix(lo, u), strings.TrimSuffix(hi, u)
	}
	return s + " [" + lo + "–" + hi + "]"
}

// suffix is the unit after the number, with the space before it.
func suffix(s string) string {
	for _, u := range []string{" ms", " s"} {
		if strings.HasSuffix(s, u) && !strings.Contains(s, " min ") {
			return u
		}
	}
	return ""
}

func unit(u panel.Unit, x float64) string {
	switch u {
	case panel.UnitMS:
		return plain.Millis(x)
	case panel.UnitUSD:
		return plain.Dollars(x)
	case panel.UnitTokens:
		return plain.Thousands(int(math.Round(x)))
	}
	return plain.Percent(x)
}

// cost of a slice; unknown prices are never counted as 0.
func cost(u panel.Usage) string {
	switch {
	case u.CostKnown == 0 && u.InputTokens+u.OutputTokens == 0:
		return "–"
	case u.CostKnown == 0:
		return "unknown"
	case u.CostUnknown > 0:
		return "≥ " + plain.Dollars(u.CostUSD)
	}
	return plain.Dollars(u.CostUSD)
}

// title of an error class.
func className(c string) string { return strings.ReplaceAll(c, "_", " ") }

// question is the last thing the user said.
func question(c *callvet.Case) string {
	for i := len(c.Input) - 1; i >= 0; i-- {
		if c.Input[i].Role == callvet.RoleUser {
			return c.Input[i].Content
		}
	}
	return c.Description
}

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
	return plain.Line(c.Tool) + "(" + args + ")"
}
