// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonx "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
)

type base struct {
	ID string `json:"id" form:"required full"`
}

type child struct {
	Name string  `json:"name" form:"required"`
	Part []child `json:"part,omitempty"`
}

type sample struct {
	base
	Count  int               `json:"count" form:"min=0 max=100"`
	Size   uint8             `json:"size"`
	Share  *float64          `json:"share" form:"min=0 max=1"`
	Role   string            `json:"role" form:"words=reader|writer"`
	On     bool              `json:"on"`
	At     time.Time         `json:"at"`
	Tags   []string          `json:"tags"`
	Fields map[string]string `json:"fields" form:"scalar"`
	Child  *child            `json:"child"`
	Raw    json.RawMessage   `json:"raw"`
	Any    any               `json:"any"`
	Bytes  []byte            `json:"bytes"`
	Never  int               `json:"-"`
}

func TestWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                                                 `f:1:1: the value is an array, not an object`,
		`{"id":"a","count":"7"}`:                             `f:1:19: "count" is a string, not a whole number from 0 to 100`,
		`{"id":"a","count":1.5}`:                             `f:1:19: "count" is 1.5; it must be a whole number from 0 to 100`,
		`{"id":"a","count":101}`:                             `f:1:19: "count" is 101; it must be a whole number from 0 to 100`,
		`{"id":"a","size":-1}`:                               `f:1:18: "size" is -1; it must be a whole number from 0 to 255`,
		`{"id":"a","share":1e999}`:                           `f:1:19: "share" is 1e999; it must be a number that is not so large`,
		`{"id":"a","share":2}`:                               `f:1:19: "share" is 2; it must be a number from 0 to 1`,
		`{"id":"a","role":"raeder"}`:                         `f:1:18: "role" is "raeder"; it must be reader or writer (did you mean "reader"?)`,
		`{"id":"a","on":"yes"}`:                              `f:1:16: "on" is a string, not a boolean`,
		`{"id":"a","on":null}`:                               `f:1:16: "on" is null, not a boolean`,
		`{"id":"a","at":"yesterday"}`:                        `f:1:16: "at" is "yesterday"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","at":"2026-01-02T0:00:00Z"}`:              `f:1:16: "at" is "2026-01-02T0:00:00Z"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","at":"2026-01-02T00:00:00,5Z"}`:           `f:1:16: "at" is "2026-01-02T00:00:00,5Z"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","at":"2026-01-02T00:00:00+24:00"}`:        `f:1:16: "at" is "2026-01-02T00:00:00+24:00"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","at":"2026-01-02T00:00:00-00:60"}`:        `f:1:16: "at" is "2026-01-02T00:00:00-00:60"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","at":"2026-01-02T00:00Z"}`:                `f:1:16: "at" is "2026-01-02T00:00Z"; it must be a time such as 2026-01-31T12:00:00Z`,
		`{"id":"a","tags":["x",null]}`:                       `f:1:23: "tags[1]" is null, not a string`,
		`{"id":"a","fields":{"n":[1]}}`:                      `f:1:25: "fields.n" is an array, not a string`,
		`{"id":"a","bytes":"%"}`:                             `f:1:19: "bytes" is "%"; it must be base64`,
		`{"id":""}`:                                          `f:1:7: "id" is empty`,
		`{"id":null}`:                                        `f:1:7: "id" is null, not a string`,
		`{}`:                                                 `f:1:1: "id" is missing`,
		`{"Id":"a"}`:                                         `f:1:7: unknown key "Id" (did you mean "id"?)`,
		"{\"id\":\"a\",\n \"cuont\":1}":                      `f:2:10: unknown key "cuont" (did you mean "count"?)`,
		`{"id":"a","child":{"name":"b","part":[{"nam":1}]}}`: `f:1:46: unknown key "child.part[0].nam" (did you mean "name"?)`,
		`{"id":"a","child":{"part":[]}}`:                     `f:1:19: "child.name" is missing`,
		`{"id":"a"} x`:                                       `f:1:12: not JSON: data after the value`,
		`{"id":"a","id":"b"}`:                                `f:1:12: not JSON: duplicate key "id"`,
		"{\n\"id\":":                                         `f:2:6: not JSON: unexpected end`,
	} {
		var into sample
		err := doc.DecodeJSON("f", []byte(text), &into)
		var p callvet.Problem
		if !errors.As(err, &p) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestFilled(t *testing.T) {
	t.Parallel()
	const text = "\ufeff" +
		`{"id":"a\u0062","count":5.0e1,"size":255,"share":0.25,"role":"writer","on":true,"at":"2026-01-02T03:04:05Z","tags":["x","y"],
		"fields":{"n":1,"b":true,"s":"t"},"child":{"name":"c","part":[{"name":"d"}]},"raw":{"a" : 1},"any":[1,"b"],"bytes":"aGk=","\u0063ount2":0}`
	var got sample
	if err := doc.DecodeSomeJSON("f", []byte(text), &got); err != nil {
		t.Fatal(err)
	}
	share := 0.25
	want := sample{
		base: base{ID: "ab"}, Count: 50, Size: 255, Share: &share, Role: "writer", On: true,
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Tags: []string{"x", "y"},
		Fields: map[string]string{"n": "1", "b": "true", "s": "t"},
		Child:  &child{Name: "c", Part: []child{{Name: "d"}}}, Raw: json.RawMessage(`{"a" : 1}`),
		Any: []any{1.0, "b"}, Bytes: []byte("hi"),
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); d != "" {
		t.Error(d)
	}
}

// TestNulls: null is "absent" everywhere for a Type with this setting, and never an element.
func TestNulls(t *testing.T) {
	t.Parallel()
	loose := doc.Of[sample]().WithNulls()
	for text, ok := range map[string]bool{
		`{"id":"a","count":null,"role":null,"at":null,"fields":{"n":null},"child":null}`: true,
		`{"id":null}`:                      false,
		`{"id":"a","tags":[null]}`:         false,
		`{"id":"a","child":{"name":null}}`: false,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		into := sample{Count: 3}
		w := loose.Read(v, &into, nil)
		if (w == nil) != ok || ok && into.Count != 3 {
			t.Errorf("%s: %v, %+v", text, w, into)
		}
		if again := loose.Check(v, nil); (again == nil) != ok {
			t.Errorf("%s: Check says %v", text, again)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	v, err := value.Parse([]byte(`{"id":"a","cuont":1,"child":{"name":"x","part":[{"name":"y","nmae":2}]},"` +
		strings.Repeat("z", 100) + `":1}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if w := doc.Of[sample]().Check(v, func(u doc.Unknown) { got = append(got, u.Key+" "+u.Near()) }); w != nil {
		t.Fatal(w)
	}
	want := []string{"cuont count", "child.part.nmae child.part.name", strings.Repeat("z", 64) + "… "}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// FuzzDecode holds Decode against encoding/json: what Decode takes the other takes and
// reads alike, except for spellings of whole numbers and scalars in place of texts,
// which only Decode takes.
func FuzzDecode(f *testing.F) {
	f.Add(
		[]byte(
			`{"id":"a","count":3,"tags":["x"],"child":{"name":"c"},"raw":[1],"share":0.5,"role":"reader","bytes":"aGk="}`))
	f.Add([]byte(`{"id":"a","at":"2026-01-02T03:04:05+01:00","any":{"a":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want sample
		if doc.DecodeJSON("f", text, &got) != nil {
			return
		}
		text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
		err := json.Unmarshal(text, &want)
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && (strings.HasPrefix(wrong.Value, "number") || wrong.Value == "bool") {
			return
		}
		if err != nil {
			t.Fatalf("%s: only encoding/json refuses it: %v", text, err)
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); d != "" {
			t.Fatalf("%s: %s", text, d)
		}
	})
}

// TestExplain: errors of other readers of JSON, in the same words.
func TestExplain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		`{"turns":[{"role":"user","calls":[{"tool":{"a":1}}]}]}`: {
			`"turns.calls.tool" is an object, not a string`,
			`"turns[0].calls[0].tool" is an object, not a string`,
		},
		`{"repeat":1.5}`:  {`"repeat" is a number, not a whole number`, `"repeat" is 1.5; it must be a whole number`},
		`{"answer":true}`: {`"answer" is a boolean, not a string`, `"answer" is a boolean, not a string`},
		`[]`:              {`the value is an array, not an object`, `the value is an array, not an object`},
		`{"answer":`:      {`not JSON: byte 10: unexpected end of JSON input`, `not JSON: byte 10: unexpected EOF`},
	} {
		var one, two callvet.Trace
		got := [2]string{
			doc.Explain(json.Unmarshal([]byte(text), &one)).Error(),
			doc.Explain(jsonx.Unmarshal([]byte(text), &two)).Error(),
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	if err := errors.New("other"); !errors.Is(doc.Explain(err), err) {
		t.Error("another error was changed")
	}
}
