// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package stats

import "math"

func sum(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// mean of at least one value.
func mean(xs []float64) float64 { return sum(xs) / float64(len(xs)) }

func allFinite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

func validConfidence(conf float64) bool { return conf > 0 && conf < 1 }

// bisect is the point in [lo,hi] where before turns from true to false; lo when
// it is false everywhere, hi when it is true everywhere.
func bisect(lo, hi float64, before func(float64) bool) float64 {
	for range 100 {
		m := lo + (hi-lo)/2
		if m == lo || m == hi {
			break
		}
		if before(m) {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

func invalid(method string, conf float64) Interval {
	return Interval{Lower: math.Inf(-1), Upper: math.Inf(1), Confidence: conf, Method: method, Status: StatusInvalid}
}
