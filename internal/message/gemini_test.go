// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/value"
)

// TestGrown: calls of which the arguments came value by value are whole calls again.
func TestGrown(t *testing.T) {
	t.Parallel()
	const head = `{"functionCall":{"name":"ring","willContinue":true},"thoughtSignature":"s"}`
	piece := func(more, list string) string {
		return `{"functionCall":{"partialArgs":[` + list + `]` + more + `}}`
	}
	const on = `,"willContinue":true`
	one := func(args string) string {
		return `[{"functionCall":{"name":"ring","args":` + args + `},"thoughtSignature":"s"}]`
	}
	for name, tt := range map[string]struct{ in, want string }{
		"no pieces": {
			`[{"functionCall":{"name":"ring","args":{}}},{"text":"a"}]`,
			`[{"functionCall":{"name":"ring","args":{}}},{"text":"a"}]`,
		},
		"no list": {`{"a":1}`, `{"a":1}`},
		"a text": {
			`[` + head + `,` + piece(on, `{"jsonPath":"$.who","stringValue":"An","willContinue":true}`) +
				`,` + piece(on, `{"jsonPath":"$.who","stringValue":"n <\""}`) + `,{"functionCall":{}}]`,
			one(`{"who":"Ann <\""}`),
		},
		"each kind": {`[` + head + `,` +
			piece("",
				`{"jsonPath":"$.n","numberValue":1.50},{"jsonPath":"$.b","boolValue":false},{"jsonPath":"$.z","nullValue":"NULL_VALUE"},{"jsonPath":"$.e","stringValue":""}`) + `]`, one(`{"n":1.50,"b":false,"z":null,"e":""}`)},
		"deep": {`[` + head + `,` +
			piece("",
				`{"jsonPath":"$.a[0].b","stringValue":"x"},{"jsonPath":"$['c d'][\"e\"]","numberValue":1},{"jsonPath":"$.a[1].b","stringValue":"y"}`) + `]`, one(`{"a":[{"b":"x"},{"b":"y"}],"c d":{"e":1}}`)},
		"snake case": {`[{"function_call":{"name":"ring","will_continue":true},"thoughtSignature":"s"},{"function_call":{"partial_args":[{"json_path":"$.a","string_value":"x"},{"json_path":"$.n","null_value":"NULL_VALUE"}]}}]`, one(`{"a":"x","n":null}`)},
		"no values":  {`[` + head + `,{"functionCall":{}}]`, one(`{}`)},
		"with args": {`[{"functionCall":{"name":"ring","args":{"a":1},"willContinue":true},"thoughtSignature":"s"},` +
			piece("", `{"jsonPath":"$.b","numberValue":2}`) + `]`, one(`{"a":1,"b":2}`)},
		"other parts": {`[{"text":"a"},` + head + `,{"text":"b"},` + piece("", `{"jsonPath":"$.b","numberValue":2}`) +
			`]`, `[{"text":"a"},{"text":"b"},{"functionCall":{"name":"ring","args":{"b":2}},"thoughtSignature":"s"}]`},
		"two calls": {
			`[{"functionCall":{"id":"a","name":"ring","willContinue":true}},{"functionCall":{"id":"a","name":"ring","partialArgs":[{"jsonPath":"$.b","numberValue":2}]}},` +
				`{"functionCall":{"id":"b","name":"ring","partialArgs":[{"jsonPath":"$.b","numberValue":3}]}},{"functionCall":{"name":"stop","args":{}}}]`,
			`[{"functionCall":{"id":"a","name":"ring","args":{"b":2}}},{"functionCall":{"id":"b","name":"ring","args":{"b":3}}},{"functionCall":{"name":"stop","args":{}}}]`,
		},
		"no end": {
			`[` + head + `,` + piece(on, `{"jsonPath":"$.who","stringValue":"An"}`) + `]`,
			one(`"{\"who\":\"An\""`),
		},
		"no end, no value": {`[` + head + `]`, one(`"{"`)},
		"another call before the end": {
			`[` + head + `,{"functionCall":{"name":"stop","args":{}}}]`,
			`[{"functionCall":{"name":"ring","args":"{"},"thoughtSignature":"s"},{"functionCall":{"name":"stop","args":{}}}]`,
		},
		"no path": {
			`[` + head + `,` + piece("", `{"stringValue":"x"}`) + `]`,
			one(`"pieces that do not fit: {}"`),
		},
		"the root": {
			`[` + head + `,` + piece("", `{"jsonPath":"$","stringValue":"x"}`) + `]`,
			one(`"pieces that do not fit: {}"`),
		},
		"a gap in a list": {
			`[` + head + `,` + piece("", `{"jsonPath":"$.a[1]","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {\"a\":{}}"`),
		},
		"a list and a name": {
			`[` + head + `,` +
				piece("", `{"jsonPath":"$.a[0]","numberValue":1},{"jsonPath":"$.a.b","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {\"a\":[1]}"`),
		},
		"a text and a value": {
			`[` + head + `,` +
				piece("", `{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {\"a\":1}"`),
		},
		"under a text": {
			`[` + head + `,` +
				piece("", `{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a.b","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {\"a\":\"x\"}"`),
		},
		"on an object": {
			`[` + head + `,` +
				piece("", `{"jsonPath":"$.a.b","numberValue":1},{"jsonPath":"$.a","stringValue":"x"}`) + `]`,
			one(`"pieces that do not fit: {\"a\":{\"b\":1}}"`),
		},
		"a bad place": {
			`[` + head + `,` + piece("", `{"jsonPath":"$.a[x]","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {\"a\":{}}"`),
		},
		"an empty name": {
			`[` + head + `,` + piece("", `{"jsonPath":"$..a","numberValue":1}`) + `]`,
			one(`"pieces that do not fit: {}"`),
		},
	} {
		in, err := value.Parse([]byte(tt.in))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(tt.want, string(Grown(in).Raw())); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestGrownMessages: a call with pieces in several messages is in one.
func TestGrownMessages(t *testing.T) {
	t.Parallel()
	const user = `{"role":"user","parts":[{"text":"Ring Ann."}]}`
	const head = `{"functionCall":{"name":"ring","willContinue":true}}`
	const tail = `{"functionCall":{"partialArgs":[{"jsonPath":"$.who","stringValue":"Ann"}]}}`
	for in, want := range map[string]string{
		`[` + user +
			`,{"role":"model","parts":[{"text":"a"}]}]`: "",
		`{"role":"model","parts":[` + head +
			`]}`: "",
		`[` + user + `,{"role":"model","parts":[` + head + `]},{"role":"model","parts":[` + tail + `]},` + user +
			`]`: `[` + user + `,{"role":"model","parts":[` + head + `,` + tail + `]},` + user + `]`,
		`[{"role":"model","parts":[` + head + `]},` + user + `,{"role":"model","parts":[` + tail +
			`]}]`: `[{"role":"model","parts":[` + head + `]},` + user + `,{"role":"model","parts":[` + tail + `]}]`,
		`["a",{"role":"model","parts":[` + head +
			`]},{"role":"model","parts":[]},null]`: `["a",{"role":"model","parts":[` + head +
			`]},{"role":"model","parts":[]},null]`,
	} {
		v, err := value.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = in
		}
		if d := cmp.Diff(want, string(GrownMessages(v).Raw())); d != "" {
			t.Errorf("%s (-want +got):\n%s", in, d)
		}
	}
}

// FuzzGrown: whatever the pieces are, the parts are JSON, and no piece is left.
func FuzzGrown(f *testing.F) {
	f.Add(
		`[{"functionCall":{"name":"f","willContinue":true}},{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x"}]}}]`)
	f.Add(`[{"functionCall":{"partialArgs":[{"jsonPath":"$[\"a","numberValue":1e9},null,3]}},[],{"functionCall":[]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := value.Parse([]byte(text))
		if err != nil || in.Kind() != value.Array {
			return
		}
		out := Grown(in)
		if !value.Valid(out.Raw()) {
			t.Fatalf("%s", out.Raw())
		}
		if hasPieces(out) {
			t.Fatalf("a piece is left: %s", out.Raw())
		}
	})
}
