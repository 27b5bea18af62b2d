// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package draw answers one question: what might tasks and their attempts be, if it
// were known what they really are? It draws rates, counts and amounts from the
// distributions that plans and simulations assume.
//
// Every function draws from the rng that it is given and from nothing else.
package draw

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rate is the rate of one case around mean, of a beta distribution, so that attempts at
// it have the correlation icc, in [0,1): 0 gives mean itself.
func Rate(rng *rand.Rand, mean, icc float64) float64 {
	if icc <= 0 || mean <= 0 || mean >= 1 {
		return mean
	}
	m := 1/icc - 1
	return distuv.Beta{Alpha: mean * m, Beta: (1 - mean) * m, Src: rng}.Rand()
}

// Passes is how many of n attempts pass at that rate.
func Passes(rng *rand.Rand, n int, rate float64) int {
	if n > 64 {
		return int(distuv.Binomial{N: float64(n), P: rate, Src: rng}.Rand())
	}
	k := 0
	for range n {
		if rng.Float64() < rate {
			k++
		}
	}
	return k
}

// Lognormal is an amount with mean 1 whose logarithm varies by sigma.
func Lognormal(rng *rand.Rand, sigma float64) float64 {
	return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2)
}

// Gamma is an amount with mean 1 and variance 1/shape; shape is above 0.
func Gamma(rng *rand.Rand, shape float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: shape, Src: rng}.Rand()
}

// Events is a number of events, mean on the average: independent of one another where
// bursts is 1, else in bursts of geometric size with that mean.
func Events(rng *rand.Rand, mean, bursts float64) int {
	n := 0
	for range int(distuv.Poisson{Lambda: mean / bursts, Src: rng}.Rand()) {
		n++
		for rng.Float64() < 1-1/bursts {
			n++
		}
	}
	return n
}
