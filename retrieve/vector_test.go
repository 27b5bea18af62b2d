// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// TestCosines holds the fast product against the plain sum, for widths that are no
// multiple of any register.
func TestCosines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(1, 70).Draw(rt, "width")
		vectors := rapid.SliceOfN(rapid.SliceOfN(rapid.Float32Range(-10, 10), width, width), 1, 9).Draw(rt, "vectors")
		var m retrieve.VectorMatrix
		for _, v := range vectors {
			if err := m.Append(v); err != nil {
				rt.Fatal(err)
			}
		}
		q := append([]float32(nil), vectors[0]...)
		retrieve.NormalizeVector(q)
		got := make([]float32, m.Len())
		m.Cosines(q, got)
		bounds := make([]float32, m.Len())
		retrieve.NewVectorSketch(&m).Bounds(q, bounds)
		for row, c := range got {
			if c > bounds[row] {
				rt.Fatalf("row %d: %v is above its bound %v", row, c, bounds[row])
			}
			want := 0.0
			for i, x := range m.Row(row) {
				want += float64(x) * float64(q[i])
			}
			if math.Abs(float64(c)-want) > 1e-5 {
				rt.Fatalf("row %d: %v, want %v", row, c, want)
			}
		}
	})
}

func TestMatrixRefusesAndKeeps(t *testing.T) {
	t.Parallel()
	var m retrieve.VectorMatrix
	for _, v := range [][]float32{nil, {float32(math.NaN())}, {1, float32(math.Inf(1))}} {
		if err := m.Append(v); !errors.Is(err, callvet.ErrInvalid) {
			t.Errorf("Append(%v): %v", v, err)
		}
	}
	for _, v := range [][]float32{{3, 4}, {0, 0}, {1, 0}} {
		if err := m.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Append([]float32{1}); !errors.Is(err, callvet.ErrInvalid) {
		t.Errorf("another width: %v", err)
	}
	m.Keep(func(row int) bool { return row != 1 })
	out := make([]float32, m.Len())
	m.Cosines([]float32{1, 0}, out)
	if d := cmp.Diff([]float32{0.6, 1}, out); d != "" {
		t.Error(d)
	}
	m.Cosines([]float32{1}, out)
	if d := cmp.Diff([]float32{0, 0}, out); d != "" {
		t.Errorf("a question of another width: %s", d)
	}
}

func embed(t *testing.T, e retrieve.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vs, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestNGram(t *testing.T) {
	t.Parallel()
	e := retrieve.NewNGram(retrieve.NGramWidth, strings.Fields)
	v := embed(t, e, "trafikstorningar", "trafikstorning", "bolagsinformation", "", "trafikstorningar")
	if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near < 0.5 || far > 0.4 || near < far {
		t.Errorf("forms of a word have cosine %.2f, strangers %.2f", near, far)
	}
	if d := cmp.Diff(v[0], v[4]); d != "" {
		t.Error("a text has two vectors")
	}
	if c := cosine(v[3], v[3]); c != 0 {
		t.Errorf("no text has length %v", c)
	}
	if c := cosine(v[0], v[0]); math.Abs(c-1) > 1e-5 {
		t.Errorf("a vector has length %v", c)
	}

	texts := []string{"get weather", "get mail", "get news"}
	f := retrieve.FitNGram(retrieve.NGramWidth, strings.Fields, texts)
	w := embed(t, f, "get weather", "get storm", "weather storm")
	if common, rare := cosine(w[0], w[1]), cosine(w[0], w[2]); common >= rare {
		t.Errorf("sharing a word of all texts is worth %.2f, of one %.2f", common, rare)
	}
	if f.Model() == e.Model() || f.Model() != retrieve.FitNGram(retrieve.NGramWidth, strings.Fields, texts).Model() {
		t.Errorf("the model is named %s, unfitted %s", f.Model(), e.Model())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	if retrieve.VectorKeyOf("m", "a") == retrieve.VectorKeyOf("m", "b") ||
		retrieve.VectorKeyOf("m", "a") == retrieve.VectorKeyOf("n", "a") {
		t.Error("two vectors have one key")
	}
}
