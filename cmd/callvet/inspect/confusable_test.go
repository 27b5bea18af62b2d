// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package inspect

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/panel"
	"github.com/callvet/callvet/retrieve"
	"github.com/callvet/callvet/retrieve/vector"
)

func sampleTools() *retrieve.Catalogue {
	c := &retrieve.Catalogue{}
	for _, w := range []string{"weather", "trains", "ferries", "roads", "companies", "prices", "jobs", "books"} {
		c.Entries = append(c.Entries, retrieve.Entry{Tool: callvet.Tool{Name: w, Description: "Answers questions about " + w + " in Sweden."}})
	}
	return c
}

// Pairs that a run confused come first, however unlike their texts are.
func TestConfusable(t *testing.T) {
	t.Parallel()
	c := sampleTools()
	c.Entries[2].Tool.Description = "Answers questions about trains in Sweden, and ferries."
	got, err := FindConfusable(t.Context(), c, nil, 100)
	if err != nil || got.Pairs[0].A != "trains" || got.Pairs[0].B != "ferries" {
		t.Fatalf("%+v %v", got, err)
	}
	got, err = FindConfusable(t.Context(), c, []panel.Confused{{Expected: "books", Called: "jobs", N: 2}, {Expected: "jobs", Called: "books", N: 1}, {Expected: "jobs", Called: "gone", N: 9}}, 2)
	if err != nil || len(got.Pairs) != 2 || got.Pairs[0].Confused != 3 || got.Pairs[0].A != "jobs" || got.Pairs[0].B != "books" {
		t.Errorf("%+v %v", got, err)
	}
	one := &retrieve.Catalogue{Entries: c.Entries[:1]}
	if got, err := FindConfusable(t.Context(), one, nil, 5); err != nil || len(got.Pairs) != 0 {
		t.Errorf("one tool: %+v %v", got, err)
	}
}

// Tiles and workers change nothing: the nearest are those of reading all rows.
func TestNeighbors(t *testing.T) {
	t.Parallel()
	var m vector.Matrix
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
	got, err := neighbors(t.Context(), &m)
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
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(m.Cosine(m.Row(i), b), m.Cosine(m.Row(i), a)) })
		if !slices.Equal(others[:nearest], got[i]) {
			t.Fatalf("row %d: %v, want %v", i, got[i], others[:nearest])
		}
	}
	if got, err := neighbors(t.Context(), &vector.Matrix{}); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
