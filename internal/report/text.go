// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/stats"
)

// clean makes a text harmless and visible: control characters, direction
// overrides and invisible characters are written as escapes such as \u202e.
// Line feeds and tabs stay.
func clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// hidden runes change how others are shown or are not shown themselves. The
// zero-width joiner stays: emoji need it.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == 0x200d:
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0xad, r == 0x61c, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.Is(unicode.Co, r)
}

// line is clean on one line: white space is folded.
func line(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

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

// limited cuts a long text to n bytes and says how much is missing.
func limited(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + fmt.Sprintf("… [%d more bytes]", len(s)-cut)
}

// compact writes a JSON value on one line; absent is told by missing.
func compact(raw json.RawMessage, missing string) string {
	if len(raw) == 0 {
		return missing
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return line(string(raw))
	}
	return line(b.String())
}

// indented writes a JSON value on many lines, or the text as it is.
func indented(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return clean(string(raw))
	}
	return clean(b.String())
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// percent writes a share with one decimal. Only a whole is 100 %, only nothing is 0 %.
func percent(x float64) string { return decimals(x) + " %" }

func decimals(x float64) string {
	p := math.Round(x*1000) / 10
	switch {
	case x < 1 && p >= 100:
		return "99.9"
	case x > 0 && p <= 0:
		return "<0.1"
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}

// rate writes a share with its interval: "82.0 % [68.6–91.4]".
func rate(iv stats.Interval) string {
	switch {
	case !iv.Defined():
		return "–"
	case !iv.Usable():
		return percent(iv.Point) + " [no interval]"
	}
	return fmt.Sprintf("%s [%s–%s]", percent(iv.Point), decimals(iv.Lower), decimals(iv.Upper))
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
		return millis(x)
	case panel.UnitUSD:
		return dollars(x)
	case panel.UnitTokens:
		return thousands(int(math.Round(x)))
	}
	return percent(x)
}

func millis(ms float64) string {
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return fmt.Sprintf("%d min %02d s", int(ms/60_000), int(ms/1000)%60)
}

func dollars(x float64) string {
	switch {
	case x == 0:
		return "$0"
	case x < 0.1:
		return "$" + strconv.FormatFloat(x, 'g', 2, 64)
	}
	return "$" + strconv.FormatFloat(x, 'f', 2, 64)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// cost of a slice; unknown prices are never counted as 0.
func cost(u panel.Usage) string {
	switch {
	case u.CostKnown == 0 && u.InputTokens+u.OutputTokens == 0:
		return "–"
	case u.CostKnown == 0:
		return "unknown"
	case u.CostUnknown > 0:
		return "≥ " + dollars(u.CostUSD)
	}
	return dollars(u.CostUSD)
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
	id := line(r.Case.ID)
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
		return line(s)
	}
	if f := r.Cell.Trace.Fault; f != nil {
		return line(f.Error())
	}
	if s := r.Case.Skip; s != "" && verdictOf(r) == callvet.VerdictNotRun {
		return line(s)
	}
	return ""
}

// callText writes a call on one line: name({"a":1}).
func callText(c *callvet.Call) string {
	args := compact(c.Args, "")
	if c.Malformed() {
		args = "unreadable: " + line(c.ArgsRaw)
	}
	return line(c.Tool) + "(" + args + ")"
}
