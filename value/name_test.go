// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawText draws from texts that are alike at both ends, of any length around eight
// and sixteen.
func drawText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 40).Draw(t, "length")
		s := []byte(strings.Repeat("ab", 20)[:n])
		if n > 0 && rapid.Bool().Draw(t, "other") {
			s[rapid.IntRange(0, n-1).Draw(t, "at")] = rapid.SampledFrom([]byte("xA\"\\\n")).Draw(t, "byte")
		}
		if rapid.IntRange(0, 4).Draw(t, "wide") == 0 {
			return string(s) + "é"
		}
		return string(s)
	})
}

// TestMembers: members and names agree with values.
func TestMembers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfNDistinct(drawText(), 0, 70, rapid.ID[string]).Draw(t, "texts")
		list := NamesOf(texts)
		var src []byte
		for _, name := range rapid.SliceOfNDistinct(drawText(), 0, 8, rapid.ID[string]).Draw(t, "names") {
			text := strconv.Quote(rapid.OneOf(drawText(), rapid.SampledFrom(append(texts, ""))).Draw(t, "value"))
			value := rapid.SampledFrom([]string{
				text, text, "12", "-1", "1.5", "1e2", "999999999", "99999999999",
				"[1,2]", `{"a":"b"}`, "null",
			}).Draw(t, "kind")
			if len(texts) > 0 && rapid.Bool().Draw(t, "listed") {
				if name = rapid.SampledFrom(texts).Draw(t, "name"); bytes.Contains(src,
					strconv.AppendQuote(nil, name)) {
					continue
				}
			}
			src = append(append(append(append(src, ','), strconv.Quote(name)...), ':'), value...)
		}
		src = append(append([]byte{'{'}, bytes.TrimPrefix(src, []byte(","))...), '}')
		v, err := Parse(slices.Clip(src))
		if err != nil {
			t.Skip(err) // a name is there twice
		}
		m := v.Members()
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			if !m.Ok() || m.Value() != e || m.Kind() != e.Kind() || m.Size() != len(e.Raw()) || e.Member().n != m.n {
				t.Fatalf("%s: the member is %s, not %s", src, m.Value().Raw(), e.Raw())
			}
			if at := max(m.Named(list), m.Decoded(list)); at != slices.Index(texts, e.Key()) {
				t.Fatalf("%s: the name %q is found as %d of %q", src, e.Key(), at, texts)
			}
			if e.Kind() == String && !e.node().is(roundabout) && m.TextIn(list) != slices.Index(texts, e.Str()) {
				t.Fatalf("%s: the text %q is found as %d of %q", src, e.Str(), m.TextIn(list), texts)
			}
			n, known := m.Whole()
			if f, ok := e.Float(); known && (!ok || float64(n) != f) ||
				known != (e.Kind() == Number && e.node().count > 0) {
				t.Fatalf("%s: %s is %d, %v", src, e.Raw(), n, known)
			}
			sameMembers(t, v, m)
			m = m.Next()
		}
		if m.Ok() {
			t.Fatalf("%s has more members than it has", src)
		}
	})
}

// sameMembers holds m against all members of v.
func sameMembers(t *rapid.T, v Value, m Member) {
	other, err := Parse(append([]byte(" "), v.Raw()...))
	if err != nil {
		t.Fatal(err)
	}
	for o := other.Members(); o.Ok(); o = o.Next() {
		a, b := m.Value(), o.Value()
		if m.NamedAs(o) != (a.Key() == b.Key()) || m.Alike(o) != bytes.Equal(a.Raw(), b.Raw()) {
			t.Fatalf("%q: %s and %q: %s are compared as %v and %v", a.Key(), a.Raw(), b.Key(), b.Raw(),
				m.NamedAs(o), m.Alike(o))
		}
	}
	if o := other.Namesake(m); !o.Ok() || o.Value().Key() != m.Value().Key() {
		t.Fatalf("the namesake of %q is not found", m.Value().Key())
	}
	if o := m.Value().Namesake(m); o.Ok() && o.Value().Key() != m.Value().Key() {
		t.Fatalf("%q is the namesake of %q", o.Value().Key(), m.Value().Key())
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	list := NamesOf([]string{"", "a", "abcdefgh", "abcdefgh_of_the_other"})
	for text, want := range map[string]int{
		"": 0, "a": 1, "b": -1, "abcdefgh": 2, "abcdefgh_of_the_other": 3,
		"abcdefgh_of_tha_other": -1, "abcdefgh_of_other": -1,
	} {
		if got := list.Find(text); got != want {
			t.Errorf("%q is found as %d, not %d", text, got, want)
		}
	}
	if got := new(Names).Find("a"); got != -1 {
		t.Errorf("no names have %d", got)
	}
	if m := (Value{}).Members(); m.Ok() {
		t.Error("what is absent has members")
	}
}
