// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import (
	"math"

	"github.com/callvet/callvet/stats"
)

// likelihood is the likelihood of judged and labelled tasks, as a function of the share of true
// passes and the judge's rates.
type likelihood struct {
	judgedPass, judgedFail float64
	tp, fn, tn, fp         float64
	// internal: the labels belong to the same run, so they also inform about the share of true
	// passes.
	internal bool
}

// Profile is a profile-likelihood interval.
type Profile struct {
	Point, Lower, Upper float64
	// LogLikelihood is the largest, without binomial coefficients.
	LogLikelihood float64
	// PPV and NPV are the shares of labelled judge-passes that truly passed and of
	// judge-fails that truly failed, for labels of the same run; else NaN.
	PPV, NPV float64
	Status   stats.Status
}

// ProfileTransport is the profile-likelihood interval of true success from a
// judge calibrated elsewhere, in [0,1]. At all passes with a perfect table it is
// too short; the statuses are those of RoganGladen.
// Source: Venzon and Moolgavkar 1988.
func ProfileTransport(j Judged, c Calibration, conf float64) Profile {
	rg := RoganGladen(j, c, conf)
	if rg.Status != stats.StatusOK {
		return Profile{
			Point: math.NaN(), Upper: 1, LogLikelihood: math.NaN(), PPV: math.NaN(), NPV: math.NaN(),
			Status: rg.Status,
		}
	}
	tp, m1 := c.pass()
	tn, m0 := c.fail()
	l := likelihood{judgedPass: j.Pass, judgedFail: j.N - j.Pass, tp: tp, fn: m1 - tp, tn: tn, fp: m0 - tn}
	return l.profile(rg.Point, conf)
}

// ProfileInternal is the profile-likelihood interval of true success with labels
// on tasks of the same run, in [0,1]. The statuses are those of Stratified.
// Source: Tenenbein 1970; Chen et al. 2026.
func ProfileInternal(s Strata, conf float64) Profile {
	if status := s.status(conf); status != stats.StatusOK {
		return Profile{
			Point: math.NaN(), Upper: 1, LogLikelihood: math.NaN(), PPV: math.NaN(), NPV: math.NaN(),
			Status: status,
		}
	}
	l := likelihood{
		judgedPass: float64(s.JudgePass - s.LabelledPass), judgedFail: float64(s.N - s.JudgePass - s.LabelledFail),
		tp: float64(s.TruePassInPass), fp: float64(s.LabelledPass - s.TruePassInPass),
		fn: float64(s.TruePassInFail), tn: float64(s.LabelledFail - s.TruePassInFail), internal: true,
	}
	out := l.profile(s.point(), conf)
	out.PPV, out.NPV = share(s.TruePassInPass, s.LabelledPass), 1-share(s.TruePassInFail, s.LabelledFail)
	return out
}

func (l likelihood) profile(point, conf float64) Profile {
	out := Profile{Point: point, PPV: math.NaN(), NPV: math.NaN(), Status: stats.StatusOK}
	out.LogLikelihood = l.at(point)
	floor := out.LogLikelihood - stats.ChiSquaredQuantile(1, conf)/2
	out.Lower = l.end(point, 0, floor)
	out.Upper = l.end(point, 1, floor)
	return out
}

// end is where the profile falls to floor between point and edge.
func (l likelihood) end(point, edge, floor float64) float64 {
	if l.at(edge) >= floor {
		return edge
	}
	in, out := point, edge
	for range 60 {
		m := (in + out) / 2
		if l.at(m) >= floor {
			in = m
		} else {
			out = m
		}
	}
	return (in + out) / 2
}

// at is the log-likelihood of a share x of true passes, at the best rates s and
// t. It is concave in them, so that nested bisection of the slopes finds the top.
func (l likelihood) at(x float64) float64 {
	best := func(s float64) float64 {
		return top(func(t float64) float64 { return l.slopeT(x, s, t) })
	}
	s := top(func(s float64) float64 { return l.slopeS(x, s, best(s)) })
	t := best(s)
	q := x*s + (1-x)*(1-t)
	v := xlogy(l.tp, s) + xlogy(l.fn, 1-s) + xlogy(l.tn, t) + xlogy(l.fp, 1-t) +
		xlogy(l.judgedPass, q) + xlogy(l.judgedFail, x*(1-s)+(1-x)*t)
	if l.internal {
		v += xlogy(l.tp+l.fn, x) + xlogy(l.tn+l.fp, 1-x)
	}
	return v
}

func (l likelihood) slopeS(x, s, t float64) float64 {
	q := x*s + (1-x)*(1-t)
	return over(l.tp, s) - over(l.fn, 1-s) + x*(over(l.judgedPass, q)-over(l.judgedFail, x*(1-s)+(1-x)*t))
}

func (l likelihood) slopeT(x, s, t float64) float64 {
	q := x*s + (1-x)*(1-t)
	return over(l.tn, t) - over(l.fp, 1-t) - (1-x)*(over(l.judgedPass, q)-over(l.judgedFail, x*(1-s)+(1-x)*t))
}

// top is where a falling slope turns negative, in [0,1].
func top(slope func(float64) float64) float64 {
	lo, hi := 0.0, 1.0
	for range 52 {
		m := (lo + hi) / 2
		if slope(m) > 0 {
			lo = m
		} else {
			hi = m
		}
	}
	return (lo + hi) / 2
}

func over(n, x float64) float64 {
	if n == 0 {
		return 0
	}
	return n / x
}

func xlogy(n, x float64) float64 {
	if n == 0 {
		return 0
	}
	return n * math.Log(x)
}
