// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draws is a source that gives its numbers in turn, the last of them for ever.
type draws []uint64

func (d *draws) Uint64() uint64 {
	x := (*d)[0]
	if len(*d) > 1 {
		*d = (*d)[1:]
	}
	return x
}

// TestBurst: a burst goes on with a chance of 1 less 1/mean, which is none for a mean
// of 1.
func TestBurst(t *testing.T) {
	t.Parallel()
	const half = 1 << 52 // rand.Rand.Float64 makes 0.5 of it
	for name, tc := range map[string]struct {
		source draws
		mean   float64
		want   int
	}{
		"always one event where the mean is 1": {draws{0, math.MaxUint64}, 1, 1},
		"the chance itself is not below it":    {draws{half, math.MaxUint64}, 2, 1},
		"one more":                             {draws{half - 1, half}, 2, 2},
		"three more":                           {draws{0, half, half + half/2 - 1, half + half/2}, 4, 4},
	} {
		if got := drawBurst(rand.New(&tc.source), tc.mean); got != tc.want {
			t.Errorf("%s: %d events, want %d", name, got, tc.want)
		}
	}
}

// counted is a source that counts what is drawn of it.
type counted struct {
	rand.Source
	drawn int
}

func (c *counted) Uint64() uint64 {
	c.drawn++
	return c.Source.Uint64()
}

// TestPassesDraws: 64 attempts take a draw each, and more than that take fewer.
func TestPassesDraws(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]func(drawn int) bool{
		0:         func(drawn int) bool { return drawn == 0 },
		1:         func(drawn int) bool { return drawn == 1 },
		64:        func(drawn int) bool { return drawn == 64 },
		65:        func(drawn int) bool { return drawn < 65 },
		1_000_000: func(drawn int) bool { return drawn < 65 },
	} {
		c := counted{Source: rand.NewPCG(1, 2)}
		if DrawPasses(rand.New(&c), n, 0.5); !want(c.drawn) {
			t.Errorf("%d attempts took %d draws", n, c.drawn)
		}
	}
}
