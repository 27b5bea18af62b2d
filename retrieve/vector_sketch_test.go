// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/callvet/callvet"
)

// TestFewVectorsAreEnough: leaving vectors alone that cannot matter changes nothing,
// and happens.
func TestFewVectorsAreEnough(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		return fmt.Sprintf("%c%c%c%d", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(3), r.IntN(3))
	}
	es := make([]Entry, 2000)
	for i := range es {
		es[i].Tool = callvet.Tool{Name: fmt.Sprintf("tool_%d_%s", i, word()), Description: word() + " " + word() + " " +
			word() + " " + es[max(0, i-7)].Tool.Description[:min(9, len(es[max(0, i-7)].Tool.Description))]}
	}
	spared := 0
	for _, weight := range []float64{0.05, 0.2, 0.9} {
		o := Default()
		o.VectorWeight = weight
		x, err := New(t.Context(), o, es)
		if err != nil {
			t.Fatal(err)
		}
		sketch := NewVectorSketch(&x.vectors)
		for i := range 60 {
			q := es[i*31].Tool.Description + " " + word()
			x.sketch = nil
			want, err := x.Search(t.Context(), q, 5)
			if err != nil {
				t.Fatal(err)
			}
			x.sketch = sketch
			got, err := x.Search(t.Context(), q, 5)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Hit{})); d != "" {
				t.Fatalf("weight %v, %q: %s", weight, q, d)
			}
			b := x.buffer()
			v, _ := x.embedQuestion(t.Context(), q)
			x.lexical.Scores(x.groups(q), b.scores)
			share := x.lexicalShare(x.groups(q), true)
			for i := range b.scores {
				b.scores[i] *= share
			}
			if _, few := x.candidates(v, b, 5); few {
				spared++
			}
		}
	}
	if spared == 0 {
		t.Error("vectors were never left alone")
	}
	t.Logf("%d of 180 questions left most vectors alone", spared)
}
