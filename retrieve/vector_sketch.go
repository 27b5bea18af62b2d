// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// VectorSketch bounds the cosines with the vectors of a matrix by reading a quarter of their
// numbers. The first numbers are multiplied exactly, the rest is bounded by lengths
// (Cauchy-Schwarz): q·v <= q'·v' + |q"|·|v"|.
type VectorSketch struct {
	width, head int
	data        []float32 // the first numbers of each vector
	rest        []float32 // the length of the rest of each
}

// sketchShare is how many times smaller a sketch is than its vectors.
const sketchShare = 4

// NewVectorSketch makes a sketch of the present vectors of a matrix.
func NewVectorSketch(m *VectorMatrix) *VectorSketch {
	s := &VectorSketch{width: m.width, head: m.width / sketchShare}
	s.data, s.rest = make([]float32, m.Len()*s.head), make([]float32, m.Len())
	for row := range s.rest {
		v := m.Row(row)
		copy(s.data[row*s.head:], v[:s.head])
		s.rest[row] = length(v[s.head:])
	}
	return s
}

// roundUp is larger than any rounding error of a length or a product.
const roundUp = 1e-5

func length(v []float32) float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return float32(math.Sqrt(sum) * (1 + roundUp))
}

// Bounds writes upper bounds of the cosines with q into out, which has a number for each vector.
// q has the width of the matrix and length 1 or 0.
func (s *VectorSketch) Bounds(q, out []float32) {
	rest := length(q[s.head:])
	for row := range out {
		out[row] = rest*s.rest[row] + roundUp
		if s.head > 0 {
			out[row] += vek32.Dot(q[:s.head], s.data[row*s.head:(row+1)*s.head])
		}
	}
}
