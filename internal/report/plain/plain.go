// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text harmless and visible: control characters, direction
// overrides and invisible characters are written as escapes such as \u202e.
// Line feeds and tabs stay.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Hidden(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case Hidden(r):
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

// Hidden reports whether a rune changes how others are shown or is not shown
// itself. The zero-width joiner is not hidden: emoji need it.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == 0x200d:
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0xad, r == 0x61c, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe,
		r == 0xffff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.Is(unicode.Co, r)
}

// Line is Clean on one line: white space is folded.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Limited cuts a long text to n bytes and adds how much is missing.
func Limited(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + fmt.Sprintf("… [%d more bytes]", len(s)-cut)
}

// Names lists names, the first five of many and how many more there are; "none" of none.
func Names(names []string) string {
	const shown = 5
	if len(names) == 0 {
		return "none"
	}
	list := make([]string, 0, shown+1)
	for _, n := range names[:min(len(names), shown)] {
		list = append(list, Line(n))
	}
	if n := len(names) - shown; n > 0 {
		list = append(list, fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}

// Compact writes a JSON value on one line; missing is written for an absent one.
func Compact(raw json.RawMessage, missing string) string {
	if len(raw) == 0 {
		return missing
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return Line(string(raw))
	}
	return Line(b.String())
}

// Indented writes a JSON value on many lines, or the text unchanged.
func Indented(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return Clean(string(raw))
	}
	return Clean(b.String())
}

// Count writes a number with its noun: "1 case", "1,204 cases".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Percent writes a share with one decimal. Only a whole is 100 %, only nothing is 0 %.
func Percent(x float64) string { return Decimals(x) + " %" }

// Decimals is Percent without the sign.
func Decimals(x float64) string {
	p := math.Round(x*1000) / 10
	switch {
	case x < 1 && p >= 100:
		return "99.9"
	case x > 0 && p <= 0:
		return "<0.1"
	}
	return strconv.FormatFloat(p, 'f', 1, 64)
}

// ExactPercent writes a share that a user chose, such as a bound or a confidence, with all its
// digits: "95 %", "99.95 %".
func ExactPercent(x float64) string {
	p, _ := strconv.ParseFloat(strconv.FormatFloat(100*x, 'g', 12, 64), 64) // 57, not 56.99999999999999
	return strconv.FormatFloat(p, 'f', -1, 64) + " %"
}

// Millis writes a duration in milliseconds in the unit that suits it.
func Millis(ms float64) string {
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

// Dollars writes an amount of US dollars, small ones with two significant digits.
func Dollars(x float64) string {
	switch {
	case x == 0:
		return "$0"
	case x < 0.1:
		return "$" + strconv.FormatFloat(x, 'g', 2, 64)
	}
	return "$" + strconv.FormatFloat(x, 'f', 2, 64)
}

// Thousands writes a whole number with commas: "1,204".
func Thousands(n int) string {
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
