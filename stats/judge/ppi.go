// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// Tuned lets PPI choose the weight of the judge.
const Tuned = -1

// MinPPI is the number of labels below which a prediction-powered interval is
// too short to gate on.
const MinPPI = 100

// Powered is a prediction-powered mean.
type Powered struct {
	// Lambda is the weight of the judge: 0 is labels alone, 1 is plain PPI.
	Lambda float64
	// Point, Lower and Upper are in [0,1]; the Raw ends are before clipping.
	Point, Lower, Upper float64
	RawLower, RawUpper  float64
	// Few: there are fewer than MinPPI labels.
	Few    bool
	Status stats.Status
}

// PPI is the mean of labels in [0,1], sharpened by a judge's scores of the
// labelled and of further tasks. lambda is in [0,1] or Tuned (PPI++). Labels and
// scores of another length, a value outside of [0,1]: StatusInvalid; no label,
// or no further task: StatusNoData.
// Source: Angelopoulos et al. 2023; Angelopoulos, Duchi and Zrnic 2023 (PPI++).
func PPI(labels, labelledScores, otherScores []float64, lambda, conf float64) Powered {
	out := Powered{
		Point: math.NaN(), Upper: 1, RawLower: math.NaN(), RawUpper: math.NaN(), Status: stats.StatusNoData,
		Few: len(labels) < MinPPI,
	}
	if len(labels) != len(labelledScores) || !(conf > 0 && conf < 1) || lambda > 1 || (lambda < 0 && lambda != Tuned) ||
		!rates(labels) || !rates(labelledScores) || !rates(otherScores) {
		out.Status = stats.StatusInvalid
		return out
	}
	if len(labels) == 0 || len(otherScores) == 0 {
		return out
	}
	if lambda == Tuned {
		lambda = tune(labels, labelledScores, otherScores)
	}
	rest := make([]float64, len(labels))
	for i := range rest {
		rest[i] = labels[i] - lambda*labelledScores[i]
	}
	mo, vo := moments(otherScores)
	mr, vr := moments(rest)
	out.Lambda, out.Status = lambda, stats.StatusOK
	raw := lambda*mo + mr
	h := stats.NormalQuantile(1-(1-conf)/2) * math.Sqrt(lambda*lambda*vo/float64(len(otherScores))+
		vr/float64(len(rest)))
	out.RawLower, out.RawUpper = raw-h, raw+h
	out.Point, out.Lower, out.Upper = clip(raw), clip(raw-h), clip(raw+h)
	return out
}

func rates(xs []float64) bool {
	for _, x := range xs {
		if !(x >= 0 && x <= 1) {
			return false
		}
	}
	return true
}

// moments are the mean and the variance of a population.
func moments(xs []float64) (mean, variance float64) {
	for _, x := range xs {
		mean += x
	}
	mean /= float64(len(xs))
	for _, x := range xs {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(xs))
}

// tune is the weight with the least variance, in [0,1]; 0 for constant scores.
func tune(labels, scores, others []float64) float64 {
	ml, _ := moments(labels)
	ms, _ := moments(scores)
	cov := 0.0
	for i := range labels {
		cov += (labels[i] - ml) * (scores[i] - ms)
	}
	n, m := float64(len(labels)), float64(len(others))
	all := append(append(make([]float64, 0, len(scores)+len(others)), scores...), others...)
	_, v := moments(all)
	v *= (n + m) / (n + m - 1)
	if v <= 1e-18 {
		return 0
	}
	return clip(cov / n / ((1 + n/m) * v))
}
