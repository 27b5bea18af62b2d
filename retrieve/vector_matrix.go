// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Embedder makes one vector of each text, in their order, all of one length.
type Embedder interface {
	// Model names the model with its version: vectors of different models are not comparable.
	Model() string
	// Embed returns one vector for each text; zeros for a text without content.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// VectorCache keeps vectors between processes.
type VectorCache interface {
	// Get returns the vector of a key, and whether there is one.
	Get(k VectorKey) (v []float32, ok bool)
	// Put stores a vector; a vector that cannot be stored is computed again later.
	Put(ctx context.Context, k VectorKey, v []float32)
}

// VectorKey identifies a vector by model and text, so that a changed text never gets its old
// vector.
type VectorKey struct {
	Model string
	Text  [sha256.Size]byte
}

// VectorKeyOf returns the key of a text.
func VectorKeyOf(model, text string) VectorKey {
	return VectorKey{Model: model, Text: sha256.Sum256([]byte(text))}
}

// VectorMatrix contains vectors of one length, normalized to length 1, so that a product with
// another such vector is the cosine of their angle.
type VectorMatrix struct {
	width int
	data  []float32
}

// Len is the number of vectors; Width their length, 0 while there is none.
func (m *VectorMatrix) Len() int {
	if m.width == 0 {
		return 0
	}
	return len(m.data) / m.width
}

// Width is the length of the vectors, 0 while there is none.
func (m *VectorMatrix) Width() int { return m.width }

// Append adds a vector; v is not kept. Zeros stay zeros, with a cosine of 0 to
// everything. It is an error to add one of another length, or one that is not finite.
func (m *VectorMatrix) Append(v []float32) error {
	width := m.width
	if width == 0 {
		width = len(v)
	}
	if err := CheckVector(v, width); err != nil {
		return err
	}
	m.width = len(v)
	m.data = append(m.data, v...)
	NormalizeVector(m.data[len(m.data)-len(v):])
	return nil
}

// Extend adds n vectors of zeros of that width, to be filled by the caller with vectors of length
// 1 or 0, and returns the number of the first. It is an error when there are others of another
// width.
func (m *VectorMatrix) Extend(n, width int) (first int, err error) {
	if width < 1 || m.width != 0 && m.width != width {
		return 0, fmt.Errorf("add vectors: of %d numbers, want %d: %w", width, m.width, callvet.ErrInvalid)
	}
	first, m.width = m.Len(), width
	if m.data == nil {
		m.data = make([]float32, n*width)
		return first, nil
	}
	m.data = slices.Grow(m.data, n*width)
	m.data = m.data[:len(m.data)+n*width]
	clear(m.data[first*width:])
	return first, nil
}

// Join adds the vectors of o unchanged. Neither may be used meanwhile, and o not afterwards.
func (m *VectorMatrix) Join(o VectorMatrix) error {
	switch {
	case o.Len() == 0:
		return nil
	case m.Len() == 0:
		*m = o
		return nil
	case m.width != o.width:
		return fmt.Errorf("add vectors: of %d numbers, want %d: %w", o.width, m.width, callvet.ErrInvalid)
	}
	m.data = append(m.data, o.data...)
	return nil
}

// CheckVector returns an error for an empty vector, a different width, or numbers that are not
// finite.
func CheckVector(v []float32, width int) error {
	if len(v) == 0 || len(v) != width {
		return fmt.Errorf("check vector: it has %d numbers, want %d: %w", len(v), width, callvet.ErrInvalid)
	}
	for _, x := range v {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("check vector: a number is not finite: %w", callvet.ErrInvalid)
		}
	}
	return nil
}

// Keep drops the vectors for which keep is false; the others move up.
func (m *VectorMatrix) Keep(keep func(row int) bool) {
	n := 0
	for row := range m.Len() {
		if keep(row) {
			copy(m.data[n:], m.data[row*m.width:(row+1)*m.width])
			n += m.width
		}
	}
	m.data = m.data[:n]
}

// Row gives vector row; it must not be changed.
func (m *VectorMatrix) Row(row int) []float32 { return m.data[row*m.width : (row+1)*m.width] }

// Cosine is that of q and one vector. q has the width of the matrix, and length 1 or
// 0, as Normalize leaves it.
func (m *VectorMatrix) Cosine(q []float32, row int) float32 {
	return vek32.Dot(q, m.data[row*m.width:(row+1)*m.width])
}

// parallelFrom is how many numbers are worth reading on two cores: some tenths of a millisecond of
// work.
const parallelFrom = 1 << 22

// Cosines writes into out, which has Len numbers, the cosine of q with every vector. q has length
// 1 or 0, as Normalize leaves it; for a q of a different width they are zeros. Many vectors are
// shared between the cores; the results are the same.
func (m *VectorMatrix) Cosines(q, out []float32) {
	if len(q) != m.width || m.width == 0 {
		clear(out)
		return
	}
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, 1+len(m.data)/parallelFrom)
	var g sys.Group
	for w := 1; w < workers; w++ {
		g.Go(func() { m.cosines(q, out, w*len(out)/workers, (w+1)*len(out)/workers) })
	}
	m.cosines(q, out, 0, len(out)/workers)
	g.Wait()
}

// maxWorkers is how many cores use the full memory bandwidth.
const maxWorkers = 4

func (m *VectorMatrix) cosines(q, out []float32, from, to int) {
	for row := from; row < to; row++ {
		out[row] = vek32.Dot(q, m.data[row*m.width:(row+1)*m.width])
	}
}

// NormalizeVector scales v to length 1 in place; zeros stay.
func NormalizeVector(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
