// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Tiles and workers change nothing: the nearest are those of reading all rows.
func TestNearest(t *testing.T) {
	t.Parallel()
	const nearest = 5
	var l Likeness
	m := &l.m
	r := rand.New(rand.NewPCG(1, 2))
	for range 2*tile + 7 {
		v := make([]float32, 8)
		for k := range v {
			v[k] = float32(r.IntN(3)) - 1
		}
		if err := m.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.Nearest(t.Context(), nearest)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Len() {
		var others []int
		for j := range m.Len() {
			if j != i {
				others = append(others, j)
			}
		}
		slices.SortStableFunc(others,
			func(a, b int) int { return cmp.Compare(m.Cosine(m.Row(i), b), m.Cosine(m.Row(i), a)) })
		if !slices.Equal(others[:nearest], got[i]) {
			t.Fatalf("row %d: %v, want %v", i, got[i], others[:nearest])
		}
	}
	if got, err := (&Likeness{}).Nearest(t.Context(), nearest); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
