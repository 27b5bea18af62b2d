// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package conform

import (
	"encoding/json"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

func judges() map[string]Method {
	nodes := map[string]float64{"lower_64": 1e-6, "upper_64": 1e-6}
	return map[string]Method{
		"rogan_gladen":             {Run: with(roganGladen)},
		"lang_reiczigel":           {Run: with(langReiczigel)},
		"lang_reiczigel_clustered": {Run: with(langReiczigelClustered)},
		"ts_jeffreys_transport":    {Run: with(quadrature(judge.Transported)), Absolute: nodes},
		"ts_melded":                {Run: with(quadrature(judge.Melded)), Absolute: nodes},
		"ts_poststrat_jeffreys":    {Run: with(stratified), Absolute: nodes},
		"ts_profile_transport":     {Run: with(profileTransport)},
		"ts_profile_internal":      {Run: with(profileInternal)},
		"ts_mismatch":              {Run: with(mismatch)},
		"judge_drift_fisher":       {Run: with(drift)},
		"begg_greenes":             {Run: with(beggGreenes)},
		"label_allocation":         {Run: with(allocation)},
		"ppi_mean":                 {Run: with(ppi)},
		"auc_delong":               {Run: with(auc)},
		"calibration_brier_ece":    {Run: with(brier)},
		"isotonic":                 {Run: with(isotonic)},
	}
}

type transportInput struct {
	judge.Calibration
	JudgePass  float64 `json:"judge_pass"`
	N          float64
	Confidence float64
}

func (in transportInput) judged() judge.Judged { return judge.Judged{Pass: in.JudgePass, N: in.N} }

func roganGladen(in transportInput) Fields {
	c := judge.RoganGladen(in.judged(), in.Calibration, in.Confidence)
	if c.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"sensitivity": c.Sensitivity, "specificity": c.Specificity, "status": c.Status, "apparent": c.Apparent,
		"youden": c.Youden, "raw": c.Raw, "point": c.Point, "clipped": c.Clipped, "se_delta": c.SE,
		"se_known_judge": c.SEKnownJudge, "wald_lower": c.WaldLower, "wald_upper": c.WaldUpper,
	}
}

func langReiczigel(in transportInput) Fields {
	s := judge.LangReiczigel(in.judged(), in.Calibration, in.Confidence)
	if s.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"p_adj": s.P, "s_adj": s.Sensitivity, "t_adj": s.Specificity, "center": s.Center, "shift": s.Shift,
		"se": s.SE, "lower": s.Lower, "upper": s.Upper, "status": s.Status,
	}
}

func langReiczigelClustered(in struct {
	judge.Calibration
	Passes     []float64 `json:"judge_pass_by_task"`
	Trials     []int     `json:"trials_by_task"`
	Confidence float64
},
) Fields {
	if len(in.Passes) != len(in.Trials) {
		return rejected("length_mismatch")
	}
	var c stats.Clusters
	for i, k := range in.Passes {
		if k < 0 || int(k) > in.Trials[i] {
			return rejected("invalid_input")
		}
		c.Add(k, in.Trials[i], true)
	}
	iv := c.Interval(in.Confidence, stats.DefaultRho0)
	s := judge.LangReiczigel(judge.Effective(iv), in.Calibration, in.Confidence)
	return Fields{
		"judged_rate": orNil(iv.Defined(), iv.Point), "n_eff": iv.NEff, "lower": s.Lower, "upper": s.Upper,
		"status": s.Status,
	}
}

// quadrature is a method for references with 64 nodes and, with a wider tolerance, with 300 nodes.
func quadrature(f func(judge.Judged, judge.Calibration, float64) stats.Interval) func(transportInput) Fields {
	return func(in transportInput) Fields {
		iv := f(in.judged(), in.Calibration, in.Confidence)
		if iv.Status == stats.StatusInvalid {
			return rejected("invalid_input")
		}
		return Fields{
			"lower": iv.Lower, "upper": iv.Upper, "lower_64": iv.Lower, "upper_64": iv.Upper,
			"status": iv.Status,
		}
	}
}

type strataInput struct {
	judge.Strata
	Confidence float64
}

func stratified(in strataInput) Fields {
	iv := judge.Stratified(in.Strata, in.Confidence)
	if iv.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	status := iv.Status
	if status == judge.TooFewUnits { // the references have no minimum
		status = stats.StatusOK
	}
	estimated := status == stats.StatusOK
	lower, upper := 0.0, 1.0
	if estimated {
		lower, upper = judge.StratifiedNodes(in.Strata, in.Confidence, 64)
		if iv.Point == 0 {
			lower = 0
		}
		if iv.Point == 1 {
			upper = 1
		}
	}
	return Fields{
		"status": status, "point": orNil(estimated, iv.Point), "lower": iv.Lower, "upper": iv.Upper,
		"lower_64": lower, "upper_64": upper,
	}
}

func profileTransport(in transportInput) Fields {
	return profile(judge.ProfileTransport(in.judged(), in.Calibration, in.Confidence))
}

func profileInternal(in struct {
	Pass           int `json:"unlabelled_judge_pass"`
	N              int `json:"unlabelled_n"`
	TP, FN, TN, FP int
	Confidence     float64
},
) Fields {
	return profile(judge.ProfileInternal(judge.Strata{
		JudgePass: in.Pass + in.TP + in.FP, N: in.N + in.TP + in.FP + in.TN + in.FN,
		LabelledPass: in.TP + in.FP, TruePassInPass: in.TP, LabelledFail: in.TN + in.FN, TruePassInFail: in.FN,
	}, in.Confidence))
}

func profile(p judge.Profile) Fields {
	if p.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"point": p.Point, "lower": p.Lower, "upper": p.Upper, "loglik_max": p.LogLikelihood,
		"ppv": p.PPV, "fail_given_judge_fail": p.NPV, "status": p.Status,
	}
}

func mismatch(in transportInput) Fields {
	f := judge.FindMismatch(in.judged(), in.Calibration)
	return Fields{
		"p_pass_rate_above_sensitivity": f.PAbove, "p_pass_rate_below_false_positive_rate": f.PBelow,
		"mismatch": f.Mismatch,
	}
}

func drift(in struct {
	RefTP   int `json:"ref_tp"`
	RefPass int `json:"ref_pass"`
	RefTN   int `json:"ref_tn"`
	RefFail int `json:"ref_fail"`
	NewTP   int `json:"new_tp"`
	NewPass int `json:"new_pass"`
	NewTN   int `json:"new_tn"`
	NewFail int `json:"new_fail"`
},
) Fields {
	d, err := judge.FindDrift(
		judge.Calibration{
			TruePositive: in.RefTP, LabelledPass: in.RefPass, TrueNegative: in.RefTN,
			LabelledFail: in.RefFail,
		},
		judge.Calibration{
			TruePositive: in.NewTP, LabelledPass: in.NewPass, TrueNegative: in.NewTN,
			LabelledFail: in.NewFail,
		})
	if err != nil {
		return rejected("invalid_input")
	}
	return Fields{"p_sensitivity": d.PSensitivity, "p_specificity": d.PSpecificity, "p_holm_min": d.PHolm}
}

func beggGreenes(in struct {
	FramePass      int `json:"frame_judge_pass"`
	FrameFail      int `json:"frame_judge_fail"`
	LabelledPass   int `json:"labelled_judge_pass"`
	TruePassInPass int `json:"true_pass_in_judge_pass"`
	LabelledFail   int `json:"labelled_judge_fail"`
	TruePassInFail int `json:"true_pass_in_judge_fail"`
},
) Fields {
	v := judge.BeggGreenes(judge.Strata{
		JudgePass: in.FramePass, N: in.FramePass + in.FrameFail, LabelledPass: in.LabelledPass,
		TruePassInPass: in.TruePassInPass, LabelledFail: in.LabelledFail, TruePassInFail: in.TruePassInFail,
	})
	if v.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"status": v.Status, "sensitivity": v.Sensitivity, "specificity": v.Specificity,
		"naive_sensitivity": v.NaiveSensitivity, "naive_specificity": v.NaiveSpecificity,
	}
}

func allocation(in struct {
	Kind   string
	P      float64 `json:"judge_pass_rate"`
	PPV    float64 `json:"ppv_guess"`
	Missed float64 `json:"pass_given_fail_guess"`
	S      float64 `json:"sensitivity_pilot"`
	T      float64 `json:"specificity_pilot"`
	Pilot  int     `json:"pilot_per_class"`
	Labels int
},
) Fields {
	if in.Kind == "lee_transport" {
		a, ok := judge.AllocateByTruth(in.P, in.S, in.T, in.Labels, in.Pilot)
		if !ok {
			return rejected("invalid_input")
		}
		return Fields{"label_truly_fail": a.Fail, "label_truly_pass": a.Pass}
	}
	a, ok := judge.AllocateByVerdict(in.P, in.PPV, in.Missed, in.Labels)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"unrounded_to_judge_pass": a.PassExact, "label_judge_pass": a.Pass, "label_judge_fail": a.Fail}
}

func ppi(in struct {
	Labels     []float64
	Labelled   []float64 `json:"judge_labelled"`
	Unlabelled []float64 `json:"judge_unlabelled"`
	Confidence float64
	Lambda     json.RawMessage `json:"lambda_"`
},
) Fields {
	lambda := float64(judge.Tuned)
	if string(in.Lambda) != `"auto"` {
		if err := json.Unmarshal(in.Lambda, &lambda); err != nil {
			return rejected("invalid_input")
		}
	}
	p := judge.PPI(in.Labels, in.Labelled, in.Unlabelled, lambda, in.Confidence)
	if p.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{
		"lambda_": p.Lambda, "point": p.Point, "lower_unclipped": p.RawLower, "upper_unclipped": p.RawUpper,
		"lower": p.Lower, "upper": p.Upper, "status": p.Status,
	}
}

type scored struct {
	Labels        []int
	Scores        []float64
	Probabilities []float64
	Bins          int
	Confidence    float64
}

func (s scored) passed() []bool {
	out := make([]bool, len(s.Labels))
	for i, l := range s.Labels {
		out[i] = l == 1
	}
	return out
}

func auc(in scored) Fields {
	a := judge.AUC(in.passed(), in.Scores, in.Confidence)
	if a.Status == stats.StatusInvalid {
		return rejected("invalid_input")
	}
	return Fields{"status": a.Status, "auc": a.AUC, "delong_var": a.Variance, "lower": a.Lower, "upper": a.Upper}
}

func brier(in scored) Fields {
	if len(in.Labels) == 0 {
		return Fields{"status": stats.StatusNoData}
	}
	b, e, ok := judge.Brier(in.passed(), in.Probabilities, in.Bins)
	if !ok {
		return rejected("invalid_input")
	}
	return Fields{"brier": b, "ece": e, "status": stats.StatusOK}
}

func isotonic(in scored) Fields {
	steps := judge.Isotonic(in.Scores, in.passed())
	if steps == nil {
		return rejected("invalid_input")
	}
	scores, fitted := make([]float64, len(steps)), make([]float64, len(steps))
	for i, s := range steps {
		scores[i], fitted[i] = s.Score, s.P
	}
	return Fields{"unique_scores": scores, "fitted": fitted}
}
