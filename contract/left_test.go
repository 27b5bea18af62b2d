// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
	"pgregory.net/rapid"
)

// TestValidAgrees holds schemas of common keywords against the library, on objects
// that have their members in any order, lack some and have others.
func TestValidAgrees(t *testing.T) {
	t.Parallel()
	numbers := []string{
		"0", "-0", "1", "-1", "5", "4.5", "4.999", "5.0", "5.000001", "1e1", "-1e0", "0.1", "10", "10.0", "10.5",
		"9.99", "99999999999999999999",
		"9223372036854775807", "9223372036854775806.5", "999999999999999999", "100000000000000000.25", "-4.5", "5e-1",
	}
	texts := []string{
		``, `a`, `ab`, `abc`, `abcdef`, `é`, `éa`, `\u00e9`, `\ud83d\ude00`, `\ud83d\ude00a`, `a\"b`,
		`\u0061`, `\\`, `a,\"b`, strings.Repeat("x", 13),
	}
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = `"` + s + `"`
	}
	rest := []string{"null", "true", "[]", `["a"]`, "{}", `{"a":1}`}
	values := rapid.SampledFrom(append(append(rest, numbers...), quoted...))
	names := rapid.SampledFrom(
		[]string{`a`, `b`, `c`, `ab`, `a,\"b`, `\u0061b`, `d`, `long_name_of_an_argument`, `long_name_of_an_argumenu`})
	bound := rapid.SampledFrom(numbers)
	length := rapid.SampledFrom([]string{"0", "1", "2", "3", "12"})
	leaf := rapid.Custom(func(t *rapid.T) string {
		var parts []string
		add := func(key string, v string) {
			if rapid.IntRange(0, 2).Draw(t, key) == 0 {
				parts = append(parts, fmt.Sprintf("%q:%s", key, v))
			}
		}
		add("type",
			rapid.SampledFrom([]string{
				`"string"`, `"number"`, `"integer"`, `["integer","null"]`, `["string","object"]`,
				`"array"`,
			}).Draw(t, "types"))
		add("minLength", length.Draw(t, "low"))
		add("maxLength", length.Draw(t, "high"))
		for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
			add(key, bound.Draw(t, "bound"))
		}
		switch rapid.IntRange(0, 8).Draw(t, "more") {
		case 0:
			parts = append(parts, `"multipleOf":`+rapid.SampledFrom([]string{"2", "0.5", "3"}).Draw(t, "step"))
		case 1:
			parts = append(parts, `"enum":[`+
				strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(quoted), 0, 4, canonicalText).Draw(t, "words"),
					",")+`]`)
		case 2:
			parts = append(parts, `"enum":["a",null,5]`)
		case 3:
			parts = append(parts, `"pattern":"^[a-c]+$"`)
		case 4:
			parts = append(parts, `"not":{"type":"null"}`)
		}
		return "{" + strings.Join(parts, ",") + "}"
	})
	object := func(t *rapid.T, value *rapid.Generator[string]) string {
		var parts []string
		for _, name := range rapid.SliceOfNDistinct(names, 0, 6, canonicalText).Draw(t, "names") {
			parts = append(parts, `"`+name+`":`+value.Draw(t, "value"))
		}
		return "{" + strings.Join(parts, rapid.SampledFrom([]string{",", " ,\n "}).Draw(t, "separator")) + "}"
	}
	rapid.Check(t, func(t *rapid.T) {
		required := rapid.SliceOfNDistinct(names, 0, 3, canonicalText).Draw(t, "required")
		for i := range required {
			required[i] = `"` + required[i] + `"`
		}
		schema := `{"type":"object","properties":` + object(t, leaf) + `,"required":[` +
			strings.Join(required, ",") + `]`
		schema += rapid.SampledFrom([]string{
			`}`, `,"additionalProperties":false}`,
			`,"additionalProperties":{"type":"string"}}`, `,"minProperties":2}`,
		}).Draw(t, "rest")
		s, err := Compile([]byte(schema))
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		lib, err := s.library()
		if err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		through := fastChecker(lib)
		for range 20 {
			text := object(t, values)
			v, err := value.Parse([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if want := libraryValid(lib, v, &meter{left: MaxSteps}); s.Valid(v) != want ||
				through.valid(v, &meter{left: MaxSteps}) != want {
				t.Fatalf("schema %s, value %s: %v and %v, the library says %v", schema, text, s.Valid(v),
					through.valid(v, &meter{left: MaxSteps}), want)
			}
			names, ok := s.Broken(v)
			if want := brokenOf(s.Check(v)); ok && !slices.Equal(names, want) {
				t.Fatalf("schema %s, value %s: members %q break it, by Check %q", schema, text, names, want)
			}
		}
	})
}

// brokenOf are the members that violations name, sorted.
func brokenOf(list []callvet.Violation) (names []string) {
	for _, x := range list {
		name, _, _ := strings.Cut(strings.TrimPrefix(x.Path, "/"), "/")
		names = append(names, Unescape(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// canonicalText is the value of a text between quotes.
func canonicalText(s string) string {
	return string(value.Unescape(nil, []byte(strings.Trim(s, `"`))))
}
