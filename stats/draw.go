// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// DrawRate draws the rate of one case from a beta distribution around mean, such that attempts at
// it have the correlation icc, in [0,1]. 0 returns mean itself, 1 returns 0 or 1.
func DrawRate(rng *rand.Rand, mean, icc float64) float64 {
	if icc <= 0 || mean <= 0 || mean >= 1 {
		return mean
	}
	if icc >= 1 {
		if rng.Float64() < mean {
			return 1
		}
		return 0
	}
	m := 1/icc - 1
	return distuv.Beta{Alpha: mean * m, Beta: (1 - mean) * m, Src: rng}.Rand()
}

// DrawPasses is how many of n attempts pass at that rate. Up to 64 attempts are drawn one
// by one; more take a few draws, however many there are.
func DrawPasses(rng *rand.Rand, n int, rate float64) int {
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

// DrawLognormal is an amount with mean 1; its logarithm varies by sigma.
func DrawLognormal(rng *rand.Rand, sigma float64) float64 {
	return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2)
}

// DrawGamma is an amount with mean 1 and variance 1/shape; shape is above 0.
func DrawGamma(rng *rand.Rand, shape float64) float64 {
	return distuv.Gamma{Alpha: shape, Beta: shape, Src: rng}.Rand()
}

// DrawEvents draws a number of events with the given mean: independent where bursts is 1, else in
// bursts of geometric size with mean bursts.
func DrawEvents(rng *rand.Rand, mean, bursts float64) int {
	n := 0
	for range int(distuv.Poisson{Lambda: mean / bursts, Src: rng}.Rand()) {
		n += drawBurst(rng, bursts)
	}
	return n
}

// drawBurst is a geometric number of at least 1 with that mean.
func drawBurst(rng *rand.Rand, mean float64) int {
	n := 1
	for rng.Float64() < 1-1/mean {
		n++
	}
	return n
}

// PassesLaw are the probabilities of 0, 1, … n passes in n attempts at one case with a rate of
// DrawRate: a beta-binomial distribution. They sum to 1.
func PassesLaw(n int, mean, icc float64) []float64 {
	out := make([]float64, n+1)
	switch {
	case mean <= 0:
		out[0] = 1
		return out
	case mean >= 1:
		out[n] = 1
		return out
	case icc <= 0:
		for k := range out {
			out[k] = distuv.Binomial{N: float64(n), P: mean}.Prob(float64(k))
		}
		return out
	}
	m := 1/icc - 1
	a, b := mean*m, (1-mean)*m
	for k := range out {
		x, y := float64(k), float64(n-k)
		out[k] = math.Exp(combin.LogGeneralizedBinomial(float64(n), x) + mathext.Lbeta(a+x, b+y) - mathext.Lbeta(a, b))
	}
	return out
}

// DrawSplit draws how many of n draws have each outcome, for probabilities that sum to 1.
func DrawSplit(rng *rand.Rand, n int, chances []float64) []int {
	out := make([]int, len(chances))
	left := 1.0
	for i, p := range chances {
		if i == len(chances)-1 || n == 0 {
			out[i] = n
			break
		}
		out[i] = DrawPasses(rng, n, min(1, max(0, p/left)))
		n, left = n-out[i], left-p
	}
	return out
}

// DrawCount draws a number of events with the given mean and about the standard deviation sd. It is
// a negative binomial where sd is above that of independent events, else an amount that is rounded
// at random. Whole numbers have a least variance, whatever sd is.
func DrawCount(rng *rand.Rand, mean, sd float64) int {
	if extra := sd*sd - mean; extra >= 0 {
		if extra > 0 {
			mean *= DrawGamma(rng, mean*mean/extra)
		}
		return DrawEvents(rng, mean, 1)
	}
	if rest := sd*sd - 1./6; rest > 0 { // random rounding has a mean variance of 1/6
		mean *= DrawGamma(rng, mean*mean/rest)
	}
	n := math.Floor(mean)
	if rng.Float64() < mean-n {
		n++
	}
	return int(n)
}

// DrawAmount is a lognormal amount with that mean, above 0, and standard deviation.
func DrawAmount(rng *rand.Rand, mean, sd float64) float64 {
	return mean * DrawLognormal(rng, math.Sqrt(math.Log1p(sd*sd/(mean*mean))))
}
