// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

func TestPatternKnowsLetters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ pattern, text, want string }{
		{`\bår\b`, "hur många år är det", "år"},
		{`\bår\b`, "håret är grått", ""},
		{`\br\b`, "år är ÅR", ""}, // Go's regexp finds the r of år
		{`\bväder\b`, "Väder!", "Väder"},
		{`\bväder\b`, "oväder i fjällen", ""},
		{`\bö\b`, "en ö i havet", "ö"},
		{`\bö\b`, "sjö", ""},
		{`å\b`, "på E4", "å"},
		{`å\B`, "gången", "å"},
		{`\bkö(er|n)?\b`, "är det KÖER nu", "KÖER"},
		{`\w+störning\w*`, "några trafikstörningar?", "trafikstörningar"},
		{`[\w-]+`, "åäö-é", "åäö-é"},
		{`\W+`, "år, ö", ", "},
		{`^hej\b.*$`, "Hej på dig", "Hej på dig"},
		{`\bcafé\b`, "cafe\u0301 och café", "café"},
		{`a|ab`, "xab", "a"},
		{`(a|ab)(c|bcd)`, "abcd", "abcd"},
		{`a*?b`, "aab", "aab"},
		{`\Q\w+\E`, `x\w+`, `\w+`},
		{`[]\w]+`, "]å", "]å"},
		{``, "å", ""},
	} {
		p, err := retrieve.CompileRoutePattern(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		start, end, ok := p.Find(tc.text)
		if got := tc.text[max(start, 0):max(end, 0)]; got != tc.want || ok != (tc.want != "" || tc.pattern == "") {
			t.Errorf("%s in %q: %q, %v; want %q", tc.pattern, tc.text, got, ok, tc.want)
		}
	}
}

func TestPatternRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"(", `[\W]`, "(?=x)", strings.Repeat("a", 5000), "a{1001}"} {
		if _, err := retrieve.CompileRoutePattern(s); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("%.20q: %v", s, err)
		}
	}
}

// TestPatternIsRegexp holds patterns against Go's regexp on texts of ASCII, where
// both mean the same.
func TestPatternIsRegexp(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"a", "b", "ab", " ", ".", "a*", "b+", "a?", "a*?", "(a|b)", "(ab|a)", "(b|)",
		`\b`, `\B`, `\w`, `\W`, "^", "$", "[ab]", "[^a]", "(a|b)*", "a{2,3}",
	})
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(piece, 0, 7).Draw(t, "pattern"), "")
		text := rapid.StringMatching(`[ab .\n_A]{0,14}`).Draw(t, "text")
		want, err := regexp.Compile("(?i)" + source)
		if err != nil {
			t.Skip("not a pattern")
		}
		p, err := retrieve.CompileRoutePattern(source)
		if err != nil {
			t.Fatal(err)
		}
		start, end, ok := p.Find(text)
		loc := want.FindStringIndex(text)
		if ok != (loc != nil) || ok && (start != loc[0] || end != loc[1]) {
			t.Errorf("%q in %q: %d:%d %v, regexp says %v", source, text, start, end, ok, loc)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add(`\bår(et|en)?\b`, "i år")
	f.Add(`[]\w^-]+`, "]")
	f.Add(`\Qa`, "a")
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := retrieve.CompileRoutePattern(source)
		if err != nil || len(text) > 1000 {
			return
		}
		start, end, ok := p.Find(text)
		if ok && (start < 0 || end < start || end > len(text)) {
			t.Errorf("%d:%d of %d", start, end, len(text))
		}
		if ok && utf8.ValidString(text) && !utf8.ValidString(text[start:end]) {
			t.Errorf("%q is cut within a rune", text[start:end])
		}
	})
}
