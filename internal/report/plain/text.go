// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"fmt"
	"math"
	"strings"

	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// Rate writes a share with its interval: "82.0 % [68.6–91.4]"; "–" where it is
// not defined.
func Rate(iv stats.Interval) string {
	switch {
	case !iv.Defined():
		return "–"
	case !iv.Usable():
		return Percent(iv.Point) + " [no interval]"
	}
	return fmt.Sprintf("%s [%s–%s]", Percent(iv.Point), Decimals(iv.Lower), Decimals(iv.Upper))
}

// Confidence writes the two-sided confidence of intervals: "95 %"; 0 is 95 %.
func Confidence(c float64) string {
	if c == 0 {
		c = 0.95
	}
	return ExactPercent(c)
}

// Change writes a difference of shares in percentage points.
func Change(iv stats.Interval) string {
	if !iv.Defined() {
		return "–"
	}
	s := fmt.Sprintf("%+.1f pp", 100*iv.Point)
	if !iv.Usable() {
		return s + " [no interval]"
	}
	return fmt.Sprintf("%s [%+.1f, %+.1f]", s, 100*iv.Lower, 100*iv.Upper)
}

// Relative writes a change as a share of the baseline.
func Relative(iv stats.Interval) string {
	if !iv.Defined() {
		return "–"
	}
	s := fmt.Sprintf("%+.1f %%", 100*iv.Point)
	if !iv.Usable() {
		return s + " [no interval]"
	}
	return fmt.Sprintf("%s [%+.1f, %+.1f]", s, 100*iv.Lower, 100*iv.Upper)
}

// P writes a p value.
func P(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Amount writes a metric of any unit with its interval; "–" for nil and for an undefined one.
func Amount(m *panel.Metric) string {
	if m == nil || !m.Interval.Defined() {
		return "–"
	}
	if m.Unit == panel.UnitRate {
		return Rate(m.Interval)
	}
	iv := m.Interval
	s := Unit(m.Unit, iv.Point)
	if iv.Status == stats.StatusCensored {
		s = "≥ " + s
	}
	if iv.Status == stats.StatusSingleCluster || iv.Lower <= 0 && math.IsInf(iv.Upper, 1) { // no information
		return s + " [no interval]"
	}
	lo, hi := Unit(m.Unit, 0), "∞"
	if !math.IsInf(iv.Lower, -1) {
		lo = Unit(m.Unit, iv.Lower)
	}
	if !math.IsInf(iv.Upper, 1) {
		hi = Unit(m.Unit, iv.Upper)
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

// Unit writes a number in its unit.
func Unit(u panel.Unit, x float64) string {
	switch u {
	case panel.UnitMS:
		return Millis(x)
	case panel.UnitUSD:
		return Dollars(x)
	case panel.UnitTokens:
		return Thousands(int(math.Round(x)))
	case panel.UnitCount:
		return fmt.Sprintf("%.2f", x)
	}
	return Percent(x)
}

// Lines splits a written metric into the number and its interval without brackets.
func Lines(s string) [2]string {
	if i := strings.Index(s, " ["); i > 0 {
		return [2]string{s[:i], strings.Trim(s[i+1:], "[]")}
	}
	return [2]string{s}
}
