// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWire: what is written is read, and of less there is an error.
func TestWire(t *testing.T) {
	t.Parallel()
	var w wireWriter
	w.Uint(300)
	w.Int(-5)
	w.Texts([]string{"a", "", "änd"})
	w.Float(0.1)
	w.Bool(true)
	w.Uint(1)
	want := []any{uint64(300), int64(-5), []string{"a", "", "änd"}, 0.1, true, "y"}
	for n := range len(w.b) + 1 {
		r := wireReader{b: w.b[:n]}
		got := []any{r.Uint(), r.Int(), r.Texts(), r.Float(), r.Bool(), member(&r, []string{"x", "y"})}
		if n < len(w.b) && r.err == nil {
			t.Errorf("%d bytes are no error", n)
		}
		if diff := cmp.Diff(want, got); n == len(w.b) && (r.err != nil || diff != "") {
			t.Error(r.err, diff)
		}
	}
	if r := (wireReader{b: []byte{7}}); member(&r, []int{1}) != 0 || r.err == nil {
		t.Error("a number beyond the list is no error")
	}
}
