// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
)

// fill sets every field of v, at every depth, to something that is not zero. A
// field that is added to a noun is then missed by the tests below until the
// appenders and readers know it.
func fill(v reflect.Value, n *int) {
	*n++
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":[1,2.50,"é\"]"],"b":null}`))
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 2, 3, 4, *n, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("s\"\\\n\té🙂\x01" + string(rune('a'+*n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[callvet.Parsed]() {
			return // it is never stored
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("fill cannot make a " + v.Type().String())
	}
}

func filled(t testing.TB) callvet.Cell {
	t.Helper()
	var c callvet.Cell
	n := 0
	fill(reflect.ValueOf(&c.Trace).Elem(), &n)
	fill(reflect.ValueOf(&c.Result).Elem(), &n)
	return c
}

// ignored are the fields that are not stored with a cell.
func ignored() cmp.Option {
	return cmp.Options{
		cmpopts.IgnoreFields(callvet.Fault{}, "RetryAfter", "Exchanges", "AtMostUSD"),
		cmpopts.IgnoreFields(callvet.Usage{}, "AtMostUSD", "CacheHourTokens"),
	}
}

func TestEveryFieldSurvives(t *testing.T) {
	t.Parallel()
	want := filled(t)
	trace, result, xs := appendTrace(nil, &want.Trace), appendResult(nil, &want.Result),
		appendExchanges(nil, want.Trace.Exchanges)
	var ours, std callvet.Cell
	if err := decodeParts(&ours, &stored{result: result, trace: trace, exchanges: xs}, words{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, ours, ignored()); d != "" {
		t.Errorf("read back: %s", d)
	}
	for _, part := range []struct {
		b []byte
		v any
	}{{trace, &std.Trace}, {result, &std.Result}, {xs, &std.Trace.Exchanges}} {
		if err := json.Unmarshal(part.b, part.v); err != nil {
			t.Fatalf("%v in %s", err, part.b)
		}
	}
	if d := cmp.Diff(want, std, ignored()); d != "" {
		t.Errorf("encoding/json reads it as: %s", d)
	}
}

func TestInvalidRawIsKeptAsText(t *testing.T) {
	t.Parallel()
	tr := callvet.Trace{Turns: []callvet.Turn{{Raw: json.RawMessage(`{"half`)}}}
	var got callvet.Trace
	if _, err := decodeTrace(appendTrace(nil, &tr), &got, nil); err != nil {
		t.Fatal(err)
	}
	if want := `"{\"half"`; string(got.Turns[0].Raw) != want {
		t.Errorf("raw came back as %s, want %s", got.Turns[0].Raw, want)
	}
}

func FuzzDecode(f *testing.F) {
	c := filled(f)
	f.Add(appendResult(nil, &c.Result), appendTrace(nil, &c.Trace), appendExchanges(nil, c.Trace.Exchanges))
	f.Add([]byte(`{"scores":[{"value":nul`), []byte(`{"turns":[[]]`), []byte(`[{]`))
	f.Add([]byte(`null`), []byte(`{"a":{"b":["}"]}}`), []byte(` [ ] `))
	f.Fuzz(func(t *testing.T, result, trace, exchanges []byte) {
		var c callvet.Cell
		if decodeParts(&c, &stored{result: result, trace: trace, exchanges: exchanges}, words{}) != nil {
			return
		}
		var std callvet.Result
		if json.Unmarshal(result, &std) == nil && c.Result.Verdict != std.Verdict && !hasKeyTwice(result) {
			t.Errorf("verdict %q, encoding/json reads %q from %s", c.Result.Verdict, std.Verdict, result)
		}
	})
}

// hasKeyTwice: encoding/json matches keys in any case, ours exactly.
func hasKeyTwice(b []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(b, &m) != nil || len(m) != 1 || m["verdict"] == nil || m["verdict"][0] != '"'
}

// TestDecodedAhead: a case of a chunk that cannot be read fails only where it is asked for.
func TestDecodedAhead(t *testing.T) {
	t.Parallel()
	c := &caseChunk{cases: make([]*callvet.Case, 4)}
	for _, text := range []string{`{"id":"a"}`, `{"id":"b"}`, `{"id":`, `{"id":"d"}`} {
		c.text = append(c.text, []byte(text))
	}
	for i, want := range []string{"a", "b", "", "d", "b"} {
		got, err := c.at([]int{0, 1, 2, 3, 1}[i])
		if (err != nil) != (want == "") || err == nil && got.ID != want {
			t.Errorf("case %q: %v, %v", want, got, err)
		}
	}
}
