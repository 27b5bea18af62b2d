// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"github.com/callvet/callvet/stats"
)

func pairs() map[string]Method {
	return map[string]Method{
		"mcnemar":              {Run: with(mcnemar)},
		"newcombe_paired":      {Run: with(newcombePaired)},
		"newcombe_independent": {Run: with(newcombeIndependent)},
		"tango_paired":         {Run: with(tango)},
		"paired_difference":    {Run: with(pairedDifference)},
		"signflip_permutation": {Run: with(signFlip)},
		"multiple_testing":     {Run: with(multiple)},
	}
}

func mcnemar(in struct {
	PassToFail int `json:"pass_to_fail"`
	FailToPass int `json:"fail_to_pass"`
},
) Fields {
	d := stats.McNemarTest(in.PassToFail, in.FailToPass)
	if d.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"exact_p": d.Exact, "midp": d.MidP, "asymptotic_p": d.Asymptotic, "status": d.Status,
		"one_sided_exact_regression_p": d.RegressionExact, "one_sided_midp_regression_p": d.RegressionMidP,
	}
}

type pairsInput struct {
	stats.Pairs
	Confidence float64
}

func newcombePaired(in pairsInput) Fields {
	out := difference(stats.Newcombe(in.Pairs, in.Confidence))
	out["phi"] = stats.Phi(in.Pairs)
	return out
}

func tango(in pairsInput) Fields { return difference(stats.Tango(in.Pairs, in.Confidence)) }

func difference(iv stats.Interval) Fields {
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{"diff": orNil(iv.Defined(), iv.Point), "lower": iv.Lower, "upper": iv.Upper, "status": iv.Status}
}

func newcombeIndependent(in struct {
	XC         int `json:"x_candidate"`
	NC         int `json:"n_candidate"`
	XB         int `json:"x_baseline"`
	NB         int `json:"n_baseline"`
	Confidence float64
},
) Fields {
	return difference(stats.NewcombeIndependent(in.XC, in.NC, in.XB, in.NB, in.Confidence))
}

func pairedDifference(in struct {
	Candidate, Baseline []float64
	Clusters            []int
	Confidence          float64
},
) Fields {
	if len(in.Candidate) != len(in.Baseline) {
		return rejected("length_mismatch")
	}
	diffs := make([]float64, len(in.Candidate))
	for i := range diffs {
		diffs[i] = in.Candidate[i] - in.Baseline[i]
	}
	iv, p := stats.PairedMean(diffs, in.Confidence)
	if in.Clusters != nil {
		iv, p = stats.PairedMeanClustered(diffs, in.Clusters, in.Confidence)
	}
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	out := Fields{
		"status": iv.Status, "mean_diff": orNil(iv.Defined(), iv.Point), "se": orNil(iv.Usable(), iv.SE),
		"df": iv.Clusters - 1, "lower": limit(iv.Lower), "upper": limit(iv.Upper), "p_two_sided": p,
	}
	if iv.SE > 0 {
		out["t"] = iv.Point / iv.SE
	}
	return out
}

func signFlip(in struct{ Differences []float64 }) Fields {
	two, ok := stats.SignFlip(in.Differences)
	if !ok {
		return Fields{
			"status": stats.StatusNoData, "mean": nil, "p_two_sided": nil, "p_one_sided_regression": nil,
			"permutations": 0,
		}
	}
	one, _ := stats.SignFlipRegression(in.Differences)
	return Fields{
		"mean": average(in.Differences), "p_two_sided": two, "p_one_sided_regression": one,
		"permutations": 1 << len(in.Differences), "status": stats.StatusOK,
	}
}

func multiple(in struct {
	P     []float64
	Alpha float64
},
) Fields {
	holm, bh := stats.Holm(in.P), stats.BH(in.P)
	if holm == nil {
		return rejected("invalid_input")
	}
	return Fields{
		"bh_adjusted": bh, "holm_adjusted": holm, "by_adjusted": stats.BY(in.P), "bonferroni": stats.Bonferroni(in.P),
		"bh_reject": below(bh, in.Alpha), "holm_reject": below(holm, in.Alpha),
	}
}

func below(p []float64, alpha float64) []bool {
	out := make([]bool, len(p))
	for i, x := range p {
		out[i] = x <= alpha
	}
	return out
}
