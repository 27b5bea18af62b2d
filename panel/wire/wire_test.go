// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package wire_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/panel/wire"
)

// TestWire: what is written is read, and of less there is an error.
func TestWire(t *testing.T) {
	t.Parallel()
	var w wire.Writer
	w.Uint(300)
	w.Int(-5)
	w.Texts([]string{"a", "", "änd"})
	w.Float(0.1)
	w.Bool(true)
	w.Uint(1)
	want := []any{uint64(300), int64(-5), []string{"a", "", "änd"}, 0.1, true, "y"}
	for n := range len(w.B) + 1 {
		r := wire.Reader{B: w.B[:n]}
		got := []any{r.Uint(), r.Int(), r.Texts(), r.Float(), r.Bool(), wire.Number(&r, []string{"x", "y"})}
		if n < len(w.B) && r.Err == nil {
			t.Errorf("%d bytes are no error", n)
		}
		if diff := cmp.Diff(want, got); n == len(w.B) && (r.Err != nil || diff != "") {
			t.Error(r.Err, diff)
		}
	}
	if r := (wire.Reader{B: []byte{7}}); wire.Number(&r, []int{1}) != 0 || r.Err == nil {
		t.Error("a number beyond the list is no error")
	}
}
