// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package match

import (
	"bytes"
	"unicode/utf8"

	"github.com/callvet/callvet/value"
)

// Exact compares arguments in mode exact where the expected ones are different
// each time, as in labeled traces: it is made once per tool and compares two
// values directly. Its Tally is that of Compile with zero Settings. The zero
// value knows no schema. It is immutable and safe for concurrent use, each
// goroutine with a Scratch of its own.
type Exact struct {
	root *facts
}

// Scratch is memory for comparisons, to be reused; the zero value is ready.
type Scratch struct {
	want, got, fold []byte
	// Unlike are the expected arguments, in order, that the last call of Tally or Pair did not
	// contain with the same bytes. Valid as long as their Docs are.
	Unlike []Pair
}

// Pair is an expected argument with the call's argument of the same name, the zero Value without
// one.
type Pair struct{ Want, Got value.Value }

// Pair only computes Unlike.
func (s *Scratch) Pair(want, got value.Value) {
	s.Unlike = s.Unlike[:0]
	for w := want.Members(); w.Ok(); w = w.Next() {
		if g := got.Namesake(w); !g.Ok() {
			s.Unlike = append(s.Unlike, Pair{Want: w.Value()})
		} else if !g.Alike(w) {
			s.Unlike = append(s.Unlike, Pair{w.Value(), g.Value()})
		}
	}
}

// facts are the effects of a place of a schema on comparisons. Places that refer to one another
// share them, so that they may be circular.
type facts struct {
	literal bool
	def     value.Value // Invalid: none
	props   []fact
	listed  *value.Names // names of props
	// spelled are the properties with a default.
	spelled []fact
	tuple   []*facts
	rest    *facts
}

type fact struct {
	name string
	at   *facts
}

// NewExact reads the schema of a tool's arguments; the zero Value is no schema.
func NewExact(parameters value.Value) *Exact {
	return &Exact{factsOf(rootSchema(composed(parameters)), map[value.Value]*facts{})}
}

// factsOf returns nil for a place that changes nothing.
func factsOf(s schema, done map[value.Value]*facts) *facts {
	if s.at.Kind() != value.Object {
		return nil
	}
	if f := done[s.at]; f != nil {
		return f
	}
	f := &facts{literal: s.literal()}
	done[s.at] = f
	f.def, _ = s.defaultValue()
	props, _ := s.at.Get("properties")
	if props.Kind() == value.Object {
		var names []string
		for p, ok := props.First(); ok; p, ok = props.Next(p) {
			names = append(names, p.Key())
			one := fact{p.Key(), factsOf(schema{s.root, p}.resolved(), done)}
			f.props = append(f.props, one)
			if one.at != nil && one.at.def.Kind() != value.Invalid {
				f.spelled = append(f.spelled, one)
			}
		}
		f.listed = value.NamesOf(names)
	}
	n := 0
	for _, key := range [...]string{"prefixItems", "items"} {
		if list, ok := s.at.Get(key); ok && list.Kind() == value.Array {
			n = max(n, list.Len())
		}
	}
	for i := range n {
		f.tuple = append(f.tuple, factsOf(s.item(i), done))
	}
	f.rest = factsOf(s.item(n), done)
	return f
}

func (f *facts) property(m value.Member) *facts {
	if f == nil || len(f.props) == 0 {
		return nil
	}
	if i := max(m.Named(f.listed), m.Decoded(f.listed)); i >= 0 {
		return f.props[i].at
	}
	return nil
}

func (f *facts) item(i int) *facts {
	switch {
	case f == nil:
		return nil
	case i < len(f.tuple):
		return f.tuple[i]
	}
	return f.rest
}

// Tally compares the arguments of a call with the expected ones. An absent or null value is the
// same as {}; any other kind but an object matches nothing. Names of members compare in NFC.
func (x *Exact) Tally(s *Scratch, want, got value.Value) Tally {
	t := x.tally(s, want, got)
	if t.Exact() {
		return t
	}
	if w, g := composed(want), composed(got); w != want || g != got {
		return x.tally(s, w, g)
	}
	return t
}

func (x *Exact) tally(s *Scratch, want, got value.Value) Tally {
	var t Tally
	found := 0
	s.Unlike = s.Unlike[:0]
	next := got.Members()
	for w := want.Members(); w.Ok(); w = w.Next() {
		t.Expected, t.Gold, t.Union = t.Expected+1, t.Gold+1, t.Union+1
		g := next
		if !g.Ok() || !g.NamedAs(w) {
			g = got.Namesake(w)
		}
		if g.Ok() {
			found++
			t.Emitted++
			next = g.Next()
			if g.Alike(w) { // under any schema
				t.hit()
				continue
			}
			s.Unlike = append(s.Unlike, Pair{w.Value(), g.Value()})
			if s.same(w.Value(), g.Value(), x.root.property(w)) {
				t.hit()
			}
			continue
		}
		s.Unlike = append(s.Unlike, Pair{Want: w.Value()})
		at := x.root.property(w)
		if at != nil && at.def.Kind() != value.Invalid && s.same(w.Value(), at.def, at) {
			t.Emitted, t.Notable = t.Emitted+1, true
			t.hit()
		} else {
			t.Missing++
		}
	}
	if extra := objectLen(got) - found; extra > 0 {
		spelled := x.root.written(want, got)
		t.Notable = t.Notable || spelled > 0
		t.Extra = extra - spelled
		t.Gold += spelled
		t.Hits += float64(spelled)
		t.Emitted += extra
		t.Union += extra
	}
	if k := got.Kind(); k != value.Object && k != value.Null && k != value.Invalid {
		t.Extra, t.Union, t.Emitted = t.Extra+1, t.Union+1, t.Emitted+1
	}
	return t
}

func (t *Tally) hit() {
	t.Matched++
	t.Soft++
	t.Hits++
}

// written counts the unexpected members of got that only spell out the schema's default.
func (f *facts) written(want, got value.Value) int {
	if f == nil {
		return 0
	}
	n := 0
	for i := range f.spelled {
		p := &f.spelled[i]
		if _, expected := want.Get(p.name); expected {
			continue
		}
		if e, ok := got.Get(p.name); ok && value.Equal(p.at.def, e) {
			n++
		}
	}
	return n
}

// same compares two values at a place of the schema.
func (s *Scratch) same(want, got value.Value, at *facts) bool {
	k := want.Kind()
	if k != got.Kind() {
		return false
	}
	switch k {
	case value.String:
		return s.sameText(want, got, at != nil && at.literal)
	case value.Number:
		return sameNumber(want, got)
	case value.Object:
		return s.sameObject(want, got, at)
	case value.Array:
		return s.sameArray(want, got, at)
	}
	return value.Equal(want, got)
}

func (s *Scratch) sameText(want, got value.Value, literal bool) bool {
	a, b := want.Raw(), got.Raw()
	if bytes.Equal(a, b) {
		return true
	}
	if startsDiffer(a, b) {
		return false
	}
	a, s.want = plainText(s.want, a)
	b, s.got = plainText(s.got, b)
	if literal {
		return bytes.Equal(a, b)
	}
	s.fold = Fold(s.fold[:0], a)
	return foldsTo(b, s.fold)
}

// startsDiffer reports whether two JSON texts begin with different ASCII letters or digits,
// ignoring case, that no following mark can change: no folding makes such texts equal.
func startsDiffer(a, b []byte) bool {
	return lower(a[1]) != lower(b[1]) && alphanumeric(a[1]) && alphanumeric(b[1]) && unmarked(a[2]) && unmarked(b[2])
}

func alphanumeric(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z' }

// unmarked reports whether c starts a character that does not combine with the one before it: ASCII
// except escapes, or U+00C0 to U+023F (Latin letters and two signs).
func unmarked(c byte) bool { return c < utf8.RuneSelf && c != '\\' || c >= 0xC3 && c <= 0xC8 }

// plainText is the text of a JSON string. If the string has escapes, the text is in memory that
// is reused.
func plainText(mem, raw []byte) (text, kept []byte) {
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, mem
	}
	mem = value.Unescape(mem[:0], raw)
	return mem, mem
}

func (s *Scratch) sameObject(want, got value.Value, at *facts) bool {
	found := 0
	for w := want.Members(); w.Ok(); w = w.Next() {
		p := at.property(w)
		if g := got.Namesake(w); g.Ok() {
			found++
			if !s.same(w.Value(), g.Value(), p) {
				return false
			}
			continue
		}
		if p == nil || p.def.Kind() == value.Invalid || !s.same(w.Value(), p.def, p) {
			return false
		}
	}
	extra := got.Len() - found
	return extra == 0 || extra == at.written(want, got)
}

func (s *Scratch) sameArray(want, got value.Value, at *facts) bool {
	if want.Len() != got.Len() {
		return false
	}
	i := 0
	g, _ := got.First()
	for w, ok := want.First(); ok; w, ok = want.Next(w) {
		if !s.same(w, g, at.item(i)) {
			return false
		}
		g, _ = got.Next(g)
		i++
	}
	return true
}
