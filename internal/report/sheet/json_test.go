// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package sheet

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEncode holds Encode against package json.
func TestEncode(t *testing.T) {
	t.Parallel()
	deep := any(1)
	for range 40 {
		deep = map[string]any{"in": []any{deep}}
	}
	for _, v := range []any{
		nil, 1, -1.5e-9, true, "", `a "quoted", {text}: [\] <b>`,
		[]any{},
		map[string]any{},
		[]any{nil, false, "x\\", []any{}},
		deep,
		map[string]any{"a": 1, "b": []int{1, 2}, "c": map[string]any{"\"": ",:"}, "d": json.RawMessage(` { "x" : [ 1 , { } ] } `), "e": "\u2028\n"},
	} {
		var got, want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetIndent("", " ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		if err := Encode(&got, v); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(got.String(), "\n")); d != "" {
			t.Error(d)
		}
	}
	if err := Encode(&bytes.Buffer{}, func() {}); err == nil {
		t.Error("a function was written")
	}
}
