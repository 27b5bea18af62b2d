// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import "math"

// Combine is the weighted sum of independent estimates, with the interval that
// squares and adds the distances of their own ends: right also where these are
// lopsided. A balanced accuracy is Combine with weights of 1/2, a difference
// with weights 1 and -1. An end that does not exist in a part does not exist in
// the whole. The status is that of the first part that is not usable, else
// StatusOK; parts of another number than weights: StatusInvalid.
// Source: Zou and Donner 2008 (MOVER).
func Combine(weights []float64, parts []Interval) Interval {
	if len(weights) != len(parts) || len(parts) == 0 || !allFinite(weights) {
		return invalid("mover", 0)
	}
	iv := Interval{Confidence: parts[0].Confidence, Method: "mover", Status: StatusOK}
	var down, up float64
	for i, p := range parts {
		w := weights[i]
		if !p.Usable() && iv.Status == StatusOK {
			iv.Status = p.Status
		}
		iv.N += p.N
		iv.Clusters += p.Clusters
		if w == 0 {
			continue
		}
		lo, hi := w*(p.Point-p.Lower), w*(p.Upper-p.Point)
		if w < 0 {
			lo, hi = hi, lo
		}
		iv.Point += w * p.Point
		down, up = math.Hypot(down, lo), math.Hypot(up, hi)
	}
	iv.Lower, iv.Upper = iv.Point-down, iv.Point+up
	return iv
}
