// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package gate

import (
	"math"
	"sort"

	"github.com/callvet/callvet/stats"
)

// Alpha is the one-sided error of a gate on a 95 % interval.
const Alpha = 0.025

func inside(xs ...float64) bool {
	for _, x := range xs {
		if !(x > 0 && x < 1) {
			return false
		}
	}
	return true
}

// passes reports whether f failures in n cases put the lower end of the exact
// interval at bound or above.
func passes(n, f int, bound, alpha float64) bool {
	if f >= n {
		return false
	}
	// lower >= bound exactly when so many passes are unlikely at the bound.
	return stats.BinomialCDF(f, n, 1-bound) <= alpha*(1+1e-12)
}

// MinN is the smallest number of cases that passes a lower bound on a rate in spite of the given
// failures. A bound of 0 needs one pass. ok is false unless bound is in [0,1), alpha in (0,1) and
// failures at least 0. For an upper bound b on a rate of incidents, use 1-b. Source: Clopper and
// Pearson 1934.
func MinN(bound float64, failures int, alpha float64) (n int, ok bool) {
	if bound == 0 && inside(0.5, alpha) && failures >= 0 {
		return failures + 1, true
	}
	if !inside(bound, alpha) || failures < 0 {
		return 0, false
	}
	return minN(failures+1, failures, bound, alpha)
}

// minN is MinN, known to be at least lo.
func minN(lo, failures int, bound, alpha float64) (n int, ok bool) {
	step := 1
	for !passes(lo+step, failures, bound, alpha) {
		if step *= 2; step > 1<<40 {
			return 0, false
		}
	}
	return lo + sort.Search(step, func(i int) bool { return passes(lo+i, failures, bound, alpha) }), true
}

// MaxFailures is the largest number of failures among n cases that still passes a lower bound on a
// rate; -1 when n cases fail even without a failure.
func MaxFailures(bound float64, n int, alpha float64) int {
	return sort.Search(n+1, func(f int) bool { return !passes(n, f, bound, alpha) }) - 1
}

// PassProbability is the probability, in [0,1], that n cases pass a lower bound when the true rate
// is truth. ok is false unless bound and alpha are in (0,1), truth in [0,1] and n above 0.
func PassProbability(bound, truth float64, n int, alpha float64) (power float64, ok bool) {
	if !inside(bound, alpha) || !(truth >= 0 && truth <= 1) || n < 1 {
		return 0, false
	}
	f := MaxFailures(bound, n, alpha)
	if f < 0 {
		return 0, true
	}
	return stats.BinomialCDF(f, n, 1-truth), true
}

// maxPlanned is the number of cases beyond which SampleSize gives up.
const maxPlanned = 2_000_000

// SampleSize is the smallest number of independent cases that passes a lower bound with at least
// the probability power when the true rate is truth, and the failures that it then allows. For
// clustered values multiply by the design effect. The parameters bound, power and alpha must be in
// (0,1), with bound < truth <= 1; else, and where two million cases are not enough, ok is false.
// Source: Statistics specification, section 8.
func SampleSize(bound, truth, power, alpha float64) (n, failures int, ok bool) {
	if !inside(bound, power, alpha) || !(truth > bound && truth <= 1) {
		return 0, 0, false
	}
	// One more failure is allowed from MinN(f) on. The probability to pass is a sawtooth: it jumps
	// there and falls in between.
	n = 1
	for failures = firstTooth(bound, truth, power, alpha); ; failures++ {
		if n, ok = minN(max(n, failures+1), failures, bound, alpha); !ok || n > maxPlanned {
			return 0, 0, false
		}
		if stats.BinomialCDF(failures, n, 1-truth) >= power {
			return n, failures, true
		}
	}
}

// firstTooth is a number of failures safely below the one that SampleSize finds: 0, or somewhat
// less than the normal approximation.
func firstTooth(bound, truth, power, alpha float64) int {
	za, zb := stats.NormalQuantile(1-alpha), stats.NormalQuantile(power)
	root := (za*math.Sqrt(bound*(1-bound)) + zb*math.Sqrt(truth*(1-truth))) / (truth - bound)
	n := root * root
	f := n*(1-bound) - za*math.Sqrt(n*bound*(1-bound))
	return max(0, int(min(0.95*f-30, 2*maxPlanned)))
}

// TwoRates is the number of cases in each of two runs without shared cases that finds a difference
// of rates p1 and p2, two-sided at alpha with probability power. It also returns Cohen's effect
// size h. ok is false outside of (0,1) and for equal rates. Source: Cohen 1988 (arcsine).
func TwoRates(p1, p2, alpha, power float64) (n, h float64, ok bool) {
	if !(p1 >= 0 && p1 <= 1 && p2 >= 0 && p2 <= 1) || p1 == p2 || !inside(alpha, power) || power <= alpha {
		return 0, 0, false
	}
	h = 2*math.Asin(math.Sqrt(p1)) - 2*math.Asin(math.Sqrt(p2))
	// Both tails count: the shift d reaches the power with the far tail's help.
	z, lo, hi := stats.NormalQuantile(1-alpha/2), 0.0, zSum(alpha, power)
	for range 100 {
		if d := (lo + hi) / 2; stats.Normal(d-z)+stats.Normal(-d-z) < power {
			lo = d
		} else {
			hi = d
		}
	}
	return 2 * hi * hi / (h * h), math.Abs(h), true
}

// PairedMean is the number of shared cases that finds a mean difference delta, two-sided at alpha
// with probability power. omega2 is the variance of the differences of case means, sigmaA2 and
// sigmaB2 the variances of trials within a case, kA and kB the trials a case. ok is false for
// negative variances, no trials, or delta of 0. Source: Miller 2024.
func PairedMean(omega2, sigmaA2, sigmaB2 float64, kA, kB int, delta, alpha, power float64) (n float64, ok bool) {
	if !(omega2 >= 0 && sigmaA2 >= 0 && sigmaB2 >= 0) || kA < 1 || kB < 1 || delta == 0 || math.IsNaN(delta) ||
		!inside(alpha, power) {
		return 0, false
	}
	z := zSum(alpha, power)
	return z * z * (omega2 + sigmaA2/float64(kA) + sigmaB2/float64(kB)) / (delta * delta), true
}

// CasesUnchanged is the number of shared cases, all unchanged, that excludes a loss of margin, in
// (0,1), at alpha/2. It does so both by the exact limit of a rate and by the score interval of a
// paired difference. Source: Clopper and Pearson 1934; Tango 1998.
func CasesUnchanged(margin, alpha float64) int {
	z := stats.NormalQuantile(1 - alpha/2)
	return int(math.Ceil(max(math.Log(alpha/2)/math.Log1p(-margin), z*z*(1-margin)/margin)))
}

// PairedRates is the number of shared cases, one trial each, that finds a difference diff of rates,
// two-sided at alpha with probability power. discordant is the share of cases that change. ok is
// false unless 0 < |diff| <= discordant <= 1. Source: Connor 1987.
func PairedRates(discordant, diff, alpha, power float64) (n float64, ok bool) {
	if !(math.Abs(diff) > 0 && math.Abs(diff) <= discordant && discordant <= 1) || !inside(alpha, power) {
		return 0, false
	}
	x := stats.NormalQuantile(1-alpha/2)*math.Sqrt(discordant) +
		stats.NormalQuantile(power)*math.Sqrt(discordant-diff*diff)
	return x * x / (diff * diff), true
}

func zSum(alpha, power float64) float64 {
	return stats.NormalQuantile(1-alpha/2) + stats.NormalQuantile(power)
}
