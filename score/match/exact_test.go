// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// TestExactAgreesWithCompile holds the direct comparison against the compiled
// one, on random schemas, expected and actual arguments.
func TestExactAgreesWithCompile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		schema := "{" + drawSchemaBody(rt, 2) + `,"$defs":{"d":{` + drawSchemaBody(rt, 1) + `}}}`
		want := drawObject(rt, 2)
		got := want
		if rapid.IntRange(0, 3).Draw(rt, "other") > 0 {
			got = drawObject(rt, 2)
		}
		if d := exactDiff(t, schema, want, got); d != "" {
			rt.Fatalf("schema %s\nwant %s\ngot %s\n%s", schema, want, got, d)
		}
	})
}

func exactDiff(t *testing.T, schema, want, got string) string {
	t.Helper()
	parse := func(s string) value.Value {
		v, err := value.Parse([]byte(s))
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		return v
	}
	p := parse(schema)
	set, _ := FromScoring(&callvet.Scoring{}, nil)
	rules, ps := Compile([]byte(want), nil, p, set, "")
	if len(ps) > 0 {
		t.Fatalf("%s: %v", want, ps)
	}
	var s Scratch
	return cmp.Diff(rules.Tally(parse(got)), NewExact(p).Tally(&s, parse(want), parse(got)))
}

func TestExactOddities(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"properties":{"a":{"$ref":"#"},"b":{"default":1}}}`, `{"a":{"a":{"b":1}}}`, `{"a":{"a":{}}}`},
		{`{"properties":{"a":{"$ref":"#/nowhere","default":1}}}`, `{"a":1}`, `{}`},
		{`true`, `{"a":1}`, `{"a":1.0}`},
		{`{"properties":{"a":{"default":{"x":1},"properties":{"x":{"default":1}}}}}`, `{"a":{}}`, `{}`},
		{
			`{"properties":{"a":{"items":[{"enum":["A","a"]}],"additionalItems":{"pattern":"B"}}}}`, `{"a":["a","b","c"]}`,
			`{"a":["A","b","C"]}`,
		},
		{`{"properties":{"a":{"prefixItems":[{"const":"A"}],"items":{}}}}`, `{"a":["A","b"]}`, `{"a":["A","B "]}`},
		{`{}`, `{"\u0061":"\u00e9 x"}`, `{"a":"É\tX "}`},
		{`{}`, `{"a":1}`, `[1]`},
		{`{}`, `{"a":1}`, `null`},
		{`{}`, `{}`, `"x"`},
		{`{}`, `{"a":null}`, `{}`},
		{`{}`, `{"a":null}`, `{"a":null}`},
		{`{}`, `{"a":0.1}`, `{"a":0.10000000000000001}`},
		{`{}`, `{"a":true}`, `{"a":1}`},
		{`{}`, `null`, `{"a":1}`},
		{`{"properties":{"b":{"default":1}}}`, `{"a":1}`, `{"a":1,"b":1,"c":2}`},
		{`{"properties":{"b":{"default":1}}}`, `{"a":1}`, `{"a":1,"b":2}`},
		{`{}`, `{"a":{"x":1}}`, `{"a":{"x":1,"y":2}}`},
		{`{"properties":{"a":{"prefixItems":[{},{"pattern":"B"}]}}}`, `{"a":["x","b"]}`, `{"a":["X","B"]}`},
		{`{"properties":{"a":{"items":{"pattern":"B"}}}}`, `{"a":["b","b"]}`, `{"a":["b","B"]}`},
	} {
		if d := exactDiff(t, c[0], c[1], c[2]); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
}

func drawSchemaBody(t *rapid.T, depth int) string {
	parts := []string{`"x-is":1`}
	if rapid.Bool().Draw(t, "literal") {
		parts = append(parts, rapid.SampledFrom([]string{
			`"enum":["a"]`, `"enum":["a","A"]`, `"format":"date"`, `"pattern":"a"`, `"const":1`,
			`"anyOf":[{"type":"string"},{"enum":["b"]}]`, `"oneOf":[{"$ref":"#/$defs/d"}]`,
		}).Draw(t, "why"))
	}
	if rapid.Bool().Draw(t, "default") {
		parts = append(parts, `"default":`+drawValue(t, 1))
	}
	if depth == 0 {
		return strings.Join(parts, ",")
	}
	switch rapid.IntRange(0, 4).Draw(t, "inside") {
	case 0:
		parts = append(parts, `"items":{`+drawSchemaBody(t, depth-1)+`}`)
	case 1:
		parts = append(parts, `"items":[{`+drawSchemaBody(t, depth-1)+`}],"additionalItems":{`+
			drawSchemaBody(t, depth-1)+`}`)
	case 2:
		parts = append(parts, `"prefixItems":[{`+drawSchemaBody(t, depth-1)+`}],"items":{"$ref":"#/$defs/d"}`)
	default:
		var props []string
		for _, k := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, "has") {
				props = append(props, `"`+k+`":{`+drawSchemaBody(t, depth-1)+`}`)
			}
		}
		parts = append(parts, `"properties":{`+strings.Join(props, ",")+`}`)
	}
	return strings.Join(parts, ",")
}

func drawObject(t *rapid.T, depth int) string {
	var parts []string
	for _, k := range rapid.Permutation([]string{`"a"`, `"b"`, `"c"`, `"d"`}).Draw(t, "order") {
		if rapid.Bool().Draw(t, "has") {
			parts = append(parts, k+":"+drawValue(t, depth))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func drawValue(t *rapid.T, depth int) string {
	n := 7
	if depth > 0 {
		n = 9
	}
	switch rapid.IntRange(0, n).Draw(t, "kind") {
	case 8:
		return drawObject(t, depth-1)
	case 9:
		parts := make([]string, rapid.IntRange(0, 2).Draw(t, "len"))
		for i := range parts {
			parts[i] = drawValue(t, depth-1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return rapid.SampledFrom([]string{
		`1`, `1.0`, `"a"`, `"A "`, `"b"`, `"\u0061"`, `"é"`, `"É"`, `true`, `null`,
		`9007199254740993`, `""`,
	}).Draw(t, "scalar")
}

// TestStartsDiffer: texts that are distinguished by their first letters do not fold to one another.
func TestStartsDiffer(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{
		"a", "A", "b", "K", "k", "\u212a", "\u017f", "s", "i", "I", "\u0131", "\u0130", "f", "\ufb01", "1", "\u00b9",
		"\uff11", " ", "\t", "\u0301", `\u0301`, "\u00e9", `\u0061`,
		`\"`, `\\`, `\n`, "é", "e", "-", "\u00a0", "\uff41", "\U0001d41a",
		"\u00c0", "\u00e3", "\u0149", "\u01c5", "\u023f", "\u0240", "\u00b4", "\u0345", "n", "N", "\u0132", "\u00df",
		"ss", "\u02bc",
	})
	text := rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(parts, 0, 4).Draw(t, "parts"), "") + `"`
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		plain := func(s string) []byte {
			return value.Unescape(nil, []byte(strings.ReplaceAll(s[1:len(s)-1], "\t", `\t`)))
		}
		if startsDiffer([]byte(a), []byte(b)) && string(Fold(nil, plain(a))) == string(Fold(nil, plain(b))) {
			t.Fatalf("%s and %s are one text", a, b)
		}
	})
}

// TestLettersOfStartsDiffer: ASCII letters and digits; ASCII but for escapes, or U+00C0 to U+023F.
func TestLettersOfStartsDiffer(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		r := rune(c)
		if want := c < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)); alphanumeric(byte(c)) != want {
			t.Errorf("alphanumeric(%q) = %v", r, !want)
		}
	}
	for r := range rune(0x3000) {
		if want := r < utf8.RuneSelf && r != '\\' || r >= 0xC0 && r < 0x240; unmarked([]byte(string(r))[0]) != want {
			t.Errorf("unmarked(%q) = %v", r, !want)
		}
	}
}

// TestUnmarked: what unmarked lets pass leaves an ASCII letter or digit before it.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	for r := rune(' '); r < 0x300; r++ {
		if !unmarked([]byte(string(r))[0]) {
			continue
		}
		for c := byte('0'); c <= 'z'; c++ {
			if folded := Fold(nil, []byte(string(rune(c))+string(r)+"x")); alphanumeric(c) && folded[0] != lower(c) {
				t.Errorf("%q folds to %q", string(rune(c))+string(r), folded)
			}
		}
	}
}
