// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// asAlone parses a text with what d knows of earlier ones. The result must be the same as without.
func asAlone(t interface{ Fatalf(string, ...any) }, d *Doc, src []byte) {
	var alone Doc
	want := alone.Parse(src)
	if got := d.Parse(src); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: the error is %v, without earlier texts %v", src, got, want)
	}
	if len(d.nodes) != len(alone.nodes) {
		t.Fatalf("%s: %d values, without earlier texts %d", src, len(d.nodes), len(alone.nodes))
	}
	for i, n := range d.nodes {
		v := Value{d, int32(i)}
		if at := v.Member().Place(); at != slices.Index(d.Names.texts, v.Key()) && n.keyEnd > 0 {
			t.Fatalf("%s: the name %q is found as %d of %q", src, v.Key(), at, d.Names.texts)
		}
		n.form &= 1<<listed - 1
		if n != alone.nodes[i] {
			t.Fatalf("%s: a value is %v, without earlier texts %v", src, n, alone.nodes[i])
		}
	}
}

// TestWords: names that were met before change nothing, wherever they are, and twins are still found.
func TestWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(drawText(), 1, 12, rapid.ID[string]).Draw(t, "names")
		some := append(names, "", "a", "b", "exactly14bytes", "exactly_15bytes", `with\"quote`)
		d := Doc{Names: NamesOf(names[:rapid.IntRange(0, len(names)).Draw(t, "listed")])}
		for range rapid.IntRange(1, 8).Draw(t, "texts") {
			asAlone(t, &d, []byte(drawObject(t, some, 2)))
		}
	})
}

// drawObject draws an object with some names, which may repeat.
func drawObject(t *rapid.T, names []string, depth int) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 5).Draw(t, "members") {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{",", ",", ", "}).Draw(t, "comma"))
		}
		v := rapid.SampledFrom([]string{"1", `"x"`, `"a longer text"`, "null"}).Draw(t, "value")
		if kind := rapid.IntRange(0, 4).Draw(t, "kind"); depth > 0 && kind > 1 {
			v = drawObject(t, names, depth-1)
			if kind == 4 {
				v = "[" + v + "," + drawObject(t, names, depth-1) + "]"
			}
		}
		colon := rapid.SampledFrom([]string{":", ":", " :", ": "}).Draw(t, "colon")
		fmt.Fprintf(&b, `"%s"%s%s`, rapid.SampledFrom(names).Draw(t, "name"), colon, v)
	}
	return "{" + b.String() + "}"
}

// TestManyWords: names beyond those that are kept are read as others.
func TestManyWords(t *testing.T) {
	t.Parallel()
	d := Doc{Names: NamesOf([]string{"n1", "n300", "n2000"})}
	for from := 0; from < 3000; from += 50 {
		var members []string
		for i := range 60 { // some of those before, too
			members = append(members, fmt.Sprintf(`"n%d":%d`, from+i, i))
		}
		text := "{" + strings.Join(members, ",") + "}"
		for range 2 {
			asAlone(t, &d, []byte(text))
			asAlone(t, &d, []byte(strings.Replace(text, "}", `,"n`+fmt.Sprint(from)+`":1}`, 1)))
		}
	}
	if d.words.count < maxWords/2 {
		t.Errorf("%d names are kept", d.words.count)
	}
}

func FuzzWords(f *testing.F) {
	f.Add([]byte(`{"task_id":"a","args":{"b":1},"gold":{"args":{"b":2}}}`), []byte(`{"task_id":"a","args":{"b":1,"b":2}}`))
	f.Add([]byte(`{"exactly14bytes":[{"a":1},{"a":2}],"c":{}}`), []byte(`{"exactly14bytes":[{"a":1},{"a":2,"\u0061":3}]}`))
	f.Fuzz(func(t *testing.T, first, then []byte) {
		d := Doc{Names: NamesOf([]string{"task_id", "args", "gold", "exactly_15bytes"})}
		for _, text := range [][]byte{first, then, first, then} {
			asAlone(t, &d, text)
		}
	})
}

// TestEveryByteOfAString: a string ends, fails or goes on at a byte in the same way wherever the byte is. The text
// is read eight bytes at a time, and this goes through it one by one.
func TestEveryByteOfAString(t *testing.T) {
	t.Parallel()
	right := func(s []byte) bool { // what a string may hold, all of it ASCII
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c < 0x20 || c == '"' || c >= 0x80:
				return false
			case c == '\\':
				if i++; i == len(s) || !strings.ContainsRune(`"\/bfnrt`, rune(s[i])) {
					return false
				}
			}
		}
		return true
	}
	var d Doc
	check := func(s []byte) {
		if got, want := d.Parse([]byte(`"`+string(s)+`"`)) == nil, right(s); got != want {
			t.Errorf("%q is read: %t, want %t", s, got, want)
		}
	}
	const size = 20
	for b := range 256 {
		for at := range size {
			s := []byte(strings.Repeat("n", size))
			s[at] = byte(b)
			check(s)
			for _, then := range []byte{'"', '\\', 0x1f, ' ', '!', '#', '[', ']', 0x7f} {
				for _, after := range []int{1, 2, 7, 8} {
					if at+after < size {
						two := slices.Clone(s)
						two[at+after] = then
						check(two)
					}
				}
			}
		}
	}
}

// TestPlaceWithoutNames: without names to look for, no member has a place.
func TestPlaceWithoutNames(t *testing.T) {
	t.Parallel()
	var d Doc
	if err := d.Parse([]byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if at := (Value{&d, 1}).Member().Place(); at != -1 {
		t.Errorf("place %d", at)
	}
}
