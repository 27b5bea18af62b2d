// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// line is a record as logs have them by the million.
const line = `{"id":"t_1","n":17,"args":{"query":"say \"é\"","limit":3,"tags":["a","b"]},"raw":"{\"query\":\"say \\\"é\\\"\",\"limit\":3,\"tags\":[\"a\",\"b\"]}","error":null,"ms":{"exec":2.5},"gold":{"needed":true,"args":{"query":"say \"é\"","limit":3,"tags":["a","b"]}}}`

func expecting() *Doc {
	d := new(Doc)
	d.Expect(Expected{
		Places: []string{"id", "n", "args", "raw", "error", "ms", "ms.exec", "gold", "gold.args", "gold.needed"},
		Echoes: map[string]string{"raw": "args", "gold.args": "args"},
	})
	return d
}

// TestExpectedPlaces reads lines of several kinds one after the other.
func TestExpectedPlaces(t *testing.T) {
	t.Parallel()
	d := expecting()
	told := func(src string) string {
		if err := d.Parse([]byte(src)); err != nil {
			return err.Error()
		}
		if !d.Placed() {
			return "not placed"
		}
		var b strings.Builder
		for i := range d.shapes.paths {
			fmt.Fprintf(&b, "%s|", d.At(i).Raw())
		}
		if d.At(3).Spells(d.At(2)) {
			b.WriteString("spelled")
		}
		if d.At(8).Same(d.At(2)) {
			b.WriteString(", repeated")
		}
		return b.String()
	}
	args := `{"query":"say \"é\"","limit":3,"tags":["a","b"]}`
	raw := `"{\"query\":\"say \\\"é\\\"\",\"limit\":3,\"tags\":[\"a\",\"b\"]}"`
	full := `"t_1"|17|` + args + "|" + raw + `|null|{"exec":2.5}|2.5|{"needed":true,"args":` + args + `}|` + args + `|true|spelled, repeated`
	for _, c := range []struct{ src, want string }{
		{line, full},
		{line, full},
		{strings.ReplaceAll(line, `":`, `": `), strings.ReplaceAll(full, `":`, `": `)},
		{`{"id" : "x", "ms":{"exec" :7}}`, `"x"|||||{"exec" :7}|7||||`},
		{`{"ms":[{"exec":7}]}`, `|||||[{"exec":7}]|||||`},
		{`{"args":{"ms":{"exec":7},"gold":{"args":1}},"raw":"7"}`, `||{"ms":{"exec":7},"gold":{"args":1}}|"7"|||||||`},
		{`{"args":5,"raw":"5"}`, `||5|"5"|||||||spelled`},
		{`{"id":"x","other":1}`, `not placed`},
		{`{"id":"x","id":1}`, `byte 11: duplicate key "id"`},
		{`{"id":"x","n":1,"id":1}`, `byte 17: duplicate key "id"`},
		{`{"i\u0064":"x"}`, `not placed`},
		{`{"ms":{"exec":7,"other":1}}`, `not placed`},
		{`{"ms":{"ex\u0065c":7}}`, `not placed`},
		{`{"args":{"\u0061":7}}`, `||{"\u0061":7}||||||||`},
		{`{"ms.exec":7}`, `not placed`},
		{`{"id":}`, `byte 6: unexpected character '}'`},
		{"{\"args\":{\"a\":\t1},\"raw\":\"{\\\"a\\\":\t1}\"}", `byte 31: raw control character in a string`},
		{"{\"args\":{\"a\":[\t]},\"raw\":\"{\\\"a\\\":[\t]}\",\"id\":\"a longer text\"}", `byte 33: raw control character in a string`},
		{"{\"args\":{\"a\":{\t}},\"raw\":\"{\\\"a\\\":{\t}}\",\"id\":\"a longer text\"}", `byte 33: raw control character in a string`},
		{`[1]`, `not placed`},
		{line, full},
	} {
		if diff := cmp.Diff(c.want, told(c.src)); diff != "" {
			t.Errorf("%s: %s", c.src, diff)
		}
	}
}

// TestElements: arrays of strings, whose elements are read when asked for, are what they are
// where all is read at once, with what comes before and after them.
func TestElements(t *testing.T) {
	t.Parallel()
	d, put := skimming(), 0
	for _, texts := range []string{
		`"a"`, `""`, `"",""`, `"a","a longer text than that"`, `"say \"é\"","\\","\n\t\/"`, `"\u00e9","\ud83d\ude00"`, `"é","日本","，","€","𝄞"`, `"퟿","","￿"`, `"a" , "b"`, `"a",1`, `"a",["b"]`,
		`"a",`, `"a"` + "\t", `"` + "\t" + `"`, `"\x"`, `"\`, `"\ud83d"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc1\x80\"", "\"\xe0\x80\x80\"", "\"\xe4\xb8\"", `"a"}`, `"a"b"`,
		strings.Repeat(`"",`, 700) + `""`, strings.Repeat(`"a longer text",`, 100) + `"é"`,
	} {
		line := `{"id":"x","args":{"a":"é","texts":[` + texts + `],"n":7,"last":["` + `b"]},"raw":"x"}`
		for range 3 {
			same(t, d, []byte(line))
			text := append(make([]byte, 0, len(line)+300), line+"\n"...)
			if _, taken := skimmed(t, d, text); !taken {
				continue
			}
			_, _, _ = d.Skim(text)
			v, _ := d.At(2).Get("last")
			if put++; !v.node().is(unread) {
				t.Errorf("%s: elements are read that nobody asked for", line)
			}
			if e, ok := v.First(); !ok || v.node().is(unread) || e.Str() != "b" || v.Len() != 1 || v.Key() != "last" {
				t.Errorf("%s: the last array begins with %q", line, e.Str())
			}
		}
	}
	if put < 20 {
		t.Errorf("%d lines were taken", put)
	}
}

// TestFits: what is said of a place holds of all that is there, and of what repeats
// another place too.
func TestFits(t *testing.T) {
	t.Parallel()
	d := new(Doc)
	d.Expect(Expected{
		Places: []string{"any", "texts", "of", "of.a", "n"},
		Fits:   []Fit{FitAny, FitTexts, FitObject, FitPlain, FitWhole},
		Echoes: map[string]string{"texts": "any", "of": "any"},
	})
	for range 2 {
		for _, c := range []struct {
			src  string
			want bool
		}{
			{`{"any":[1,{"a":2}],"n":1}`, true},
			{`{"any":["a"],"texts":["a"]}`, true},
			{`{"any":[1],"texts":[1]}`, false},
			{`{"any":{"a":"x"},"of":{"a":"x"}}`, true},
			{`{"any":{"a":1},"of":{"a":1}}`, false},
			{`{"n":1234567890}`, false},
			{`{"n":-1}`, false},
			{`{"n":1.0}`, false},
		} {
			if err := d.Parse([]byte(c.src)); err != nil || !d.Placed() || d.fits != c.want {
				t.Errorf("%s fits: %v, want %v (%v)", c.src, d.fits, c.want, err)
			}
			if v, _ := d.At(2).Get("a"); d.At(3) != v {
				t.Errorf("%s: another place", c.src)
			}
		}
	}
}

// TestExpectIsBounded: names that never come twice use up what may be remembered,
// and no more; deep objects full of new names are not read over and over.
func TestExpectIsBounded(t *testing.T) {
	t.Parallel()
	d := expecting()
	for i := range 3 * maxShapes {
		same(t, d, fmt.Appendf(nil, `{"args":{"k%d":{"a":%d}},"n":1}`, i, i))
		same(t, d, fmt.Appendf(nil, `{"args":{"x":{"x":{"k%d":{"a":%d}}}},"n":1}`, i, i))
	}
	if d.shapes.left < 0 || d.shapes.left > maxShapes {
		t.Errorf("%d may be added", d.shapes.left)
	}
	deep := func(name string, n int) []byte {
		return []byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat(`,"`+name+`":2}`, n))
	}
	for i := range maxFollow + 20 {
		same(t, d, deep(fmt.Sprint("k", i), 8))
	}
	same(t, d, deep("z", MaxDepth))
	same(t, d, deep("z", MaxDepth+1))
}

// same holds d to what a Doc that expects nothing makes of the text.
func same(t testing.TB, d *Doc, src []byte) {
	t.Helper()
	sameAs(t, d, src, d.Parse(src))
}

// sameAs is same where d has parsed src already, with that error.
func sameAs(t testing.TB, d *Doc, src []byte, got error) {
	t.Helper()
	var plain Doc
	want := plain.Parse(src)
	if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
		t.Fatalf("%q: %s", src, diff)
	}
	if len(d.nodes) != len(plain.nodes) {
		t.Fatalf("%q: %d nodes, want %d", src, len(d.nodes), len(plain.nodes))
	}
	for i := range d.nodes {
		if d.nodes[i].is(unread) {
			Value{d, int32(i)}.First()
		}
		n := d.nodes[i]
		if n.kind() == String && n.count != 0 {
			if v, of := (Value{d, int32(i)}), (Value{d, n.count}); !bytes.Equal(v.Bytes(), of.Raw()) {
				t.Fatalf("%q: %s does not spell %s", src, v.Raw(), of.Raw())
			}
			n.count = 0
		}
		n.form &^= repeated
		if n != plain.nodes[i] {
			t.Fatalf("%q: node %d is %+v, want %+v", src, i, n, plain.nodes[i])
		}
	}
	if want == nil && d.Placed() {
		if again, of := d.At(8), d.At(2); again.Same(of) && !bytes.Equal(again.Raw(), of.Raw()) {
			t.Fatalf("%q: %s is not the same as %s", src, again.Raw(), of.Raw())
		}
		for i, path := range d.shapes.paths {
			v := plain.Root()
			for _, name := range strings.Split(path, ".") {
				v, _ = v.Get(name)
			}
			if g := d.At(i); g.Kind() != v.Kind() || !bytes.Equal(g.Raw(), v.Raw()) {
				t.Fatalf("%q: %s is %s, want %s", src, path, g.Raw(), v.Raw())
			}
		}
	}
}

// FuzzExpect: a Doc that has seen other texts takes, refuses and gives the same
// as one that has not.
func FuzzExpect(f *testing.F) {
	f.Add([]byte(line), []byte(strings.ReplaceAll(line, `3`, `4e1`)))
	f.Add([]byte(`{"args":{"a":1,"b":{"c":[{"d":1}]}}}`), []byte(`{"args":{"a":1,"b":{"c":[{"e":1,"e":2}]}}}`))
	f.Add([]byte(`{"args":[1,"\u00e9"],"raw":"[1,\"\\u00e9\"]"}`), []byte(`{"id":"\\"}`))
	f.Add([]byte(`{"args":{"a":{},"a" :{}},"gold":{"args":{}}}`), []byte(`{ "gold" : { "args" : null } , "args":{"long name of a member":1}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := expecting()
		for _, src := range [][]byte{a, b, []byte(line), a, b} {
			same(t, d, src)
		}
	})
}

// lines takes data apart line by line and holds each to what Parse makes of it.
func lines(t testing.TB, d *Doc, data []byte) {
	t.Helper()
	for len(data) > 0 {
		want, after, _ := bytes.Cut(data, []byte("\n"))
		if len(want) < len(data) {
			want = bytes.TrimSuffix(want, []byte("\r"))
		}
		got, rest, err := d.ParseLine(data)
		if !bytes.Equal(got, want) || !bytes.Equal(rest, after) {
			t.Fatalf("%q: the line is %q, then %q; want %q, then %q", data, got, rest, want, after)
		}
		sameAs(t, d, got, err)
		data = rest
	}
}

// FuzzLines: lines are the same ones, and are read the same, whether their ends are
// looked for or come up; what comes after a line is none of its business.
func FuzzLines(f *testing.F) {
	f.Add([]byte(line+"\n"+line+"\r\n"+line), []byte("\n\n{}\n"))
	f.Add([]byte(`{"id":"x","args":{"a":[1,`+"\n"+`2]}}`), []byte(`{"id":"never closed`+"\n"+`"}`))
	f.Add([]byte(line+" \n\t"+line+"\r"), []byte(`{"i\u0064":[`+"\n"+`1]}`+"\n"))
	f.Add([]byte(`{"id" : "y" , "n" : 4 }`+"\n"), []byte(`{"args":{"a":"b"},"raw":"{\"a\":\"b\"}"}`+"\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, beyond := range []int{0, 100, 1000} {
			data := make([]byte, 0, 5*len(a)+len(b)+len(line)+10+beyond)
			for _, part := range [][]byte{a, []byte(line + "\n"), a, []byte("\n"), b, a, []byte("\r\n"), a} {
				data = append(data, part...)
			}
			lines(t, expecting(), data)
		}
	})
}

func BenchmarkParseAlike(b *testing.B) {
	src, d := []byte(line), expecting()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseLine(b *testing.B) {
	src, d := []byte(line), new(Doc)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}
