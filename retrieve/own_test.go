// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// The bound refuses what it was allowed to of further draws, in the mean.
func TestConfidenceBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	refused, asked := 0, 0
	for range 4000 {
		known := make([]float64, 39)
		for i := range known {
			known[i] = r.Float64()
		}
		bound, ok := retrieve.ConfidenceBound(known, 0.1)
		if !ok {
			t.Fatal("39 are enough for a tenth")
		}
		for range 5 {
			if asked++; r.Float64() < bound {
				refused++
			}
		}
	}
	if share := float64(refused) / float64(asked); share > 0.104 || share < 0.092 {
		t.Errorf("refuses %v", share)
	}
	for n, want := range map[int]bool{0: false, 18: false, 19: true} {
		if _, ok := retrieve.ConfidenceBound(make([]float64, n), 0.05); ok != want {
			t.Errorf("a twentieth of %d: %v", n, ok)
		}
	}
	for _, share := range []float64{0, 1, -1} {
		if _, ok := retrieve.ConfidenceBound(make([]float64, 100), share); ok {
			t.Errorf("a share of %v", share)
		}
	}
}

// Examples are asked of catalogs that lack them: one like no other has little
// confidence, though the whole catalog would know it word for word.
func TestExampleConfidences(t *testing.T) {
	t.Parallel()
	es := entries()
	r := rand.New(rand.NewPCG(5, 5))
	word := func() string {
		b := make([]byte, 9)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	for i := range es {
		es[i].Examples = []string{
			"tell me about " + strings.ReplaceAll(es[i].Tool.Name, "_", " "),
			word() + " " + word() + " " + word(),
		}
	}
	o := retrieve.Default()
	got, err := retrieve.ExampleConfidences(t.Context(), o, es)
	if err != nil || len(got) != 2*len(es) {
		t.Fatal(len(got), err)
	}
	low := 0
	for _, c := range got {
		if c < retrieve.DefaultMinConfidence {
			low++
		}
	}
	if low < len(es)/2 || low > 3*len(es)/2 {
		t.Errorf("%d of %d have little confidence: %v", low, len(got), got)
	}
	if len(es[0].Examples) != 2 {
		t.Error("the catalog has changed")
	}
	many := es[0]
	many.Examples = nil
	for i := range 2500 {
		many.Examples = append(many.Examples, fmt.Sprintf("question number %d", i))
	}
	if got, err = retrieve.ExampleConfidences(t.Context(), o, []retrieve.Entry{many}); err != nil || len(got) > 1000 ||
		len(got) < 800 {
		t.Errorf("of 2,500 %d were asked: %v", len(got), err)
	}
	o.Confidence = nil
	if _, err := retrieve.ExampleConfidences(t.Context(), o, es); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("without a confidence: %v", err)
	}
}
