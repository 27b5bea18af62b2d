// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"math"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/gate"
)

func gates() map[string]Method {
	return map[string]Method{
		"gate_decision":                    {Run: with(decision)},
		"gate_min_n":                       {Run: with(minN)},
		"gate_power":                       {Run: with(gatePower)},
		"gate_sample_size":                 {Run: with(sampleSize)},
		"sample_size_comparison":           {Run: with(comparison)},
		"e_values":                         {Run: with(eValues)},
		"confidence_sequence_betabinomial": {Run: with(sequence)},
	}
}

type decisionInput struct {
	Kind                string
	Status              stats.Status
	Units               int
	MinUnits            int `json:"min_units"`
	Coverage            float64
	MinCoverage         float64 `json:"min_coverage"`
	Direction           gate.Direction
	Threshold           float64
	Point, Lower, Upper *float64
	Incidents, Exposure int
	MaxRate             *float64 `json:"max_rate"`
	Confidence          float64
	Gates               []gate.Single
	Policy              gate.Policy
}

func decision(in decisionInput) Fields {
	switch in.Kind {
	case "combine":
		overall, block := gate.Combine(in.Gates, in.Policy)
		return Fields{"overall": overall, "block": block}
	case "zero_incidents":
		return zeroIncidents(in)
	}
	iv := stats.Interval{Status: in.Status, Lower: math.Inf(-1), Upper: math.Inf(1)}
	for to, from := range map[*float64]*float64{&iv.Point: in.Point, &iv.Lower: in.Lower, &iv.Upper: in.Upper} {
		if from != nil {
			*to = *from
		}
	}
	d := gate.Decide(
		gate.Rule{Direction: in.Direction, Bound: in.Threshold, MinUnits: in.MinUnits, MinCoverage: in.MinCoverage},
		gate.Evidence{Interval: iv, Units: in.Units, Coverage: in.Coverage})
	return Fields{"verdict": d.Verdict, "reason": d.Reason}
}

func zeroIncidents(in decisionInput) Fields {
	rate, conf := 0.0, 0.95
	if in.MaxRate != nil {
		rate = *in.MaxRate
	}
	if in.Confidence != 0 {
		conf = in.Confidence
	}
	z := gate.DecideZero(in.Incidents, in.Exposure, rate, conf)
	return Fields{"verdict": z.Verdict, "reason": z.Reason, "upper": z.Upper, "required_exposure": z.Required}
}

type planInput struct {
	Threshold  float64
	TrueRate   float64 `json:"true_rate"`
	Failures   int
	N          int
	Power      float64
	OneSided   float64 `json:"alpha_one_sided"`
	Kind       string
	P1, P2     float64
	Omega2     float64
	SigmaA2    float64 `json:"sigma2_a"`
	SigmaB2    float64 `json:"sigma2_b"`
	KA         int     `json:"k_a"`
	KB         int     `json:"k_b"`
	Delta      float64
	Discordant float64
	Diff       float64
	Alpha      float64
}

func minN(in planInput) Fields {
	n, ok := gate.MinN(in.Threshold, in.Failures, in.OneSided)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"min_n": n}
}

func gatePower(in planInput) Fields {
	p, ok := gate.PassProbability(in.Threshold, in.TrueRate, in.N, in.OneSided)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"max_failures": gate.MaxFailures(in.Threshold, in.N, in.OneSided), "power": p}
}

func sampleSize(in planInput) Fields {
	n, f, ok := gate.SampleSize(in.Threshold, in.TrueRate, in.Power, in.OneSided)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"n": n, "max_failures": f}
}

func comparison(in planInput) Fields {
	var n, h float64
	var ok bool
	switch in.Kind {
	case "two_proportions_independent_arcsine":
		n, h, ok = gate.TwoRates(in.P1, in.P2, in.Alpha, in.Power)
	case "paired_mean_miller":
		n, ok = gate.PairedMean(in.Omega2, in.SigmaA2, in.SigmaB2, in.KA, in.KB, in.Delta, in.Alpha, in.Power)
	case "mcnemar_connor":
		n, ok = gate.PairedRates(in.Discordant, in.Diff, in.Alpha, in.Power)
	}
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"n": n, "n_ceil": math.Ceil(n), "n_per_group": n, "effect_h": h}
}

type sequentialInput struct {
	Kind                string
	Successes, Failures int
	Threshold, Alpha    float64
	A                   float64 `json:"prior_a"`
	B                   float64 `json:"prior_b"`
	PassToFail          int     `json:"pass_to_fail"`
	FailToPass          int     `json:"fail_to_pass"`
}

func eValues(in sequentialInput) Fields {
	e := gate.ChangeEValue(in.PassToFail, in.FailToPass)
	if in.Kind == "pass_gate_one_sided" {
		e = gate.PassEValue(in.Successes, in.Failures, in.Threshold, gate.Prior{A: in.A, B: in.B})
	}
	if e.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{"log_e": e.Log, "anytime_p": e.P, "reject_at_0_025": e.Rejects(0.025)}
}

func sequence(in sequentialInput) Fields {
	iv := gate.ConfidenceSequence(in.Successes, in.Failures, in.Alpha, gate.Prior{A: in.A, B: in.B})
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{"lower": iv.Lower, "upper": iv.Upper}
}
