// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		``, ` `, `{`, `[1,`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `01`, `1.`, `.5`, `-`, `1e`, `+1`, `tru`, `nul`,
		`"a`, `"\x"`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, "\"\xff\"", `"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, "\"\n\"", `1 2`,
		`{} x`, `NaN`, `'a'`,
		strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
	} {
		if Valid([]byte(s)) {
			t.Errorf("Valid(%.40q)", s)
		}
		if v, err := Parse([]byte(s)); err == nil {
			t.Errorf("Parse(%.40q) = %s, want an error", s, v.Raw())
		}
	}
}

func TestManyKeysAreUnique(t *testing.T) {
	t.Parallel()
	m := map[string]int{}
	for i := range 40 {
		m[strings.Repeat("k", i+1)] = i
	}
	b, _ := json.Marshal(m)
	v, err := Parse(b)
	if err != nil || v.Len() != 40 {
		t.Fatalf("Parse: %v, %d members", err, v.Len())
	}
	dup := strings.TrimSuffix(string(b), "}") + `,"kkk":1}`
	if _, err := Parse([]byte(dup)); err == nil || !strings.Contains(err.Error(), `duplicate key "kkk"`) {
		t.Fatalf("duplicate among many: %v", err)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`5`, `5.0`, true},
		{`5`, `"5"`, false},
		{`true`, `1`, false},
		{`null`, `{}`, false},
		{`0`, `-0.0`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1e2`, `100`, true},
		{`1.50`, `15e-1`, true},
		{`1e400`, `1e401`, false},
		{`1e999999999999999999`, `1`, false},
		{`-3`, `3`, false},
		{`0.1`, `0.10000000000000001`, false},
		{`"\u00e9"`, `"é"`, true},
		{`"a"`, `"A"`, false},
		{`[1,2]`, `[2,1]`, false},
		{`{"a":1,"b":[{}]}`, `{"b":[{}],"a":1.0}`, true},
		{`{"a":null}`, `{}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`"\ud83d\ude00"`, `"😀"`, true},
	} {
		a, err := Parse([]byte(c.a))
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse([]byte(c.b))
		if err != nil {
			t.Fatal(err)
		}
		if near := a.Kind() == Number && b.Kind() == Number; (a.Sum() == b.Sum()) != c.want && !(near && !c.want) {
			t.Errorf("the sums of %s and %s: want the same is %v", c.a, c.b, c.want)
		}
		if Equal(a, b) != c.want || Equal(b, a) != c.want {
			t.Errorf("Equal(%s, %s) != %v", c.a, c.b, c.want)
		}
	}
}

func TestIsInteger(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		`5`: true, `5.0`: true, `5.5`: false, `5e2`: true, `50e-1`: true,
		`5e-1`: false, `-0.0`: true, `"5"`: false,
	} {
		v, err := Parse([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		if v.IsInteger() != want {
			t.Errorf("IsInteger(%s) != %v", s, want)
		}
	}
}

func TestCompareNumbersAgreesWithBig(t *testing.T) {
	t.Parallel()
	lit := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lit.Draw(t, "a"), lit.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got, want := CompareNumbers([]byte(a), []byte(b)), x.Cmp(y); got != want {
			t.Fatalf("CompareNumbers(%s, %s) = %d, want %d", a, b, got, want)
		}
	})
}

// toAny rebuilds encoding/json's view of a value.
func toAny(v Value) any {
	switch v.Kind() {
	case Bool:
		return v.Bool()
	case Number:
		return json.Number(v.Raw())
	case String:
		return v.Str()
	case Array:
		out := []any{}
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			out = append(out, toAny(e))
		}
		return out
	case Object:
		out := map[string]any{}
		for e, ok := v.First(); ok; e, ok = v.Next(e) {
			out[e.Key()] = toAny(e)
		}
		return out
	}
	return nil
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e3,"x\n\u00e9",true,null],"b":{}}`, `"\ud83d\ude00"`, `[]`, `{"a":1,"a":2}`,
		"\"\xff\"", "[-0.5E+1,\"abcdefgh\\\\ijklmnopé\"]",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b)
		if Valid(b) != (err == nil) {
			t.Fatalf("Valid differs from Parse: %v", err)
		}
		if err != nil {
			return
		}
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		if got := toAny(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if !Equal(v, v) {
			t.Fatal("a value does not equal itself")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	src := []byte(
		`{"origin":"NYC","destination":"LHR","passengers":3,"date":"2026-05-01","options":{"window":true,"bags":[1,2]}}`)
	var d Doc
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValid(b *testing.B) {
	src := []byte(`{"location":"Paris, France","unit":"celsius","days":3}`)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if !Valid(src) {
			b.Fatal("not valid")
		}
	}
}

// TestWholeNumbers: the tape keeps the value of a short number.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, lit := range []string{
		"0", "-0", "7", "10", "007", "123456789", "999999999", "1234567890", "-5", "5.0",
		"5e0", "0.5", "1E2", "-",
	} {
		v, err := Parse([]byte(lit))
		if valid := json.Valid([]byte(lit)); valid != (err == nil) {
			t.Errorf("%s: %v", lit, err)
		}
		if err != nil {
			continue
		}
		f, ok := v.Float()
		if want, _ := strconv.ParseFloat(lit, 64); !ok || f != want {
			t.Errorf("%s is %v", lit, f)
		}
		for _, other := range []string{"0", "6", "7", "5", "123456789", "99999999999"} {
			o, _ := Parse([]byte(other))
			if got, want := Compare(v, o), CompareNumbers([]byte(lit), []byte(other)); got != want {
				t.Errorf("%s and %s: %d, want %d", lit, other, got, want)
			}
		}
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	src := []byte(` {"a": [1, "x"] , "b":{} }`)
	root, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		v, _ := root.Get(name)
		if raw := v.Raw(); string(src[v.Offset():v.Offset()+len(raw)]) != string(raw) || v.Offset() == 0 {
			t.Errorf("%s stands at %d", name, v.Offset())
		}
	}
	if (Value{}).Offset() != 0 {
		t.Error("the zero Value has an offset")
	}
}

// TestMaxValues: a text with more values than a Doc may hold is refused, and the Doc reads
// the next one.
func TestMaxValues(t *testing.T) {
	t.Parallel()
	few, many := `{"a":[`+strings.Repeat("0,", 50)+`0]}`,
		`{"a":[`+strings.Repeat("0,", 500)+`0],"b":"`+strings.Repeat("x", 400)+`"}`
	d := Doc{Max: 100}
	for range 5 {
		if err := d.Parse([]byte(few)); err != nil || d.Root().Len() != 1 {
			t.Fatal(err)
		}
		if err := d.Parse([]byte(many)); err == nil || Reason(err) != "it holds more than 100 values" {
			t.Fatalf("Parse: %v", err)
		}
		if _, _, err := d.ParseLine([]byte(many + "\n")); err == nil || Reason(err) != "it holds more than 100 values" {
			t.Fatalf("ParseLine: %v", err)
		}
		if _, _, err := d.ParseLine([]byte(few + "\n")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestParseLine: a line ends before a line feed, or before a carriage return and a line feed;
// the rest comes also with an error.
func TestParseLine(t *testing.T) {
	t.Parallel()
	var d Doc
	for _, c := range []struct {
		data, line, rest string
		bad              bool
	}{
		{"1\n2\n", "1", "2\n", false},
		{" {} \r\n[", " {} ", "[", false},
		{"[1]", "[1]", "", false},
		{"[1]\r", "[1]\r", "", false},
		{"1\r2\n3", "1\r2", "3", true},
		{"[\n]", "[", "]", true},
		{"\n\n{}", "", "\n{}", true},
		{"", "", "", true},
	} {
		line, rest, err := d.ParseLine([]byte(c.data))
		if string(line) != c.line || string(rest) != c.rest || (err != nil) != c.bad {
			t.Errorf("%q: the line is %q, the rest %q, the error %v", c.data, line, rest, err)
		}
		if err == nil && string(d.Root().Raw()) != strings.TrimSpace(c.line) {
			t.Errorf("%q: the value is %s", c.data, d.Root().Raw())
		}
	}
}

// TestFootprint: a node takes as much memory as Footprint counts.
func TestFootprint(t *testing.T) {
	t.Parallel()
	v, err := Parse([]byte(`{"a":[1,2]}`))
	if size := int64(reflect.TypeFor[node]().Size()); err != nil || size != nodeSize || v.Footprint() != 4*size+11 {
		t.Errorf("a node takes %d bytes, the footprint is %d: %v", size, v.Footprint(), err)
	}
}

// TestDenseText: a text of very many tiny values is refused, one of as many bytes with
// longer values is read.
func TestDenseText(t *testing.T) {
	t.Parallel()
	dense := []byte("[" + strings.Repeat("0,", manyValues) + "0]")
	if _, err := Parse(dense); err == nil || Reason(err) != "it holds more than 4194304 values" {
		t.Error(err)
	}
	longer := []byte("[" + strings.Repeat(`"01234567",`, manyValues/8) + "0]")
	if v, err := Parse(longer); err != nil || v.Values() != manyValues/8+2 {
		t.Error(v.Values(), err)
	}
	if (Value{}).Values() != 0 {
		t.Error("the zero Value has values")
	}
}
