// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/callvet/callvet/value"
)

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, want string
		made           value.Repairs
	}{
		{"strict", `{"a": [1, "\ud83d\ude00", "\u0000"]}`, `{"a": [1, "\ud83d\ude00", "\u0000"]}`, 0},
		{"a high half", `{"a":"x\ud83dy"}`, `{"a":"x\uFFFDy"}`, value.Surrogate},
		{"a low half", `"\uDE00"`, `"\uFFFD"`, value.Surrogate},
		{"two high halves", `"\ud83d\ud83d\ude00"`, `"\uFFFD\ud83d\ude00"`, value.Surrogate},
		{"in a name", `{"\ud800":1}`, `{"\uFFFD":1}`, value.Surrogate},
		{"after an escaped backslash", `"\\ud83d"`, `"\\ud83d"`, 0},
		{"numbers that are none", `[NaN,Infinity,-Infinity,-1]`, `["NaN","Infinity","-Infinity",-1]`, value.NotNumber},
		{"a text of that name", `["NaN"]`, `["NaN"]`, 0},
		{"a raw NUL in a string", "\"a\x00b\"", `"a\u0000b"`, value.NUL},
		{"NULs before a record", "\x00\x00{}", "  {}", value.NUL},
		{"bytes that are not UTF-8", "\"\xff\xc3\"", "\"\uFFFD\uFFFD\"", value.InvalidUTF8},
		{
			"several", "{\"a\":NaN,\"b\":\"\\ud800\xff\"}", "{\"a\":\"NaN\",\"b\":\"\\uFFFD\uFFFD\"}",
			value.NotNumber | value.Surrogate | value.InvalidUTF8,
		},
	} {
		got, made, ok := value.Repair([]byte(tt.in))
		if !ok || string(got) != tt.want || made != tt.made {
			t.Errorf("%s: %q, %v, %v; want %q, %v", tt.name, got, made, ok, tt.want, tt.made)
		}
	}
	for _, in := range []string{
		"", "NaNo", "{", `{"a":NaN`, `{"a":NaN,}`, `[NaN NaN]`, "\x00", `"\x41`, `{"a":NaN,"a":1}`,
		`{"\ud800":1,"\ud801":2}`, "tr\x00ue", "\"a\tb\"", "\xff", `"\u12"`,
	} {
		if got, made, ok := value.Repair([]byte(in)); ok {
			t.Errorf("%q: read as %q (%v)", in, got, made)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	v, made, err := value.Read([]byte(`{"a":NaN,"b":"\ud800"}`))
	a, _ := v.Get("a")
	b, _ := v.Get("b")
	if err != nil || a.Kind() != value.String || a.Str() != "NaN" || b.Str() != "\uFFFD" {
		t.Fatalf("%s, %v", v.Raw(), err)
	}
	if made.Note() != "read with a lone surrogate, NaN or Infinity" {
		t.Error(made.Note())
	}
	in := []byte("[1, NaN\n, tru]")
	_, strict := value.Parse(in)
	if _, _, err := value.Read(in); err == nil || err.Error() != strict.Error() {
		t.Errorf("%v; want %v", err, strict)
	}
	d := value.Doc{Max: 2}
	if _, err := d.Read([]byte(`[1,2,NaN]`)); !value.Over(err) && err == nil {
		t.Errorf("more values than there may be: %v", err)
	}
	line, rest, made, err := new(value.Doc).ReadLine([]byte("[NaN]\r\n[1]\n"))
	if string(line) != `["NaN"]` || string(rest) != "[1]\n" || made != value.NotNumber || err != nil {
		t.Errorf("%q, %q, %v, %v", line, rest, made, err)
	}
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{
		`{"a":NaN}`, `"\ud83d"`, "\x00[1]", "\"\xff\"", `[-Infinity,"\\\"\ud800"]`, `{"a":1}`,
		`"\`, `"\u`, `-`, `N`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		got, made, ok := value.Repair(in)
		switch strict := value.Valid(in); {
		case !bytes.Equal(in, before):
			t.Fatal("the text was changed")
		case strict && (!ok || made != 0 || !bytes.Equal(got, in)):
			t.Fatalf("strict JSON became %q (%v)", got, made)
		case !ok:
			return
		case !strict && made == 0:
			t.Fatal("it was repaired without a word")
		}
		if !json.Valid(got) || !value.Valid(got) {
			t.Fatalf("%q is not JSON", got)
		}
		if again, made, ok := value.Repair(got); !ok || made != 0 || !bytes.Equal(again, got) {
			t.Fatalf("%q became %q (%v)", got, again, made)
		}
		v, had, err := value.Read(in)
		if err != nil || had != made || !bytes.Equal(bytes.TrimSpace(v.Raw()), bytes.TrimSpace(got)) {
			t.Fatalf("Read gives %q, %v, %v", v.Raw(), had, err)
		}
	})
}
